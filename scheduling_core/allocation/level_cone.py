"""The linear program of one filling round in cone form, with its block structure kept.

    minimise u   subject to   G (u, x) + s = h,   s >= 0          (u = -t, t the increment)

for m jobs and n types; the rows of G, in the order in which every vector of rows is stored:

    level  (m)    -u - r_i f_i(x) <= -r_i L_i       r_i = s_i / w_i for a filling job,
                  -u              <= M              and r_i = 0 for any other: the public code's cap
    time   (m)    sum_j x_ij      <= 1
    floor  (m)    -f_i(x)         <= -L_i
    type   (n)    sum_i s_i x_ij  <= K_j
    sign   (n m)  -x_ij           <= 0

Only ``type`` rows and the column u couple jobs, so a Newton system reduces to one n by n block for
each job and one (n + 1) by (n + 1) block for the whole: O(m n^3) instead of O(m^3 n^3).  Arrays
keep jobs on the last axis, the long one.  Nothing here calls BLAS, so a result does not depend on
its kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduling_core.allocation.problem import Floats, Problem

Reals = NDArray[np.floating[Any]]

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
    dtype : working precision (float64; wider types serve to measure rounding errors).
    """

    def __init__(
        self,
        problem: Problem,
        floors: Floats,
        weights: Floats,
        cap: float,
        dtype: type[np.floating[Any]] = np.float64,
    ) -> None:
        m, n = problem.jobs, problem.types
        self.jobs, self.types = m, n
        self.columns = 1 + n * m
        self.rows = 3 * m + n + n * m
        filling = weights > 0
        ratio = np.where(filling, problem.workers / np.where(filling, weights, 1.0), 0.0)
        a = np.ascontiguousarray(problem.normalised.T, dtype=dtype)
        # Blocks of G: the column u (level rows only), then level, time and floor rows over x.
        self._u = np.full(m, -1.0, dtype=dtype)
        self._by_job = np.stack([-ratio * a, np.ones_like(a), -a])
        self._type = np.ones((n, 1), dtype=dtype) * problem.workers
        self._sign = -np.ones((n, m), dtype=dtype)
        h = np.zeros(self.rows, dtype=dtype)
        h[:m] = np.where(filling, -ratio * floors, cap)
        h[m : 2 * m] = 1.0
        h[2 * m : 3 * m] = -floors
        h[3 * m : 3 * m + n] = problem.capacity
        row_scale, self._column_scale = self._equilibrate(dtype)
        self.h = h / row_scale
        self.c = np.zeros(self.columns, dtype=dtype)
        self.c[0] = 1.0 / self._column_scale[0]
        # Products of the three rows of a job, for the blocks of G'DG: (3, n, n, m).
        self._products = self._by_job[:, :, None, :] * self._by_job[:, None, :, :]

    def _equilibrate(self, dtype: type[np.floating[Any]]) -> tuple[Reals, Reals]:
        """Divide rows, then columns, by the roots of their largest entries; return the factors."""
        m, n = self.jobs, self.types
        row_scale = np.ones(self.rows, dtype=dtype)
        column_scale = np.ones(self.columns, dtype=dtype)
        for _ in range(RUIZ_PASSES):
            u, by_job = np.abs(self._u), np.abs(self._by_job)
            by_type, sign = np.abs(self._type), np.abs(self._sign)
            of_jobs = by_job.max(axis=1)
            of_jobs[0] = np.maximum(of_jobs[0], u)
            rows = _root(
                np.concatenate([of_jobs.ravel(), by_type.max(axis=1), sign.ravel()])
            )
            of_x = np.maximum(np.maximum(by_job.max(axis=0), by_type), sign)
            columns = _root(np.concatenate([u.max(keepdims=True), of_x.ravel()]))
            three, types, signs = self.split(rows)
            x = columns[1:].reshape(n, m)
            self._u = self._u / three[0] / columns[0]
            self._by_job = self._by_job / three[:, None, :] / x
            self._type = self._type / types[:, None] / x
            self._sign = self._sign / signs / x
            row_scale *= rows
            column_scale *= columns
        return row_scale, column_scale

    def split(self, rows: Reals) -> tuple[Reals, Reals, Reals]:
        """Views of a vector of rows: level/time/floor (3, m), type (n,), sign (n, m)."""
        m, n = self.jobs, self.types
        return (
            rows[: 3 * m].reshape(3, m),
            rows[3 * m : 3 * m + n],
            rows[3 * m + n :].reshape(n, m),
        )

    def apply(self, v: Reals) -> Reals:
        """G v, shape (rows,)."""
        x = v[1:].reshape(self.types, self.jobs)
        out = np.empty(self.rows, dtype=v.dtype)
        three, types, signs = self.split(out)
        (self._by_job * x).sum(axis=1, out=three)
        three[0] += self._u * v[0]
        (self._type * x).sum(axis=1, out=types)
        np.multiply(self._sign, x, out=signs)
        return out

    def apply_transpose(self, z: Reals) -> Reals:
        """G' z, shape (columns,)."""
        three, types, signs = self.split(z)
        out = np.empty(self.columns, dtype=z.dtype)
        x = out[1:].reshape(self.types, self.jobs)
        (self._by_job * three[:, None, :]).sum(axis=0, out=x)
        x += self._type * types[:, None]
        x += self._sign * signs
        out[0] = (self._u * three[0]).sum()
        return out

    def allocation(self, v: Reals) -> Floats:
        """The allocation x (m, n) of a scaled point (u, x)."""
        x = (v / self._column_scale)[1:].reshape(self.types, self.jobs)
        return np.ascontiguousarray(x.T, dtype=np.float64)

    def factor(self, d: Reals, delta: float) -> Factor:
        """Factor delta I + G' diag(d) G, d (rows,) > 0."""
        three, types, signs = self.split(d)
        n = self.types
        blocks = (self._products * three[:, None, None, :]).sum(axis=0)
        diagonal = np.arange(n)
        blocks[diagonal, diagonal] += delta + self._sign * self._sign * signs
        lower = _cholesky(blocks)
        # Columns that couple job i with the rest: u, and the n type rows.
        coupling = np.zeros((n, n + 1, self.jobs), dtype=d.dtype)
        coupling[:, 0] = self._by_job[0] * (self._u * three[0])
        coupling[diagonal, 1 + diagonal] = self._type
        half = _forward(lower, coupling)
        border = -(half[:, :, None, :] * half[:, None, :, :]).sum(axis=(0, 3))
        border[0, 0] += delta + (self._u * self._u * three[0]).sum()
        border[1 + diagonal, 1 + diagonal] -= 1.0 / types
        return Factor(lower, half, _inverse(border))


