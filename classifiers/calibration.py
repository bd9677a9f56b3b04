"""Cross-fitted calibration: no record's probability comes from data that fitted or chose its calibrator.

Scores are out of fold already. For each fold, the method is chosen by cross-fitting among the other
folds, fitted on them and applied to the fold; figures are then of those probabilities. The calibrator
to be used on new records is chosen by all folds in the same way, and fitted on all.

What is left between folds: a record's score comes from a model that saw the other folds' labels, so
pooled scores of other folds know a little of the fold that is held out. `nested` scores, from models
that saw neither, close that gap.

Methods are compared by weighted log loss. It is strictly proper as the Brier score is, but where
positives are rare the Brier score hangs on the few largest probabilities and can't tell calibrators of
all others apart. The choice is by one standard error (Breiman et al. 1984, section 3.4.3), with the error
of the paired difference: the simplest method whose loss is within one of the least. Only methods that can
set the mean take part in that; `none` and `temperature` can't, so they are chosen only for the least loss.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from classifiers.calibrators import METHODS, Calibrator, Method, NoCalibration, Scale, calibrator
from classifiers.errors import ClassifierError
from classifiers.metrics.brier import log_losses
from classifiers.metrics.sample import (
    Floats,
    Ints,
    Sample,
    Support,
    group_codes,
    labels,
    sample,
    support,
)
from classifiers.metrics.summary import Metrics, measure, plain
from schema.scores import Availability

UNABLE_TO_SET_THE_MEAN: tuple[Method, ...] = ("none", "temperature")
FEWEST_FOLDS = 3


@dataclass(frozen=True)
class Choice:
    """The method chosen, and the evidence: weighted log loss of held-out records by method.

    errors : the standard error of each loss's difference from the least, summed within groups.
    """

    method: Method
    losses: Mapping[Method, float]
    errors: Mapping[Method, float]


@dataclass(frozen=True)
class FoldCalibration:
    """How one fold's probabilities were made: choice and fit on the other folds only."""

    fold: str
    choice: Choice
    calibrator: Calibrator


@dataclass(frozen=True)
class Calibration:
    """A head's calibration, or why there is none.

    status : `available`; `insufficient_support` below 20 positives or an effective 10; `fold_degenerate`
        when two folds together hold all records of a class, so that nothing can be fitted without them.
    probability : (n,) cross-fitted probabilities. final : the calibrator for new records, chosen by
        `choice` and fitted on all. before, after : figures of raw scores and of `probability`.
    All but status, reason and support are None, and `folds` empty, unless available.
    """

    status: Availability
    reason: str | None
    support: Support
    probability: Floats | None = None
    folds: tuple[FoldCalibration, ...] = ()
    choice: Choice | None = None
    final: Calibrator | None = None
    before: Metrics | None = None
    after: Metrics | None = None

    def to_json(self) -> dict[str, Any]:
        """Everything but the probabilities, as plain JSON."""
        return {
            "status": self.status,
            "reason": self.reason,
            "support": plain(self.support),
            "folds": [
                {"fold": f.fold, "choice": plain(f.choice), "calibrator": f.calibrator.to_json()}
                for f in self.folds
            ],
            "choice": None if self.choice is None else plain(self.choice),
            "final": None if self.final is None else self.final.to_json(),
            "before": None if self.before is None else plain(self.before),
            "after": None if self.after is None else plain(self.after),
        }


def cross_fit(
    scores: npt.ArrayLike,
    y: npt.ArrayLike,
    weights: npt.ArrayLike | None = None,
    *,
    folds: npt.ArrayLike,
    groups: npt.ArrayLike | None = None,
    nested: npt.ArrayLike | None = None,
    scale: Scale = "log_odds",
    seed: int,
    replicates: int = 1000,
) -> Calibration:
    """Calibrate out-of-fold scores of n labelled records.

    Parameters
    ----------
    scores, y, weights, folds, groups : (n,) each. A group, such as a venue, lies within one fold; each
        record is its own where none are given. At least 3 folds, best with like numbers of positives: a
        model that saw fewer gives lower scores, and to the very fold that holds more.
    nested : (K, n) optional. Row k, for the k-th fold in sorted order, holds scores of the other folds'
        records from models that saw neither their own fold nor fold k; what it says of fold k is unused.
    scale : what a score is, see `Calibrator`.
    seed, replicates : of the bootstrap intervals; nothing else is random.

    Raises
    ------
    ClassifierError : for arrays that don't fit together, values out of range, a group in two folds, or
        fewer than 3 folds.
    """
    made = sample(scores, y, weights, groups)
    fold, names = _fold_codes(folds, made)
    raw = NoCalibration(scale).predict(made.values)
    inner = _inner_scores(nested, made, fold, len(names))
    counted = support(made.y, made.weights)
    if not counted.enough:
        return Calibration("insufficient_support", counted.shortage, counted)
    degenerate = degenerate_folds(made.y, fold, names)
    if degenerate is not None:
        return Calibration("fold_degenerate", degenerate, counted)
    with threadpool_limits(1):
        held = _HeldOut(made, fold, inner, scale)
        probability = np.empty(len(made))
        fitted = []
        for k, name in enumerate(names):
            training = fold != k
            choice = choose(held.inside(k), made.take(training))
            model = held.fit(choice.method, k)
            probability[~training] = model.predict(made.values[~training])
            fitted.append(FoldCalibration(name, choice, model))
        choice = choose(held.outside(), made)
        final = calibrator(choice.method, scale).fit(made.values, made.y, made.weights)
    return Calibration(
        "available",
        None,
        counted,
        probability,
        tuple(fitted),
        choice,
        final,
        measure(made.with_values(raw), seed=seed, replicates=replicates),
        measure(made.with_values(probability), seed=seed, replicates=replicates),
    )


