"""A workload as the search sees it: whole amounts on a grid of ticks, some with a cap."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum

from scheduling_core.admission.attempts import (
    KIB_PER_GIB,
    KIB_PER_MIB,
    MILLICORES,
    TICKS_PER_HOUR,
    Attempt,
    SegmentKind,
    Workload,
    canonical,
)
from scheduling_core.admission.bounds import Bound, area_bound, image_area_bound, peak_bound
from scheduling_core.admission.images import store_use
from scheduling_core.admission.metrics import use_of
from scheduling_core.admission.schedule import NOTHING_KEPT, Limits, Policy
from scheduling_core.errors import SchedulingError

FINEST = 1 << 15
"""Units that the amounts of all slots together come to at the most, so that squares of excess stay small."""


class Resource(StrEnum):
    """What a search can lower."""

    SLOTS = "slots"
    CPU = "cpu"
    RAM = "ram"
    DISK = "disk"
    PARKED = "parked"
    REQUESTS = "requests"
    IMAGES = "images"


class Measure(StrEnum):
    """The highest amount at any time, or its integral over time."""

    PEAK = "peak"
    HOURS = "hours"


@dataclass(frozen=True)
class Goal:
    """What is to be as low as can be.

    Raises
    ------
    SchedulingError : for hours of anything but images. Durations and quotas are fixed, so those hours are
        the same in every schedule, and a search that lowered them would have a fault.
    """

    resource: Resource
    measure: Measure = Measure.PEAK

    def __post_init__(self) -> None:
        if self.measure is Measure.HOURS and self.resource is not Resource.IMAGES:
            raise SchedulingError(
                f"The hours of {self.resource} are the same in every schedule of these attempts, so there is "
                "nothing to search for; ask for its peak, or for the hours of images."
            )

    def told(self, value: int) -> str:
        """A value of this goal with its unit, to four digits: cores, GiB or GiB-h; a number of attempts."""
        if self.measure is Measure.HOURS:
            return f"{value / KIB_PER_GIB / TICKS_PER_HOUR:.4g} GiB-h"
        if self.resource in (Resource.SLOTS, Resource.REQUESTS):
            return str(value)
        if self.resource is Resource.CPU:
            return f"{value / MILLICORES:.4g} cores"
        return f"{value / KIB_PER_GIB:.4g} GiB"

    def __str__(self) -> str:
        return f"{self.resource} {self.measure}"


@dataclass(frozen=True)
class Profile:
    """One resource that adds up: for each attempt its amount in units, and when it is held.

    spans[i] : (offset, length) in ticks, merged where they touch. unit : millicores or KiB in one unit;
    amounts are rounded up to it, so a cap that is kept in units is kept in truth. exact : none was rounded.
    """

    resource: Resource
    amounts: tuple[int, ...]
    spans: tuple[tuple[tuple[int, int], ...], ...]
    unit: int
    exact: bool
    cap: int | None


@dataclass(frozen=True)
class Problem:
    """What a chain of moves works on. `image_sizes` are in MiB, rounded up."""

    workload: Workload
    policy: Policy
    limits: Limits
    deadline: int
    goal: Goal
    profiles: tuple[Profile, ...]
    image_of: tuple[int, ...]
    image_sizes: tuple[int, ...]

    @property
    def sha256(self) -> str:
        """What a checkpoint has to belong to."""
        said = {
            "workload": self.workload.sha256, "policy": str(self.policy), "limits": asdict(self.limits),
            "deadline": self.deadline, "goal": str(self.goal),
        }  # fmt: skip
        return hashlib.sha256(canonical(said).encode()).hexdigest()

    def value(self, starts: Sequence[int]) -> int:
        """The goal's value of these starts (n,), as `metrics` gives it, and nothing else."""
        attempts = self.workload.attempts
        resource = self.goal.resource
        if resource is Resource.IMAGES:
            used = store_use(
                [(s, s + a.ticks, a.image, a.image_kib) for a, s in zip(attempts, starts, strict=True)],
                NOTHING_KEPT,
            )
            return used.kib_ticks if self.goal.measure is Measure.HOURS else used.peak_kib
        profile = next(p for p in self.profiles if p.resource is resource)
        return use_of(
            (start + begin, start + begin + ticks, _amount(resource, attempt))
            for attempt, start, spans in zip(attempts, starts, profile.spans, strict=True)
            for begin, ticks in spans
        ).peak

    def bound(self) -> Bound:
        """The goal's value that no schedule can beat, in millicores, KiB or KiB x ticks."""
        attempts = self.workload.attempts
        resource = self.goal.resource
        if resource is Resource.IMAGES:
            if self.goal.measure is Measure.HOURS:
                return image_area_bound(self.workload, self.limits.slots)
            return Bound(max((a.image_kib for a in attempts), default=0), "largest single image")
        amounts = [_amount(resource, a) for a in attempts]
        if resource in (Resource.PARKED, Resource.REQUESTS):
            areas = [
                q * sum(length for _, length in _spans(a, resource, self.policy))
                for q, a in zip(amounts, attempts, strict=True)
            ]
            return area_bound(areas, self.deadline)
        policy = self.policy if resource in (Resource.CPU, Resource.RAM) else None
        return peak_bound(self.workload, amounts, policy, self.deadline)


