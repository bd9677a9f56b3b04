"""The pool of a screening as a matrix: words and word pairs of title and abstract, TF-IDF.

The whole pool is known before the first label, so its statistics may be used: nothing here has seen a
label. A student's features (`classifiers.features`) are fitted inside folds and frozen in a release; these
are made once for one pool and thrown away with it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from classifiers.errors import ClassifierError
from classifiers.features import Document

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

COMMON = 0.95
"""Terms in more than this part of the pool tell nothing and are left out."""

_WORD = re.compile(r"\w\w+")  # single letters and digits are noise: p, n, 1


def pool_matrix(documents: Sequence[Document]) -> Any:
    """CSR (n, terms) float64 of (1 + ln tf) * (ln((1 + n) / (1 + df)) + 1); a title's terms count twice.

    The words of a record are scaled to length 1, and so are its pairs: neither drowns the other. Each
    length is that of all its terms; then those of one record only are dropped, which join it to no other,
    but a text that is mostly made of them should weigh less. A record without text has an empty row.

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
    number: dict[str, int] = {}
    words: list[int] = []
    lengths: list[int] = []
    for document in documents:
        title, abstract = _words(document.title), _words(document.abstract)
        words += [number.setdefault(word, len(number)) for part in (title, title, abstract) for word in part]
        lengths += [len(title), len(title), len(abstract)]
    tokens = np.array(words, np.int64)
    fields = np.repeat(np.arange(len(lengths)), lengths)
    beside = fields[1:] == fields[:-1]  # a pair doesn't reach from a title into the abstract
    pairs = (tokens[:-1] * len(number) + tokens[1:])[beside]
    n = len(documents)
    blocks = [_block(tokens, fields // 3, n), _block(pairs, fields[1:][beside] // 3, n)]
    return sparse.hstack([block.matrix(n) for block in blocks], format="csr")


@dataclass(frozen=True)
class _Block:
    """The cells of a matrix: row, column and value; `columns` of them."""

    rows: Ints
    columns: Ints
    values: Floats
    width: int

    def matrix(self, n: int) -> Any:
        return sparse.csr_matrix((self.values, (self.rows, self.columns)), shape=(n, self.width))


def _block(terms: Ints, rows: Ints, n: int) -> _Block:
    """TF-IDF of some kind of term, from one entry for each occurrence; rows of length at most 1."""
    _, term = np.unique(terms, return_inverse=True)
    cells, counts = np.unique(term * n + rows, return_counts=True)
    of_term, row = np.divmod(cells, n)
    occurs = np.bincount(of_term)
    usable = occurs <= COMMON * n
    idf = np.where(usable, np.log((1 + n) / (1 + occurs)) + 1, 0.0)
    values = (1 + np.log(counts)) * idf[of_term]
    length = np.sqrt(np.bincount(row, weights=values * values, minlength=n))
    kept = usable & (occurs > 1)
    column = np.cumsum(kept) - 1
    here = kept[of_term]
    return _Block(
        row[here],
        column[of_term[here]],
        (values / np.where(length > 0, length, 1)[row])[here],
        int(kept.sum()),
    )


def _words(text: str | None) -> list[str]:
    if not text:
        return []
    return _WORD.findall((text if text.isascii() else unicodedata.normalize("NFKC", text)).lower())
