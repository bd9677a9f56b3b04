"""Rogan-Gladen and the sensitivity band: worked cases, simulation with a known truth, honest truncation."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from classifiers.errors import ClassifierError
from classifiers.prevalence import Validation, rogan_gladen, rogan_gladen_moments, sensitivity_band


def test_a_worked_case() -> None:
    # Sensitivity 80/100, specificity 180/200, apparent 0.24: p = (0.24 - 0.10) / 0.70 = 0.2;
    # Var = (0.0004 + 0.04 * 0.16/100 + 0.64 * 0.09/200) / 0.49.
    found = rogan_gladen(0.24, 0.02, Validation(80, 20, 180, 20))
    assert found.estimate == found.raw == pytest.approx(0.2)
    variance = (0.0004 + 0.04 * 0.16 / 100 + 0.64 * 0.09 / 200) / 0.49
    assert found.se == pytest.approx(np.sqrt(variance))
    half = 1.959963984540054 * np.sqrt(variance)
    assert (found.interval.low, found.interval.high) == pytest.approx((0.2 - half, 0.2 + half))
    assert (found.truncated, found.notes) == (False, ())


def test_removes_the_bias() -> None:
    # Truth 10 %, sensitivity 0.8, specificity 0.95: a count of calls is at 12.5 %. Of 40,000 simulated
    # studies the mean lies within four of its standard errors of the truth, plus the bias of the ratio,
    # at most (p Var(se) + Var(sp)) / (se + sp - 1)^2 to second order.
    rng = np.random.default_rng(5)
    truth, se, sp, n, n1, n0, times = 0.1, 0.8, 0.95, 2000, 1500, 3000, 40_000
    calls = rng.binomial(n, truth * se + (1 - truth) * (1 - sp), times) / n
    raw, variance = rogan_gladen_moments(
        calls,
        calls * (1 - calls) / (n - 1),
        rng.binomial(n1, se, times) / n1,
        rng.binomial(n0, sp, times) / n0,
        n1,
        n0,
    )
    error = raw.std() / np.sqrt(times)
    ratio_bias = (truth * se * (1 - se) / n1 + sp * (1 - sp) / n0) / 0.75**2
    assert abs(raw.mean() - truth) < 4 * error + ratio_bias
    assert calls.mean() - truth > 0.02  # what it removes: 50 times the tolerance
    assert 4 * error + ratio_bias < 0.0004
    # The delta method gives the spread of the estimates, and its interval holds the truth as often as said.
    assert variance.mean() == pytest.approx(raw.var(), rel=4 * np.sqrt(2 / times) + 0.01)
    held = np.mean(np.abs(raw - truth) <= 1.959963984540054 * np.sqrt(variance))
    assert held == pytest.approx(0.95, abs=0.01)


@given(
    truth=st.floats(0, 1),
    tp=st.integers(0, 50),
    fn=st.integers(0, 50),
    tn=st.integers(0, 50),
    fp=st.integers(0, 50),
)
def test_undoes_what_misclassification_does(truth: float, tp: int, fn: int, tn: int, fp: int) -> None:
    assume(tp + fn > 0 and tn + fp > 0)
    validation = Validation(tp, fn, tn, fp)
    se, sp = validation.sensitivity, validation.specificity
    assume(se + sp > 1.01)
    found = rogan_gladen(min(1.0, truth * se + (1 - truth) * (1 - sp)), 0.01, validation)
    assert found.estimate == pytest.approx(truth, abs=1e-9)
    assert 0 <= found.estimate <= 1


def test_below_zero_is_truncated_and_said() -> None:
    # Specificity 0.9 leaves 10 % false calls; 8 % apparent is less than no prevalence would give.
    found = rogan_gladen(0.08, 0.02, Validation(80, 20, 180, 20))
    assert found.raw == pytest.approx(-0.02 / 0.7)
    assert (found.estimate, found.truncated) == (0, True)
    assert found.notes == ("the formula gave -0.02857, outside [0, 1]; the estimate is the nearer end",)
    assert (found.interval.low, found.interval.truncated) == (0, True)


def test_far_below_zero_has_no_interval() -> None:
    found = rogan_gladen(0.01, 0.001, Validation(800, 200, 1800, 200))
    assert (found.interval.low, found.interval.high) == (None, None)
    assert "don't fit the apparent prevalence" in found.interval.reason


def test_no_better_than_chance_has_no_value() -> None:
    found = rogan_gladen(0.3, 0.01, Validation(50, 50, 50, 50))
    assert (found.raw, found.estimate, found.se, found.interval.low) == (None, None, None, None)
    assert "no better than chance" in found.undefined


def test_an_error_never_seen_is_said_to_count_as_none() -> None:
    found = rogan_gladen(0.2, 0.01, Validation(90, 10, 200, 0))
    assert found.estimate == pytest.approx(0.2 / 0.9)
    assert found.notes == (
        "specificity was 1 in all 200 records, and its error counts as 0: the interval is too narrow",
    )
    # A census of calls with a perfect validation has no error left, which isn't certainty.
    assert rogan_gladen(0.2, 0.0, Validation(9, 0, 9, 0)).se is None
    assert rogan_gladen(0.2, 0.0, Validation(9, 0, 9, 0)).interval.low is None


def test_band_by_hand() -> None:
    # Apparent 0.2: at (0.8, 0.9) 0.1/0.7, at (1, 0.9) 0.1/0.9, at (0.8, 1) 0.25, at (1, 1) 0.2.
    band = sensitivity_band(0.2, [0.8, 1.0], [0.9, 1.0], interval=(0.15, 0.3))
    assert [p.raw for p in band.points] == pytest.approx([0.1 / 0.7, 0.25, 0.1 / 0.9, 0.2])
    assert (band.low, band.high) == pytest.approx((0.1 / 0.9, 0.25))
    assert (band.interval_low, band.interval_high) == pytest.approx((0.05 / 0.9, 0.3 / 0.8))
    assert band.truncated == 0


def test_band_says_where_an_assumption_contradicts_the_data() -> None:
    band = sensitivity_band(0.02, [0.9, 0.1], [0.95, 0.8])
    assert [p.undefined is None for p in band.points] == [True, True, True, False]
    assert (band.truncated, band.low) == (3, 0)
    assert band.interval_low is None
    nothing = sensitivity_band(0.02, [0.1], [0.2])
    assert (nothing.low, nothing.high) == (None, None)


@given(st.floats(0, 1), st.floats(0.5, 1), st.floats(0.51, 1), st.floats(0, 1), st.floats(0, 1))
def test_extremes_of_the_band_are_at_its_corners(a: float, se: float, sp: float, u: float, v: float) -> None:
    corners = sensitivity_band(a, [se, 1.0], [sp, 1.0])
    inside = sensitivity_band(a, [se + u * (1 - se)], [sp + v * (1 - sp)])
    assert corners.low - 1e-9 <= inside.low <= inside.high <= corners.high + 1e-9


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Validation(0, 0, 5, 5), "no record is truly positive, so sensitivity is unknown"),
        (lambda: Validation(5, 5, 0, 0), "no record is truly negative, so specificity is unknown"),
        (lambda: Validation(-1, 5, 5, 5), "true_positive is -1, expected a whole number"),
        (lambda: rogan_gladen(1.2, 0.1, Validation(9, 1, 9, 1)), "apparent prevalence is 1.2"),
        (lambda: rogan_gladen(float("nan"), 0.1, Validation(9, 1, 9, 1)), "apparent prevalence is nan"),
        (lambda: rogan_gladen(0.2, -0.1, Validation(9, 1, 9, 1)), "the standard error is -0.1"),
        (lambda: sensitivity_band(0.2, [], [0.9]), "there is no sensitivity to assume"),
        (lambda: sensitivity_band(0.2, [0.9], [1.1]), "a specificity is 1.1, expected a number from 0 to 1"),
        (lambda: sensitivity_band(0.2, [0.9], [0.9], interval=(0.3, 0.4)), "doesn't hold the apparent"),
    ],
)
def test_refusals(make: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(ClassifierError, match=sentence) as refused:
        make()
    assert not str(refused.value).endswith(".")
