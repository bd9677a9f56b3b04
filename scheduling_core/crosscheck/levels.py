"""Weighted hierarchical max-min fairness, written as the motion of one clock.

Entity e receives W_e units of water per unit of the clock.  Its live jobs share one height h_e;
a job of weight p and level l (normalised progress) holding s GPUs has taken p h = s l units.
Jobs that can rise no more keep what they have, so at clock t

    sum over live jobs i of e:  p_i h_e  +  sum over stopped jobs:  s_i l_i  =  W_e t .

The clock runs until it can't without leaving somebody short; those who can't rise even if all
others stand still are stopped, and the clock goes on for the rest.  Heights, clock and GPUs held
are the unknowns of one linear program: no increments, no floors that accumulate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

Vector = NDArray[np.float64]

SLACKS = (1e-13, 1e-11, 1e-9)  # against rounding, fixed levels give way by such a share
STANDSTILL = 1e-8  # a gain in level below this is none


class CrosscheckError(ValueError):
    """An input or a linear program that the cross-check can't handle."""


@dataclass(frozen=True, eq=False)
class Jobs:
    """Jobs on a cluster.

    steps_per_second : (m, n) rate of each job on each GPU type.
    gpus : (n,) number of GPUs of each type.
    width : (m,) GPUs that a job holds while it runs.
    owner : (m,) entity of each job, an index into share.
    share : entity weights.
    weight : (m,) weight of each job within its entity.
    """

    steps_per_second: Vector
    gpus: Vector
    width: Vector
    owner: NDArray[np.int64]
    share: Vector
    weight: Vector

    def speed(self) -> Vector:
        """(m, n) level per GPU held: 1 for a job whose time is spread evenly over the cluster."""
        even = (self.steps_per_second * self.gpus).sum(axis=1) / self.gpus.sum()
        return np.asarray(self.steps_per_second / even[:, None] / self.width[:, None])


def exact_levels(jobs: Jobs) -> Vector:
    """Level (m,) of each job under the policy."""
    m = len(jobs.width)
    levels = np.zeros(m)
    live = np.ones(m, dtype=bool)
    held = _Held(jobs)
    while live.any():
        levels[live] = _run_clock(jobs, held, levels, live)[live]
        stopped = held.stuck(levels, live)
        if not stopped.any():
            raise CrosscheckError("The clock stopped and every job can rise, expected a bottleneck.")
        live &= ~stopped
    return levels


class _Held:
    """Constraints on the GPUs held, g (m, n) >= 0, flattened row by row."""

    def __init__(self, jobs: Jobs) -> None:
        m, n = jobs.steps_per_second.shape
        self.m, self.n = m, n
        by_type = np.tile(np.identity(n), m)  # sum_i g_ij <= K_j
        by_job = np.repeat(np.identity(m), n, axis=1)  # sum_j g_ij <= s_i
        self.level = by_job * jobs.speed().ravel()
        self.usage = np.vstack([by_type, by_job])
        self.limit = np.concatenate([jobs.gpus, jobs.width])

    def stuck(self, levels: Vector, live: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The live jobs whose level can't rise while nobody's falls.

        Maximises the total gain of the jobs in doubt; whoever gains can rise.  When the total is
        nothing, no job in doubt can gain alone either.
        """
        doubt = live.copy()
        while doubt.any():
            gains = self._gains(levels, doubt)
            rising = doubt & (gains > STANDSTILL * np.maximum(1.0, levels))
            if not rising.any():
                return doubt
            doubt &= ~rising
        return doubt

    def _gains(self, levels: Vector, doubt: NDArray[np.bool_]) -> Vector:
        chosen = np.flatnonzero(doubt)
        pick = np.identity(self.m)[:, chosen]
        solution = _minimise(
            np.concatenate([np.zeros(self.m * self.n), -np.ones(len(chosen))]),
            _beside([self.usage], [-self.level, pick]),
            self.limit,
            -levels,
        )
        gains = np.zeros(self.m)
        gains[chosen] = solution[self.m * self.n :]
        return gains


def _run_clock(jobs: Jobs, held: _Held, levels: Vector, live: NDArray[np.bool_]) -> Vector:
    """Levels when the clock has run as far as it can."""
    m, n, entities = held.m, held.n, len(jobs.share)
    living = np.bincount(jobs.owner[live], jobs.weight[live], minlength=entities)
    taken = np.zeros(entities)
    np.add.at(taken, jobs.owner[~live], (jobs.width * levels)[~live])
    filling = living > 0
    # Columns: GPUs held, heights h_e, clock t.  Level of a live job: p_i h_e / s_i.
    rise = np.zeros((m, entities + 1))
    rise[live, jobs.owner[live]] = (jobs.weight / jobs.width)[live]
    upper = _beside([held.usage], [-held.level, rise])
    floors = np.where(live, 0.0, -levels)
    poured = np.hstack(
        [np.zeros((int(filling.sum()), m * n)), np.diag(living)[filling], -jobs.share[filling, None]]
    )
    cost = np.zeros(m * n + entities + 1)
    cost[-1] = -1.0
    clock = _minimise(cost, upper, held.limit, floors, poured, -taken[filling])[-1]
    heights = np.zeros(entities)
    heights[filling] = (jobs.share * clock - taken)[filling] / living[filling]
    reached: Vector = np.where(live, jobs.weight * heights[jobs.owner] / jobs.width, levels)
    return reached


def _beside(*rows: list[Vector]) -> Vector:
    """Rows of blocks as one matrix; a row that is too short goes on with zeros."""
    made = [np.hstack(row) for row in rows]
    columns = max(row.shape[1] for row in made)
    return np.vstack([np.pad(row, ((0, 0), (0, columns - row.shape[1]))) for row in made])


def _minimise(
    cost: Vector,
    upper: Vector,
    limit: Vector,
    floors: Vector,
    equal: Vector | None = None,
    target: Vector | None = None,
) -> Vector:
    """Minimise cost.v for v >= 0, upper v <= (limit, floors), equal v = target."""
    for slack in SLACKS:
        result = linprog(
            cost,
            A_ub=upper,
            b_ub=np.concatenate([limit, floors * (1 - slack)]),
            A_eq=equal,
            b_eq=target,
            bounds=(0, None),
            method="highs-ds",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        if result.status == 0:
            return np.asarray(result.x, dtype=np.float64)
    raise CrosscheckError(f"A linear program of the cross-check failed: {result.message}")
