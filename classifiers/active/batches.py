"""The next batch to read from a stored pool: where sides differ most, where a call is least certain, and
anchors at random.

A batch follows from the ids, the scores, the seed and the sizes alone, in whatever order they stand, so
that anyone can derive it again.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from classifiers.errors import ClassifierError

Floats: TypeAlias = NDArray[np.float64]


class Reason(StrEnum):
    """Why a record is in a batch. A record has one reason: the first of these for which it was taken."""

    ANCHOR = "anchor"
    """By chance, whatever its scores: anchors are a simple random sample of the pool."""
    SPREAD = "spread"
    """The sides differ most on it."""
    UNCERTAIN = "uncertain"
    """It lies nearest a threshold."""
    CERTAIN = "certain"
    """It is most likely relevant. No part of the published mix."""


@dataclass(frozen=True)
class BatchSizes:
    """How many records of each kind; 50, 30 and 20 make the published batch of 100."""

    spread: int = 50
    uncertain: int = 30
    anchors: int = 20

    def __post_init__(self) -> None:
        if min(self.spread, self.uncertain, self.anchors) < 0 or self.total == 0:
            raise ClassifierError(
                f"a batch of {self.spread} + {self.uncertain} + {self.anchors} records can't be drawn;"
                " expected numbers from 0 up, not all 0"
            )

    @property
    def total(self) -> int:
        return self.spread + self.uncertain + self.anchors

    def scaled(self, total: int) -> BatchSizes:
        """The same mix for another size, by largest remainders; a tie goes to the earlier kind."""
        shares = [total * part / self.total for part in (self.spread, self.uncertain, self.anchors)]
        whole = [math.floor(share) for share in shares]
        by_remainder = sorted(range(3), key=lambda i: (whole[i] - shares[i], i))
        for i in by_remainder[: total - sum(whole)]:
            whole[i] += 1
        return BatchSizes(*whole)


@dataclass(frozen=True)
class Pick:
    """One record of a batch: why it is there, its place among those of its reason (from 1), its value.

    The value is the spread or uncertainty that it was ranked by, None for an anchor.
    """

    id: str
    reason: Reason
    place: int
    value: float | None


@dataclass(frozen=True)
class Batch:
    """A batch with all that it follows from, except ids and scores.

    `short`: how many records of each kind are lacking, because the pool, or its scores, ran out.
    """

    picks: tuple[Pick, ...]
    seed: str
    sizes: BatchSizes
    short: dict[str, int]

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(pick.id for pick in self.picks)


def spread(sides: ArrayLike) -> Floats:
    """(n,) from scores of (sides, heads, n): how far the sides lie apart, on the head where most.

    A head that a side doesn't score for a record (NaN) is left out for it; where fewer than two sides
    score any head, the spread is NaN: unknown, and not 0.
    """
    scores = np.asarray(sides, np.float64)
    if scores.ndim != 3:
        raise ClassifierError(f"the scores have {scores.ndim} axes; expected 3: sides, heads, records")
    both = (~np.isnan(scores)).sum(axis=0) >= 2
    with np.errstate(invalid="ignore"):
        low = np.where(np.isnan(scores), np.inf, scores).min(axis=0)
        high = np.where(np.isnan(scores), -np.inf, scores).max(axis=0)
    apart = np.where(both, high - np.where(both, low, 0), -np.inf).max(axis=0)
    return np.asarray(np.where(both.any(axis=0), apart, np.nan))


def draw_batch(
    ids: Sequence[str],
    spreads: ArrayLike,
    uncertainties: ArrayLike,
    *,
    seed: str | int,
    sizes: BatchSizes | None = None,
    already: Collection[str] = (),
) -> Batch:
    """Draw a batch: anchors first, then the largest spreads, then the largest uncertainties.

    Anchors take precedence, so that they are a simple random sample of the pool and can carry an
    estimate; after them each record goes to the first reason that takes it, and the next reason takes the
    next record in its place: a batch is full while the pool lasts. Anchors are the first by
    SHA-256(seed || id); ties elsewhere go to the lesser id. A record whose spread or uncertainty is
    unknown (NaN) can only be an anchor.

    Parameters
    ----------
    ids : (n,) the stored pool.
    spreads, uncertainties : (n,) larger comes first.
    already : ids that were labelled before; they are no part of the pool.

    Raises
    ------
    ClassifierError : for an id that stands twice, lengths that differ, or an infinite value.
    """
    sizes = sizes or BatchSizes()
    columns = {"spreads": spreads, "uncertainties": uncertainties}
    values = {name: _column(name, column, len(ids)) for name, column in columns.items()}
    if len(set(ids)) < len(ids):
        seen: set[str] = set()
        twice = next(one for one in ids if one in seen or seen.add(one))  # type: ignore[func-returns-value]
        raise ClassifierError(f"the record {twice!r} stands twice in the pool; expected each id once")
    left = set(ids) - set(already)
    picks: list[Pick] = []
    short: dict[str, int] = {}

    def take(reason: Reason, wanted: int, ranked: Iterable[tuple[str, float | None]]) -> None:
        chosen = [(one, value) for one, value in ranked if one in left][:wanted]
        picks.extend(Pick(one, reason, place, value) for place, (one, value) in enumerate(chosen, start=1))
        left.difference_update(one for one, _ in chosen)
        if len(chosen) < wanted:
            short[reason.value] = wanted - len(chosen)

    take(Reason.ANCHOR, sizes.anchors, ((one, None) for one in by_hash(sorted(left), seed)))
    take(Reason.SPREAD, sizes.spread, _ranked(ids, values["spreads"]))
    take(Reason.UNCERTAIN, sizes.uncertain, _ranked(ids, values["uncertainties"]))
    return Batch(tuple(picks), str(seed), sizes, short)


def by_hash(ids: Iterable[str], seed: str | int) -> list[str]:
    """Ids in the order of SHA-256(seed || id), both as UTF-8: random, and the same for everyone."""
    prefix = str(seed).encode()
    return sorted(ids, key=lambda one: (hashlib.sha256(prefix + one.encode()).digest(), one))


def _ranked(ids: Sequence[str], values: Floats) -> list[tuple[str, float | None]]:
    known = [(one, float(value)) for one, value in zip(ids, values, strict=True) if not math.isnan(value)]
    return [(one, value) for one, value in sorted(known, key=lambda pair: (-pair[1], pair[0]))]


def _column(name: str, values: ArrayLike, n: int) -> Floats:
    column = np.asarray(values, np.float64)
    if column.shape != (n,):
        raise ClassifierError(f"{name} has the shape {column.shape}; expected one value for each of {n} ids")
    if np.isinf(column).any():
        raise ClassifierError(f"{name} holds an infinite value; expected numbers, or NaN where unknown")
    return column
