"""Charts of outcomes: each one Vega-Lite 5 specification as plain JSON, the values inside.

What may live here: drawings of what metrics, fronts, series and logs already say, made smaller only exactly.
What may not: figures of their own, files, pages, or a value that is left out without a word.
"""

from scheduling_core.queueing.charts.distributions import jct_chart, wait_chart
from scheduling_core.queueing.charts.gantt import gantt_chart
from scheduling_core.queueing.charts.over_time import over_time_chart
from scheduling_core.queueing.charts.tradeoff import TradeOff, trade_off, trade_off_chart

__all__ = [
    "TradeOff", "gantt_chart", "jct_chart", "over_time_chart", "trade_off", "trade_off_chart", "wait_chart",
]  # fmt: skip
