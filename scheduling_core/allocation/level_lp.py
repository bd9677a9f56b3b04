"""The linear programs of water filling in one warm HiGHS model for each problem.

    maximise  t or f_i(x)
    subject to  sum_i N_i s_i x_ij <= K_j        (types)
                sum_j x_ij <= 1                  (time)
                f_i(x) - g_i t >= L_i            (rates)
                x, t >= 0

Between calls only L, the column of t and the objective change, so each solve starts from the basis
of the one before.  N_i identical jobs may share one row.
"""

from __future__ import annotations

from dataclasses import dataclass

import highspy
import numpy as np

from scheduling_core.allocation.problem import Floats
from scheduling_core.errors import SolverError

# The tightest that HiGHS accepts; a basic solution is accurate to rounding anyway.
FEASIBILITY = 1e-10
# Levels are sums of rounded increments, so a later program may find its floors out of reach by the
# last bits: relative reliefs to try, in order.  Published levels come from a solver of 1e-8.
RELIEFS = (0.0, 1e-12, 1e-11, 1e-10, 1e-9)
RELIEFS_PUBLISHED = (0.0, 1e-8, 1e-7, 1e-6)


@dataclass(frozen=True)
class Rise:
    """The largest common increment t, an allocation that reaches it, and the dual prices."""

    increment: float
    x: Floats  # (m, n)
    floors: Floats  # (m,) that x respects
    job_prices: Floats  # (m,) y >= 0, of one job's rate row
    type_prices: Floats  # (n,) pi >= 0


class _QuietHighs(highspy.Highs):
    """HiGHS that prints nothing: `highspy.Highs()` logs a banner before it can be told not to."""

    def __init__(self) -> None:
        super(highspy.Highs, self).__init__()  # the solver itself, without callbacks
        for option, value in (
            ("output_flag", False),
            ("threads", 1),
            ("presolve", "off"),
            ("primal_feasibility_tolerance", FEASIBILITY),
            ("dual_feasibility_tolerance", FEASIBILITY),
        ):
            self.setOptionValue(option, value)


class LevelProgram:
    """Rows of jobs with their GPU types, solved again and again.

    Parameters
    ----------
    a : (m, n) normalised rates.
    workers : (m,) GPUs held at once by one job.
    capacity : (n,) GPUs of each type.
    copies : (m,) how many identical jobs a row stands for.
    """

    def __init__(self, a: Floats, workers: Floats, capacity: Floats, copies: Floats) -> None:
        self._a, self._copies = a, copies
        self._m, self._n = m, n = a.shape
        self._t = m * n
        self._rates = np.arange(n + m, n + 2 * m, dtype=np.int32)
        self._slopes = np.ones(m)
        self._objective: tuple[int, ...] = (self._t,)
        model = _QuietHighs()
        model.passModel(self._build(workers, capacity))
        self._model = model

    def _build(self, workers: Floats, capacity: Floats) -> highspy.HighsLp:
        m, n, infinity = self._m, self._n, highspy.kHighsInf
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = m * n + 1, n + 2 * m
        cost = np.zeros(m * n + 1)
        cost[self._t] = -1.0
        lp.col_cost_ = cost
        lp.col_lower_, lp.col_upper_ = np.zeros(m * n + 1), np.full(m * n + 1, infinity)
        lp.row_lower_ = np.concatenate([np.full(n + m, -infinity), np.zeros(m)])
        lp.row_upper_ = np.concatenate([capacity, np.ones(m), np.full(m, infinity)])
        job, kind = np.repeat(np.arange(m), n), np.tile(np.arange(n), m)
        rows = np.stack([kind, n + job, n + m + job], axis=1)
        used = np.repeat(workers * self._copies, n)
        values = np.stack([used, np.ones(m * n), self._a.ravel()], axis=1)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_ = np.append(np.arange(0, 3 * m * n + 1, 3), 3 * m * n + m)
        lp.a_matrix_.index_ = np.concatenate([rows.ravel(), self._rates])
        lp.a_matrix_.value_ = np.concatenate([values.ravel(), -np.ones(m)])
        return lp

    def rise_together(self, floors: Floats, slopes: Floats) -> Rise:
        """Largest t with f_i(x) >= floors_i + slopes_i t for all jobs."""
        self._aim((self._t,), (-1.0,))
        for i in np.flatnonzero(slopes != self._slopes):
            self._model.changeCoeff(int(self._rates[i]), self._t, float(-slopes[i]))
        self._slopes = slopes.copy()
        self._model.changeColBounds(self._t, 0.0, highspy.kHighsInf)
        solution, relieved = self._run(floors, RELIEFS)
        duals = np.abs(np.asarray(solution.row_dual))
        values = np.asarray(solution.col_value)
        return Rise(
            increment=float(values[self._t]),
            x=values[: self._t].reshape(self._m, self._n),
            floors=relieved,
            job_prices=duals[self._n + self._m :] / self._copies,
            type_prices=duals[: self._n],
        )

    def highest(self, floors: Floats, job: int) -> tuple[float, Floats]:
        """Largest f_job(x) with nobody below the floors, and f (m,) where it is reached."""
        n = self._n
        self._model.changeColBounds(self._t, 0.0, 0.0)
        self._aim(tuple(range(job * n, job * n + n)), tuple(-self._a[job]))
        solution, _ = self._run(floors, RELIEFS_PUBLISHED)
        x = np.asarray(solution.col_value)[: self._t].reshape(self._m, n)
        f = (self._a * x).sum(axis=1)
        return float(f[job]), f

    def _aim(self, columns: tuple[int, ...], costs: tuple[float, ...]) -> None:
        for column in self._objective:
            self._model.changeColCost(column, 0.0)
        for column, cost in zip(columns, costs, strict=True):
            self._model.changeColCost(column, float(cost))
        self._objective = columns

    def _run(self, floors: Floats, reliefs: tuple[float, ...]) -> tuple[highspy.HighsSolution, Floats]:
        """The solution and the floors it respects, relieved only where rounding asks for it."""
        for relief in reliefs:
            relieved = floors * (1 - relief)
            for row, floor in zip(self._rates.tolist(), relieved.tolist(), strict=True):
                self._model.changeRowBounds(row, floor, highspy.kHighsInf)
            for fresh in (False, True):
                if fresh:  # a warm start may trip over a nearly singular basis
                    self._model.clearSolver()
                self._model.run()
                if self._model.getModelStatus() == highspy.HighsModelStatus.kOptimal:
                    return self._model.getSolution(), relieved
        status = self._model.modelStatusToString(self._model.getModelStatus())
        raise SolverError(f"HiGHS ended a filling round as '{status}', expected 'Optimal'.")
