"""Calibrators with nought to three parameters: none, temperature, sigmoid, beta."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from classifiers.calibrators.base import Calibrator, Scale, number, soft_targets
from classifiers.errors import ClassifierError
from classifiers.metrics.logistic import expit, fit_logistic
from classifiers.metrics.sample import Floats, Sample


class _Linear(Calibrator):
    """expit of a linear function, with coefficients that are never below 0."""

    names: tuple[str, ...]
    intercept: bool = True

    def __init__(self, scale: Scale = "log_odds") -> None:
        super().__init__(scale)
        self.intercept_: float | None = None
        self.coefficients_: tuple[float, ...] = ()

    def _features(self, s: Floats) -> tuple[Floats, ...]:
        raise NotImplementedError

    def _fit(self, made: Sample) -> None:
        targets = soft_targets(made)
        features = self._features(made.values)
        intercept, coefficients = _fit_non_negative(features, targets, made.weights, self.intercept)
        self.intercept_, self.coefficients_ = intercept, tuple(coefficients)

    def _predict(self, s: Floats) -> Floats:
        assert self.intercept_ is not None
        linear = np.full(len(s), self.intercept_)
        for coefficient, feature in zip(self.coefficients_, self._features(s), strict=True):
            linear += coefficient * feature
        return expit(linear)

    def _fitted(self) -> bool:
        return self.intercept_ is not None

    def _parameters(self) -> dict[str, Any]:
        values = dict(zip(self.names, self.coefficients_, strict=True))
        return values | ({"intercept": self.intercept_} if self.intercept else {})

    def _restore(self, parameters: Mapping[str, Any]) -> None:
        coefficients = tuple(number(parameters, name) for name in self.names)
        for name, value in zip(self.names, coefficients, strict=True):
            if value < 0:
                raise ClassifierError(f"{name} is {value!r}, expected 0 or more")
        self.coefficients_ = coefficients
        self.intercept_ = number(parameters, "intercept") if self.intercept else 0.0


class NoCalibration(_Linear):
    """The score as it is: expit of the log-odds."""

    method = "none"
    names = ()
    intercept = False

    def _features(self, s: Floats) -> tuple[Floats, ...]:
        return ()

    def __init__(self, scale: Scale = "log_odds") -> None:
        super().__init__(scale)
        # There is nothing to fit.
        self.intercept_ = 0.0

    def _predict(self, s: Floats) -> Floats:
        return expit(s)


class Temperature(_Linear):
    """expit(s / T): scores sharpened or softened about 1/2 (Guo et al. 2017, ICML, section 4.2).

    Stored as 1 / T, which may be 0. Platt's soft targets keep it finite.
    """

    method = "temperature"
    names = ("inverse_temperature",)
    intercept = False

    def _features(self, s: Floats) -> tuple[Floats, ...]:
        return (s,)


class Sigmoid(_Linear):
    """expit(slope s + intercept) (Platt 1999), fitted as in Lin, Lin & Weng (2007).

    Platt's target values are those of the effective class sizes (`soft_bounds`). A slope below 0,
    which would turn the ranking round, becomes 0: every record then has the base rate.
    """

    method = "sigmoid"
    names = ("slope",)

    def _features(self, s: Floats) -> tuple[Floats, ...]:
        return (s,)


class Beta(_Linear):
    """expit(a ln p - b ln(1 - p) + c) with a, b >= 0, p = expit(s) (Kull, Silva Filho & Flach 2017, AISTATS).

    Their logistic fit on ln p and -ln(1 - p), with Platt's soft targets, so that a fit exists where
    the classes don't overlap.
    """

    method = "beta"
    names = ("a", "b")

    def _features(self, s: Floats) -> tuple[Floats, ...]:
        return -np.logaddexp(0, -s), np.logaddexp(0, s)


def _fit_non_negative(
    features: tuple[Floats, ...], targets: Floats, weights: Floats, intercept: bool
) -> tuple[float, list[float]]:
    """The fit under coefficients >= 0: free where that holds, else the best with one or more held at 0.

    The loss is convex: when the free fit breaks a bound, the bounded minimum lies on a bound that
    the free fit breaks.
    """
    if not features and not intercept:
        return 0.0, []
    constant, coefficients = fit_logistic(features, targets, weights, intercept=intercept)
    broken = [k for k, value in enumerate(coefficients) if value < 0]
    if not broken:
        return constant, coefficients
    candidates = []
    for held in broken:
        rest = tuple(x for k, x in enumerate(features) if k != held)
        c, inner = _fit_non_negative(rest, targets, weights, intercept)
        full = [*inner[:held], 0.0, *inner[held:]]
        candidates.append((_loss(features, targets, weights, c, full), c, full))
    _, constant, coefficients = min(candidates, key=lambda candidate: candidate[0])
    return constant, coefficients


def _loss(
    features: tuple[Floats, ...], targets: Floats, weights: Floats, constant: float, coefficients: list[float]
) -> float:
    linear = np.full(len(targets), constant)
    for coefficient, feature in zip(coefficients, features, strict=True):
        linear += coefficient * feature
    return float((weights * (np.logaddexp(0, linear) - targets * linear)).sum())
