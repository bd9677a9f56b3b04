"""The state machine of suspended calls: running, offloading, parked, restoring, and running again.

A replay in order of arrival in which an attempt's length isn't known beforehand: it grows where an image has
to be loaded, where a restore begins only with the reply, and where no channel is free in time. At equal ticks
releases come before acquisitions; then requests for channels go in order of their tick, restores first, then
in order of arrival.
"""

from __future__ import annotations

import heapq
from dataclasses import replace
from enum import IntEnum

from scheduling_core.admission.attempts import Attempt, Segment, SegmentKind, Workload, ranked
from scheduling_core.admission.experiments.states import Conditions, State, Stay, Suspended
from scheduling_core.admission.experiments.stored import Stored
from scheduling_core.admission.schedule import Limits, Policy, schedule_of
from scheduling_core.errors import SchedulingError


def suspended_replay(workload: Workload, limits: Limits, conditions: Conditions) -> Suspended:
    """FIFO list admission of a workload whose model calls are suspended.

    Slots, CPU, RAM and disk are taken whole from start to end to admit, as in `replay.fifo`; parked RAM
    admits nobody. A call that is no longer than its cost isn't suspended, nor is one that finds no room at
    the destination, or no channel while the rest of it is longer than its cost. The schedule's policy is A,
    and its limits are those given without the deadline, which isn't looked at.

    Raises
    ------
    SchedulingError : for an attempt that alone passes a limit, a limit on anything else, or a size
        of which the cost isn't known.
    """
    return _Machine(workload, limits, conditions).run()


class _Event(IntEnum):
    """What ends at a tick; the order at equal ticks decides nothing."""

    RELEASED = 0
    NEXT = 1
    OFFLOADED = 2
    WANTED = 3
    REPLIED = 4
    RESTORED = 5


_RESTORE, _OFFLOAD = 0, 1


