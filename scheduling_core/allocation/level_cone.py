"""The linear program of one filling round in cone form, with its block structure kept.

    minimise u   subject to   G (u, x) + s = h,   s >= 0          (u = -t, t the increment)

for m jobs and n types; the rows of G, in the order in which every vector of rows is stored:

    level  (m)    -u - r_i f_i(x) <= -r_i L_i       r_i = s_i / w_i for a filling job,
                  -u              <= M              and r_i = 0 for any other: the public code's cap
    time   (m)    sum_j x_ij      <= 1
    floor  (m)    -f_i(x)         <= -L_i
    type   (n)    sum_i s_i x_ij  <= K_j
    sign   (n m)  -x_ij           <= 0

Only the type rows and the column u couple jobs, so a Newton system falls into one block of order
n + 3 for each job and a border of order n + 1: O(m n^3) work instead of O(m^3 n^3).  Vectors of
columns are u, then x by type; arrays keep jobs on the last axis, the long one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from scheduling_core.allocation.problem import Floats, Problem, Reals
from scheduling_core.errors import SolverError

# Ruiz equilibration as ECOS does it: three passes, entries under 1e-6 left alone.
RUIZ_PASSES = 3
RUIZ_SMALLEST = 1e-6


class LevelCone:
    """G, h and c of one filling round, equilibrated; unknowns are (u, x) with x stored (n, m).

    Parameters
    ----------
    problem : jobs, types and capacities.
    floors : (m,) levels L that no job may fall below.
    weights : (m,) filling weights w, 0 for a job that isn't filling.
    cap : M, the constant that stands for a job that isn't filling.
    dtype : working precision, see `interior_point`.
    """

    def __init__(
        self,
        problem: Problem,
        floors: Floats,
        weights: Floats,
        cap: float,
        dtype: type[np.floating[Any]] = np.longdouble,
    ) -> None:
        m, n = problem.jobs, problem.types
        self.jobs, self.types = m, n
        self.columns = 1 + n * m
        self.rows = 3 * m + n + n * m
        filling = weights > 0
        ratio = np.where(filling, problem.workers / np.where(filling, weights, 1.0), 0.0)
        a = np.ascontiguousarray(problem.normalised.T, dtype=dtype)
        # Blocks of G: the column u (level rows only), then level, time and floor rows over x.
        self.u = np.full(m, -1.0, dtype=dtype)
        self.by_job = np.stack([-ratio * a, np.ones_like(a), -a])
        self.by_type = np.ones((n, 1), dtype=dtype) * problem.workers
        self.sign = -np.ones((n, m), dtype=dtype)
        h = np.zeros(self.rows, dtype=dtype)
        h[:m] = np.where(filling, -ratio * floors, cap)
        h[m : 2 * m] = 1.0
        h[2 * m : 3 * m] = -floors
        h[3 * m : 3 * m + n] = problem.capacity
        row_scale, self._column_scale = self._equilibrate(dtype)
        self.h: Reals = h / row_scale
        self.c: Reals = np.zeros(self.columns, dtype=dtype)
        self.c[0] = 1.0 / self._column_scale[0]

    def _equilibrate(self, dtype: type[np.floating[Any]]) -> tuple[Reals, Reals]:
        """Divide rows, then columns, by the roots of their largest entries; return the factors."""
        m, n = self.jobs, self.types
        row_scale = np.ones(self.rows, dtype=dtype)
        column_scale = np.ones(self.columns, dtype=dtype)
        for _ in range(RUIZ_PASSES):
            u, by_job = np.abs(self.u), np.abs(self.by_job)
            by_type, sign = np.abs(self.by_type), np.abs(self.sign)
            of_jobs = by_job.max(axis=1)
            of_jobs[0] = np.maximum(of_jobs[0], u)
            rows = _root(np.concatenate([of_jobs.ravel(), by_type.max(axis=1), sign.ravel()]))
            of_x = np.maximum(np.maximum(by_job.max(axis=0), by_type), sign)
            columns = _root(np.concatenate([u.max(keepdims=True), of_x.ravel()]))
            three, types, signs = self.split(rows)
            x = columns[1:].reshape(n, m)
            self.u = self.u / three[0] / columns[0]
            self.by_job = self.by_job / three[:, None, :] / x
            self.by_type = self.by_type / types[:, None] / x
            self.sign = self.sign / signs / x
            row_scale *= rows
            column_scale *= columns
        return row_scale, column_scale

    def split(self, rows: Reals) -> tuple[Reals, Reals, Reals]:
        """Views of vectors of rows (..., rows): level/time/floor (..., 3, m), type (..., n),
        sign (..., n, m)."""
        m, n = self.jobs, self.types
        some = rows.shape[:-1]
        return (
            rows[..., : 3 * m].reshape(*some, 3, m),
            rows[..., 3 * m : 3 * m + n],
            rows[..., 3 * m + n :].reshape(*some, n, m),
        )

    def apply(self, v: Reals) -> Reals:
        """G v for vectors (..., columns), shape (..., rows)."""
        some = v.shape[:-1]
        x = v[..., 1:].reshape(*some, 1, self.types, self.jobs)
        out = np.empty((*some, self.rows), dtype=v.dtype)
        three, types, signs = self.split(out)
        (self.by_job * x).sum(axis=-2, out=three)
        three[..., 0, :] += self.u * v[..., :1]
        x = x[..., 0, :, :]
        (self.by_type * x).sum(axis=-1, out=types)
        np.multiply(self.sign, x, out=signs)
        return out

    def apply_transpose(self, z: Reals) -> Reals:
        """G' z for vectors (..., rows), shape (..., columns)."""
        three, types, signs = self.split(z)
        out = np.empty((*z.shape[:-1], self.columns), dtype=z.dtype)
        x = out[..., 1:].reshape(signs.shape)
        (self.by_job * three[..., None, :]).sum(axis=-3, out=x)
        x += self.by_type * types[..., None]
        x += self.sign * signs
        (self.u * three[..., 0, :]).sum(axis=-1, out=out[..., 0])
        return out

    def allocation(self, v: Reals) -> Floats:
        """The allocation x (m, n) of an equilibrated point (u, x)."""
        x = (v / self._column_scale)[1:].reshape(self.types, self.jobs)
        return np.ascontiguousarray(x.T, dtype=np.float64)

    def factor(self, w: Reals, delta: float) -> Factor:
        """Factor the Newton matrix [[delta I, G'], [G, -diag(w)]], w (rows,) > 0.

        Sign rows are diagonal and go first.  What remains of a job is (x_i, its three
        multipliers), a block that stays well conditioned when its rows and columns are scaled to
        unit length; eliminating the multipliers too (the normal equations) would lose every digit
        when a job's three rows are parallel, as they are for equal rates.
        """
        n, m = self.types, self.jobs
        three, types, signs = self.split(w)
        blocks = np.zeros((n + 3, n + 3, m), dtype=w.dtype)
        x, z = np.arange(n), np.arange(n, n + 3)
        blocks[x, x] = delta + self.sign * self.sign / signs
        blocks[:n, n:] = self.by_job.swapaxes(0, 1)
        blocks[n:, :n] = self.by_job
        blocks[z, z] = -three
        unit = np.empty((n + 3, m), dtype=w.dtype)
        unit[:n] = 1.0 / np.sqrt(blocks[x, x] + (self.by_job * self.by_job / three[:, None]).sum(0))
        unit[n:] = 1.0 / np.sqrt(three)
        inverse = _inverses(blocks * unit * unit[:, None]) * unit * unit[:, None]

        # The border: u meets the level multipliers, the multiplier of type j meets x_.j.
        coupling = np.empty((n + 3, n + 1, m), dtype=w.dtype)
        coupling[:, 0] = inverse[:, n] * self.u
        coupling[:, 1:] = inverse[:, :n] * self.by_type
        border = np.empty((n + 1, n + 1), dtype=w.dtype)
        border[0] = -(self.u * coupling[n]).sum(axis=-1)
        border[1:] = -(self.by_type[:, None] * coupling[:n]).sum(axis=-1)
        border[0, 0] += delta
        border[1 + x, 1 + x] -= types
        return Factor(self, signs, inverse, coupling, _inverses(border[..., None])[..., 0])


