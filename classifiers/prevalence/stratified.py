"""Moments of the stratified estimator, for one sample or for many at once.

p = sum (N_h / N) p_h and Var = sum (N_h / N)^2 (1 - n_h / N_h) p_h (1 - p_h) / (n_h - 1): W. G. Cochran,
Sampling Techniques, 3rd ed. (1977), sec. 5A.2, with his finite population correction. Two rules where
the formula doesn't say:

- a stratum that was taken whole (n_h = N_h) adds no variance;
- a stratum with one usable record of several adds (N_h / N)^2 (1 - 1 / N_h) p (1 - p), with the overall p:
  one record shows no spread, so that of the whole sample stands for it.

L. Kish, Survey Sampling (1965), sec. 11.7: the effective n of weights w is (sum w)^2 / sum w^2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Moments:
    """Estimate, variance, degrees of freedom, usable records and Kish's effective n, one for each sample.

    Degrees of freedom are records minus strata, over the strata that estimate a variance. All are NaN
    where the estimate is undefined, but for `n`.
    """

    estimate: Floats
    variance: Floats
    df: Floats
    n: Floats
    kish: Floats

    @property
    def se(self) -> Floats:
        """Standard error."""
        return np.sqrt(self.variance)


def nonresponse_moments(frame: ArrayLike, usable: ArrayLike, positive: ArrayLike) -> Moments:
    """Usable records stand for their whole stratum, with the weight N_h / usable_h.

    Right where a record's being unusable is unrelated to its being positive *within* its stratum. All
    arguments are (... x strata); undefined where a stratum has no usable record.
    """
    N, n, x = _floats(frame, usable, positive)
    total = N.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        p_h = np.where(n > 0, x / n, np.nan)
        estimate = (N * p_h).sum(axis=-1) / total
        spread = np.where(n > 1, p_h * (1 - p_h) / np.where(n > 1, n - 1, 1), _lone(estimate)[..., None])
        variance = (N**2 * np.where(n < N, (1 - n / N) * spread, 0.0)).sum(axis=-1) / total**2
        kish = total**2 / (N**2 / n).sum(axis=-1)
    undefined = np.isnan(estimate)
    df = np.where((n > 1) & (n < N), n - 1, 0.0).sum(axis=-1)
    return Moments(
        estimate,
        np.where(undefined, np.nan, variance),
        np.where(undefined, np.nan, df),
        n.sum(axis=-1),
        np.where(undefined, np.nan, kish),
    )


def domain_moments(frame: ArrayLike, sampled: ArrayLike, usable: ArrayLike, positive: ArrayLike) -> Moments:
    """The share of positives among the frame's usable records: unusable ones are outside the population.

    A ratio of two stratified totals with its linearised variance (Cochran 1977, sec. 6.11): each record
    has z = usable (positive - p), and the variance of its total stands over the estimated number usable.
    Undefined where no sampled record is usable, or a stratum has none sampled.
    """
    N, n, m, x = _floats(frame, sampled, usable, positive)
    total = N.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.where(n > 0, N / n, np.nan)
        size = (weight * m).sum(axis=-1)
        estimate = np.where(size > 0, (weight * x).sum(axis=-1) / size, np.nan)
        p = estimate[..., None]
        mean = (x * (1 - p) - (m - x) * p) / n
        squares = x * (1 - p - mean) ** 2 + (m - x) * (p + mean) ** 2 + (n - m) * mean**2
        spread = np.where(
            n > 1,
            squares / np.where(n > 1, n - 1, 1) / n,
            (_lone(estimate) * size / total)[..., None],
        )
        variance = (N**2 * np.where(n < N, (1 - n / N) * spread, 0.0)).sum(axis=-1) / size**2
        variance = np.where(variance < 1e-26, 0.0, variance)  # what rounding leaves of 0
        kish = size**2 / (m * weight**2).sum(axis=-1)
    undefined = np.isnan(estimate)
    df = np.where((n > 1) & (n < N), n - 1, 0.0).sum(axis=-1)
    return Moments(
        estimate,
        np.where(undefined, np.nan, variance),
        np.where(undefined, np.nan, df),
        m.sum(axis=-1),
        np.where(undefined, np.nan, kish),
    )


def _lone(estimate: Floats) -> Floats:
    return estimate * (1 - estimate)


def _floats(*values: ArrayLike) -> tuple[Floats, ...]:
    return tuple(np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in values)))
