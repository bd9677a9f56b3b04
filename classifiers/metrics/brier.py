"""Brier score, its decomposition, log loss and expected calibration error; weighted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from classifiers.metrics.sample import Floats, Ints, Sample

NEAREST = 1e-12


@dataclass(frozen=True)
class BrierDecomposition:
    """brier = reliability - resolution + uncertainty + within_variance - within_covariance, exactly.

    The first three are Murphy's (1973) for the means of bins; the last two are what differing
    probabilities within a bin add (Stephenson, Coelho & Jolliffe 2008, equation 4).
    """

    brier: float
    reliability: float
    resolution: float
    uncertainty: float
    within_variance: float
    within_covariance: float
    bins: int

    @property
    def skill(self) -> float | None:
        """1 - brier / uncertainty, against a forecast of the base rate; None with one class only."""
        return 1 - self.brier / self.uncertainty if self.uncertainty > 0 else None


@dataclass(frozen=True)
class BinMeans:
    """Per bin: records, positives, weight, and weighted means of probability and label; all (K,)."""

    records: Ints
    positives: Ints
    weights: Floats
    predicted: Floats
    observed: Floats


def bin_means(predicted: Sample, bins: Ints) -> BinMeans:
    """Counts and weighted means of each bin; `bins` (n,) holds 0..K-1, each at least once."""
    w, y = predicted.weights, predicted.outcome
    weights: Floats = np.bincount(bins, weights=w).astype(np.float64)
    return BinMeans(
        np.bincount(bins).astype(np.int64),
        np.bincount(bins[predicted.y], minlength=len(weights)).astype(np.int64),
        weights,
        np.bincount(bins, weights=w * predicted.values) / weights,
        np.bincount(bins, weights=w * y) / weights,
    )


def brier_score(predicted: Sample) -> float:
    """Weighted mean of (p - y)^2 (Brier 1950, in the form for two classes, 0 to 1)."""
    return _mean((predicted.values - predicted.outcome) ** 2, predicted.weights)


def brier_decomposition(predicted: Sample, bins: Ints) -> BrierDecomposition:
    """The decomposition over given bins; `bins` (n,) holds 0..K-1."""
    p, y, w = predicted.values, predicted.outcome, predicted.weights
    means = bin_means(predicted, bins)
    base = _mean(y, w)
    apart, missed = p - means.predicted[bins], y - means.observed[bins]
    return BrierDecomposition(
        brier_score(predicted),
        _mean((means.predicted - means.observed) ** 2, means.weights),
        _mean((means.observed - base) ** 2, means.weights),
        base * (1 - base),
        _mean(apart**2, w),
        2 * _mean(apart * missed, w),
        len(means.weights),
    )


def log_losses(predicted: Sample) -> Floats:
    """(n,) -ln of the probability given to what happened, each probability at least 1e-12."""
    return -np.log(np.maximum(np.where(predicted.y, predicted.values, 1 - predicted.values), NEAREST))


def log_loss(predicted: Sample) -> float:
    """Weighted mean of `log_losses`, in nats."""
    return _mean(log_losses(predicted), predicted.weights)


def calibration_error(predicted: Sample, bins: Ints) -> float:
    """Weighted mean over bins of |mean probability - rate|, known as ECE (Naeini et al. 2015)."""
    means = bin_means(predicted, bins)
    return _mean(np.abs(means.predicted - means.observed), means.weights)


def chance_calibration_error(predicted: Sample, bins: Ints, draws: int, seed: int) -> float:
    """The mean calibration error of labels drawn from the probabilities themselves.

    Perfect probabilities have this much too, by chance (consistency resampling, Broecker & Smith
    2007); the error less this is a debiased one.
    """
    rng = np.random.default_rng(seed)
    w = predicted.weights
    weights = np.bincount(bins, weights=w)
    expected = np.bincount(bins, weights=w * predicted.values)
    total = 0.0
    for _ in range(draws):
        drawn = rng.random(len(w)) < predicted.values
        observed = np.bincount(bins[drawn], weights=w[drawn], minlength=len(weights))
        total += float(np.abs(expected - observed).sum() / weights.sum())
    return total / draws


def _mean(values: Floats, weights: Floats) -> float:
    return float((values * weights).sum() / weights.sum())
