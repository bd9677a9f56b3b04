"""The tables of a calibration report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from classifiers.metrics.bootstrap import Interval
from classifiers.metrics.curves import Curve, pr_curve, roc_curve
from classifiers.metrics.line import Estimate
from classifiers.metrics.sample import Sample, Support
from classifiers.metrics.summary import Cell, Metrics

_KEY = ("head", "category", "stage")
_FIGURES = (
    *("base_rate", "mean_probability", "brier", "brier_skill", "brier_skill_low", "brier_skill_high"),
    *("log_loss", "ece", "ece_by_chance", "intercept", "intercept_low", "intercept_high"),
    *("slope", "slope_low", "slope_high", "average_precision", "average_precision_low"),
    *("average_precision_high", "roc_auc", "roc_auc_low", "roc_auc_high"),
)
_COUNTS = ("records", "positives", "effective_positives")
_COLUMNS = {
    "heads": (*_KEY, "status", *_COUNTS, "unknown", *_FIGURES),
    "cells": (*_KEY, "column", "value", "state", *_COUNTS, *_FIGURES),
    "reliability": (
        *(*_KEY, "bin", "lowest", "highest", "records", "positives", "weight"),
        *("predicted", "observed", "low", "high"),
    ),
    "pr": (*_KEY, "recall", "precision", "threshold"),
    "roc": (*_KEY, "false_positive_rate", "true_positive_rate", "threshold"),
}


class Tables:
    """Rows as heads are added; a head that can't be measured has one row, of its counts."""

    def __init__(self) -> None:
        self.rows: dict[str, list[list[Any]]] = {name: [] for name in _COLUMNS}

    def add(
        self,
        head: str,
        category: str,
        report: Mapping[str, Any],
        samples: Mapping[str, Sample],
        measured: Mapping[str, Metrics],
        cells: Mapping[str, tuple[Cell, ...]],
    ) -> None:
        """The rows of one head and category."""
        counts = report["counts"]
        known = [counts["known"], counts["positives"], counts["effective_positives"], counts["unknown"]]
        for stage, found in cells.items():
            self.rows["cells"] += [[head, category, stage, *_cell(cell)] for cell in found]
        for stage, metrics in measured.items():
            key = [head, category, stage]
            self.rows["heads"].append([*key, report["status"], *known, *_figures(metrics)])
            for number, b in enumerate(metrics.reliability, start=1):
                self.rows["reliability"].append(
                    [
                        *(*key, number, b.lowest, b.highest, b.records, b.positives, b.weight),
                        *(b.predicted, b.observed, b.low, b.high),
                    ]
                )
            for name, curve in (("pr", pr_curve(samples[stage])), ("roc", roc_curve(samples[stage]))):
                self.rows[name] += [[*key, *point] for point in _points(curve)]
        if not measured:
            self.rows["heads"].append([head, category, None, report["status"], *known, *_figures(None)])

    def as_json(self) -> dict[str, Any]:
        """Columns and rows by name."""
        return {
            name: {"columns": list(columns), "rows": self.rows[name]} for name, columns in _COLUMNS.items()
        }


def _cell(cell: Cell) -> list[Any]:
    counted: Support = cell.support
    return [
        *(cell.column, cell.value, cell.state, counted.records, counted.positives),
        *(counted.effective_positives, *_figures(cell.metrics)),
    ]


def _figures(metrics: Metrics | None) -> list[float | None]:
    if metrics is None:
        return [None] * len(_FIGURES)
    m = metrics
    return [
        *(m.base_rate, m.mean_probability, m.brier.brier, *_interval(m.brier_skill), m.log_loss.value),
        *(m.ece_equal_mass.value, m.ece_equal_mass.by_chance, *_interval(m.line.intercept)),
        *(*_interval(m.line.slope), *_interval(m.average_precision), *_interval(m.roc_auc)),
    ]


def _interval(figure: Interval | Estimate | None) -> tuple[float | None, float | None, float | None]:
    return (None, None, None) if figure is None else (figure.value, figure.low, figure.high)


def _points(curve: Curve) -> list[tuple[float, float, float | None]]:
    return list(zip(curve.x, curve.y, curve.thresholds, strict=True))
