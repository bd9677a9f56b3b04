"""Fronts and areas against a count of grid cells; intervals against scipy's own and a printed table."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.front import Point, front, gain, hypervolume, normalised, paired_interval

SIDE = 8
POINTS = st.lists(st.tuples(st.integers(0, SIDE), st.integers(0, SIDE)), max_size=10)


def cells(points: list[Point], right: int, top: int) -> int:
    """Unit cells of the grid whose lower left corner some point is at or below in both goals."""
    return sum(any(x <= i and y <= j for x, y in points) for i in range(right) for j in range(top))


def test_a_front_and_its_area_by_hand() -> None:
    """(2, 3) is dominated by (2, 2), and (9, 0) lies beyond the reference (6, 5).

    (1, 4) dominates 5 x 1; (2, 2) adds 4 x 2; (5, 1) adds 1 x 1: 14.
    """
    points = [(5, 1), (2, 3), (1, 4), (2, 2), (9, 0), (1, 4)]
    assert front(points) == [(1, 4), (2, 2), (5, 1), (9, 0)]
    assert hypervolume(points, (6, 5)) == 14
    assert gain(points, [(1, 4), (2, 3)], (6, 5)) == 14 - (5 + 4)
    assert gain([], points, (6, 5)) == -14


@given(POINTS)
def test_an_area_is_its_count_of_cells(points: list[Point]) -> None:
    for reference in ((SIDE, SIDE), (3, 5), (0, 0)):
        assert hypervolume(points, reference) == cells(points, *reference)


@given(POINTS)
def test_a_front_holds_what_none_dominates(points: list[Point]) -> None:
    expected = {
        p for p in points if not any(q[0] <= p[0] and q[1] <= p[1] and q != p for q in points)
    }  # fmt: skip
    assert front(points) == sorted(expected)


@given(POINTS, st.tuples(st.integers(0, SIDE), st.integers(0, SIDE)))
def test_another_point_adds_what_it_alone_dominates(points: list[Point], new: Point) -> None:
    """Nothing where it is dominated or equal, something where it isn't; never less than before."""
    reference = (SIDE + 1, SIDE + 1)
    dominated = any(x <= new[0] and y <= new[1] for x, y in points)
    before, after = hypervolume(points, reference), hypervolume([*points, new], reference)
    assert (after == before) if dominated else (after > before)
    assert gain([*points, new], points, reference) >= 0


def test_areas_are_exact_for_fractions_and_floats() -> None:
    """0.1 is 3602879701896397 / 2^55 here, and 1 - 0.1 isn't rounded."""
    assert hypervolume([(Fraction(1, 3), Fraction(1, 7))], (1, 1)) == Fraction(2, 3) * Fraction(6, 7)
    assert hypervolume([(0.1, 0.0)], (1, 1)) == 1 - Fraction(3602879701896397, 2**55)


@given(POINTS, st.integers(1, 5), st.integers(1, 5))
def test_a_normalised_area_is_a_share_of_the_box(points: list[Point], width: int, height: int) -> None:
    """Scaling both goals scales the area: box from (0, 0), so that no point is better than its best."""
    worst = (SIDE * width, SIDE * height)
    wide = [(x * width, y * height) for x, y in points]
    share = hypervolume(normalised(wide, (0, 0), worst), (1, 1))
    assert share == Fraction(cells(points, SIDE, SIDE), SIDE * SIDE)


def test_an_interval_is_that_of_students_table() -> None:
    """1, 2, 3, 4: mean 2.5, s^2 = 5/3; t(0.975, 3 degrees) is printed as 3.182 in any table."""
    found = paired_interval([1, 2, 3, 4])
    assert (found.mean, found.n, found.level) == (2.5, 4, 0.95)
    assert found.high - found.mean == pytest.approx(3.182 * (5 / 12) ** 0.5, rel=2e-4)
    assert found.mean - found.low == pytest.approx(found.high - found.mean)
    same = paired_interval([Fraction(1, 3)] * 5)
    assert same.low == same.high == same.mean == 1 / 3


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=12), st.sampled_from([0.8, 0.95, 0.99]))
def test_an_interval_holds_the_means_that_a_paired_test_does_not_reject(
    differences: list[float], level: float
) -> None:
    """At its ends the p-value of scipy's one-sample t-test is 1 - level."""
    found = paired_interval(differences, level)
    if found.high - found.mean > 1e-3:
        p = stats.ttest_1samp(differences, found.high).pvalue
        assert p == pytest.approx(1 - level, rel=1e-3)


@pytest.mark.parametrize(
    "refused",
    [
        lambda: front([(1, float("nan"))]), lambda: hypervolume([(1, 1)], (float("inf"), 2)),
        lambda: hypervolume([(None, 1)], (2, 2)), lambda: normalised([(1, 1)], (0, 2), (1, 2)),
        lambda: paired_interval([1.0]), lambda: paired_interval([1, 2], 1),
        lambda: paired_interval([1, float("inf")]),
    ],
)  # fmt: skip
def test_what_has_no_front_or_interval_is_refused(refused: object) -> None:
    with pytest.raises(SchedulingError, match="expected"):
        refused()  # type: ignore[operator]
