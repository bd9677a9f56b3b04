"""Exact water filling: cases worked by hand, properties, and certificates that can't be forged."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling_core.allocation import (
    Allocation,
    CertificateError,
    Problem,
    agnostic,
    check,
    water_fill,
)
from scheduling_core.crosscheck import Jobs, exact_levels

# Measured steps/s on K80, P100, V100 of six jobs of the experiment, to be perturbed.
MEASURED = np.array(
    [
        [0.981583, 3.073535, 5.446105],
        [3.438768, 5.681346, 7.175767],
        [0.458331, 1.677696, 1.595141],
        [7.175821, 35.825354, 29.947157],
        [0.347224, 1.584352, 2.496766],
        [17.142290, 58.172672, 64.742451],
    ]
)


def thousandths(low: float, high: float) -> st.SearchStrategy[float]:
    return st.integers(round(1000 * low), round(1000 * high)).map(lambda n: n / 1000)


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Jobs of the experiment with rates, weights, arrivals and cluster perturbed."""
    jobs = draw(st.integers(1, 12))
    kinds = draw(st.lists(st.integers(0, 5), min_size=jobs, max_size=jobs))
    noise = draw(st.lists(thousandths(0.5, 2), min_size=3 * jobs, max_size=3 * jobs))
    some = lambda values: st.lists(values, min_size=jobs, max_size=jobs)  # noqa: E731
    problem = Problem.of(
        MEASURED[kinds] * np.reshape(noise, (jobs, 3)),
        draw(st.lists(st.integers(1, 6), min_size=3, max_size=3)),
        workers=draw(some(st.sampled_from([1, 1, 1, 2]))),
        entity=draw(some(st.integers(0, 2))),
        entity_weights=draw(st.lists(thousandths(0.25, 4), min_size=3, max_size=3)),
        job_weights=draw(some(thousandths(0.5, 2))),
    )
    return agnostic(problem) if draw(st.booleans()) else problem


def second_opinion(problem: Problem) -> np.ndarray[Any, Any]:
    return exact_levels(
        Jobs(
            problem.rates,
            problem.capacity,
            problem.workers,
            problem.entity,
            problem.entity_weights,
            problem.job_weights,
        )
    )


def test_one_job_takes_the_best_type_all_the_time() -> None:
    """Rates 1, 3 on one GPU each: an even share makes 2 steps/s, the fast GPU 3, so 1.5."""
    allocation = water_fill(Problem.of([[1, 3]], [1, 1]))
    assert allocation.levels == pytest.approx([1.5])
    assert allocation.x == pytest.approx(np.array([[0, 1]]))


def test_weights_one_to_two_share_one_gpu_as_one_to_two() -> None:
    problem = Problem.of([[1], [1]], [1], entity=[0, 1], entity_weights=[1, 2])
    allocation = water_fill(problem)
    assert allocation.levels == pytest.approx([1 / 3, 2 / 3])
    check(problem, allocation)


def test_comparative_advantage() -> None:
    """Two jobs, two GPUs, each twice as fast on another one: each gets its own, 2 / 1.5 = 4/3."""
    problem = Problem.of([[2, 1], [1, 2]], [1, 1])
    allocation = water_fill(problem)
    assert allocation.levels == pytest.approx([4 / 3, 4 / 3])
    assert allocation.x == pytest.approx(np.eye(2))


def test_what_one_job_cannot_use_goes_to_its_entity_first() -> None:
    """Weights 2:1, the 2 split 2:1 again, so levels rise by (4/3, 2/3, 1) c.

    Two GPUs are used up at c = 2/3.  With 2.5 GPUs job 0 is full at c = 3/4, where the others have
    1/2 and 3/4; its share goes to job 1, and the quarter GPU left is split 2:1.
    """
    problem = Problem.of(np.ones((3, 1)), [2], entity=[0, 0, 1], entity_weights=[2, 1], job_weights=[2, 1, 1])
    assert water_fill(problem).levels == pytest.approx([8 / 9, 4 / 9, 2 / 3])
    more = replace(problem, capacity=np.array([2.5]))
    allocation = water_fill(more)
    assert allocation.levels == pytest.approx([1, 1 / 2 + 1 / 6, 3 / 4 + 1 / 12])
    assert [r.saturated for r in allocation.rounds] == [(0,), (1, 2)]
    check(more, allocation)


def test_a_wide_job_pays_for_each_gpu() -> None:
    """Width 2 against width 1 on two GPUs at equal weight: levels 1/2 and 1, one GPU each."""
    problem = Problem.of([[1], [1]], [2], workers=[2, 1])
    assert water_fill(problem).levels == pytest.approx([1 / 2, 1])


def test_fifo_serves_the_second_job_when_the_first_is_full() -> None:
    problem = Problem.of(np.ones((3, 1)), [1.5], split="fifo")
    allocation = water_fill(problem)
    assert allocation.levels == pytest.approx([1, 0.5, 0])
    check(problem, allocation)


def test_an_agnostic_score_is_true_at_real_rates() -> None:
    """Its x spreads time over all types in proportion, so true progress equals the level."""
    problem = Problem.of(MEASURED, [3, 3, 3])
    allocation = water_fill(agnostic(problem))
    assert problem.progress(allocation.x) == pytest.approx(allocation.scores)


@settings(max_examples=60)
@given(problems())
def test_levels_agree_with_the_independent_linear_programs(problem: Problem) -> None:
    """Two programs, one policy: scheduling_core.crosscheck shares no code with what it checks."""
    allocation = water_fill(problem)
    assert allocation.levels == pytest.approx(second_opinion(problem), rel=1e-9, abs=1e-9)
    check(problem, allocation)


