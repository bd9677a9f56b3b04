"""Attempts whose model calls share a service: what follows a call comes later where the call takes longer."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from scheduling_core.admission.attempts import Segment, SegmentKind, Workload
from scheduling_core.admission.experiments.disciplines import InOrder
from scheduling_core.admission.experiments.reactive import Discipline, Line, Predictor, oracle
from scheduling_core.admission.experiments.service_models import Service, State
from scheduling_core.admission.schedule import Limits, Policy, Schedule, schedule_of


@dataclass(frozen=True)
class Call:
    """One model call: which attempt asked at what tick, its work, and when it was answered."""

    attempt: int
    asked: int
    work: int
    answered: int

    @property
    def response(self) -> int:
        """Ticks from question to answer."""
        return self.answered - self.asked


@dataclass(frozen=True)
class Served:
    """What came of an admission with a service: attempts with the calls as long as they took, and starts.

    `schedule` is one of `workload`, the stretched attempts, and not of the workload that was admitted. calls
    stand in the order in which they were answered, those of one tick by attempt.
    """

    workload: Workload
    schedule: Schedule
    calls: tuple[Call, ...]

    @property
    def slowdown(self) -> float | None:
        """Mean of response / work over calls; None without a call."""
        if not self.calls:
            return None
        return math.fsum(call.response / call.work for call in self.calls) / len(self.calls)

    @property
    def delay(self) -> float | None:
        """Mean ticks that a call took longer than its work; None without a call."""
        longer = sum(call.response - call.work for call in self.calls)
        return float(Fraction(longer, len(self.calls))) if self.calls else None


def serve(
    workload: Workload,
    limits: Limits,
    discipline: Discipline,
    service: Service,
    predictor: Predictor | None = None,
    policy: Policy = Policy.WHOLE,
    releases: Sequence[int] | None = None,
) -> Served:
    """The workload admitted by a discipline while its model calls share a service.

    At equal times ends of segments and answers come first, in the order of attempts, then arrivals, then
    starts. predictor : of lengths at the logged latencies, the oracle's without. releases : ticks (n,) in
    place of the attempts' own.

    Raises
    ------
    SchedulingError : as `reactive.admit`.
    """
    line = Line(workload, limits, discipline, predictor or oracle(workload), releases)
    run = _Run(workload, service.begin())
    now = 0
    while True:
        moments = [tick for tick in (line.next_release, run.next()) if tick is not None]
        if not moments:
            break
        now = min(moments)
        for number in run.ended(now):
            line.end(number, now)
        line.arrive(now)
        while started := line.start(now):
            for number in started:
                run.starts[number] = now
                if run.go_on(number, now):
                    line.end(number, now)
    if not line.idle:
        raise line.stuck(now)
    stretched = Workload(
        f"{workload.name}, {service.name}",
        tuple(
            replace(
                a, segments=tuple(Segment(kind, t) for (kind, _), t in zip(a.segments, ticks, strict=True))
            )
            for a, ticks in zip(workload.attempts, run.lengths, strict=True)
        ),
    )
    schedule = schedule_of(stretched, run.starts, policy, limits, method=discipline.name)
    return Served(stretched, schedule, tuple(run.calls))


def serve_planned(workload: Workload, planned: Schedule, service: Service) -> Served:
    """A schedule made beforehand, run with a service: each attempt starts at its tick, or as soon after that
    as a slot is free and those planned before it have started. Its other limits were the plan's.
    """
    order = sorted(range(len(workload)), key=lambda k: (planned.starts[k], k))
    return serve(
        workload, Limits(planned.limits.slots), InOrder(tuple(order)), service, policy=planned.policy,
        releases=planned.starts,
    )  # fmt: skip


class _Run:
    """Where each attempt that started stands."""

    def __init__(self, workload: Workload, state: State) -> None:
        self._segments = [a.segments for a in workload.attempts]
        self._state = state
        self._timers: list[tuple[int, int]] = []
        self._asked = [0] * len(workload)
        self.starts = [0] * len(workload)
        self.lengths: list[list[int]] = [[] for _ in workload.attempts]
        self.calls: list[Call] = []

    def next(self) -> int | None:
        """When the next segment ends or call is answered."""
        moments = [self._timers[0][0]] if self._timers else []
        answer = self._state.next()
        return min(moments if answer is None else [*moments, answer], default=None)

    def ended(self, now: int) -> list[int]:
        """Let all go on whose segment ends or call is answered now; those that ended with it."""
        ready = self._state.answered(now)
        for number in sorted(ready):
            done = self.lengths[number]
            work = self._segments[number][len(done)].ticks
            self.calls.append(Call(number, self._asked[number], work, now))
            done.append(now - self._asked[number])
        while self._timers and self._timers[0][0] <= now:
            number = heapq.heappop(self._timers)[1]
            self.lengths[number].append(self._segments[number][len(self.lengths[number])].ticks)
            ready.append(number)
        return [number for number in sorted(ready) if self.go_on(number, now)]

    def go_on(self, number: int, now: int) -> bool:
        """Begin the next segment of an attempt; whether there was none."""
        place = len(self.lengths[number])
        if place == len(self._segments[number]):
            return True
        kind, ticks = self._segments[number][place]
        if kind is SegmentKind.MODEL:
            self._asked[number] = now
            self._state.ask(now, number, ticks)
        else:
            heapq.heappush(self._timers, (now + ticks, number))
        return False
