"""Admission as it happens: a discipline decides who starts next, and sees the past and predictions only.

Nothing that a discipline is shown holds the length of an attempt that hasn't ended.
"""

from __future__ import annotations

import bisect
import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from scheduling_core.admission.attempts import Workload
from scheduling_core.admission.replay import DEMANDS
from scheduling_core.admission.schedule import (
    NOTHING_KEPT,
    ImageStore,
    Limits,
    Policy,
    Schedule,
    schedule_of,
)
from scheduling_core.errors import SchedulingError


@dataclass(frozen=True)
class Candidate:
    """What is known of an attempt before it runs.

    number : its place in the order of arrival, from 0. release in ticks; demands (R,) in the order of
    `replay.DEMANDS`, held from start to end.
    """

    number: int
    release: int
    task: str
    image: str
    tenant: str | None
    image_kib: int
    demands: tuple[int, ...]


@dataclass(frozen=True)
class Running:
    """An attempt that started and hasn't ended."""

    attempt: Candidate
    start: int


@dataclass(frozen=True)
class Ended:
    """An attempt that ended, `ticks` after its start."""

    attempt: Candidate
    start: int
    ticks: int


@dataclass(frozen=True)
class View:
    """What a discipline is shown at a tick.

    waiting, running and ended each stand in the order of arrival. capacities and free (R,) in the order of
    `replay.DEMANDS`; None where there is no limit. started : numbers of all that started, ascending.
    """

    now: int
    waiting: tuple[Candidate, ...]
    running: tuple[Running, ...]
    ended: tuple[Ended, ...]
    capacities: tuple[int | None, ...]
    free: tuple[int | None, ...]
    started: tuple[int, ...]
    predictor: Predictor

    def predicted(self, candidate: Candidate) -> int:
        """Predicted length in ticks."""
        return self.predictor(candidate, self)

    def fits(self, candidate: Candidate) -> bool:
        """Whether it could start now."""
        return _fits(candidate.demands, self.free)

    def overtaken(self, candidate: Candidate) -> int:
        """How many started that arrived after it."""
        return len(self.started) - bisect.bisect_right(self.started, candidate.number)

    def find(self, number: int) -> Candidate | None:
        """The one with this number, if it waits."""
        at = bisect.bisect_left(self.waiting, number, key=_number)
        found = at < len(self.waiting) and self.waiting[at].number == number
        return self.waiting[at] if found else None

    @cached_property
    def ended_by_task(self) -> dict[str, tuple[int, int]]:
        """For each task of which something ended: how many did, and their ticks together."""
        found: dict[str, tuple[int, int]] = {}
        for one in self.ended:
            count, ticks = found.get(one.attempt.task, (0, 0))
            found[one.attempt.task] = (count + 1, ticks + one.ticks)
        return found


Predictor = Callable[[Candidate, View], int]
"""Predicts the length of an attempt, in ticks, from what a discipline may see."""


class Discipline(Protocol):
    """Who starts next (a queue discipline)."""

    @property
    def name(self) -> str:
        """What a table calls it."""

    def choose(self, view: View) -> Candidate | None:
        """One of those who wait and fit; None to start nobody before something ends or arrives."""


@dataclass(frozen=True)
class Known:
    """Predictions made beforehand: ticks (n,) by number."""

    ticks: tuple[int, ...]

    def __call__(self, candidate: Candidate, view: View) -> int:
        return self.ticks[candidate.number]


def oracle(workload: Workload) -> Known:
    """The true lengths as predictions: what no real admission has, and the best that predictions can be."""
    return Known(tuple(a.ticks for a in workload.attempts))


