"""Precision-recall and ROC curves, weighted; equal scores are one threshold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from classifiers.metrics.sample import Floats, Sample, both_classes


@dataclass(frozen=True)
class Thresholds:
    """Sums at each distinct score, from the highest down; all (K,).

    scores; true_positives and false_positives : weight of positives and of negatives with this score
    or a higher one.
    """

    scores: Floats
    true_positives: Floats
    false_positives: Floats


@dataclass(frozen=True)
class Curve:
    """Points of a curve, (M,) each, with the score from which on a record counts as found.

    An ROC curve begins at (0, 0) before the highest score, where the threshold is None.
    """

    x: tuple[float, ...]
    y: tuple[float, ...]
    thresholds: tuple[float | None, ...]


def thresholds(scored: Sample) -> Thresholds:
    """Weights found at each distinct score. Raises ClassifierError for only one class."""
    both_classes(scored)
    distinct, place = np.unique(-scored.values, return_inverse=True)
    positive = np.bincount(place, weights=scored.weights * scored.outcome, minlength=len(distinct))
    negative = np.bincount(place, weights=scored.weights * (1 - scored.outcome), minlength=len(distinct))
    return Thresholds(-distinct, np.cumsum(positive), np.cumsum(negative))


def average_precision(scored: Sample) -> float:
    """Sum over thresholds of precision x gain in recall: step-wise, no interpolation."""
    at = thresholds(scored)
    return float(_average_precision(at.true_positives[None, :], at.false_positives[None, :])[0])


def roc_auc(scored: Sample) -> float:
    """Area under the ROC curve: how often a positive scores above a negative, ties counting half."""
    at = thresholds(scored)
    return float(_roc_auc(at.true_positives[None, :], at.false_positives[None, :])[0])


def curve_areas(scored: Sample, multiples: Floats) -> tuple[Floats, Floats]:
    """(B,) average precisions and (B,) ROC areas when record i weighs multiples[b, i] times its weight.

    A replicate without one of the classes gives NaN.
    """
    order = np.argsort(-scored.values, kind="stable")
    y = scored.y[order]
    distinct = np.concatenate([[True], np.diff(scored.values[order]) != 0])
    score = np.cumsum(distinct) - 1
    holds = (np.bincount(score, weights=y) > 0)[score]
    # Only scores of positives move either area, so negatives between two of them are summed as one.
    starts = np.flatnonzero(distinct & (holds | np.concatenate([[True], holds[:-1]])))
    weighted = multiples[:, order] * scored.weights[order]
    total = np.add.reduceat(weighted, starts, axis=1)
    positive = np.zeros_like(total)
    found = np.flatnonzero(y)
    part = np.searchsorted(starts, found, side="right") - 1
    parts, first = np.unique(part, return_index=True)
    positive[:, parts] = np.add.reduceat(weighted[:, found], first, axis=1)
    true_positives, false_positives = np.cumsum(positive, axis=1), np.cumsum(total - positive, axis=1)
    return _average_precision(true_positives, false_positives), _roc_auc(true_positives, false_positives)


def pr_curve(scored: Sample, points: int = 400) -> Curve:
    """Recall (x) and precision (y) at every threshold that finds a positive, at most `points` of them.

    Of more, those nearest to evenly spread recalls are kept, the first and the last among them.
    """
    at = thresholds(scored)
    gains = np.flatnonzero(np.diff(at.true_positives, prepend=0.0) > 0)
    found, wrong = at.true_positives[gains], at.false_positives[gains]
    recall, precision = found / at.true_positives[-1], found / (found + wrong)
    kept = _spread(recall, points)
    return Curve(
        tuple(recall[kept].tolist()), tuple(precision[kept].tolist()), tuple(at.scores[gains][kept].tolist())
    )


def roc_curve(scored: Sample, points: int = 400) -> Curve:
    """False positive rate (x) and true positive rate (y) at the corners, from (0, 0) to (1, 1).

    A corner is where the curve turns. Of more than `points`, those nearest to evenly spread lengths
    along the curve are kept, the ends among them.
    """
    at = thresholds(scored)
    x = np.concatenate([[0.0], at.false_positives / at.false_positives[-1]])
    y = np.concatenate([[0.0], at.true_positives / at.true_positives[-1]])
    turning = np.diff(x)[:-1] * np.diff(y)[1:] != np.diff(y)[:-1] * np.diff(x)[1:]
    corners = np.concatenate([[0], np.flatnonzero(turning) + 1, [len(x) - 1]])
    kept = corners[_spread((x + y)[corners], points)]
    scores: list[float | None] = [None, *at.scores.tolist()]
    return Curve(tuple(x[kept].tolist()), tuple(y[kept].tolist()), tuple(scores[k] for k in kept))


def _average_precision(positive: Floats, negative: Floats) -> Floats:
    total = positive[:, -1]
    with np.errstate(invalid="ignore", divide="ignore"):
        gains = np.diff(positive, axis=1, prepend=0.0)
        precision = np.where(positive > 0, positive / (positive + negative), 0.0)
        value = (gains * precision).sum(axis=1) / total
    return np.where((total > 0) & (negative[:, -1] > 0), value, np.nan)


def _roc_auc(positive: Floats, negative: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        steps = np.diff(negative, axis=1, prepend=0.0)
        before = positive - np.diff(positive, axis=1, prepend=0.0) / 2
        value = (steps * before).sum(axis=1) / (positive[:, -1] * negative[:, -1])
    return np.where((positive[:, -1] > 0) & (negative[:, -1] > 0), value, np.nan)


def _spread(along: Floats, points: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    if len(along) <= points:
        return np.arange(len(along), dtype=np.int64)
    wanted = np.linspace(along[0], along[-1], points)
    return np.unique(np.abs(np.searchsorted(along, wanted).clip(0, len(along) - 1))).astype(np.int64)
