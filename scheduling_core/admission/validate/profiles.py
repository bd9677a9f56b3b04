"""Amounts over time: what has begun by a tick less what has ended by then, at every breakpoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Profile:
    """A step function: points are (tick, value from there on), neighbours differ, the last value is 0."""

    points: list[list[int]]

    @property
    def peak(self) -> int:
        """The highest value."""
        return max((value for _, value in self.points), default=0)

    @property
    def area(self) -> int:
        """The integral over time."""
        following = self.points[1:]
        return sum(
            value * (after - tick) for (tick, value), (after, _) in zip(self.points, following, strict=False)
        )

    @property
    def busy(self) -> int:
        """Ticks at which the value isn't 0."""
        following = self.points[1:]
        return sum(
            after - tick for (tick, value), (after, _) in zip(self.points, following, strict=False) if value
        )

    def first_above(self, limit: int) -> tuple[int, int] | None:
        """The first point whose value passes a limit."""
        return next(((tick, value) for tick, value in self.points if value > limit), None)


def held(starts: Sequence[int], ends: Sequence[int], amounts: Sequence[int]) -> Profile:
    """The profile of amounts (n,), each held over [start, end), ticks (n,)."""
    if not starts:
        return Profile([])
    begin, end = _whole(starts), _whole(ends)
    amount = _whole(amounts)
    ticks = np.unique(np.concatenate([begin, end]))
    values = _total_by(begin, amount, ticks) - _total_by(end, amount, ticks)
    return stepped(list(zip(ticks.tolist(), values.tolist(), strict=True)))


def _whole(values: Sequence[int]) -> NDArray[np.int64]:
    """Whole numbers of any size are slow and never wrap round; those of 64 bits are used where none can."""
    return np.array(values, dtype=np.int64 if sum(map(abs, values)) < 1 << 62 else object)


def stepped(points: Sequence[tuple[int, int]]) -> Profile:
    """The profile of points in order of time, those left out that change nothing."""
    kept: list[list[int]] = []
    for tick, value in points:
        if value != (kept[-1][1] if kept else 0):
            kept.append([tick, value])
    return Profile(kept)


def _total_by(
    moments: NDArray[np.int64], amount: NDArray[np.int64], ticks: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The sum of the amounts whose moment has come, at each tick."""
    order = np.argsort(moments, kind="stable")
    running = np.concatenate([amount[:1] * 0, np.cumsum(amount[order])])
    return np.asarray(running[np.searchsorted(moments[order], ticks, side="right")])
