"""Fronts over whole schedules: hypervolume by hand and by Monte Carlo; none dominated, no limit broken."""

import math
import random
from dataclasses import replace

import pytest
from admission_cases import attempt as attempt_of
from admission_cases import workload
from hypothesis import given
from hypothesis import strategies as st

from scheduling_core.admission.attempts import Workload
from scheduling_core.admission.metrics import metrics
from scheduling_core.admission.replay import fifo
from scheduling_core.admission.schedule import Limits, Policy
from scheduling_core.admission.search import Goal, Measure, Resource
from scheduling_core.admission.search import front as module
from scheduling_core.admission.search.engine import search
from scheduling_core.admission.search.front import Front, Point, dominates, front, front_of, hypervolume
from scheduling_core.admission.search.problem import problem_of
from scheduling_core.admission.validate import validate
from scheduling_core.errors import SchedulingError

RAM, IMAGES, SLOTS = Goal(Resource.RAM), Goal(Resource.IMAGES, Measure.HOURS), Goal(Resource.SLOTS)
MIB = 1 << 10
ASKED = {"seed": 3, "budget": 60_000, "levels": 3}


def alternating(pairs: int = 4) -> Workload:
    """Two images by turns, set-up before each call: FIFO mixes images and starts set-ups together."""
    return workload(
        *(
            attempt_of(
                f"a{k}", f"setup {4 + k % 3} model {10 + k} tool 3", image=f"i{k % 2}", task=f"t{k % 2}",
                image_kib=(2 + k % 2) * MIB,
            )
            for k in range(2 * pairs)
        )
    )  # fmt: skip


def by_fifo(of: Workload, slots: int = 3) -> Limits:
    return Limits(slots, deadline=metrics(of, fifo(of, Limits(slots))).makespan)


@pytest.fixture(scope="module")
def found() -> Front:
    of = alternating()
    return front(of, [RAM, IMAGES], Policy.ACTIVE, by_fifo(of), **ASKED)


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([], 0.0),
        # One point: the box between it and the reference.
        ([(0.25, 0.5)], 0.75 * 0.5),
        # Two steps: .75 x .25 above .75, and the rest .5 x ... (1-.25)(1-.75) + (1-.5)(.75-.25).
        ([(0.25, 0.75), (0.5, 0.25)], 0.75 * 0.25 + 0.5 * 0.5),
        # A dominated point, and one on the border of the box, add nothing.
        ([(0.25, 0.75), (0.5, 0.25), (0.5, 0.75), (1.0, 0.0)], 0.4375),
        # Three goals: .5^3 and a slab of .25 x 1 x 1 that overlaps it in .25 x .5 x .5.
        ([(0.5, 0.5, 0.5), (0.75, 0.0, 0.0)], 0.125 + 0.25 - 0.0625),
    ],
)
def test_hypervolume_by_hand(points: list[tuple[float, ...]], expected: float) -> None:
    size = len(points[0]) if points else 2
    assert hypervolume(points, (1.0,) * size) == expected


@pytest.mark.parametrize("goals", [2, 3, 4])
def test_hypervolume_is_in_the_interval_of_a_monte_carlo_estimate(goals: int) -> None:
    """99.99 % of the estimates of 20,000 throws lie within 3.89 standard errors."""
    dice = random.Random(goals)
    points = [tuple(dice.random() for _ in range(goals)) for _ in range(8)]
    throws = 20_000
    hits = sum(
        any(all(v <= x for v, x in zip(p, thrown, strict=True)) for p in points)
        for thrown in (tuple(dice.random() for _ in range(goals)) for _ in range(throws))
    )
    share = hits / throws
    error = math.sqrt(share * (1 - share) / throws)
    assert abs(hypervolume(points, (1.0,) * goals) - share) < 3.89 * error


@given(st.lists(st.tuples(*[st.integers(0, 4)] * 3), max_size=6), st.tuples(*[st.integers(1, 5)] * 3))
def test_hypervolume_counts_the_cells_of_a_whole_grid(
    points: list[tuple[int, ...]], reference: tuple[int, ...]
) -> None:
    cells = [
        (x, y, z) for x in range(reference[0]) for y in range(reference[1]) for z in range(reference[2])
        if any(all(v <= c for v, c in zip(p, (x, y, z), strict=True)) for p in points)
    ]  # fmt: skip
    assert hypervolume(points, reference) == len(cells)


def test_to_dominate_is_to_be_lower_somewhere_and_higher_nowhere() -> None:
    assert dominates((1, 2), (1, 3))
    assert not dominates((1, 2), (1, 2))
    assert not dominates((1, 2), (2, 1))


def test_no_schedule_on_the_front_is_dominated_and_every_beaten_one_is(found: Front) -> None:
    for point in found.points:
        beaten = any(dominates(other.values, point.values) for other in found.points)
        assert point.dominated == beaten
    values = [point.values for point in found.best]
    assert len(set(values)) == len(values)
    assert {p.values for p in found.points if not p.dominated} == set(values)