@dataclass(frozen=True)
class Factor:
    """A factored Newton matrix; inverses are float64 accurate, to be refined by the caller."""

    cone: LevelCone
    w_signs: Reals  # (n, m)
    inverse: Reals  # (n + 3, n + 3, m): of each job's block
    coupling: Reals  # (n + 3, n + 1, m): those inverses times the border's columns
    border: Reals  # (n + 1, n + 1): inverse of the border after elimination

    def solve(self, bv: Reals, bz: Reals) -> tuple[Reals, Reals]:
        """(v, z) with delta v + G'z = bv, G v - w z = bz; shapes (..., columns), (..., rows)."""
        cone = self.cone
        n, m = cone.types, cone.jobs
        some = bv.shape[:-1]
        three, types, signs = cone.split(bz)
        right = np.empty((*some, 1, n + 3, m), dtype=bv.dtype)
        right[..., 0, :n, :] = bv[..., 1:].reshape(signs.shape) + cone.sign * signs / self.w_signs
        right[..., 0, n:, :] = three
        jobs = (self.inverse * right).sum(axis=-2)
        rest = np.empty((*some, 1, n + 1), dtype=bv.dtype)
        rest[..., 0, 0] = bv[..., 0] - (cone.u * jobs[..., n, :]).sum(axis=-1)
        rest[..., 0, 1:] = types - (cone.by_type * jobs[..., :n, :]).sum(axis=-1)
        shared = (self.border * rest).sum(axis=-1)
        jobs -= (self.coupling * shared[..., None, :, None]).sum(axis=-2)

        v, z = np.empty_like(bv), np.empty_like(bz)
        v[..., 0] = shared[..., 0]
        v[..., 1:] = jobs[..., :n, :].reshape(*some, n * m)
        z_three, z_types, z_signs = cone.split(z)
        z_three[...] = jobs[..., n:, :]
        z_types[...] = shared[..., 1:]
        z_signs[...] = (cone.sign * jobs[..., :n, :] - signs) / self.w_signs
        return v, z


def _inverses(blocks: Reals) -> Reals:
    """Inverses of a stack (k, k, m) of matrices, to float64 accuracy."""
    try:
        stacked = np.linalg.inv(blocks.transpose(2, 0, 1).astype(np.float64))
    except np.linalg.LinAlgError:
        raise SolverError("A Newton matrix is singular, expected a well-scaled problem.") from None
    inverses: Reals = np.ascontiguousarray(stacked.transpose(1, 2, 0), dtype=blocks.dtype)
    return inverses


def _root(largest: Reals) -> Reals:
    """Square roots, 1 for entries too small to scale by."""
    roots: Reals = np.where(largest < RUIZ_SMALLEST, 1.0, np.sqrt(largest))
    return roots
