"""Ratings of items by raters, counted by pattern: all that a coefficient of agreement needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from classifiers.errors import ClassifierError

Label: TypeAlias = str | bool
Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

UNUSABLE = -1


@dataclass(frozen=True, eq=False)
class Ratings:
    """Cells of items that share stratum, weight and every rating. Make one with a function below.

    `codes` (cells x raters) are positions in `categories`, `UNUSABLE` where a rater gave no usable
    rating; `counts` (cells) are numbers of items, `weights` (cells) the design weight of one item, and
    `stratum` (cells) positions in `strata`. Cells are sorted by stratum, ratings and weight, so the order
    of the items is forgotten.
    `raters` is None where published counts don't say who rated what: nothing is then given by rater.
    `weighted` and `stratified` say whether a design was given or every item counts alike.
    """

    categories: tuple[Label, ...]
    positive: Label | None
    raters: tuple[str, ...] | None
    strata: tuple[str, ...]
    weighted: bool
    stratified: bool
    codes: Ints
    counts: Ints
    weights: Floats
    stratum: Ints

    @property
    def items(self) -> int:
        """Number of items."""
        return int(self.counts.sum())

    @property
    def groups(self) -> Ints:
        """First cell of each group of neighbours that differ in weight only."""
        keys = np.column_stack([self.stratum, self.codes])
        return np.flatnonzero(np.append(True, (keys[1:] != keys[:-1]).any(axis=1)))

    @property
    def panel(self) -> int:
        """Number of columns: raters who may have rated an item."""
        return int(self.codes.shape[1])


def ratings_from_matrix(
    values: Sequence[Sequence[Label | None]],
    raters: Sequence[str],
    *,
    categories: Sequence[Label] = (False, True),
    positive: Label | None = True,
    weights: Sequence[float] | None = None,
    strata: Sequence[str] | None = None,
    ids: Sequence[str] | None = None,
) -> Ratings:
    """Ratings from a matrix (items x raters) of categories, None where a rating is missing or unusable.

    `categories` is the whole vocabulary, whether used or not (AC1 and PABAK depend on its size), and
    `positive` the category whose sets Jaccard compares, or None. `weights` are design weights (items),
    `strata` names of strata (items), `ids` names of items, for messages only.

    Raises
    ------
    ClassifierError : for a row of another length, a value outside the vocabulary, a weight that is not
        a positive finite number, or a design of another length than the ratings.
    """
    names = _names(raters)
    labels = _vocabulary(categories, positive)
    n = len(values)
    if n == 0:
        raise ClassifierError("there are no items to compare; expected at least one row of ratings")
    for what, given in (("weights", weights), ("strata", strata), ("ids", ids)):
        if given is not None and len(given) != n:
            raise ClassifierError(f"there are {len(given)} {what} for {n} items; expected one for each item")
    codes = _codes(values, names, labels, ids)
    stratum_names, stratum = _strata(strata, n, ids)
    return _cells(labels, positive, names, stratum_names, strata is not None, codes, stratum, weights, ids)


def ratings_from_pair(
    n: int, a: int, b: int, both: int, *, raters: tuple[str, str] = ("A", "B"), unusable: int = 0
) -> Ratings:
    """Two raters' published counts: `n` items, `a` and `b` positive for each, `both` for both.

    `unusable` items without two usable ratings stand beside the `n`.

    Raises
    ------
    ClassifierError : for counts that no 2 x 2 table has.
    """
    for name, value in (("n", n), ("A", a), ("B", b), ("both", both), ("unusable", unusable)):
        _whole(name, value)
    if both > min(a, b):
        raise ClassifierError(f"both is {both}, more than the {min(a, b)} positives of one rater")
    if a + b - both > n:
        raise ClassifierError(f"A, B and both give {a + b - both} items with a positive, more than n = {n}")
    codes = np.array([[UNUSABLE, UNUSABLE], [0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.int64)
    counts = np.array([unusable, n - a - b + both, b - both, a - both, both], dtype=np.int64)
    return _counted(_names(raters), codes, counts)


def ratings_from_positive_counts(counts: Mapping[int, int], raters: int) -> Ratings:
    """A panel's published counts: `counts[k]` items with `k` positives among `raters` usable ratings.

    Who gave the positives is not known, so nothing will be said by rater or by pair.

    Raises
    ------
    ClassifierError : for fewer than two raters, a number of positives outside 0..raters, a count that
        is no whole number, or no item.
    """
    if _whole("raters", raters) < 2:
        raise ClassifierError(f"there is {raters} rater; agreement needs two or more")
    for positives, items in counts.items():
        if _whole("a number of positives", positives) > raters:
            raise ClassifierError(f"{positives} positives from {raters} raters can't be")
        _whole(f"the count of items with {positives} positives", items)
    ordered = sorted(counts)
    codes = np.array([[int(r < k) for r in range(raters)] for k in ordered], dtype=np.int64)
    return _counted(None, codes.reshape(-1, raters), np.array([counts[k] for k in ordered], dtype=np.int64))


def _counted(raters: tuple[str, ...] | None, codes: Ints, counts: Ints) -> Ratings:
    if counts.sum() == 0:
        raise ClassifierError("the counts add up to no item; expected at least one")
    kept = counts > 0
    size = int(kept.sum())
    one = np.ones(size)
    nought = np.zeros(size, dtype=np.int64)
    cells = (codes[kept], counts[kept], one, nought)
    return Ratings((False, True), True, raters, ("",), False, False, *cells)


def _whole(name: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise ClassifierError(f"{name} is {value!r}, expected a whole number of 0 or more")
    return int(value)


def _names(raters: Sequence[str]) -> tuple[str, ...]:
    names = tuple(raters)
    if len(names) < 2:
        raise ClassifierError(f"there is {len(names)} rater; agreement needs two or more")
    for position, name in enumerate(names):
        if name in names[:position]:
            raise ClassifierError(f"rater {name!r} is there twice; each may stand once")
    return names


def _vocabulary(categories: Sequence[Label], positive: Label | None) -> tuple[Label, ...]:
    labels = tuple(categories)
    if len(set(labels)) != len(labels) or len(labels) < 2:
        raise ClassifierError(f"the categories are {list(labels)}, expected two or more, each once")
    if None in labels:
        raise ClassifierError("None marks an unusable rating and can't be a category")
    if positive is not None and positive not in labels:
        raise ClassifierError(f"the positive category {positive!r} is not among {list(labels)}")
    return labels


def _item(position: int, ids: Sequence[str] | None) -> str:
    return f"item {ids[position]}" if ids is not None else f"item {position + 1}"


def _codes(
    values: Sequence[Sequence[Label | None]],
    raters: tuple[str, ...],
    categories: tuple[Label, ...],
    ids: Sequence[str] | None,
) -> Ints:
    code: dict[Label | None, int] = {None: UNUSABLE} | {label: k for k, label in enumerate(categories)}
    rows: list[list[int]] = []
    for position, row in enumerate(values):
        if len(row) != len(raters):
            raise ClassifierError(
                f"{_item(position, ids)} has {len(row)} ratings, expected {len(raters)}, one for each rater"
            )
        try:
            rows.append([code[value] for value in row])
        except (KeyError, TypeError):
            rater, value = next((r, v) for r, v in zip(raters, row, strict=True) if not _known(v, categories))
            raise ClassifierError(
                f"{_item(position, ids)}: rater {rater} says {value!r}, expected one of "
                f"{', '.join(map(repr, categories))}, or None for an unusable rating"
            ) from None
    return np.array(rows, dtype=np.int64)


def _known(value: object, categories: tuple[Label, ...]) -> bool:
    try:
        return value is None or value in set(categories)
    except TypeError:
        return False


def _strata(strata: Sequence[str] | None, n: int, ids: Sequence[str] | None) -> tuple[tuple[str, ...], Ints]:
    if strata is None:
        return ("",), np.zeros(n, dtype=np.int64)
    for position, name in enumerate(strata):
        if not isinstance(name, str) or not name:
            raise ClassifierError(
                f"{_item(position, ids)} has the stratum {name!r}, expected the name of a stratum"
            )
    names = tuple(sorted(set(strata)))
    place = {name: index for index, name in enumerate(names)}
    return names, np.array([place[name] for name in strata], dtype=np.int64)


def _weights(weights: Sequence[float] | None, n: int, ids: Sequence[str] | None) -> Floats:
    if weights is None:
        return np.ones(n)
    try:
        given = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise ClassifierError("a weight is not a number; expected a positive number for each item") from None
    bad = np.flatnonzero(~(np.isfinite(given) & (given > 0)))
    if bad.size:
        raise ClassifierError(
            f"{_item(int(bad[0]), ids)} has the weight {float(given[bad[0]])}, "
            "expected a positive finite number"
        )
    return given


def _cells(
    categories: tuple[Label, ...],
    positive: Label | None,
    raters: tuple[str, ...],
    strata: tuple[str, ...],
    stratified: bool,
    codes: Ints,
    stratum: Ints,
    weights: Sequence[float] | None,
    ids: Sequence[str] | None,
) -> Ratings:
    values, weight = np.unique(_weights(weights, len(codes), ids), return_inverse=True)
    keys = np.column_stack([stratum, codes, weight.reshape(-1)])
    order = np.lexsort(keys.T[::-1])
    keys = keys[order]
    first = np.ones(len(keys), dtype=bool)
    first[1:] = (keys[1:] != keys[:-1]).any(axis=1)
    starts = np.flatnonzero(first)
    cells = keys[starts]
    counts = np.diff(np.append(starts, len(keys))).astype(np.int64)
    return Ratings(
        categories,
        positive,
        raters,
        strata,
        weights is not None,
        stratified,
        cells[:, 1:-1],
        counts,
        values[cells[:, -1]],
        cells[:, 0],
    )
