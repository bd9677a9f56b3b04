"""The census of an import: how many attempts, of which kind, and what isn't known of them.

Three means of the score are told side by side. Only the first is one: the others count what wasn't scored
as wrong, or leave out scored attempts because something was raised beside their score.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from scheduling_core.admission.attempts import (
    TICKS_PER_HOUR,
    Attempt,
    Cause,
    ScoreState,
    SegmentKind,
    Stratum,
    TimeState,
)
from scheduling_core.admission.formats.records import Import, Unreplayable

Counted = Attempt | Unreplayable


@dataclass(frozen=True)
class Mean:
    """A mean score as a sum over a number of attempts; `wrong` says why it isn't one, None where it is."""

    name: str
    total: float
    attempts: int
    wrong: str | None

    @property
    def value(self) -> float | None:
        """None without attempts, which isn't 0."""
        return self.total / self.attempts if self.attempts else None


@dataclass(frozen=True)
class Combination:
    """How many attempts share the three labels and the type of exception."""

    score: ScoreState
    time: TimeState
    cause: Cause
    exception: str | None
    attempts: int
    full_score: int


@dataclass(frozen=True)
class Raised:
    """The attempts of one type of exception, None for those without.

    valued : those with a valid score; full_score : those of them at 1; withheld : those with a logged
    reward that the exception makes invalid.
    """

    exception: str | None
    attempts: int
    valued: int
    full_score: int
    withheld: int


@dataclass(frozen=True)
class Census:
    """The counts of an import. Lengths in ticks.

    attempts : all that were read, replayable or not; rejected : records that couldn't be understood, which
    are in no other count. attempts_per_task : (attempts of a task, number of such tasks).
    ticks, censored_ticks : by kind of segment, over all attempts and over the right-censored ones.
    """

    name: str
    attempts: int
    replayable: int
    unreplayable: tuple[tuple[str, int], ...]
    rejected: int
    synthetic: int
    tasks: int
    attempts_per_task: tuple[tuple[int, int], ...]
    score: tuple[tuple[str, int], ...]
    time: tuple[tuple[str, int], ...]
    cause: tuple[tuple[str, int], ...]
    combinations: tuple[Combination, ...]
    exceptions: tuple[Raised, ...]
    strata: tuple[tuple[str, int], ...]
    missing: tuple[tuple[str, int], ...]
    assumed: tuple[tuple[str, int], ...]
    ticks: tuple[tuple[str, int], ...]
    censored_ticks: tuple[tuple[str, int], ...]
    means: tuple[Mean, ...]

    def row(self) -> dict[str, Any]:
        """The census as plain JSON."""
        plain = asdict(self)
        pairs = ("score", "time", "cause", "strata", "missing", "assumed", "ticks", "censored_ticks")
        for name in (*pairs, "unreplayable"):
            plain[name] = dict(plain[name])
        plain["attempts_per_task"] = [list(pair) for pair in self.attempts_per_task]
        plain["combinations"] = [{k: _plain(v) for k, v in asdict(c).items()} for c in self.combinations]
        plain["exceptions"] = [asdict(raised) for raised in self.exceptions]
        plain["means"] = [{**asdict(mean), "value": mean.value} for mean in self.means]
        return plain

    def table(self) -> dict[str, Any]:
        """The census as `columns` and `rows`, in the units in which it is told."""
        rows: list[list[Any]] = [
            ["attempts", "all", self.attempts],
            ["attempts", "replayable", self.replayable],
            ["attempts", "synthetic", self.synthetic],
            ["rejected records", "all", self.rejected],
            *(["not replayable", reason, count] for reason, count in self.unreplayable),
            ["tasks", "all", self.tasks],
            *(["tasks", f"with {each} attempts", count] for each, count in self.attempts_per_task),
        ]
        for name in ("score", "time", "cause"):
            rows += [[name, label, count] for label, count in getattr(self, name)]
        rows += [
            [
                "score, time, cause, exception",
                f"{c.score}, {c.time}, {c.cause}, {_none(c.exception)}",
                c.attempts,
            ]
            for c in self.combinations
        ]
        for raised in self.exceptions:
            said = _none(raised.exception)
            rows += [[f"exception {said}", part, getattr(raised, part)] for part in _PARTS]
        rows += [["stratum", name, count] for name, count in self.strata]
        rows += [["missing", name, count] for name, count in self.missing]
        rows += [["assumed", name, count] for name, count in self.assumed]
        rows += [["hours", kind, _hours(ticks)] for kind, ticks in self.ticks]
        rows += [["hours of censored attempts", kind, _hours(ticks)] for kind, ticks in self.censored_ticks]
        rows += [[_title(mean), f"n = {mean.attempts}", mean.value] for mean in self.means]
        return {"columns": ["what", "which", "value"], "rows": rows}


