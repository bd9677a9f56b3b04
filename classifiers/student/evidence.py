"""What the out-of-fold scores of one head say: its calibration and its cross-fitted calls."""

from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from classifiers.calibration import FEWEST_FOLDS, Calibration, cross_fit
from classifiers.linear import Floats
from classifiers.metrics import support
from classifiers.student.labels import Ints
from classifiers.student.thresholds import POLICIES, Calls, cross_fitted_calls


@dataclass(frozen=True)
class Evidence:
    """rows (m,) : the records that the figures are of, those with a known label and all scores."""

    rows: Ints
    calibration: Calibration
    calls: tuple[Calls, ...]


def evidence(
    scores: Floats,
    nested: Floats | None,
    y: Floats,
    weights: Floats,
    fold: Ints,
    groups: Ints,
    seed: int,
    replicates: int,
) -> Evidence:
    """Calibrate one head and cut its scores.

    scores, y, weights, fold, groups (n,): out-of-fold log-odds, labels with NaN for unknown, design
    weights, folds, codes of groups. nested (K, n): see `crossfit.CrossFit`; None where some model
    without two folds couldn't be fitted, and then nothing is called.
    """
    usable = ~np.isnan(y) & np.isfinite(scores)
    if nested is not None:
        own = np.arange(len(nested))[:, None] == fold
        usable &= (np.isfinite(nested) | own).all(axis=0)
    rows = np.flatnonzero(usable)
    y, weights, fold, groups = y[rows], weights[rows], fold[rows], groups[rows]
    codes = np.unique(groups, return_inverse=True)[1].astype(np.int64)
    there = np.unique(fold)
    with threadpool_limits(1):
        if len(there) < FEWEST_FOLDS:
            reason = f"its labels lie in {len(there)} folds, expected at least {FEWEST_FOLDS}"
            return Evidence(rows, Calibration("fold_degenerate", reason, support(y, weights)), ())
        calibration = cross_fit(
            scores[rows],
            y,
            weights,
            folds=fold,
            groups=groups,
            nested=None if nested is None else nested[there][:, rows],
            seed=seed,
            replicates=replicates,
        )
        if nested is None:
            return Evidence(rows, calibration, ())
        calls = tuple(
            cross_fitted_calls(
                policy, scores[rows], nested[:, rows], y, weights, fold, codes, seed, replicates
            )
            for policy in POLICIES
        )
    return Evidence(rows, calibration, calls)
