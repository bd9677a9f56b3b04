"""Cross-fitted calls: each fold's threshold is set on the others, by scores whose models saw neither.

So a figure never comes from data that set its threshold. Two policies: the threshold with the largest F1,
and a quota, the design-weighted rate of positives.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from classifiers.linear import Floats
from classifiers.metrics import Interval
from classifiers.metrics.bootstrap import percentile, resampled
from classifiers.student.labels import Ints

Policy = Literal["f1", "quota"]
POLICIES: tuple[Policy, ...] = get_args(Policy)
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Confusion:
    """Records by call and label: counts, not weights."""

    true_positives: int
    false_positives: int
    false_negatives: int
    true_negatives: int


@dataclass(frozen=True)
class Calls:
    """What a policy would have called out of fold, and how well.

    called (n,). thresholds (K,) : what each fold was cut by: with `f1` the lowest log-odds called, with
    `quota` the rate; both come from the other folds. precision, recall, f1 : design-weighted, with
    percentile intervals of a bootstrap of groups; None where nothing was called or nothing is positive.
    """

    policy: Policy
    called: Bools
    thresholds: tuple[float, ...]
    confusion: Confusion
    precision: Interval | None
    recall: Interval | None
    f1: Interval | None


def cross_fitted_calls(
    policy: Policy,
    scores: Floats,
    nested: Floats,
    y: Floats,
    weights: Floats,
    fold: Ints,
    groups: Ints,
    seed: int,
    replicates: int,
) -> Calls:
    """Calls on n labelled records in the order of their ids.

    scores, y, weights, fold, groups (n,): out-of-fold log-odds, 1 and 0, design weights, codes 0..K-1
    and 0..G-1. nested (K, n): see `crossfit.CrossFit`.
    """
    called = np.zeros(len(y), bool)
    thresholds = []
    for k in range(len(nested)):
        here, others = fold == k, fold != k
        if policy == "f1":
            threshold = f1_threshold(nested[k][others], y[others], weights[others])
            called[here] = scores[here] >= threshold
        else:
            threshold = float((weights * y)[others].sum() / weights[others].sum())
            called[here] = quota(scores[here], weights[here], threshold)
        thresholds.append(threshold)
    positive = y == 1
    confusion = Confusion(
        int((called & positive).sum()),
        int((called & ~positive).sum()),
        int((~called & positive).sum()),
        int((~called & ~positive).sum()),
    )
    figures = _figures(called, positive, weights, groups, seed, replicates)
    return Calls(policy, called, tuple(thresholds), confusion, *figures)


def f1_threshold(scores: Floats, y: Floats, weights: Floats) -> float:
    """The score t for which calling all s >= t has the largest weighted F1; the highest such t.

    Infinite, that is calling nothing, where there is no positive.
    """
    order = np.argsort(-scores, kind="stable")
    s, w, positive = scores[order], weights[order], (weights * y)[order]
    last = np.append(s[1:] != s[:-1], True)  # equal scores are called together
    hits, called = np.cumsum(positive)[last], np.cumsum(w)[last]
    f1 = 2 * hits / (called + positive.sum())
    best = int(np.argmax(f1)) if len(f1) else 0
    return float(s[last][best]) if len(f1) and f1[best] > 0 else float("inf")


def quota(scores: Floats, weights: Floats, rate: float) -> Bools:
    """The first records by (score descending, row ascending) that hold `rate` of all weight.

    A record is called when the middle of its weight lies within the quota; with equal weights that
    is k = round(rate * n), a half rounded up.
    """
    order = np.lexsort((np.arange(len(scores)), -scores))
    w = weights[order]
    called = np.zeros(len(scores), bool)
    called[order] = np.cumsum(w) - w / 2 <= rate * weights.sum()
    return called


def _figures(
    called: Bools, positive: Bools, weights: Floats, groups: Ints, seed: int, replicates: int
) -> tuple[Interval | None, Interval | None, Interval | None]:
    """Precision, recall and F1 from sums by group, resampled by group."""
    count = int(groups.max(initial=-1)) + 1
    sums = np.column_stack(
        [
            np.bincount(groups, weights=weights * which, minlength=count)
            for which in (called & positive, called, positive)
        ]
    )
    value = _ratios(sums.sum(axis=0)[None])[0]
    draws = [np.einsum("rg,gc->rc", times, sums) for times in resampled(count, replicates, seed)]
    replicated = _ratios(np.concatenate(draws))
    precision, recall, f1 = (
        percentile(float(v), replicated[:, i]) if np.isfinite(v) else None for i, v in enumerate(value)
    )
    return precision, recall, f1


def _ratios(sums: Floats) -> Floats:
    """(r, 3) precision, recall, F1 of (r, 3) weighted hits, calls, positives; NaN where undefined."""
    hits, called, positives = sums.T
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.column_stack([hits / called, hits / positives, 2 * hits / (called + positives)])
