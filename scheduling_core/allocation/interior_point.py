"""A homogeneous self-dual interior-point method for linear programs in cone form.

    minimise c'v   subject to   G v + s = h,  s >= 0
    maximise -h'z  subject to   G'z + c = 0,  z >= 0

Why it exists: where the optimum of a linear program is a face and not a point, *which* point is
reported depends on the solver.  The published allocation figures were computed with ECOS, whose
iterates end near the analytic centre of the face.  Reproducing them takes the same method with the
same constants; a simplex solver, or another interior point, gives other numbers.

Method: Mehrotra's predictor and corrector on the self-dual embedding with Nesterov-Todd scaling,
as in A. Domahidi, E. Chu, S. Boyd, "ECOS: An SOCP solver for embedded systems", ECC 2013, and
L. Vandenberghe, "The CVXOPT linear and quadratic cone program solvers", 2010; for the positive
orthant the scaling is W = diag(sqrt(s / z)).  The static regularisation delta is part of the
system that is solved:

    [ delta I   G'               ] [v]   [bv]
    [ G         -(W^2 + delta I) ] [z] = [bz]

The structure of G is the caller's: see `LevelCone`.

Precision: on an optimal face the pull towards the centre is some 1e-8 of the objective, so that
rounding errors of 1e-16 move the point by 1e-9 and more.  Vectors are therefore kept in numpy's
longdouble (64 bits of mantissa on x86-64), matrices are inverted in float64, and each Newton
solution is refined with residuals in the wide type: one answer then repeats to some 1e-12 and a
whole trace to 1e-10, whatever the linear-algebra kernel.  Where longdouble is float64 (arm64 macOS,
Windows) single scores repeat to 1e-8 only and the means of a trace to 1e-9.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from scheduling_core.allocation.problem import Reals
from scheduling_core.errors import SolverError

Real = np.floating[Any]

# Constants of ECOS 2.0 (all but the number of refinements).
TOLERANCE = 1e-8  # feasibility, absolute and relative gap
REDUCED_TOLERANCE = 5e-5  # accepted when the iterations run out
REGULARISATION = 7e-8
STEP_FRACTION = 0.99  # of the longest step that stays inside the cone
LONGEST_STEP = 0.999
SHORTEST_STEP = 1e-6
SMALLEST_CENTERING = 1e-4
MAX_ITERATIONS = 100
REFINEMENTS = 1


class Factor(Protocol):
    """A factored Newton matrix."""

    def solve(self, bv: Reals, bz: Reals) -> tuple[Reals, Reals]:
        """(v, z) for right-hand sides (..., columns), (..., rows), up to rounding."""


class Cone(Protocol):
    """What the method needs to know of c, G and h."""

    c: Reals
    h: Reals

    def apply(self, v: Reals) -> Reals:
        """G v."""

    def apply_transpose(self, z: Reals) -> Reals:
        """G' z."""

    def factor(self, w: Reals, delta: float) -> Factor:
        """Factor [[delta I, G'], [G, -diag(w)]]."""


@dataclass(frozen=True)
class Point:
    """Where the method stopped: v (columns,), slack s and multipliers z (rows,), iterations."""

    v: Reals
    s: Reals
    z: Reals
    iterations: int


class _Newton:
    """Solves the regularised Newton system for one scaling, with iterative refinement."""

    def __init__(self, cone: Cone, squared_scaling: Reals) -> None:
        self._cone = cone
        self._w2 = squared_scaling + REGULARISATION
        self._factor = cone.factor(self._w2, REGULARISATION)

    def solve(self, bv: Reals, bz: Reals) -> tuple[Reals, Reals]:
        cone = self._cone
        v, z = self._factor.solve(bv, bz)
        for _ in range(REFINEMENTS):
            error_v = bv - REGULARISATION * v - cone.apply_transpose(z)
            error_z = bz - (cone.apply(v) - self._w2 * z)
            dv, dz = self._factor.solve(error_v, error_z)
            v += dv
            z += dz
        return v, z


