"""Attempts of agents at tasks, in integers: ticks of 0.1 s, millicores, KiB.

An attempt is a fixed list of segments; only its start is decided. Three labels say how it ended, each by
itself: whether it has a score, whether its time is complete, and what ended it. None of them implies
another, and a missing score is never a number.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple

from scheduling_core.errors import SchedulingError

TICKS_PER_SECOND = 10
TICKS_PER_HOUR = 36_000
MILLICORES = 1_000
KIB_PER_GIB = 1 << 20
KIB_PER_MIB = 1 << 10


class SegmentKind(StrEnum):
    """What an attempt does in a stretch of its time.

    `unknown` is time that no log explains, `mixed` is model and tool time that no log separates. Both are
    always reserved: nothing is released by guess.
    """

    IMAGE_LOAD = "image_load"
    SETUP = "setup"
    MODEL = "model"
    TOOL = "tool"
    VERIFIER = "verifier"
    UNKNOWN = "unknown"
    MIXED = "mixed"


class ScoreState(StrEnum):
    """Whether a valid score is known."""

    VALUED = "valued"
    MISSING = "missing"


class TimeState(StrEnum):
    """Whether an attempt ended by itself, or its time was cut and it would have gone on."""

    COMPLETE = "complete"
    RIGHT_CENSORED = "right_censored"


class Cause(StrEnum):
    """What ended an attempt."""

    MODEL = "model"
    AGENT_LIMIT = "agent_limit"
    INFRASTRUCTURE = "infrastructure"
    UNKNOWN = "unknown"


class Stratum(StrEnum):
    """Which attempts a replay holds: all whose duration is known, or only those that ended cleanly."""

    AS_LOGGED = "as_logged"
    CLEAN = "clean"


class Segment(NamedTuple):
    """One stretch of an attempt: its kind and its length in ticks, above 0."""

    kind: SegmentKind
    ticks: int


@dataclass(frozen=True)
class Attempt:
    """One attempt at a task.

    rank : place in the order of arrival, from 0; release : tick before which it can't start.
    cpu_milli, ram_kib, disk_kib : its quotas; image_kib : size of its image, shared by all of the same
    `image`. assumed : names of the fields that were assumed, not read. started : tick of the real start,
    from the first of its workload; None where it isn't known. score : None where it is missing.
    exception : the type that the log names, None without one.
    """

    id: str
    task: str
    image: str
    rank: int
    release: int
    segments: tuple[Segment, ...]
    cpu_milli: int
    ram_kib: int
    disk_kib: int
    image_kib: int
    score: float | None = None
    time: TimeState = TimeState.COMPLETE
    cause: Cause = Cause.MODEL
    exception: str | None = None
    started: int | None = None
    tenant: str | None = None
    assumed: tuple[str, ...] = ()
    synthetic: bool = False

    @cached_property
    def ticks(self) -> int:
        """The whole duration."""
        return sum(segment.ticks for segment in self.segments)

    @property
    def score_state(self) -> ScoreState:
        """Valued or missing; a missing score isn't 0."""
        return ScoreState.MISSING if self.score is None else ScoreState.VALUED

    @property
    def clean(self) -> bool:
        """Complete, and ended by the model's own doing: a wrong answer is clean."""
        return self.time is TimeState.COMPLETE and self.cause is Cause.MODEL

    def time_in(self, *kinds: SegmentKind) -> int:
        """Ticks spent in segments of these kinds."""
        return sum(segment.ticks for segment in self.segments if segment.kind in kinds)

    def row(self) -> dict[str, Any]:
        """The attempt as plain JSON, every field in its order: a line of the compact form."""
        return {
            "id": self.id, "task": self.task, "image": self.image, "rank": self.rank, "release": self.release,
            "segments": [[str(kind), ticks] for kind, ticks in self.segments],
            "cpu_milli": self.cpu_milli, "ram_kib": self.ram_kib, "disk_kib": self.disk_kib,
            "image_kib": self.image_kib, "score": self.score, "time": str(self.time),
            "cause": str(self.cause), "exception": self.exception, "started": self.started,
            "tenant": self.tenant, "assumed": list(self.assumed), "synthetic": self.synthetic,
        }  # fmt: skip


@dataclass(frozen=True)
class Workload:
    """Attempts in the order of their arrival, with a name that says where they come from.

    Ids are unique and ranks are 0..n-1 in order. Attempts of one image agree on its size.
    """

    name: str
    attempts: tuple[Attempt, ...]

    def __len__(self) -> int:
        return len(self.attempts)

    @cached_property
    def sha256(self) -> str:
        """Hash of every field of every attempt; the name isn't in it."""
        lines = (canonical(attempt.row()) for attempt in self.attempts)
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    @property
    def synthetic(self) -> bool:
        """Whether any attempt in it was generated and not measured."""
        return any(attempt.synthetic for attempt in self.attempts)

    def stratum(self, which: Stratum) -> Workload:
        """The attempts of a stratum, ranked anew in their order."""
        if which is Stratum.AS_LOGGED:
            return self
        return ranked(f"{self.name}, clean", [a for a in self.attempts if a.clean])

    def first_of_each_task(self, count: int) -> Workload:
        """The first `count` attempts of each task, in the order of arrival."""
        seen: dict[str, int] = {}
        kept = []
        for attempt in self.attempts:
            seen[attempt.task] = seen.get(attempt.task, 0) + 1
            if seen[attempt.task] <= count:
                kept.append(attempt)
        return ranked(f"{self.name}, first {count} of each task", kept)


