"""TF-IDF of words, word pairs and fields: fitted on the training rows of a fold and nothing else."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from classifiers.errors import ClassifierError
from classifiers.features.documents import TEXT, Document, check_use
from classifiers.features.terms import (
    Bools,
    Corpus,
    Ints,
    TokenStream,
    count_rows,
    is_word,
    pair_keys,
    split_keys,
)
from schema.states import RowState

Floats = NDArray[np.float64]

_LOGS = 1.0 + np.array([-math.inf, *map(math.log, range(1, 4096))])


@dataclass(frozen=True)
class Batch:
    """Some documents as the model sees them: CSR (n, terms), and for each row whether it can be scored."""

    ids: tuple[str, ...]
    matrix: Any
    states: tuple[RowState, ...]

    @property
    def scorable(self) -> Bools:
        """(n,): True where a score would say something of the record."""
        return np.array([state is RowState.SCORABLE for state in self.states], bool)


class Features:
    """A transformer in scikit-learn's convention: `fit`, `transform`, learned state with a `_`.

    A term's weight is (1 + ln tf) * idf with idf = ln((1 + n) / (1 + df)) + 1, and each row is scaled
    to length 1 (Manning, Raghavan and Schuetze 2008, section 6.4; the smoothing is scikit-learn's). The
    values of other fields are terms like any other. Design weights have no part in df.

    Parameters: `use`, the features read (see FEATURES); `min_df`, in how many training records a term
    must occur to become a column.

    Learned: `tokens_` (v,) sorted; `keys_` (terms,), see `pair_keys`; `idf_` (terms,); `documents_`, the
    number of records fitted on. Frequent terms stand first, so that most of what a row reads of a model
    lies together; equally frequent ones are in lexicographic order.
    """

    tokens_: tuple[str, ...]
    keys_: Ints
    idf_: Floats
    documents_: int

    def __init__(self, use: Iterable[str] = TEXT, min_df: int = 2) -> None:
        self.use = check_use(use)
        self.min_df = min_df
        if min_df < 1:
            raise ClassifierError(f"min_df is {min_df}; expected 1 or more")

    def fit(self, documents: Corpus | Sequence[Document], y: object = None) -> "Features":
        """Learn terms and idf from all rows given. Raises ClassifierError where no term is left."""
        corpus = self._corpus(documents)
        occurs = np.bincount(corpus.counts.indices, minlength=len(corpus.keys))
        kept = np.flatnonzero(occurs >= self.min_df)
        if not len(kept):
            raise ClassifierError(
                f"no term occurs in at least {self.min_df} of the {len(corpus):,} training records;"
                f" there is nothing to learn from"
            )
        kept = kept[np.argsort(-occurs[kept], kind="stable")]
        first, second = split_keys(corpus.keys[kept], len(corpus.tokens))
        used = np.unique(np.concatenate([first, second[second >= 0]]))
        idf = [math.log((1 + len(corpus)) / (1 + df)) + 1.0 for df in occurs[kept].tolist()]
        second = np.where(second >= 0, np.searchsorted(used, second), -1)
        keys = pair_keys(np.searchsorted(used, first), second, len(used))
        return self.restore(tuple(corpus.tokens[i] for i in used), keys, np.array(idf), len(corpus))

    def restore(self, tokens: tuple[str, ...], keys: Ints, idf: Floats, documents: int) -> "Features":
        """Set what `fit` learned, such as when a release is loaded."""
        self.tokens_, self.keys_, self.idf_, self.documents_ = tokens, keys, idf, documents
        self._number = {token: i for i, token in enumerate(tokens)}
        first, second = split_keys(keys, len(tokens))
        alone = second < 0
        self._column_of_token = np.full(len(tokens) + 1, -1)  # the last is for tokens that aren't known
        self._column_of_token[first[alone]] = np.flatnonzero(alone)
        pairs = np.flatnonzero(~alone)
        self._pair_columns = pairs[np.argsort(keys[pairs])]
        self._pair_keys = keys[self._pair_columns]
        of_text = np.array([is_word(token) for token in tokens], bool)
        self._is_text = of_text[first]
        return self

    def transform(self, documents: Corpus | Sequence[Document]) -> Any:
        """CSR (n, terms) float64, each row of length 1, or empty where no term is known."""
        return self.batch(documents).matrix

    def fit_transform(self, documents: Corpus | Sequence[Document], y: object = None) -> Any:
        """`fit`, then `transform` of the same."""
        corpus = self._corpus(documents)
        return self.fit(corpus).transform(corpus)

    def batch(self, documents: Corpus | Sequence[Document]) -> Batch:
        """The matrix with ids and row states. A row's values don't depend on the other rows."""
        if isinstance(documents, Corpus):
            counts, has_text = self._counts_of_corpus(self._corpus(documents)), documents.has_text
            ids = documents.ids
        else:
            counts, has_text = self._counts_of_documents(documents)
            ids = tuple(document.id for document in documents)
        rows = np.repeat(np.arange(len(ids)), np.diff(counts.indptr))
        known = np.bincount(rows[self._is_text[counts.indices]], minlength=len(ids)) > 0
        states = tuple(
            RowState.SCORABLE if k else RowState.NO_KNOWN_TERMS if t else RowState.NO_TEXT
            for t, k in zip(has_text.tolist(), known.tolist(), strict=True)
        )
        return Batch(ids, self._weighted(counts, rows), states)

    def get_feature_names_out(self) -> list[str]:
        """The terms in the order of the columns; the two words of a pair stand with a space between."""
        first, second = split_keys(self.keys_, len(self.tokens_))
        return [
            self.tokens_[a] if b < 0 else f"{self.tokens_[a]} {self.tokens_[b]}"
            for a, b in zip(first.tolist(), second.tolist(), strict=True)
        ]

    def _corpus(self, documents: Corpus | Sequence[Document]) -> Corpus:
        if not isinstance(documents, Corpus):
            return Corpus.of(documents, self.use)
        if documents.use != self.use:
            raise ClassifierError(
                f"the corpus was tokenised for {', '.join(documents.use)},"
                f" but the model uses {', '.join(self.use)}"
            )
        return documents

    def _counts_of_documents(self, documents: Sequence[Document]) -> tuple[Any, Bools]:
        stream = TokenStream.of(documents, self.use)
        numbers, rows = stream.numbers(self._number), stream.rows()
        columns = self._column_of_token[numbers]
        single = columns >= 0
        known = numbers >= 0
        at = np.flatnonzero(known[:-1] & known[1:])
        pairs = self._columns_of_pairs(pair_keys(numbers[at], numbers[at + 1], len(self.tokens_)))
        paired = pairs >= 0
        counts = count_rows(
            np.concatenate([rows[single], rows[at[paired]]]),
            np.concatenate([columns[single], pairs[paired]]),
            (len(documents), len(self.keys_)),
        )
        return counts, stream.text_words > 0

    def _counts_of_corpus(self, corpus: Corpus) -> Any:
        number = np.fromiter((self._number.get(token, -1) for token in corpus.tokens), np.int64)
        first, second = split_keys(corpus.keys, len(corpus.tokens))
        alone = second < 0
        columns = np.full(len(corpus.keys), -1)
        columns[alone] = self._column_of_token[number[first[alone]]]
        first, second = number[first], np.where(alone, -1, number[second])
        at = np.flatnonzero((first >= 0) & (second >= 0))
        columns[at] = self._columns_of_pairs(pair_keys(first[at], second[at], len(self.tokens_)))
        counts = corpus.counts
        kept = columns[counts.indices] >= 0
        before = np.concatenate([[0], np.cumsum(kept)])
        matrix = sparse.csr_matrix(
            (counts.data[kept], columns[counts.indices[kept]], before[counts.indptr]),
            shape=(len(corpus), len(self.keys_)),
        )
        matrix.sort_indices()
        return matrix

    def _columns_of_pairs(self, keys: Ints) -> Ints:
        """The column of each pair of known tokens, -1 where the pair is no column."""
        if not len(self._pair_keys):
            return np.full(len(keys), -1)
        at = np.minimum(np.searchsorted(self._pair_keys, keys), len(self._pair_keys) - 1)
        return np.where(self._pair_keys[at] == keys, self._pair_columns[at], -1)

    def _weighted(self, counts: Any, rows: Ints) -> Any:
        """TF-IDF of counts. Sums run in the order of the columns, so that a row's bits never change."""
        tf = _LOGS[np.minimum(counts.data, len(_LOGS) - 1)]
        values = tf * self.idf_[counts.indices]
        length = np.sqrt(np.bincount(rows, weights=values * values, minlength=counts.shape[0]))
        counts.data = values / length[rows]
        return counts
