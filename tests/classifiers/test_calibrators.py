"""Calibrators against other optimisers, scikit-learn, brute-force refits, cases by hand, and properties."""

import json
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression

from classifiers.calibrators import (
    METHODS,
    Calibrator,
    Isotonic,
    Sigmoid,
    VennAbers,
    calibrator,
    calibrator_from_json,
)
from classifiers.calibrators.base import soft_bounds, soft_targets
from classifiers.errors import ClassifierError
from classifiers.metrics import Sample, sample

Floats = npt.NDArray[np.float64]
FITTED = [method for method in METHODS if method != "none"]


def draw(n: int = 300, seed: int = 1, slope: float = 1.5, intercept: float = -1.5) -> Sample:
    """Scores with a known chance of a positive each, and weights far apart."""
    rng = np.random.default_rng(seed)
    s = rng.normal(size=n)
    y = rng.random(n) < 1 / (1 + np.exp(-(intercept + slope * s)))
    return sample(s, y, rng.choice([1.0, 4.0, 25.0], n))


def expit(x: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-x)))


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    """Small samples of both classes, with many ties among scores and weights that differ."""
    n = draw(st.integers(2, 14))
    s = draw(arrays(np.float64, n, elements=st.sampled_from([-3.0, -1.0, 0.0, 0.25, 0.5, 2.0, 7.0])))
    y = draw(arrays(np.bool_, n, elements=st.booleans()))
    y[0], y[1] = True, False
    w = draw(arrays(np.float64, n, elements=st.sampled_from([0.25, 1.0, 1.0, 3.5])))
    return sample(s, y, w)


# Platt's targets


def test_targets_of_equal_weights_are_platts() -> None:
    # Platt (1999), section 2.2: (N+ + 1) / (N+ + 2) and 1 / (N- + 2), here of 3 and 5 records.
    made = sample(range(8), [1, 1, 1, 0, 0, 0, 0, 0], [7.0] * 8)
    assert soft_bounds(made) == pytest.approx((1 / 7, 4 / 5), abs=1e-15)


@given(samples(), st.floats(0.001, 1000))
def test_targets_depend_on_ratios_of_weights_only(made: Sample, factor: float) -> None:
    scaled = sample(made.values, made.y, made.weights * factor)
    assert soft_bounds(scaled) == pytest.approx(soft_bounds(made), rel=1e-12)


def test_targets_of_a_heavy_class_leave_the_mean_where_it_is() -> None:
    """With plain effective sizes, 2,000 negatives of weight 1,000 would add 1,000 to 50 of weight 10."""
    made = sample(np.arange(2050), np.arange(2050) < 50, np.where(np.arange(2050) < 50, 10.0, 1000.0))
    shift = (made.weights * (soft_targets(made) - made.outcome)).sum()
    assert abs(shift) < 10, "less than the weight of one positive"


# Parametric maps against other optimisers


def test_sigmoid_against_statsmodels() -> None:
    made = draw()
    fitted = Sigmoid().fit(made.values, made.y, made.weights)
    model = sm.GLM(
        soft_targets(made), sm.add_constant(made.values), sm.families.Binomial(), var_weights=made.weights
    ).fit(tol=1e-14, maxiter=200)
    stored = fitted.to_json()["parameters"]
    assert (stored["intercept"], stored["slope"]) == pytest.approx(tuple(model.params), rel=1e-9)


