"""Gavel's allocation policy: problems, exact and published water filling, proofs and traces."""

from scheduling_core.allocation.certificate import Proof, check
from scheduling_core.allocation.problem import Problem, agnostic
from scheduling_core.allocation.water_filling import Allocation, Mode, Round, water_fill
from scheduling_core.errors import CertificateError, SchedulingError, SolverError

__all__ = [
    "Allocation",
    "CertificateError",
    "Mode",
    "Problem",
    "Proof",
    "Round",
    "SchedulingError",
    "SolverError",
    "agnostic",
    "check",
    "water_fill",
]
