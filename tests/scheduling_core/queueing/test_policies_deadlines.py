"""Policies that read deadlines: cases by hand, LAS behind EDF, and schedules of one second at a time."""

from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.cluster import homogeneous
from scheduling_core.queueing.jobs import Job, Trace
from scheduling_core.queueing.outcome import Outcome
from scheduling_core.queueing.policies import Policy, policy
from scheduling_core.queueing.simulator import simulate

Row = tuple[int, int, int, int | None]
"""Submission, GPUs, duration, deadline; seconds."""


def trace_of(rows: list[Row]) -> Trace:
    return Trace("made", tuple(Job(str(i), *row) for i, row in enumerate(rows)))


def run(rows: list[Row], made: Policy, gpus: int = 1) -> Outcome:
    return simulate(trace_of(rows), homogeneous(gpus), made, decisions=True)


def ends(rows: list[Row], made: Policy, gpus: int = 1) -> list[Fraction]:
    outcome = run(rows, made, gpus)
    return [end * outcome.unit for end in outcome.end.tolist()]


def second_by_second(
    rows: list[Row], gpus: int, key: Callable[[int, Row, int], tuple[int, int]]
) -> list[int]:
    """When each ends if the greedy scan is repeated at every second; key of (now, row, seconds left)."""
    left, found = [row[2] for row in rows], [-1] * len(rows)
    order = sorted(range(len(rows)), key=lambda i: rows[i][0])
    now = 0
    while min(found) < 0:
        here = [i for i in order if rows[i][0] <= now and found[i] < 0]
        free = gpus
        for i in sorted(here, key=lambda i: key(now, rows[i], left[i])):
            if rows[i][1] <= free:
                free -= rows[i][1]
                left[i] -= 1
                found[i] = now + 1 if left[i] == 0 else -1
        now += 1
    return found


def sorted_by_submission(rows: list[Row]) -> list[Row]:
    """As a trace has them, so that the numbers of jobs are those of the rows."""
    return sorted(rows, key=lambda row: row[0])


rows_at_random = st.lists(
    st.tuples(st.integers(0, 20), st.sampled_from([1, 2, 3]), st.integers(1, 12)).flatmap(
        lambda row: st.tuples(*map(st.just, row), st.none() | st.integers(row[0] + 1, row[0] + 40))
    ),
    min_size=1,
    max_size=8,
).map(sorted_by_submission)


def test_edf_preempts_for_an_earlier_deadline() -> None:
    """0 runs from 0, 1 from 1, 2 from 2 to 4; then 1, with 2 s left, to 6; then 0, with 3 s left, to 9."""
    assert ends([(0, 1, 4, None), (1, 1, 3, 10), (2, 1, 2, 5)], policy("edf")) == [9, 6, 4]


def test_edf_drops_a_job_at_its_deadline() -> None:
    """1 goes before 0 until 4, where it becomes late and stands behind what was submitted before it."""
    assert ends([(0, 1, 3, None), (1, 1, 10, 4)], policy("edf")) == [6, 13]


def test_edf_ends_at_the_deadline_are_met() -> None:
    """1 ends at its deadline: it isn't late, and 0 has waited for it from 1 to 4."""
    outcome = run([(0, 1, 3, None), (1, 1, 3, 4)], policy("edf"))
    assert outcome.end.tolist() == [6, 4]
    assert outcome.preemptions.tolist() == [1, 0]


def test_edf_las_puts_a_late_job_where_its_service_is() -> None:
    """Late at 5, 0 has run 5 s and is in the second queue, behind 1; by submission it would go on."""
    rows: list[Row] = [(0, 1, 8, 5), (1, 1, 3, None)]
    assert ends(rows, policy("edf_las", limits=(4,))) == [11, 8]
    assert ends(rows, policy("edf")) == [8, 11]


@given(rows_at_random)
def test_edf_is_the_scan_of_every_second(rows: list[Row]) -> None:
    """Its order changes at arrivals, ends and deadlines only: asking more often changes nothing."""

    def key(now: int, row: Row, left: int) -> tuple[int, int]:
        alive = row[3] is not None and now < row[3]
        return (0, row[3] or 0) if alive else (1, 0)

    assert ends(rows, policy("edf"), 3) == second_by_second(rows, 3, key)


@given(rows_at_random, st.integers(0, 2))
def test_edf_las_without_deadlines_decides_as_las(rows: list[Row], promote: int) -> None:
    plain: list[Row] = [(submit, gpus, duration, None) for submit, gpus, duration, _ in rows]
    found = [
        list(run(plain, policy(name, limits=(5, 17), promote=promote), 3).decisions or ())
        for name in ("edf_las", "las2d")
    ]
    assert found[0] == found[1]


def test_llf_changes_places_once_in_a_quantum() -> None:
    """Laxity of 1 is 10 and stays; that of 0 falls from 14 to 10 at 4, where it goes first (submitted first).

    A quantum of 2 s later, at 6, the laxity of 1 has fallen to 8: it runs its last 2 s, then 0 its last 4.
    """
    rows: list[Row] = [(0, 1, 6, 20), (0, 1, 6, 16)]
    outcome = run(rows, policy("llf", quantum=2))
    assert outcome.end.tolist() == [12, 8]
    assert outcome.preemptions.tolist() == [1, 1]


def test_llf_waits_for_a_quantum() -> None:
    """The crossing at 4 is before the quantum is over, and at 6 there is an end."""
    outcome = run([(0, 1, 6, 20), (0, 1, 6, 16)], policy("llf", quantum=7))
    assert outcome.end.tolist() == [12, 6]
    assert outcome.preemptions.sum() == 0


@given(rows_at_random)
def test_llf_is_the_scan_of_every_second(rows: list[Row]) -> None:
    """With a quantum of a second: nothing happens between crossings, nor where a job becomes hopeless."""

    def key(now: int, row: Row, left: int) -> tuple[int, int]:
        laxity = -1 if row[3] is None else row[3] - now - left
        return (0, laxity) if laxity >= 0 else (1, left)

    assert ends(rows, policy("llf", quantum=1), 3) == second_by_second(rows, 3, key)


@settings(max_examples=40)
@given(rows_at_random, st.fractions(Fraction(1, 7), 3, max_denominator=9))
def test_llf_has_exact_quanta(rows: list[Row], quantum: Fraction) -> None:
    """Any quantum is a whole number of ticks; each job ends once and works exactly its duration."""
    outcome = run(rows, policy("llf", quantum=quantum), 3)
    assert (outcome.executed == outcome.duration).all()
    assert (quantum / outcome.unit).denominator == 1


def test_genie_takes_the_smallest_allowance_at_each_end() -> None:
    """At 4, when 0 ends: 1 may wait 20 - 4 - 3 = 13 s, 2 only 8 - 4 - 2 = 2 s, and 3 is hopeless (-3 s).

    So 2 runs to 6, 1 to 9, and then, in the order of submission, 3 to 14 and 4 to 15.
    """
    rows: list[Row] = [(0, 1, 4, None), (1, 1, 3, 20), (2, 1, 2, 8), (3, 1, 5, 6), (3, 1, 1, None)]
    outcome = run(rows, policy("genie_like"))
    assert outcome.end.tolist() == [4, 9, 6, 14, 15]
    assert outcome.preemptions.sum() == 0


@pytest.mark.parametrize("quantum", [0, -1, "soon", float("nan"), float("inf"), True])
def test_a_quantum_that_is_none(quantum: object) -> None:
    with pytest.raises(SchedulingError, match=r"quantum is .* s, expected a number above 0"):
        policy("llf", quantum=quantum)
