"""Weighted hierarchical max-min fairness by water filling (OSDI 2020, section 4.3).

Levels L_i start at 0 and nobody is saturated.  Then, round by round: the live jobs share their
entities' weights (w_i); the largest c is found for which some feasible x has f_i(x) >= L_i for all
jobs and f_i(x) >= L_i + c w_i / s_i for the filling ones; levels rise by c w_i / s_i; filling jobs
that can't rise further are saturated.  Levels and increments are unique, x need not be.

Three modes:

``exact``
    the policy as stated.  Bottlenecks are read from the dual prices of each round, which also are
    the certificate (`certificate.check`).  A job's score is its level.
``published``
    what the public code of the paper does (stanford-futuredata/gavel, commit c4fa400).  It differs
    from the stated policy in five ways, each marked in the code below.  Scores are f(x) at the
    last x.
``first``
    as published, when the public code has no mixed-integer solver: every filling job counts as
    saturated after each round.  The outputs saved in its public notebook are of this kind.
"""

from __future__ import annotations

from typing import get_args

import numpy as np

from scheduling_core.allocation import interior_point
from scheduling_core.allocation.certificate import bound
from scheduling_core.allocation.level_cone import LevelCone
from scheduling_core.allocation.level_lp import LevelProgram
from scheduling_core.allocation.problem import Floats, Indices, Mask, Problem
from scheduling_core.allocation.result import Allocation, Mode, Proof, Round
from scheduling_core.errors import SchedulingError, SolverError

# Constants of the public code.
RISE = 1.0001  # a job counts as saturated when it can't gain 0.01 %
MARGIN = 1e-5  # slack of its mixed-integer test
FLOOR_SLACK = 1e-8  # levels come from a solver of this accuracy: floors give way by as much
# Exact mode: a price this share of the round's total proves saturation; smaller ones wait a round.
SMALLEST_PRICE = 1e-5
LARGEST_GAP = 1e-9  # in levels, between primal and dual


def water_fill(problem: Problem, mode: Mode = "exact") -> Allocation:
    """Allocate GPU time to jobs.

    Raises
    ------
    SchedulingError : for an unknown mode.
    SolverError : if a linear program could not be solved to its tolerance.
    """
    if mode not in get_args(Mode):
        raise SchedulingError(f"mode is {mode!r}, expected 'exact', 'published' or 'first'.")
    return _exact(problem) if mode == "exact" else _published(problem, mode)


def _exact(problem: Problem) -> Allocation:
    first, kind = _identical_jobs(problem)
    copies = np.bincount(kind).astype(np.float64)
    program = LevelProgram(problem.normalised[first], problem.workers[first], problem.capacity, copies)
    levels = np.zeros(problem.jobs)
    saturated = np.zeros(problem.jobs, dtype=bool)
    rounds: list[Round] = []
    proofs: list[Proof] = []
    while not saturated.all():
        weights = problem.weights(saturated)
        slopes = weights / problem.workers
        unit = float(slopes.max())  # keeps the program's coefficients near 1
        rise = program.rise_together(levels[first], slopes[first] / unit)
        y = rise.job_prices[kind]
        total = float(y @ slopes)
        y, pi = y / total, rise.type_prices / total
        limit = bound(problem, y, pi)
        primal, dual = rise.increment / unit, limit - float(y @ rise.floors[kind])
        if abs(dual - primal) * unit > LARGEST_GAP:
            raise SolverError(
                f"A filling round has increments {primal} (primal) and {dual} (dual), expected "
                f"a difference below {LARGEST_GAP}."
            )
        # The dual value holds for the true floors, and to rounding instead of a tolerance.
        increment = max(limit - float(y @ levels), 0.0)
        levels = levels + increment * slopes
        new = np.flatnonzero(y * slopes * copies[kind] > SMALLEST_PRICE)
        saturated[new] = True
        stuck = tuple(int(i) for i in new)
        rounds.append(Round(increment, weights, stuck))
        proofs.append(Proof(increment, stuck, y, pi))
    x = _even_shares(problem, levels)
    if x is None:  # at the last optimum a saturated job may stand above its level by a rounding
        x = rise.x[kind]
        f = problem.progress(x)
        x *= np.where(f > levels, levels / np.where(f > 0, f, 1.0), 1.0)[:, None]
    return Allocation("exact", levels, x, levels, tuple(rounds), tuple(proofs))