def problem_of(workload: Workload, goal: Goal, policy: Policy, limits: Limits) -> Problem:
    """A problem whose limits name a deadline.

    Raises
    ------
    SchedulingError : where there is no deadline, or an attempt alone passes it or a limit.
    """
    if limits.deadline is None:
        raise SchedulingError("A search needs a deadline; that of FIFO is the makespan of its replay.")
    if not len(workload):
        raise SchedulingError(f"{workload.name} holds no attempts, so there is nothing to schedule.")
    for attempt in workload.attempts:
        if attempt.release + attempt.ticks > limits.deadline:
            raise SchedulingError(
                f"Attempt {attempt.id} ends at tick {attempt.release + attempt.ticks} at the earliest, after "
                f"the deadline {limits.deadline}."
            )
    caps = _caps(limits)
    wanted = [
        r for r in Resource
        if r is not Resource.IMAGES
        and ((r is goal.resource) or (r is not Resource.SLOTS and caps.get(r) is not None))
    ]  # fmt: skip
    images = list(dict.fromkeys(a.image for a in workload.attempts))
    place = {name: k for k, name in enumerate(images)}
    sizes = {a.image: -(-a.image_kib // KIB_PER_MIB) for a in workload.attempts}
    return Problem(
        workload, policy, limits, limits.deadline, goal,
        tuple(_profile(workload, r, policy, limits.slots, caps.get(r)) for r in wanted),
        tuple(place[a.image] for a in workload.attempts), tuple(sizes[name] for name in images),
    )  # fmt: skip


def _caps(limits: Limits) -> Mapping[Resource, int | None]:
    return {
        Resource.CPU: limits.cpu_milli, Resource.RAM: limits.ram_kib, Resource.DISK: limits.disk_kib,
        Resource.PARKED: limits.parked_kib, Resource.REQUESTS: limits.requests,
        Resource.IMAGES: limits.image_kib,
    }  # fmt: skip


def _profile(workload: Workload, resource: Resource, policy: Policy, slots: int, cap: int | None) -> Profile:
    amounts = [_amount(resource, a) for a in workload.attempts]
    for attempt, amount in zip(workload.attempts, amounts, strict=True):
        if cap is not None and amount > cap:
            raise SchedulingError(f"Attempt {attempt.id} alone takes {amount} of {resource}, over {cap}.")
    unit = math.gcd(*amounts, 0) or 1
    together = sum(sorted(amounts, reverse=True)[:slots])
    if together // unit > FINEST:
        unit = -(-together // FINEST)
    return Profile(
        resource, tuple(-(-q // unit) for q in amounts),
        tuple(_spans(a, resource, policy) for a in workload.attempts), unit,
        all(q % unit == 0 for q in amounts), None if cap is None else cap // unit,
    )  # fmt: skip


def _amount(resource: Resource, attempt: Attempt) -> int:
    if resource in (Resource.SLOTS, Resource.REQUESTS):
        return 1
    if resource is Resource.CPU:
        return attempt.cpu_milli
    return attempt.disk_kib if resource is Resource.DISK else attempt.ram_kib


def _spans(attempt: Attempt, resource: Resource, policy: Policy) -> tuple[tuple[int, int], ...]:
    if resource in (Resource.SLOTS, Resource.DISK):
        return ((0, attempt.ticks),)
    spans: list[tuple[int, int]] = []
    tick = 0
    for kind, ticks in attempt.segments:
        if _held(resource, policy, kind):
            if spans and sum(spans[-1]) == tick:
                spans[-1] = (spans[-1][0], spans[-1][1] + ticks)
            else:
                spans.append((tick, ticks))
        tick += ticks
    return tuple(spans)


def _held(resource: Resource, policy: Policy, kind: SegmentKind) -> bool:
    if resource is Resource.REQUESTS:
        return kind is SegmentKind.MODEL
    if resource is Resource.PARKED:
        return not policy.holds(kind)
    return policy.holds(kind)
