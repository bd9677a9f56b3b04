"""Brier score, log loss and calibration error against scikit-learn, cases by hand, and properties."""

from math import comb

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn import metrics as sk

from classifiers.metrics import Sample, probabilities
from classifiers.metrics.bins import equal_mass, equal_width
from classifiers.metrics.brier import (
    brier_decomposition,
    brier_score,
    calibration_error,
    chance_calibration_error,
    log_loss,
)


@st.composite
def predictions(draw: st.DrawFn) -> Sample:
    n = draw(st.integers(2, 30))
    p = draw(arrays(np.float64, n, elements=st.floats(0, 1)))
    y = draw(arrays(np.bool_, n, elements=st.booleans()))
    w = draw(arrays(np.float64, n, elements=st.floats(0.01, 100)))
    return probabilities(p, y, w)


@settings(max_examples=40)
@given(predictions())
def test_scores_against_scikit_learn(made: Sample) -> None:
    assert brier_score(made) == pytest.approx(
        sk.brier_score_loss(made.y, made.values, sample_weight=made.weights, pos_label=True), abs=1e-12
    )
    # scikit-learn keeps a probability a machine epsilon away from 0 and 1, we 1e-12.
    near = np.clip(made.values, 1e-12, 1 - 1e-12)
    expected = sk.log_loss(made.y, near, sample_weight=made.weights, labels=[False, True])
    assert log_loss(made) == pytest.approx(expected, rel=1e-9, abs=1e-11)


def test_decomposition_by_hand() -> None:
    """Two bins: (0.1, 0.3) with labels 0, 1 and (0.8, 0.8) with labels 1, 1.

    Means 0.2 and 0.8 against 1/2 and 1: reliability (0.09 + 0.04) / 2; base 3/4: resolution
    (1/16 + 1/16) / 2, uncertainty 3/16. Within the first bin, p strays by -0.1 and 0.1, y by -1/2 and
    1/2: variance 0.02 / 4, covariance term 2 x 0.1 / 4. Brier (0.01 + 0.49 + 0.04 + 0.04) / 4.
    """
    found = brier_decomposition(probabilities([0.1, 0.3, 0.8, 0.8], [0, 1, 1, 1]), np.array([0, 0, 1, 1]))
    assert found.brier == pytest.approx(0.145, abs=1e-15)
    assert found.reliability == pytest.approx(0.065, abs=1e-15)
    assert found.resolution == pytest.approx(1 / 16, abs=1e-15)
    assert found.uncertainty == pytest.approx(3 / 16, abs=1e-15)
    assert found.within_variance == pytest.approx(0.005, abs=1e-15)
    assert found.within_covariance == pytest.approx(0.05, abs=1e-15)
    assert found.skill == pytest.approx(1 - 0.145 / 0.1875, abs=1e-15)
    assert found.bins == 2


@given(predictions(), st.integers(1, 12))
def test_the_five_terms_add_up_to_the_score(made: Sample, bins: int) -> None:
    for numbers in (equal_mass(made, bins), equal_width(made, bins)):
        d = brier_decomposition(made, numbers)
        total = d.reliability - d.resolution + d.uncertainty + d.within_variance - d.within_covariance
        assert total == pytest.approx(d.brier, abs=1e-12)
        assert min(d.reliability, d.resolution, d.uncertainty, d.within_variance) >= 0


def test_no_skill_against_a_base_rate_of_0_or_1() -> None:
    assert brier_decomposition(probabilities([0.2, 0.4], [1, 1]), np.array([0, 1])).skill is None


@settings(max_examples=50)
@given(
    arrays(np.float64, 8, elements=st.floats(0, 1)),
    arrays(np.bool_, 8, elements=st.booleans()),
    arrays(np.int64, 8, elements=st.integers(1, 4)),
)
def test_a_weight_of_k_is_k_records(
    p: npt.NDArray[np.float64], y: npt.NDArray[np.bool_], times: npt.NDArray[np.int64]
) -> None:
    weighted = probabilities(p, y, times)
    repeated = probabilities(np.repeat(p, times), np.repeat(y, times))
    for score in (brier_score, log_loss):
        assert score(weighted) == pytest.approx(score(repeated), rel=1e-12, abs=1e-15)
    bins = equal_width(weighted, 5)
    assert calibration_error(weighted, bins) == pytest.approx(
        calibration_error(repeated, np.repeat(bins, times)), abs=1e-12
    )


def test_calibration_error_by_hand() -> None:
    # Bins hold weights 3 and 1: |0.2 - 1/3| and |0.9 - 0| weigh 3/4 and 1/4.
    made = probabilities([0.2, 0.2, 0.9], [1, 0, 0], [1, 2, 1])
    assert calibration_error(made, np.array([0, 0, 1])) == pytest.approx(
        0.75 * (2 / 15) + 0.25 * 0.9, abs=1e-15
    )


def test_chance_error_is_that_of_a_binomial() -> None:
    """One bin of 20 records at 0.3: the mean of |K / 20 - 0.3| for K binomial."""
    expected = sum(comb(20, k) * 0.3**k * 0.7 ** (20 - k) * abs(k / 20 - 0.3) for k in range(21))
    made = probabilities([0.3] * 20, [1] * 6 + [0] * 14)
    draws = 20_000
    found = chance_calibration_error(made, np.zeros(20, dtype=np.int64), draws, seed=3)
    # The error of a mean of draws, none of which strays by more than 0.7; 4 of them.
    assert found == pytest.approx(expected, abs=4 * 0.7 / draws**0.5)
    assert found == chance_calibration_error(made, np.zeros(20, dtype=np.int64), draws, seed=3)


def test_perfect_probabilities_have_no_debiased_error_on_average() -> None:
    """Over 200 seeded draws the error less chance is 0 within 4 of its own standard errors."""
    rng = np.random.default_rng(8)
    excess = []
    for draw in range(200):
        p = rng.beta(0.5, 5, 300)
        made = probabilities(p, rng.random(300) < p)
        bins = equal_mass(made, 10)
        excess.append(calibration_error(made, bins) - chance_calibration_error(made, bins, 100, draw))
    assert abs(np.mean(excess)) < 4 * np.std(excess) / len(excess) ** 0.5
