"""Calls by quota: published k and identities, cases worked by hand, properties."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifiers.decisions import (
    CategoryCalls,
    Rate,
    category_calls,
    disagreement,
    kish_sample_size,
    quotas,
    supported,
    threshold_uncertainty,
    top,
)
from classifiers.errors import ClassifierError
from schema.states import Call

COVERED = 4_258_728
"""Works covered by the label sample of the MétaCan study."""


def rate(value: float, head: str = "codex", positives: int = 100, ess: float = 50.0) -> Rate:
    return Rate(head, "metaresearch", value, value / 2, min(1.0, value * 2), positives, ess)


def test_published_quotas() -> None:
    codex, gemma = quotas([rate(0.0060951), rate(0.0172921, "gemma")], COVERED)
    assert (codex.k, gemma.k) == (25_957, 73_642)


def test_a_quota_carries_the_interval_of_its_rate() -> None:
    (quota,) = quotas([Rate("codex", "sts", 0.01, 0.005, 0.02, 40, 20.0)], 1000)
    assert (quota.k_low, quota.k, quota.k_high) == (5, 10, 20)


def test_support_is_20_positives_and_an_effective_10() -> None:
    assert supported(20, 10.0)
    assert not supported(19, 19.0)
    assert not supported(1000, 9.99)


def test_a_category_without_support_on_one_side_makes_no_call_on_either() -> None:
    both = quotas([rate(0.1), rate(0.1, "gemma", positives=19)], 100)
    assert [(q.supported, q.k, q.k_low, q.k_high) for q in both] == [
        (True, None, None, None),
        (False, None, None, None),
    ]


def test_effective_size_by_hand() -> None:
    # (1 + 1 + 2)^2 / (1 + 1 + 4)
    assert kish_sample_size([1, 1, 2]) == pytest.approx(16 / 6, rel=1e-15)
    assert kish_sample_size([3.7] * 8) == pytest.approx(8, rel=1e-15)
    assert kish_sample_size([]) == 0
    assert kish_sample_size([1e200, 1e200]) == pytest.approx(2, rel=1e-15)


@pytest.mark.parametrize("weights", [[1, 0], [1, -2], [1, math.nan], [math.inf]])
def test_weights_that_are_none(weights: list[float]) -> None:
    with pytest.raises(ClassifierError, match="finite number above 0"):
        kish_sample_size(weights)


def test_rank_is_by_score_then_id_and_ignores_how_rows_stand() -> None:
    ids, scores = ["W3", "W1", "W2", "W10"], [0.5, 0.5, 0.9, 0.5]
    assert [ids[i] for i in top(ids, scores, 4)] == ["W2", "W1", "W10", "W3"]
    assert [ids[i] for i in top(ids, scores, 2)] == ["W2", "W1"]
    assert top(ids, scores, 0).size == 0


def test_scores_that_print_alike_are_still_told_apart() -> None:
    """The published run compared with a threshold read back from six decimals and lost a boundary row."""
    low, high = 0.1234564, 0.1234564 + 1e-12
    assert f"{low:.6f}" == f"{high:.6f}"
    assert top(["a", "b"], [low, high], 1).tolist() == [1]


@given(
    st.lists(st.integers(0, 5).map(lambda n: n / 5), max_size=40).flatmap(
        lambda s: st.tuples(st.just(s), st.integers(0, len(s)), st.randoms(use_true_random=False))
    )
)
def test_top_is_what_sorting_by_hand_gives_in_any_order_of_rows(case) -> None:
    scores, k, random = case
    names = [f"W{n}" for n in range(len(scores))]
    expected = sorted(zip(names, scores, strict=True), key=lambda row: (-Fraction(row[1]), row[0]))[:k]
    rows = list(zip(names, scores, strict=True))
    random.shuffle(rows)
    shuffled = np.array([r[0] for r in rows], dtype=np.str_), [r[1] for r in rows]
    assert [rows[i] for i in top(*shuffled, k)] == expected


@pytest.mark.parametrize(
    ("scores", "k", "said"),
    [
        ([0.1, 0.2], 3, "k is 3, but 2 works"),
        ([0.1, math.nan], 1, "isn't a finite number"),
        ([0.1], 1, "2 ids, but 1 scores"),
        ([0.1, 0.2], -1, "k is -1"),
    ],
)
def test_what_cant_be_ranked(scores: list[float], k: int, said: str) -> None:
    with pytest.raises(ClassifierError, match=said):
        top([1, 2], scores, k)


@given(st.data())
def test_candidate_and_consensus_add_up_to_the_two_sides(data) -> None:
    """|A or B| + |A and B| = |A| + |B|. The published figures are one short on metaresearch:
    74,482 + 25,116 = 99,598 against 25,957 + 73,642 = 99,599."""
    n = data.draw(st.integers(1, 30))
    scores = {h: data.draw(st.lists(st.integers(0, 4).map(float), min_size=n, max_size=n)) for h in "ab"}
    rates = [Rate(h, "c", r, 0, 1, 30, 20.0) for h in "ab" for r in [data.draw(st.floats(0, 1))]]
    made = quotas(rates, n)
    calls = category_calls("c", list(range(n)), scores, made)
    assert calls.candidate.size + calls.consensus.size == sum(q.k or 0 for q in made)
    states = [calls.call(row) for row in range(n)]
    assert states.count(Call.CONSENSUS) == calls.consensus.size
    assert states.count(Call.CONSENSUS) + states.count(Call.CANDIDATE) == calls.candidate.size
    assert set(states) <= {Call.CONSENSUS, Call.CANDIDATE, Call.NO_CALL}


def test_an_unsupported_category_calls_nothing() -> None:
    made = quotas([rate(0.5), rate(0.5, "gemma", ess=1.0)], 2)
    calls = category_calls("metaresearch", [1, 2], {"codex": [1, 0], "gemma": [1, 0]}, made)
    assert not calls.supported
    assert [calls.call(row) for row in (0, 1)] == [Call.UNSUPPORTED, Call.UNSUPPORTED]
    assert calls.thresholds == (None, None)
    with pytest.raises(ClassifierError, match="no support"):
        _ = calls.candidate
    assert isinstance(calls, CategoryCalls)


def test_one_side_makes_candidates_and_no_consensus() -> None:
    made = quotas([rate(0.5)], 4)
    calls = category_calls("metaresearch", [1, 2, 3, 4], {"codex": [0.9, 0.1, 0.8, 0.2]}, made)
    assert (calls.candidate.tolist(), calls.consensus.tolist()) == ([0, 2], [])
    assert [calls.call(row) for row in range(2)] == [Call.CANDIDATE, Call.NO_CALL]


def test_a_rate_without_an_interval_gives_a_k_without_one() -> None:
    """k = 0.25 x 8; for how many more or fewer the rate would stand isn't known, which is not "for none"."""
    (made,) = quotas([Rate("codex", "metaresearch", 0.25, None, None, 30, 20.0)], 8)
    assert (made.k, made.rate_low, made.rate_high, made.k_low, made.k_high) == (2, None, None, None, None)


