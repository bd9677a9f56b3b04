"""A learner that is refitted after every label: regularised least squares on a fixed pool.

Which records a screening reads first depends on how a few relevant records are weighed against many
irrelevant ones, not on the loss: with these weights few records lie beyond the margin of a support vector
machine, and squared error gives its ranking at a fraction of the cost (R. Rifkin and A. Klautau, J.
Mach. Learn. Res. 5 (2004) 101-141, on regularised least squares as a classifier).
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from classifiers.errors import ClassifierError

Floats: TypeAlias = NDArray[np.float64]

RELEVANT_WEIGHT = 1.0
BALANCE = 40.0
BIAS = 1.0
"""None of these, nor the features, was fitted to one set. They were compared on the five public sets of
benchmarks/screening.py together, and on 48 tasks that nobody screened for, in which the records that share
a MeSH heading or a reference stand for the relevant ones; a change of the features was kept where both
means gained. BALANCE was taken from 5, 10, 20, 40, 80 and 160 by the mean of WSS@90 and WSS@95: 40 is best
over all, and with each set left out in turn but for Menon (160, which would cost Menon five points). More
finds the last relevant records sooner and the first ones later."""
TOLERANCE = 1e-3
_MOST_STEPS = 1000


class LeastSquares:
    """Minimises ||w||^2 / 2 + b^2 / (2 BIAS) + sum over labelled i of c_i (w.x_i + b - y_i)^2, y_i = -1 or 1.

    c is `RELEVANT_WEIGHT` for a relevant record; all irrelevant ones share 1 / `BALANCE` of what the
    relevant ones have together. So what was read and rejected pushes its neighbours away only gently,
    and an unusual relevant record isn't buried.

    Solved in the dual, (K + D) a = y with K the Gram matrix of the labelled rows plus BIAS and
    D = diag(1 / (2 c)), by conjugate gradients with D's preconditioner (Hestenes and Stiefel 1952). They
    start from the last solution, so that one more label costs two or three steps of n^2.
    """

    def __init__(self, matrix: Any) -> None:
        self._pool = matrix
        self._rows = _GrowingRows(matrix)
        self._gram = np.zeros((64, 64))
        self._targets: list[float] = []
        self._dual = np.zeros(0)
        self._steps = 0

    @property
    def labelled(self) -> int:
        return len(self._targets)

    @property
    def steps(self) -> int:
        """Conjugate gradient steps taken so far, over all fits."""
        return self._steps

    @property
    def ready(self) -> bool:
        """Whether both a relevant and an irrelevant record are labelled: without, nothing can be ranked."""
        return len(set(self._targets)) == 2

    def add(self, row: int, relevant: bool) -> None:
        """Label a record, by its row of the pool; each at most once."""
        n = self.labelled
        if n == len(self._gram):
            larger = np.zeros((2 * n, 2 * n))
            larger[:n, :n] = self._gram
            self._gram = larger
        products = self._rows.append(row) + BIAS
        self._gram[n, : n + 1] = self._gram[: n + 1, n] = products
        self._targets.append(1.0 if relevant else -1.0)

    def fit(self) -> LeastSquares:
        """Fit to all labels so far. Raises ClassifierError where there is only one kind of label."""
        if not self.ready:
            raise ClassifierError(
                "a learner needs a relevant and an irrelevant record; only one kind is labelled"
            )
        y = np.array(self._targets)
        positives = int((y > 0).sum())
        light = RELEVANT_WEIGHT * positives / (BALANCE * (len(y) - positives))
        diagonal = 0.5 / np.where(y > 0, RELEVANT_WEIGHT, light)
        gram = self._gram[: len(y), : len(y)]
        inverse = 1 / (diagonal + gram.diagonal())
        start = inverse * y
        start[: len(self._dual)] = self._dual
        self._dual = self._solve(gram, diagonal, inverse, y, start)
        return self

    def scores(self) -> Floats:
        """(n,): w.x + b for every record of the pool. They rank, and are no probabilities."""
        return np.asarray(self._pool @ self._rows.combine(self._dual) + BIAS * self._dual.sum())

    def _solve(self, gram: Floats, diagonal: Floats, inverse: Floats, y: Floats, x: Floats) -> Floats:
        residual = y - (gram @ x + diagonal * x)
        scaled = inverse * residual
        direction = scaled
        size = residual @ scaled
        enough = TOLERANCE**2 * (y @ (inverse * y))
        for _ in range(_MOST_STEPS):
            if size <= enough:
                break
            self._steps += 1
            image = gram @ direction + diagonal * direction
            length = size / (direction @ image)
            x = x + length * direction
            residual = residual - length * image
            scaled = inverse * residual
            size, before = residual @ scaled, size
            direction = scaled + (size / before) * direction
        return x


class _GrowingRows:
    """Some rows of a CSR matrix, gathered one at a time without copying those before."""

    def __init__(self, matrix: Any) -> None:
        self._matrix = matrix
        self._row = np.zeros(matrix.shape[1])
        self._data = np.zeros(1024)
        self._indices = np.zeros(1024, matrix.indices.dtype)
        self._ends = np.zeros(64, matrix.indptr.dtype)
        self._count = 0

    def append(self, row: int) -> Floats:
        """Add a row of the matrix; its inner products with all gathered rows, itself the last."""
        first, last = self._matrix.indptr[row], self._matrix.indptr[row + 1]
        indices, data = self._matrix.indices[first:last], self._matrix.data[first:last]
        start = int(self._ends[self._count])
        end = start + len(data)
        if end > len(self._data):
            self._data = np.resize(self._data, max(end, 2 * len(self._data)))
            self._indices = np.resize(self._indices, len(self._data))
        if self._count + 1 == len(self._ends):
            self._ends = np.resize(self._ends, 2 * len(self._ends))
        self._data[start:end], self._indices[start:end] = data, indices
        self._count += 1
        self._ends[self._count] = end
        self._row[indices] = data
        products = self._gathered() @ self._row
        self._row[indices] = 0
        return np.asarray(products)

    def combine(self, weights: Floats) -> Floats:
        """The sum of the gathered rows, each times its weight; (columns,)."""
        return np.asarray(self._gathered().T @ weights)

    def _gathered(self) -> Any:
        end = self._ends[self._count]
        parts = (self._data[:end], self._indices[:end], self._ends[: self._count + 1])
        return sparse.csr_matrix(parts, shape=(self._count, self._matrix.shape[1]), copy=False)
