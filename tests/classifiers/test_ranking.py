"""Rank measures under weights equal scikit-learn's and scipy's, and a weight counts as that many copies."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import average_precision_score

from classifiers.ranking import weighted_average_precision, weighted_spearman

ROWS = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.booleans(), st.integers(0, 3)), min_size=2, max_size=25
)


@given(ROWS)
def test_average_precision_is_scikit_learns(rows) -> None:
    scores, _, labels, weights = (np.array(c) for c in zip(*rows, strict=True))
    found = weighted_average_precision(scores, labels, weights[None, :].astype(float))[0]
    if not (labels * weights).any():
        assert np.isnan(found)
        return
    kept = weights > 0
    expected = average_precision_score(labels[kept], scores[kept], sample_weight=weights[kept])
    assert found == pytest.approx(expected, rel=1e-12)


@given(ROWS)
def test_spearman_is_scipys_on_repeated_rows(rows) -> None:
    a, b, _, weights = (np.array(c) for c in zip(*rows, strict=True))
    found = weighted_spearman(a, b, weights[None, :].astype(float))[0]
    one, other = np.repeat(a, weights), np.repeat(b, weights)
    if len(set(one.tolist())) < 2 or len(set(other.tolist())) < 2:
        assert np.isnan(found)
        return
    assert found == pytest.approx(stats.spearmanr(one, other).statistic, abs=1e-9)


def test_replicates_are_apart() -> None:
    weights = np.array([[1.0, 1, 1], [1, 0, 1]])
    found = weighted_average_precision([0.9, 0.8, 0.7], [1, 0, 1], weights)
    # With all three: (1 + 2/3) / 2. Without the negative between: 1.
    np.testing.assert_allclose(found, [5 / 6, 1], rtol=1e-15)
