"""Metrics of scores and probabilities against labels, all design-weighted.

A `Sample` holds the records, `measure` gives every figure with intervals, and `measure_cells` the same
by stratum, language or whatever else is recorded.
"""

from classifiers.metrics.bootstrap import Interval
from classifiers.metrics.sample import Sample, Support, probabilities, sample, support
from classifiers.metrics.summary import Cell, Metrics, cell_state, measure, measure_cells

__all__ = [
    "Cell",
    "Interval",
    "Metrics",
    "Sample",
    "Support",
    "cell_state",
    "measure",
    "measure_cells",
    "probabilities",
    "sample",
    "support",
]
