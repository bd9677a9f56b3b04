"""L2-regularised logistic regression on sparse rows, solved until nothing moves.

A student's figures are to repeat, so the optimum itself is wanted and not a point that depends on
where a solver stopped: Newton steps whose equations are solved by conjugate gradients (Nocedal and
Wright 2006, algorithm 7.1), down to rounding. No BLAS is called, so threads can't change a bit.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

from classifiers.errors import ClassifierError

Floats = NDArray[np.float64]

CG_STEPS = 1000
_ROUNDING = 1e-13
"""Relative error of a loss: a smaller change says nothing."""


def check_weights(weights: Any, n: int) -> Floats:
    """Weights as (n,) float64, all finite and above zero; None stands for ones.

    Raises ClassifierError that names the first row, counted from 1, whose weight isn't usable.
    """
    if weights is None:
        return np.ones(n)
    values = np.asarray(weights, np.float64)
    if values.shape != (n,):
        raise ClassifierError(f"the weights have shape {values.shape}; expected one for each of {n:,} rows")
    bad = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
    if len(bad):
        row = int(bad[0])
        raise ClassifierError(f"the weight in row {row + 1} is {values[row]}; expected a number above 0")
    return values


def balanced_weights(y: Any, weights: Any = None) -> Floats:
    """Weights times a factor for each class, so that both classes weigh half of the whole (n,).

    `y` (n,) holds 1 and 0, both present. The sum stays as it was.
    """
    y = np.asarray(y, np.float64)
    weights = check_weights(weights, len(y))
    total, positive = weights.sum(), weights[y == 1].sum()
    factor = np.where(y == 1, total / (2 * positive), total / (2 * (total - positive)))
    return np.asarray(weights * factor)


class LogisticRegression:
    """Minimises |w|^2 / 2 + C * sum_i s_i log(1 + exp(-t_i (w x_i + b))), t = +1 or -1.

    The intercept b isn't penalised. This is the objective of scikit-learn's class of this name; a row
    of weight k counts as k rows.

    Parameters: `C`, the inverse of the penalty; `tol`, the length of the gradient at the end against
    C * sum(s), that is against its scale.

    Learned: `coef_` (terms,), `intercept_`, `n_iter_`, `gradient_` (the length of the last gradient).
    """

    coef_: Floats
    intercept_: float
    n_iter_: int
    gradient_: float

    def __init__(self, C: float = 1.0, tol: float = 1e-12, max_iter: int = 200) -> None:
        self.C, self.tol, self.max_iter = C, tol, max_iter
        if not (math.isfinite(C) and C > 0):
            raise ClassifierError(f"C is {C}; expected a number above 0")

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        start: "LogisticRegression | None" = None,
    ) -> "LogisticRegression":
        """Fit to CSR or dense `X` (n, terms) and `y` (n,) of 1 and 0.

        `start` is a model with the same columns; the optimum is the same, only nearer. Raises
        ClassifierError for other labels, for one class only, for weights that aren't above zero and
        for a fit that doesn't converge.
        """
        X = sparse.csr_matrix(X, dtype=np.float64)
        y = _check_labels(y, X.shape[0])
        problem = _problem(X, y, self.C * check_weights(sample_weight, len(y)))
        solution = np.zeros(X.shape[1] + 1)
        if start is None:
            positive = float(problem.weights[y == 1].sum())
            solution[0] = math.log(positive / (float(problem.weights.sum()) - positive))
        else:
            if start.coef_.shape != (X.shape[1],):
                raise ClassifierError(
                    f"the model to start from has {len(start.coef_):,} terms; expected {X.shape[1]:,}"
                )
            solution[0], solution[1:] = start.intercept_, start.coef_
        solution, self.n_iter_, self.gradient_ = _newton(problem, solution, self.tol, self.max_iter)
        self.intercept_, self.coef_ = float(solution[0]), solution[1:]
        return self

    def decision_function(self, X: Any) -> Floats:
        """Log odds (n,): w x + b."""
        return np.asarray(X @ self.coef_ + self.intercept_)

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities (n, 2) of 0 and of 1, as the fit's weights have it; they are not calibrated."""
        positive = expit(self.decision_function(X))
        return np.column_stack([1 - positive, positive])


