"""A second computation of the exact allocation, sharing no code with `scheduling_core.allocation`.

It reads the same files by itself, states the policy in other variables (GPUs held and one clock,
instead of fractions of time and increments), finds bottlenecks by maximisation instead of dual
prices, and aggregates by itself.

What the two do share: numpy; HiGHS, which answers the linear programs of both, here through
`scipy.optimize.linprog` with presolve and without warm starts; and the reading of the policy by
the same people.  Agreement speaks against mistakes in code, not against a shared misreading.
"""

from scheduling_core.crosscheck.levels import CrosscheckError, Jobs, exact_levels
from scheduling_core.crosscheck.report import run

__all__ = ["CrosscheckError", "Jobs", "exact_levels", "run"]