class _Machine:
    def __init__(self, workload: Workload, limits: Limits, conditions: Conditions) -> None:
        for name, instead in (("parked_kib", "pool_kib"), ("image_kib", "a cache"), ("requests", "slots")):
            if getattr(limits, name) is not None:
                raise SchedulingError(f"A replay with suspension keeps no limit on {name}; give {instead}.")
        self.workload, self.limits, self.conditions = workload, limits, conditions
        self.attempts = workload.attempts
        n = len(self.attempts)
        self.costs = [conditions.cost.ticks(a.ram_kib) for a in self.attempts]
        self.wanted = [(1, a.cpu_milli, a.ram_kib, a.disk_kib) for a in self.attempts]
        given = (limits.slots, limits.cpu_milli, limits.ram_kib, limits.disk_kib)
        enough = [sum(row[r] for row in self.wanted) for r in range(len(given))]
        self.free = [e if g is None else g for g, e in zip(given, enough, strict=True)]
        self.store = Stored(conditions.images, conditions.loading)
        self.channels = 2 * n if conditions.channels is None else conditions.channels
        self.pool = (
            sum(a.ram_kib for a in self.attempts) if conditions.pool_kib is None else conditions.pool_kib
        )
        self.events: list[tuple[int, int, _Event, int]] = []
        self.queue: list[tuple[int, int, int]] = []  # request tick, way, attempt
        self.starts, self.place, self.reply = [0] * n, [-1] * n, [0] * n
        self.state = [State.RUNNING] * n
        self.since = [0] * n
        self.stays: list[list[Stay]] = [[] for _ in range(n)]
        self.segments: list[list[Segment]] = [[] for _ in range(n)]
        self.admits = False  # whether somebody may be let in at this tick
        self.head = self.calls = self.suspended = self.too_short = self.no_channel = self.no_room = 0

    def run(self) -> Suspended:
        for wanted in self.wanted:
            if any(w > f for w, f in zip(wanted, self.free, strict=True)):
                attempt = self.attempts[self.wanted.index(wanted)]
                raise SchedulingError(f"Attempt {attempt.id} alone wants more than the limits allow.")
        if self.attempts:
            self._at(self.attempts[0].release, 0, _Event.RELEASED)
        while self.events:
            now = self.events[0][0]
            self.admits = False
            while self.events and self.events[0][0] == now:
                _, i, event, place = heapq.heappop(self.events)
                if event is _Event.RELEASED or place == self.place[i]:
                    self._happen(event, i, now)
            if self.admits:
                self.store.make_room()
                self._admit(now)
                self.store.make_room()
            if self.queue:
                self._serve(now)
        longer = [
            replace(a, segments=tuple(segments))
            for a, segments in zip(self.attempts, self.segments, strict=True)
        ]
        made = self.workload if longer == list(self.attempts) else _renamed(self.workload, longer)
        schedule = schedule_of(
            made, self.starts, Policy.ACTIVE, replace(self.limits, deadline=None), self.conditions.images,
            method="suspended replay", cost=self.conditions.cost.name, hidden=self.conditions.hidden,
        )  # fmt: skip
        return Suspended(
            self.workload, made, schedule, tuple(map(tuple, self.stays)), self.calls, self.suspended,
            self.too_short, self.no_channel, self.no_room, self.store.loads,
        )  # fmt: skip

    def _at(self, tick: int, i: int, event: _Event) -> None:
        heapq.heappush(self.events, (tick, i, event, self.place[i]))

    def _happen(self, event: _Event, i: int, now: int) -> None:
        if event is _Event.RELEASED:
            self.admits = True
        elif event is _Event.NEXT:
            self._next(i, now)
        elif event is _Event.OFFLOADED:
            self.channels += 1
            self._become(i, State.PARKED, now)
        elif event is _Event.WANTED:
            self.queue.append((now, _RESTORE, i))
        elif event is _Event.REPLIED:
            self._replied(i, now)
        elif event is _Event.RESTORED:
            self.channels += 1
            self._resume(i, now)

    def _replied(self, i: int, now: int) -> None:
        """The reply is there: who is parked is to be restored, who still waits for a channel goes on."""
        restore = self.costs[i][1]
        if self.state[i] is State.PARKED and restore == 0:
            self._resume(i, now)
        elif self.state[i] is State.PARKED and not self.conditions.hidden:
            self.queue.append((now, _RESTORE, i))
        elif self.state[i] is State.RUNNING:
            waiting = [request for request in self.queue if request[2] == i]
            self.no_channel += len(waiting)
            self.queue = [request for request in self.queue if request[2] != i]
            self._next(i, now)

    def _resume(self, i: int, now: int) -> None:
        self.pool += self.attempts[i].ram_kib
        self._become(i, State.RUNNING, now)
        if now > self.reply[i]:
            self.segments[i].append(Segment(SegmentKind.SETUP, now - self.reply[i]))
        self._next(i, now)

    def _next(self, i: int, now: int) -> None:
        """Begin the next segment, or end."""
        if self.state[i] is State.LOADING:
            self._become(i, State.RUNNING, now)
        self.place[i] += 1
        segments = self.attempts[i].segments
        if self.place[i] == len(segments):
            self._become(i, State.RUNNING, now)
            self.admits = True
            self.store.leave(self.attempts[i].image, now)
            self.free = [f + w for f, w in zip(self.free, self.wanted[i], strict=True)]
            return
        segment = segments[self.place[i]]
        self.segments[i].append(segment)
        if segment.kind is not SegmentKind.MODEL:
            self._at(now + segment.ticks, i, _Event.NEXT)
            return
        self.calls += 1
        self.reply[i] = now + segment.ticks
        if segment.ticks <= sum(self.costs[i]):
            self.too_short += 1
            self._at(self.reply[i], i, _Event.NEXT)
        else:
            self.queue.append((now, _OFFLOAD, i))
            self._at(self.reply[i], i, _Event.REPLIED)

    def _admit(self, now: int) -> None:
        while self.head < len(self.attempts):
            i, attempt = self.head, self.attempts[self.head]
            if attempt.release > now:
                self._at(attempt.release, i, _Event.RELEASED)
                return
            if any(w > f for w, f in zip(self.wanted[i], self.free, strict=True)):
                return
            self.free = [f - w for f, w in zip(self.free, self.wanted[i], strict=True)]
            self.starts[i] = self.since[i] = now
            self.head += 1
            wait = self.store.enter(attempt.image, attempt.image_kib, now)
            if wait:
                self.state[i] = State.LOADING
                self.segments[i].append(Segment(SegmentKind.IMAGE_LOAD, wait))
                self._at(now + wait, i, _Event.NEXT)
            else:
                self._next(i, now)

    def _serve(self, now: int) -> None:
        """Give channels and room to those who asked, the first first."""
        left = []
        for request in sorted(self.queue):
            _, way, i = request
            offload, restore = self.costs[i]
            ram = self.attempts[i].ram_kib
            if way == _OFFLOAD and self.reply[i] - now <= offload + restore:
                self.no_channel += 1
            elif not self.channels and (way == _RESTORE or offload):
                left.append(request)
            elif way == _RESTORE:
                self.channels -= 1
                self._become(i, State.RESTORING, now)
                self._at(now + restore, i, _Event.RESTORED)
            elif ram > self.pool:
                self.no_room += 1
            else:
                self._offload(i, now)
        self.queue = left

    def _offload(self, i: int, now: int) -> None:
        offload, restore = self.costs[i]
        self.suspended += 1
        self.pool -= self.attempts[i].ram_kib
        if offload:
            self.channels -= 1
            self._become(i, State.OFFLOADING, now)
            self._at(now + offload, i, _Event.OFFLOADED)
        else:
            self._become(i, State.PARKED, now)
        if self.conditions.hidden and restore:
            self._at(self.reply[i] - restore, i, _Event.WANTED)

    def _become(self, i: int, state: State, now: int) -> None:
        """Close the stay that ends now; one of no length leaves no trace."""
        if now > self.since[i]:
            self.stays[i].append(Stay(self.state[i], self.since[i], now))
        self.state[i], self.since[i] = state, now


def _renamed(workload: Workload, attempts: list[Attempt]) -> Workload:
    return ranked(f"{workload.name}, with costs of suspension", attempts)