def _check_labels(y: Any, n: int) -> Floats:
    labels = np.asarray(y, np.float64)
    if labels.shape != (n,):
        raise ClassifierError(f"the labels have shape {labels.shape}; expected one for each of {n:,} rows")
    bad = np.flatnonzero((labels != 0) & (labels != 1))
    if len(bad):
        row = int(bad[0])
        raise ClassifierError(f"the label in row {row + 1} is {labels[row]}; a fit takes 1 and 0 only")
    if labels.min(initial=1) == labels.max(initial=0):
        raise ClassifierError("the labels hold one class only; a fit needs positives and negatives")
    return labels


@dataclass(frozen=True)
class _Problem:
    """The objective in v = (b, w), length terms + 1.

    rows : CSR (n, terms + 1), the first column ones; columns : its transpose, in CSR too, which is read
    faster. weights (n,) : C * s.
    """

    rows: Any
    columns: Any
    y: Floats
    weights: Floats

    def loss(self, v: Floats, margins: Floats) -> float:
        """The objective; `margins` (n,) belong to `v`."""
        each = np.logaddexp(0.0, margins) - self.y * margins
        return 0.5 * _dot(v[1:], v[1:]) + _dot(self.weights, each)


def _problem(X: Any, y: Floats, weights: Floats) -> _Problem:
    ones = sparse.csr_matrix(np.ones((X.shape[0], 1)))
    rows = sparse.hstack([ones, X], format="csr")
    return _Problem(rows, rows.T.tocsr(), y, weights)


def _dot(a: Floats, b: Floats) -> float:
    """The inner product without BLAS, whose threads would decide the last bits."""
    return float(np.einsum("i,i->", a, b))


def _newton(problem: _Problem, v: Floats, tol: float, max_iter: int) -> tuple[Floats, int, float]:
    """Truncated Newton steps with backtracking from `v`. Returns the end, steps, length of the gradient."""
    scale = 1.0 + float(problem.weights.sum())
    margins = problem.rows @ v
    length = math.inf
    for step in range(max_iter):
        p = expit(margins)
        gradient = problem.columns @ (problem.weights * (p - problem.y)) + v
        gradient[0] -= v[0]  # the intercept isn't penalised
        length = math.sqrt(_dot(gradient, gradient))
        if length <= tol * scale:
            return v, step, length
        # Loose equations far from the optimum, strict ones near it, and none stricter than the end asks.
        accuracy = min(0.25, max(math.sqrt(length / scale), 0.5 * tol * scale / length))
        direction = _conjugate_gradients(problem, problem.weights * p * (1.0 - p), gradient, accuracy)
        size = _step_size(problem, v, margins, direction, _dot(gradient, direction))
        if size is None:
            break
        v = v + size * direction
        margins = problem.rows @ v
    if length <= 1e-8 * scale:
        return v, max_iter, length
    raise ClassifierError(
        f"the fit didn't converge: its gradient is still {length:.1e} against {tol * scale:.1e}"
        f" after {max_iter} steps; a smaller C converges sooner"
    )


def _step_size(
    problem: _Problem, v: Floats, margins: Floats, direction: Floats, slope: float
) -> float | None:
    """The largest of 1, 1/2, 1/4, ... that lowers the loss enough (Armijo); None where none does."""
    along = problem.rows @ direction
    before, size = problem.loss(v, margins), 1.0
    while size > 1e-12:
        loss = problem.loss(v + size * direction, margins + size * along)
        if loss <= before + 1e-4 * size * slope + _ROUNDING * abs(before):
            return size
        size /= 2
    return None


def _conjugate_gradients(problem: _Problem, curvature: Floats, gradient: Floats, accuracy: float) -> Floats:
    """Solve H d = -gradient up to `accuracy` of its length, H = diag(0, 1, .., 1) + X' D X.

    Rows have length 1, so H is near the identity but for the intercept, whose own curvature sum(D)
    is all the preconditioning that pays.
    """
    scaling = 1.0 / max(float(curvature.sum()), np.finfo(np.float64).tiny)
    solution, residual = np.zeros_like(gradient), -gradient
    goal, product = accuracy * accuracy * _dot(gradient, gradient), 0.0
    direction = np.zeros_like(gradient)
    for _ in range(CG_STEPS):
        square, own = _dot(residual[1:], residual[1:]), float(residual[0])
        if square + own * own <= goal:
            break
        previous, product = product, square + scaling * own * own
        direction *= product / previous if previous else 0.0
        direction += residual
        direction[0] += (scaling - 1.0) * own
        image = problem.columns @ (curvature * (problem.rows @ direction))
        image += direction
        image[0] -= direction[0]
        size = product / _dot(direction, image)
        solution += size * direction
        image *= size
        residual -= image
    return solution
