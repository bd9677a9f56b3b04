"""From scores to calls: support, quotas by row rank, the two sides together, disagreement and uncertainty.

The rules are those of the MétaCan screening study. A call is a model's statement about a frame, never a
label: it carries its status, and a category without support makes none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from classifiers.errors import ClassifierError
from schema.scores import Quota
from schema.states import Call, call

MIN_POSITIVES = 20
MIN_ESS_POSITIVES = 10.0

Floats = NDArray[np.float64]


def kish_sample_size(weights: ArrayLike) -> float:
    """Kish's effective sample size (sum w)^2 / sum w^2 of weights (n,); 0 where there are none."""
    w = np.asarray(weights, dtype=np.float64)
    if w.size == 0:
        return 0.0
    if not (np.isfinite(w).all() and (w > 0).all()):
        raise ClassifierError("a design weight isn't a finite number above 0; weights are N_h / n_h")
    scaled = w / w.max()  # the same value, without overflow
    return float(scaled.sum() ** 2 / (scaled**2).sum())


def supported(positives: int, ess_positives: float) -> bool:
    """Whether one side's positives are enough to make calls: at least 20, of effective size at least 10."""
    return positives >= MIN_POSITIVES and ess_positives >= MIN_ESS_POSITIVES


@dataclass(frozen=True)
class Rate:
    """A design-weighted rate of positives, and what it rests on.

    `low` and `high` are its 95 % interval, both None where the design gives none: no stratum had two
    works drawn.
    """

    head: str
    category: str
    rate: float
    low: float | None
    high: float | None
    positives: int
    ess_positives: float


def quotas(rates: Sequence[Rate], covered: int) -> tuple[Quota, ...]:
    """How many of `covered` works each head calls: k = round(rate x covered), with the interval's k.

    A category makes calls only where every head of it has support; else none of its heads has a k.
    """
    if covered < 0:
        raise ClassifierError(f"{covered} works can't be covered")
    sides: dict[str, list[bool]] = {}
    for rate in rates:
        low, high = (rate.rate if end is None else end for end in (rate.low, rate.high))
        if not 0 <= low <= rate.rate <= high <= 1:
            raise ClassifierError(
                f"rate of {rate.head} for {rate.category}: {rate.low} <= {rate.rate} <= {rate.high} doesn't "
                "hold between 0 and 1"
            )
        sides.setdefault(rate.category, []).append(supported(rate.positives, rate.ess_positives))
    return tuple(_quota(rate, covered, all(sides[rate.category])) for rate in rates)


def _quota(rate: Rate, covered: int, may_call: bool) -> Quota:
    k, low, high = (None if r is None else round(r * covered) for r in (rate.rate, rate.low, rate.high))
    return Quota(
        head=rate.head, category=rate.category, rate=rate.rate, rate_low=rate.low, rate_high=rate.high,
        covered=covered, positives=rate.positives, ess_positives=rate.ess_positives,
        supported=supported(rate.positives, rate.ess_positives),
        k=k if may_call else None, k_low=low if may_call else None, k_high=high if may_call else None,
    )  # fmt: skip


def top(ids: ArrayLike, scores: ArrayLike, k: int) -> NDArray[np.int64]:
    """Row numbers (k,) of the k highest scores, best first, by (score descending, id ascending).

    By row rank, never by a threshold read back from text: that can lose or gain a row at the boundary.
    `ids` (n,) are integers or texts (compared by code point), each once; `scores` (n,) are finite.
    """
    values, names = np.asarray(scores, dtype=np.float64), np.asarray(ids)
    if names.dtype.kind not in "iuU":
        raise ClassifierError("ids are whole numbers or texts")
    if values.shape != names.shape:
        raise ClassifierError(f"{names.size} ids, but {values.size} scores")
    if not np.isfinite(values).all():
        raise ClassifierError("a score isn't a finite number; a work without a score isn't covered")
    if not 0 <= k <= values.size:
        raise ClassifierError(f"k is {k}, but {values.size} works are covered")
    if k == 0:
        return np.empty(0, dtype=np.int64)
    # Only rows that could be among the first k are sorted: the boundary's ties are all among them.
    boundary = np.partition(values, values.size - k)[values.size - k]
    rows = np.flatnonzero(values >= boundary)
    order = np.lexsort((names[rows], -values[rows]))
    return rows[order[:k]]


