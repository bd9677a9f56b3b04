"""The rules that the public code adds to the stated policy, on cases small enough to do by hand.

One GPU type makes every normalised rate 1 and the constant M = 1, so levels can be followed with a
pencil.  Levels are met to the interior point's 1e-8.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling_core.allocation import Problem, agnostic, interior_point, water_fill
from scheduling_core.allocation.level_cone import LevelCone
from scheduling_core.allocation.level_lp import LevelProgram


def two_jobs(first: float, second: float) -> Problem:
    """Two entities with one job each and ten GPUs, so that only time limits a job."""
    return Problem.of([[1], [1]], [10], entity=[0, 1], entity_weights=[first, second])


def test_the_increment_is_capped_and_the_loop_stops_with_capacity_unused() -> None:
    """Weights 1/2 and 9/2: job 1 is full at c = 2/9, where job 0 has 1/9.

    Then job 0 alone could rise by 8/9, that is c = 16/9; M = 1 caps c, so it gets 1/9 + 1/2 and no
    new job saturates: the loop ends.  The policy as stated gives it a whole GPU.
    """
    problem = two_jobs(0.5, 4.5)
    published = water_fill(problem, "published")
    assert published.levels == pytest.approx([1 / 9 + 1 / 2, 1], abs=1e-7)
    assert [r.saturated for r in published.rounds] == [(1,), ()]
    assert published.rounds[-1].increment == pytest.approx(1, abs=1e-7)
    assert water_fill(problem).levels == pytest.approx([1, 1])


def test_a_score_is_where_the_interior_point_stops_on_the_optimal_face() -> None:
    """In the case above any score of job 0 from 11/18 to 1 is optimal; it ends well inside."""
    score = water_fill(two_jobs(0.5, 4.5), "published").scores[0]
    assert 0.7 < score < 0.95


def test_without_a_cap_in_the_way_published_agrees_with_exact() -> None:
    """Weights 1 and 9: job 0 can rise by 8/9 < M after job 1 is full."""
    published = water_fill(two_jobs(1, 9), "published")
    assert published.levels == pytest.approx([1, 1], abs=1e-7)
    assert published.scores == pytest.approx([1, 1], abs=1e-7)


@pytest.mark.parametrize(("weight", "level"), [(0.99995, 0.99995), (0.9998, 1.0)])
def test_a_job_that_can_gain_less_than_a_hundredth_of_a_percent_is_saturated(
    weight: float, level: float
) -> None:
    """At c = 1 job 0 is full.  Job 1 could still gain 0.005 % (too little) or 0.02 % (enough)."""
    published = water_fill(two_jobs(1, weight), "published")
    assert published.levels == pytest.approx([1, level], abs=1e-7)
    assert water_fill(two_jobs(1, weight)).levels == pytest.approx([1, 1])


@pytest.mark.parametrize(("crowd", "level"), [(15, 2.0), (25, 1.0)])
def test_a_level_below_a_tenth_saturates_everybody(crowd: int, level: float) -> None:
    """A crowd shares type 0, a job of weight 1/2 has type 1 for itself; all normalised rates are 2.

    At c = 2 the crowd is stuck at 2/15 = 0.133 or 2/25 = 0.08, the single job at 1, free to rise
    to 2.  Below 0.1 the public code's integer program is infeasible and the single job is declared
    saturated with the crowd.
    """
    rates = np.vstack([np.tile([1.0, 0.0], (crowd, 1)), [[0.0, 1.0]]])
    problem = Problem.of(rates, [1, 1], entity=[0] * crowd + [1], entity_weights=[1, 0.5])
    published = water_fill(problem, "published")
    assert published.levels[:-1] == pytest.approx([2 / crowd] * crowd, abs=1e-7)
    assert published.levels[-1] == pytest.approx(level, abs=1e-7)
    assert water_fill(problem).levels[-1] == pytest.approx(2.0)


def test_first_saturates_every_filling_job_after_one_round() -> None:
    first = water_fill(two_jobs(1, 9), "first")
    assert first.levels == pytest.approx([1 / 9, 1], abs=1e-7)
    assert [r.saturated for r in first.rounds] == [(0, 1)]


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    jobs, types = draw(st.integers(1, 8)), draw(st.integers(1, 4))
    rate = st.integers(1, 40).map(lambda n: n / 4)
    problem = Problem.of(
        np.reshape(draw(st.lists(rate, min_size=jobs * types, max_size=jobs * types)), (jobs, -1)),
        draw(st.lists(st.integers(1, 5), min_size=types, max_size=types)),
        entity=draw(st.lists(st.integers(0, 2), min_size=jobs, max_size=jobs)),
        entity_weights=draw(st.lists(st.sampled_from([1, 2, 3]), min_size=3, max_size=3)),
        job_weights=draw(st.lists(st.sampled_from([1, 2]), min_size=jobs, max_size=jobs)),
    )
    return agnostic(problem) if draw(st.booleans()) else problem


@settings(max_examples=40)
@given(problems())
def test_published_allocations_are_feasible_and_keep_their_levels(problem: Problem) -> None:
    published = water_fill(problem, "published")
    slack = 1e-6
    assert (published.x >= -slack).all()
    assert (published.x.sum(axis=1) <= 1 + slack).all()
    assert (problem.workers @ published.x <= problem.capacity + slack).all()
    assert (published.scores >= published.levels - slack).all()
    assert published.scores.tolist() == problem.progress(published.x).tolist()


@settings(max_examples=25)
@given(problems())
def test_the_interior_point_finds_the_simplex_optimum(problem: Problem) -> None:
    """HiGHS solves the same round by another method; the increments must agree to 1e-7."""
    weights = problem.weights(np.zeros(problem.jobs, dtype=bool))
    levels = np.zeros(problem.jobs)
    x = LevelCone.allocation(cone := LevelCone(problem, levels, weights, 1.0), interior_point.solve(cone).v)
    slopes = weights / problem.workers
    program = LevelProgram(problem.normalised, problem.workers, problem.capacity, np.ones(problem.jobs))
    best = program.rise_together(levels, slopes).increment
    assert (problem.progress(x) / slopes).min() == pytest.approx(best, rel=1e-7)


def test_the_interior_point_ends_at_the_centre_of_a_face() -> None:
    """One job on two equal GPUs: any split of its time is optimal, the symmetric one is central."""
    published = water_fill(agnostic(Problem.of([[1, 1]], [1, 1])), "published")
    assert published.x == pytest.approx(np.array([[0.5, 0.5]]), abs=1e-9)


@settings(max_examples=10)
@given(problems(), st.randoms(use_true_random=False))
def test_the_order_of_jobs_does_not_matter(problem: Problem, random: object) -> None:
    order = list(range(problem.jobs))[::-1]
    scores = water_fill(problem, "published").scores
    assert water_fill(problem.subset(order), "published").scores == pytest.approx(scores[order], rel=1e-6)
