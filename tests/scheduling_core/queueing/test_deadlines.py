"""Generated deadlines: d = s + ceil(D x U(low, high)) for a share of the jobs, by seed."""

import math
import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.deadlines import LOOSE, TIGHT, with_deadlines
from scheduling_core.queueing.jobs import Job, Trace


def trace_of(durations: list[int], tick: Fraction = Fraction(1)) -> Trace:
    jobs = tuple(Job(str(n), 10 * n, 1, duration) for n, duration in enumerate(durations))
    return Trace("t", jobs, tick)


@given(st.lists(st.integers(1, 10**6), max_size=30), st.floats(0, 1), st.integers(0, 9))
def test_the_formula(durations: list[int], share: float, seed: int) -> None:
    """Written out again: for each job in order a draw for whether, and for one that has it the factor."""
    found = with_deadlines(trace_of(durations), share, *LOOSE, seed)
    draw = random.Random(seed)
    for job in found.jobs:
        has = draw.random() < share
        expected = job.submit + math.ceil(job.duration * Fraction(draw.uniform(1.5, 5))) if has else None
        assert job.deadline == expected


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=20), st.sampled_from([1, 2, 1000, 200_000]))
def test_whole_seconds_where_the_tick_divides_one(durations: list[int], per_second: int) -> None:
    """From submission to deadline are whole seconds, less than one more than the drawn time."""
    trace = trace_of(durations, Fraction(1, per_second))
    for job in with_deadlines(trace, 1, *TIGHT, seed=3).jobs:
        assert job.deadline is not None
        window = job.deadline - job.submit
        assert window % per_second == 0
        assert Fraction(11, 10) * job.duration <= window < 2 * job.duration + per_second


@pytest.mark.parametrize("tick", [Fraction(60), Fraction(3, 2)])
def test_whole_ticks_where_it_doesnt(tick: Fraction) -> None:
    """Minutes, and ticks of 1.5 s: a factor of exactly 1.5 of 3 ticks is 4.5, so 5."""
    job = with_deadlines(trace_of([3], tick), 1, 1.5, 1.5, seed=0).jobs[0]
    assert job.deadline == job.submit + 5


def test_half_of_many() -> None:
    """5,000 of 10,000 expected, standard deviation 50; factors uniform, so their mean is 3.25 (0.01)."""
    trace = trace_of([10**6] * 10_000)
    windows = [j.deadline - j.submit for j in with_deadlines(trace, 0.5, *LOOSE, seed=1).jobs if j.deadline]
    assert 4800 < len(windows) < 5200
    assert 3.19 < sum(windows) / len(windows) / 10**6 < 3.31
    assert min(windows) >= 1.5 * 10**6
    assert max(windows) <= 5 * 10**6


def test_shares_of_none_and_all_and_seeds() -> None:
    trace = trace_of([100] * 50)
    assert all(job.deadline is None for job in with_deadlines(trace, 0, *LOOSE, seed=1).jobs)
    assert all(job.deadline is not None for job in with_deadlines(trace, 1, *LOOSE, seed=1).jobs)
    one = with_deadlines(trace, 0.5, *LOOSE, seed=1)
    assert one == with_deadlines(trace, 0.5, *LOOSE, seed=1)
    assert one.jobs != with_deadlines(trace, 0.5, *LOOSE, seed=2).jobs


def test_earlier_deadlines_and_their_note_are_replaced() -> None:
    trace = with_deadlines(trace_of([100] * 4), 1, *LOOSE, seed=1)
    again = with_deadlines(trace, 0, *TIGHT, seed=2)
    assert all(job.deadline is None for job in again.jobs)
    assert again.notes == (
        "Deadlines are generated from durations: share 0, submission + duration x U(1.1, 2), seed 2; "
        "0 of 4 jobs have one.",
    )


@pytest.mark.parametrize(
    ("share", "low", "high"),
    [
        (1.1, 1, 2),
        (-0.1, 1, 2),
        (math.nan, 1, 2),
        (0.5, 0, 2),
        (0.5, 3, 2),
        (0.5, 1, math.inf),
        (0.5, math.nan, 2),
    ],
)
def test_parameters_that_are_none(share: float, low: float, high: float) -> None:
    with pytest.raises(SchedulingError, match="expected 0"):
        with_deadlines(trace_of([5]), share, low, high, seed=0)
