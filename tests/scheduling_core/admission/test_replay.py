"""List admission: worked by hand, and against a look at every tick."""

from collections.abc import Sequence

import pytest
from admission_cases import GIB, attempt, workload
from hypothesis import given
from hypothesis import strategies as st

from scheduling_core.admission.replay import as_run, fifo, list_admission
from scheduling_core.admission.schedule import Limits, Policy
from scheduling_core.errors import SchedulingError


@pytest.mark.parametrize(
    ("durations", "releases", "demands", "capacities", "order", "expected"),
    [
        # One slot: one behind the other; the slot freed at 3 is taken at 3.
        ([3, 2, 4], [0, 0, 0], [[1], [1], [1]], [1], [0, 1, 2], [0, 3, 5]),
        # Two slots: the third takes the one that is free first.
        ([3, 2, 4], [0, 0, 0], [[1], [1], [1]], [2], [0, 1, 2], [0, 0, 2]),
        # Another order.
        ([3, 2, 4], [0, 0, 0], [[1], [1], [1]], [1], [2, 0, 1], [4, 7, 0]),
        # The wide job waits until 3 for both units; the narrow one behind it would fit at 0, and waits.
        ([3, 2, 4], [0, 0, 0], [[1], [2], [1]], [2], [0, 1, 2], [0, 3, 5]),
        # The head isn't there before 5: those behind it wait, although they were released.
        ([1, 1], [5, 0], [[1], [1]], [2], [0, 1], [5, 5]),
        # An idle gap: both were over long before.
        ([1, 1, 1], [0, 9, 9], [[1], [1], [1]], [1], [0, 1, 2], [0, 9, 10]),
        # The second resource is the scarce one, freed at 2 by the second job.
        ([5, 2, 1], [0, 0, 0], [[1, 1], [1, 3], [1, 2]], [3, 4], [0, 1, 2], [0, 0, 2]),
        # Two end at 3 together, and only both make room.
        ([3, 3, 1], [0, 0, 0], [[1], [1], [2]], [2], [0, 1, 2], [0, 0, 3]),
        ([], [], [], [1], [], []),
    ],
)
def test_by_hand(
    durations: list[int], releases: list[int], demands: list[list[int]], capacities: list[int],
    order: list[int], expected: list[int],
) -> None:  # fmt: skip
    assert list_admission(durations, releases, demands, capacities, order) == expected


def by_looking_at_every_tick(
    durations: Sequence[int], releases: Sequence[int], demands: Sequence[Sequence[int]],
    capacities: Sequence[int], order: Sequence[int],
) -> list[int]:  # fmt: skip
    starts: dict[int, int] = {}
    line = list(order)
    tick = 0
    while line:
        running = [job for job, start in starts.items() if start <= tick < start + durations[job]]
        job = line[0]
        fits = all(
            demands[job][r] + sum(demands[other][r] for other in running) <= capacity
            for r, capacity in enumerate(capacities)
        )
        if releases[job] <= tick and fits:
            starts[line.pop(0)] = tick
        else:
            tick += 1
    return [starts[job] for job in range(len(durations))]


@given(st.data())
def test_it_is_what_a_look_at_every_tick_finds(data: st.DataObject) -> None:
    n = data.draw(st.integers(0, 7))
    capacities = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    durations = data.draw(st.lists(st.integers(1, 6), min_size=n, max_size=n))
    releases = data.draw(st.lists(st.integers(0, 12), min_size=n, max_size=n))
    demands = [[data.draw(st.integers(0, capacity)) for capacity in capacities] for _ in range(n)]
    order = data.draw(st.permutations(range(n)))
    expected = by_looking_at_every_tick(durations, releases, demands, capacities, order)
    assert list_admission(durations, releases, demands, capacities, order) == expected


def test_what_never_fits_is_refused() -> None:
    with pytest.raises(SchedulingError, match=r"^Job 1 wants \[3\], more than there is: \[2\]\.$"):
        list_admission([1, 1], [0, 0], [[1], [3]], [2], [0, 1])


@pytest.mark.parametrize("order", [[0], [0, 0], [0, 2], [0, 1, 1]])
def test_an_order_holds_each_job_once(order: list[int]) -> None:
    with pytest.raises(SchedulingError, match=r"^The order doesn't hold each of the 2 jobs once\.$"):
        list_admission([1, 1], [0, 0], [[1], [1]], [2], order)


def test_fifo_takes_slots_and_quotas_whole_under_either_policy() -> None:
    """4 GiB: two of 2 GiB at a time, although there are 3 slots and the first calls the model from 1 on."""
    of = workload(*(attempt(name, "setup 1 model 4") for name in "abc"))
    for policy in Policy:
        made = fifo(of, Limits(slots=3, ram_kib=4 * GIB), policy)
        assert made.starts == (0, 0, 5)
        assert made.policy is policy
        assert made.workload_sha256 == of.sha256


def test_fifo_without_limits_on_quotas_looks_at_slots_alone() -> None:
    of = workload(*(attempt(name, "setup 5") for name in "abc"))
    assert fifo(of, Limits(slots=2)).starts == (0, 0, 5)
    assert fifo(of, Limits(slots=1), order=[2, 1, 0]).starts == (10, 5, 0)
    assert fifo(workload(), Limits(slots=1)).starts == ()


def test_the_schedule_as_run_has_the_logged_starts_or_none() -> None:
    a, b = attempt("a", "setup 5", started=0), attempt("b", "setup 5", started=70)
    assert as_run(workload(a, b), Limits(slots=1)).starts == (0, 70)
    with pytest.raises(SchedulingError, match=r"^Attempt c has no logged start"):
        as_run(workload(a, attempt("c", "setup 5")), Limits(slots=1))
