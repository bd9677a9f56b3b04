"""Whether a policy knows what it isn't told: decisions before a cut may not follow from what ends after it.

For a cut T, the durations of jobs that haven't ended before T are changed, so that in the changed trace too
none of them can have ended before T. Submissions, gangs and deadlines stay. Nothing that happened before T
is then different, and so no decision before T may be.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from queueing_strategies import log_of

from scheduling_core.queueing.cluster import Cluster
from scheduling_core.queueing.costs import RestartCost
from scheduling_core.queueing.jobs import Job, Trace
from scheduling_core.queueing.outcome import Outcome
from scheduling_core.queueing.policies import Policy
from scheduling_core.queueing.simulator import simulate

Change = Callable[[Sequence[Job], Sequence[int]], list[int]]
"""New durations for the jobs unfinished at a cut; each is raised to its least (second argument)."""


def stretch(factor: int) -> Change:
    """Each runs longer."""
    return lambda jobs, least: [factor * job.duration for job in jobs]


def shorten() -> Change:
    """Each runs as briefly as it can have run."""
    return lambda jobs, least: list(least)


def permute(seed: int) -> Change:
    """They exchange their durations."""

    def exchanged(jobs: Sequence[Job], least: Sequence[int]) -> list[int]:
        return random.Random(seed).sample([job.duration for job in jobs], len(jobs))

    return exchanged


def beyond(ticks: Sequence[int]) -> Change:
    """Each runs some ticks longer than it has run, in turn."""
    return lambda jobs, least: [least[i] + ticks[i % len(ticks)] for i in range(len(jobs))]


def first_difference(
    make: Callable[[], Policy],
    trace: Trace,
    cluster: Cluster,
    cut: int,
    change: Change,
    cost: RestartCost | None = None,
) -> str | None:
    """The first decision before the cut (ticks of the trace) that is another one in the changed trace."""
    before = simulate(trace, cluster, make(), cost, decisions=True)
    changed = _changed(trace, before, cut, change)
    after = simulate(changed, cluster, make(), cost, decisions=True)
    one, other = (_decided(outcome, cut * trace.tick) for outcome in (before, after))
    for position in range(max(len(one), len(other))):
        here, there = one[position : position + 1], other[position : position + 1]
        if here != there:
            return f"before {cut}: {here or 'nothing'}, with other durations {there or 'nothing'}"
    return None


def _changed(trace: Trace, outcome: Outcome, cut: int, change: Change) -> Trace:
    """`trace` with other durations of what hasn't ended before the cut."""
    parts = int(trace.tick / outcome.unit)
    ended = {job.id: int(end) < cut * parts for job, end in zip(outcome.trace.jobs, outcome.end, strict=True)}
    least_of = _least(outcome, cut * parts)
    open_jobs = [job for job in trace.jobs if not ended.get(job.id, False)]
    least = [max(1, -(-least_of.get(job.id, 0) // parts)) for job in open_jobs]
    durations = change(open_jobs, least)
    new = {job.id: max(d, low) for job, d, low in zip(open_jobs, durations, least, strict=True)}
    return replace(
        trace, jobs=tuple(replace(job, duration=new.get(job.id, job.duration)) for job in trace.jobs)
    )


def _least(outcome: Outcome, cut: int) -> dict[str, int]:
    """Ticks of work with which no job ends before the cut.

    For one that holds its GPUs at the cut, the ticks for which it has held them by then: no less than the
    work that it has done. For one that was preempted before, a tick more: it must not be done by then.
    """
    assert outcome.decisions is not None
    held: dict[str, int] = {}
    since: dict[str, int] = {}
    waits: dict[str, int] = {}
    for time, number, action, _ in outcome.decisions:
        if time >= cut:
            break
        name = outcome.trace.jobs[number].id
        if action.value in ("start", "resume"):
            since[name], waits[name] = time, 0
        else:
            held[name] = held.get(name, 0) + time - since.pop(name)
            waits[name] = 1
    return {name: held.get(name, 0) + cut - since.get(name, cut) + more for name, more in waits.items()}


def _decided(outcome: Outcome, cut: Fraction) -> list[tuple[Fraction, str]]:
    """Decisions before a cut in seconds: when, and which."""
    lines = [line.split(",", 1) for line in log_of(outcome).splitlines()[1:]]
    timed = [(int(time) * outcome.unit, rest) for time, rest in lines]
    return [(time, rest) for time, rest in timed if time < cut]
