"""Statistics of exact ratios: mean, median, nearest ranks; and how many jobs a job shared the system with."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction

Ratio = tuple[int, int]
"""Numerator and denominator, the latter above 0; a whole number of ticks is (ticks, 1)."""

STATISTICS: Mapping[str, str] = {
    "mean": "mean",
    "median": "median, of an even number the mean of the middle two",
    "p95": "nearest rank: the ceil(0.95 n)-th smallest",
    "p99": "nearest rank: the ceil(0.99 n)-th smallest",
    "max": "largest",
}
PLACES = 30
EXACT = 10**PLACES
"""The largest common denominator at which a mean of ratios is exact; beyond it each is cut to `PLACES`."""


def summary(ratios: Sequence[Ratio], unit: Fraction = Fraction(1)) -> dict[str, Fraction | None]:
    """Each of `STATISTICS` of ratios (n,), times `unit`; None for all where n is 0."""
    if not ratios:
        return dict.fromkeys(STATISTICS)
    ranked = in_order(ratios)
    n = len(ranked)
    found = {
        "mean": mean(ranked),
        "median": (Fraction(*ranked[(n - 1) // 2]) + Fraction(*ranked[n // 2])) / 2,
        "p95": Fraction(*ranked[-(-95 * n // 100) - 1]),
        "p99": Fraction(*ranked[-(-99 * n // 100) - 1]),
        "max": Fraction(*ranked[-1]),
    }
    return {name: value * unit for name, value in found.items()}


def in_order(ratios: Sequence[Ratio]) -> list[Ratio]:
    """Smallest first, exactly, by one whole number each.

    Two different ratios with denominators of b bits lie more than 2^-2b apart, so that 2b binary places tell
    them apart.
    """
    places = 2 * max(below.bit_length() for _, below in ratios)
    return sorted(ratios, key=lambda ratio: (ratio[0] << places) // ratio[1])


def mean(ratios: Sequence[Ratio]) -> Fraction:
    """The mean of ratios (n,), n > 0: exact while their common denominator is at most 10^30.

    Beyond it the denominator could have as many digits as there are jobs, so each ratio is cut after 30
    decimals: the mean is then too small by less than 10^-30.
    """
    common = 1
    for below in {below for _, below in ratios}:
        common = math.lcm(common, below)
        if common > EXACT:
            return Fraction(sum(above * EXACT // below for above, below in ratios), EXACT * len(ratios))
    return Fraction(sum(above * (common // below) for above, below in ratios), common * len(ratios))


def contention(submit: Sequence[int], end: Sequence[int]) -> list[int]:
    """For each job the jobs in the system, itself among them, summed over the ticks from submit to end."""
    change: Counter[int] = Counter(submit)
    change.subtract(Counter(end))
    until: dict[int, int] = {}  # the sum over all ticks before this one
    area = present = before = 0
    for time in sorted(change):
        area += present * (time - before)
        present += change[time]
        before = time
        until[time] = area
    return [until[last] - until[first] for first, last in zip(submit, end, strict=True)]
