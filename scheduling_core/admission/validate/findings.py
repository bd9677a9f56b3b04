"""What a validation finds: violations, each one sentence, beside the figures and profiles derived anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Kind(StrEnum):
    """What is violated."""

    FORM = "form"
    """A field is missing, unknown, or holds what it can't."""
    DUPLICATE = "duplicate"
    LOST = "lost"
    ADDED = "added"
    CHANGED = "changed"
    ORDER = "order"
    SCORE = "score"
    IMAGE_SIZE = "image_size"
    WORKLOAD_HASH = "workload_hash"
    SCHEDULE_HASH = "schedule_hash"
    STARTS = "starts"
    """Starts and attempts differ in number, or a placement begins at another tick than its start."""
    RELEASE = "release"
    DEADLINE = "deadline"
    SEGMENTS = "segments"
    """The placed segments of an attempt aren't its own, in number, kind or length."""
    OVERLAP = "overlap"
    GAP = "gap"
    SLOTS = "slots"
    CPU = "cpu"
    RAM = "ram"
    DISK = "disk"
    PARKED = "parked"
    IMAGES = "images"
    REQUESTS = "requests"
    CLAIM = "claim"
    """A claimed figure isn't the one that follows from the starts."""


@dataclass(frozen=True)
class Violation:
    """One thing that is wrong: the attempt and the tick it concerns, where there is one."""

    kind: Kind
    attempt: str | None
    tick: int | None
    sentence: str


@dataclass(frozen=True)
class Validation:
    """The outcome for one schedule.

    metrics : every figure in ticks, millicores and KiB, under the names of `Metrics.integers`.
    profiles : for slots, cpu, ram, disk, parked, images and requests, [tick, value] pairs in order of time;
    a value holds until the next tick, before the first it is 0, and the last is 0. Both are empty where the
    data are too damaged for accounts.
    """

    violations: tuple[Violation, ...]
    metrics: Mapping[str, int] = field(default_factory=dict)
    profiles: Mapping[str, list[list[int]]] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether nothing is violated."""
        return not self.violations
