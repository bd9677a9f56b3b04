"""Gavel's allocation policy: problems, exact and published water filling, proofs and traces.

What may live here: the policy, the linear programs that it solves, and analyses of its traces.
What may not: the cross-check of it, queueing and admission, or anything that knows of packages.
"""

from scheduling_core.allocation.certificate import check
from scheduling_core.allocation.problem import Problem, agnostic
from scheduling_core.allocation.result import Allocation, Mode, Proof, Round
from scheduling_core.allocation.water_filling import water_fill
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
