"""What must hold for every policy, whatever the trace: each name that is registered is met here.

A policy with times of its own is given small ones in `strategies.OPTIONS`.
"""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queueing_strategies import AGNOSTIC, CASES, ORACLES, Case, clusters, costs, log_of, scaled, traces

from scheduling_core.queueing.cluster import Cluster, homogeneous
from scheduling_core.queueing.costs import ConstantCost, RestartCost
from scheduling_core.queueing.decisions import Action
from scheduling_core.queueing.jobs import Job, Trace
from scheduling_core.queueing.outcome import Outcome
from scheduling_core.queueing.policies import policy_names
from scheduling_core.queueing.simulator import simulate

every_case = pytest.mark.parametrize("case", CASES, ids=str)


def decided(outcome: Outcome, c: int = 1) -> list[tuple[Fraction, str]]:
    """Every decision: its time in seconds, divided by c, and what it was."""
    lines = [line.split(",", 1) for line in log_of(outcome).splitlines()[1:]]
    return [(int(time) * outcome.unit / c, rest) for time, rest in lines]


def test_every_registered_policy_is_met() -> None:
    """And the information-agnostic are told from the others as they declare themselves."""
    assert {case.name for case in CASES} == set(policy_names())
    assert {case.name for case in ORACLES} == {"srtf", "srsf", "llf", "genie_like", "ftf", "chronus_like"}


@every_case
@settings(max_examples=12)
@given(trace=traces(), cluster=clusters(), cost=costs)
def test_every_job_ends_once_with_its_work_done_and_nothing_drifts(
    case: Case, trace: Trace, cluster: Cluster, cost: RestartCost
) -> None:
    """A gang holds its GPUs for its duration and for what its restarts paid, to the tick; the GPU time that
    was busy is the sum over jobs, and that over the series, without a remainder."""
    outcome = simulate(trace, cluster, case.policy(), cost, decisions=True, series=True)
    state = (outcome.submit, outcome.first_start, outcome.executed, outcome.paid, outcome.end)
    submit, first, executed, paid, end = state
    assert all(array.dtype == np.int64 for array in state)
    assert (executed == outcome.duration + paid).all()
    assert (submit <= first).all()
    assert (first + executed <= end).all()
    assert outcome.decisions is not None
    log = list(outcome.decisions)
    for number in range(len(outcome.trace)):
        mine = [decision.action for decision in log if decision.job == number]
        times = outcome.preemptions[number]
        assert mine == [Action.START, *[Action.PREEMPT, Action.RESUME] * times, Action.END]
        assert times == outcome.restarts[number]
        seconds = cost.seconds(outcome.trace.jobs[number])
        assert int(paid[number]) * outcome.unit <= times * seconds
    assert outcome.busy_ticks == int((outcome.gpus * executed).sum())
    if not case.policy().preemptive:
        assert not outcome.preemptions.any()
    series = outcome.series
    assert series is not None
    spans = [after - before for before, after in pairwise(series.time)]
    assert all(span > 0 for span in spans)
    for column, total in ((series.busy, outcome.busy_ticks), (series.fragmented, outcome.fragmented_ticks)):
        assert sum(span * value for span, value in zip(spans, column, strict=False)) == total
    assert all(0 <= busy <= cluster.gpus for busy in series.busy)
    assert all(0 <= f <= cluster.gpus - busy for f, busy in zip(series.fragmented, series.busy, strict=True))
    assert len(outcome.trace) + len(outcome.refused) == len(trace)


@pytest.mark.parametrize("case", [case for case in CASES if not case.rounds], ids=str)
@settings(max_examples=12)
@given(
    trace=traces(),
    cluster=clusters(),
    cost=st.sampled_from((0, 2, Fraction(1, 3))),
    c=st.sampled_from((2, 3)),
)
def test_all_times_c_times_as_long_give_the_same_decisions(
    case: Case, trace: Trace, cluster: Cluster, cost: Fraction, c: int
) -> None:
    """Times of jobs, of restarts and of the policy itself; every decision then comes c times as late."""
    one = simulate(trace, cluster, case.policy(), ConstantCost(Fraction(cost)), decisions=True)
    more = simulate(
        scaled(trace, c), cluster, case.policy(c), ConstantCost(Fraction(c * cost)), decisions=True
    )
    assert decided(one) == decided(more, c)


@every_case
@settings(max_examples=10)
@given(trace=traces(), cluster=clusters(), cost=costs, names=st.permutations(range(7)))
def test_the_same_run_twice_and_with_other_ids(
    case: Case, trace: Trace, cluster: Cluster, cost: RestartCost, names: list[int]
) -> None:
    """Ids decide nothing: jobs that come together stand as in the trace. A policy object runs many times."""
    policy = case.policy()
    first = simulate(trace, cluster, policy, cost, decisions=True)
    again = simulate(trace, cluster, policy, cost, decisions=True)
    assert first.decisions is not None
    assert again.decisions is not None
    ids = [job.id for job in first.trace.jobs]
    assert first.decisions.sha256(ids) == again.decisions.sha256(ids)
    renamed = replace(trace, jobs=tuple(replace(job, id=f"n{names[i]}") for i, job in enumerate(trace.jobs)))
    other = simulate(renamed, cluster, case.policy(), cost, decisions=True)
    assert other.decisions is not None
    assert list(other.decisions) == list(first.decisions)


@every_case
@settings(max_examples=6)
@given(trace=traces(types=(None,)), cost=costs, data=st.data())
def test_jobs_that_cant_run_are_named_and_change_nothing_for_the_others(
    case: Case, trace: Trace, cost: RestartCost, data: st.DataObject
) -> None:
    too_large = data.draw(st.sets(st.integers(0, len(trace) - 1)))
    jobs = [replace(job, gpus=99) if i in too_large else job for i, job in enumerate(trace.jobs)]
    cluster = homogeneous(6, 4)
    outcome = simulate(replace(trace, jobs=tuple(jobs)), cluster, case.policy(), cost, decisions=True)
    names = {trace.jobs[i].id for i in too_large}
    assert set(outcome.refused) == names
    assert all(name in reason and "99" in reason for name, reason in outcome.refused.items())
    alone = trace.only(job.id for job in trace.jobs if job.id not in names)
    assert decided(simulate(alone, cluster, case.policy(), cost, decisions=True)) == decided(outcome)


@pytest.mark.parametrize("case", [CASES[0], AGNOSTIC[-1]], ids=str)
def test_progress_is_told_on_the_way_and_at_the_end(case: Case) -> None:
    """200 jobs are more than 256 events: told once on the way at least, never backwards, and last all."""
    jobs = [Job(str(i), 2 * i, 1 + i % 3, 1 + i % 5) for i in range(200)]
    told: list[tuple[int, int]] = []
    simulate(
        Trace("many", tuple(jobs)), homogeneous(3), case.policy(), on_progress=lambda *at: told.append(at)
    )
    assert told[-1] == (200, 200)
    assert len(told) > 1
    assert all(before[0] <= after[0] and after[1] == 200 for before, after in pairwise(told))
    assert 0 < told[0][0] < 200
