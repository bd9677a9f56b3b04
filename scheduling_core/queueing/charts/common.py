"""What all charts share: series that colour, dash and shape tell apart, and exact values as text."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from scheduling_core.charts import SCHEMA
from scheduling_core.queueing.outcome import Outcome

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito's palette, which colour-blind readers tell apart, without its yellow, too pale for paper."""
DASHES = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3])
"""Fewer than the colours and prime to their number, so that 28 series differ in one or the other."""
UNITS = ((3 * 86_400, 86_400, "days"), (3 * 3_600, 3_600, "hours"), (0, 1, "s"))
"""From how many seconds on an axis is in which unit."""


def chart(title: str, notes: Sequence[str], **body: Any) -> dict[str, Any]:
    """A specification with its title, what must be known to read it below, and the same as a description."""
    said = {"text": title, "subtitle": list(notes), "anchor": "start", "subtitleFontSize": 11}
    return {
        "$schema": SCHEMA,
        "title": said if notes else title,
        "description": ". ".join([title, *notes]) + ".",
        **body,
    }


def colour(labels: Sequence[str], title: str) -> dict[str, Any]:
    """One colour for each series, in the order given."""
    return _scale("series", labels, [COLOURS[k % len(COLOURS)] for k in range(len(labels))], title)


def dash(labels: Sequence[str], title: str) -> dict[str, Any]:
    """One dash pattern for each series."""
    return _scale("series", labels, [DASHES[k % len(DASHES)] for k in range(len(labels))], title)


def series_name(name: str, of: Outcome) -> str:
    """The name of a series; an oracle's says that it is one."""
    return f"{name} (reads durations)" if of.policy.oracle else name


def tooltips(**fields: str) -> list[dict[str, str]]:
    """Fields with their titles, shown as they are."""
    return [{"field": name, "type": "nominal", "title": title} for name, title in fields.items()]


def axis_unit(seconds: Fraction) -> tuple[int, str]:
    """In what an axis of this length is told: seconds of the unit, and its name."""
    return next((size, name) for least, size, name in UNITS if seconds >= least)


def exact(value: Fraction) -> str:
    """A value as it is: whole, a decimal of at most 6 places, or the nearest such with its fraction."""
    if value.denominator == 1:
        return f"{value.numerator:,}"
    near = f"{float(value):,.6f}".rstrip("0").rstrip(".")
    return near if Fraction(near.replace(",", "")) == value else f"{near} ({value})"


def _scale(field: str, labels: Sequence[str], values: Sequence[Any], title: str) -> dict[str, Any]:
    return {
        "field": field, "type": "nominal", "title": title,
        "scale": {"domain": list(labels), "range": list(values)},
    }  # fmt: skip
