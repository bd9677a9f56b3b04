"""Isotonic regression (Zadrozny & Elkan 2002), by pool-adjacent-violators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from classifiers.calibrators.base import Calibrator, Scale, number, numbers, soft_bounds
from classifiers.errors import ClassifierError
from classifiers.metrics.sample import Floats, Sample


class Isotonic(Calibrator):
    """The non-decreasing function of the score that is nearest to the labels.

    Equal scores are one point with their weighted rate. Between two points of the fit the value is
    interpolated linearly, and beyond the first and the last it stays theirs. No value is below or
    above what the labels can speak for (`soft_bounds`), since a block without positives would
    otherwise promise exactly 0.
    """

    method = "isotonic"

    def __init__(self, scale: Scale = "log_odds") -> None:
        super().__init__(scale)
        self.scores_: Floats | None = None
        self.values_: Floats | None = None
        self.bounds_: tuple[float, float] = (0.0, 1.0)

    def _fit(self, made: Sample) -> None:
        self.bounds_ = soft_bounds(made)
        from scipy.optimize import isotonic_regression

        distinct, place = np.unique(made.values, return_inverse=True)
        order = np.lexsort((made.outcome, place))  # sums are taken in one order, whatever that of the records
        place, weights = place[order], made.weights[order]
        weight = np.bincount(place, weights)
        rate = np.bincount(place, weights * made.outcome[order]) / weight
        values = isotonic_regression(rate, weights=weight).x
        corner = np.ones(len(values), dtype=bool)  # a point between two equal ones says nothing
        corner[1:-1] = (values[1:-1] != values[:-2]) | (values[1:-1] != values[2:])
        self.scores_ = distinct[corner]
        self.values_ = np.maximum.accumulate(values[corner])

    def _predict(self, s: Floats) -> Floats:
        assert self.scores_ is not None
        assert self.values_ is not None
        return np.clip(np.interp(s, self.scores_, self.values_), *self.bounds_)

    def _fitted(self) -> bool:
        return self.scores_ is not None

    def _parameters(self) -> dict[str, Any]:
        assert self.scores_ is not None
        assert self.values_ is not None
        low, high = self.bounds_
        return {"scores": self.scores_.tolist(), "values": self.values_.tolist(), "low": low, "high": high}

    def _restore(self, parameters: Mapping[str, Any]) -> None:
        scores, values = numbers(parameters, "scores"), numbers(parameters, "values")
        low, high = number(parameters, "low"), number(parameters, "high")
        if len(scores) != len(values):
            raise ClassifierError(
                f"there are {len(scores)} scores and {len(values)} values, expected as many"
            )
        if (np.diff(scores) <= 0).any() or (np.diff(values) < 0).any():
            raise ClassifierError(
                "its scores don't rise or its values fall, expected a non-decreasing function"
            )
        if values[0] < 0 or values[-1] > 1 or not 0 < low < high < 1:
            raise ClassifierError("its values or bounds lie outside 0 to 1")
        self.scores_, self.values_, self.bounds_ = scores, values, (low, high)
