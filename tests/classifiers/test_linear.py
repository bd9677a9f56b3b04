"""The solver against scikit-learn's, and properties of the objective."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression as Peer

from classifiers.errors import ClassifierError
from classifiers.linear import LogisticRegression, balanced_weights, check_weights


def problem(seed, n=120, terms=60, rate=0.2):
    """Sparse rows of length 1, labels with signal, weights over two orders of magnitude."""
    rng = np.random.default_rng(seed)
    X = sparse.random(n, terms, density=0.15, random_state=rng, format="csr") + sparse.csr_matrix(
        (np.ones(n), (np.arange(n), rng.integers(terms, size=n))), shape=(n, terms)
    )
    X = sparse.diags(1 / np.sqrt(X.multiply(X).sum(axis=1)).A1) @ X
    z = X @ rng.normal(size=terms, scale=4)
    y = (z + rng.logistic(size=n) > np.quantile(z, 1 - rate)).astype(float)
    y[:2] = 0, 1
    return X.tocsr(), y, np.exp(rng.normal(size=n))


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_scikit_learn_with_sample_weights(C, seed):
    # An independent solver of the same objective (scikit-learn's newton-cholesky, dense and strict).
    X, y, w = problem(seed)
    peer = Peer(C=C, solver="newton-cholesky", tol=1e-12, max_iter=1000).fit(X.toarray(), y, w)
    ours = LogisticRegression(C).fit(X, y, w)
    assert np.abs(ours.coef_ - peer.coef_[0]).max() < 1e-6
    assert abs(ours.intercept_ - peer.intercept_[0]) < 1e-6
    assert np.allclose(ours.predict_proba(X), peer.predict_proba(X.toarray()), atol=1e-7)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from([0.1, 1.0, 10.0]))
def test_a_weight_of_k_is_the_row_k_times(seed, C):
    X, y, _ = problem(seed, n=60)
    times = np.random.default_rng(seed).integers(1, 5, size=60)
    weighted = LogisticRegression(C).fit(X, y, times)
    repeated = LogisticRegression(C).fit(X[np.repeat(np.arange(60), times)], np.repeat(y, times))
    assert np.abs(weighted.coef_ - repeated.coef_).max() < 1e-8
    assert abs(weighted.intercept_ - repeated.intercept_) < 1e-8


@settings(max_examples=30)
@given(st.integers(0, 10**6))
def test_the_gradient_vanishes_at_the_optimum(seed):
    # First-order condition of the objective, written out with dense numpy.
    X, y, w = problem(seed)
    fit = LogisticRegression(2.0).fit(X, y, w)
    residual = 2.0 * w * (1 / (1 + np.exp(-(X.toarray() @ fit.coef_ + fit.intercept_))) - y)
    assert np.abs(fit.coef_ + X.toarray().T @ residual).max() < 1e-9
    assert abs(residual.sum()) < 1e-9


def test_without_terms_the_intercept_is_the_weighted_log_odds():
    # No column tells anything, so b solves sum(s p) = sum(s y): log(3 / 1) with these weights.
    fit = LogisticRegression().fit(np.zeros((3, 1)), [1, 0, 1], [1.0, 1.0, 2.0])
    assert fit.intercept_ == pytest.approx(math.log(3))
    assert fit.coef_.tolist() == [0.0]


def test_start_changes_the_way_and_not_the_end():
    X, y, w = problem(3)
    cold = LogisticRegression().fit(X, y, w)
    near = LogisticRegression().fit(X[:-5], y[:-5], w[:-5])
    warm = LogisticRegression().fit(X, y, w, start=near)
    assert np.abs(warm.coef_ - cold.coef_).max() < 1e-9
    assert LogisticRegression().fit(X, y, w, start=cold).n_iter_ == 0


def test_the_same_input_gives_the_same_bytes():
    X, y, w = problem(4)
    first, second = (LogisticRegression().fit(X, y, w) for _ in range(2))
    assert first.coef_.tobytes() == second.coef_.tobytes()


def test_separable_and_extreme_rows_converge():
    # Perfectly separable: the penalty keeps the optimum finite. Weights over nine orders of magnitude.
    X = sparse.csr_matrix(np.repeat(np.eye(2), 50, axis=0))
    y = np.repeat([0.0, 1.0], 50)
    w = np.tile([1e-5, 1e4], 50)
    fit = LogisticRegression(100.0).fit(X, y, w)
    assert fit.coef_[0] == pytest.approx(-fit.coef_[1])
    assert fit.coef_[1] > 0


def test_balanced_weights_give_each_class_half():
    # Worked by hand: the sum is 8, so each class gets 4; the one positive 4, the negatives 1 -> 4/6.
    w = balanced_weights([1, 0, 0], [2.0, 3.0, 3.0])
    assert w.tolist() == pytest.approx([4.0, 2.0, 2.0])


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_a_weight_that_is_no_weight_is_refused_by_row(bad):
    with pytest.raises(ClassifierError, match=r"the weight in row 2 is .*; expected a number above 0"):
        check_weights([1.0, bad, 1.0], 3)


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        ([1, 1], "one class only"),
        ([1, math.nan], r"the label in row 2 is nan"),
        ([1, 2], r"the label in row 2 is 2.0"),
        ([1, 0, 1], "expected one for each of 2 rows"),
    ],
)
def test_labels_that_cannot_be_fitted_are_refused(y, sentence):
    with pytest.raises(ClassifierError, match=sentence):
        LogisticRegression().fit(np.eye(2), y)


def test_what_does_not_converge_says_so():
    X, y, w = problem(5)
    with pytest.raises(ClassifierError, match="didn't converge"):
        LogisticRegression(100.0, max_iter=1).fit(X, y, w)


@pytest.mark.parametrize("C", [0.0, -1.0, math.nan, math.inf])
def test_c_is_above_zero(C):
    with pytest.raises(ClassifierError, match="C is"):
        LogisticRegression(C)
