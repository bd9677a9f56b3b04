"""The state of a simulation by job number, in ticks, and how it moves on from one event to the next."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.costs import RestartCost
from scheduling_core.queueing.jobs import NEVER, Trace
from scheduling_core.queueing.views import Numbers

LARGEST = 1 << 61
"""What no time or service of a simulation may pass, so that every sum is exact."""


@dataclass
class State:
    """Arrays (n,) by job number, jobs in the order of the trace; times in the simulator's ticks.

    left : work still to do. toll : what is left of a restart, paid before work goes on. executed : time for
    which the GPUs were held. first_start, end : -1 where it hasn't come.
    """

    submit: Numbers
    gpus: Numbers
    duration: Numbers
    deadline: Numbers
    restart: Numbers
    left: Numbers
    toll: Numbers
    executed: Numbers
    paid: Numbers
    running: np.ndarray[tuple[int], np.dtype[np.bool_]]
    first_start: Numbers
    end: Numbers
    preemptions: Numbers
    restarts: Numbers

    def ends(self, now: int, held: Numbers) -> Numbers:
        """When each of the running jobs `held` ends if nothing changes."""
        return now + self.left[held] + self.toll[held]

    def advance(self, held: Numbers, ticks: int) -> bool:
        """Let the running jobs `held` go on for `ticks`: first what a restart costs, then work.

        Whether any of them did work.
        """
        toll = np.minimum(self.toll[held], ticks)
        self.toll[held] -= toll
        self.paid[held] += toll
        self.left[held] -= ticks - toll
        self.executed[held] += ticks
        return bool((toll < ticks).any())

    def begin(self, jobs: Numbers, now: int) -> None:
        """Give `jobs` their GPUs."""
        fresh = self.first_start[jobs] < 0
        self.first_start[jobs[fresh]] = now
        again = jobs[~fresh]
        self.restarts[again] += 1
        self.toll[again] = self.restart[again]
        self.running[jobs] = True

    def preempt(self, jobs: Numbers) -> None:
        """Take their GPUs from `jobs`; what is left of a restart is lost and due again."""
        self.running[jobs] = False
        self.preemptions[jobs] += 1
        self.toll[jobs] = 0


class ChargedAtEveryEvent(State):
    """The restart of Muri's public simulator: at each event every running job loses its overhead once more.

    Progress between two events is max(ticks - overhead, 0), whether the job was restarted or not, and the
    end is foretold without it; attained service counts wall time. Source: `simulator/` of pkusys/Muri.
    """

    def ends(self, now: int, held: Numbers) -> Numbers:
        """Foretold as if no overhead would be charged."""
        return now + self.left[held]

    def advance(self, held: Numbers, ticks: int) -> bool:
        """Charge each of `held` its overhead for these ticks; whether any of them did work."""
        done = np.where(self.left[held] == ticks, ticks, np.maximum(ticks - self.restart[held], 0))
        self.paid[held] += ticks - done
        self.left[held] -= done
        self.executed[held] += ticks
        return bool((done > 0).any())

    def begin(self, jobs: Numbers, now: int) -> None:
        """Give `jobs` their GPUs; the cost comes with the events."""
        super().begin(jobs, now)
        self.toll[jobs] = 0


def state_of(trace: Trace, parts: int, cost: RestartCost, kind: type[State] = State) -> State:
    """The state before the first job, with ticks of the trace cut into `parts`.

    Raises
    ------
    SchedulingError : where times or GPU times could pass what whole numbers of 64 bits hold, or a restart
    costs less than nothing.
    """
    n = len(trace)

    def column(values: list[int]) -> Numbers:
        return np.array(values, dtype=np.int64).reshape(n)

    per_second = parts / trace.tick
    restart = (
        [0] * n
        if type(cost) is RestartCost
        else [whole(cost.seconds(job) * per_second) for job in trace.jobs]
    )
    if min(restart, default=0) < 0:
        raise SchedulingError("A restart costs less than 0 s, expected 0 or more.")
    durations = [job.duration * parts for job in trace.jobs]
    last = parts * (trace.jobs[-1].submit if trace.jobs else 0)
    widest = max((job.gpus for job in trace.jobs), default=1)
    furthest = max((job.deadline or 0 for job in trace.jobs), default=0) * parts
    if (max(last, furthest) + sum(durations) + 64 * sum(restart)) * widest >= LARGEST:
        raise SchedulingError(
            f"{trace.name}: times of {trace.tick / parts} s in ticks pass 64 bits; expected a coarser tick."
        )
    zeros = [0] * n
    return kind(
        submit=column([job.submit * parts for job in trace.jobs]),
        gpus=column([job.gpus for job in trace.jobs]),
        duration=column(durations),
        deadline=column([NEVER if job.deadline is None else job.deadline * parts for job in trace.jobs]),
        restart=column(restart), left=column(durations), toll=column(zeros), executed=column(zeros),
        paid=column(zeros), running=np.zeros(n, dtype=np.bool_), first_start=column([-1] * n),
        end=column([-1] * n), preemptions=column(zeros), restarts=column(zeros),
    )  # fmt: skip


def whole(value: Fraction) -> int:
    """An exact whole number; anything else is a fault of the resolution that was asked for."""
    if value.denominator != 1:
        raise SchedulingError(f"{value} ticks are not whole; expected a finer resolution.")
    return value.numerator
