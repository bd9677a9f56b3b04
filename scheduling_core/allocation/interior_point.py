"""A homogeneous self-dual interior-point method for linear programs in cone form.

    minimise c'v   subject to   G v + s = h,  s >= 0
    maximise -h'z  subject to   G'z + c = 0,  z >= 0

Why it exists: where the optimum of a linear program is a face and not a point, *which* point is
reported depends on the solver.  The published allocation figures were computed with ECOS, whose
iterates end near the analytic centre of the face.  Reproducing them takes the same method with the
same constants; a simplex solver, or another interior point, gives other numbers.

Method: Mehrotra's predictor and corrector on the self-dual embedding with Nesterov-Todd scaling,
as in A. Domahidi, E. Chu, S. Boyd, "ECOS: An SOCP solver for embedded systems", ECC 2013
(algorithm 1 and section III), and L. Vandenberghe, "The CVXOPT linear and quadratic cone program
solvers", 2010 (section 7); for the positive orthant the scaling is W = diag(sqrt(s / z)).
The static regularisation stays in the system that is solved, as it does in ECOS between its
refinement steps:

    [ delta I   G'               ] [v]   [bv]
    [ G         -(W^2 + delta I) ] [z] = [bz]

The structure of G is the caller's: see `LevelCone`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from scheduling_core.allocation.level_cone import Factor, Reals
from scheduling_core.errors import SolverError

# Constants of ECOS 2.0.
TOLERANCE = 1e-8  # feasibility, absolute and relative gap
REDUCED_TOLERANCE = 5e-5  # accepted when the iterations run out
REGULARISATION = 7e-8
STEP_FRACTION = 0.99  # of the longest step that stays inside the cone
LONGEST_STEP = 0.999
SHORTEST_STEP = 1e-6
SMALLEST_CENTERING = 1e-4
MAX_ITERATIONS = 100
REFINEMENTS = 2


class Cone(Protocol):
    """What the method needs to know of c, G and h."""

    rows: int
    columns: int
    c: Reals
    h: Reals

    def apply(self, v: Reals) -> Reals:
        """G v."""

    def apply_transpose(self, z: Reals) -> Reals:
        """G' z."""

    def factor(self, d: Reals, delta: float) -> Factor:
        """Factor delta I + G' diag(d) G."""


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
        self._d = 1.0 / self._w2
        self._factor = cone.factor(self._d, REGULARISATION)

    def solve(self, bv: Reals, bz: Reals) -> tuple[Reals, Reals]:
        cone = self._cone
        v, z = self._once(bv, bz)
        for _ in range(REFINEMENTS):
            error_v = bv - REGULARISATION * v - cone.apply_transpose(z)
            error_z = bz - (cone.apply(v) - self._w2 * z)
            dv, dz = self._once(error_v, error_z)
            v += dv
            z += dz
        return v, z

    def _once(self, bv: Reals, bz: Reals) -> tuple[Reals, Reals]:
        v = self._factor.solve(bv + self._cone.apply_transpose(self._d * bz))
        return v, self._d * (self._cone.apply(v) - bz)


def solve(cone: Cone) -> Point:
    """Minimise c'v over the cone.

    Raises
    ------
    SolverError : if after 100 iterations not even the reduced tolerance is met.
    """
    c, h = cone.c, cone.h
    v, s, z = _start(cone)
    tau = kappa = c.dtype.type(1.0)
    scale_c, scale_h = max(1.0, _norm(c)), max(1.0, _norm(h))
    for iteration in range(MAX_ITERATIONS + 1):
        gtz, gv = cone.apply_transpose(z), cone.apply(v)
        residual_v = -gtz - c * tau
        residual_z = s + gv - h * tau
        cv, hz = (c * v).sum(), (h * z).sum()
        residual_tau = kappa + cv + hz
        gap = (s * z).sum()
        mu = (gap + kappa * tau) / (cone.rows + 1)

        primal, dual = cv / tau, -hz / tau
        relative = gap / -primal if primal < 0 else gap / dual if dual > 0 else np.inf
        infeasible_z = _norm(residual_z) / max(scale_h + _norm(v) + _norm(s), 1.0) / tau
        infeasible_v = _norm(residual_v) / max(scale_c + _norm(z), 1.0) / tau

        def good(
            tol: float,
            worst: Reals = np.maximum(infeasible_z, infeasible_v),
            least_gap: Reals = np.minimum(gap, relative),
            bounded: bool = bool(cv < 0 or -hz >= -TOLERANCE),
        ) -> bool:
            return bounded and bool(worst < tol and least_gap < tol)

        if good(TOLERANCE):
            break
        if iteration == MAX_ITERATIONS:
            if good(REDUCED_TOLERANCE):
                break
            raise SolverError(
                f"The interior-point method stopped after {MAX_ITERATIONS} iterations with an "
                f"error of {float(max(infeasible_z, infeasible_v)):.1e}, expected "
                f"{REDUCED_TOLERANCE:.0e} or less."
            )

        newton = _Newton(cone, s / z)
        w, lam = np.sqrt(s / z), np.sqrt(s * z)
        v1, z1 = newton.solve(-c, h)
        denominator = kappa / tau - (c * v1).sum() - (h * z1).sum()
        # Predictor: the affine direction, straight at the optimum.
        v2, z2 = newton.solve(residual_v, s - residual_z)
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
        d_tau = (
            keep * residual_tau - of_tau / tau + (c * v2).sum() + (h * z2).sum()
        ) / denominator
        dv, dz = v2 + d_tau * v1, z2 + d_tau * z1
        scaled_dz = w * dz
        scaled_ds = -complementarity - scaled_dz
        d_kappa = -(of_tau + kappa * d_tau) / tau
        step = STEP_FRACTION * _longest(
            scaled_ds / lam, scaled_dz / lam, d_tau / tau, d_kappa / kappa
        )
        v, s, z = v + step * dv, s + step * (w * scaled_ds), z + step * dz
        tau, kappa = tau + step * d_tau, kappa + step * d_kappa
    return Point(v / tau, s / tau, z / tau, iteration)


def _start(cone: Cone) -> tuple[Reals, Reals, Reals]:
    """Least-squares starting points, shifted into the cone (ECOS, section III-B)."""
    newton = _Newton(cone, np.ones_like(cone.h))
    v, r = newton.solve(np.zeros_like(cone.c), cone.h)
    _, z = newton.solve(-cone.c, np.zeros_like(cone.h))
    return v, _into_cone(-r), _into_cone(z)


def _into_cone(r: Reals) -> Reals:
    """r raised by one number until every entry is positive, with some room."""
    lowest = r.min()
    shift = -STEP_FRACTION if lowest > 0 else max(-STEP_FRACTION, -lowest)
    return r + (1.0 + shift)


def _longest(
    ds: Reals, dz: Reals, d_tau: np.floating, d_kappa: np.floating  # type: ignore[type-arg]
) -> float:
    """The longest step, within limits, that keeps s, z, tau and kappa from turning negative.

    All four directions are relative to where they start.
    """
    fastest = min(ds.min(), dz.min(), d_tau, d_kappa)
    longest = -1.0 / fastest if fastest < 0 else np.inf
    return min(max(longest, SHORTEST_STEP), LONGEST_STEP)


def _norm(a: Reals) -> np.floating:  # type: ignore[type-arg]
    return np.sqrt((a * a).sum())
