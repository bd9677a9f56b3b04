"""The pool of a screening as a matrix: words and word pairs of title and abstract, TF-IDF.

The whole pool is known before the first label, so its statistics may be used: nothing here has seen a
label.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from classifiers.errors import ClassifierError
from classifiers.features import Corpus, Document

COMMON = 0.95
"""Terms in more than this part of the pool tell nothing and are left out."""


def pool_matrix(documents: Sequence[Document]) -> Any:
    """CSR (n, terms) float64 of (1 + ln tf) * (ln((1 + n) / (1 + df)) + 1), in rows of length at most 1.

    A row is scaled by the length that it has with all its terms. Then those of one record only are
    dropped: they join it to no other, but a text that is mostly made of them should weigh less. A record
    without text has an empty row.

    Raises
    ------
    ClassifierError : for no records, or an id that stands twice.
    """
    if not documents:
        raise ClassifierError("the pool holds no records; expected at least one")
    ids = [document.id for document in documents]
    if len(set(ids)) < len(ids):
        twice = next(one for one in ids if ids.count(one) > 1)
        raise ClassifierError(f"the record {twice!r} stands twice in the pool; expected each id once")
    counts = Corpus.of(documents).counts
    n = counts.shape[0]
    occurs = np.bincount(counts.indices, minlength=counts.shape[1])
    usable = occurs <= COMMON * n
    idf = np.where(usable, np.log((1 + n) / (1 + occurs)) + 1, 0.0)
    values = (1 + np.log(counts.data)) * idf[counts.indices]
    rows = np.repeat(np.arange(n), np.diff(counts.indptr))
    length = np.sqrt(np.bincount(rows, weights=values * values, minlength=n))
    matrix = counts.astype(np.float64)
    matrix.data = values / np.where(length > 0, length, 1)[rows]
    return matrix[:, usable & (occurs > 1)]
