"""A complete schedule: one start for every attempt, under a policy and limits, with its hash.

Two schedules are compared whole. A figure taken from one and another from another describe no schedule.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from scheduling_core.admission.attempts import SegmentKind, Workload, canonical
from scheduling_core.errors import SchedulingError


class Policy(StrEnum):
    """When an attempt holds its quotas of CPU and RAM.

    W : whole admission, from start to end. A : active only; during `model` segments CPU is released and
    RAM goes to the parked pool. Disk, the slot and the image are held from start to end under both.
    """

    WHOLE = "W"
    ACTIVE = "A"

    def holds(self, kind: SegmentKind) -> bool:
        """Whether CPU and RAM are held during a segment of this kind."""
        return self is Policy.WHOLE or kind is not SegmentKind.MODEL


def _check_whole(holder: Limits | ImageStore) -> None:
    for name, value in asdict(holder).items():
        if value is None and name != "slots":
            continue
        if type(value) is not int or value < 0:
            raise SchedulingError(f"{name} is {value!r}, expected a whole number from 0.")


@dataclass(frozen=True)
class ImageStore:
    """How long an image stays after its last user ended (ticks), and how much the store holds (KiB).

    An image counts once while an attempt that uses it runs. After that it stays for `retention_ticks`
    (None: until it is evicted), but gives way, the least recently used first, where the store would hold
    more than `cache_kib`; at equal last use, by name. Live images never give way.
    """

    retention_ticks: int | None = 0
    cache_kib: int | None = None

    def __post_init__(self) -> None:
        _check_whole(self)


NOTHING_KEPT = ImageStore()
"""An image is in the store while somebody uses it, and no longer."""


@dataclass(frozen=True)
class Limits:
    """What a schedule may not pass; None: no limit. `deadline` is the last tick at which one may end."""

    slots: int
    deadline: int | None = None
    cpu_milli: int | None = None
    ram_kib: int | None = None
    disk_kib: int | None = None
    parked_kib: int | None = None
    image_kib: int | None = None
    requests: int | None = None

    def __post_init__(self) -> None:
        _check_whole(self)
        if not self.slots:
            raise SchedulingError(f"slots is {self.slots}, expected at least 1.")


@dataclass(frozen=True)
class Schedule:
    """One start vector, in the order of the workload, with what it was made under.

    `made_by` says how (method, seed, budget, ...) and isn't in the hash: the same starts under the same
    policy and limits are the same schedule, whoever found them.
    """

    workload_sha256: str
    starts: tuple[int, ...]
    policy: Policy
    limits: Limits
    images: ImageStore = NOTHING_KEPT
    made_by: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def sha256(self) -> str:
        """Hash of workload, policy, limits, image store and starts."""
        return hashlib.sha256(canonical(self._hashed()).encode()).hexdigest()

    def row(self) -> dict[str, Any]:
        """The schedule as plain JSON, with its hash."""
        return {**self._hashed(), "made_by": dict(self.made_by), "sha256": self.sha256}

    def _hashed(self) -> dict[str, Any]:
        return {
            "workload_sha256": self.workload_sha256, "policy": str(self.policy),
            "limits": asdict(self.limits), "images": asdict(self.images), "starts": list(self.starts),
        }  # fmt: skip


def schedule_of(
    workload: Workload,
    starts: Sequence[int],
    policy: Policy,
    limits: Limits,
    images: ImageStore = NOTHING_KEPT,
    **made_by: Any,
) -> Schedule:
    """A schedule of a workload. Raises SchedulingError where starts and attempts differ in number."""
    if len(starts) != len(workload):
        raise SchedulingError(f"{len(starts)} starts for {len(workload)} attempts, expected one for each.")
    return Schedule(workload.sha256, tuple(int(start) for start in starts), policy, limits, images, made_by)


def schedule_from_row(row: Mapping[str, Any], where: str) -> Schedule:
    """A schedule read back, its hash checked. Raises SchedulingError where it says another one."""
    missing = [
        name for name in ("workload_sha256", "starts", "policy", "limits", "images") if name not in row
    ]
    if missing:
        raise SchedulingError(f"{where}: this is no schedule: the field {missing[0]!r} is missing.")
    starts = row["starts"]
    if not isinstance(starts, list) or any(type(start) is not int for start in starts):
        raise SchedulingError(f"{where}: this is no schedule: starts isn't a list of whole numbers.")
    try:
        made = Schedule(
            str(row["workload_sha256"]), tuple(starts), Policy(row["policy"]), Limits(**row["limits"]),
            ImageStore(**row["images"]), dict(row.get("made_by", {})),
        )  # fmt: skip
    except (TypeError, ValueError) as error:
        raise SchedulingError(f"{where}: this is no schedule: {str(error).rstrip('.')}.") from error
    if row.get("sha256") != made.sha256:
        raise SchedulingError(
            f"{where}: the schedule says hash {row.get('sha256')}, its content gives {made.sha256}."
        )
    return made
