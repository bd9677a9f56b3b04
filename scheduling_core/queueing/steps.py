"""Step functions made small enough to be drawn, exactly: nothing is thinned out without saying how."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple


class Step(NamedTuple):
    """From `time` on, until the next step, the function is `value`."""

    time: Fraction
    value: Fraction


class Reduced(NamedTuple):
    """Steps; stretches : 0 where they are the function itself, else of how many equal stretches the means."""

    steps: list[Step]
    stretches: int


def merged(times: Iterable[int], values: Iterable[int]) -> list[tuple[int, int]]:
    """The same function without the steps at which nothing changes."""
    found: list[tuple[int, int]] = []
    for time, value in zip(times, values, strict=True):
        if not found or found[-1][1] != value:
            found.append((time, value))
    return found


def reduced(times: Sequence[int], values: Sequence[int], end: int, most: int) -> Reduced:
    """A step function from times[0] to `end`, as it is where it takes at most `most` steps, else its means.

    The means are over `most` equal stretches, each exact and weighted by time, so that every area under them
    is that under the function. times : rising, none after `end`.
    """
    kept = merged(times, values)
    if len(kept) <= most:
        return Reduced([Step(Fraction(time), Fraction(value)) for time, value in kept], 0)
    begin, span = kept[0][0], end - kept[0][0]
    until = [time for time, _ in kept[1:]] + [end]
    steps, at = [], 0
    for stretch in range(most):
        left, right = span * stretch, span * (stretch + 1)  # times from `begin`, in parts of 1 / most
        area = 0
        while True:
            first, last = max(left, (kept[at][0] - begin) * most), min(right, (until[at] - begin) * most)
            area += kept[at][1] * (last - first)
            if (until[at] - begin) * most >= right:
                break
            at += 1
        steps.append(Step(begin + Fraction(left, most), Fraction(area, span)))
    return Reduced(steps, most)


def distribution(values: Sequence[int], most: int) -> list[tuple[int, int]]:
    """(value, how many are at most this): every different value, or at most `most` of them.

    Where there are more, those of rank ceil(k n / most): every point is one of the exact function, which
    between two of them rises by less than n / most.
    """
    ranked = sorted(values)
    n = len(ranked)
    chosen = set(ranked)
    if len(chosen) > most:
        chosen = {ranked[-(-k * n // most) - 1] for k in range(1, most + 1)}
    return [(value, bisect_right(ranked, value)) for value in sorted(chosen)]
