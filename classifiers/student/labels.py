"""A study's labels as a student takes them: what is known, what isn't, and what can be learned from."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classifiers.errors import ClassifierError
from classifiers.features import Document
from classifiers.linear import Floats
from classifiers.student.parameters import HeadName

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class LabelCounts:
    """How a head's labels come: unknown is never negative, and a record without text teaches nothing.

    positives, negatives : known labels of records with text, which are those fitted on.
    unknown : records that nobody's label says anything of. without_text : known labels left out.
    """

    positives: int
    negatives: int
    unknown: int
    without_text: int


@dataclass(frozen=True)
class Labelled:
    """Documents with labels and weights, in the order of their ids.

    labels (n, heads) : 1, 0 or NaN for unknown. weights (n,) : design weights.
    """

    documents: tuple[Document, ...]
    heads: tuple[HeadName, ...]
    labels: Floats
    weights: Floats

    def sha256(self) -> str:
        """The hash of all that is learned from, record by record."""
        whole = hashlib.sha256()
        self._add(whole, [list(head) for head in self.heads])
        unknown = np.isnan(self.labels)
        for i, d in enumerate(self.documents):
            labels = [
                None if u else int(y)
                for y, u in zip(self.labels[i].tolist(), unknown[i].tolist(), strict=True)
            ]
            read = [d.id, d.title, d.abstract, d.venue, d.topics, d.field, d.language, d.type, d.year]
            self._add(whole, [read, float(self.weights[i]), labels])
        return whole.hexdigest()

    @staticmethod
    def _add(whole: Any, value: Any) -> None:
        whole.update(json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n")

    def counts(self, head: int, has_text: NDArray[np.bool_]) -> LabelCounts:
        """The counts of one head; `has_text` (n,)."""
        y = self.labels[:, head]
        known = ~np.isnan(y)
        return LabelCounts(
            int((y[has_text] == 1).sum()),
            int((y[has_text] == 0).sum()),
            int((~known).sum()),
            int((known & ~has_text).sum()),
        )


def labelled(documents: Sequence[Document], labels: Mapping[HeadName, Any], weights: Any = None) -> Labelled:
    """Check and sort by id, so that neither rows nor heads depend on the order in which they came.

    `labels` maps each head to n values 1, 0 or unknown (None or NaN); `weights` are n design weights,
    ones where they are None.

    Raises ClassifierError, naming the record, for an id that is there twice, another label, or a
    weight that isn't a finite number above 0; and for no documents, no heads or lists of other lengths.
    """
    if not documents:
        raise ClassifierError("there are no records to learn from")
    if not labels:
        raise ClassifierError("there are no heads to train; give labels of at least one side and category")
    ids = [document.id for document in documents]
    for name in ids:
        if not name or not name.encode("utf-8", "replace").decode("utf-8") == name:
            raise ClassifierError(f"{name!r} is no id of a record; expected a text that isn't empty")
    order = sorted(range(len(ids)), key=ids.__getitem__)
    for one, other in pairwise(order):
        if ids[one] == ids[other]:
            raise ClassifierError(f"record {ids[one]!r} is there twice; each may stand once")
    heads = tuple(sorted(HeadName(*head) for head in labels))
    columns = [_label_column(head, labels[head], ids) for head in heads]
    return Labelled(
        tuple(documents[i] for i in order),
        heads,
        np.column_stack(columns)[order],
        _weights(weights, ids)[order],
    )


def fit_weights(labels: Floats, weights: Floats) -> Floats:
    """Weights of the known labels of one head, scaled to a mean of 1.

    So C means the same whatever unit design weights come in. Labels and weights (n,), all known.
    """
    return np.asarray(weights * (len(labels) / weights.sum()))


def _label_column(head: HeadName, values: Any, ids: Sequence[str]) -> Floats:
    try:
        column = np.array([np.nan if value is None else value for value in values], np.float64)
    except (TypeError, ValueError):
        raise ClassifierError(f"{head}: a label isn't a number; expected 1, 0 or unknown") from None
    if column.shape != (len(ids),):
        raise ClassifierError(
            f"{head} has {column.size:,} labels; expected one for each of {len(ids):,} records"
        )
    bad = np.flatnonzero(~(np.isnan(column) | (column == 0) | (column == 1)))
    if len(bad):
        row = int(bad[0])
        raise ClassifierError(f"{head}: the label of {ids[row]!r} is {column[row]}; expected 1, 0 or unknown")
    return column


def _weights(weights: Any, ids: Sequence[str]) -> Floats:
    if weights is None:
        return np.ones(len(ids))
    try:
        values = np.array([np.nan if w is None else w for w in weights], np.float64)
    except (TypeError, ValueError):
        raise ClassifierError("a weight isn't a number; expected numbers above 0") from None
    if values.shape != (len(ids),):
        raise ClassifierError(
            f"there are {values.size:,} weights; expected one for each of {len(ids):,} records"
        )
    bad = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
    if len(bad):
        row = int(bad[0])
        raise ClassifierError(f"the weight of {ids[row]!r} is {values[row]}; expected a number above 0")
    return values
