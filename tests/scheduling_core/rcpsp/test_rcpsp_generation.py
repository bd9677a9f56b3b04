"""Serial generation against a search of every time, justification by its properties, and the validator."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rcpsp_projects import projects, serial

from scheduling_core.compiled import is_compiled, numbers, plain_form
from scheduling_core.errors import SchedulingError
from scheduling_core.rcpsp import kernels
from scheduling_core.rcpsp.flat import MODULI, chance_from
from scheduling_core.rcpsp.generation import double_justification, serial_schedule
from scheduling_core.rcpsp.project import Project
from scheduling_core.rcpsp.readers import read_project
from scheduling_core.rcpsp.validate import faults

FORMS = [kernels, plain_form(kernels)]


@pytest.mark.parametrize("module", FORMS, ids=["compiled", "plain"])
@settings(max_examples=60)
@given(project=projects(7))
def test_generation_is_that_of_trying_every_time(module, project: Project) -> None:
    order = project.topological_order
    expected = serial(project, order)
    assert expected is not None
    assert serial_schedule(project, order, module) == tuple(expected[j] for j in range(len(project)))


def test_the_order_of_the_list_decides(area: Path) -> None:
    """As worked out in conftest.py: 9 by number, 8 with job 2 last."""
    project = read_project(area)
    assert serial_schedule(project, (0, 1, 2, 3)) == (0, 1, 5, 5)
    assert serial_schedule(project, (0, 2, 3, 1)) == (0, 4, 0, 1)


@pytest.mark.parametrize("module", FORMS, ids=["compiled", "plain"])
def test_justification_shortens_a_schedule_with_a_gap(module, area: Path) -> None:
    """Lists by hand. Starts 0, 1, 5, 5 end at 1, 5, 9, 8.

    To the right, in the order 3, 4, 2, 1 of ends: job 3 at 5-9, job 4 at 6-9, job 2 (both units) at 1-5, and
    job 1, which has to end by 6, at 5-6, where a unit is free. So the schedule is 1-9, 8 long: job 2 at 0,
    jobs 1 and 3 at 4, job 4 at 5. To the left, in the order 2, 1, 3, 4: the same.
    """
    project = read_project(area)
    assert double_justification(project, (0, 1, 5, 5), module) == (4, 0, 4, 5)


@settings(max_examples=60)
@given(project=projects(8), data=st.data())
def test_justification_never_lengthens(project: Project, data: st.DataObject) -> None:
    starts = list(serial_schedule(project, project.topological_order))
    gap = data.draw(st.integers(0, 5))  # a schedule that isn't active: all later jobs are put off
    at = data.draw(st.integers(0, project.makespan(starts)))
    starts = [start + gap if start >= at else start for start in starts]
    if faults(project, starts):
        return
    better = double_justification(project, starts)
    assert faults(project, better) == []
    assert project.makespan(better) <= project.makespan(starts)


def test_capacities_of_any_size_are_packed() -> None:
    """Resources that share a word or fill their own; jobs 1 and 2 clash over the last unit of the first."""
    for large in (1, 7, 8, (1 << 30) - 1, 1 << 59, (1 << 60) + 1, (1 << 61) - 1):
        for small in (1, 4, 31):
            capacities = (large, small, large)
            whole, one, none = (large, small, large), (1, 0, 0), (0, 0, 0)
            project = Project((2, 3, 4), (whole, one, none), capacities, ((), (), ()))
            assert serial_schedule(project, (0, 1, 2)) == (0, 2, 0)
            almost = (large - 1, small, large)
            project = Project((2, 3, 4), (almost, one, none), capacities, ((), (), ()))
            assert serial_schedule(project, (0, 1, 2)) == (0, 0, 0)
    with pytest.raises(SchedulingError, match=r"^Resource 1 has capacity 2305843009213693952, expected less"):
        serial_schedule(Project((1,), ((1,),), (1 << 61,), ((),)), (0,))


def test_lists_that_are_none(area: Path) -> None:
    project = read_project(area)
    for order, sentence in [
        ((3, 0, 1, 2), "The list has job 4 before its predecessor 1."),
        ((0, 0, 1, 2), "The list has job 1 twice, expected each once."),
        ((0, 1), "The list has 2 jobs, expected all 4."),
        ((0, 9), "The list names job 10, expected one of 1 to 4."),
    ]:
        with pytest.raises(SchedulingError) as caught:
            serial_schedule(project, order)
        assert str(caught.value) == sentence
    with pytest.raises(SchedulingError, match=r"^Job 4 starts at 0, before job 1 ends at 1"):
        double_justification(project, (0, 1, 5, 0))


def test_durations_too_long_for_a_profile_are_refused() -> None:
    for length in (200_000_000, 10**18, 10**30):
        with pytest.raises(SchedulingError, match=rf"^A schedule may last {length}, with 1 words"):
            serial_schedule(Project((length,), ((1,),), (1,), ((),)), (0,))


@pytest.mark.parametrize(
    ("starts", "sentences"),
    [
        ((0, 4, 0, 1), []),
        ((1, 5, 1, 2), []),
        ((0, 4, 0), ["There are 3 starts for 4 jobs."]),
        ((-1, 4, 0, 1), ["Job 1 starts at -1, before 0."]),
        ((1, 5, 1, 1), ["Job 4 starts at 1, before job 1 ends at 2.",
                        "At 1, 3 of resource 1 are in use, more than its 2."]),
        ((0, 3, 0, 1), ["At 3, 4 of resource 1 are in use, more than its 2."]),
        ((0, 4, 1, 1), ["At 4, 3 of resource 1 are in use, more than its 2."]),
    ],
)  # fmt: skip
def test_the_validator_finds_each_fault(area: Path, starts: tuple[int, ...], sentences: list[str]) -> None:
    assert faults(read_project(area), starts) == sentences


@pytest.mark.parametrize("module", FORMS, ids=["compiled", "plain"])
def test_random_numbers_are_those_of_the_generator(module) -> None:
    """After k steps a state is a^k times the first, modulo m; below 10, all are drawn about as often."""
    chance = chance_from(module, 12_345)
    first = [int(c) for c in chance]
    counts = [0] * 10
    for step in range(1, 5001):
        drawn = module.draw(chance, 10)
        one = pow(40_014, step, MODULI[0]) * first[0] % MODULI[0]
        two = pow(40_692, step, MODULI[1]) * first[1] % MODULI[1]
        assert [int(c) for c in chance] == [one, two]
        assert drawn == (one - two) % (MODULI[0] - 1) * 10 // (MODULI[0] - 1)
        counts[drawn] += 1
    # chi-squared, 9 degrees of freedom: 27.9 is passed by chance once in a thousand seeds
    assert sum((c - 500) ** 2 for c in counts) / 500 < 27.9


def test_the_forms_are_two() -> None:
    assert [is_compiled(module) for module in FORMS] == [True, False]
    assert isinstance(numbers(FORMS[1], [1]), list)
