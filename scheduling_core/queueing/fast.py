"""Whole simulations in kernels, for policies whose line needn't be built anew at every event.

Decisions and times are those of the general simulator, to the last tick. What it costs to make them grows
with the logarithm of the queue: see `kernels.standing` and `kernels.remaining`.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from scheduling_core.compiled import is_compiled, numbers
from scheduling_core.queueing.cluster import Cluster, Placement
from scheduling_core.queueing.decisions import Action, Decisions
from scheduling_core.queueing.jobs import NEVER
from scheduling_core.queueing.kernels import remaining, standing
from scheduling_core.queueing.outcome import Series
from scheduling_core.queueing.policies.arrival import Fifo, FirstFit
from scheduling_core.queueing.policies.base import Policy
from scheduling_core.queueing.policies.deadlines import EarliestDeadline
from scheduling_core.queueing.policies.las import LeastAttainedService
from scheduling_core.queueing.policies.size import (
    ShortestRemainingService,
    ShortestRemainingTime,
    SmallestGang,
)
from scheduling_core.queueing.state import State
from scheduling_core.queueing.views import Numbers

POLICIES = (
    Fifo, FirstFit, SmallestGang, EarliestDeadline, LeastAttainedService, ShortestRemainingTime,
    ShortestRemainingService,
)  # fmt: skip
"""What the kernels know; a class derived from one of them may do anything."""

ACTIONS = (Action.END, Action.PREEMPT, Action.START, Action.RESUME)
"""By their numbers in a kernel's log."""

SHORTEST = (ShortestRemainingTime, ShortestRemainingService)

AT_ONCE = 1 << 14
"""Events between two calls of `on_progress`."""

FEW = 1000
"""Jobs up to which a run of the general simulator takes no longer than to load compiled kernels."""


def can_run_fast(cluster: Cluster, policy: Policy) -> bool:
    """Whether GPUs are alike and free to be had anywhere, and the policy is one that the kernels know."""
    alike = cluster.placement is Placement.COUNT and len(cluster.types) == 1
    whole = not isinstance(policy, LeastAttainedService) or isinstance(policy.promote, int)
    return alike and whole and type(policy) in POLICIES


def pays_off(jobs: int, policy: Policy) -> bool:
    """Whether a kernel is the quicker way to simulate so many jobs; the results are the same."""
    return jobs > FEW and (is_compiled(remaining) or type(policy) not in SHORTEST)


