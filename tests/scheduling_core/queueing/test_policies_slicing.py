"""Time slicing: cases by hand, and a queue of turns written anew."""

from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from scheduling_core.queueing.cluster import homogeneous
from scheduling_core.queueing.jobs import Job, Trace
from scheduling_core.queueing.outcome import Outcome
from scheduling_core.queueing.policies import policy
from scheduling_core.queueing.simulator import simulate

Row = tuple[int, int, int]
"""Submission, GPUs, duration; seconds."""


def run(rows: list[Row], gpus: int, quantum: int) -> Outcome:
    jobs = tuple(Job(str(i), *row) for i, row in enumerate(rows))
    return simulate(Trace("made", jobs), homogeneous(gpus), policy("gandiva", quantum=quantum))


def test_three_jobs_take_turns_on_two_gpus() -> None:
    """0 and 1 until 10, 2 and 0 until 20, where 0 ends; then 1 and 2 have their second 10 s together."""
    outcome = run([(0, 1, 20)] * 3, 2, 10)
    assert outcome.end.tolist() == [20, 30, 30]
    assert outcome.preemptions.tolist() == [0, 1, 0]


def test_a_gang_has_its_turn() -> None:
    """2 needs both GPUs: the turn that begins at 1, when it comes, is the last before its own.

    0 and 1 have had 11 of their 15 s by then, and have the last 4 s after it.
    """
    outcome = run([(0, 1, 15), (0, 1, 15), (1, 2, 10)], 2, 10)
    assert outcome.end.tolist() == [25, 25, 21]
    assert outcome.first_start.tolist() == [0, 0, 11]


def test_who_has_no_rival_runs_on() -> None:
    """Both fit, so that there are no turns: decisions at arrivals and ends only."""
    outcome = run([(0, 1, 100), (3, 1, 50)], 2, 10)
    assert outcome.end.tolist() == [100, 53]
    assert outcome.events == 4


def test_a_turn_begins_anew_when_a_job_waits_again() -> None:
    """1 waits until 0 ends at 4; when 2 comes at 6, it waits for a whole turn, until 16, not until 10."""
    assert run([(0, 1, 4), (0, 1, 20), (6, 1, 5)], 1, 10).first_start.tolist() == [0, 4, 16]


def turns(rows: list[Row], gpus: int, quantum: int) -> list[int]:
    """When each ends, second by second, with one queue of waiting jobs."""
    left, found = [row[2] for row in rows], [-1] * len(rows)
    order = sorted(range(len(rows)), key=lambda i: rows[i][0])
    waiting: deque[int] = deque()
    running: list[int] = []
    now, turn_ends = 0, None
    while min(found) < 0:
        waiting.extend(i for i in order if rows[i][0] == now)
        if turn_ends == now:
            waiting.extend(running)
            running, turn_ends = [], None
        for i in list(waiting):
            if rows[i][1] <= gpus - sum(rows[k][1] for k in running):
                waiting.remove(i)
                running.append(i)
        turn_ends = (now + quantum if turn_ends is None else turn_ends) if waiting else None
        now += 1
        for i in running:
            left[i] -= 1
            found[i] = now if left[i] == 0 else -1
        running = [i for i in running if left[i]]
    return found


rows_at_random = st.lists(
    st.tuples(st.integers(0, 20), st.sampled_from([1, 2, 3]), st.integers(1, 20)), min_size=1, max_size=8
).map(lambda rows: sorted(rows, key=lambda row: row[0]))  # as a trace has them


@given(rows_at_random, st.integers(1, 9))
def test_turns_are_those_of_a_plain_queue(rows: list[Row], quantum: int) -> None:
    assert run(rows, 3, quantum).end.tolist() == turns(rows, 3, quantum)
