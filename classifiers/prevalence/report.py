"""Prevalence with its error and intervals, for the frame and for each stratum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from classifiers.errors import ClassifierError
from classifiers.intervals import (
    Interval,
    Limits,
    Method,
    check_level,
    korn_graubard_limits,
    logit_limits,
    wald_limits,
)
from classifiers.prevalence.counts import StratumCounts
from classifiers.prevalence.stratified import Moments, domain_moments, nonresponse_moments

Unknown = Literal["nonresponse", "domain"]

_ALIKE = "the estimated variance is 0 outside a census, which says nothing of the uncertainty"
_NO_DF = "no stratum has two usable records, so there are no degrees of freedom"


@dataclass(frozen=True)
class Bounds:
    """Where the prevalence lies whatever the unknown records are: all negative, all positive.

    `low` and `high` are the estimates of the two cases, `interval_low` and `interval_high` the outer ends
    of their Korn-Graubard intervals.
    """

    low: float
    high: float
    interval_low: float | None
    interval_high: float | None


@dataclass(frozen=True)
class Prevalence:
    """The share of positives in a frame, or in one stratum of it (`stratum` is None for the frame).

    `raw_share` is positive / usable without weights. `effective_n` is Kish's, of the usable records.
    `bounds` is None where no record is unknown, or a stratum has no record at all.
    """

    stratum: str | None
    frame: int
    sampled: int
    usable: int
    unknown: int
    positive: int
    raw_share: float | None
    estimate: float | None
    undefined: str | None
    se: float | None
    df: int | None
    effective_n: float | None
    wald: Interval
    logit: Interval
    korn_graubard: Interval
    bounds: Bounds | None
    unknown_as: Unknown
    notes: tuple[str, ...]


@dataclass(frozen=True)
class PrevalenceReport:
    """Prevalence in the whole frame and in each stratum, by one rater."""

    rater: str | None
    overall: Prevalence
    strata: tuple[Prevalence, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON: no NaN, None where there is no value."""
        plain: dict[str, Any] = asdict(self)
        return plain


def prevalence(
    counts: Sequence[StratumCounts],
    *,
    rater: str | None = None,
    unknown_as: Unknown = "nonresponse",
    level: float = 0.95,
) -> PrevalenceReport:
    """The stratified estimate with finite population correction, its error, and three intervals.

    Unknown records are never negatives. `unknown_as="nonresponse"` asks for the share of the whole frame
    and lets the usable records of a stratum stand for its unknown ones; `"domain"` asks for the share of
    those records of the frame that can be judged at all. Either way the bounds say what the unknown ones
    could change. Strata of one usable record, and strata taken whole, follow the rules in
    `classifiers.prevalence.stratified`, and a note names them.

    Raises
    ------
    ClassifierError : for no stratum, a stratum that is there twice, or a level outside (0, 1).
    """
    check_level(level)
    if unknown_as not in ("nonresponse", "domain"):
        raise ClassifierError(f"unknown_as is {unknown_as!r}, expected 'nonresponse' or 'domain'")
    if not counts:
        raise ClassifierError("there is no stratum; expected counts for at least one")
    names = [c.name for c in counts]
    for position, name in enumerate(names):
        if name in names[:position]:
            raise ClassifierError(f"stratum {name!r} is there twice; each may stand once")
    return PrevalenceReport(
        rater,
        _prevalence(None, counts, unknown_as, level),
        tuple(_prevalence(c.name, [c], unknown_as, level) for c in counts),
    )


def prevalence_by_rater(
    counts: Mapping[str, Sequence[StratumCounts]],
    *,
    unknown_as: Unknown = "nonresponse",
    level: float = 0.95,
) -> tuple[PrevalenceReport, ...]:
    """One report for each rater, from `counts_from_ratings`."""
    return tuple(
        prevalence(own, rater=rater, unknown_as=unknown_as, level=level) for rater, own in counts.items()
    )


def _moments(counts: Sequence[StratumCounts], unknown_as: Unknown) -> Moments:
    frame, sampled, usable, positive = (
        np.array([getattr(c, what) for c in counts], dtype=np.float64)
        for what in ("frame", "sampled", "usable", "positive")
    )
    if unknown_as == "nonresponse":
        return nonresponse_moments(frame, usable, positive)
    return domain_moments(frame, sampled, usable, positive)