def ranked(name: str, attempts: Sequence[Attempt]) -> Workload:
    """A workload of attempts in the given order, ranked 0..n-1.

    Raises
    ------
    SchedulingError : for an id that stands twice, or an image with two sizes.
    """
    seen: set[str] = set()
    sizes: dict[str, int] = {}
    for attempt in attempts:
        if attempt.id in seen:
            raise SchedulingError(f"Attempt {attempt.id} stands twice, expected each id once.")
        seen.add(attempt.id)
        if sizes.setdefault(attempt.image, attempt.image_kib) != attempt.image_kib:
            raise SchedulingError(
                f"Attempt {attempt.id}: image {attempt.image} has {attempt.image_kib} KiB here and "
                f"{sizes[attempt.image]} KiB before, expected one size."
            )
    return Workload(name, tuple(replace(a, rank=rank) for rank, a in enumerate(attempts)))


def attempt_from_row(row: Mapping[str, Any], where: str) -> Attempt:
    """An attempt from a line of the compact form, every field checked.

    Raises
    ------
    SchedulingError : naming `where`, the field, what it holds and what was expected.
    """
    if not isinstance(row, Mapping):
        raise SchedulingError(f"{where}: {row!r}, expected an object with the fields of an attempt.")
    unknown = sorted(set(row) - set(_FIELDS))
    if unknown:
        raise SchedulingError(
            f"{where}: there is no field {unknown[0]!r}, expected those of the compact form."
        )
    missing = [name for name in _REQUIRED if name not in row]
    if missing:
        raise SchedulingError(f"{where}: the field {missing[0]!r} is missing.")
    score = row.get("score")
    number = isinstance(score, int | float) and not isinstance(score, bool)
    if score is not None and not (number and abs(score) <= sys.float_info.max):
        raise SchedulingError(f"{where}: score is {score!r}, expected a number or null.")
    return Attempt(
        id=_text(row, "id", where), task=_text(row, "task", where), image=_text(row, "image", where),
        rank=_whole(row, "rank", where, 0), release=_whole(row, "release", where, 0),
        segments=_segments(row["segments"], where),
        cpu_milli=_whole(row, "cpu_milli", where, 0), ram_kib=_whole(row, "ram_kib", where, 0),
        disk_kib=_whole(row, "disk_kib", where, 0), image_kib=_whole(row, "image_kib", where, 0),
        score=None if score is None else float(score),
        time=_member(TimeState, row, "time", where),
        cause=_member(Cause, row, "cause", where),
        exception=None if row.get("exception") is None else _text(row, "exception", where),
        started=None if row.get("started") is None else _whole(row, "started", where, 0),
        tenant=None if row.get("tenant") is None else _text(row, "tenant", where),
        assumed=_texts(row.get("assumed", []), where), synthetic=_flag(row.get("synthetic", False), where),
    )  # fmt: skip


def canonical(value: Any) -> str:
    """JSON with sorted keys, no spaces and no NaN: the same value is the same text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


_KINDS = {str(kind): kind for kind in SegmentKind}
_REQUIRED = (
    "id", "task", "image", "rank", "release", "segments", "cpu_milli", "ram_kib", "disk_kib", "image_kib",
    "time", "cause",
)  # fmt: skip
_FIELDS = (*_REQUIRED, "score", "exception", "started", "tenant", "assumed", "synthetic")


def _segments(value: Any, where: str) -> tuple[Segment, ...]:
    if not isinstance(value, list) or not value:
        raise SchedulingError(f"{where}: segments is {value!r}, expected a list of [kind, ticks].")
    found = []
    for position, pair in enumerate(value):
        if isinstance(pair, list) and len(pair) == 2:
            kind, ticks = pair
            known = _KINDS.get(kind) if isinstance(kind, str) else None
            if known is not None and type(ticks) is int and 0 < ticks < 1 << 53:
                found.append(Segment(known, ticks))
                continue
        raise _bad_segment(pair, f"{where}, segment {position}")
    return tuple(found)


def _bad_segment(pair: Any, place: str) -> SchedulingError:
    if not (isinstance(pair, list) and len(pair) == 2):
        return SchedulingError(f"{place}: {pair!r}, expected [kind, ticks].")
    kind, ticks = pair
    if not (isinstance(kind, str) and kind in _KINDS):
        return SchedulingError(f"{place}: kind {kind!r}, expected one of {', '.join(SegmentKind)}.")
    return SchedulingError(f"{place}: length {ticks!r}, expected a whole number of ticks above 0.")


def _text(row: Mapping[str, Any], name: str, where: str) -> str:
    value = row[name]
    if not isinstance(value, str) or not value or not _encodes(value):
        raise SchedulingError(f"{where}: {name} is {value!r}, expected a text.")
    return value


def _encodes(value: str) -> bool:
    """Half of a surrogate pair passes JSON, but has no bytes to hash."""
    return not any("\ud800" <= letter <= "\udfff" for letter in value)


def _whole(row: Mapping[str, Any], name: str, where: str, least: int) -> int:
    value = row[name]
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 1 << 53:
        raise SchedulingError(f"{where}: {name} is {value!r}, expected a whole number from {least}.")
    return value


def _member(kind: type[StrEnum], row: Mapping[str, Any], name: str, where: str) -> Any:
    value = row[name]
    if value not in list(kind):
        raise SchedulingError(f"{where}: {name} is {value!r}, expected one of {', '.join(kind)}.")
    return kind(value)


def _texts(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(i, str) and _encodes(i) for i in value):
        raise SchedulingError(f"{where}: assumed is {value!r}, expected a list of names.")
    return tuple(value)


def _flag(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise SchedulingError(f"{where}: synthetic is {value!r}, expected true or false.")
    return value
