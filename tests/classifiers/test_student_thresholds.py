"""Thresholds and calls: by brute force, by hand, and that a fold's labels never set its own threshold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifiers.student.thresholds import POLICIES, cross_fitted_calls, f1_threshold, quota

RECORDS = st.lists(
    st.tuples(st.integers(-3, 3).map(float), st.sampled_from([0.0, 1.0]), st.integers(1, 4).map(float)),
    min_size=1,
    max_size=12,
)


@given(RECORDS)
def test_the_threshold_has_the_largest_f1_of_all(records):
    s, y, w = map(np.array, zip(*records, strict=True))

    def f1(threshold):
        called = s >= threshold
        return 2 * (w * y)[called].sum() / (w[called].sum() + (w * y).sum()) if called.any() else 0.0

    candidates = {t: f1(t) for t in sorted(set(s.tolist()), reverse=True)}
    found = f1_threshold(s, y, w)
    if not y.any():
        assert found == np.inf
    else:
        assert f1(found) == pytest.approx(max(candidates.values()))
        assert all(f1(t) < f1(found) + 1e-12 for t in candidates if t > found)


@given(RECORDS, st.floats(0, 1))
def test_a_quota_of_equal_weights_is_the_rounded_count(records, rate):
    s = np.array([r[0] for r in records])
    called = quota(s, np.full(len(s), 3.0), rate)
    assert called.sum() in (np.floor(rate * len(s) + 0.5), np.ceil(rate * len(s) - 0.5))
    # By (score descending, row ascending): nobody outside stands before somebody inside.
    order = sorted(range(len(s)), key=lambda i: (-s[i], i))
    assert called[order].tolist() == sorted(called.tolist(), reverse=True)


def test_a_quota_by_hand():
    # 10 units of weight, a rate of 0.5: the first (4) and the second, whose middle 4.5 is within 5.
    assert quota(np.array([3.0, 2.0, 1.0]), np.array([4.0, 1.0, 5.0]), 0.5).tolist() == [True, True, False]
    assert quota(np.array([3.0, 2.0, 1.0]), np.array([4.0, 1.0, 5.0]), 0.0).tolist() == [False] * 3


def sample(seed=0, n=90):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(float)
    scores = y + rng.normal(size=n)
    nested = scores + rng.normal(size=(3, n)) * 0.2
    return scores, nested, y, np.exp(rng.normal(size=n)), np.arange(n) % 3, np.arange(n)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("fold", [0, 1, 2])
def test_a_fold_has_no_part_in_its_own_threshold(policy, fold):
    scores, nested, y, w, folds, groups = sample()
    turned = np.where(folds == fold, 1 - y, y)
    other = np.where(folds == fold, 7.0, nested)
    one = cross_fitted_calls(policy, scores, nested, y, w, folds, groups, 1, 20)
    two = cross_fitted_calls(policy, scores, other, turned, w, folds, groups, 1, 20)
    assert one.thresholds[fold] == two.thresholds[fold]
    assert one.called[folds == fold].tolist() == two.called[folds == fold].tolist()


def test_figures_by_hand():
    # Scores cut at 0 by either fold's other half. Called: rows 0, 1, 2, 4; positive: 0, 1, 4, 5 of weights
    # 1, 2, 3, 4. Precision (1 + 2 + 3) / (1 + 2 + 5 + 3), recall (1 + 2 + 3) / (1 + 2 + 3 + 4).
    scores = np.array([2.0, 1.0, 1.5, -1.0, 2.0, -2.0, -1.0, -1.5])
    y = np.array([1.0, 1, 0, 0, 1, 1, 0, 0])
    w = np.array([1.0, 2, 5, 1, 3, 4, 1, 1])
    fold = np.array([0, 0, 1, 1, 1, 1, 0, 0])
    nested = np.tile([5.0, 5, -5, -5, 5, 5, -5, -5], (2, 1)) * 0.1
    calls = cross_fitted_calls("f1", scores, nested, y, w, fold, np.arange(8), 1, 200)
    assert calls.thresholds == (0.5, 0.5)
    assert calls.called.tolist() == [True, True, True, False, True, False, False, False]
    c = calls.confusion
    assert (c.true_positives, c.false_positives, c.false_negatives, c.true_negatives) == (3, 1, 1, 3)
    assert calls.precision.value == pytest.approx(6 / 11)
    assert calls.recall.value == pytest.approx(6 / 10)
    assert calls.f1.value == pytest.approx(12 / 21)
    assert calls.f1.low <= calls.f1.value <= calls.f1.high


def test_where_nothing_is_called_there_is_no_precision():
    scores, nested, _, w, folds, groups = sample()
    calls = cross_fitted_calls("f1", scores, nested, np.zeros(90), w, folds, groups, 1, 20)
    assert not calls.called.any()
    assert (calls.precision, calls.recall, calls.f1) == (None, None, None)
