"""Errors of the scheduling core: one sentence each, what is wrong and what was expected."""

from __future__ import annotations


class SchedulingError(ValueError):
    """An input that the scheduling core refuses."""


class SolverError(SchedulingError):
    """A well-formed problem that a numerical method could not finish."""


class CertificateError(SchedulingError):
    """A result whose proof does not hold."""
