"""Training: cross-fit, calibrate, set thresholds, and keep the evidence beside the model."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from classifiers.calibration import Calibration
from classifiers.calibrators import Calibrator
from classifiers.errors import ClassifierError
from classifiers.features import Corpus, Document, check_served
from classifiers.folds import grouped_folds, venue_groups
from classifiers.linear import Floats
from classifiers.student.crossfit import LinearHeads, Task, cross_fit_models, left_out, two_classes
from classifiers.student.evidence import Evidence, evidence
from classifiers.student.labels import Ints, LabelCounts, Labelled, labelled
from classifiers.student.model import Model
from classifiers.student.parameters import HeadName, Parameters, Progress
from classifiers.student.thresholds import Calls
from schema.scores import Availability
from schema.states import Status


@dataclass(frozen=True)
class TrainedHead:
    """One head and the evidence for it, or the sentence why there is no model.

    unscored : known labels of records with text that some model couldn't score, since it knew none of
    their words; they are in no figure. calibration : its own status says whether there was support.
    calls : out of fold, by each policy; empty where two folds hold all of a class.
    """

    name: HeadName
    availability: Availability
    reason: str | None
    counts: LabelCounts
    unscored: int = 0
    calibration: Calibration | None = None
    calls: tuple[Calls, ...] = ()

    @property
    def available(self) -> bool:
        """Whether it makes scores."""
        return self.availability == "available"

    @property
    def calibrator(self) -> Calibrator | None:
        """For new records; None: not calibrated."""
        return self.calibration.final if self.calibration else None


@dataclass(frozen=True)
class OutOfFold:
    """What models that never saw a record's venue say of it: fidelity to its teacher, no more.

    ids, fold, weights (n,); labels, log_odds and probability (n, heads) for all heads, NaN where
    unknown, not scored or not calibrated; nested (K, n, heads), see `crossfit.CrossFit`. The rows stand
    in the order of ids, the columns in that of the heads.
    """

    ids: tuple[str, ...]
    fold: Ints
    weights: Floats
    labels: Floats
    log_odds: Floats
    probability: Floats
    nested: Floats
    status: Status = Status.OUT_OF_FOLD


@dataclass(frozen=True)
class TrainedStudent:
    """A model with the evidence that its figures rest on.

    linear : columns of the available heads only, in their order. inputs_sha256 : of records, labels
    and weights.
    """

    parameters: Parameters
    seed: int
    heads: tuple[TrainedHead, ...]
    linear: LinearHeads
    out_of_fold: OutOfFold
    inputs_sha256: str

    @property
    def model(self) -> Model:
        """What scores new records: the available heads, in their order."""
        available = [head for head in self.heads if head.available]
        return Model(
            tuple(head.name for head in available), self.linear, tuple(head.calibrator for head in available)
        )


def train(
    documents: Sequence[Document],
    labels: Mapping[HeadName, Any],
    weights: Any = None,
    parameters: Parameters | None = None,
    *,
    seed: int,
    jobs: int = 1,
    progress: Progress | None = None,
) -> TrainedStudent:
    """Train one head for each side and category, with out-of-fold evidence.

    Parameters
    ----------
    documents : n records, each id once. Those without title and abstract teach nothing and are counted.
    labels : for each head n values 1, 0 or unknown (None or NaN).
    weights : n design weights above 0; ones where None.
    seed : decides the folds and the bootstrap; nothing else is random.
    jobs : processes; the result is the same to the last bit for any number.
    progress : hears of each piece of work as it ends.

    Nothing is written, so an interrupt leaves nothing behind.

    Raises
    ------
    ClassifierError : for input as `labelled` refuses it, a feature that no record has, too few venues
        for the folds, records without a common term, and where no head can be trained.
    """
    parameters = parameters or Parameters()
    data = labelled(documents, labels, weights)
    corpus = Corpus.of(data.documents, parameters.features)
    check_served(parameters.features, corpus.coverage)
    groups = venue_groups(data.documents)
    usable = np.where(corpus.has_text[:, None], data.labels, np.nan)
    fold = grouped_folds(groups, usable, parameters.folds, seed)
    heads = [_head(data, i, corpus, fold, usable) for i in range(len(data.heads))]
    columns = [i for i, head in enumerate(heads) if head.available]
    if not columns:
        raise ClassifierError(f"no head can be trained; {heads[0].name}: {heads[0].reason}")
    task = Task(corpus, usable[:, columns], data.weights, fold, parameters)
    fitted = cross_fit_models(task, jobs, progress, steps=len(columns))
    codes = np.unique(np.array(groups, object), return_inverse=True)[1].astype(np.int64)
    table = OutOfFold(corpus.ids, fold, data.weights, data.labels, *_empty(usable.shape, parameters.folds))
    tasks = (
        delayed(evidence)(
            fitted.out_of_fold[:, i],
            fitted.nested[:, :, i] if fitted.nested_fitted[i] else None,
            *(task.labels[:, i], task.weights, fold, codes, seed, parameters.replicates),
        )
        for i in range(len(columns))
    )
    found: Iterator[Evidence] = Parallel(n_jobs=jobs, return_as="generator")(tasks)
    models = len(left_out(parameters.folds))
    for i, (column, of_head) in enumerate(zip(columns, found, strict=True)):
        heads[column] = _with_evidence(heads[column], of_head, fitted.fitted[i])
        if heads[column].available:
            table.log_odds[:, column], table.nested[:, :, column] = (
                fitted.out_of_fold[:, i],
                fitted.nested[:, :, i],
            )
            if of_head.calibration.probability is not None:
                table.probability[of_head.rows, column] = of_head.calibration.probability
        if progress:
            progress(models + i + 1, models + len(columns), f"calibration of {heads[column].name}")
    kept = np.flatnonzero(fitted.fitted)
    linear = LinearHeads(fitted.final.features, fitted.final.coef[:, kept], fitted.final.intercept[kept])
    return TrainedStudent(parameters, seed, tuple(heads), linear, table, data.sha256())


def _empty(shape: tuple[int, int], folds: int) -> tuple[Floats, Floats, Floats]:
    """Log-odds, probabilities and nested scores of nobody."""
    return np.full(shape, np.nan), np.full(shape, np.nan), np.full((folds, *shape), np.nan)


def _with_evidence(head: TrainedHead, found: Evidence, fitted: bool) -> TrainedHead:
    if not fitted:
        reason = "a fold's training records with words that the model knows hold one class only"
        return replace(head, availability="fold_degenerate", reason=reason)
    unscored = head.counts.positives + head.counts.negatives - len(found.rows)
    return replace(head, unscored=unscored, calibration=found.calibration, calls=found.calls)


def _head(data: Labelled, head: int, corpus: Corpus, fold: Ints, usable: Floats) -> TrainedHead:
    """A head before its fit: what it can learn from."""
    name, counts = data.heads[head], data.counts(head, corpus.has_text)
    y = usable[:, [head]]
    if not two_classes(y, np.ones(len(y), bool))[0]:
        reason = f"{counts.positives} positives and {counts.negatives} negatives; expected some of each"
        return TrainedHead(name, "insufficient_support", reason, counts)
    for k in range(int(fold.max()) + 1):
        if not two_classes(y, fold != k)[0]:
            rest = y[fold != k]
            missing = "positives" if not (rest == 1).any() else "negatives"
            reason = f"all its {missing} lie in fold {k}; expected some in at least two folds"
            return TrainedHead(name, "fold_degenerate", reason, counts)
    return TrainedHead(name, "available", None, counts)
