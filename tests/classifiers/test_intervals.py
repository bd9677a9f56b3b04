"""Intervals against statsmodels, scipy's distributions and cases worked by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from classifiers.errors import ClassifierError
from classifiers.intervals import (
    check_level,
    clopper_pearson_limits,
    korn_graubard_limits,
    korn_graubard_sample_size,
    logit_limits,
    normal_quantile,
    wald_limits,
)


@pytest.mark.parametrize(("x", "n"), [(0, 20), (1, 20), (7, 20), (20, 20), (3, 1000)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_clopper_pearson_against_statsmodels(x: int, n: int, level: float) -> None:
    expected = proportion_confint(x, n, alpha=1 - level, method="beta")
    assert [float(end) for end in clopper_pearson_limits(x, n, level)] == pytest.approx(expected, abs=1e-12)


def test_wald_against_statsmodels() -> None:
    p, n = 0.3, 50
    expected = proportion_confint(15, 50, method="normal")
    assert wald_limits(p, np.sqrt(p * (1 - p) / n), 0.95) == pytest.approx(expected, abs=1e-12)


def test_logit_by_hand() -> None:
    # p = 1/2 and SE = 1/8: logit 0, its standard error (1/8) / (1/4) = 1/2, ends expit(+-1.959964 / 2).
    low, high = logit_limits(0.5, 0.125, 0.95)
    end = 1 / (1 + np.exp(-1.959963984540054 / 2))
    assert (low, high) == pytest.approx((1 - end, end), abs=1e-12)


def test_korn_graubard_is_clopper_pearson_of_the_effective_sample() -> None:
    # p (1 - p) / var = 100, and as many degrees of freedom as n - 1: effectively 25 of 100.
    p, se = 0.25, np.sqrt(0.25 * 0.75 / 100)
    expected = proportion_confint(25, 100, method="beta")
    found = korn_graubard_limits(p, se, n=1000, kish=900, df=999, level=0.95)
    assert found == pytest.approx(expected, abs=1e-10)


def test_effective_sample_is_adjusted_for_degrees_of_freedom_and_cut_at_n() -> None:
    p, se = 0.25, np.sqrt(0.25 * 0.75 / 100)
    ratio = stats.t.ppf(0.975, 499) / stats.t.ppf(0.975, 10)
    assert korn_graubard_sample_size(p, se, 500, 400, 10, 0.95) == pytest.approx(100 * ratio**2, rel=1e-12)
    # Stratification may make a design better than simple random sampling; no credit is taken for it.
    assert korn_graubard_sample_size(p, se, 80, 70, 79, 0.95) == 80


def test_no_positive_at_all() -> None:
    # The variance is 0; Kish's n stands in: the upper end of 0 of 60 is 1 - 0.025^(1/60).
    low, high = korn_graubard_limits(0.0, 0.0, n=100, kish=60, df=99, level=0.95)
    assert (low, high) == (0, pytest.approx(1 - 0.025 ** (1 / 60), abs=1e-12))
    assert np.isnan([wald_limits(0.0, 0.0, 0.95), logit_limits(0.0, 0.0, 0.95)]).all()
    assert np.isnan(korn_graubard_limits(0.0, 0.0, n=5, kish=5, df=0, level=0.95)).all()


@given(p=st.floats(0.001, 0.999), n=st.integers(5, 5000), deff=st.floats(0.5, 5), df=st.integers(1, 5000))
def test_intervals_hold_the_estimate_and_stay_inside(p: float, n: int, deff: float, df: int) -> None:
    se = np.sqrt(deff * p * (1 - p) / n)
    for low, high in (logit_limits(p, se, 0.95), korn_graubard_limits(p, se, n, n / deff, df, 0.95)):
        assert 0 <= low <= p <= high <= 1


def test_arrays_broadcast() -> None:
    p = np.array([[0.0, 0.1], [0.5, 1.0]])
    low, high = korn_graubard_limits(p, np.sqrt(p * (1 - p) / 50), 50, 50, 49, 0.95)
    assert low.shape == high.shape == (2, 2)
    assert low[0, 0] == 0
    assert high[1, 1] == 1
    # Turning positives into negatives turns the interval round.
    assert 1 - high[1, 1] == pytest.approx(low[0, 0])
    assert 1 - low[1, 1] == pytest.approx(high[0, 0])


def test_level() -> None:
    assert normal_quantile(0.95) == pytest.approx(1.959963984540054, abs=1e-12)
    with pytest.raises(ClassifierError, match="the level is 95, expected a number between 0 and 1"):
        check_level(95)
