"""Curves and their areas against scikit-learn; orders of reading against cases by hand and enumeration."""

from itertools import permutations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn import metrics as sk

from classifiers.errors import ClassifierError
from classifiers.metrics import Sample, sample
from classifiers.metrics.curves import average_precision, curve_areas, pr_curve, roc_auc, roc_curve
from classifiers.metrics.ranking import (
    average_time_to_discovery,
    ndcg,
    precision_at,
    recall_at,
    work_saved,
    work_saved_asreview,
)


@st.composite
def scored(draw: st.DrawFn) -> Sample:
    """Both classes, scores with many ties."""
    n = draw(st.integers(2, 40))
    s = draw(arrays(np.float64, n, elements=st.integers(0, 12).map(float)))
    y = draw(arrays(np.bool_, n, elements=st.booleans()))
    y[0], y[1] = True, False
    return sample(s, y, draw(arrays(np.float64, n, elements=st.floats(0.01, 50))))


def drawn(n: int, seed: int = 0) -> Sample:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.1
    return sample(rng.normal(size=n) + y, y, rng.exponential(size=n) + 0.1)


@settings(max_examples=40)
@given(scored())
def test_areas_against_scikit_learn(made: Sample) -> None:
    options = {"sample_weight": made.weights}
    assert average_precision(made) == pytest.approx(
        sk.average_precision_score(made.y, made.values, **options), abs=1e-12
    )
    assert roc_auc(made) == pytest.approx(sk.roc_auc_score(made.y, made.values, **options), abs=1e-12)


@settings(max_examples=20)
@given(scored(), st.integers(0, 100))
def test_areas_of_replicates_are_those_of_their_weights(made: Sample, seed: int) -> None:
    multiples = np.random.default_rng(seed).integers(0, 3, (5, len(made))).astype(np.float64)
    precisions, areas = curve_areas(made, multiples)
    for b, times in enumerate(multiples):
        rows = np.flatnonzero(times)
        kept = made.take(rows)
        if kept.y.all() or not kept.y.any():
            assert np.isnan([precisions[b], areas[b]]).all()
            continue
        options = {"sample_weight": (made.weights * times)[rows]}
        assert areas[b] == pytest.approx(sk.roc_auc_score(kept.y, kept.values, **options), abs=1e-12)
        assert precisions[b] == pytest.approx(
            sk.average_precision_score(kept.y, kept.values, **options), abs=1e-12
        )


@settings(max_examples=30)
@given(scored())
def test_pr_curve_has_scikit_learns_points_that_gain_recall(made: Sample) -> None:
    precision, recall, thresholds = sk.precision_recall_curve(made.y, made.values, sample_weight=made.weights)
    expected = {
        t: (r, p)
        for p, r, t, after in zip(precision, recall, thresholds, recall[1:], strict=False)
        if r > after + 1e-15
    }
    curve = pr_curve(made)
    found = {t: (x, y) for x, y, t in zip(curve.x, curve.y, curve.thresholds, strict=True)}
    assert set(found) == set(expected)
    for t, point in found.items():
        assert point == pytest.approx(expected[t], abs=1e-12)


@settings(max_examples=30)
@given(scored())
def test_roc_curve_is_scikit_learns(made: Sample) -> None:
    """The same polygon: its area, and each of our corners on it."""
    curve = roc_curve(made)
    x, y, _ = sk.roc_curve(made.y, made.values, sample_weight=made.weights, drop_intermediate=False)
    theirs = np.array([x, y]).T
    assert np.trapezoid(curve.y, curve.x) == pytest.approx(np.trapezoid(y, x), abs=1e-9)
    for point in zip(curve.x, curve.y, strict=True):
        assert np.abs(theirs - point).max(axis=1).min() < 1e-12
    assert (curve.x[0], curve.y[0], curve.thresholds[0]) == (0, 0, None)
    assert (curve.x[-1], curve.y[-1]) == pytest.approx((1, 1))


def test_long_curves_are_thinned_but_keep_their_ends() -> None:
    made = drawn(20_000)
    for whole, thin in (
        (pr_curve(made, 10**9), pr_curve(made, 50)),
        (roc_curve(made, 10**9), roc_curve(made, 50)),
    ):
        assert len(whole.x) > 1000
        assert 40 <= len(thin.x) <= 50
        points = list(zip(thin.x, thin.y, thin.thresholds, strict=True))
        assert set(points) <= set(zip(whole.x, whole.y, whole.thresholds, strict=True))
        assert (thin.x[0], thin.x[-1], thin.y[-1]) == (whole.x[0], whole.x[-1], whole.y[-1])


def test_one_class_has_no_curve() -> None:
    with pytest.raises(ClassifierError, match="all 2 records are positive, expected both classes"):
        average_precision(sample([1, 2], [1, 1]))


# Orders of reading


def in_order(labels: list[int]) -> Sample:
    return sample(-np.arange(len(labels), dtype=np.float64), labels)


