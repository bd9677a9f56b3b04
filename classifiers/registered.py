"""The analyses that this package registers, all here: they share code, so they are one implementation.

A run calls a value independent when another implementation came to it too; two analyses of ours never
confirm each other. Each is imported when it is called, since some need far more than others.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

Inputs = Mapping[str, Path]
Parameters = Mapping[str, Any]
Json = dict[str, Any]


def agreement(inputs: Inputs, parameters: Parameters, seed: int = 0) -> Json:
    """See `classifiers.analyses.agreement.agreement_counts`."""
    from classifiers.analyses.agreement import agreement_counts

    return agreement_counts(inputs, parameters, seed)


def prevalence(inputs: Inputs, parameters: Parameters, seed: int = 0) -> Json:
    """See `classifiers.analyses.prevalence.prevalence`."""
    from classifiers.analyses.prevalence import prevalence as analysis

    return analysis(inputs, parameters, seed)


def quota(inputs: Inputs, parameters: Parameters, seed: int = 0) -> Json:
    """See `classifiers.analyses.quotas.quota_counts`."""
    from classifiers.analyses.quotas import quota_counts

    return quota_counts(inputs, parameters, seed)


def maturity(inputs: Inputs, parameters: Parameters, seed: int = 0) -> Json:
    """See `classifiers.analyses.maturity.maturity_gate`."""
    from classifiers.analyses.maturity import maturity_gate

    return maturity_gate(inputs, parameters, seed)


def report(inputs: Inputs, parameters: Parameters, seed: int = 0) -> Json:
    """See `classifiers.report.calibration_report`."""
    from classifiers.report import calibration_report

    return calibration_report(inputs, parameters, seed)


def training(inputs: Inputs, parameters: Parameters, seed: int = 0) -> Json:
    """See `classifiers.analyses.training.train_again`."""
    from classifiers.analyses.training import train_again

    return train_again(inputs, parameters, seed)


def simulation(inputs: Inputs, parameters: Parameters, seed: int = 0) -> Json:
    """See `classifiers.active.analysis.simulation`."""
    from classifiers.active.analysis import simulation as analysis

    return analysis(inputs, parameters, seed)
