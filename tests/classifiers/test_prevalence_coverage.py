"""A frame that is fully known: how often intervals hold its prevalence, and where some don't."""

import numpy as np
import pytest

from classifiers.intervals import Floats, Limits, korn_graubard_limits, logit_limits, wald_limits
from classifiers.prevalence import Moments, nonresponse_moments

FRAME = np.array([40_000, 20_000, 8_000, 2_000])
SAMPLED = np.array([400, 300, 200, 100])
POSITIVE = np.array([2_000, 2_400, 2_400, 1_000])  # 11.1 % of the frame
RARE = np.array([20, 10, 4, 1])  # 0.05 %


def draws(positive: Floats, times: int, seed: int) -> tuple[Moments, float]:
    rng = np.random.default_rng(seed)
    found = rng.hypergeometric(positive, FRAME - positive, SAMPLED, size=(times, len(FRAME)))
    return nonresponse_moments(FRAME, SAMPLED, found), positive.sum() / FRAME.sum()


def limits(moments: Moments) -> dict[str, Limits]:
    p, se = moments.estimate, moments.se
    return {
        "wald": wald_limits(p, se, 0.95),
        "logit": logit_limits(p, se, 0.95),
        "korn_graubard": korn_graubard_limits(p, se, moments.n, moments.kish, moments.df, 0.95),
    }


def coverage(moments: Moments, truth: float) -> dict[str, float]:
    """An interval that isn't there holds nothing."""
    return {
        name: float(np.mean((low <= truth) & (truth <= high)))
        for name, (low, high) in limits(moments).items()
    }


def test_a_thousand_samples() -> None:
    moments, truth = draws(POSITIVE, 1000, seed=1)
    # The mean of 1,000 estimates lies within four of its standard errors of the truth.
    assert moments.estimate.mean() == pytest.approx(truth, abs=4 * moments.estimate.std() / np.sqrt(1000))
    found = coverage(moments, truth)
    assert 0.93 <= found["wald"] <= 0.97
    assert 0.93 <= found["logit"] <= 0.97
    assert found["korn_graubard"] >= 0.94


def test_many_samples() -> None:
    # 50,000 samples know a coverage of 95 % to 0.1 points. Wald and logit are within half a point of
    # nominal; Korn-Graubard lies above it, as it takes no credit for the stratification.
    moments, truth = draws(POSITIVE, 50_000, seed=2)
    found = coverage(moments, truth)
    assert found["wald"] == pytest.approx(0.95, abs=0.005)
    assert found["logit"] == pytest.approx(0.95, abs=0.005)
    assert found["korn_graubard"] > 0.95
    assert moments.variance.mean() == pytest.approx(moments.estimate.var(), rel=4 * np.sqrt(2 / 50_000))


def test_rare_positives_are_where_only_korn_graubard_holds() -> None:
    # Half of the samples hold no positive: Wald and logit then have no interval, Korn-Graubard has.
    moments, truth = draws(RARE, 10_000, seed=3)
    found = coverage(moments, truth)
    assert found["wald"] < 0.6
    assert found["logit"] < 0.6
    assert found["korn_graubard"] >= 0.94
