"""Models of the shared inference service: when a call is answered, given the others that are in it.

A call's work is the time that was logged for it, in ticks; that is its response time where nobody is in its
way. Calls arrive and are answered at whole ticks.
"""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from scheduling_core.errors import SchedulingError

QUANTA = 10**9
"""Parts of a tick in which shared work is counted, in whole numbers: fractions would grow without end."""
SLACK = QUANTA // 1000
"""A call is done when this much of its work is left, which is more than rounding down ever leaves behind. So
one that is done at a whole tick is answered there, and not a tick later."""


class State(Protocol):
    """A service with calls in it. Ticks never go back, and `answered` comes before `ask` at each."""

    def ask(self, tick: int, call: int, work: int) -> None:
        """A call arrives."""

    def next(self) -> int | None:
        """When the next one is answered if no other arrives; None where none is in it."""

    def answered(self, tick: int) -> list[int]:
        """Calls that are answered by this tick, which is not after `next`."""


class Service(Protocol):
    """A model of a service."""

    @property
    def name(self) -> str:
        """What a table calls it."""

    def begin(self) -> State:
        """The service with nothing in it."""


@dataclass(frozen=True)
class Servers:
    """K servers, each with one call at a time, and one line in the order of arrival. None: no limit."""

    count: int | None

    def __post_init__(self) -> None:
        if self.count is not None and (type(self.count) is not int or self.count < 1):
            raise SchedulingError(f"servers is {self.count!r}, expected a whole number from 1.")

    @property
    def name(self) -> str:
        return "fixed latency" if self.count is None else f"{self.count} servers, first come first served"

    def begin(self) -> State:
        return _Line(self.count)


@dataclass(frozen=True)
class Sharing:
    """All calls at once, each at the same speed: throughput(n) / n where n are in flight.

    curve : pairs (n, thousandths): with n in flight, so many thousandths of a tick's work are done in a tick
    by all together. Linear in between and down to (0, 0), constant after the last. A call never runs faster
    than it was logged, so no pair may be above 1000 n.

    Raises
    ------
    SchedulingError : for a curve that isn't one.
    """

    curve: tuple[tuple[int, int], ...]
    label: str = "batching curve"

    def __post_init__(self) -> None:
        if not self.curve:
            raise SchedulingError("The curve is empty, expected pairs of calls in flight and throughput.")
        before = 0
        for pair in self.curve:
            if len(pair) != 2 or any(type(value) is not int for value in pair):
                raise SchedulingError(f"The curve holds {pair!r}, expected two whole numbers.")
            calls, thousandths = pair
            if calls <= before or not 0 < thousandths <= 1000 * calls:
                raise SchedulingError(
                    f"The curve holds {calls} calls with {thousandths} thousandths of one's throughput, "
                    f"expected more calls than {before}, and a throughput from 1 to {1000 * calls}."
                )
            before = calls

    @property
    def name(self) -> str:
        return self.label

    def begin(self) -> State:
        return _Shared(self)

    def speed(self, calls: int) -> Fraction:
        """How fast each of `calls` is in flight: 1 is as fast as logged."""
        low = (0, 0)
        for high in self.curve:
            if calls <= high[0]:
                slope = Fraction(high[1] - low[1], high[0] - low[0])
                return (low[1] + slope * (calls - low[0])) / (1000 * calls)
            low = high
        return Fraction(low[1], 1000 * calls)


def processor_sharing(servers: int) -> Sharing:
    """K processors shared evenly: each of n calls runs at min(1, K / n)."""
    Servers(servers)
    return Sharing(((servers, 1000 * servers),), f"{servers} servers, processor sharing")


class _Line:
    def __init__(self, count: int | None) -> None:
        self._count = count
        self._served: list[tuple[int, int]] = []
        self._line: deque[tuple[int, int]] = deque()

    def ask(self, tick: int, call: int, work: int) -> None:
        if self._count is None or len(self._served) < self._count:
            heapq.heappush(self._served, (tick + work, call))
        else:
            self._line.append((call, work))

    def next(self) -> int | None:
        return self._served[0][0] if self._served else None

    def answered(self, tick: int) -> list[int]:
        found = []
        while self._served and self._served[0][0] <= tick:
            end, call = heapq.heappop(self._served)
            found.append(call)
            if self._line:
                waiting, work = self._line.popleft()
                heapq.heappush(self._served, (end + work, waiting))
        return found


class _Shared:
    """All calls in flight have done the same work since any moment, so one sum for all tells who is done.

    (The virtual time of processor sharing: A. Demers, S. Keshav and S. Shenker, SIGCOMM 1989, section 2.)
    """

    def __init__(self, service: Sharing) -> None:
        self._service = service
        self._speeds: dict[int, tuple[int, int]] = {}
        self._clock = 0
        self._each = 0  # quanta of work that one in flight from the beginning would have done
        self._calls: list[tuple[int, int]] = []

    def ask(self, tick: int, call: int, work: int) -> None:
        self._run(tick * QUANTA)
        heapq.heappush(self._calls, (self._each + work * QUANTA - SLACK, call))

    def next(self) -> int | None:
        return -(-self._done() // QUANTA) if self._calls else None

    def answered(self, tick: int) -> list[int]:
        found = []
        while self._calls and (done := self._done()) <= tick * QUANTA:
            self._run(done)
            while self._calls and self._calls[0][0] <= self._each:
                found.append(heapq.heappop(self._calls)[1])
        self._run(tick * QUANTA)
        return found

    def _done(self) -> int:
        """When, in quanta, the first is done."""
        numerator, denominator = self._speed()
        left = self._calls[0][0] - self._each
        return self._clock - (-left * denominator // numerator)

    def _run(self, until: int) -> None:
        if self._calls:
            numerator, denominator = self._speed()
            self._each += (until - self._clock) * numerator // denominator
        self._clock = until

    def _speed(self) -> tuple[int, int]:
        calls = len(self._calls)
        if calls not in self._speeds:
            self._speeds[calls] = self._service.speed(calls).as_integer_ratio()
        return self._speeds[calls]