def test_every_schedule_keeps_the_limits_and_its_values_are_the_validators(found: Front) -> None:
    of = alternating()
    rows = [a.row() for a in of.attempts]
    for point in found.points:
        outcome = validate(rows, point.schedule.row(), point.metrics.integers())
        assert outcome.violations == ()
        assert point.values == (outcome.metrics["ram_peak"], outcome.metrics["images_kib_ticks"])
        assert point.schedule.limits == by_fifo(of)
    assert len({point.schedule.sha256 for point in found.points}) == len(found.points)


def test_the_front_gains_over_fifo_in_both_goals_and_reaches_each_alone(found: Front) -> None:
    of = alternating()
    for place, goal in enumerate((RAM, IMAGES)):
        problem = problem_of(of, goal, Policy.ACTIVE, by_fifo(of))
        alone = search(problem, seed=3, budget=10_000, chains=2)
        assert min(point.values[place] for point in found.best) <= alone.value < found.reference[place]
    assert 0 < found.hypervolume < 1


def test_the_same_seed_and_budget_give_the_same_front(found: Front) -> None:
    again = front(alternating(), [RAM, IMAGES], Policy.ACTIVE, by_fifo(alternating()), **ASKED)
    assert [p.schedule.row() for p in again.points] == [p.schedule.row() for p in found.points]
    assert again == found


@pytest.mark.oracle
def test_two_workers_give_the_same_front(found: Front) -> None:
    of = alternating()
    two = front(of, [RAM, IMAGES], Policy.ACTIVE, by_fifo(of), workers=2, **ASKED)
    assert [p.schedule.row() for p in two.points] == [p.schedule.row() for p in found.points]
    assert two == found


def test_three_goals_with_caps_on_slots_and_ram() -> None:
    of = alternating(3)
    looked = front(of, [SLOTS, RAM, IMAGES], Policy.ACTIVE, by_fifo(of), seed=1, budget=40_000, levels=2)
    rows = [a.row() for a in of.attempts]
    for point in looked.points:
        assert validate(rows, point.schedule.row(), point.metrics.integers()).violations == ()
        assert point.values == (
            point.metrics.slots.peak, point.metrics.ram.peak, point.metrics.images.kib_ticks,
        )  # fmt: skip
    assert not any(dominates(a.values, b.values) for a in looked.best for b in looked.best)