def _prevalence(
    stratum: str | None, counts: Sequence[StratumCounts], unknown_as: Unknown, level: float
) -> Prevalence:
    moments = _moments(counts, unknown_as)
    sampled, usable, unknown, positive = (
        sum(getattr(c, what) for c in counts) for what in ("sampled", "usable", "unknown", "positive")
    )
    estimate = _number(moments.estimate)
    census = all((c.usable if unknown_as == "nonresponse" else c.sampled) == c.frame for c in counts)
    undefined = _why_undefined(counts, unknown_as) if estimate is None else None
    lone = [c.name for c in counts if _records(c, unknown_as) == 1 < c.frame]
    se = _number(moments.se)
    known = se if census or (se is not None and se > 0) else None
    return Prevalence(
        stratum,
        sum(c.frame for c in counts),
        sampled,
        usable,
        unknown,
        positive,
        positive / usable if usable else None,
        estimate,
        undefined,
        known,
        None if estimate is None else int(moments.df),
        _number(moments.kish),
        _interval("wald", moments, level, census, undefined),
        _interval("logit", moments, level, census, undefined),
        _interval("korn_graubard", moments, level, census, undefined),
        _bounds(counts, level) if unknown and all(c.sampled for c in counts) else None,
        unknown_as,
        _notes(counts, unknown_as, lone, estimate, known),
    )


def _records(counts: StratumCounts, unknown_as: Unknown) -> int:
    return counts.usable if unknown_as == "nonresponse" else counts.sampled


def _why_undefined(counts: Sequence[StratumCounts], unknown_as: Unknown) -> str:
    empty = [c.name for c in counts if _records(c, unknown_as) == 0]
    if not empty:
        return "no sampled record is usable"
    kind = "usable" if unknown_as == "nonresponse" else "sampled"
    return f"no {kind} record in {', '.join(empty)}, so nothing is known of that part of the frame"


def _notes(
    counts: Sequence[StratumCounts],
    unknown_as: Unknown,
    lone: list[str],
    estimate: float | None,
    se: float | None,
) -> tuple[str, ...]:
    notes = []
    whole = [c.name for c in counts if _records(c, unknown_as) == c.frame]
    if whole:
        notes.append(f"taken whole, so without sampling error: {', '.join(whole)}")
    if lone:
        notes.append(f"one record each, whose variance is taken from the overall estimate: {', '.join(lone)}")
    if estimate is not None and se is None:
        notes.append(_ALIKE)
    return tuple(notes)


def _interval(
    method: Method, moments: Moments, level: float, census: bool, undefined: str | None
) -> Interval:
    if undefined is not None:
        return Interval(method, level, None, None, reason=undefined)
    p = float(moments.estimate)
    if census:
        return Interval(method, level, p, p, reason="the frame was taken whole")
    low, high = _limits(method, moments, level)
    if np.isnan(low) or np.isnan(high):
        if method == "korn_graubard":
            reason = _NO_DF
        elif method == "logit" and p in (0.0, 1.0):
            reason = f"the logit of {p:.0f} is not finite; the Korn-Graubard interval is"
        else:
            reason = _ALIKE
        return Interval(method, level, None, None, reason=reason)
    inside = float(np.clip(low, 0, 1)), float(np.clip(high, 0, 1))
    return Interval(method, level, *inside, truncated=inside != (float(low), float(high)))


def _limits(method: Method, moments: Moments, level: float) -> Limits:
    if method == "wald":
        return wald_limits(moments.estimate, moments.se, level)
    if method == "logit":
        return logit_limits(moments.estimate, moments.se, level)
    return korn_graubard_limits(moments.estimate, moments.se, moments.n, moments.kish, moments.df, level)


def _bounds(counts: Sequence[StratumCounts], level: float) -> Bounds:
    """Both cases judge every sampled record, so neither needs an assumption on the unknown ones."""
    low, high = (
        [StratumCounts(c.name, c.frame, c.sampled, c.positive + k * c.unknown) for c in counts]
        for k in (0, 1)
    )
    moments = [_moments(case, "nonresponse") for case in (low, high)]
    census = all(c.sampled == c.frame for c in counts)
    ends = [_interval("korn_graubard", m, level, census, None) for m in moments]
    return Bounds(float(moments[0].estimate), float(moments[1].estimate), ends[0].low, ends[1].high)


def _number(value: Any) -> float | None:
    return None if np.isnan(value) else float(value)
