"""Calibrators: monotone maps from a score to a probability, with scikit-learn's fit and predict.

In `METHODS` they stand from the simplest to the most flexible, which is the order that a choice
between equals follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from classifiers.calibrators.base import Calibrator, Scale, log_odds
from classifiers.calibrators.isotonic import Isotonic
from classifiers.calibrators.parametric import Beta, NoCalibration, Sigmoid, Temperature
from classifiers.calibrators.venn_abers import VennAbers
from classifiers.errors import ClassifierError

Method = Literal["none", "temperature", "sigmoid", "beta", "isotonic", "venn_abers"]
METHODS: tuple[Method, ...] = get_args(Method)

_CLASSES: dict[str, type[Calibrator]] = {
    kind.method: kind for kind in (NoCalibration, Temperature, Sigmoid, Beta, Isotonic, VennAbers)
}

__all__ = [
    "METHODS",
    "Beta",
    "Calibrator",
    "Isotonic",
    "Method",
    "NoCalibration",
    "Scale",
    "Sigmoid",
    "Temperature",
    "VennAbers",
    "calibrator",
    "calibrator_from_json",
    "log_odds",
]


def calibrator(method: str, scale: Scale = "log_odds") -> Calibrator:
    """An unfitted calibrator by its name. Raises ClassifierError naming those that there are."""
    if method not in _CLASSES:
        raise ClassifierError(
            f"there is no calibration method {method!r}, expected one of {', '.join(METHODS)}"
        )
    return _CLASSES[method](scale)


def calibrator_from_json(stored: Any) -> Calibrator:
    """The calibrator that `to_json` stored, the same to the last bit.

    Raises
    ------
    ClassifierError : for an unknown method or version, and for parameters that no fit could give.
    """
    if not isinstance(stored, Mapping):
        raise ClassifierError(
            "a stored calibrator isn't an object, expected method, version, scale, parameters"
        )
    expected = {"method", "version", "scale", "parameters"}
    if set(stored) != expected:
        odd = sorted(map(str, expected ^ set(stored)))[0]
        raise ClassifierError(
            f"a stored calibrator {'lacks' if odd in expected else 'holds an unknown'} {odd!r}, "
            "expected method, version, scale, parameters"
        )
    method, version = stored["method"], stored["version"]
    if not isinstance(method, str):
        raise ClassifierError(f"a stored calibrator has the method {method!r}, expected a name")
    made = calibrator(method, stored["scale"])
    if type(version) is not int or version != made.version:
        raise ClassifierError(
            f"a stored {method} calibrator has version {version!r}, expected {made.version}; fit it again"
        )
    parameters = stored["parameters"]
    if not isinstance(parameters, Mapping):
        raise ClassifierError(f"a stored {method} calibrator has no parameters, expected an object")
    try:
        made._restore(parameters)
    except KeyError as error:
        raise ClassifierError(f"a stored {method} calibrator lacks the parameter {error.args[0]!r}") from None
    except ClassifierError as error:
        raise ClassifierError(f"a stored {method} calibrator can't be used: {error}") from None
    unknown = sorted(map(str, set(parameters) - set(made._parameters())))
    if unknown:
        raise ClassifierError(f"a stored {method} calibrator holds an unknown parameter {unknown[0]!r}")
    return made