@dataclass(frozen=True)
class CategoryCalls:
    """Calls for one category over the covered works, in the order of their ids as given.

    `sides` (heads, n) says which head has the work among its k; None: that head makes no call.
    `thresholds` are the scores at the last row of each k, for uncertainty only (None: no call).
    """

    category: str
    heads: tuple[str, ...]
    sides: tuple[NDArray[np.bool_] | None, ...]
    thresholds: tuple[float | None, ...]

    @property
    def supported(self) -> bool:
        """Whether every side may call."""
        return all(side is not None for side in self.sides)

    @property
    def candidate(self) -> NDArray[np.int64]:
        """Row numbers of the union of the sides."""
        return np.flatnonzero(np.logical_or.reduce(self._sides()))

    @property
    def consensus(self) -> NDArray[np.int64]:
        """Row numbers of the intersection of the sides; none where there is one side only."""
        sides = self._sides()
        if len(sides) < 2:
            return np.empty(0, dtype=np.int64)
        return np.flatnonzero(np.logical_and.reduce(sides))

    def call(self, row: int) -> Call:
        """The call on one covered work, as `schema.states` decides it."""
        return call([None if side is None else bool(side[row]) for side in self.sides], covered=True)

    def _sides(self) -> list[NDArray[np.bool_]]:
        given = [side for side in self.sides if side is not None]
        if len(given) < len(self.sides) or not given:
            raise ClassifierError(f"{self.category}: a side has no support, so the category makes no call")
        return given


def category_calls(
    category: str, ids: ArrayLike, scores: Mapping[str, ArrayLike], quotas_: Sequence[Quota]
) -> CategoryCalls:
    """Align the heads of one category to their quotas over the works `ids` (n,).

    `scores` maps each head to its scores (n,); heads come in the order of `quotas_`.
    """
    mine = [q for q in quotas_ if q.category == category]
    n = np.asarray(ids).size
    sides: list[NDArray[np.bool_] | None] = []
    thresholds: list[float | None] = []
    for quota in mine:
        if quota.k is None:
            sides.append(None)
            thresholds.append(None)
            continue
        values = np.asarray(scores[quota.head], dtype=np.float64)
        chosen = top(ids, values, quota.k)
        side = np.zeros(n, dtype=np.bool_)
        side[chosen] = True
        sides.append(side)
        thresholds.append(float(values[chosen[-1]]) if quota.k else None)
    return CategoryCalls(category, tuple(q.head for q in mine), tuple(sides), tuple(thresholds))


def disagreement(scores: ArrayLike, direct: ArrayLike) -> Floats:
    """max over heads of |s - 1[direct positive]|, for scores (n, heads) and direct labels (n, heads).

    A direct label of NaN is unknown and takes no part; a work (n,) none of whose heads has both a
    score and a direct label gets NaN: unknown, not agreement.
    """
    s, d = np.atleast_2d(np.asarray(scores, np.float64)), np.atleast_2d(np.asarray(direct, np.float64))
    if s.shape != d.shape:
        raise ClassifierError(f"scores are {s.shape}, but direct labels {d.shape}")
    if not np.isin(d[~np.isnan(d)], (0.0, 1.0)).all():
        raise ClassifierError("a direct label is neither 1, 0 nor unknown")
    return _max_known(np.abs(s - d))


def threshold_uncertainty(scores: ArrayLike, thresholds: ArrayLike) -> Floats:
    """max over heads of clip(1 - |s - t| / (t if s < t else 1 - t), 0, 1); 1 at the threshold itself.

    `scores` (n, heads) in [0, 1], NaN unknown; `thresholds` (heads,) in [0, 1], NaN where a head makes
    no call. NaN where nothing is known.
    """
    s, t = np.atleast_2d(np.asarray(scores, np.float64)), np.asarray(thresholds, np.float64)
    if s.shape[1:] != t.shape:
        raise ClassifierError(f"scores have {s.shape[1]} heads, but there are {t.size} thresholds")
    for what, values in (("score", s), ("threshold", t)):
        known = values[~np.isnan(values)]
        if known.size and not (known.min() >= 0 and known.max() <= 1):
            raise ClassifierError(f"a {what} lies outside 0 to 1: uncertainty needs probabilities")
    room = np.where(s < t, t, 1 - t)
    distance = np.abs(s - t)
    with np.errstate(invalid="ignore", divide="ignore"):
        # Where there is no room, the score can only be at the threshold itself.
        share = np.where(distance == 0, 0.0, distance / room)
    share = np.where(np.isnan(s) | np.isnan(t), np.nan, share)
    return _max_known(np.clip(1 - share, 0, 1))


def _max_known(values: Floats) -> Floats:
    """The largest known value in each row; NaN where none is."""
    known = ~np.isnan(values)
    best = np.where(known, values, -np.inf).max(axis=1, initial=-np.inf)
    return np.where(known.any(axis=1), best, np.nan)
