"""Words and word pairs of documents, as integer keys: tokenised once, counted for any rows.

Nothing here is fitted. A token is a maximal run of letters and digits, lower-cased; a value of
another field is one token with the field's name before it (`venue:nature`), which no word can be.
A term is a token or a pair of neighbouring words; pairs never reach over a field's end. Tokens are
numbered in lexicographic order, and so are terms, so that no other document can change the order of
the terms of some.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from classifiers.features.documents import TEXT, Coverage, Document, check_use

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

BREAK = "\n"
"""Stands between fields in the stream of tokens; it is no token."""
YEARS_IN_BUCKET = 5

_WORD = re.compile(r"[^\W_]+")
_ASCII = bytes(ord(c.lower()) if c.isascii() and c.isalnum() else 32 for c in map(chr, range(256)))


def words(text: str) -> list[str]:
    """The words of a text, in order: lower-cased runs of letters and digits (Unicode NFKC)."""
    if text.isascii():  # the same as below, in half the time
        return text.encode("ascii").translate(_ASCII).decode("ascii").split()
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def year_bucket(year: int) -> str:
    """Five years in one, such as 2010-2014: single years are too thin to learn from."""
    first = year - year % YEARS_IN_BUCKET
    return f"{first}-{first + YEARS_IN_BUCKET - 1}"


def field_values(document: Document, name: str) -> Iterator[str]:
    """The tokens of a field that isn't text; none where it is missing."""
    value = getattr(document, name)
    if value is None:
        return
    if name == "year":
        yield f"year:{year_bucket(value)}"
        return
    seen = set()
    for part in value if name == "topics" else (value,):
        clean = " ".join(part.casefold().split())
        if not clean.isascii():
            clean = unicodedata.normalize("NFKC", clean.encode("utf-8", "replace").decode("utf-8"))
        if clean and clean not in seen:
            seen.add(clean)
            yield f"{name}:{clean}"


def is_word(token: str) -> bool:
    """Whether a token comes from text and not from another field."""
    return ":" not in token


@dataclass(frozen=True)
class TokenStream:
    """The tokens of documents one after another, with a BREAK after each field.

    `ends` (n,): where each document's tokens end. `text_words` (n,): how many of them are words of
    title and abstract.
    """

    tokens: list[str]
    ends: Ints
    text_words: Ints

    @classmethod
    def of(cls, documents: Sequence[Document], use: tuple[str, ...]) -> "TokenStream":
        """Tokenise; `use` is what `check_use` gave."""
        texts = [name for name in use if name in TEXT]
        fields = [name for name in use if name not in TEXT]
        title, abstract = "title" in texts, "abstract" in texts
        tokens: list[str] = []
        ends, text_words = np.empty(len(documents), np.int64), np.empty(len(documents), np.int64)
        for i, document in enumerate(documents):
            start = len(tokens)
            if title and document.title:
                tokens += words(document.title)
                tokens.append(BREAK)
                start += 1
            if abstract and document.abstract:
                tokens += words(document.abstract)
                tokens.append(BREAK)
                start += 1
            text_words[i] = len(tokens) - start
            for name in fields:
                for value in field_values(document, name):
                    tokens.append(value)
                    tokens.append(BREAK)
            ends[i] = len(tokens)
        return cls(tokens, ends, text_words)

    def rows(self) -> Ints:
        """For each token the number of its document."""
        return np.repeat(np.arange(len(self.ends)), np.diff(self.ends, prepend=0))

    def numbers(self, index: dict[str, int]) -> Ints:
        """For each token its number in `index`, -1 where it has none."""
        return np.fromiter(map(index.get, self.tokens, repeat(-1)), np.int64, len(self.tokens))


def pair_keys(first: Any, second: Any, tokens: int) -> Any:
    """One integer for a pair of token numbers; `second` = -1 gives the token alone.

    Keys are in the order of (first, second), a token alone before its pairs.
    """
    return first * (tokens + 1) + second + 1


def split_keys(keys: Ints, tokens: int) -> tuple[Ints, Ints]:
    """The reverse of `pair_keys`: first and second token numbers, the second -1 for a token alone."""
    first, second = np.divmod(keys, tokens + 1)
    return first, second - 1


def count_rows(rows: Ints, columns: Ints, shape: tuple[int, int]) -> Any:
    """How often each column occurs in each row, as CSR with sorted columns, int64."""
    cells = rows * shape[1] + columns
    cells.sort()
    first = np.ones(len(cells), bool)
    np.not_equal(cells[1:], cells[:-1], out=first[1:])
    starts = np.flatnonzero(first)
    counts = np.diff(starts, append=len(cells))
    of_row, indices = np.divmod(cells[starts], max(shape[1], 1))
    indptr = np.zeros(shape[0] + 1, np.int64)
    np.cumsum(np.bincount(of_row, minlength=shape[0]), out=indptr[1:])
    matrix = sparse.csr_matrix(shape, dtype=np.int64)
    matrix.data, matrix.indices, matrix.indptr = counts, indices.astype(np.int32), indptr.astype(np.int32)
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


@dataclass(frozen=True)
class Corpus:
    """Documents tokenised once, so that fitting on some of the rows costs no tokenising.

    `counts` (n, terms): CSR of how often each term occurs; `keys` (terms,): see `pair_keys`;
    `has_text` (n,): False where neither title nor abstract holds a word. `corpus[rows]` gives the
    documents of some rows. Statistics of all rows, such as document frequencies, are in no part of it.
    """

    use: tuple[str, ...]
    ids: tuple[str, ...]
    tokens: tuple[str, ...]
    keys: Ints
    counts: Any
    has_text: Bools
    coverage: Coverage

    @classmethod
    def of(cls, documents: Iterable[Document], use: Iterable[str] = TEXT) -> "Corpus":
        """Tokenise and count. Raises ClassifierError as `check_use` does."""
        use, documents = check_use(use), list(documents)
        stream = TokenStream.of(documents, use)
        distinct = sorted(set(stream.tokens) - {BREAK})
        numbers = stream.numbers({token: i for i, token in enumerate(distinct)})
        single, rows = numbers >= 0, stream.rows()
        pair = single[:-1] & single[1:]
        occurring = np.concatenate(
            [
                pair_keys(numbers[single], -1, len(distinct)),
                pair_keys(numbers[:-1][pair], numbers[1:][pair], len(distinct)),
            ]
        )
        keys, columns = np.unique(occurring, return_inverse=True)
        in_rows = np.concatenate([rows[single], rows[:-1][pair]])
        counts = count_rows(in_rows, columns.reshape(-1), (len(documents), len(keys)))
        return cls(
            use,
            tuple(document.id for document in documents),
            tuple(distinct),
            keys,
            counts,
            stream.text_words > 0,
            Coverage.of(documents),
        )

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, rows: Any) -> "Corpus":
        """The documents of some rows: indices or a mask, (k,) or (n,). `coverage` stays the whole's."""
        numbers = np.arange(len(self))[rows]
        return Corpus(
            self.use,
            tuple(self.ids[i] for i in numbers),
            self.tokens,
            self.keys,
            self.counts[numbers],
            self.has_text[numbers],
            self.coverage,
        )


def batches(documents: Iterable[Document], size: int) -> Iterator[list[Document]]:
    """Lists of up to `size` documents, in order."""
    iterator = iter(documents)
    while batch := list(islice(iterator, size)):
        yield batch
