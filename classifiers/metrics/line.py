"""Calibration intercept and slope: logistic recalibration (Cox 1958, Biometrika 45)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import ndtri

from classifiers.metrics.logistic import expit, fit_logistic
from classifiers.metrics.sample import Floats, Sample, both_classes

LineState = Literal["available", "constant", "separated"]
LEVEL = 0.95
_NEAREST = 1e-12


@dataclass(frozen=True)
class Estimate:
    """A number with its standard error and its interval at 95 %; all None but the value with one group."""

    value: float
    standard_error: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class CalibrationLine:
    """How predicted log-odds have to be moved and stretched to fit the labels.

    intercept : calibration in the large, logit P(y) = a + logit p; 0 when the mean is right, above 0
        when probabilities are too low. slope : b of logit P(y) = a + b logit p; 1 when the spread is
        right, below 1 when probabilities are too extreme; `slope_intercept` is the a of that fit.
    state : `constant` when all probabilities are equal and `separated` when no overlap of the
        classes bounds the slope; then there is no slope. clipped : probabilities of exactly 0 or 1, or
        within 1e-12 of them, taken as 1e-12 from them.
    """

    state: LineState
    intercept: Estimate
    slope: Estimate | None
    slope_intercept: Estimate | None
    clipped: int


def calibration_line(predicted: Sample) -> CalibrationLine:
    """Weighted fits with Wald intervals from a sandwich variance.

    Scores are summed within groups before they are squared (Binder 1983, linearisation for one stage
    of clusters), with the factor G / (G - 1), so that weights and groups both count. One group shows no
    spread between groups: there is no standard error then.

    Raises
    ------
    ClassifierError : when there is only one class.
    """
    both_classes(predicted)
    p = np.clip(predicted.values, _NEAREST, 1 - _NEAREST)
    x = np.log(p) - np.log1p(-p)
    clipped = int((p != predicted.values).sum())
    y, w = predicted.outcome, predicted.weights
    ones = np.ones(len(x))
    shift, _ = fit_logistic([], y, w, offset=x)
    (intercept,) = _estimates([shift], [ones], expit(x + shift), predicted)
    state = _line_state(x, predicted)
    if state != "available":
        return CalibrationLine(state, intercept, None, None, clipped)
    constant, (slope,) = fit_logistic([x], y, w)
    first, second = _estimates([constant, slope], [ones, x], expit(constant + slope * x), predicted)
    return CalibrationLine(state, intercept, second, first, clipped)


def _line_state(x: Floats, predicted: Sample) -> LineState:
    if x.min() == x.max():
        return "constant"
    positive, negative = x[predicted.y], x[~predicted.y]
    # A fit exists when neither class lies wholly beyond the other (Albert & Anderson 1984).
    if positive.min() >= negative.max() or positive.max() <= negative.min():
        return "separated"
    return "available"


def _estimates(
    coefficients: Sequence[float], features: Sequence[Floats], fitted: Floats, predicted: Sample
) -> list[Estimate]:
    if predicted.groups.min() == predicted.groups.max():
        return [Estimate(float(value), None, None, None) for value in coefficients]
    w = predicted.weights / predicted.weights.mean()
    curvature = w * fitted * (1 - fitted)
    residual = w * (predicted.outcome - fitted)
    information = np.array([[(curvature * a * b).sum() for b in features] for a in features])
    scores = np.array([np.bincount(predicted.groups, weights=residual * a) for a in features])
    count = scores.shape[1]
    meat = np.array([[(a * b).sum() for b in scores] for a in scores]) * count / (count - 1)
    inverse = np.linalg.inv(information)
    variance = np.diag(inverse @ meat @ inverse)
    z = float(ndtri(0.5 + LEVEL / 2))
    return [
        Estimate(float(value), float(se), float(value - z * se), float(value + z * se))
        for value, se in zip(coefficients, np.sqrt(variance), strict=True)
    ]
