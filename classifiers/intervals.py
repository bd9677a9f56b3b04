"""Confidence intervals of a proportion from a survey, for arrays, and one of them as a record.

Every function broadcasts its arguments and gives two arrays, NaN where the method says nothing. Wald and
logit use the normal quantile, as published survey estimates with large samples do; Korn-Graubard uses
Student's t by its definition.

E. L. Korn and B. I. Graubard, "Confidence intervals for proportions with small expected number of positive
counts estimated from survey data", Survey Methodology 24 (1998) 193-201. C. J. Clopper and E. S. Pearson,
Biometrika 26 (1934) 404-413.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from classifiers.errors import ClassifierError

Floats: TypeAlias = NDArray[np.float64]
Limits: TypeAlias = tuple[Floats, Floats]
Method = Literal["wald", "logit", "korn_graubard", "rogan_gladen_wald"]


@dataclass(frozen=True)
class Interval:
    """An interval, or None at both ends with the reason. `truncated`: an end lay outside [0, 1].

    The interval of a census is its one value, and says so in `reason`.
    """

    method: Method
    level: float
    low: float | None
    high: float | None
    truncated: bool = False
    reason: str | None = None


def check_level(level: float) -> None:
    """Refuse a level outside (0, 1) with a sentence."""
    if not 0 < level < 1:
        raise ClassifierError(f"the level is {level}, expected a number between 0 and 1 such as 0.95")


def normal_quantile(level: float) -> float:
    """Half the width of a two-sided interval in standard errors: 1.96 for 0.95."""
    return float(special.ndtri((1 + level) / 2))


def wald_limits(estimate: ArrayLike, se: ArrayLike, level: float) -> Limits:
    """The estimate minus and plus z standard errors, not truncated; NaN where the error is 0."""
    p, error = _floats(estimate), _floats(se)
    half = normal_quantile(level) * np.where(error > 0, error, np.nan)
    return p - half, p + half


def logit_limits(estimate: ArrayLike, se: ArrayLike, level: float) -> Limits:
    """Wald's interval on the logit scale, transformed back; NaN where the estimate or error is 0 or 1."""
    p, error = _floats(estimate), _floats(se)
    inside = (p > 0) & (p < 1) & (error > 0)
    safe = np.where(inside, p, 0.5)
    half = normal_quantile(level) * error / (safe * (1 - safe))
    centre = special.logit(safe)
    ends = (special.expit(centre - half), special.expit(centre + half))
    return np.where(inside, ends[0], np.nan), np.where(inside, ends[1], np.nan)


def clopper_pearson_limits(successes: ArrayLike, n: ArrayLike, level: float) -> Limits:
    """The exact binomial interval; `successes` and `n` need not be whole numbers."""
    x, size = np.broadcast_arrays(_floats(successes), _floats(n))
    tail = (1 - level) / 2
    with np.errstate(invalid="ignore"):
        low = special.betaincinv(np.where(x > 0, x, 1), size - x + 1, tail)
        high = special.betaincinv(x + 1, np.where(x < size, size - x, 1), 1 - tail)
    return np.where(x > 0, low, 0.0), np.where(x < size, high, 1.0)


def korn_graubard_sample_size(
    estimate: ArrayLike, se: ArrayLike, n: ArrayLike, kish: ArrayLike, df: ArrayLike, level: float
) -> Floats:
    """Korn and Graubard's effective n: p (1 - p) / var times (t_{n-1} / t_df)^2, at most n.

    Where the estimated variance is 0 (no positive, or nothing but positives, in every stratum), Kish's
    effective `kish` takes the place of p (1 - p) / var. NaN without degrees of freedom `df`.
    """
    p, error, size, free = _floats(estimate), _floats(se), _floats(n), _floats(df)
    usable = (free > 0) & (size > 1)
    by_variance = p * (1 - p) / np.where(error > 0, error, 1) ** 2
    start = np.where(error > 0, by_variance, _floats(kish))
    half = (1 + level) / 2
    ratio = special.stdtrit(np.where(usable, size - 1, 1), half) / special.stdtrit(
        np.where(usable, free, 1), half
    )
    return np.where(usable, np.minimum(size, start * ratio**2), np.nan)


def korn_graubard_limits(
    estimate: ArrayLike, se: ArrayLike, n: ArrayLike, kish: ArrayLike, df: ArrayLike, level: float
) -> Limits:
    """Clopper and Pearson's interval for the effective n and as many positives as give the estimate."""
    effective = korn_graubard_sample_size(estimate, se, n, kish, df, level)
    low, high = clopper_pearson_limits(effective * _floats(estimate), effective, level)
    missing = np.isnan(effective)
    return np.where(missing, np.nan, low), np.where(missing, np.nan, high)


def _floats(value: ArrayLike) -> Floats:
    return np.asarray(value, dtype=np.float64)
