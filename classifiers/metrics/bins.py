"""Bins of predicted probabilities. Equal probabilities always share a bin."""

from __future__ import annotations

import numpy as np

from classifiers.errors import ClassifierError
from classifiers.metrics.line import CalibrationLine
from classifiers.metrics.logistic import expit
from classifiers.metrics.sample import Floats, Ints, Sample

# A bin of a reliability curve is meant to hold this many positives or more, and there are at most ten.
POSITIVES_A_BIN = 8
MOST_BINS = 10


def equal_mass(predicted: Sample, bins: int = MOST_BINS) -> Ints:
    """(n,) bin numbers from 0, in rising probability, each with about the same sum of weights."""
    return _equal_parts(predicted.values, predicted.weights, _at_least_one(bins))


def equal_width(predicted: Sample, bins: int = MOST_BINS) -> Ints:
    """(n,) bin numbers of [0, 1/B), [1/B, 2/B), ..., [(B - 1)/B, 1]; empty bins have no number."""
    number = np.minimum((predicted.values * _at_least_one(bins)).astype(np.int64), bins - 1)
    return _consecutive(number)


def expected_positives(predicted: Sample, line: CalibrationLine, bins: int | None = None) -> Ints:
    """(n,) bin numbers, each bin with about the same expected weight of positives.

    Where positives are rare, bins of equal mass hold next to none of them, all but the last. Here a
    record counts with its weight times its probability on the calibration line, so that bins hold
    positives whether or not the probabilities are right. Edges that were set by the positives
    themselves would raise the rates between them; the line has only two parameters of the labels.
    Without a rising line the probabilities count as they are. The number of bins is one for
    each 8 positives, from 2 to 10.
    """
    p = predicted.values
    if bins is None:
        bins = min(max(int(predicted.y.sum()) // POSITIVES_A_BIN, 2), MOST_BINS)
    if line.slope is not None and line.slope_intercept is not None and line.slope.value > 0:
        near = np.clip(p, 1e-12, 1 - 1e-12)
        p = expit(line.slope_intercept.value + line.slope.value * (np.log(near) - np.log1p(-near)))
    return _equal_parts(predicted.values, predicted.weights * p, _at_least_one(bins))


def _equal_parts(order: Floats, amounts: Floats, bins: int) -> Ints:
    """Bins of about equal sums of amounts in rising order; a tie goes where its middle lies."""
    distinct, place = np.unique(order, return_inverse=True)
    sums = np.bincount(place, weights=amounts, minlength=len(distinct))
    ends = np.cumsum(sums)
    if ends[-1] <= 0:
        return np.zeros(len(order), dtype=np.int64)
    middle = (ends - sums / 2) / ends[-1]
    return _consecutive(np.minimum((middle * bins).astype(np.int64), bins - 1)[place])


def _consecutive(numbers: Ints) -> Ints:
    _, renumbered = np.unique(numbers, return_inverse=True)
    return renumbered.astype(np.int64)


def _at_least_one(bins: int) -> int:
    if bins < 1:
        raise ClassifierError(f"there are {bins} bins, expected at least 1")
    return bins