def test_caps_that_no_schedule_keeps_are_told_and_stop_nothing() -> None:
    """b has to fill the deadline. a's tool time is beside b's set-up (RAM of 2), or its call beside b's."""
    of = workload(attempt_of("a", "tool 2 model 2"), attempt_of("b", "setup 4 model 4"))
    goals = [IMAGES, RAM, Goal(Resource.PARKED)]
    looked = front(of, goals, Policy.ACTIVE, Limits(2, deadline=8), seed=1, budget=3_000, levels=2)
    assert looked.unmet == ("ram peak <= 2 GiB, parked peak <= 2 GiB",)
    pairs = {(p.metrics.ram.peak // 2097152, p.metrics.parked.peak // 2097152) for p in looked.points}
    assert pairs == {(2, 1), (1, 2)}


def test_fifo_after_the_deadline_is_the_reference_and_no_point() -> None:
    """12 + 4 + 4 on two slots in order of arrival 4, 4, 12 end at 16; longest first they end at 12."""
    of = workload(attempt_of("a", "tool 4"), attempt_of("b", "tool 4"), attempt_of("c", "tool 12"))
    looked = front(of, [RAM, IMAGES], Policy.ACTIVE, Limits(2, deadline=12), seed=1, budget=600, levels=2)
    assert looked.reference[1] == 16 * 3 * (1 << 20)
    assert "fifo" not in {point.name for point in looked.points}
    assert all(point.metrics.makespan <= 12 for point in looked.points)
    with pytest.raises(SchedulingError, match="No priority ends by the deadline 12 on 1 slots"):
        front(of, [RAM, IMAGES], Policy.ACTIVE, Limits(1, deadline=12), seed=1, budget=600)


def test_a_limit_that_priorities_break_keeps_them_off_the_front() -> None:
    """Parked RAM of one attempt at most: FIFO parks two at once, and isn't among the points."""
    of = workload(attempt_of("a", "setup 2 model 6 tool 2"), attempt_of("b", "setup 2 model 6 tool 2"))
    limits = Limits(2, deadline=30, parked_kib=2 << 20)
    looked = front(of, [RAM, IMAGES], Policy.ACTIVE, limits, seed=1, budget=2_000, levels=2)
    assert looked.points
    for point in looked.points:
        assert point.metrics.parked.peak == 2 << 20
        assert validate([a.row() for a in of.attempts], point.schedule.row()).violations == ()


def test_weights_choose_a_whole_schedule_of_the_front(found: Front) -> None:
    lowest_ram = min(found.best, key=lambda p: p.values[0])
    lowest_images = min(found.best, key=lambda p: p.values[1])
    assert found.weighted({RAM: 1, IMAGES: 0}).values[0] == lowest_ram.values[0]
    assert found.weighted({RAM: 0, IMAGES: 1}).values[1] == lowest_images.values[1]
    assert found.weighted() == found.weighted({RAM: 2.0, IMAGES: 2.0})
    assert found.weighted({IMAGES: 1.0}) == found.weighted()  # not given is 1, not 0


def made_up(*values: tuple[int, int]) -> Front:
    of = workload(attempt_of("a", "tool 4"))
    schedule = fifo(of, Limits(1))
    figures = metrics(of, schedule)
    points = [Point(str(k), schedule, figures, pair) for k, pair in enumerate(values)]
    return front_of(Front((RAM, IMAGES), (), (10, 100), 0.0, 0), points)


def test_the_weighted_mean_by_hand() -> None:
    """Over FIFO's 10 and 100: (.2, .9), (.5, .5), (.9, .1); by 1 : 1 the last two tie at .5."""
    looked = made_up((2, 90), (5, 50), (9, 10), (9, 60))
    assert [point.dominated for point in looked.points] == [False, False, False, True]
    assert looked.weighted().name == "1"
    assert looked.weighted({RAM: 3, IMAGES: 1}).name == "0"  # (.6 + .9) / 4 = .375 < .5
    assert looked.weighted({RAM: 1, IMAGES: 3}).name == "2"  # (.9 + .3) / 4 = .3
    # (1 - .2)(1 - .9) + (1 - .5)(.9 - .5) + (1 - .9)(.5 - .1)
    assert looked.hypervolume == pytest.approx(0.08 + 0.2 + 0.04, abs=1e-12)


def test_of_equal_values_the_first_is_on_the_front_and_neither_is_dominated() -> None:
    looked = made_up((2, 90), (2, 90))
    assert [point.dominated for point in looked.points] == [False, False]
    assert [point.name for point in looked.best] == ["0"]


def test_a_figure_that_is_0_for_fifo_divides_nothing() -> None:
    looked = made_up((0, 50), (0, 90))
    free = replace(looked, reference=(0, 100))
    assert front_of(free, looked.points).hypervolume == 0.5
    assert free.weighted().name == "0"


def test_an_interrupted_search_ends_the_front(monkeypatch: pytest.MonkeyPatch) -> None:
    """After Ctrl-C in the second search there is no third."""
    of = alternating(2)
    seen = []

    def searched(*arguments: object, **how: object) -> object:
        result = search(*arguments, **how)  # type: ignore[arg-type]
        seen.append(result)
        return replace(result, stopped="interrupted") if len(seen) == 2 else result

    monkeypatch.setattr(module, "search", searched)
    looked = front(of, [RAM, IMAGES], Policy.ACTIVE, by_fifo(of), seed=3, budget=6_000, levels=3)
    assert (len(seen), looked.stopped) == (2, "interrupted")
    assert looked.points


def test_progress_rises_to_what_was_looked_at() -> None:
    of = alternating(2)
    told: list[tuple[int, int]] = []
    looked = front(
        of, [RAM, IMAGES], Policy.ACTIVE, by_fifo(of), seed=3, budget=6_000, levels=2,
        progress=lambda done, budget: told.append((done, budget)),
    )  # fmt: skip
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1] == (looked.candidates, 6_000)


def test_metrics_are_computed_once_for_each_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five priorities and FIFO, and no more for more caps: searches bring their own."""
    of = alternating(2)
    counted = []

    def count(*arguments: object) -> object:
        counted.append(arguments)
        return metrics(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "metrics", count)
    for levels in (2, 6):
        counted.clear()
        front(of, [RAM, IMAGES], Policy.ACTIVE, by_fifo(of), seed=3, budget=600, levels=levels)
        assert len(counted) <= 6


@pytest.mark.parametrize(
    ("goals", "sentence"),
    [
        ([RAM], "two goals or more"),
        ([RAM, RAM], "each once"),
    ],
)
def test_goals_that_make_no_front(goals: list[Goal], sentence: str) -> None:
    of = alternating(1)
    with pytest.raises(SchedulingError, match=sentence):
        front(of, goals, Policy.ACTIVE, by_fifo(of), seed=1, budget=10)


def test_refusals_name_what_is_wrong(found: Front) -> None:
    of = alternating(1)
    for asked in ({"budget": 0}, {"budget": 10, "levels": 0}):
        with pytest.raises(SchedulingError, match="expected 1 or more of each"):
            front(of, [RAM, IMAGES], Policy.ACTIVE, by_fifo(of), seed=1, **asked)
    for weights in ({RAM: 0.0, IMAGES: 0.0}, {RAM: -1.0}, {RAM: math.nan}, {RAM: math.inf}):
        with pytest.raises(SchedulingError, match="expected numbers from 0, one of them above it"):
            found.weighted(weights)
    with pytest.raises(SchedulingError, match="A weight is given for slots peak, expected one of ram peak"):
        found.weighted({SLOTS: 1.0})
