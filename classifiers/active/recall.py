"""How much of what is relevant has been found: estimates with intervals, or `unknown` with its reason."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from classifiers.errors import ClassifierError
from classifiers.intervals import check_level

Bools: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class RecallEstimate:
    """A recall with its interval at `level`, from `low` to `high`; a one-sided bound has `high` = 1.

    Where it can't be said, the three are None and `reason` says why: unknown is not 0.
    """

    value: float | None
    low: float | None
    high: float | None
    level: float
    reason: str | None = None

    @classmethod
    def unknown(cls, level: float, reason: str) -> RecallEstimate:
        return cls(None, None, None, level, reason)


@dataclass(frozen=True)
class CaptureRecapture:
    """Chapman's estimate of how many relevant records there are, from two independent searches.

    `found`: what either found; `relevant`, `low`, `high`: the estimate of all and its interval, `high`
    None where nothing bounds it from above. Where one search found nothing there is no estimate.
    """

    found: int
    relevant: float | None
    se: float | None
    low: int
    high: int | None
    recall: RecallEstimate


def capture_recapture(first: int, second: int, both: int, level: float = 0.95) -> CaptureRecapture:
    """Relevant records found by one rater or sample, by the other, and by both.

    N = (first + 1) (second + 1) / (both + 1) - 1 (D. G. Chapman, Univ. Calif. Publ. Statist. 1 (1951)
    131-160) with its variance (G. A. F. Seber, The Estimation of Animal Abundance, 1982). The interval
    holds every N that the overlap doesn't contradict, by the exact hypergeometric test, (1 - level) / 2 a
    side: normal intervals fail where nearly all is found twice, which is where screening ends.

    Raises
    ------
    ClassifierError : for counts below 0, or more found by both than by one.
    """
    check_level(level)
    if min(first, second, both) < 0 or both > min(first, second):
        raise ClassifierError(
            f"{first} and {second} records found, {both} by both: expected counts from 0 up, and no more"
            " by both than by either"
        )
    found = first + second - both
    missed = (first - both) * (second - both)
    variance = (first + 1) * (second + 1) * missed / ((both + 1) ** 2 * (both + 2))
    estimate = (first + 1) * (second + 1) / (both + 1) - 1
    low, high = _population_limits(first, second, both, (1 - level) / 2)
    if min(first, second) == 0:
        # The formula would give what the other search found, with an error of 0: as if that were all.
        which = "neither search" if found == 0 else "one of the two searches"
        more = "a relevant record" if found == 0 else "nothing, so there is no overlap to estimate from"
        recall = RecallEstimate.unknown(level, f"{which} found {more}")
        return CaptureRecapture(found, None, None, low, high, recall)
    recall = RecallEstimate(min(1.0, found / estimate), found / high if high else 0.0, found / low, level)
    return CaptureRecapture(found, estimate, math.sqrt(variance), low, high, recall)


def _population_limits(first: int, second: int, both: int, tail: float) -> tuple[int, int | None]:
    """The least and greatest number of records for which `both` lies in neither tail."""
    found = first + second - both

    def at_most(total: int) -> float:  # P(overlap <= both), rising with the total
        return float(hypergeometric_cdf(both, total, first, second)[0])

    def at_least(total: int) -> float:  # P(overlap >= both), falling with it
        return 1 - float(hypergeometric_cdf(both - 1, total, first, second)[0])

    low = _last(lambda total: at_most(total) < tail, found - 1) + 1
    if both == 0:
        return low, None
    return low, max(low, _last(lambda total: at_least(total) >= tail, found))


def _last(holds: Callable[[int], bool], start: int) -> int:
    """The last whole number from `start` on for which it holds, where it holds up to some number only."""
    step = 1
    while holds(start + step):
        start, step = start + step, 2 * step
    while step > 1:
        step //= 2
        if holds(start + step):
            start += step
    return start


def model_recall(probabilities: ArrayLike, screened: ArrayLike, deviations: float = 2.0) -> RecallEstimate:
    """Recall from calibrated probabilities (n,) of all records and which of them (n,) were screened.

    The expected number of relevant records among the screened over that among all; its variance is
    the sum of two Taylor terms as published (E. Yang, D. D. Lewis and O. Frieder, Proc. DocEng 2021,
    Quant and QuantCI). The interval spans `deviations` standard deviations each way, cut to [0, 1].

    Raises
    ------
    ClassifierError : for a value that is no probability, or lengths that differ.
    """
    p, seen = np.asarray(probabilities, np.float64), np.asarray(screened, bool)
    level = float(special.erf(deviations / math.sqrt(2)))
    if p.ndim != 1 or p.shape != seen.shape:
        raise ClassifierError(f"{p.size} probabilities for {seen.size} records; expected one for each")
    if not ((p >= 0) & (p <= 1)).all():  # NaN fails as well
        raise ClassifierError("the probabilities hold a value outside 0 to 1; scores that only rank won't do")
    inside, total = float(p[seen].sum()), float(p.sum())
    if total == 0:
        return RecallEstimate.unknown(level, "the model expects no relevant record at all")
    spread = p * (1 - p)
    variance = spread[seen].sum() / total**2 + inside**2 * spread.sum() / total**4
    value, half = inside / total, deviations * math.sqrt(variance)
    return RecallEstimate(value, max(0.0, value - half), min(1.0, value + half), level)


def sampled_recall(
    found: int, in_sample: int, sample: int, unscreened: int, level: float = 0.95
) -> RecallEstimate:
    """Recall when `in_sample` of `sample` records drawn at random from the `unscreened` are relevant.

    `found` counts what was found before the sample; both it and the sample's count as found now. The
    interval inverts the hypergeometric test at each end, (1 - level) / 2 a side: the numbers of
    relevant records among the unscreened that the sample does not contradict.

    Raises
    ------
    ClassifierError : for counts that can't be.
    """
    check_level(level)
    if not 0 <= in_sample <= sample <= unscreened or found < 0:
        raise ClassifierError(
            f"{in_sample} relevant of {sample} sampled from {unscreened} can't be; expected"
            " relevant <= sampled <= unscreened"
        )
    if sample == 0:
        return RecallEstimate.unknown(level, "no record was sampled from those not screened")
    now = found + in_sample
    tail = (1 - level) / 2
    if now == 0:
        return RecallEstimate.unknown(level, "no relevant record was found yet")
    most = unscreened - (sample - in_sample)  # so many relevant ones the unscreened can hold

    def contradicted_by_few(relevant: int) -> bool:  # P(X <= in_sample) falls with what is there
        return float(hypergeometric_cdf(in_sample, unscreened, relevant, sample)[0]) < tail

    def contradicted_by_many(relevant: int) -> bool:  # P(X >= in_sample) rises with it
        return 1 - float(hypergeometric_cdf(in_sample - 1, unscreened, relevant, sample)[0]) < tail

    high = _last(lambda relevant: relevant <= most and not contradicted_by_few(relevant), in_sample)
    low = _last(lambda relevant: relevant <= most and contradicted_by_many(relevant), in_sample - 1) + 1
    expected = found + unscreened * in_sample / sample
    return RecallEstimate(now / expected, now / (found + high), now / (found + low), level)


def hypergeometric_cdf(k: int, population: int, relevant: ArrayLike, sample: int) -> Floats:
    """P(X <= k) for X relevant records among `sample` of `population` that hold `relevant` (any shape)."""
    marked = np.atleast_1d(np.asarray(relevant, np.int64))
    if k < 0:
        return np.zeros(marked.shape)
    x = np.arange(k + 1)[:, None]
    with np.errstate(invalid="ignore"):
        logs = _log_choose(marked, x) + _log_choose(population - marked, sample - x)
        logs = np.where(np.isnan(logs), -np.inf, logs) - _log_choose(
            np.asarray(population), np.asarray(sample)
        )
    return np.asarray(np.minimum(np.exp(logs).sum(axis=0), 1.0))


def _log_choose(n: NDArray[np.int64], k: NDArray[np.int64]) -> Floats:
    """ln of n over k; minus infinity where it is 0."""
    n, k = np.broadcast_arrays(n, k)
    possible = (k >= 0) & (k <= n) & (n >= 0)
    m, j = np.where(possible, n, 0), np.where(possible, k, 0)
    value = special.gammaln(m + 1) - special.gammaln(j + 1) - special.gammaln(m - j + 1)
    return np.asarray(np.where(possible, value, -np.inf))
