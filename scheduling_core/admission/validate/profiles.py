"""Amounts over time: what has begun by a tick less what has ended by then, at every breakpoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]
"""Whole numbers: of 64 bits where no sum of them wraps round, Python's own where one could."""


@dataclass(frozen=True)
class Profile:
    """A step function: ticks (n,) in order, and values (n,), each from its tick to the next.

    Before the first it is 0. Neighbours differ, and the last value is 0.
    """

    ticks: Whole
    values: Whole

    @property
    def points(self) -> list[list[int]]:
        """[tick, value] pairs."""
        pairs: list[list[int]] = np.stack([self.ticks, self.values], axis=1).tolist()
        return pairs

    @property
    def peak(self) -> int:
        """The highest value."""
        return int(self.values.max()) if len(self.values) else 0

    @property
    def area(self) -> int:
        """The integral over time."""
        if not len(self.ticks):
            return 0
        widths, values = np.diff(self.ticks), self.values[:-1]
        if self.peak * int(self.ticks[-1] - self.ticks[0]) >= _SAFE:
            widths, values = widths.astype(object), values.astype(object)
        return int((widths * values).sum())

    @property
    def busy(self) -> int:
        """Ticks at which the value isn't 0."""
        return int(np.diff(self.ticks)[self.values[:-1] != 0].sum())

    def first_above(self, limit: int) -> tuple[int, int] | None:
        """The first tick at which the value passes a limit, and the value."""
        above = np.flatnonzero(self.values > limit)
        return (int(self.ticks[above[0]]), int(self.values[above[0]])) if len(above) else None


class Stretches:
    """Half-open stretches of time, starts and ends (n,), over which amounts can be held."""

    def __init__(self, starts: Sequence[int], ends: Sequence[int]) -> None:
        begin, end = whole(starts), whole(ends)
        moments = np.sort(np.concatenate([begin, end]))
        self._ticks = moments[np.diff(moments, prepend=moments[:1] - 1) > 0]
        self._by_begin, self._by_end = np.argsort(begin, kind="stable"), np.argsort(end, kind="stable")
        self._begun = np.searchsorted(begin[self._by_begin], self._ticks, side="right")
        self._ended = np.searchsorted(end[self._by_end], self._ticks, side="right")

    def holding(self, amounts: Sequence[int]) -> Profile:
        """The profile of amounts (n,), one for each stretch."""
        amount = whole(amounts)
        nothing = amount[:1] * 0
        begun = np.concatenate([nothing, np.cumsum(amount[self._by_begin])])[self._begun]
        ended = np.concatenate([nothing, np.cumsum(amount[self._by_end])])[self._ended]
        return stepped(self._ticks, begun - ended)


def stepped(ticks: Whole, values: Whole) -> Profile:
    """The profile of points in order of time, without those that change nothing."""
    changes = np.diff(values, prepend=values[:1] * 0) != 0
    return Profile(ticks[changes], values[changes])


def whole(values: Sequence[int]) -> Whole:
    """An array of whole numbers of any size."""
    return np.array(values, dtype=np.int64 if sum(map(abs, values)) < _SAFE else object)


_SAFE = 1 << 62
