"""The reconstruction of TIAS: what is said of it holds, and the plain form is what it is compared with."""

import importlib.util
import sys
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.cluster import homogeneous
from scheduling_core.queueing.deadlines import LOOSE, with_deadlines
from scheduling_core.queueing.formats import read_trace
from scheduling_core.queueing.jobs import NEVER, Job, Trace
from scheduling_core.queueing.outcome import Outcome
from scheduling_core.queueing.policies import policy
from scheduling_core.queueing.policies.base import Policy
from scheduling_core.queueing.policies.reserve import CLASSES, ENOUGH, PARTS, Reserves
from scheduling_core.queueing.simulator import simulate

jobs = st.lists(
    st.tuples(
        st.integers(0, 40), st.sampled_from([1, 2, 4]), st.integers(1, 60), st.none() | st.integers(2, 200)
    ),
    min_size=1, max_size=12,
)  # fmt: skip


def trace_of(rows: list[tuple[int, int, int, int | None]]) -> Trace:
    """submit, GPUs, duration, window."""
    return Trace(
        "made",
        tuple(
            Job(str(i), submit, gpus, duration, None if window is None else submit + window)
            for i, (submit, gpus, duration, window) in enumerate(rows)
        ),
    )


def log_of(trace: Trace, made: Policy, gpus: int = 4) -> list[tuple[Fraction, int, str]]:
    """Decisions with their times in seconds, whatever the resolution."""
    outcome = simulate(trace, homogeneous(gpus), made, decisions=True)
    assert outcome.decisions is not None
    return [(d.time * outcome.unit, d.job, d.action.value) for d in outcome.decisions]


@given(jobs)
def test_without_deadlines_it_is_las(rows: list[tuple[int, int, int, int | None]]) -> None:
    """Queues.md: no live deadline jobs, then decisions equal those of las2d."""
    plain = trace_of([(submit, gpus, duration, None) for submit, gpus, duration, _ in rows])
    limits = (20, 60)
    las = log_of(plain, policy("las2d", limits=limits))
    assert log_of(plain, policy("tias_like", limits=limits)) == las


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(1, 30)), min_size=1, max_size=10), st.integers(40, 200)
)
def test_of_equal_windows_alone_it_is_edf(rows: list[tuple[int, int]], window: int) -> None:
    """Only deadline jobs, all urgent, no weights: whoever's deadline is first is served first.

    One GPU each on two GPUs, windows so long that nobody is late: EDF then never preempts, and jobs start in
    the order of their deadlines, which with equal windows is that of submission.
    """
    longest = sum(duration for _, duration in rows)
    trace = trace_of([(submit, 1, duration, window + longest) for submit, duration in rows])
    made = policy("tias_like", margin="inf", beta=0.0, hysteresis=0.0)
    outcome = simulate(trace, homogeneous(2), made)
    assert not outcome.preemptions.any()
    assert (np.diff(outcome.first_start) >= 0).all()


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(1, 30), st.integers(1, 200)), min_size=1, max_size=8)
)
def test_urgent_jobs_without_weights_are_served_by_deadline(rows: list[tuple[int, int, int]]) -> None:
    """On one GPU, at every event the running job is the live one with the first deadline, if any is live."""
    trace = trace_of([(submit, 1, duration, window) for submit, duration, window in rows])
    made = policy("tias_like", margin="inf", beta=0.0, hysteresis=0.0)
    outcome = simulate(trace, homogeneous(1), made, decisions=True)
    assert outcome.decisions is not None
    running: int | None = None
    log = list(outcome.decisions)
    for i, decision in enumerate(log):
        running = None if decision.action.value in ("end", "preempt") else decision.job
        if i + 1 < len(log) and log[i + 1].time == decision.time:
            continue
        now = decision.time
        here = [
            job for job in range(len(trace))
            if outcome.submit[job] <= now < outcome.end[job] and outcome.deadline[job] > now
        ]  # fmt: skip
        if here:
            assert running is not None
            assert outcome.deadline[running] == min(outcome.deadline[job] for job in here)