class FastRun:
    """One simulation in a kernel: `all` fills the state, the log and the series.

    state : before the first job. ticks : of exact seconds (see `Setting`). in_vain : starts for each job that
    is here without any work done, from which on the simulation is endless.
    """

    def __init__(
        self, state: State, gpus: int, policy: Policy, ticks: Callable[[Fraction | int], int], in_vain: int,
        log: Decisions | None = None, series: Series | None = None,
    ) -> None:  # fmt: skip
        self.state, self.log, self.series = state, log, series
        self.n = len(state.submit)
        shortest = isinstance(policy, SHORTEST)
        self.kernel = remaining if shortest else standing
        self.clock = self._numbers([0] * self.kernel.CLOCK)
        self.clock[self.kernel.ALL_GPUS], self.clock[self.kernel.PATIENCE] = gpus, in_vain
        arguments = self._remaining(policy) if shortest else self._standing(policy, ticks)
        self.records = self._numbers([0] * (3 * (2 * self.n + AT_ONCE) if log is not None else 0))
        self.rows = self._numbers([0] * (4 * AT_ONCE if series is not None else 0))
        self.arguments = [*arguments, self.records, self.rows, AT_ONCE]

    @property
    def events(self) -> int:
        """Decisions that were made."""
        return int(self.clock[self.kernel.EVENTS])

    @property
    def ended(self) -> int:
        """Jobs that have ended."""
        return int(self.clock[self.kernel.ENDED])

    @property
    def busy_ticks(self) -> int:
        """GPU ticks for which GPUs were held."""
        return sum((self.state.gpus * self.state.executed).tolist())

    @property
    def fragmented_ticks(self) -> int:
        """GPU ticks that the smallest gang in wait couldn't use."""
        return int(self.clock[self.kernel.FRAGMENTED_TICKS])

    def all(self, on_progress: Callable[[int, int], None] | None = None) -> int:
        """From the first arrival to the last end; returns starts in vain where it is endless, else 0."""
        while self.ended < self.n:
            endless = self.kernel.run(*self.arguments)
            if endless:
                return int(self.clock[self.kernel.VAIN])
            self._write_down()
            if on_progress is not None:
                on_progress(self.ended, self.n)
        self._take_results()
        return 0

    def _standing(self, policy: Policy, ticks: Callable[[Fraction | int], int]) -> list[Any]:
        """Arguments of `standing.run`. First fit is least attained service in one queue; so is FIFO, with
        the first that doesn't fit blocking."""
        kernel, n = self.kernel, self.n
        job = np.zeros((n + 1, kernel.JOB), dtype=np.int64)
        job[0, [kernel.HIGH, kernel.FIRST_SOON, kernel.FIRST_DUE]] = kernel.FAR
        job[1:, kernel.HEIGHT] = np.random.default_rng(0).permutation(n)
        job[1:, [kernel.SOON, kernel.DUE, kernel.LATE]] = kernel.FAR
        job[1:, kernel.GROUP] = 1
        self._columns(job[1:])
        clock, limits = self.clock, []
        clock[kernel.BLOCKING] = int(policy.blocking)
        if isinstance(policy, (SmallestGang, EarliestDeadline)):
            clock[kernel.SORTED] = 1
            self._sort(policy, job[1:])
        if isinstance(policy, LeastAttainedService):
            limits = [min(ticks(limit), kernel.FAR) for limit in policy.limits]
            clock[kernel.PROMOTE], clock[kernel.BY_GPU] = min(policy.promote, kernel.FAR), int(policy.by_gpu)
            clock[kernel.ONE] = ticks(1) if policy.upstream_rounding else 0
        self.job = self._numbers(job.ravel())
        scratch = [self._numbers([0] * (n + 1)) for _ in range(3)]
        return [self.job, clock, self._numbers(limits), *scratch]

    def _sort(self, policy: Policy, job: Numbers) -> None:
        """Ranks that stand still: by gang, or by deadline before all others; where equal as submitted."""
        kernel, state = self.kernel, self.state
        by_deadline = isinstance(policy, EarliestDeadline)
        order = np.argsort(state.deadline if by_deadline else state.gpus, kind="stable")
        rows = (1 + np.arange(self.n)) * kernel.JOB  # a late job's rank is its row
        job[order, kernel.RANK] = rows
        if by_deadline:
            others = state.deadline == NEVER
            job[others, kernel.RANK] = rows[others]
            job[:, kernel.GROUP] = others
            for time in (kernel.SOON, kernel.DUE, kernel.LATE):
                job[:, time] = state.deadline

    def _remaining(self, policy: Policy) -> list[Any]:
        """Arguments of `remaining.run`."""
        kernel, state, n = self.kernel, self.state, self.n
        job = np.zeros((n, kernel.JOB), dtype=np.int64)
        self._columns(job)
        sizes, job[:, kernel.SIZE], counts = np.unique(state.gpus, return_inverse=True, return_counts=True)
        by_service = isinstance(policy, ShortestRemainingService)
        job[:, kernel.RATE] = state.gpus if by_service else 1
        job[:, kernel.KEY] = job[:, kernel.RATE] * state.duration
        self.job = self._numbers(job.ravel())
        first = np.cumsum(counts) - counts
        zeros = np.zeros(len(sizes), dtype=np.int64)
        heap, held, spare = (self._numbers([0] * n) for _ in range(3))
        return [
            self.job, self.clock, self._numbers(sizes), heap, self._numbers(first),
            self._numbers(zeros), self._numbers(zeros), held, spare,
        ]  # fmt: skip

    def _columns(self, job: Numbers) -> None:
        """What both kernels know of a job."""
        kernel, state = self.kernel, self.state
        job[:, kernel.GPUS], job[:, kernel.SUBMIT] = state.gpus, state.submit
        job[:, kernel.WORK], job[:, kernel.COST] = state.duration, state.restart
        job[:, kernel.BEGUN] = job[:, kernel.END] = -1

    def _numbers(self, values: Any) -> Any:
        return numbers(self.kernel, values)

    def _write_down(self) -> None:
        """Empty the kernel's log and series into ours."""
        kernel, clock = self.kernel, self.clock
        if self.log is not None:
            lines = np.array(self.records[: 3 * clock[kernel.LOGGED]], dtype=np.int64).reshape(-1, 3)
            kinds = lines[:, [0, 2]]
            cuts = np.flatnonzero((kinds[1:] != kinds[:-1]).any(axis=1)) + 1
            for block in np.split(lines, cuts):
                if len(block):
                    self.log.add(
                        int(block[0, 0]), ACTIONS[block[0, 2]], block[:, 1] // kernel.JOB - kernel.FIRST_JOB
                    )
            clock[kernel.LOGGED] = 0
        if self.series is not None:
            rows = np.array(self.rows[: 4 * clock[kernel.ROWS]], dtype=np.int64).reshape(-1, 4)
            for row in rows.tolist():
                self.series.add(*row)
            clock[kernel.ROWS] = 0

    def _take_results(self) -> None:
        kernel, state = self.kernel, self.state
        job = np.array(self.job, dtype=np.int64).reshape(-1, kernel.JOB)[kernel.FIRST_JOB :].T
        state.first_start[:], state.end[:] = job[kernel.BEGUN], job[kernel.END]
        state.executed[:], state.paid[:] = job[kernel.EXECUTED], job[kernel.PAID]
        state.preemptions[:], state.restarts[:] = job[kernel.PREEMPTIONS], job[kernel.RESTARTS]
        state.left[:] = 0
