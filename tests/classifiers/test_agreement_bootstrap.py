"""Bootstrap intervals: their spread against theory and naive resampling, their seed, their cost."""

from collections.abc import Callable

import numpy as np
import pytest

from classifiers.agreement import COHEN, PERCENT, agreement, ratings_from_matrix, ratings_from_pair
from classifiers.agreement.resampling import replicate_totals

# A standard deviation from B replicates is known to a share 1 / sqrt(2 B): 1.6 % for 2,000, so 6.5 % is
# four of its standard errors.
FOUR_SIGMA = 4 / np.sqrt(2 * 2000)


def test_spread_of_percent_agreement_is_that_of_a_mean() -> None:
    # With n - 1 draws of rescaled weight, the variance is p (1 - p) / (n - 1), the unbiased one.
    table = agreement(ratings_from_pair(40, 20, 22, 16), seed=2).table()
    p = table[PERCENT].value
    interval = table[PERCENT].interval
    assert interval.se == pytest.approx(np.sqrt(p * (1 - p) / 39), rel=FOUR_SIGMA)
    assert interval.low < p < interval.high
    assert (interval.replicates, interval.undefined, interval.level) == (2000, 0, 0.95)


def test_stratified_spread_is_the_design_variance() -> None:
    # A weighted mean of a stratified sample, drawn with replacement: sum of W_h^2 p_h (1 - p_h) / (n_h - 1).
    sizes, agreeing, weights = (30, 80), (21, 76), (50.0, 4.0)
    matrix, strata, design = [], [], []
    for name, n, k, w in zip("xy", sizes, agreeing, weights, strict=True):
        matrix += [[True, True]] * (k // 2) + [[False, False]] * (k - k // 2) + [[True, False]] * (n - k)
        strata += [name] * n
        design += [w] * n
    ratings = ratings_from_matrix(matrix, ["a", "b"], strata=strata, weights=design)
    report = agreement(ratings, seed=3)
    share = np.array(sizes) * np.array(weights)
    share /= share.sum()
    p = np.array(agreeing) / np.array(sizes)
    variance = (share**2 * p * (1 - p) / (np.array(sizes) - 1)).sum()
    found = report.table(weighting="design")[PERCENT]
    assert found.value == pytest.approx(share @ p, abs=1e-12)
    assert found.interval.se == pytest.approx(np.sqrt(variance), rel=FOUR_SIGMA)


def test_replicates_keep_every_stratum_at_its_size() -> None:
    # Three draws of weight 4/3 from four items of which half agree: the total of those that do has the
    # variance (4/3)^2 * 3 * 1/4 = 4/3, where four plain draws would have 1.
    matrix = [[True, True]] * 2 + [[True, False]] * 2 + [[False, False]]
    ratings = ratings_from_matrix(matrix, ["a", "b"], strata=["x"] * 4 + ["y"], weights=[5.0] * 4 + [2.0])
    counts, weights = (
        np.concatenate(parts) for parts in zip(*replicate_totals(ratings, 8000, 1), strict=True)
    )
    assert counts.shape == (8000, 3)
    assert counts[:, :2].sum(axis=1) == pytest.approx(np.full(8000, 4.0))
    assert (counts[:, 2] == 1).all()  # one item alone has no spread
    assert weights == pytest.approx(counts * [5, 5, 2])
    assert counts[:, 0].mean() == pytest.approx(2, abs=4 * np.sqrt(4 / 3 / 8000))
    assert counts[:, 0].var() == pytest.approx(4 / 3, rel=4 * np.sqrt(2 / 8000))


def test_kappa_against_resampling_item_by_item() -> None:
    rng = np.random.default_rng(11)
    first = rng.random(150) < 0.3
    second = np.where(rng.random(150) < 0.15, ~first, first)
    report = agreement(
        ratings_from_matrix(np.column_stack([first, second]).astype(object), ["a", "b"]), seed=4
    )
    naive = []
    for _ in range(2000):
        drawn = rng.integers(0, 150, 150)
        a, b = first[drawn], second[drawn]
        chance = a.mean() * b.mean() + (1 - a.mean()) * (1 - b.mean())
        naive.append(((a == b).mean() - chance) / (1 - chance))
    interval = report.table()[COHEN].interval
    # Both spreads are estimated, so their ratio has sqrt(2) times the error of one.
    assert interval.se == pytest.approx(np.std(naive), rel=FOUR_SIGMA * np.sqrt(2))
    # A percentile of 2,000 lies within about 0.1 standard deviations of the true one (4 sigma: 0.25).
    assert interval.low == pytest.approx(np.quantile(naive, 0.025), abs=0.25 * interval.se)
    assert interval.high == pytest.approx(np.quantile(naive, 0.975), abs=0.25 * interval.se)


def test_the_seed_alone_decides() -> None:
    matrix = [[True, True], [True, False], [False, False], [False, False]] * 5
    strata = ["x", "y", "x", "y"] * 5
    one = ratings_from_matrix(matrix, ["a", "b"], strata=strata)
    turned = ratings_from_matrix(matrix[::-1], ["a", "b"], strata=strata[::-1])
    assert agreement(one, seed=5).to_dict() == agreement(turned, seed=5).to_dict()
    assert agreement(one, seed=5).to_dict() != agreement(one, seed=6).to_dict()


def test_other_strata_leave_the_replicates_of_the_first_alone() -> None:
    matrix = [[True, True], [True, False], [False, False]] * 10
    more = [[False, True]] * 8 + [[True, True]] * 8
    alone = ratings_from_matrix(matrix, ["a", "b"], strata=["x"] * 30)
    both = ratings_from_matrix(matrix + more, ["a", "b"], strata=["x"] * 30 + ["y"] * 16)
    assert agreement(alone, seed=5).table(stratum="x") == agreement(both, seed=5).table(stratum="x")


def test_replicates_without_a_value_are_counted_and_too_many_give_no_interval() -> None:
    # Two items of 30 hold a positive; 29 draws miss both with (28/30)^29 = 14 %, and Jaccard has no value.
    table = agreement(ratings_from_pair(30, 1, 1, 0), seed=1).table()
    interval = table["jaccard"].interval
    assert table["jaccard"].value == 0
    assert (interval.low, interval.high, interval.se) == (None, None, None)
    share = (28 / 30) ** 29
    assert interval.undefined / 2000 == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / 2000))
    assert interval.reason == f"{interval.undefined} of 2000 replicates have no value"


def test_the_cost_does_not_grow_with_the_items(calls: Callable[[Callable[[], object]], int]) -> None:
    small, large = ratings_from_pair(100, 20, 22, 16), ratings_from_pair(10**7, 20 * 10**5, 22 * 10**5, 10**6)
    assert calls(lambda: agreement(small, seed=1)) == calls(lambda: agreement(large, seed=1))


def test_many_weights_are_drawn_in_parts_that_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    matrix = (rng.random((200, 2)) < 0.4).astype(object)
    ratings = ratings_from_matrix(matrix, ["a", "b"], weights=list(1 + rng.random(200)))
    whole = agreement(ratings, seed=1).to_dict()
    monkeypatch.setattr("classifiers.agreement.resampling._CHUNK", 200 * 7)
    assert agreement(ratings, seed=1).to_dict() == whole
