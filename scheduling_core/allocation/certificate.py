"""Proofs of exact allocations, checked with numpy alone: no solver takes part.

Each filling round r raises the jobs with weights w from levels L to L + c g, g = w / s.  For any
prices y (m,) >= 0 of the jobs and pi (n,) >= 0 of the types, every feasible x obeys

    sum_i y_i f_i(x) <= B = sum_j pi_j K_j + sum_i max(0, max_j (y_i a_ij - s_i pi_j))

(weak duality: mu_i, the second term, pays for job i's time).  Hence

- with y.g = 1, no increment above B - y.L is possible: c is optimal if it reaches that bound;
- at the new levels L', job i can gain at most (B - y.L') / y_i while the others keep theirs: a
  job with y_i > 0 in a tight round is saturated, then and in every later round, where floors have
  only risen.

The final x shows that all levels are reached together.  Optimality of each increment plus
saturation of every job is the definition of weighted max-min fairness by water filling (OSDI 2020,
section 4.3), so a certificate that passes proves the levels, whoever computed them.
"""

from __future__ import annotations

import numpy as np

from scheduling_core.allocation.problem import Floats, Problem
from scheduling_core.allocation.result import Allocation, Proof
from scheduling_core.errors import CertificateError

# Absolute, for quantities of order 1: levels, fractions of time, gains; relative above 1.
TOLERANCE = 1e-8
ROUNDING = 1e-15  # of a bound: a price too small to rise above it proves nothing


def bound(problem: Problem, job_prices: Floats, type_prices: Floats) -> float:
    """B: no feasible x has sum_i y_i f_i(x) above it."""
    surplus = (job_prices[:, None] * problem.normalised - problem.workers[:, None] * type_prices).max(axis=1)
    return float(type_prices @ problem.capacity + np.maximum(surplus, 0.0).sum())


def check(problem: Problem, allocation: Allocation, tolerance: float = TOLERANCE) -> None:
    """Verify that an exact allocation is what the policy asks for.

    Raises
    ------
    CertificateError : naming the first statement that does not hold.
    """
    if allocation.certificate is None:
        raise CertificateError(
            f"An allocation of mode {allocation.mode!r} carries no certificate, expected 'exact'."
        )
    _check_allocation(problem, allocation, tolerance)
    levels = np.zeros(problem.jobs)
    saturated = np.zeros(problem.jobs, dtype=bool)
    for number, proof in enumerate(allocation.certificate, start=1):
        levels = _check_round(problem, levels, saturated, proof, number, tolerance)
        saturated[list(proof.saturated)] = True
    if not saturated.all():
        raise CertificateError(
            f"Job {np.flatnonzero(~saturated)[0]} is never shown to be saturated, expected all."
        )
    _agree("level", allocation.levels, levels, tolerance)


def _check_allocation(problem: Problem, allocation: Allocation, tolerance: float) -> None:
    """x is feasible and gives every job its level, which is its score."""
    x, levels = allocation.x, allocation.levels
    if x.shape != problem.rates.shape or levels.shape != (problem.jobs,):
        raise CertificateError(
            f"The allocation has shape {x.shape} with {levels.shape} levels, "
            f"expected {problem.rates.shape} with ({problem.jobs},)."
        )
    if not (np.isfinite(x).all() and np.isfinite(levels).all()):
        raise CertificateError("The allocation holds NaN or infinity, expected finite numbers.")
    if (x < -tolerance).any():
        raise CertificateError(f"A fraction of time is {x.min()}, expected 0 or more.")
    time = x.sum(axis=1)
    if (time > 1 + tolerance).any():
        raise CertificateError(f"Job {time.argmax()} runs {time.max()} of the time, expected <= 1.")
    used = problem.workers @ x
    if (used > problem.capacity * (1 + tolerance)).any():
        worst = int((used / problem.capacity).argmax())
        raise CertificateError(
            f"GPU type {worst} is used {used[worst]} times, expected at most {problem.capacity[worst]}."
        )
    _agree("progress", problem.progress(x), levels, tolerance)
    _agree("score", allocation.scores, levels, tolerance)


def _check_round(
    problem: Problem,
    levels: Floats,
    saturated: np.ndarray[tuple[int], np.dtype[np.bool_]],
    proof: Proof,
    number: int,
    tolerance: float,
) -> Floats:
    """One round is optimal and saturates the jobs it names; returns the new levels."""
    y, pi, c = proof.job_prices, proof.type_prices, proof.increment
    if y.shape != (problem.jobs,) or pi.shape != (problem.types,):
        raise CertificateError(f"Round {number} has prices of the wrong shape, expected (m,), (n,).")
    numbers = (*y.tolist(), *pi.tolist(), c)
    if not np.isfinite(numbers).all() or min(numbers) < 0:
        raise CertificateError(
            f"Round {number} has a negative or non-finite price or increment, expected 0 or more."
        )
    slopes = problem.weights(saturated) / problem.workers
    normal = float(y @ slopes)
    if abs(normal - 1) > tolerance:
        raise CertificateError(f"Round {number} prices one unit of increment at {normal}, expected 1.")
    limit = bound(problem, y, pi)
    most = limit - float(y @ levels)
    if abs(c - most) * float(slopes.max()) > tolerance:
        raise CertificateError(f"Round {number} raises by {c}, expected the proven optimum {most}.")
    levels = levels + c * slopes
    gap = max(limit - float(y @ levels), 0.0) + ROUNDING * limit
    if not proof.saturated:
        raise CertificateError(f"Round {number} saturates no job, expected at least one.")
    for i in proof.saturated:
        if not (0 <= i < problem.jobs) or saturated[i] or slopes[i] == 0:
            raise CertificateError(f"Round {number} saturates job {i}, which was not filling.")
        if gap > y[i] * tolerance * max(1.0, float(levels[i])):
            raise CertificateError(
                f"Round {number} does not prove that job {i} can gain no more than {tolerance}."
            )
    return levels


def _agree(name: str, found: Floats, expected: Floats, tolerance: float) -> None:
    error = np.abs(found - expected) / np.maximum(1.0, np.abs(expected))
    if found.shape != expected.shape or not (error <= tolerance).all():
        i = int(np.nanargmax(error)) if np.isfinite(error).any() else 0
        raise CertificateError(f"The {name} of job {i} is {found[i]}, expected {expected[i]}.")