class Line:
    """Who is to come, waits, runs and has ended. It knows no lengths; it is told of each end.

    releases : ticks (n,) before which none may start, in place of the attempts' own.

    Raises
    ------
    SchedulingError : for an attempt that alone passes a limit.
    """

    def __init__(
        self,
        workload: Workload,
        limits: Limits,
        discipline: Discipline,
        predictor: Predictor,
        releases: Sequence[int] | None = None,
    ) -> None:
        self._discipline, self._predictor = discipline, predictor
        self._capacities = (limits.slots, limits.cpu_milli, limits.ram_kib, limits.disk_kib)
        self._free = list(self._capacities)
        self._waiting: list[Candidate] = []
        self._running: dict[int, Running] = {}
        self._ended: list[Ended] = []
        self._started: list[int] = []
        coming = []
        for number, a in enumerate(workload.attempts):
            release = a.release if releases is None else releases[number]
            wanted = (1, a.cpu_milli, a.ram_kib, a.disk_kib)
            if not _fits(wanted, self._capacities):
                limit = dict(zip(DEMANDS, self._capacities, strict=True))
                raise SchedulingError(
                    f"Attempt {a.id} wants {list(wanted)} of {', '.join(DEMANDS)}, more than there is: "
                    f"{list(limit.values())}."
                )
            coming.append(Candidate(number, release, a.task, a.image, a.tenant, a.image_kib, wanted))
        self._coming = sorted(coming, key=lambda c: (-c.release, -c.number))

    @property
    def next_release(self) -> int | None:
        """The tick at which the next one arrives; None where all have."""
        return self._coming[-1].release if self._coming else None

    @property
    def idle(self) -> bool:
        """Whether nobody is to come or waits."""
        return not self._coming and not self._waiting

    def arrive(self, now: int) -> None:
        """Take in those released by now."""
        while self._coming and self._coming[-1].release <= now:
            bisect.insort(self._waiting, self._coming.pop(), key=_number)

    def end(self, number: int, now: int) -> None:
        """An attempt ended: it gives back what it held."""
        ended = self._running.pop(number)
        bisect.insort(self._ended, Ended(ended.attempt, ended.start, now - ended.start), key=_of)
        self._take(ended.attempt, -1)

    def start(self, now: int) -> list[int]:
        """Ask who starts until nobody does or can; their numbers in the order in which they start.

        Raises
        ------
        SchedulingError : where the discipline names one that doesn't wait or fit.
        """
        numbers: list[int] = []
        while self._free[0] != 0 and any(_fits(c.demands, self._free) for c in self._waiting):
            chosen = self._discipline.choose(self._view(now))
            if chosen is None:
                break
            at = bisect.bisect_left(self._waiting, chosen.number, key=_number)
            if self._waiting[at : at + 1] != [chosen] or not _fits(chosen.demands, self._free):
                raise SchedulingError(
                    f"The discipline {self._discipline.name} started attempt {chosen.number} at tick {now}, "
                    "which doesn't wait there or doesn't fit."
                )
            del self._waiting[at]
            self._take(chosen, 1)
            self._running[chosen.number] = Running(chosen, now)
            bisect.insort(self._started, chosen.number)
            numbers.append(chosen.number)
        return numbers

    def stuck(self, now: int) -> SchedulingError:
        """The error of a line in which nothing will ever happen again."""
        return SchedulingError(
            f"The discipline {self._discipline.name} starts none of {len(self._waiting)} attempts after tick "
            f"{now}, although nothing runs."
        )

    def _take(self, candidate: Candidate, sign: int) -> None:
        self._free = [
            None if f is None else f - sign * d for f, d in zip(self._free, candidate.demands, strict=True)
        ]

    def _view(self, now: int) -> View:
        running = tuple(self._running[number] for number in sorted(self._running))
        return View(
            now, tuple(self._waiting), running, tuple(self._ended), self._capacities, tuple(self._free),
            tuple(self._started), self._predictor,
        )  # fmt: skip


def admit(
    workload: Workload,
    limits: Limits,
    discipline: Discipline,
    predictor: Predictor | None = None,
    policy: Policy = Policy.WHOLE,
    images: ImageStore = NOTHING_KEPT,
) -> Schedule:
    """The workload admitted by a discipline that is asked each time that something can start.

    As in `replay.fifo`, slots, CPU, RAM and disk are taken whole from start to end under either policy, a
    deadline isn't looked at, and at equal times ends come before starts. predictor : the oracle's without.

    Raises
    ------
    SchedulingError : for an attempt that never fits, or a discipline that starts what can't or nothing at
        all.
    """
    ticks = [a.ticks for a in workload.attempts]
    line = Line(workload, limits, discipline, predictor or oracle(workload))
    starts = [0] * len(ticks)
    ends: list[tuple[int, int]] = []
    now = 0
    while not line.idle:
        moments = [tick for tick in (line.next_release, ends[0][0] if ends else None) if tick is not None]
        if not moments:
            raise line.stuck(now)
        now = min(moments)
        while ends and ends[0][0] <= now:
            line.end(heapq.heappop(ends)[1], now)
        line.arrive(now)
        for number in line.start(now):
            starts[number] = now
            heapq.heappush(ends, (now + ticks[number], number))
    return schedule_of(workload, starts, policy, limits, images, method=discipline.name)


def _fits(demands: Sequence[int], free: Sequence[int | None]) -> bool:
    return all(f is None or d <= f for d, f in zip(demands, free, strict=True))


def _number(candidate: Candidate) -> int:
    return candidate.number


def _of(ended: Ended) -> int:
    return ended.attempt.number
