"""Prevalence behind a classifier that errs: corrected where its errors were measured, a band otherwise.

W. J. Rogan and B. Gladen, "Estimating prevalence from the results of a screening test", Am. J. Epidemiol.
107 (1978) 71-76: p = (apparent + specificity - 1) / (sensitivity + specificity - 1), and by the delta
method Var = (Var(apparent) + p^2 Var(sensitivity) + (1 - p)^2 Var(specificity)) / (se + sp - 1)^2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from classifiers.errors import ClassifierError
from classifiers.intervals import Interval, check_level, normal_quantile


@dataclass(frozen=True)
class Validation:
    """Records whose truth is known, apart from the sample: counts of true and false calls.

    They must be drawn regardless of the call, or within truly positive and truly negative records;
    where they were drawn by the call, sensitivity and specificity can't be read off these counts.

    Raises
    ------
    ClassifierError : for a count that is no whole number, or no truly positive or truly negative record.
    """

    true_positive: int
    false_negative: int
    true_negative: int
    false_positive: int

    def __post_init__(self) -> None:
        """Refuse counts that can't be."""
        for what in ("true_positive", "false_negative", "true_negative", "false_positive"):
            value = getattr(self, what)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
                raise ClassifierError(
                    f"validation: {what} is {value!r}, expected a whole number of 0 or more"
                )
        if self.positives == 0:
            raise ClassifierError("validation: no record is truly positive, so sensitivity is unknown")
        if self.negatives == 0:
            raise ClassifierError("validation: no record is truly negative, so specificity is unknown")

    @property
    def positives(self) -> int:
        """Truly positive records."""
        return self.true_positive + self.false_negative

    @property
    def negatives(self) -> int:
        """Truly negative records."""
        return self.true_negative + self.false_positive

    @property
    def sensitivity(self) -> float:
        """Share of the truly positive that was called positive."""
        return self.true_positive / self.positives

    @property
    def specificity(self) -> float:
        """Share of the truly negative that was called negative."""
        return self.true_negative / self.negatives


@dataclass(frozen=True)
class Corrected:
    """A corrected prevalence. `raw` is what the formula gave, `estimate` the same within [0, 1].

    `truncated` says that the two differ. Without a value, `undefined` says why.
    """

    apparent: float
    apparent_se: float
    sensitivity: float
    specificity: float
    raw: float | None
    estimate: float | None
    truncated: bool
    undefined: str | None
    se: float | None
    interval: Interval
    notes: tuple[str, ...]


def rogan_gladen(
    apparent: float, apparent_se: float, validation: Validation, *, level: float = 0.95
) -> Corrected:
    """The prevalence behind an apparent one, with an error that counts in the validation's own.

    Raises
    ------
    ClassifierError : for an apparent prevalence outside [0, 1], an error that is no finite number of 0 or
        more, or a level outside (0, 1).
    """
    check_level(level)
    _rate("the apparent prevalence", apparent)
    if not (np.isfinite(apparent_se) and apparent_se >= 0):
        raise ClassifierError(f"the standard error is {apparent_se}, expected a finite number of 0 or more")
    se, sp = validation.sensitivity, validation.specificity
    if se + sp <= 1:
        why = (
            f"sensitivity {se:.4g} and specificity {sp:.4g} add up to no more than 1: "
            "the calls tell positives from negatives no better than chance"
        )
        none = Interval("rogan_gladen_wald", level, None, None, reason=why)
        return Corrected(apparent, apparent_se, se, sp, None, None, False, why, None, none, ())
    moments = rogan_gladen_moments(
        apparent, apparent_se**2, se, sp, validation.positives, validation.negatives
    )
    raw, error = float(moments[0]), float(np.sqrt(moments[1]))
    estimate = min(max(raw, 0.0), 1.0)
    notes = []
    for what, value, n in (
        ("sensitivity", se, validation.positives),
        ("specificity", sp, validation.negatives),
    ):
        if value in (0.0, 1.0):
            notes.append(
                f"{what} was {value:.0f} in all {n} records, and its error counts as 0: "
                "the interval is too narrow"
            )
    if raw != estimate:
        notes.append(f"the formula gave {raw:.4g}, outside [0, 1]; the estimate is the nearer end")
    return Corrected(
        apparent,
        apparent_se,
        se,
        sp,
        raw,
        estimate,
        raw != estimate,
        None,
        error if error > 0 else None,
        _interval(raw, error, level),
        tuple(notes),
    )


