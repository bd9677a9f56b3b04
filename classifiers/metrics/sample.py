"""Labelled records as arrays: what every metric and calibrator is given, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from classifiers.decisions import MIN_ESS_POSITIVES, MIN_POSITIVES, kish_sample_size, supported
from classifiers.errors import ClassifierError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Sample:
    """n labelled records.

    values : (n,) scores or probabilities; y : (n,) True where positive; weights : (n,) design
    weights, all above 0; groups : (n,) codes 0..G-1 of what was sampled or split together.
    """

    values: Floats
    y: Bools
    weights: Floats
    groups: Ints

    def __len__(self) -> int:
        return len(self.values)

    @property
    def outcome(self) -> Floats:
        """(n,) labels as 0.0 and 1.0."""
        return self.y.astype(np.float64)

    def take(self, rows: npt.NDArray[Any]) -> Sample:
        """The records of a mask or of row numbers; groups keep their identity."""
        _, groups = np.unique(self.groups[rows], return_inverse=True)
        return Sample(self.values[rows], self.y[rows], self.weights[rows], groups.astype(np.int64))

    def with_values(self, values: npt.ArrayLike, what: str = "probability") -> Sample:
        """The same records with other values, finite and of the same number."""
        return Sample(finite(values, what, len(self)), self.y, self.weights, self.groups)


@dataclass(frozen=True)
class Support:
    """How many records stand behind a head, and how many they are worth under their weights.

    `effective_*` is (sum w)^2 / sum(w^2) within the class (Kish 1965).
    """

    records: int
    positives: int
    negatives: int
    effective_positives: float
    effective_negatives: float

    @property
    def enough(self) -> bool:
        """The support rule of a head: at least 20 positives that are worth at least 10."""
        return supported(self.positives, self.effective_positives)

    @property
    def shortage(self) -> str:
        """The sentence for a head that hasn't enough."""
        return (
            f"{self.positives} positives worth {self.effective_positives:.1f} under their weights, "
            f"expected at least {MIN_POSITIVES} worth at least {MIN_ESS_POSITIVES:g}"
        )

    @property
    def enough_of_both(self) -> bool:
        """The same asked of the negatives too, for figures that compare the classes."""
        return self.enough and supported(self.negatives, self.effective_negatives)


def support(y: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> Support:
    """Counts and effective sizes of both classes."""
    positive = labels(y)
    w = design_weights(weights, len(positive))
    return Support(
        len(positive),
        int(positive.sum()),
        int((~positive).sum()),
        kish_sample_size(w[positive]),
        kish_sample_size(w[~positive]),
    )


def sample(
    values: npt.ArrayLike,
    y: npt.ArrayLike,
    weights: npt.ArrayLike | None = None,
    groups: npt.ArrayLike | None = None,
    *,
    what: str = "score",
) -> Sample:
    """Checked arrays of one length; weights of 1 and groups of one record where none are given.

    Raises ClassifierError naming the first record (from 0) that can't be used.
    """
    checked = finite(values, what)
    if not len(checked):
        raise ClassifierError("there are no records, expected at least one")
    return Sample(
        checked,
        labels(y, len(checked)),
        design_weights(weights, len(checked)),
        group_codes(groups, len(checked)),
    )


def probabilities(
    values: npt.ArrayLike,
    y: npt.ArrayLike,
    weights: npt.ArrayLike | None = None,
    groups: npt.ArrayLike | None = None,
) -> Sample:
    """As `sample`, with values that have to lie in [0, 1]."""
    made = sample(values, y, weights, groups, what="probability")
    outside = np.flatnonzero((made.values < 0) | (made.values > 1))
    if len(outside):
        i = int(outside[0])
        raise ClassifierError(f"probability of record {i} is {made.values[i]}, expected 0 to 1")
    return made


def finite(values: npt.ArrayLike, what: str, length: int | None = None) -> Floats:
    """One-dimensional finite numbers. Raises ClassifierError otherwise."""
    array = _numbers(values, what, length)
    bad = np.flatnonzero(~np.isfinite(array))
    if len(bad):
        raise ClassifierError(f"{what} of record {bad[0]} is {array[bad[0]]}, expected a finite number")
    return array


def labels(y: npt.ArrayLike, length: int | None = None) -> Bools:
    """Labels 0 and 1 (or False and True) as booleans. An unknown label has no place here."""
    array = _numbers(y, "label", length)
    bad = np.flatnonzero((array != 0) & (array != 1))
    if len(bad):
        raise ClassifierError(f"label of record {bad[0]} is {array[bad[0]]}, expected 0 or 1")
    positive: Bools = array == 1
    return positive


def design_weights(weights: npt.ArrayLike | None, length: int) -> Floats:
    """Weights above 0 and finite; 1 for each record where none are given.

    Beyond 1e-100 and 1e100 their squares and sums would leave the range of numbers.
    """
    if weights is None:
        return np.ones(length)
    array = finite(weights, "weight", length)
    bad = np.flatnonzero(array <= 0)
    if len(bad):
        raise ClassifierError(f"weight of record {bad[0]} is {array[bad[0]]}, expected a number above 0")
    bad = np.flatnonzero((array < 1e-100) | (array > 1e100))
    if len(bad):
        raise ClassifierError(f"weight of record {bad[0]} is {array[bad[0]]}, expected 1e-100 to 1e100")
    return array


def group_codes(groups: npt.ArrayLike | None, length: int, what: str = "group") -> Ints:
    """Groups (or folds) as codes 0..G-1 in sorted order; each record its own where none are given."""
    if groups is None:
        return np.arange(length, dtype=np.int64)
    array = np.asarray(groups)
    if array.shape != (length,):
        raise ClassifierError(
            f"there are {what}s of the shape {array.shape}, expected one for each of {length} records"
        )
    _, codes = np.unique(array, return_inverse=True)
    return codes.astype(np.int64)


def both_classes(made: Sample) -> Sample:
    """The sample itself. Raises ClassifierError when it holds only one class."""
    if made.y.all() or not made.y.any():
        raise ClassifierError(
            f"all {len(made)} records are {'positive' if made.y[0] else 'negative'}, expected both classes"
        )
    return made


def _numbers(values: npt.ArrayLike, what: str, length: int | None) -> Floats:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ClassifierError(f"a {what} isn't a number, expected numbers only") from None
    if array.ndim != 1:
        raise ClassifierError(f"{what} has {array.ndim} dimensions, expected one number for each record")
    if length is not None and len(array) != length:
        raise ClassifierError(
            f"there are {len(array)} numbers as {what}, expected {length}, one for each record"
        )
    return array
