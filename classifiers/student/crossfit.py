"""Scores of every record from models that never saw its group, and for the calibration not one more.

For K folds there are K models without one fold, whose scores of that fold are out of fold, and
K (K - 1) / 2 models without two. The model without folds j and k gives scores of fold j from which fold
k's calibrator and threshold can be made, and the other way round: each serves two purposes. One more
model sees all and is what new records are scored with.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from classifiers.features import Corpus, Features
from classifiers.linear import Floats, LogisticRegression, balanced_weights
from classifiers.student.labels import Ints, fit_weights
from classifiers.student.parameters import Parameters, Progress

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Task:
    """What every fit is given. labels (n, heads), weights (n,), fold (n,); columns of heads that have
    one class only in what is left are skipped."""

    corpus: Corpus
    labels: Floats
    weights: Floats
    fold: Ints
    parameters: Parameters


@dataclass(frozen=True)
class LinearHeads:
    """Linear models over one vocabulary: coef (terms, heads), intercept (heads,)."""

    features: Features
    coef: Floats
    intercept: Floats

    def log_odds(self, matrix: Any) -> Floats:
        """(n, heads): row by row, so a row's bits don't depend on the others."""
        return np.asarray(matrix @ self.coef + self.intercept)


@dataclass(frozen=True)
class CrossFit:
    """final : fitted on all. out_of_fold (n, heads) and nested (K, n, heads) are log-odds: nested[k, i]
    is of a model that saw neither fold k nor record i's own. NaN where no score can be made, and
    nested[k] is NaN for the records of fold k.

    fitted, nested_fitted (heads,) : whether all models without at most one fold, or without two, saw
    both classes.
    """

    final: LinearHeads
    out_of_fold: Floats
    nested: Floats
    fitted: Bools
    nested_fitted: Bools


_Fit = tuple[LinearHeads | None, Floats, Bools]


def left_out(folds: int) -> tuple[tuple[int, ...], ...]:
    """What each model doesn't see: nothing, one fold, or two. The largest fits stand first."""
    return ((), *((k,) for k in range(folds)), *combinations(range(folds), 2))


def two_classes(labels: Floats, rows: Bools) -> Bools:
    """(heads,) whether the known labels of some rows hold both classes."""
    return np.asarray((labels[rows] == 1).any(axis=0) & (labels[rows] == 0).any(axis=0))


def cross_fit_models(task: Task, jobs: int = 1, progress: Progress | None = None, steps: int = 0) -> CrossFit:
    """Fit all models. `jobs` processes; the result is the same to the last bit for any number.

    `progress` hears of each fit as one of these and `steps` further pieces of work.
    """
    sets = left_out(task.parameters.folds)
    n, heads = task.labels.shape
    out_of_fold = np.full((n, heads), np.nan)
    nested = np.full((task.parameters.folds, n, heads), np.nan)
    fitted, nested_fitted = np.ones(heads, bool), np.ones(heads, bool)
    final: LinearHeads | None = None
    for done, (without, fit) in enumerate(zip(sets, _fits(task, sets, jobs), strict=True), 1):
        model, scores, possible = fit
        rows = np.isin(task.fold, without)
        if len(without) < 2:
            fitted &= possible
        else:
            nested_fitted &= possible
        if not without:
            final = model
        elif len(without) == 1:
            out_of_fold[rows] = scores
        else:
            held = task.fold[rows]
            for this, other in (without, without[::-1]):
                nested[other, task.fold == this] = scores[held == this]
        if progress:
            progress(done, len(sets) + steps, _named(without))
    assert final is not None
    return CrossFit(final, out_of_fold, nested, fitted, nested_fitted)


def _fits(task: Task, sets: Sequence[tuple[int, ...]], jobs: int) -> Iterator[_Fit]:
    parallel = Parallel(n_jobs=jobs, return_as="generator", batch_size=1)
    return parallel(delayed(_fit)(task, without) for without in sets)  # type: ignore[no-any-return]


def _fit(task: Task, without: tuple[int, ...]) -> _Fit:
    """All heads on the rows outside some folds: the model (of the final fit only), scores of the rows
    left out (k, heads), and which heads could be fitted (heads,)."""
    with threadpool_limits(1):
        model = fit_heads(task, ~np.isin(task.fold, without))
        possible = np.isfinite(model.intercept)
        if not without:
            return model, np.empty((0, len(possible))), possible
        batch = model.features.batch(task.corpus[np.isin(task.fold, without)])
        scores = model.log_odds(batch.matrix)
        scores[~batch.scorable] = np.nan
        return None, scores, possible


def fit_heads(task: Task, seen: Bools) -> LinearHeads:
    """Vocabulary, idf and every head from the rows `seen` (n,) and nothing else.

    A head whose known labels there have one class gets NaN: it is not fitted.
    """
    rows = np.flatnonzero(seen & task.corpus.has_text)
    training, labels, weights = task.corpus[rows], task.labels[rows], task.weights[rows]
    features = Features(task.parameters.features, task.parameters.min_df).fit(training)
    batch = features.batch(training)
    heads = labels.shape[1]
    coef, intercept = np.full((len(features.keys_), heads), np.nan), np.full(heads, np.nan)
    for head in range(heads):
        known = batch.scorable & ~np.isnan(labels[:, head])
        y = labels[known, head]
        if y.min(initial=1) == y.max(initial=0):
            continue
        w = fit_weights(y, weights[known])
        if task.parameters.balance:
            w = balanced_weights(y, w)
        fit = LogisticRegression(task.parameters.C).fit(batch.matrix[known], y, w)
        coef[:, head], intercept[head] = fit.coef_, fit.intercept_
    return LinearHeads(features, coef, intercept)


def _named(without: tuple[int, ...]) -> str:
    return f"fit without fold {' and '.join(map(str, without))}" if without else "fit on all folds"