def test_disagreement_is_the_largest_distance_from_a_direct_label() -> None:
    nan = math.nan
    found = disagreement(
        [[0.9, 0.2], [0.9, 0.2], [0.3, nan], [0.3, 0.4]], [[1, 0], [0, 0], [nan, 1], [nan, 1]]
    )
    np.testing.assert_allclose(found, [0.2, 0.9, nan, 0.6], rtol=1e-15)


def test_uncertainty_by_hand() -> None:
    # t = 0.2. At t: 1. At 0.1, half of the way to 0: 0.5. At 0.6, half of the way to 1: 0.5.
    found = threshold_uncertainty([[0.2], [0.1], [0.6], [0.0], [1.0], [math.nan]], [0.2])
    np.testing.assert_allclose(found, [1, 0.5, 0.5, 0, 0, math.nan], atol=1e-15)
    # The largest of the heads; a head that makes no call takes no part.
    assert threshold_uncertainty([[0.1, 0.5]], [0.2, 0.5]) == [1.0]
    assert threshold_uncertainty([[0.1, 0.5]], [0.2, math.nan]) == [0.5]


def test_thresholds_at_the_ends() -> None:
    np.testing.assert_array_equal(threshold_uncertainty([[0.0], [0.5], [1.0]], [0.0]), [1, 0.5, 0])
    np.testing.assert_array_equal(threshold_uncertainty([[0.0], [0.5], [1.0]], [1.0]), [0, 0.5, 1])


@pytest.mark.parametrize(
    ("scores", "thresholds", "said"),
    [
        ([[1.2]], [0.5], "a score lies outside"),
        ([[0.2]], [-1], "a threshold lies"),
        ([[0.2]], [0, 1], "1 heads"),
    ],
)
def test_uncertainty_needs_probabilities(scores, thresholds, said: str) -> None:
    with pytest.raises(ClassifierError, match=said):
        threshold_uncertainty(scores, thresholds)


def test_direct_labels_are_ones_and_zeros() -> None:
    with pytest.raises(ClassifierError, match="neither 1, 0 nor unknown"):
        disagreement([[0.5]], [[0.5]])
    with pytest.raises(ClassifierError, match=r"\(1, 1\), but direct labels \(1, 2\)"):
        disagreement([[0.5]], [[1, 0]])
