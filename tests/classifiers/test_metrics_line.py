"""Calibration intercept and slope against statsmodels, and their coverage of a known truth."""

import numpy as np
import numpy.typing as npt
import pytest
import statsmodels.api as sm

from classifiers.errors import ClassifierError
from classifiers.metrics import Sample, probabilities
from classifiers.metrics.line import Estimate, calibration_line

Floats = npt.NDArray[np.float64]

# It says so of every sandwich with such weights; the records of `predicted` have them.
pytestmark = pytest.mark.filterwarnings("ignore:cov_type not fully supported with var_weights")


def predicted(n: int = 400, seed: int = 0, groups: int | None = None) -> Sample:
    rng = np.random.default_rng(seed)
    p = 1 / (1 + np.exp(-rng.normal(-2, 1.5, n)))
    y = rng.random(n) < 1 / (1 + np.exp(-(0.4 + 0.7 * np.log(p / (1 - p)))))
    codes = None if groups is None else rng.integers(0, groups, n)
    return probabilities(p, y, rng.choice([0.5, 2.0, 10.0], n), codes)


def log_odds(made: Sample) -> Floats:
    return np.asarray(np.log(made.values / (1 - made.values)))


@pytest.mark.parametrize("groups", [None, 40])
def test_line_against_statsmodels(groups: int | None) -> None:
    """Point estimates, and sandwich errors by group without its own small-sample factor but with ours."""
    made = predicted(groups=groups)
    count = int(made.groups.max()) + 1
    options = {
        "cov_type": "cluster",
        "cov_kwds": {"groups": made.groups, "use_correction": False},
        "tol": 1e-14,
        "maxiter": 200,
    }
    binomial, x = sm.families.Binomial(), log_odds(made)
    shift = sm.GLM(made.outcome, np.ones(len(x)), binomial, offset=x, var_weights=made.weights).fit(**options)
    both = sm.GLM(made.outcome, sm.add_constant(x), binomial, var_weights=made.weights).fit(**options)
    factor = (count / (count - 1)) ** 0.5

    line = calibration_line(made)
    assert line.slope is not None
    assert line.slope_intercept is not None
    assert line.intercept.value == pytest.approx(shift.params[0], rel=1e-9)
    assert line.intercept.standard_error == pytest.approx(shift.bse[0] * factor, rel=1e-7)
    found = [line.slope_intercept, line.slope]
    assert [e.value for e in found] == pytest.approx(both.params.tolist(), rel=1e-9)
    assert [e.standard_error for e in found] == pytest.approx((both.bse * factor).tolist(), rel=1e-7)
    for estimate in (line.intercept, *found):
        assert estimate.standard_error is not None
        half = 1.959963984540054 * estimate.standard_error
        assert (estimate.low, estimate.high) == pytest.approx(
            (estimate.value - half, estimate.value + half), abs=1e-12
        )


def test_records_one_by_one_against_hc0() -> None:
    """With a group for each record the sandwich is HC0, and n / (n - 1) our factor."""
    made = predicted()
    x, n = sm.add_constant(log_odds(made)), len(made)
    fit = sm.GLM(made.outcome, x, sm.families.Binomial(), var_weights=made.weights)
    expected = fit.fit(cov_type="HC0", tol=1e-14, maxiter=200).bse[1] * (n / (n - 1)) ** 0.5
    slope = calibration_line(made).slope
    assert slope is not None
    assert slope.standard_error == pytest.approx(expected, rel=1e-7)


def test_a_record_twice_in_one_group_says_nothing_new() -> None:
    made = predicted()
    twice = probabilities(
        *(np.repeat(values, 2) for values in (made.values, made.y, made.weights)),
        groups=np.repeat(np.arange(len(made)), 2),
    )
    one, two = calibration_line(made), calibration_line(twice)
    for a, b in ((one.intercept, two.intercept), (one.slope, two.slope)):
        assert a is not None
        assert b is not None
        assert (b.value, b.standard_error) == pytest.approx((a.value, a.standard_error), rel=1e-9)


def test_a_known_distortion_is_undone() -> None:
    """Where log-odds were stretched by 2 and raised by 1, the line of many records says 1/2 and -1/2."""
    rng = np.random.default_rng(2)
    truth = rng.normal(-1, 1, 200_000)
    y = rng.random(len(truth)) < 1 / (1 + np.exp(-truth))
    line = calibration_line(probabilities(1 / (1 + np.exp(-(1 + 2 * truth))), y))
    for estimate, value in ((line.slope, 0.5), (line.slope_intercept, -0.5)):
        assert estimate is not None
        assert estimate.standard_error is not None
        assert abs(estimate.value - value) < 4 * estimate.standard_error


def test_no_slope_where_there_is_none() -> None:
    constant = calibration_line(probabilities([0.25] * 4, [1, 0, 0, 0]))
    assert (constant.state, constant.slope) == ("constant", None)
    assert constant.intercept.value == pytest.approx(0, abs=1e-12)
    for p in ([0.1, 0.2, 0.3, 0.4], [0.4, 0.4, 0.2, 0.2], [0.1, 0.2, 0.2, 0.3]):
        found = calibration_line(probabilities(p, [0, 0, 1, 1]))
        assert (found.state, found.slope, found.slope_intercept) == ("separated", None, None)


def test_probabilities_of_0_and_1_are_counted_and_taken_as_near() -> None:
    line = calibration_line(probabilities([0, 0, 1, 0.5, 0.5, 1], [0, 1, 1, 0, 1, 0]))
    assert line.clipped == 4
    assert line.slope is not None
    assert np.isfinite(line.slope.value)


def test_one_class_has_no_line() -> None:
    with pytest.raises(ClassifierError, match="all 2 records are negative, expected both classes"):
        calibration_line(probabilities([0.1, 0.2], [0, 0]))


@pytest.mark.parametrize(("weighted", "groups"), [(False, None), (True, 150)])
def test_intervals_cover_the_truth(weighted: bool, groups: int | None) -> None:
    """Probabilities that are right, about 45 positives in 900: slope 1 and intercept 0 are covered.

    Of 300 seeded draws 95 % should be; the band is 4 binomial standard errors of 0.95, which is 5.0 %.
    """
    rng = np.random.default_rng(11)
    covered = np.zeros(2)
    for _ in range(300):
        p = 1 / (1 + np.exp(-rng.normal(-4, 1.5, 900)))
        made = probabilities(
            p,
            rng.random(900) < p,
            rng.choice([1.0, 3.0], 900) if weighted else None,
            None if groups is None else rng.integers(0, groups, 900),
        )
        line = calibration_line(made)
        covered += [_covers(line.intercept, 0), _covers(line.slope, 1)]
    assert (np.abs(covered / 300 - 0.95) < 4 * (0.95 * 0.05 / 300) ** 0.5).all()


def _covers(estimate: Estimate | None, value: float) -> bool:
    return estimate is not None and estimate.low <= value <= estimate.high
