"""Reliability curve: rates of positives beside the probabilities that were given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from classifiers.decisions import kish_sample_size
from classifiers.metrics.brier import bin_means
from classifiers.metrics.line import LEVEL
from classifiers.metrics.sample import Ints, Sample


@dataclass(frozen=True)
class ReliabilityBin:
    """One bin: its range of probabilities, what it holds, and its rate with a 95 % interval.

    predicted and observed are weighted means; the interval is Wilson's (1927) at the effective number
    of records (sum w)^2 / sum(w^2). It takes the records as drawn one by one.
    """

    lowest: float
    highest: float
    records: int
    positives: int
    weight: float
    predicted: float
    observed: float
    low: float
    high: float


def reliability_curve(predicted: Sample, bins: Ints) -> tuple[ReliabilityBin, ...]:
    """The curve over given bins, in their order; `bins` (n,) holds 0..K-1."""
    means = bin_means(predicted, bins)
    curve = []
    for k in range(len(means.weights)):
        rows = bins == k
        p = predicted.values[rows]
        low, high = wilson(float(means.observed[k]), kish_sample_size(predicted.weights[rows]))
        curve.append(
            ReliabilityBin(
                float(p.min()),
                float(p.max()),
                int(means.records[k]),
                int(means.positives[k]),
                float(means.weights[k]),
                float(means.predicted[k]),
                float(means.observed[k]),
                low,
                high,
            )
        )
    return tuple(curve)


def wilson(rate: float, n: float, level: float = LEVEL) -> tuple[float, float]:
    """Wilson's score interval of a rate among n records, which need not be a whole number."""
    z = float(ndtri(0.5 + level / 2))
    centre = (rate + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * float(np.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n)))
    # At a rate of 0 or 1 that end is exact, and rounding must not move it.
    return (0.0 if rate == 0 else max(0.0, centre - half)), (1.0 if rate == 1 else min(1.0, centre + half))
