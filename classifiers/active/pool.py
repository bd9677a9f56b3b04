"""A pool whose labels are known already, to find out how an order of screening would have done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from classifiers.active.features import pool_matrix
from classifiers.errors import ClassifierError
from classifiers.features import Document

Bools: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True)
class LabelledPool:
    """Documents with their labels, in the order of their ids, so that no other order can matter.

    `documents` (n,), `relevant` (n,). Records whose label is unknown are no part of a pool: unknown is
    not irrelevant.
    """

    documents: tuple[Document, ...]
    relevant: Bools

    @classmethod
    def of(cls, documents: Sequence[Document], labels: Sequence[bool]) -> LabelledPool:
        """Raises ClassifierError for lengths that differ, an id that stands twice, or one kind of label."""
        if len(documents) != len(labels):
            raise ClassifierError(f"{len(labels)} labels for {len(documents)} records; expected one for each")
        order = sorted(range(len(documents)), key=lambda i: documents[i].id)
        pool = cls(
            tuple(documents[i] for i in order),
            np.array([bool(labels[i]) for i in order], np.bool_),
        )
        for one, other in zip(pool.ids, pool.ids[1:], strict=False):
            if one == other:
                raise ClassifierError(f"the record {one!r} stands twice in the pool; expected each id once")
        found = int(pool.relevant.sum())
        if found in (0, len(pool)):
            raise ClassifierError(
                f"{found} of {len(pool)} records are relevant; a simulation needs both kinds"
            )
        return pool

    def __len__(self) -> int:
        return len(self.documents)

    @cached_property
    def ids(self) -> tuple[str, ...]:
        return tuple(document.id for document in self.documents)

    @cached_property
    def matrix(self) -> Any:
        """CSR (n, terms) of the texts, computed once."""
        return pool_matrix(self.documents)

    @cached_property
    def sides(self) -> tuple[Any, Any]:
        """Titles alone and abstracts alone: two views that can disagree on a record."""
        titles = [Document(document.id, title=document.title) for document in self.documents]
        abstracts = [Document(document.id, abstract=document.abstract) for document in self.documents]
        return pool_matrix(titles), pool_matrix(abstracts)

    def rows(self, ids: Sequence[str]) -> list[int]:
        """The rows of some ids. Raises ClassifierError for one that isn't there or stands twice."""
        row_of = {one: row for row, one in enumerate(self.ids)}
        for one in ids:
            if one not in row_of:
                raise ClassifierError(f"the record {one!r} is not in the pool")
        if len(set(ids)) < len(ids):
            raise ClassifierError("a prior record is named twice; expected each id once")
        return [row_of[one] for one in ids]


def draw_priors(
    ids: Sequence[str], labels: Sequence[bool], seed: int, relevant: int = 1, irrelevant: int = 1
) -> tuple[str, ...]:
    """Ids known before the screening begins, at random by the seed, relevant ones first.

    The draw is that of `asreview simulate --n-prior-included --n-prior-excluded --prior-seed` for records
    in the same order, so that both can start alike.

    Raises
    ------
    ClassifierError : where there are fewer records of a kind than asked for.
    """
    chosen: list[str] = []
    for kind, wanted, name in ((True, relevant, "relevant"), (False, irrelevant, "irrelevant")):
        rows = np.flatnonzero(np.asarray(labels, bool) == kind)
        if wanted > len(rows):
            raise ClassifierError(f"{wanted} {name} priors are asked for, but the pool holds {len(rows)}")
        generator = np.random.RandomState(seed)
        chosen += [ids[row] for row in generator.choice(rows, wanted, replace=False)]
    return tuple(chosen)