def choose(probability: Mapping[Method, Floats], made: Sample) -> Choice:
    """The choice between held-out probabilities (n,) of each method, by the rule of this module."""
    w = made.weights / made.weights.sum()
    losses = {method: log_losses(made.with_values(p)) for method, p in probability.items()}
    means = {method: float((w * loss).sum()) for method, loss in losses.items()}
    least = min(means, key=lambda method: (means[method], METHODS.index(method)))
    errors = {method: _error(loss - losses[least], w, made.groups) for method, loss in losses.items()}
    chosen = least
    if least not in UNABLE_TO_SET_THE_MEAN:
        chosen = next(
            method
            for method in METHODS
            if method in means
            and method not in UNABLE_TO_SET_THE_MEAN
            and means[method] - means[least] <= errors[method]
        )
    return Choice(chosen, means, errors)


class _HeldOut:
    """Probabilities of each method for records that its calibrator didn't see.

    scores : one row for all folds, or a row for each fold held out.
    """

    def __init__(self, made: Sample, fold: Ints, scores: Floats, scale: Scale) -> None:
        self.made, self.fold, self.scores, self.scale = made, fold, scores, scale
        self.count = int(fold.max()) + 1
        self.fits: dict[tuple[Method, int, int, int], Calibrator] = {}

    def fit(self, method: Method, k: int, j: int | None = None) -> Calibrator:
        """The calibrator that saw neither fold k nor fold j, by scores whose models didn't see k."""
        row = k if len(self.scores) > 1 else 0
        j = k if j is None else j
        # Pooled scores are the same whichever of the two folds is the outer one.
        key = (method, row, min(j, k), max(j, k))
        if key not in self.fits:
            seen = (self.fold != k) & (self.fold != j)
            made = self.made
            self.fits[key] = calibrator(method, self.scale).fit(
                self.scores[row][seen], made.y[seen], made.weights[seen]
            )
        return self.fits[key]

    def inside(self, k: int) -> dict[Method, Floats]:
        """For the records outside fold k, in their order: each fold by a fit without it and fold k."""
        row = k if len(self.scores) > 1 else 0
        found = {}
        for method in METHODS:
            p = np.empty(len(self.made))
            for j in range(self.count):
                if j != k:
                    rows = self.fold == j
                    p[rows] = self.fit(method, k, j).predict(self.scores[row][rows])
            found[method] = p[self.fold != k]
        return found

    def outside(self) -> dict[Method, Floats]:
        """For all records, each fold by the fit that the fold itself is calibrated with."""
        found = {}
        for method in METHODS:
            p = np.empty(len(self.made))
            for k in range(self.count):
                rows = self.fold == k
                p[rows] = self.fit(method, k).predict(self.made.values[rows])
            found[method] = p
        return found


def _error(difference: Floats, w: Floats, groups: Ints) -> float:
    """The standard error of a weighted mean, by groups; w sums to 1."""
    centred = np.bincount(groups, weights=w * (difference - (w * difference).sum()))
    count = len(centred)
    return float(np.sqrt((centred**2).sum() * count / max(count - 1, 1)))


def _fold_codes(folds: npt.ArrayLike, made: Sample) -> tuple[Ints, list[str]]:
    fold = group_codes(folds, len(made), "fold")
    distinct = np.unique(np.asarray(folds))
    if len(distinct) < FEWEST_FOLDS:
        raise ClassifierError(
            f"there are {len(distinct)} folds, expected at least {FEWEST_FOLDS}: one is held out, "
            "and the choice of the method takes two more"
        )
    first = np.full(int(made.groups.max()) + 1, -1)
    first[made.groups] = fold
    crossing = np.flatnonzero(first[made.groups] != fold)
    if len(crossing):
        i = int(crossing[0])
        other = int(np.flatnonzero((made.groups == made.groups[i]) & (fold != fold[i]))[0])
        raise ClassifierError(
            f"records {min(i, other)} and {max(i, other)} are of one group but lie in folds "
            f"{distinct[fold[min(i, other)]]} and {distinct[fold[max(i, other)]]}, expected one fold a group"
        )
    return fold, [str(name) for name in distinct.tolist()]


def _inner_scores(nested: npt.ArrayLike | None, made: Sample, fold: Ints, count: int) -> Floats:
    if nested is None:
        return made.values[None, :]
    matrix = np.array(nested, dtype=np.float64)
    if matrix.shape != (count, len(made)):
        raise ClassifierError(
            f"nested scores have the shape {matrix.shape}, expected ({count}, {len(made)}): folds, records"
        )
    for k in range(count):
        bad = np.flatnonzero(~np.isfinite(matrix[k]) & (fold != k))
        if len(bad):
            raise ClassifierError(
                f"nested score of record {bad[0]} without fold {k} is {matrix[k, bad[0]]}, "
                "expected a finite number"
            )
    return matrix


def degenerate_folds(y: npt.ArrayLike, fold: Ints, names: list[str]) -> str | None:
    """The sentence for a class that lies wholly in one or two folds, which nothing can be fitted without."""
    y = labels(y)
    for what, held in (("positives", np.bincount(fold[y], minlength=len(names))),
                       ("negatives", np.bincount(fold[~y], minlength=len(names)))):  # fmt: skip
        most = np.argsort(-held, kind="stable")[:2]
        if held[most].sum() == held.sum():
            where = " and ".join(names[k] for k in most if held[k])
            return f"all {held.sum()} {what} lie in fold {where}, expected some in at least 3 folds"
    return None