def test_recall_and_precision_by_hand() -> None:
    made = in_order([1, 0, 1, 0, 0])
    assert [recall_at(made, k) for k in (1, 2, 3, 5)] == pytest.approx([1 / 2, 1 / 2, 1, 1])
    assert [precision_at(made, k) for k in (1, 2, 3, 5)] == pytest.approx([1, 1 / 2, 2 / 3, 2 / 5])
    # Of a frame: weights 3, 1, 2, ... put the first positive over the first 3 of depth.
    weighted = sample([5, 4, 3, 2, 1], [1, 0, 1, 0, 0], [3, 1, 2, 1, 1])
    assert [recall_at(weighted, d) for d in (3, 4, 6)] == pytest.approx([3 / 5, 3 / 5, 1])


def _orders(made: Sample) -> list[list[int]]:
    """The labels in every order that the scores allow."""
    rows = range(len(made))
    kept = [o for o in permutations(rows) if (np.diff(made.values[list(o)]) <= 0).all()]
    return [[int(made.y[i]) for i in order] for order in kept]


def test_ties_are_means_over_their_orders() -> None:
    made = sample([3, 2, 2, 2, 1, 1], [0, 1, 0, 1, 1, 0])
    orders = _orders(made)
    for k in range(1, 7):
        assert recall_at(made, k) == pytest.approx(np.mean([sum(o[:k]) / 3 for o in orders]), abs=1e-12)
    places = [np.mean([i + 1 for i, y in enumerate(o) if y]) for o in orders]
    assert average_time_to_discovery(made) == pytest.approx(np.mean(places), abs=1e-12)


def test_work_saved_by_hand() -> None:
    """Cohen et al. (2006): (TN + FN) / N - (1 - r). 20 positives among 100, the 19th at 40: 0.60 - 0.05."""
    labels = [1] * 18 + [0] * 21 + [1] + [0] * 50 + [1] + [0] * 9
    assert work_saved(in_order(labels), 0.95) == pytest.approx(0.55, abs=1e-12)
    # All equal scores: everything has to be read.
    assert work_saved(sample([1.0] * 100, labels), 0.95) == pytest.approx(-0.05, abs=1e-12)
    # The same in a frame where each record stands for 7.
    assert work_saved(sample(-np.arange(100.0), labels, [7.0] * 100), 0.95) == pytest.approx(0.55, abs=1e-12)


def test_work_saved_as_asreview_counts_it() -> None:
    """20 positives among 100: the 19th is found at place 39 from 0. A random order has found
    round(20 i / 99) after i: 19 from 20 i / 99 > 18.5 on, i = 92. So (92 - 39) / 100."""
    labels = [1] * 18 + [0] * 21 + [1] + [0] * 50 + [1] + [0] * 9
    assert work_saved_asreview(labels, 0.95) == pytest.approx(0.53, abs=1e-12)
    # It looks at floor(0.95 x 10) = 9 of 10 positives, and 10 i / 99 > 8.5 from i = 85 on;
    # Cohen's looks at the tenth.
    few = [1] * 9 + [0] * 90 + [1]
    assert work_saved_asreview(few, 0.95) == pytest.approx((85 - 8) / 100, abs=1e-12)
    assert work_saved(in_order(few), 0.95) == pytest.approx(0.95 - 1, abs=1e-12)
    with pytest.raises(ClassifierError, match=r"there are 1 positives, too few to reach a recall of 0\.95"):
        work_saved_asreview([1, 0], 0.95)


@settings(max_examples=30)
@given(scored())
def test_ndcg_against_scikit_learn(made: Sample) -> None:
    for k in (None, 1, 3):
        expected = sk.ndcg_score([made.y.astype(float)], [made.values], k=k)
        assert ndcg(made, k) == pytest.approx(expected, abs=1e-12)


def test_time_to_discovery_by_hand() -> None:
    assert average_time_to_discovery(in_order([1, 1, 0, 1])) == pytest.approx((1 + 2 + 4) / 3)
    # Weights 2, 1, 3: the positives end at 2 and 6, weighing 2 and 3.
    weighted = sample([3, 2, 1], [1, 0, 1], [2, 1, 3])
    assert average_time_to_discovery(weighted) == pytest.approx((2 * 2 + 3 * 6) / 5)


@settings(max_examples=40)
@given(
    arrays(np.int64, 9, elements=st.integers(0, 4)),
    arrays(np.bool_, 9, elements=st.booleans()),
    arrays(np.int64, 9, elements=st.integers(1, 3)),
)
def test_a_weight_of_k_is_k_records(
    s: npt.NDArray[np.int64], y: npt.NDArray[np.bool_], times: npt.NDArray[np.int64]
) -> None:
    y[0], y[1] = True, False
    weighted = sample(s, y, times)
    repeated = sample(np.repeat(s, times), np.repeat(y, times))
    for figure in (average_precision, roc_auc, work_saved):
        assert figure(weighted) == pytest.approx(figure(repeated), abs=1e-12)
    for depth in (1, 2.5, 7):
        assert recall_at(weighted, depth) == pytest.approx(recall_at(repeated, depth), abs=1e-12)


def test_depths_and_shares_out_of_range() -> None:
    made = in_order([1, 0])
    with pytest.raises(ClassifierError, match="depth is 0, expected a number above 0"):
        recall_at(made, 0)
    with pytest.raises(ClassifierError, match=r"recall is 1\.2, expected a number above 0 and up to 1"):
        work_saved(made, 1.2)
    with pytest.raises(ClassifierError, match="k is 0, expected at least 1"):
        ndcg(made, 0)
    assert precision_at(made, 99) == pytest.approx(0.5)
