"""What a reader hands over: attempts as logged, and the workload that can be replayed from them.

Nothing is dropped: an attempt whose length or quotas aren't known stands in `unreplayable` with the reason,
a record that can't be understood in `rejected` with its text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields

from scheduling_core.admission.attempts import (
    KIB_PER_GIB,
    Attempt,
    Cause,
    Segment,
    SegmentKind,
    TimeState,
    Workload,
    ranked,
)
from scheduling_core.admission.formats.documents import Rejected, Source
from scheduling_core.admission.formats.fields import PER_TICK
from scheduling_core.admission.formats.outcomes import Outcome
from scheduling_core.errors import SchedulingError


@dataclass(frozen=True)
class Quotas:
    """What an attempt may hold (millicores, KiB); None where no file says it."""

    cpu_milli: int | None = None
    ram_kib: int | None = None
    disk_kib: int | None = None
    image_kib: int | None = None

    def or_else(self, other: Quotas) -> Quotas:
        """These quotas, and the other's where one isn't known here."""
        return Quotas(*(getattr(other if getattr(self, n) is None else self, n) for n in QUOTAS))


QUOTAS = tuple(item.name for item in fields(Quotas))


@dataclass(frozen=True)
class Assumptions(Quotas):
    """What to take where a quota isn't known; each attempt names what was assumed for it.

    The defaults are those of the published figures of the TMax subset (1 core, 2 GiB, images of 3.5 GiB)
    and, for the disk, 10 GiB. None: not assumed.
    """

    cpu_milli: int | None = 1_000
    ram_kib: int | None = 2 * KIB_PER_GIB
    disk_kib: int | None = 10 * KIB_PER_GIB
    image_kib: int | None = 7 * KIB_PER_GIB // 2

    def __post_init__(self) -> None:
        for name in QUOTAS:
            value = getattr(self, name)
            if value is not None and not (type(value) is int and 0 <= value < 1 << 53):
                raise SchedulingError(f"Assumed {name} is {value!r}, expected a whole number from 0.")


@dataclass(frozen=True)
class Observed:
    """One attempt as its log tells it.

    segments : those whose length is known. unknown_length : why the whole isn't known, None where it is.
    started : microseconds since 1970. missing : names of what its log lacks.
    """

    where: str
    id: str
    task: str
    image: str
    segments: tuple[Segment, ...]
    outcome: Outcome
    quotas: Quotas = Quotas()
    started: int | None = None
    unknown_length: str | None = None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unreplayable:
    """An attempt that can be counted, but not replayed, and the reason as a sentence."""

    where: str
    id: str
    task: str
    segments: tuple[Segment, ...]
    score: float | None
    time: TimeState
    cause: Cause
    exception: str | None
    reason: str

    def time_in(self, *kinds: SegmentKind) -> int:
        """Ticks known to be spent in segments of these kinds."""
        return sum(segment.ticks for segment in self.segments if segment.kind in kinds)


@dataclass(frozen=True)
class Import:
    """All that was read.

    missing : by id, what an attempt's log lacks. withheld : by id, a logged reward that its exception
    makes invalid. notes : sentences on what was assumed, set aside or left alone.
    """

    workload: Workload
    rejected: tuple[Rejected, ...] = ()
    notes: tuple[str, ...] = ()
    unreplayable: tuple[Unreplayable, ...] = ()
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    withheld: Mapping[str, float] = field(default_factory=dict)
    sources: tuple[Source, ...] = ()


class Collector:
    """Gathers attempts in the order in which they are read; an id counts once."""

    def __init__(self) -> None:
        self.observed: list[Observed] = []
        self.rejected: list[Rejected] = []
        self.notes: list[str] = []
        self.sources: list[Source] = []
        self._seen: dict[str, str] = {}

    def add(self, found: Observed, raw: str) -> None:
        """Take an attempt, or set it aside where its id was read before."""
        before = self._seen.setdefault(found.id, found.where)
        if before != found.where:
            sentence = f"{found.where}: attempt {found.id} stands in {before} too, expected each id once."
            self.rejected.append(Rejected(found.where, sentence, raw))
            return
        self.observed.append(found)

    def reject(self, where: str, reason: str, raw: str) -> None:
        """Set a record aside."""
        self.rejected.append(Rejected(where, reason, raw))


def assemble(name: str, collected: Collector, assumptions: Assumptions | None) -> Import:
    """The workload of what can be replayed, in the order of the logged starts, then of ids.

    Starts count from the first logged one. Quotas that no file gives are taken from `assumptions`.
    """
    order = sorted(collected.observed, key=lambda o: (o.started is None, o.started or 0, o.id))
    kept: list[tuple[Observed, Quotas, tuple[str, ...]]] = []
    unreplayable: list[Unreplayable] = []
    for found in order:
        quotas, assumed = _quotas(found.quotas, assumptions)
        reason = _reason(found, quotas)
        if reason is None:
            kept.append((found, quotas, assumed))
        else:
            unreplayable.append(_set_aside(found, reason))
    zero = next((found.started for found, _, _ in kept if found.started is not None), 0)
    attempts: list[Attempt] = []
    for found, quotas, assumed in kept:
        ends = found.outcome
        attempts.append(
            Attempt(
                found.id, found.task, found.image, len(attempts), 0, found.segments,
                quotas.cpu_milli or 0, quotas.ram_kib or 0, quotas.disk_kib or 0, quotas.image_kib or 0,
                score=ends.score, time=ends.time, cause=ends.cause, exception=ends.exception,
                started=None if found.started is None else round((found.started - zero) / PER_TICK),
                assumed=assumed,
            )
        )  # fmt: skip
    return Import(
        ranked(name, attempts), tuple(collected.rejected),
        (*collected.notes, *_notes(attempts, unreplayable, assumptions)), tuple(unreplayable),
        {o.id: o.missing for o in order if o.missing},
        {o.id: o.outcome.withheld for o in order if o.outcome.withheld is not None},
        tuple(collected.sources),
    )  # fmt: skip


def of_attempts(
    name: str, attempts: Sequence[Attempt], collected: Collector, notes: Sequence[str] = ()
) -> Import:
    """An import of attempts that a file holds whole, in their order."""
    return Import(
        ranked(name, attempts), tuple(collected.rejected), (*collected.notes, *notes),
        sources=tuple(collected.sources),
    )  # fmt: skip


def _quotas(known: Quotas, assumptions: Assumptions | None) -> tuple[Quotas, tuple[str, ...]]:
    if assumptions is None:
        return known, ()
    full = known.or_else(assumptions)
    assumed = tuple(n for n in QUOTAS if getattr(known, n) is None and getattr(full, n) is not None)
    return full, assumed


def _reason(found: Observed, quotas: Quotas) -> str | None:
    if found.unknown_length is not None:
        return f"{found.where}: {found.unknown_length}."
    if not found.segments:
        return f"{found.where}: the attempt lasts less than half a tick of 0.1 s."
    lacking = [name for name in QUOTAS if getattr(quotas, name) is None]
    if lacking:
        return f"{found.where}: no file gives {', '.join(lacking)}, and nothing is assumed for it."
    return None


def _set_aside(found: Observed, reason: str) -> Unreplayable:
    ends = found.outcome
    return Unreplayable(
        found.where, found.id, found.task, found.segments, ends.score, ends.time, ends.cause, ends.exception,
        reason,
    )  # fmt: skip


def _notes(
    attempts: Sequence[Attempt], aside: Sequence[Unreplayable], assumptions: Assumptions | None
) -> list[str]:
    counted = Counter(name for attempt in attempts for name in attempt.assumed)
    notes = [
        f"{name} is assumed as {getattr(assumptions, name)} for {counted[name]} of {len(attempts)} attempts."
        for name in QUOTAS
        if counted[name]
    ]
    if aside:
        notes.append(f"{len(aside)} attempts are counted but can't be replayed; each has its reason.")
    return notes
