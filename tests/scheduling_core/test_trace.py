"""Traces: aggregation by hand, and what is refused."""

import math

import numpy as np
import pytest

from scheduling_core.allocation import Problem, SchedulingError, check
from scheduling_core.allocation.trace import (
    JobSequence,
    Record,
    Summary,
    Trace,
    percent_above,
    simulate,
)


def records(policy: str = "aware") -> list[Record]:
    """Job 0 from step 1, job 1 from step 3; totals 1, 1, 3, 4."""
    return [
        Record(policy, 1, 0, 1.0),
        Record(policy, 2, 0, 1.0),
        Record(policy, 3, 0, 1.0),
        Record(policy, 3, 1, 2.0),
        Record(policy, 4, 0, 1.5),
        Record(policy, 4, 1, 2.5),
    ]


def test_every_step_counts_alike() -> None:
    """(1 + 1 + 3 + 4) / 4 = 2.25; the mean of the six records, 1.5, answers another question."""
    trace = Trace.of(records())
    assert trace.totals("aware") == (1, 1, 3, 4)
    assert trace.summary("aware") == Summary(4, 2.25, 1, 4)
    assert trace.summary("aware", 3, 4) == Summary(2, 3.5, 3, 4)


def test_a_step_without_jobs_has_total_zero_and_still_counts() -> None:
    late = [Record("aware", 3, 0, 6.0)]
    assert Trace.of(late).summary("aware") == Summary(3, 2.0, 0, 6)
    assert Trace.of(late, steps=4).totals("aware") == (0, 0, 6, 0)


def test_a_job_is_averaged_over_the_steps_after_its_arrival() -> None:
    trace = Trace.of(records())
    assert trace.job("aware", 1, 2, 4) == Summary(2, 2.25, 2.0, 2.5)
    assert trace.job("aware", 1, 1, 2) is None, "not arrived, which is not a score of 0"


def test_totals_by_number_of_jobs() -> None:
    assert Trace.of(records()).totals_by_jobs("aware") == {1: 1.0, 2: 3.5}


def test_checks_tell_what_is_missing() -> None:
    whole = Trace.of(records() + records("agnostic"))
    assert set(whole.checks().values()) == {True}
    gap = Trace.of([*records()[1:], Record("aware", 1, 1, -2.0)])
    assert gap.checks() == {
        "unique_job_step_pairs": True,
        "all_arrivals": True,
        "every_step_after_arrival": False,
        "both_policies": False,
        "finite_and_non_negative": False,
    }


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ([], "The trace holds no records, expected at least one."),
        ([records()[0]] * 2, "Job 0 has two scores at step 1 (aware), expected one."),
        (
            [Record("aware", 1, 0, math.nan)],
            "The score of job 0 at step 1 (aware) is nan, expected",
        ),
        (
            [Record("aware", 1, 0, math.inf)],
            "The score of job 0 at step 1 (aware) is inf, expected",
        ),
        ([Record("aware", 0, 0, 1.0)], "A record is at step 0, expected a step from 1 to"),
    ],
)
def test_refused_traces(wrong: list[Record], sentence: str) -> None:
    with pytest.raises(SchedulingError) as error:
        Trace.of(wrong)
    assert sentence in str(error.value)


def test_refused_questions() -> None:
    trace = Trace.of(records())
    for start, end in ((0, 2), (3, 2), (1, 5)):
        with pytest.raises(SchedulingError, match=f"The interval is steps {start} to {end}, expec"):
            trace.summary("aware", start, end)
    with pytest.raises(SchedulingError, match="There is no job 7, expected one of 0 to 1"):
        trace.job("aware", 7)
    with pytest.raises(SchedulingError, match="no policy 'fifo', expected one of 'aware'"):
        trace.totals("fifo")
    with pytest.raises(SchedulingError, match="A percentage of 0"):
        percent_above(1, 0)


def test_percentages() -> None:
    assert percent_above(6, 5) == pytest.approx(20)
    assert percent_above(5, 6) == pytest.approx(-100 / 6)


def sequence(**changes: tuple[int, ...]) -> JobSequence:
    problem = Problem.of([[1, 2], [2, 1]], [1, 1])
    return JobSequence(**{"problem": problem, "job_ids": (4, 9), "arrivals": (2, 3), **changes})  # type: ignore[arg-type]


def test_a_simulation_solves_each_set_of_jobs_once() -> None:
    """Alone, job 4 has the fast GPU (4/3); with job 9 each keeps its own (4/3 each)."""
    trace, allocations = simulate(sequence(), "aware", "exact", 5)
    assert list(allocations) == [(0,), (0, 1)]
    assert trace.totals("aware") == pytest.approx((0, 4 / 3, 8 / 3, 8 / 3, 8 / 3))
    assert trace.arrivals == {4: 2, 9: 3}
    for active, allocation in allocations.items():
        check(sequence().problem.subset(active), allocation)


def test_a_job_that_arrives_after_the_end_has_not_arrived() -> None:
    trace, _ = simulate(sequence(), "aware", "exact", 2)
    assert trace.job("aware", 9) is None


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"job_ids": (4,)}, "There are 1 job ids and 2 arrivals, expected 2 of each."),
        ({"job_ids": (4, 4)}, "Job 4 is listed twice"),
        ({"arrivals": (0, 1)}, "Job 4 arrives before step 1"),
    ],
)
def test_refused_sequences(changes: dict[str, tuple[int, ...]], sentence: str) -> None:
    with pytest.raises(SchedulingError, match=sentence.replace(".", "\\.")):
        sequence(**changes)


def test_unknown_policy() -> None:
    with pytest.raises(SchedulingError, match="policy is 'lucky', expected 'aware' or 'agnostic'"):
        simulate(sequence(), "lucky", "exact", 2)  # type: ignore[arg-type]


def test_active_jobs_by_step() -> None:
    assert [sequence().active(step) for step in (1, 2, 3)] == [(), (0,), (0, 1)]
    assert np.array_equal(sequence().problem.subset((1,)).rates, [[2, 1]])