def miss_and_jct(outcome: Outcome) -> tuple[float, float]:
    with_deadline = outcome.deadline < NEVER
    jct = (outcome.end - outcome.submit)[~with_deadline].mean() * float(outcome.unit)
    return float((outcome.end > outcome.deadline)[with_deadline].mean()), float(jct)


def test_the_reserve_of_a_waiting_job_begins_by_hand() -> None:
    """One GPU; A runs without deadline 0..100; B asks at 0 for 10 s with its deadline at 64.

    Nothing is learned yet, so B is taken to run half its window, 32 s; with margin 1 it becomes urgent at
    64 - 32 = 32, preempts A, and ends at 42; with margin 0 it waits until A has ended.
    """
    trace = trace_of([(0, 1, 100, None), (0, 1, 10, 64)])
    outcome = simulate(trace, homogeneous(1), policy("tias_like", margin=1))
    assert [Fraction(int(end)) * outcome.unit for end in outcome.end] == [110, 42]
    outcome = simulate(trace, homogeneous(1), policy("tias_like", margin=0))
    assert [Fraction(int(end)) * outcome.unit for end in outcome.end] == [100, 110]


def test_reserves_are_learned_from_ended_jobs_only() -> None:
    """Ten jobs ran a quarter of their windows: so will the next; one that ran more, its whole window."""
    reserves = Reserves(1, Fraction(1))
    window = np.full(ENOUGH, 64 * 100)
    reserves.learn(window // 4, np.zeros(ENOUGH, dtype=np.int64), window)
    assert reserves.expected[0] == CLASSES // 4
    assert reserves.expected[CLASSES // 4] == CLASSES
    assert PARTS * 16 == CLASSES


def test_margins_trade_misses_for_completion_times(shared: Path) -> None:
    """With none the others' JCT is least, with a large one misses are fewest; preemptions stay bounded."""
    trace = with_deadlines(read_trace(shared / "data/traces/tiresias_60_job.csv").trace, 0.5, *LOOSE, 0)
    never, always = (
        simulate(trace, homogeneous(8), policy("tias_like", margin=margin, limits=(100, 400)))
        for margin in (0, "inf")
    )
    las = simulate(trace, homogeneous(8), policy("las2d", limits=(100, 400)))
    assert miss_and_jct(never)[1] < miss_and_jct(las)[1] < miss_and_jct(always)[1]
    assert miss_and_jct(always)[0] < miss_and_jct(las)[0]
    assert max(never.preemptions.sum(), always.preemptions.sum()) <= 1.5 * las.preemptions.sum()


@pytest.mark.parametrize("options", [{"margin": -1}, {"margin": "nan"}, {"margin": "soon"}, {"beta": -1}])
def test_options_that_make_no_sense(options: dict[str, object]) -> None:
    with pytest.raises(SchedulingError, match="expected"):
        policy("tias_like", **options)


def prototype(shared: Path) -> ModuleType:
    """The sketch that the plain form must agree with: another implementation, by another loop."""
    folder = shared / "prototypes/queueing"
    sys.path.insert(0, str(folder))
    try:
        spec = importlib.util.spec_from_file_location("tias_sketch", folder / "tias_like.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(folder))
    return module


@pytest.mark.parametrize("gpus", [8, 16])
def test_las_agrees_with_the_sketch_on_who_misses(shared: Path, gpus: int) -> None:
    """The sketch's Tiresias with default limits, which no job here reaches, is las2d with deadlines."""
    module = prototype(shared)
    path = shared / "data/traces/tiresias_60_job.csv"
    sketched = module.load(str(path))
    module.assign(sketched, 0.5, 1.5, 5, 3)
    ends, preempted = module.simulate(sketched, gpus, module.tiresias)
    trace = with_deadlines(read_trace(path).trace, 0.5, *LOOSE, 3)
    outcome = simulate(trace, homogeneous(gpus), policy("las2d"))
    assert {job.id: job.deadline for job in trace.jobs if job.deadline is not None} == {
        str(job.id): job.dl for job in sketched if job.dl < module.INF
    }
    assert int(outcome.preemptions.sum()) == preempted
    missed, jct, _ = module.score(sketched, ends)
    assert miss_and_jct(outcome) == pytest.approx((missed, jct))
