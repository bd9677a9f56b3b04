"""Measures of an order of reading: recall and precision at a depth, work saved, NDCG, time to discovery.

Depth is a sum of weights; with weights of 1 it counts records. Records of equal score are in random
order, and measures are expected values over it, except for `work_saved`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from classifiers.errors import ClassifierError
from classifiers.metrics.curves import thresholds
from classifiers.metrics.sample import Sample, labels


def recall_at(scored: Sample, depth: float) -> float:
    """Share of the positives' weight within the first `depth` of weight."""
    return _found(scored, depth) / float(scored.weights[scored.y].sum())


def precision_at(scored: Sample, depth: float) -> float:
    """Share of positives' weight in the first `depth` of weight."""
    return _found(scored, depth) / min(depth, float(scored.weights.sum()))


def work_saved(scored: Sample, recall: float = 0.95) -> float:
    """WSS@r = (N - depth) / N - (1 - r), depth being where recall first reaches r (Cohen et al. 2006).

    Of equal scores all have to be read. Reading in random order saves 0 on average.
    """
    _share(recall, "recall")
    at = thresholds(scored)
    # Sums of weights are compared within rounding, so that 19 of 20 reach 95 %.
    reached = at.true_positives >= recall * at.true_positives[-1] * (1 - 1e-12)
    k = int(np.argmax(reached))
    depth = at.true_positives[k] + at.false_positives[k]
    return float(recall - depth / (at.true_positives[-1] + at.false_positives[-1]))


def average_time_to_discovery(scored: Sample) -> float:
    """Weighted mean depth at which positives are found, each counted in (the first record is at 1)."""
    at = thresholds(scored)
    ends = at.true_positives + at.false_positives
    starts = np.concatenate([[0.0], ends[:-1]])
    place = np.searchsorted(-at.scores, -scored.values[scored.y])
    w = scored.weights[scored.y]
    # Half of those of the same score are read before it, on average.
    depth = starts[place] + (ends[place] - starts[place] + w) / 2
    return float((w * depth).sum() / w.sum())


def ndcg(scored: Sample, k: int | None = None) -> float:
    """Normalised discounted cumulative gain of the first k records (all by default), gain y.

    Järvelin & Kekäläinen (2002), with discount 1 / log2(1 + rank), averaged over ties (McSherry &
    Najork 2008). Ranks are of the records as they are: weights have no part in it.
    """
    n = len(scored)
    if k is not None and k < 1:
        raise ClassifierError(f"k is {k}, expected at least 1")
    discount = 1 / np.log2(np.arange(2, n + 2))
    if k is not None:
        discount[k:] = 0
    _, place = np.unique(-scored.values, return_inverse=True)
    positives = np.bincount(place, weights=scored.outcome)
    counts = np.bincount(place)
    sums = np.add.reduceat(discount, np.concatenate([[0], np.cumsum(counts)[:-1]]))
    ideal = discount[: int(scored.y.sum())].sum()
    if ideal == 0:
        raise ClassifierError("there is no positive, expected at least one")
    return float((positives / counts * sums).sum() / ideal)


def work_saved_asreview(ordered: Sequence[int] | npt.NDArray[np.bool_], recall: float = 0.95) -> float:
    """WSS@r as ASReview Insights 1 counts it, for comparison with its figures; labels in reading order.

    It differs from `work_saved` in rounding: it looks at floor(r x positives) of them, and at where
    the rounded number that a random order has found reaches as many.
    """
    _share(recall, "recall")
    y = labels(np.asarray(ordered))
    positives = int(y.sum())
    wanted = int(np.floor(recall * positives * (1 + 1e-12)))
    if wanted < 1:
        raise ClassifierError(f"there are {positives} positives, too few to reach a recall of {recall:g}")
    random = np.round(np.linspace(0, positives, len(y)))
    found = int(np.searchsorted(np.cumsum(y), wanted))
    return (int(np.searchsorted(random, wanted)) - found) / len(y)


def _found(scored: Sample, depth: float) -> float:
    total = float(scored.weights.sum())
    if not depth > 0:
        raise ClassifierError(f"depth is {depth:g}, expected a number above 0")
    at = thresholds(scored)
    ends = np.concatenate([[0.0], at.true_positives + at.false_positives])
    return float(np.interp(min(depth, total), ends, np.concatenate([[0.0], at.true_positives])))


def _share(value: float, what: str) -> None:
    if not 0 < value <= 1:
        raise ClassifierError(f"{what} is {value:g}, expected a number above 0 and up to 1")