def rogan_gladen_moments(
    apparent: ArrayLike,
    variance: ArrayLike,
    sensitivity: ArrayLike,
    specificity: ArrayLike,
    positives: ArrayLike,
    negatives: ArrayLike,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The formula and its variance for arrays, not truncated; NaN where se + sp <= 1.

    `variance` is that of the apparent prevalence; `positives` and `negatives` are numbers of truly
    positive and truly negative records in the validation sample.
    """
    a, var, se, sp, n1, n0 = (
        np.asarray(v, dtype=np.float64)
        for v in (apparent, variance, sensitivity, specificity, positives, negatives)
    )
    youden = np.where(se + sp > 1, se + sp - 1, np.nan)
    raw = (a + sp - 1) / youden
    return raw, (var + raw**2 * se * (1 - se) / n1 + (1 - raw) ** 2 * sp * (1 - sp) / n0) / youden**2


@dataclass(frozen=True)
class BandPoint:
    """The prevalence behind the apparent one at one assumed sensitivity and specificity."""

    sensitivity: float
    specificity: float
    raw: float | None
    estimate: float | None
    truncated: bool
    undefined: str | None


@dataclass(frozen=True)
class Band:
    """What the prevalence would be over assumed sensitivities and specificities. None of them is measured.

    `low` and `high` are the extremes over the points. With an interval of the apparent prevalence,
    `interval_low` and `interval_high` are the extremes over its ends too. `truncated` points had a value
    outside [0, 1]: there, the assumption contradicts the apparent prevalence.
    """

    apparent: float
    low: float | None
    high: float | None
    interval_low: float | None
    interval_high: float | None
    truncated: int
    points: tuple[BandPoint, ...]


def sensitivity_band(
    apparent: float,
    sensitivities: Sequence[float],
    specificities: Sequence[float],
    *,
    interval: tuple[float, float] | None = None,
) -> Band:
    """Correct at every pair of the values given. The correction is monotone in each, so extremes suffice.

    Raises
    ------
    ClassifierError : for a rate outside [0, 1], no value, or an interval that doesn't hold the prevalence.
    """
    _rate("the apparent prevalence", apparent)
    for what, given in (("sensitivity", sensitivities), ("specificity", specificities)):
        if not len(given):
            raise ClassifierError(f"there is no {what} to assume; expected one or more")
        for value in given:
            _rate(f"a {what}", value)
    if interval is not None and not 0 <= interval[0] <= apparent <= interval[1] <= 1:
        raise ClassifierError(f"the interval {interval} doesn't hold the apparent prevalence {apparent}")
    pairs = [(se, sp) for se in sensitivities for sp in specificities]
    points = tuple(_point(apparent, se, sp) for se, sp in pairs)
    ends = [_point(end, se, sp) for end in interval or () for se, sp in pairs]
    low, high = _extremes(points)
    outer_low, outer_high = _extremes(ends)
    return Band(apparent, low, high, outer_low, outer_high, sum(p.truncated for p in points), points)


def _point(apparent: float, se: float, sp: float) -> BandPoint:
    if se + sp <= 1:
        return BandPoint(se, sp, None, None, False, "no better than chance: their sum is no more than 1")
    raw = float(rogan_gladen_moments(apparent, 0.0, se, sp, 1, 1)[0])
    estimate = min(max(raw, 0.0), 1.0)
    return BandPoint(se, sp, raw, estimate, raw != estimate, None)


def _extremes(points: Sequence[BandPoint]) -> tuple[float | None, float | None]:
    values = [p.estimate for p in points if p.estimate is not None]
    return (min(values), max(values)) if values else (None, None)


def _interval(raw: float, error: float, level: float) -> Interval:
    if error == 0:
        reason = "the estimated variance is 0, which says nothing of the uncertainty"
        return Interval("rogan_gladen_wald", level, None, None, reason=reason)
    half = normal_quantile(level) * error
    low, high = raw - half, raw + half
    if high < 0 or low > 1:
        reason = (
            f"all of it, {low:.4g} to {high:.4g}, lies outside [0, 1]: "
            "sensitivity and specificity don't fit the apparent prevalence"
        )
        return Interval("rogan_gladen_wald", level, None, None, reason=reason)
    inside = max(low, 0.0), min(high, 1.0)
    return Interval("rogan_gladen_wald", level, *inside, truncated=inside != (low, high))


def _rate(what: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ClassifierError(f"{what} is {value}, expected a number from 0 to 1")
