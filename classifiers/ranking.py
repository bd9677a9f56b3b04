"""Rank measures under many sets of weights at once, as a weighted bootstrap needs them.

The scores stay and the weights change, so each order is found once and every replicate is a cumulative
sum along it.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def weighted_average_precision(scores: ArrayLike, labels: ArrayLike, weights: Floats) -> Floats:
    """Average precision (replicates,) for scores (n,), labels (n,) and weights (replicates, n) >= 0.

    Steps over distinct scores, as scikit-learn's `average_precision_score`; NaN where no positive has
    weight. Higher scores come first.
    """
    values, positive = np.asarray(scores, np.float64), np.asarray(labels, np.bool_)
    order = np.argsort(-values, kind="stable")
    last_of_tie = np.flatnonzero(np.append(np.diff(values[order]) != 0, True))
    ranked = weights[:, order]
    all_above = np.cumsum(ranked, axis=1)[:, last_of_tie]
    positive_above = np.cumsum(ranked * positive[order], axis=1)[:, last_of_tie]
    total = positive_above[:, -1:]
    with np.errstate(invalid="ignore", divide="ignore"):
        precision = np.where(all_above > 0, positive_above / all_above, 0.0)
        gained = np.diff(positive_above, axis=1, prepend=0.0) / total
    return np.asarray((precision * gained).sum(axis=1), dtype=np.float64)


def weighted_spearman(one: ArrayLike, other: ArrayLike, weights: Floats) -> Floats:
    """Spearman's rank correlation (replicates,) of two (n,) under weights (replicates, n) >= 0.

    Pearson's correlation of weighted midranks: an integer weight counts as that many copies. NaN where
    either is constant.
    """
    a, b = _midranks(one, weights), _midranks(other, weights)
    total = weights.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        a = a - (weights * a).sum(axis=1, keepdims=True) / total
        b = b - (weights * b).sum(axis=1, keepdims=True) / total
        covariance = (weights * a * b).sum(axis=1)
        spread = np.sqrt((weights * a**2).sum(axis=1) * (weights * b**2).sum(axis=1))
        return np.asarray(np.where(spread > 0, covariance / spread, np.nan), dtype=np.float64)


def _midranks(values: ArrayLike, weights: Floats) -> Floats:
    """The middle of the weight that each value's tie spans, in the order of the values."""
    _, ties = np.unique(np.asarray(values, np.float64), return_inverse=True)
    order = np.argsort(ties, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(ties[order]) != 0, True))
    upto = np.cumsum(weights[:, order], axis=1)[:, ends]
    below = np.concatenate([np.zeros((len(weights), 1)), upto[:, :-1]], axis=1)
    return np.asarray(((below + upto) / 2)[:, ties], dtype=np.float64)
