"""The simulator: from event to event, in whole ticks.

Events are arrivals, ends, and the wake-ups that a policy asks for. At one time, ends come first, then
arrivals, then one decision. Every time is a whole number of the simulator's ticks, which are so fine that
each wake-up and each restart is whole too: nothing drifts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Literal

import numpy as np

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.cluster import Cluster
from scheduling_core.queueing.costs import RestartCost
from scheduling_core.queueing.decisions import Action, Decisions
from scheduling_core.queueing.fast import FastRun, can_run_fast, pays_off
from scheduling_core.queueing.jobs import NEVER, Trace
from scheduling_core.queueing.outcome import Outcome, Series
from scheduling_core.queueing.placing import placer_of
from scheduling_core.queueing.policies.base import Policy
from scheduling_core.queueing.state import ChargedAtEveryEvent, State, state_of, whole
from scheduling_core.queueing.views import Numbers, OracleView, Setting, View

NONE = np.zeros(0, dtype=np.int64)

IN_VAIN = 1000
"""Starts for each job that is here without any work done: from there on a simulation is taken as endless."""


def simulate(
    trace: Trace,
    cluster: Cluster,
    policy: Policy,
    restart: RestartCost | None = None,
    *,
    muri_restart: bool = False,
    engine: Literal["auto", "general", "fast"] = "auto",
    decisions: bool = False,
    series: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> Outcome:
    """Run every job of the trace that the cluster can hold, under one policy.

    restart : what a job pays after a preemption; nothing without. muri_restart : charge it as Muri's public
    simulator does. engine : ask the policy at each event (general), or run it in a kernel that has it built
    in (fast); the results are the same, and "auto" takes the quicker way. decisions : keep the log of all
    starts, preemptions and ends. series : keep what was busy, pending and fragmented from event to event.
    on_progress : called with (ended, all) now and then.

    Jobs that the cluster can never hold are left out and named in `Outcome.refused`.

    Raises
    ------
    SchedulingError : where the policy leaves jobs waiting for ever, or only ever restarts them, times don't
    fit 64 bits, or a kernel is asked for what it doesn't have.
    """
    has_kernel = can_run_fast(cluster, policy) and not muri_restart
    if engine not in ("auto", "general", "fast") or (engine == "fast" and not has_kernel):
        raise SchedulingError(
            f"Engine {engine} can't run {policy.name} here, expected general or auto: fast is for policies "
            "with a kernel, GPUs that are alike and placed by count, and restarts that are charged once."
        )
    cost = restart or RestartCost()
    alike = {(job.gpus, job.gpu_type): job for job in trace.jobs}
    too_much = {kind for kind, job in alike.items() if cluster.refusal(job) is not None}
    refused = {
        job.id: cluster.refusal(job) or "" for job in trace.jobs if (job.gpus, job.gpu_type) in too_much
    }
    if refused:
        trace = trace.only(job.id for job in trace.jobs if job.id not in refused)
    parts = resolution(trace, policy, cost)
    state = state_of(trace, parts, cost, ChargedAtEveryEvent if muri_restart else State)
    run = _Run(trace, cluster, policy, state, parts, Decisions() if decisions else None,
               Series() if series else None)  # fmt: skip
    if engine == "fast" or (engine == "auto" and has_kernel and pays_off(len(trace), policy)):
        run.all_fast(on_progress)
    else:
        run.all(on_progress)
    return run.outcome(refused, cost)


def resolution(trace: Trace, policy: Policy, cost: RestartCost) -> int:
    """Into how many parts a tick of the trace is cut: policy and restarts have whole times in them."""
    costs = set() if type(cost) is RestartCost else {cost.seconds(job) for job in trace.jobs}
    gangs = {job.gpus for job in trace.jobs}
    parts = policy.resolution(trace.tick, gangs)
    return math.lcm(parts, *((seconds / trace.tick).denominator for seconds in costs))


class _Run:
    """One simulation under way."""

    def __init__(
        self, trace: Trace, cluster: Cluster, policy: Policy, state: State, parts: int,
        log: Decisions | None, series: Series | None,
    ) -> None:  # fmt: skip
        self.trace, self.cluster, self.policy, self.state, self.parts = trace, cluster, policy, state, parts
        self.log, self.series = log, series
        self.placer = placer_of(cluster, trace)
        self.kinds = [job.gpu_type for job in trace.jobs]
        self.view_type = OracleView if policy.oracle else View
        self.now = 0
        self.active = NONE
        self.events = 0
        self.busy_ticks = self.fragmented_ticks = 0
        self._busy = self._fragmented = 0
        self._in_vain = 0  # starts since any job last did work
        policy.begin(Setting(len(trace), cluster.gpus, self.ticks))

    def ticks(self, seconds: Fraction | int) -> int:
        """Exact seconds in whole ticks of the simulator."""
        return whole(Fraction(seconds) / (self.trace.tick / self.parts))

    def all(self, on_progress: Callable[[int, int], None] | None) -> None:
        """From the first arrival to the last end."""
        submit, n = self.state.submit, len(self.trace)
        arrived = ended = 0
        wake = NEVER
        while ended < n:
            held = self.active[self.state.running[self.active]]
            ends = self.state.ends(self.now, held)
            arrival = int(submit[arrived]) if arrived < n else NEVER
            time = min(arrival, wake, int(ends.min()) if len(ends) else NEVER)
            if time >= NEVER:
                raise SchedulingError(
                    f"{self.policy.name} leaves {n - ended} jobs waiting for ever, expected it to serve them."
                )
            self._move_on(time, held)
            over = held[ends == time]
            if len(over):
                self._end(over)
                ended += len(over)
            while arrived < n and submit[arrived] == time:
                self.active = np.append(self.active, arrived)
                arrived += 1
            self.events += 1
            wake = self._decide()
            if on_progress is not None and self.events % 256 == 0:
                on_progress(ended, n)
        if on_progress is not None:
            on_progress(n, n)

    def all_fast(self, on_progress: Callable[[int, int], None] | None) -> None:
        """The same in a kernel."""
        fast = FastRun(self.state, self.cluster.gpus, self.policy, self.ticks, IN_VAIN, self.log, self.series)
        if in_vain := fast.all(on_progress):
            raise self._endless(in_vain)
        self.events, self.busy_ticks = fast.events, fast.busy_ticks
        self.fragmented_ticks = fast.fragmented_ticks

    def _move_on(self, time: int, held: Numbers) -> None:
        ticks = time - self.now
        if self.state.advance(held, ticks):
            self._in_vain = 0
        self.busy_ticks += self._busy * ticks
        self.fragmented_ticks += self._fragmented * ticks
        self.now = time

    def _end(self, jobs: Numbers) -> None:
        state = self.state
        state.end[jobs] = self.now
        state.running[jobs] = False
        self.active = self.active[state.end[self.active] < 0]
        self.placer.release(jobs)
        if self.log is not None:
            self.log.add(self.now, Action.END, jobs)
        self.policy.ended(self.view_type(state, self.now, self.active), jobs)

    def _decide(self) -> int:
        state, policy = self.state, self.policy
        if not len(self.active):
            self._account(NONE)
            return NEVER
        view = self.view_type(state, self.now, self.active)
        line = policy.order(view)
        if not policy.preemptive:
            runs = state.running[line]
            line = np.concatenate((line[runs], line[~runs]))
        served, moved = self.placer.serve(line, state, policy.blocking)
        was = state.running[self.active]
        chosen = line[served]
        will = np.zeros(len(state.running), dtype=np.bool_)
        will[chosen] = True
        stopped = self.active[was & ~will[self.active]]
        shifted = line[moved]
        begun = chosen[~state.running[chosen]]
        if len(stopped) or len(shifted):
            state.preempt(np.concatenate((stopped, shifted)))
        if len(begun) or len(shifted):
            self._begin(begun, shifted, stopped)
        elif len(stopped) and self.log is not None:
            self.log.add(self.now, Action.PREEMPT, stopped)
        self._account(self.active[~state.running[self.active]])
        wake = policy.wake(view)
        if wake <= self.now:
            raise SchedulingError(f"{policy.name} wants to wake at {wake}, expected after {self.now}.")
        return wake

    def _begin(self, begun: Numbers, shifted: Numbers, stopped: Numbers) -> None:
        state = self.state
        starting = np.concatenate((begun, shifted))
        self._in_vain += len(starting)
        if self._in_vain > IN_VAIN * len(self.active):
            raise self._endless(self._in_vain)
        if self.log is not None:
            self.log.add(self.now, Action.PREEMPT, np.concatenate((stopped, shifted)))
            fresh = state.first_start[starting] < 0
            for action, jobs in ((Action.START, starting[fresh]), (Action.RESUME, starting[~fresh])):
                self.log.add(self.now, action, jobs, [self.placer.place(int(job)) for job in jobs])
        state.begin(starting, self.now)

    def _endless(self, in_vain: int) -> SchedulingError:
        return SchedulingError(
            f"{self.policy.name} takes GPUs back before a restart is paid, {in_vain} times on end; "
            "expected work between restarts, so cheaper restarts or longer turns."
        )

    def _account(self, pending: Numbers) -> None:
        """What is busy and what is fragmented until the next event."""
        free = self.placer.free() if len(self.active) else self.cluster.gpus
        self._busy = self.cluster.gpus - free
        self._fragmented = 0
        if len(pending) and free:
            smallest = int(pending[np.argmin(self.state.gpus[pending])])
            gang = int(self.state.gpus[smallest])
            self._fragmented = free - self.placer.usable(gang, self.kinds[smallest])
        if self.series is not None:
            self.series.add(self.now, self._busy, len(pending), self._fragmented)

    def outcome(self, refused: dict[str, str], cost: RestartCost) -> Outcome:
        """What came of it."""
        return Outcome(
            trace=self.trace, cluster=self.cluster, policy=self.policy, unit=self.trace.tick / self.parts,
            submit=self.state.submit, gpus=self.state.gpus, duration=self.state.duration,
            deadline=self.state.deadline, first_start=self.state.first_start, end=self.state.end,
            executed=self.state.executed, paid=self.state.paid, preemptions=self.state.preemptions,
            restarts=self.state.restarts, events=self.events, busy_ticks=self.busy_ticks,
            fragmented_ticks=self.fragmented_ticks, refused=refused, decisions=self.log, series=self.series,
        )  # fmt: skip