class Passing(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A fitted classifier whose decision value is its only feature."""

    classes_ = np.array([0, 1])

    def fit(self, x: Floats, y: Floats) -> "Passing":
        return self

    def decision_function(self, x: Floats) -> Floats:
        return np.asarray(x[:, 0])

    def predict(self, x: Floats) -> Floats:
        return np.asarray(x[:, 0] > 0)

    def __sklearn_is_fitted__(self) -> bool:
        return True


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_sigmoid_against_scikit_learn(seed: int) -> None:
    made = draw(seed=seed)
    other = CalibratedClassifierCV(FrozenEstimator(Passing()), method="sigmoid")
    other.fit(made.values[:, None], made.y.astype(int))
    expected = other.predict_proba(made.values[:, None])[:, 1]
    # Its solver stops at a looser tolerance.
    assert Sigmoid().fit(made.values, made.y).predict(made.values) == pytest.approx(expected, abs=2e-4)


FEATURES: dict[str, Callable[[Floats], list[Floats]]] = {
    "temperature": lambda s: [s],
    "sigmoid": lambda s: [s, np.ones_like(s)],
    "beta": lambda s: [np.log(expit(s)), -np.log(1 - expit(s)), np.ones_like(s)],
}


@pytest.mark.parametrize("method", FEATURES)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("slope", [1.5, -1.0])
def test_parametric_fits_against_a_bounded_optimiser(method: str, seed: int, slope: float) -> None:
    """L-BFGS-B with the bounds a, b >= 0 on the same loss finds no better map.

    Seeds and the falling relation are such that beta's bounds bind on one side, on both and on none.
    """
    made = draw(seed=seed, slope=slope)
    design = np.array(FEATURES[method](made.values))
    targets, w = soft_targets(made), made.weights / made.weights.sum()

    def loss(beta: Floats) -> float:
        x = beta @ design
        return float((w * (np.logaddexp(0, x) - targets * x)).sum())

    bounds = [(None, None) if row.std() == 0 else (0, None) for row in design]
    best = minimize(
        loss, np.full(len(design), 0.5), method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-15}
    )
    p = calibrator(method).fit(made.values, made.y, made.weights).predict(made.values)
    reached = float(-(w * (targets * np.log(p) + (1 - targets) * np.log(1 - p))).sum())
    assert reached <= best.fun + 1e-12
    assert p == pytest.approx(expit(best.x @ design), abs=2e-3)


def test_bounds_of_beta_bind_in_the_cases_above() -> None:
    held = set()
    for seed in range(6):
        for slope in (1.5, -1.0):
            made = draw(seed=seed, slope=slope)
            stored = calibrator("beta").fit(made.values, made.y, made.weights).to_json()["parameters"]
            held.add((stored["a"] == 0, stored["b"] == 0))
    assert held >= {(False, False), (True, True)}
    assert held & {(True, False), (False, True)}


def test_a_score_that_ranks_backwards_is_not_turned_round() -> None:
    """Slope 0 is left; every record then has the weighted base rate of the targets."""
    made = draw(slope=-2.0)
    p = Sigmoid().fit(made.values, made.y, made.weights).predict([-5.0, 0.0, 5.0])
    base = (made.weights * soft_targets(made)).sum() / made.weights.sum()
    assert p == pytest.approx([base] * 3, rel=1e-9)


def test_classes_that_do_not_overlap_have_a_finite_fit() -> None:
    s, y = np.arange(20.0), np.arange(20) >= 10
    for method in METHODS:
        p = calibrator(method).fit(s, y).predict(s)
        assert ((p > 0) & (p < 1)).all()


def test_scores_far_from_nought_and_close_together() -> None:
    """The sigmoid of a shifted and squeezed score is the same sigmoid."""
    made = draw()
    p = Sigmoid().fit(made.values, made.y).predict(made.values)
    moved = 1e6 + 1e-3 * made.values
    assert Sigmoid().fit(moved, made.y).predict(moved) == pytest.approx(p, abs=1e-6)


@pytest.mark.parametrize(
    "s",
    [
        [1e308, -1e308, 1e308, -1e308, 0],
        [5e-324, 0, 0, 5e-324, 0],
        [1e-300, 2e-300, 3e-300, 4e-300, 5e-300],
        [1e16, 1e16 + 2, 1e16 + 4, 1e16 + 6, 1e16 + 8],
    ],
)
@pytest.mark.filterwarnings("error")
def test_scores_of_any_size(s: list[float]) -> None:
    for method in METHODS:
        p = calibrator(method).fit(s, [1, 0, 0, 1, 1]).predict(s)
        assert ((p >= 0) & (p <= 1)).all()


@pytest.mark.filterwarnings("error")
def test_weights_that_no_fit_can_hold_are_a_sentence() -> None:
    with pytest.raises(ClassifierError, match="a logistic fit didn't end in 200 steps"):
        Sigmoid().fit([1, 2, 3, 4, 5], [0, 0, 1, 0, 1], [1, 1, 1, 1e90, 1])


# Isotonic


def isotonic_by_definition(made: Sample) -> Floats:
    """max over a <= i of min over b >= i of the mean from a to b (Robertson et al. 1988, theorem 1.4.4)."""
    scores = np.unique(made.values)
    w = np.array([made.weights[made.values == s].sum() for s in scores])
    r = np.array([(made.weights * made.outcome)[made.values == s].sum() for s in scores])
    k = len(scores)
    return np.array(
        [
            max(min(r[a : b + 1].sum() / w[a : b + 1].sum() for b in range(i, k)) for a in range(i + 1))
            for i in range(k)
        ]
    )


@settings(max_examples=30)
@given(samples())
def test_isotonic_by_definition_within_its_range(made: Sample) -> None:
    fitted = Isotonic().fit(made.values, made.y, made.weights)
    expected = np.clip(isotonic_by_definition(made), *soft_bounds(made))
    assert fitted.predict(np.unique(made.values)) == pytest.approx(expected, abs=1e-12)


def test_isotonic_between_and_beyond_its_points() -> None:
    # Points (0, 0), (1, 1/3) three times, (2, 1): midway the mean, outside the ends; 4 and 3 records give
    # the range 1/6 to 4/5 by Platt's targets.
    fitted = Isotonic().fit([0, 0, 1, 1, 1, 2, 2], [0, 0, 0, 0, 1, 1, 1])
    assert fitted.predict([-9, 0, 0.5, 1, 1.5, 2, 9]) == pytest.approx(
        [1 / 6, 1 / 6, 1 / 6, 1 / 3, 2 / 3, 4 / 5, 4 / 5], abs=1e-12
    )


def test_isotonic_keeps_scores_apart_that_differ_by_less_than_scikit_learn_sees() -> None:
    s = np.array([1.0, 1.0 + 4e-16, 1.0 + 8e-16, 1.0 + 12e-16] * 10)
    y = s > 1.0 + 5e-16
    p = Isotonic().fit(s, y).predict(np.unique(s))
    assert p[0] < 0.1
    assert p[-1] > 0.9


# Venn-Abers


def refits(made: Sample, at: Floats) -> Floats:
    """p0 and p1 by definition: two isotonic fits for each score, the record in question added to each."""
    # The weights together count as (sum w)^2 / sum(w^2) records, the new one as one.
    w = made.weights * made.weights.sum() / (made.weights**2).sum()
    return np.array(
        [
            [
                IsotonicRegression()
                .fit(np.append(made.values, s), np.append(made.y, y), sample_weight=np.append(w, 1.0))
                .predict([s])[0]
                for y in (0, 1)
            ]
            for s in at
        ]
    )


@settings(max_examples=30)
@given(samples())
def test_venn_abers_against_refits(made: Sample) -> None:
    """At every score, between any two, and beyond all."""
    distinct = np.unique(made.values)
    at = np.concatenate([distinct, distinct - 0.1, distinct + 0.1])
    fitted = VennAbers().fit(made.values, made.y, made.weights)
    p0, p1 = fitted.predict_interval(at)
    expected = refits(made, at)
    assert p0 == pytest.approx(expected[:, 0], abs=1e-12)
    assert p1 == pytest.approx(expected[:, 1], abs=1e-12)
    assert fitted.predict(at) == pytest.approx(p1 / (1 - p0 + p1), abs=1e-15)


def test_venn_abers_of_a_larger_sample_against_refits() -> None:
    made = draw(n=400, seed=4)
    fitted = VennAbers().fit(made.values, made.y, made.weights)
    at = np.linspace(-4, 4, 60)
    assert np.transpose(fitted.predict_interval(at)) == pytest.approx(refits(made, at), abs=1e-12)


def test_venn_abers_by_hand() -> None:
    # Negative at 1, positive at 2. At 1.5 the fits are (0, 0, 1) and (0, 1, 1): p0 = 0, p1 = 1, p = 1/2.
    # At 2, the label joins the positive's: p0 = 1/2, p1 = 1, p = 1 / (1 - 1/2 + 1) = 2/3.
    fitted = VennAbers().fit([1, 2], [0, 1])
    p0, p1 = fitted.predict_interval([1.5, 2])
    assert (p0.tolist(), p1.tolist()) == ([0, 0.5], [1, 1])
    assert fitted.predict([1.5, 2]) == pytest.approx([1 / 2, 2 / 3], abs=1e-15)


def test_venn_abers_takes_steps_in_proportion_to_the_records(
    calls: Callable[[Callable[[], object]], int],
) -> None:
    def steps(n: int) -> int:
        made = draw(n=n, seed=2)
        return calls(lambda: VennAbers().fit(made.values, made.y))

    assert steps(4000) < 2.5 * steps(2000)


# All of them


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=30)
@given(made=samples())
def test_maps_rise_within_0_and_1(method: str, made: Sample) -> None:
    p = calibrator(method).fit(made.values, made.y, made.weights).predict(np.linspace(-9, 9, 101))
    assert ((p >= 0) & (p <= 1)).all()
    # Interpolation may lose the last bit.
    assert (np.diff(p) >= -1e-15).all()


@pytest.mark.parametrize("method", FITTED)
@settings(max_examples=30)
@given(made=samples(), factor=st.floats(0.01, 100))
def test_only_ratios_of_weights_matter(method: str, made: Sample, factor: float) -> None:
    """At the scores fitted: elsewhere a map may have more than one best form, where they are few."""
    p = calibrator(method).fit(made.values, made.y, made.weights).predict(made.values)
    scaled = calibrator(method).fit(made.values, made.y, made.weights * factor)
    assert scaled.predict(made.values) == pytest.approx(p, abs=1e-7)


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=30)
@given(made=samples())
def test_stored_and_read_back_it_is_the_same_to_the_last_bit(method: str, made: Sample) -> None:
    fitted = calibrator(method).fit(made.values, made.y, made.weights)
    again = calibrator_from_json(json.loads(json.dumps(fitted.to_json(), allow_nan=False)))
    at = np.concatenate([made.values, np.linspace(-9, 9, 37)])
    assert again.predict(at).tobytes() == fitted.predict(at).tobytes()
    assert again.to_json() == fitted.to_json()


@pytest.mark.parametrize("method", METHODS)
def test_a_probability_is_its_log_odds(method: str) -> None:
    made = draw()
    p = expit(made.values)
    by_probability = calibrator(method, "probability").fit(p, made.y, made.weights)
    by_log_odds = calibrator(method).fit(made.values, made.y, made.weights)
    assert by_probability.predict(p) == pytest.approx(by_log_odds.predict(made.values), abs=1e-9)


def test_probabilities_of_0_and_1_stay_in_range() -> None:
    for method in METHODS:
        fitted = calibrator(method, "probability").fit([0, 0.001, 0.2, 0.5, 0.9, 1], [0, 0, 1, 0, 1, 1])
        assert np.isfinite(fitted.predict([0, 0.5, 1])).all()


def test_uncalibrated_log_odds_are_expit() -> None:
    p = calibrator("none").fit([0, 1], [0, 1]).predict([-800.0, 0.0, np.log(3), 800.0])
    assert p == pytest.approx([0, 0.5, 0.75, 1], abs=1e-15)


# Refusals


@pytest.mark.parametrize(
    ("scores", "y", "weights", "sentence"),
    [
        ([1, 2, 3], [0, 1], None, "there are 2 numbers as label, expected 3, one for each record"),
        ([], [], None, "there are no records, expected at least one"),
        ([1, float("nan")], [0, 1], None, "score of record 1 is nan, expected a finite number"),
        ([1, float("inf")], [0, 1], None, "score of record 1 is inf, expected a finite number"),
        ([1, 2], [0, 2], None, "label of record 1 is 2.0, expected 0 or 1"),
        ([1, 2], [0, float("nan")], None, "label of record 1 is nan, expected 0 or 1"),
        ([1, 2], [0, 1], [1, 0], "weight of record 1 is 0.0, expected a number above 0"),
        ([1, 2], [0, 1], [-1, 1], "weight of record 0 is -1.0, expected a number above 0"),
        ([1, 2], [0, 1], [1, float("nan")], "weight of record 1 is nan, expected a finite number"),
        ([1, 2], [0, 1], [1, float("inf")], "weight of record 1 is inf, expected a finite number"),
        ([1, 2], [0, 1], [1, 1e300], "weight of record 1 is 1e+300, expected 1e-100 to 1e100"),
        ([1, 2], [0, 0], None, "all 2 records are negative, expected both classes"),
        ([1, 2], [1, 1], None, "all 2 records are positive, expected both classes"),
        (["a", 2], [0, 1], None, "a score isn't a number, expected numbers only"),
        ([[1, 2]], [0, 1], None, "score has 2 dimensions, expected one number for each record"),
    ],
)
@pytest.mark.parametrize("method", METHODS)
def test_what_cannot_be_fitted(
    method: str, scores: object, y: object, weights: object, sentence: str
) -> None:
    with pytest.raises(ClassifierError) as error:
        calibrator(method).fit(scores, y, weights)  # type: ignore[arg-type]
    assert str(error.value) == sentence


def test_what_cannot_be_asked() -> None:
    with pytest.raises(
        ClassifierError, match="there is no calibration method 'platt', expected one of none, "
    ):
        calibrator("platt")
    with pytest.raises(ClassifierError, match="scale is 'logit', expected 'log_odds' or 'probability'"):
        calibrator("sigmoid", "logit")  # type: ignore[arg-type]
    for method in FITTED:
        with pytest.raises(ClassifierError, match=f"the {method} calibrator isn't fitted yet"):
            calibrator(method).predict([1.0])
        with pytest.raises(ClassifierError, match=f"the {method} calibrator isn't fitted yet"):
            calibrator(method).to_json()
    with pytest.raises(ClassifierError, match=r"score of record 1 is 1\.5, expected a probability, 0 to 1"):
        calibrator("sigmoid", "probability").fit([0.5, 1.5], [0, 1])


def stored(method: str, **changed: object) -> dict[str, object]:
    fitted: Calibrator = calibrator(method).fit([0, 1, 2, 3, 4, 5], [0, 0, 1, 0, 1, 1])
    found = fitted.to_json()
    return {**found, "parameters": {**found["parameters"], **changed}}


@pytest.mark.parametrize(
    ("given_", "sentence"),
    [
        (None, "a stored calibrator isn't an object"),
        ({}, "a stored calibrator lacks 'method'"),
        ({**stored("sigmoid"), "pickle": "x"}, "a stored calibrator holds an unknown 'pickle'"),
        ({**stored("sigmoid"), "method": "platt"}, "there is no calibration method 'platt'"),
        ({**stored("sigmoid"), "method": ["sigmoid"]}, "a stored calibrator has the method ['sigmoid']"),
        ({**stored("sigmoid"), "version": 2}, "a stored sigmoid calibrator has version 2, expected 1"),
        ({**stored("sigmoid"), "version": True}, "a stored sigmoid calibrator has version True, expected 1"),
        ({**stored("sigmoid"), "scale": "logit"}, "scale is 'logit'"),
        ({**stored("sigmoid"), "parameters": []}, "a stored sigmoid calibrator has no parameters"),
        ({**stored("sigmoid"), "parameters": {"slope": 1}}, "lacks the parameter 'intercept'"),
        (stored("sigmoid", more=1), "holds an unknown parameter 'more'"),
        (stored("sigmoid", slope=-1), "can't be used: slope is -1.0, expected 0 or more"),
        (stored("sigmoid", slope="1"), "can't be used: slope is '1', expected a finite number"),
        (stored("sigmoid", intercept=float("nan")), "intercept is nan, expected a finite number"),
        (stored("beta", b=True), "b is True, expected a finite number"),
        (stored("isotonic", scores=[]), "scores isn't a list of numbers"),
        (stored("isotonic", scores=[1.0]), "there are 1 scores"),
        (stored("isotonic", scores=[2.0, 1.0], values=[0.1, 0.2]), "its scores don't rise"),
        (stored("isotonic", scores=[1.0, 2.0], values=[0.2, 0.1]), "or its values fall"),
        (stored("isotonic", scores=[1.0, 2.0], values=[0.2, 1.1]), "lie outside 0 to 1"),
        (stored("isotonic", low=0.9, high=0.1), "lie outside 0 to 1"),
        (stored("venn_abers", starts=[1.0]), "its lists differ in length"),
        (stored("venn_abers", included=[1]), "included isn't a list of true and false"),
        (
            stored("venn_abers", starts=[1.0, 1.0], included=[True, True], p0=[0, 0, 0], p1=[1, 1, 1]),
            "starts",
        ),
        (stored("venn_abers", starts=[], included=[], p0=[0.5], p1=[0.4]), "p0 lies above p1"),
        (stored("venn_abers", starts=[], included=[], p0=[1.0], p1=[1.0]), "lie outside 0 to 1"),
    ],
)
def test_a_stored_calibrator_that_no_fit_could_give(given_: object, sentence: str) -> None:
    with pytest.raises(ClassifierError) as error:
        calibrator_from_json(given_)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)
