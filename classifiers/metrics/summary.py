"""All figures of one head's probabilities, with intervals."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from threadpoolctl import threadpool_limits

from classifiers.errors import ClassifierError
from classifiers.metrics.bins import equal_mass, equal_width, expected_positives
from classifiers.metrics.bootstrap import Interval, basic, percentile, resampled
from classifiers.metrics.brier import (
    BrierDecomposition,
    brier_decomposition,
    calibration_error,
    chance_calibration_error,
    log_losses,
)
from classifiers.metrics.curves import average_precision, curve_areas, roc_auc
from classifiers.metrics.line import CalibrationLine, calibration_line
from classifiers.metrics.ranking import average_time_to_discovery, ndcg, recall_at, work_saved
from classifiers.metrics.reliability import ReliabilityBin, reliability_curve
from classifiers.metrics.sample import Floats, Ints, Sample, Support, support

CellState = Literal["available", "too_few_positives", "too_few_negatives"]
CHANCE_DRAWS = 200
DEPTHS = (0.01, 0.05, 0.1, 0.2)


@dataclass(frozen=True)
class CalibrationError:
    """Expected calibration error over bins, its interval, and how much of it chance explains.

    by_chance : the mean error if the probabilities were right; debiased = value - by_chance, which
    may lie below 0.
    """

    value: float
    low: float | None
    high: float | None
    by_chance: float
    debiased: float
    bins: int


@dataclass(frozen=True)
class Ranking:
    """Measures of the order alone; recall_at is by share of all weight, from the highest score."""

    recall_at: Mapping[str, float]
    work_saved_95: float
    ndcg: float
    average_time_to_discovery: float


@dataclass(frozen=True)
class Metrics:
    """Weighted figures of probabilities against labels.

    base_rate and mean_probability are weighted means. Intervals are percentiles of a bootstrap of
    groups, those of calibration errors basic ones, those of the line Wald intervals; all take the
    probabilities as given, so the fit that made them is not in them. `brier` is decomposed over the bins
    of `reliability`.
    """

    base_rate: float
    mean_probability: float
    brier: BrierDecomposition
    brier_skill: Interval
    log_loss: Interval
    ece_equal_mass: CalibrationError
    ece_equal_width: CalibrationError
    line: CalibrationLine
    average_precision: Interval
    roc_auc: Interval
    ranking: Ranking
    reliability: tuple[ReliabilityBin, ...]
    replicates: int


@dataclass(frozen=True)
class Cell:
    """One value of one column: what it holds, and figures where it holds enough.

    value : None where the column is empty.
    """

    column: str
    value: str | None
    support: Support
    state: CellState
    metrics: Metrics | None


def plain(record: Any) -> Any:
    """A data class of this package as plain JSON: objects, lists, numbers and texts."""
    if dataclasses.is_dataclass(record):
        return {field.name: plain(getattr(record, field.name)) for field in dataclasses.fields(record)}
    if isinstance(record, Mapping):
        return {str(name): plain(value) for name, value in record.items()}
    return [plain(item) for item in record] if isinstance(record, tuple) else record


def cell_state(counted: Support) -> CellState:
    """Figures need 20 records of each class that are worth at least 10 (the support rule of a head)."""
    if counted.enough_of_both:
        return "available"
    return "too_few_negatives" if counted.enough else "too_few_positives"


def measure(predicted: Sample, *, seed: int, replicates: int = 1000) -> Metrics:
    """Every figure of `Metrics`; the same seed gives the same bytes.

    Raises
    ------
    ClassifierError : when there is only one class.
    """
    with threadpool_limits(1):
        line = calibration_line(predicted)
        bins = {
            "positives": expected_positives(predicted, line),
            "mass": equal_mass(predicted),
            "width": equal_width(predicted),
        }
        drawn = _replicates(predicted, bins, seed, replicates)
        w, y = predicted.weights, predicted.outcome
        base = float((w * y).sum() / w.sum())
        decomposition = brier_decomposition(predicted, bins["positives"])
        skill = decomposition.skill
        assert skill is not None
        total = float(w.sum())
        return Metrics(
            base,
            float((w * predicted.values).sum() / total),
            decomposition,
            percentile(skill, drawn["skill"]),
            percentile(float((w * log_losses(predicted)).sum() / total), drawn["log_loss"]),
            _error(predicted, bins["mass"], drawn["mass"], seed),
            _error(predicted, bins["width"], drawn["width"], seed),
            line,
            percentile(average_precision(predicted), drawn["average_precision"]),
            percentile(roc_auc(predicted), drawn["roc_auc"]),
            Ranking(
                {f"{share:g}": recall_at(predicted, share * total) for share in DEPTHS},
                work_saved(predicted),
                ndcg(predicted),
                average_time_to_discovery(predicted),
            ),
            reliability_curve(predicted, bins["positives"]),
            replicates,
        )


def measure_cells(
    predicted: Sample, columns: Mapping[str, Sequence[str]], *, seed: int, replicates: int = 1000
) -> tuple[Cell, ...]:
    """A cell for every value of every column, sorted; a column is n texts, '' where nothing is recorded."""
    cells = []
    for column, values in columns.items():
        if len(values) != len(predicted):
            raise ClassifierError(f"{column} has {len(values)} values, expected one for each record")
        texts = np.array(values, dtype=object)
        for value in sorted(set(values)):
            rows = np.flatnonzero(texts == value)
            part = predicted.take(rows)
            counted = support(part.y, part.weights)
            state = cell_state(counted)
            found = measure(part, seed=seed, replicates=replicates) if state == "available" else None
            cells.append(Cell(column, value or None, counted, state, found))
    return tuple(cells)


def _error(predicted: Sample, bins: Ints, drawn: Floats, seed: int) -> CalibrationError:
    value = calibration_error(predicted, bins)
    chance = chance_calibration_error(predicted, bins, CHANCE_DRAWS, seed)
    interval = basic(value, drawn, 0.0, 1.0)
    return CalibrationError(value, interval.low, interval.high, chance, value - chance, int(bins.max()) + 1)


def _replicates(predicted: Sample, bins: Mapping[str, Ints], seed: int, replicates: int) -> dict[str, Floats]:
    """(B,) figures of each replicate, all from the same draws.

    Most are ratios of sums, so the sums of groups are taken once; bins stay those of the sample.
    """
    p, y, w = predicted.values, predicted.outcome, predicted.weights
    groups = int(predicted.groups.max()) + 1
    columns = [w, w * y, w * (p - y) ** 2, w * log_losses(predicted)]
    sums = np.array([np.bincount(predicted.groups, weights=column, minlength=groups) for column in columns]).T
    gaps = {}
    for name in ("mass", "width"):
        count = int(bins[name].max()) + 1
        cell = predicted.groups * count + bins[name]
        gaps[name] = np.bincount(cell, weights=w * (p - y), minlength=groups * count).reshape(groups, count)
    found: dict[str, list[Floats]] = {
        name: [] for name in ("skill", "log_loss", "mass", "width", "average_precision", "roc_auc")
    }
    for counts in resampled(groups, replicates, seed):
        weight, positive, squares, losses = (counts @ sums).T
        base = positive / weight
        with np.errstate(divide="ignore", invalid="ignore"):
            found["skill"].append(1 - squares / weight / (base * (1 - base)))
        found["log_loss"].append(losses / weight)
        for name, gap in gaps.items():
            found[name].append(np.abs(counts @ gap).sum(axis=1) / weight)
        precisions, areas = curve_areas(predicted, counts[:, predicted.groups])
        found["average_precision"].append(precisions)
        found["roc_auc"].append(areas)
    return {name: np.concatenate(parts) for name, parts in found.items()}
