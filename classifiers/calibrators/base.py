"""What all calibrators share: the scale of scores, the checks, and how they are stored."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
import numpy.typing as npt

from classifiers.decisions import kish_sample_size
from classifiers.errors import ClassifierError
from classifiers.metrics.sample import Floats, Sample, both_classes, finite, sample

Scale = Literal["log_odds", "probability"]
# A probability nearer to 0 or 1 than this counts as this near: the log-odds are then about +-27.6.
NEAREST = 1e-12


class Calibrator(ABC):
    """A map from a score to a probability that never turns the order of two scores round.

    Parameters
    ----------
    scale : what a score is. `log_odds` is any real number (a linear model's decision value),
        `probability` a number from 0 to 1, which is turned into its log-odds first.
    """

    method: ClassVar[str]
    version: ClassVar[int] = 1

    def __init__(self, scale: Scale = "log_odds") -> None:
        if scale not in get_args(Scale):
            raise ClassifierError(f"scale is {scale!r}, expected 'log_odds' or 'probability'")
        self.scale: Scale = scale

    def fit(self, scores: npt.ArrayLike, y: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> Self:
        """Learn the map from n scores (n,), labels 0 or 1 (n,) and design weights above 0 (n,).

        Only ratios of weights matter: where a method counts records, it counts effective ones.

        Raises
        ------
        ClassifierError : for a number that isn't finite, a weight that isn't above 0, a label that
            isn't 0 or 1, or only one class.
        """
        made = both_classes(sample(scores, y, weights))
        self._fit(made.with_values(log_odds(made.values, self.scale)))
        return self

    def predict(self, scores: npt.ArrayLike) -> Floats:
        """(n,) probabilities of n scores (n,). Raises ClassifierError before `fit`."""
        if not self._fitted():
            raise ClassifierError(f"the {self.method} calibrator isn't fitted yet")
        return self._predict(log_odds(finite(scores, "score"), self.scale))

    def to_json(self) -> dict[str, Any]:
        """Plain JSON with the exact floats; `calibrator_from_json` gives the same map back."""
        if not self._fitted():
            raise ClassifierError(f"the {self.method} calibrator isn't fitted yet")
        return {
            "method": self.method,
            "version": self.version,
            "scale": self.scale,
            "parameters": self._parameters(),
        }

    @abstractmethod
    def _fit(self, made: Sample) -> None: ...

    @abstractmethod
    def _predict(self, s: Floats) -> Floats: ...

    @abstractmethod
    def _fitted(self) -> bool: ...

    @abstractmethod
    def _parameters(self) -> dict[str, Any]: ...

    @abstractmethod
    def _restore(self, parameters: Mapping[str, Any]) -> None:
        """Take parameters back, or raise ClassifierError with what is wrong with them."""


def log_odds(scores: Floats, scale: Scale) -> Floats:
    """Log-odds of scores; probabilities within 1e-12 of 0 or 1 count as 1e-12 from it."""
    if scale == "log_odds":
        return scores
    outside = np.flatnonzero((scores < 0) | (scores > 1))
    if len(outside):
        i = int(outside[0])
        raise ClassifierError(f"score of record {i} is {float(scores[i])!r}, expected a probability, 0 to 1")
    p = np.clip(scores, NEAREST, 1 - NEAREST)
    return np.log(p) - np.log1p(-p)


def soft_bounds(made: Sample) -> tuple[float, float]:
    """The lowest and the highest probability that n labels can speak for: Platt's target values.

    1 / (N- + 2) and (N+ + 1) / (N+ + 2) (Platt 1999, section 2.2) of the effective class sizes. Where
    one class's records weigh more on average, that class's correction is the full one and the other's
    is reduced in proportion, so that what both move still cancels and the mean probability stays the
    weighted base rate; with equal weights the values are Platt's.
    """
    positive, negative = made.weights[made.y], made.weights[~made.y]
    n_positive, n_negative = kish_sample_size(positive), kish_sample_size(negative)
    ratio = (positive.sum() / n_positive) / (negative.sum() / n_negative)
    low = min(1.0, ratio) / (n_negative + 2)
    high = 1 - min(1.0, 1 / ratio) / (n_positive + 2)
    return float(low), float(high)


def soft_targets(made: Sample) -> Floats:
    """(n,) labels replaced by the bounds, so that a logistic fit exists even where classes don't overlap."""
    low, high = soft_bounds(made)
    return np.where(made.y, high, low)


def number(parameters: Mapping[str, Any], name: str) -> float:
    """One finite number of a stored calibrator."""
    value = parameters[name]
    # Compared and not converted: an integer of 400 digits is no float.
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
        raise ClassifierError(f"{name} is {value!r}, expected a finite number")
    return float(value)


def numbers(parameters: Mapping[str, Any], name: str) -> Floats:
    """A non-empty list of finite numbers of a stored calibrator."""
    values = parameters[name]
    if not isinstance(values, list) or not values:
        raise ClassifierError(f"{name} isn't a list of numbers")
    return np.array([number({name: value}, name) for value in values])
