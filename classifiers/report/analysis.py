"""The analysis itself: every figure of every head, before and after calibration, as plain JSON."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from classifiers import charts
from classifiers.analyses.tables import read_parameters
from classifiers.calibration import degenerate_folds
from classifiers.calibrators import Scale
from classifiers.errors import ClassifierError
from classifiers.metrics.sample import Sample, group_codes, support
from classifiers.metrics.summary import Cell, Metrics, cell_state, measure, measure_cells, plain
from classifiers.report.predictions import HeadPredictions, read_predictions
from classifiers.report.tables import Tables

Json = dict[str, Any]

DEFAULTS = {"SCALE": "probability", "REPLICATES": 1000}
STAGES = ("before", "after")
# What a cell shows; curves and rankings are those of the whole head.
_CELL_FIGURES = (
    *("base_rate", "mean_probability", "brier", "brier_skill", "log_loss", "ece_equal_mass"),
    *("line", "average_precision", "roc_auc", "replicates"),
)


def calibration_report(inputs: Mapping[str, Path], parameters: Mapping[str, Any], seed: int = 0) -> Json:
    """How well the probabilities of each head and category fit the labels, out of fold.

    Input ``predictions``, a CSV file (see `read_predictions`). Parameters ``SCALE`` of the raw scores
    (probability or log_odds) and ``REPLICATES`` of the bootstrap, which the seed governs.

    Outputs are under ``/heads/<head>/<category>``: ``status``, ``counts``, ``before`` (raw scores) and
    ``after`` (calibrated), each with figures and intervals or null, and ``cells`` by stratum, language
    and abstract. The value of a cell is '' where nothing is recorded. Where there are too few labels,
    there are counts and no figures. Figures are of agreement with the labels in the file, whoever gave
    them.

    Raises
    ------
    ClassifierError : for a file or a parameter that makes no sense.
    """
    chosen = read_parameters(parameters, DEFAULTS)
    scale: Scale = chosen["SCALE"]
    if scale not in get_args(Scale):
        raise ClassifierError(f"SCALE is {scale!r}; expected 'probability' or 'log_odds'")
    if chosen["REPLICATES"] < 100:
        raise ClassifierError(f"REPLICATES is {chosen['REPLICATES']}; expected 100 or more")
    predictions = read_predictions(inputs, scale)
    heads: Json = {}
    tables, specs = Tables(), {}
    for (head, category), found in predictions.heads.items():
        samples = _samples(found, scale)
        report, measured, cells = _report(found, samples, seed, chosen["REPLICATES"])
        heads.setdefault(head, {})[category] = report
        tables.add(head, category, report, samples, measured, cells)
        specs.update(charts.head_charts(head, category, samples, measured))
    return {
        "outputs": {
            "parameters": {**chosen, "seed": seed},
            "counts": {
                "rows": predictions.rows,
                "works": predictions.works,
                "heads": len(heads),
                "crossing_groups": sum(h.crossing_groups for h in predictions.heads.values()),
            },
            "heads": heads,
        },
        "tables": tables.as_json(),
        "charts": specs,
    }


def _samples(found: HeadPredictions, scale: Scale) -> dict[str, Sample]:
    """The records by stage: none where no label is known, no `after` where nothing is calibrated."""
    if not found.y:
        return {}
    return {"before": found.before(scale)} | ({"after": found.after()} if found.calibrated else {})


def _report(
    found: HeadPredictions, samples: Mapping[str, Sample], seed: int, replicates: int
) -> tuple[Json, dict[str, Metrics], dict[str, tuple[Cell, ...]]]:
    measured = {
        stage: measure(made, seed=seed, replicates=replicates)
        for stage, made in samples.items()
        if cell_state(support(made.y, made.weights)) == "available"
    }
    cells = {
        stage: measure_cells(made, found.cells, seed=seed, replicates=replicates)
        for stage, made in samples.items()
    }
    status, reason = _status(found)
    report = {
        "status": status,
        "reason": reason,
        "calibrated": found.calibrated,
        "counts": _counts(found),
        **{stage: plain(measured[stage]) if stage in measured else None for stage in STAGES},
        "cells": _cells(cells),
    }
    return report, measured, cells


def _status(found: HeadPredictions) -> tuple[str, str | None]:
    if not found.y:
        return "unknown", "no label is known"
    counted = support(found.y, found.weights)
    if not counted.enough:
        return "insufficient_support", counted.shortage
    names = sorted(set(found.folds))
    reason = degenerate_folds(found.y, group_codes(found.folds, len(found.y)), names)
    return ("available", None) if reason is None else ("fold_degenerate", reason)


def _counts(found: HeadPredictions) -> Json:
    known = support(found.y, found.weights) if found.y else None
    return {
        "records": len(found.y) + found.unknown,
        "known": len(found.y),
        "unknown": found.unknown,
        "positives": known.positives if known else 0,
        "negatives": known.negatives if known else 0,
        "effective_positives": known.effective_positives if known else 0.0,
        "effective_negatives": known.effective_negatives if known else 0.0,
        "weight": float(sum(found.weights)),
        "folds": len(set(found.folds)),
        "groups": len(set(found.groups)),
        "crossing_groups": found.crossing_groups,
    }


def _cells(cells: Mapping[str, tuple[Cell, ...]]) -> Json:
    """Cells by column and value, each with its counts, and with figures where it holds enough."""
    shown: Json = {}
    for stage, made in cells.items():
        for cell in made:
            at = shown.setdefault(cell.column, {}).setdefault(
                cell.value or "",
                {"state": cell.state, "counts": plain(cell.support), **dict.fromkeys(STAGES)},
            )
            if cell.metrics is not None:
                figures = plain(cell.metrics)
                at[stage] = {name: figures[name] for name in _CELL_FIGURES}
    return shown