def _identical_jobs(problem: Problem) -> tuple[Indices, Indices]:
    """First job of each kind, and each job's kind; with "fifo" the order tells jobs apart."""
    if problem.split == "fifo":
        every = np.arange(problem.jobs)
        return every, every
    traits = np.column_stack([problem.normalised, problem.workers, problem.job_weights, problem.entity])
    _, first, kind = np.unique(traits, axis=0, return_index=True, return_inverse=True)
    return first, kind.ravel()


def _even_shares(problem: Problem, levels: Floats) -> Floats | None:
    """For jobs that don't care about types: each takes its time on all types in proportion.

    x_ij = L_i K_j / sum K is feasible whenever the levels are, and its progress is L_i at the true
    rates too, so that the agnostic policy's score is its level.
    """
    if (problem.normalised != 1.0).any():
        return None
    return np.outer(levels, problem.capacity / problem.capacity.sum())


def _published(problem: Problem, mode: Mode) -> Allocation:
    a, s = problem.normalised, problem.workers
    program = LevelProgram(a, s, problem.capacity, np.ones(problem.jobs))
    # (1) Jobs that aren't filling enter the minimum as this constant, which caps every increment.
    cap = float((a * s[:, None]).max())
    levels = np.zeros(problem.jobs)
    saturated = np.zeros(problem.jobs, dtype=bool)
    rounds: list[Round] = []
    while True:
        weights = problem.weights(saturated)
        filling = weights > 0
        slopes = weights / s
        cone = LevelCone(problem, levels, weights, cap)
        x = cone.allocation(interior_point.solve(cone).v)
        f = problem.progress(x)
        # (2) The increment is the objective evaluated at x, not the solver's own value.
        gains = np.full(problem.jobs, cap)
        gains[filling] = (f - levels)[filling] / slopes[filling]
        increment = float(gains.min())
        levels = levels + np.where(filling, increment * slopes, 0.0)
        if mode == "first":
            new = filling
        else:
            new = _cannot_gain(program, levels, f, filling)
            # (4) A job that must stay put passes the test only at a level of 0.1 or more; below,
            # the public code's integer program is infeasible and all filling jobs are saturated.
            stays = saturated | new
            if (stays & (levels > 1e-9) & (levels * RISE - MARGIN < levels)).any():
                new = filling
        saturated = saturated | new
        rounds.append(Round(increment, weights, tuple(int(i) for i in np.flatnonzero(new))))
        # (5) A round without a new bottleneck ends the run, even with capacity left: so it does
        # when the cap (1) was the binding term.
        if saturated.all() or not new.any():
            return Allocation(mode, levels, x, f, tuple(rounds))


def _cannot_gain(program: LevelProgram, levels: Floats, f: Floats, filling: Mask) -> Mask:
    """(3) The filling jobs that can't gain 0.01 % while nobody falls below the own level.

    f (m,) is the progress in some allocation that respects the levels; a job that has gained
    enough in it, or in one seen on the way, needs no program of its own.
    """
    floors = levels * (1 - FLOOR_SLACK)
    goal = RISE * levels
    able = f >= goal + 1e-6
    stuck = np.zeros(len(levels), dtype=bool)
    for i in np.flatnonzero(filling):
        if not able[i]:
            highest, seen = program.highest(floors, int(i))
            stuck[i] = highest < goal[i]
            able |= seen >= goal + 1e-6
    return stuck