_PARTS = ("attempts", "valued", "full_score", "withheld")


def census(found: Import) -> Census:
    """Count what was read: replayable attempts and those that aren't, each once."""
    every: list[Counted] = [*found.workload.attempts, *found.unreplayable]
    per_task = Counter(attempt.task for attempt in every)
    strata = {str(stratum): len(found.workload.stratum(stratum)) for stratum in Stratum}
    return Census(
        name=found.workload.name,
        attempts=len(every),
        replayable=len(found.workload),
        unreplayable=_by_count(_bare(aside) for aside in found.unreplayable),
        rejected=len(found.rejected),
        synthetic=sum(attempt.synthetic for attempt in found.workload.attempts),
        tasks=len(per_task),
        attempts_per_task=tuple(sorted(Counter(per_task.values()).items())),
        score=_each(ScoreState, (_score(a) for a in every)),
        time=_each(TimeState, (a.time for a in every)),
        cause=_each(Cause, (a.cause for a in every)),
        combinations=_combinations(every),
        exceptions=_exceptions(every, found),
        strata=tuple(strata.items()),
        missing=_by_count(name for names in found.missing.values() for name in names),
        assumed=_by_count(name for attempt in found.workload.attempts for name in attempt.assumed),
        ticks=_ticks(every),
        censored_ticks=_ticks([a for a in every if a.time is TimeState.RIGHT_CENSORED]),
        means=means(every),
    )


def means(attempts: Iterable[Counted]) -> tuple[Mean, ...]:
    """The mean score over the scored attempts, and the two that are often taken for it."""
    every = list(attempts)
    scored = [(a.score, a.exception) for a in every if a.score is not None]
    calm = [score for score, exception in scored if exception is None]
    total = math.fsum(score for score, _ in scored)
    return (
        Mean("scored only", total, len(scored), None),
        Mean("missing as 0", total, len(every), "it counts attempts that were never scored as failed"),
        Mean(
            "no exceptions", math.fsum(calm), len(calm),
            "it drops attempts with a valid score because something was raised beside it",
        ),
    )  # fmt: skip


def _exceptions(every: list[Counted], found: Import) -> tuple[Raised, ...]:
    kinds = sorted({a.exception for a in every}, key=lambda name: (name is not None, name or ""))
    rows = []
    for kind in kinds:
        those = [a for a in every if a.exception == kind]
        rows.append(
            Raised(
                kind, len(those), sum(a.score is not None for a in those),
                sum(a.score == 1 for a in those), sum(a.id in found.withheld for a in those),
            )
        )  # fmt: skip
    return tuple(rows)


def _combinations(every: list[Counted]) -> tuple[Combination, ...]:
    keys = [(_score(a), a.time, a.cause, a.exception) for a in every]
    full = Counter(key for key, a in zip(keys, every, strict=True) if a.score == 1)
    counted = Counter(keys)
    order = sorted(counted, key=lambda key: (-counted[key], *(str(part) for part in key)))
    return tuple(Combination(*key, counted[key], full[key]) for key in order)


def _score(attempt: Counted) -> ScoreState:
    return ScoreState.MISSING if attempt.score is None else ScoreState.VALUED


def _each(labels: Iterable[Any], found: Iterable[Any]) -> tuple[tuple[str, int], ...]:
    """Every label with its count, those that nobody has included."""
    counted = Counter(found)
    return tuple((str(label), counted[label]) for label in labels)


def _by_count(found: Iterable[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(Counter(found).items(), key=lambda pair: (-pair[1], pair[0])))


def _ticks(attempts: Iterable[Counted]) -> tuple[tuple[str, int], ...]:
    every = list(attempts)
    return tuple((str(kind), sum(a.time_in(kind) for a in every)) for kind in SegmentKind)


def _bare(aside: Unreplayable) -> str:
    """The reason without its place, so that alike ones are counted together."""
    return aside.reason.removeprefix(f"{aside.where}: ")


def _hours(ticks: int) -> float:
    return float(Fraction(ticks, TICKS_PER_HOUR))


def _title(mean: Mean) -> str:
    return f"mean score, {mean.name}" if mean.wrong is None else f"wrong mean, {mean.name}: {mean.wrong}"


def _none(exception: str | None) -> str:
    return "none" if exception is None else exception


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, ScoreState | TimeState | Cause) else value