@settings(max_examples=30)
@given(problems(), st.randoms(use_true_random=False))
def test_the_order_of_jobs_does_not_matter(problem: Problem, random: Any) -> None:
    order = list(range(problem.jobs))
    random.shuffle(order)
    levels = water_fill(problem).levels
    assert water_fill(problem.subset(order)).levels == pytest.approx(levels[order], rel=1e-9)


@settings(max_examples=30)
@given(problems(), thousandths(0.01, 100), thousandths(0.01, 100))
def test_units_do_not_matter(problem: Problem, factor: float, weights: float) -> None:
    """Steps of one job may be counted in any unit; only ratios of entity weights count."""
    rates = problem.rates.copy()
    rates[0] *= factor
    scaled = replace(problem, rates=rates, entity_weights=problem.entity_weights * weights)
    allocation = water_fill(scaled)
    assert allocation.levels == pytest.approx(water_fill(problem).levels, rel=1e-9)
    check(scaled, allocation)


@settings(max_examples=20)
@given(problems())
def test_identical_jobs_get_the_same(problem: Problem) -> None:
    doubled = problem.subset([*range(problem.jobs), *range(problem.jobs)])
    levels = water_fill(doubled).levels
    assert levels[: problem.jobs] == pytest.approx(levels[problem.jobs :], rel=1e-12)
    assert levels == pytest.approx(second_opinion(doubled), rel=1e-9, abs=1e-9)


def tampered(problem: Problem, allocation: Allocation, what: str, at: float) -> Allocation:
    """The allocation with one number changed; ``at`` in [0, 1) chooses which."""
    job, kind = int(at * problem.jobs), int(at * problem.types)
    assert allocation.certificate is not None
    proofs = list(allocation.certificate)
    turn = int(at * len(proofs))
    proof = proofs[turn]
    if what in ("levels", "scores"):
        values = getattr(allocation, what).copy()
        values[job] += 1e-6
        return replace(allocation, **{what: values})
    if what == "x":
        x = allocation.x.copy()
        x[job] *= 0.99
        return replace(allocation, x=x)
    if what == "more x":
        return replace(allocation, x=allocation.x * 1.01)
    if what == "increment":
        proofs[turn] = replace(proof, increment=proof.increment * 1.001 + 1e-4)
    elif what == "job price":
        y = proof.job_prices.copy()
        y[proof.saturated[0]] *= 1.01
        proofs[turn] = replace(proof, job_prices=y)
    elif what == "negative price":
        pi = proof.type_prices.copy()
        pi[kind] = -0.1
        proofs[turn] = replace(proof, type_prices=pi)
    elif what == "type price":
        pi = proof.type_prices.copy()
        pi[kind] += 10 * (1 + pi @ problem.capacity + proof.job_prices.sum() * 10)
        proofs[turn] = replace(proof, type_prices=pi)
    elif what == "saturated too few":
        proofs[turn] = replace(proof, saturated=proof.saturated[1:])
    elif what == "saturated twice":
        proofs[turn] = replace(proof, saturated=proof.saturated + proofs[0].saturated[:1] * 2)
        if turn == 0:
            proofs.append(proofs[0])
    elif what == "round lost":
        del proofs[turn]
    return replace(allocation, certificate=tuple(proofs))


CHANGES = (
    "levels",
    "scores",
    "x",
    "more x",
    "increment",
    "job price",
    "negative price",
    "type price",
    "saturated too few",
    "saturated twice",
    "round lost",
)


@pytest.mark.parametrize("what", CHANGES)
@settings(max_examples=15)
@given(problem=problems(), at=st.floats(0, 0.999))
def test_a_tampered_certificate_is_rejected(what: str, problem: Problem, at: float) -> None:
    allocation = water_fill(problem)
    check(problem, allocation)
    with pytest.raises(CertificateError):
        check(problem, tampered(problem, allocation, what, at))


def test_a_job_that_could_gain_is_not_shown_as_saturated() -> None:
    """Job 1 waits at 1/3 while it could have 1: no price proves otherwise."""
    problem = Problem.of([[1], [1]], [9], entity=[0, 1], entity_weights=[3, 1])
    allocation = water_fill(problem)
    assert allocation.certificate is not None
    first = replace(allocation.certificate[0], saturated=(0, 1))
    lower = np.array([1, 1 / 3])
    claim = replace(allocation, levels=lower, scores=lower, x=lower[:, None], certificate=(first,))
    with pytest.raises(CertificateError, match="does not prove that job 1 can gain no more"):
        check(problem, claim)


def test_a_feasible_but_unfair_allocation_is_rejected() -> None:
    """Levels 1/2, 1/2 under weights 1:2 are feasible; the certificate of the optimum won't fit."""
    problem = Problem.of([[1], [1]], [1], entity=[0, 1], entity_weights=[1, 2])
    equal = np.array([0.5, 0.5])
    claim = replace(water_fill(problem), levels=equal, scores=equal, x=equal[:, None])
    with pytest.raises(CertificateError, match=r"The level of job 0 is 0\.5, expected 0\.33"):
        check(problem, claim)


def test_published_allocations_carry_no_certificate() -> None:
    problem = Problem.of([[1]], [1])
    with pytest.raises(CertificateError, match="mode 'published' carries no certificate"):
        check(problem, water_fill(problem, "published"))
