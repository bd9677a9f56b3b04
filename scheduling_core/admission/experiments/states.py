"""What suspending costs and needs, the states that attempts go through, and what it all comes to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple

from scheduling_core.admission.attempts import Attempt, Workload
from scheduling_core.admission.experiments.costs import AT_ONCE, Cost, Loading
from scheduling_core.admission.metrics import Use, use_of
from scheduling_core.admission.schedule import NOTHING_KEPT, ImageStore, Schedule
from scheduling_core.errors import SchedulingError


class State(StrEnum):
    """What an admitted attempt is in. In all but `parked` it holds its CPU and RAM."""

    LOADING = "loading"
    RUNNING = "running"
    OFFLOADING = "offloading"
    PARKED = "parked"
    RESTORING = "restoring"


class Stay(NamedTuple):
    """A stretch of time in one state, half-open."""

    state: State
    start: int
    end: int


@dataclass(frozen=True)
class Conditions:
    """What suspending a call costs and needs.

    hidden : a restore begins as long before the reply as it takes, for which that time has to be known; else
    it begins with the reply. channels : transfers at once, each at its full bandwidth; more wait in
    order of request. pool_kib : what the destination holds; RAM takes its place there from the begin of its
    offload to the end of its restore. None: as many, or as much, as wanted. images and loading : what the
    image store keeps, and how long a missing image takes; several loads don't slow one another.
    """

    cost: Cost
    hidden: bool = True
    channels: int | None = None
    pool_kib: int | None = None
    images: ImageStore = NOTHING_KEPT
    loading: Loading = AT_ONCE

    def __post_init__(self) -> None:
        for name, least in (("channels", 1), ("pool_kib", 0)):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < least):
                raise SchedulingError(f"{name} is {value!r}, expected a whole number from {least}.")


@dataclass(frozen=True)
class Suspended:
    """What became of a replay.

    before : the attempts as they came. workload : the same ones with what was added: `image_load` at the
    begin where an image was waited for, `setup` behind a call whose reply waited for its RAM. schedule : its
    starts. stays : for each attempt its states, without gap from start to end. calls are all model calls; of
    these some are suspended, and of the others some are too short, found no channel in time, or no room.
    """

    before: Workload
    workload: Workload
    schedule: Schedule
    stays: tuple[tuple[Stay, ...], ...]
    calls: int
    suspended: int
    too_short: int
    no_channel: int
    no_room: int
    loads: int

    @property
    def moved_kib(self) -> int:
        """KiB put aside, summed over suspended calls; as many come back."""
        return sum(a.ram_kib * n for a, n in self._suspensions())

    @property
    def added_ticks(self) -> int:
        """Ticks by which attempts got longer, summed."""
        return sum(a.ticks for a in self.workload.attempts) - sum(a.ticks for a in self.before.attempts)

    @property
    def loading_ticks(self) -> int:
        """Of these, ticks of waiting for images."""
        return sum(s.end - s.start for stays in self.stays for s in stays if s.state is State.LOADING)

    def ram(self) -> Use:
        """Reserved RAM in KiB: in every state but parked."""
        return self._use(lambda a: a.ram_kib, *(s for s in State if s is not State.PARKED))

    def cpu(self) -> Use:
        """Reserved CPU in millicores, in the same states as RAM."""
        return self._use(lambda a: a.cpu_milli, *(s for s in State if s is not State.PARKED))

    def destination(self) -> Use:
        """Taken storage of the destination in KiB, from the begin of an offload to the end of its restore."""
        return self._use(lambda a: a.ram_kib, State.OFFLOADING, State.PARKED, State.RESTORING)

    def transfers(self) -> Use:
        """Channels in use."""
        return self._use(lambda a: 1, State.OFFLOADING, State.RESTORING)

    def saved(self) -> Fraction | None:
        """The share of whole-admission RAM-hours, those of `before`, that isn't reserved; it can be below 0.

        None where no RAM was reserved at all.
        """
        whole = sum(a.ram_kib * a.ticks for a in self.before.attempts)
        reserved = sum(
            a.ram_kib * (a.ticks - sum(s.end - s.start for s in stays if s.state is State.PARKED))
            for a, stays in zip(self.workload.attempts, self.stays, strict=True)
        )
        return Fraction(whole - reserved, whole) if whole else None

    def _suspensions(self) -> list[tuple[Attempt, int]]:
        counts = [sum(s.state is State.PARKED for s in stays) for stays in self.stays]
        return list(zip(self.workload.attempts, counts, strict=True))

    def _use(self, amount: Callable[[Attempt], int], *states: State) -> Use:
        return use_of(
            (stay.start, stay.end, amount(attempt))
            for attempt, stays in zip(self.workload.attempts, self.stays, strict=True)
            for stay in stays
            if stay.state in states
        )