def solve(cone: Cone) -> Point:
    """Minimise c'v over the cone.

    Raises
    ------
    SolverError : if after 100 iterations not even the reduced tolerance is met.
    """
    c, h = cone.c, cone.h
    v, s, z = _start(cone)
    tau = kappa = c.dtype.type(1.0)
    for iteration in range(MAX_ITERATIONS + 1):
        gtz, gv = cone.apply_transpose(z), cone.apply(v)
        residual_v = -gtz - c * tau
        residual_z = s + gv - h * tau
        cv, hz = (c * v).sum(), (h * z).sum()
        residual_tau = kappa + cv + hz
        gap = (s * z).sum()
        mu = (gap + kappa * tau) / (len(h) + 1)

        error = _error(cone, v, s, z, tau, residual_v, residual_z)
        if error < TOLERANCE:
            break
        if iteration == MAX_ITERATIONS or np.isnan(gap):
            if error < REDUCED_TOLERANCE:
                break
            raise SolverError(
                f"The interior-point method stopped after {iteration} iterations with an error of "
                f"{error:.1e}, expected {REDUCED_TOLERANCE:.0e} or less."
            )

        newton = _Newton(cone, s / z)
        w, lam = np.sqrt(s / z), np.sqrt(s * z)
        (v1, v2), (z1, z2) = newton.solve(np.stack([-c, residual_v]), np.stack([h, s - residual_z]))
        denominator = kappa / tau - (c * v1).sum() - (h * z1).sum()
        # Predictor: the affine direction, straight at the optimum.
        d_tau = (residual_tau - kappa + (c * v2).sum() + (h * z2).sum()) / denominator
        scaled_dz = w * (z2 + d_tau * z1)
        scaled_ds = -scaled_dz - lam
        d_kappa = -kappa - kappa / tau * d_tau
        reach = _longest(scaled_ds / lam, scaled_dz / lam, d_tau / tau, d_kappa / kappa)
        sigma = min(max((1.0 - reach) ** 3, SMALLEST_CENTERING), 1.0)
        # Corrector: back towards the central path, with the second-order term of the predictor.
        complementarity = (lam * lam + scaled_ds * scaled_dz - sigma * mu) / lam
        of_tau = kappa * tau + d_kappa * d_tau - sigma * mu
        keep = 1.0 - sigma
        v2, z2 = newton.solve(keep * residual_v, w * complementarity - keep * residual_z)
        d_tau = (keep * residual_tau - of_tau / tau + (c * v2).sum() + (h * z2).sum()) / denominator
        dv, dz = v2 + d_tau * v1, z2 + d_tau * z1
        scaled_dz = w * dz
        scaled_ds = -complementarity - scaled_dz
        d_kappa = -(of_tau + kappa * d_tau) / tau
        step = STEP_FRACTION * _longest(scaled_ds / lam, scaled_dz / lam, d_tau / tau, d_kappa / kappa)
        v, s, z = v + step * dv, s + step * (w * scaled_ds), z + step * dz
        tau, kappa = tau + step * d_tau, kappa + step * d_kappa
    return Point(v / tau, s / tau, z / tau, iteration)


def _error(
    cone: Cone, v: Reals, s: Reals, z: Reals, tau: Real, residual_v: Reals, residual_z: Reals
) -> float:
    """The largest of the relative infeasibilities and the gap, absolute or relative."""
    cv, hz, gap = (cone.c * v).sum(), (cone.h * z).sum(), (s * z).sum()
    primal, dual = cv / tau, -hz / tau
    relative_gap = gap / -primal if primal < 0 else gap / dual if dual > 0 else np.inf
    scale_c, scale_h = max(1.0, _norm(cone.c)), max(1.0, _norm(cone.h))
    infeasible = max(
        _norm(residual_z) / (scale_h + _norm(v) + _norm(s)),
        _norm(residual_v) / (scale_c + _norm(z)),
    )
    bounded = cv < 0 or -hz >= -TOLERANCE
    return max(infeasible / float(tau), float(min(gap, relative_gap)) if bounded else np.inf)


def _start(cone: Cone) -> tuple[Reals, Reals, Reals]:
    """Least-squares starting points, shifted into the cone as in ECOS."""
    newton = _Newton(cone, np.ones_like(cone.h))
    v, r = newton.solve(np.zeros_like(cone.c), cone.h)
    _, z = newton.solve(-cone.c, np.zeros_like(cone.h))
    return v, _into_cone(-r), _into_cone(z)


def _into_cone(r: Reals) -> Reals:
    """r raised by one number until every entry is positive, with some room."""
    lowest = r.min()
    shift = -STEP_FRACTION if lowest > 0 else max(-STEP_FRACTION, -lowest)
    return r + (1.0 + shift)


def _longest(ds: Reals, dz: Reals, d_tau: Real, d_kappa: Real) -> float:
    """The longest step, within limits, that keeps s, z, tau and kappa from turning negative.

    All four directions are relative to where they start.
    """
    fastest = min(ds.min(), dz.min(), d_tau, d_kappa)
    longest = -1.0 / fastest if fastest < 0 else np.inf
    return min(max(longest, SHORTEST_STEP), LONGEST_STEP)


def _norm(a: Reals) -> float:
    return float(np.sqrt((a * a).sum()))
