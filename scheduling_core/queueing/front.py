"""Two goals at once, both to be minimised: fronts, the area that they dominate, intervals of paired gains.

Points are pairs of numbers; floats are taken as the fractions that they are, so that every area is exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from scheduling_core.errors import SchedulingError

Number = Fraction | int | float
Point = tuple[Number, Number]


@dataclass(frozen=True)
class Interval:
    """Of a mean difference: [low, high] at `level` by Student's t with n - 1 degrees of freedom."""

    mean: float
    low: float
    high: float
    n: int
    level: float


def front(points: Iterable[Point]) -> list[Point]:
    """The points that none dominates, each once, by the first goal rising (and so the second falling).

    A point dominates another one where it is in no goal worse and in one better.

    Raises
    ------
    SchedulingError : for a value that isn't a finite number.
    """
    best: list[Point] = []
    for point in sorted(points, key=_exact):
        if not best or _exact(point)[1] < _exact(best[-1])[1]:
            best.append(point)
    return best


def hypervolume(points: Iterable[Point], reference: Point) -> Fraction:
    """The area between the reference, the worst point that counts, and what `points` dominate; exact.

    A point that isn't better than the reference in both goals adds nothing. Source: Zitzler and Thiele,
    PPSN V, 1998, there for goals to be maximised.

    Raises
    ------
    SchedulingError : for a value that isn't a finite number.
    """
    right, top = _exact(reference)
    area, above = Fraction(0), top
    for x, y in map(_exact, front(points)):
        if x < right and y < above:
            area += (right - x) * (above - y)
            above = y
    return area


def gain(own: Iterable[Point], others: Iterable[Point], reference: Point) -> Fraction:
    """hypervolume(own) - hypervolume(others): above 0 where `own` dominates the larger area."""
    return hypervolume(own, reference) - hypervolume(others, reference)


def normalised(points: Iterable[Point], best: Point, worst: Point) -> list[tuple[Fraction, Fraction]]:
    """Points in a box that is told with them: `best` becomes (0, 0), `worst` (1, 1), outside stays outside.

    With (1, 1) as reference a hypervolume is then the share of the box that is dominated, as long as no point
    is better than `best`.

    Raises
    ------
    SchedulingError : where `best` isn't below `worst` in both goals.
    """
    (left, bottom), (right, top) = _exact(best), _exact(worst)
    if left >= right or bottom >= top:
        raise SchedulingError(f"A box from {best} to {worst}, expected the first to be lower in both goals.")
    return [((x - left) / (right - left), (y - bottom) / (top - bottom)) for x, y in map(_exact, points)]


def paired_interval(differences: Sequence[Number], level: float = 0.95) -> Interval:
    """The interval of a mean difference from n paired runs, such as the gains at n seeds.

    Mean +- t(level, n - 1) x s / sqrt(n), s with n - 1 below; it takes the differences as independent and
    about normal.

    Raises
    ------
    SchedulingError : for fewer than 2 differences, one that isn't finite, or a level outside (0, 1).
    """
    from scipy.stats import t  # slow to import, and only needed here

    n = len(differences)
    if n < 2:
        raise SchedulingError(f"{n} paired differences have no interval, expected at least 2.")
    if not 0 < level < 1:
        raise SchedulingError(f"An interval at level {level}, expected a number between 0 and 1.")
    exact = [_fraction(value) for value in differences]
    mean = sum(exact, Fraction(0)) / n
    variance = sum(((value - mean) ** 2 for value in exact), Fraction(0)) / (n - 1)
    half = float(t.ppf((1 + level) / 2, n - 1)) * math.sqrt(variance / n)
    return Interval(float(mean), float(mean) - half, float(mean) + half, n, level)


def _exact(point: Point) -> tuple[Fraction, Fraction]:
    return _fraction(point[0]), _fraction(point[1])


def _fraction(value: Number) -> Fraction:
    try:
        return Fraction(value)
    except (ValueError, OverflowError, TypeError) as error:
        raise SchedulingError(f"{value!r} can't be compared, expected a finite number.") from error