@dataclass(frozen=True)
class Factor:
    """Block elimination: Cholesky factors of the jobs' blocks and the inverse of the border."""

    lower: Reals  # (n, n, m)
    half: Reals  # (n, n + 1, m): lower^-1 times the coupling columns
    border: Reals  # (n + 1, n + 1)

    def solve(self, b: Reals) -> Reals:
        """v with (delta I + G' diag(d) G) v = b, shapes (columns,)."""
        n, _, m = self.lower.shape
        half_b = _forward(self.lower, b[1:].reshape(n, 1, m))
        right = -(self.half * half_b).sum(axis=(0, 2))
        right[0] += b[0]
        shared = (self.border * right).sum(axis=1)
        out = np.empty_like(b)
        out[0] = shared[0]
        rest = half_b[:, 0] - (self.half * shared[:, None]).sum(axis=1)
        out[1:] = _backward(self.lower, rest).ravel()
        return out


def _root(largest: Reals) -> Reals:
    """Square roots, 1 for entries too small to scale by."""
    roots: Reals = np.where(largest < RUIZ_SMALLEST, 1.0, np.sqrt(largest))
    return roots


def _cholesky(blocks: Reals) -> Reals:
    """Lower factors of a stack (n, n, m) of positive definite blocks, jobs on the last axis."""
    n = len(blocks)
    lower = blocks.copy()
    for k in range(n):
        lower[k, k] = np.sqrt(lower[k, k])
        lower[k + 1 :, k] /= lower[k, k]
        for j in range(k + 1, n):
            lower[j:, j] -= lower[j:, k] * lower[j, k]
    return lower


def _forward(lower: Reals, b: Reals) -> Reals:
    """lower^-1 b for b (n, columns, m)."""
    y = b.copy()
    for k in range(len(lower)):
        y[k] /= lower[k, k]
        if k + 1 < len(lower):
            y[k + 1 :] -= lower[k + 1 :, k, None] * y[k]
    return y


def _backward(lower: Reals, b: Reals) -> Reals:
    """lower'^-1 b for b (n, m)."""
    y = b.copy()
    for k in range(len(lower) - 1, -1, -1):
        y[k] /= lower[k, k]
        y[:k] -= lower[k, :k] * y[k]
    return y


def _inverse(matrix: Reals) -> Reals:
    """Inverse of a small symmetric quasi-definite matrix by Gauss-Jordan, any pivot order works."""
    n = len(matrix)
    work = np.concatenate([matrix, np.eye(n, dtype=matrix.dtype)], axis=1)
    for k in range(n):
        work[k] /= work[k, k]
        column = work[:, k].copy()
        column[k] = 0.0
        work -= column[:, None] * work[k]
    return work[:, n:]
