"""Weighted logistic fits in one to three parameters, by Newton's method."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from classifiers.errors import ClassifierError
from classifiers.metrics.sample import Floats

_STEPS = 200
# Newton's decrement over the loss; the step that is then taken leaves about its square.
_CONVERGED = 1e-12


def expit(x: Floats) -> Floats:
    """1 / (1 + exp(-x)) without overflow."""
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + small), small / (1 + small))


def fit_logistic(
    features: Sequence[Floats],
    targets: Floats,
    weights: Floats,
    *,
    intercept: bool = True,
    offset: Floats | None = None,
) -> tuple[float, list[float]]:
    """Intercept and coefficients that minimise the weighted log loss of expit(offset + linear).

    Newton's method with backtracking, as Lin, Lin & Weng (2007, Machine Learning 68, algorithm 1)
    give it for Platt's sigmoid. A feature that doesn't vary (without an intercept: that is 0
    everywhere) gets the coefficient 0. `targets` lie in [0, 1]; a minimum has to exist, which the
    caller sees to (soft targets, or classes that overlap).

    Raises
    ------
    ClassifierError : when 200 steps don't reach it.
    """
    w = weights / weights.sum()
    base = np.zeros(len(targets)) if offset is None else offset
    # Centred and scaled meanwhile, since scores may lie far from 0 or within a hair of each other.
    centres = [float((w * x).sum()) if intercept else 0.0 for x in features]
    scales = [_root_mean_square(x - c, w) for x, c in zip(features, centres, strict=True)]
    used = [k for k, scale in enumerate(scales) if scale > max(1e-12 * abs(centres[k]), 1e-200)]
    rows = [(features[k] - centres[k]) / scales[k] for k in used]
    if intercept:
        rows.append(np.ones(len(targets)))
    if not rows:
        return 0.0, [0.0] * len(features)
    beta = _newton(np.array(rows).reshape(len(rows), len(targets)), targets, w, base)
    coefficients = [0.0] * len(features)
    for place, k in enumerate(used):
        coefficients[k] = float(beta[place] / scales[k])
    constant = float(beta[-1]) if intercept else 0.0
    return constant - sum(b * c for b, c in zip(coefficients, centres, strict=True)), coefficients


def _newton(design: Floats, targets: Floats, w: Floats, base: Floats) -> Floats:
    beta = np.zeros(len(design))
    loss = _loss(base, targets, w)
    for _ in range(_STEPS):
        p = expit(base + _linear(beta, design))
        gradient = np.array([(w * (p - targets) * x).sum() for x in design])
        curvature = w * p * (1 - p)
        hessian = np.array([[(curvature * x * z).sum() for z in design] for x in design])
        # As in Lin, Lin & Weng: a ridge far below the curvature keeps the system solvable.
        hessian = hessian + 1e-12 * np.eye(len(design))
        step = np.linalg.solve(hessian, gradient)
        decrement = float((gradient * step).sum())
        if decrement <= _CONVERGED * loss:
            # So near the minimum the loss can't judge a step any more, and Newton's is exact to rounding.
            return beta - step
        rate = 1.0
        while True:
            trial = beta - rate * step
            reached = _loss(base + _linear(trial, design), targets, w)
            if reached <= loss - 1e-4 * rate * decrement:
                break
            rate /= 2
        beta, loss = trial, reached
    raise ClassifierError(
        f"a logistic fit didn't end in {_STEPS} steps, expected scores and weights of ordinary size"
    )


def _root_mean_square(x: Floats, w: Floats) -> float:
    largest = float(np.abs(x).max(initial=0.0))
    return largest * float(np.sqrt((w * (x / largest) ** 2).sum())) if largest > 0 else 0.0


def _linear(beta: Floats, design: Floats) -> Floats:
    total = np.zeros(design.shape[1])
    for coefficient, x in zip(beta, design, strict=True):
        total += coefficient * x
    return total


def _loss(linear: Floats, targets: Floats, w: Floats) -> float:
    return float((w * (np.logaddexp(0, linear) - targets * linear)).sum())
