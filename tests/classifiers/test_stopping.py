"""Stopping rules and recall estimates: published and hand-computed values, scipy, and exact error rates."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from classifiers.active.recall import capture_recapture, hypergeometric_cdf, model_recall, sampled_recall
from classifiers.active.stopping import (
    budget,
    consecutive_irrelevant,
    model_based,
    quantile_bound,
    quantile_needed,
    random_sample_test,
    ranked_test,
    recapture,
)
from classifiers.errors import ClassifierError


def test_chapman_on_a_textbook_case() -> None:
    """10 marked, 15 caught, 5 of them marked: 11 * 16 / 6 - 1 = 28.33, variance 11 * 16 * 5 * 10 / (36 * 7).

    The case of the article "Mark and recapture" of Wikipedia.
    """
    found = capture_recapture(10, 15, 5)
    assert (found.found, round(found.relevant, 2)) == (20, 28.33)
    assert found.se == pytest.approx(math.sqrt(8800 / 252))
    assert found.recall.value == pytest.approx(20 / (28 + 1 / 3))


@settings(max_examples=40)
@given(st.integers(1, 40), st.integers(1, 40), st.data())
def test_its_interval_is_what_the_overlap_does_not_contradict(
    first: int, second: int, data: st.DataObject
) -> None:
    """Both ends by scipy: the last totals inside and the first outside."""
    both = data.draw(st.integers(1, min(first, second)))
    interval = capture_recapture(first, second, both)
    low, high = interval.low, interval.high
    assert high is not None
    assert low == interval.found or stats.hypergeom.cdf(both, low - 1, first, second) < 0.025 + 1e-9
    assert stats.hypergeom.cdf(both, low, first, second) >= 0.025 - 1e-9
    assert stats.hypergeom.sf(both - 1, high + 1, first, second) < 0.025 + 1e-9
    assert high == low or stats.hypergeom.sf(both - 1, high, first, second) >= 0.025 - 1e-9


@pytest.mark.parametrize(
    ("total", "first", "second"), [(60, 40, 50), (60, 20, 10), (30, 29, 29), (45, 30, 5)]
)
def test_its_interval_covers_the_truth(total: int, first: int, second: int) -> None:
    """The coverage is exact: over every possible overlap of two independent searches."""
    covered = 0.0
    for both in range(max(0, first + second - total), min(first, second) + 1):
        interval = capture_recapture(first, second, both)
        high = math.inf if interval.high is None else interval.high
        if interval.low <= total <= high:
            covered += stats.hypergeom.pmf(both, total, first, second)
    assert covered >= 0.95


def test_without_any_overlap_nothing_bounds_what_there_is() -> None:
    nothing = capture_recapture(10, 10, 0)
    assert (nothing.high, nothing.recall.low) == (None, 0.0)
    assert not recapture(10, 10, 0, 0.5).stop


def test_two_searches_that_found_nothing_say_nothing() -> None:
    verdict = recapture(0, 0, 0, 0.9)
    assert not verdict.stop
    assert verdict.recall.value is None
    assert "neither search" in (verdict.recall.reason or "")


def test_one_search_that_found_nothing_leaves_recall_unknown() -> None:
    """Chapman's formula gives N = 12 with an error of 0 for 12, 0 and 0: a recall of 1 without support."""
    found = capture_recapture(12, 0, 0)
    assert (found.found, found.relevant, found.se, found.recall.value) == (12, None, None, None)
    assert (found.low, found.high) == (12, None)
    verdict = recapture(12, 0, 0, 0.5)
    assert not verdict.stop
    assert verdict.detail == "12 found by either, unknown in all (from 12 up, nothing bounds it)"
    assert "no overlap" in (verdict.recall.reason or "")


def test_recapture_stops_when_all_is_found_twice() -> None:
    assert recapture(200, 200, 200, 0.95).stop
    assert not recapture(200, 200, 100, 0.95).stop  # about 400 in all, 300 found


def test_model_recall_by_hand() -> None:
    """Expected 2.5 of 3; variances p(1 - p): screened 0.25, all 0.5; the sum of the two published terms."""
    found = model_recall([1, 1, 0.5, 0.5, 0, 0], [True, True, True, False, False, False])
    variance = 0.25 / 9 + 2.5**2 * 0.5 / 81
    assert found.value == pytest.approx(2.5 / 3)
    assert found.low == pytest.approx(2.5 / 3 - 2 * math.sqrt(variance))
    assert found.high == 1.0
    assert found.level == pytest.approx(0.9545, abs=1e-4)


def test_scores_that_only_rank_are_refused_where_probabilities_are_needed() -> None:
    for bad in ([0.5, 1.2], [0.5, -0.1], [0.5, float("nan")]):
        with pytest.raises(ClassifierError, match="outside 0 to 1"):
            model_based(bad, [True, False], 0.9)
    assert model_based([0.0, 0.0], [True, False], 0.9).recall.value is None
    assert not model_based([0.0, 0.0], [True, False], 0.9).stop
    assert model_based([1.0, 0.0], [True, False], 0.9).stop


@given(st.integers(1, 300), st.data())
def test_the_hypergeometric_agrees_with_scipy(population: int, data: st.DataObject) -> None:
    sample = data.draw(st.integers(0, population))
    relevant = data.draw(st.integers(0, population))
    k = data.draw(st.integers(0, population))
    expected = stats.hypergeom.cdf(k, population, relevant, sample)
    assert hypergeometric_cdf(k, population, relevant, sample)[0] == pytest.approx(expected, abs=1e-9)


def test_the_random_sample_test_by_hand() -> None:
    """95 found, target 95 %: 96 / 0.95 > 101, so recall is below it when 6 or more are missing.

    With none among 100 of 200 drawn, p = C(194, 100) / C(200, 100), a product of six fractions.
    """
    p = math.prod(Fraction(100 - i, 200 - i) for i in range(6))
    verdict = random_sample_test(95, 0, 100, 200, 0.95)
    assert verdict.p_value == pytest.approx(float(p))
    assert (float(p) < 0.025, verdict.stop) == (True, True)
    early = random_sample_test(95, 0, 60, 200, 0.95)
    assert not early.stop


def test_a_sample_of_everything_ends_the_screening() -> None:
    assert random_sample_test(3, 2, 40, 40, 0.9).stop
    assert random_sample_test(3, 2, 40, 40, 0.9).recall.low == 1.0


def chance_of_missing(found: int, missing: int, unscreened: int, target: float, **how: bool) -> float:
    """Exactly: the probability that the test, made after every draw, stops while recall is below the target.

    Runs over the states (drawn, relevant drawn) of sampling without replacement.
    """
    below = lambda k: (found + k) / (found + missing) < target  # noqa: E731
    alive, stopped = {0: 1.0}, 0.0
    for drawn in range(unscreened):
        following: dict[int, float] = {}
        for k, probability in alive.items():
            hit = (missing - k) / (unscreened - drawn)
            for more, part in ((1, hit), (0, 1 - hit)):
                if part > 0:
                    following[k + more] = following.get(k + more, 0.0) + probability * part
        alive = {}
        for k, probability in following.items():
            if random_sample_test(found, k, drawn + 1, unscreened, target, **how).stop:
                stopped += probability * below(k)
            else:
                alive[k] = probability
    return stopped


@pytest.mark.parametrize(
    ("found", "missing", "unscreened"), [(18, 3, 60), (38, 5, 80), (10, 8, 50), (0, 4, 40)]
)
def test_a_test_after_every_draw_misses_the_target_in_at_most_five_percent(
    found: int, missing: int, unscreened: int
) -> None:
    assert chance_of_missing(found, missing, unscreened, 0.9) <= 0.05


def test_the_plain_level_would_not_hold_after_every_draw() -> None:
    """Why the levels are spent: as published for one look, the test errs too often when made at each draw."""
    assert chance_of_missing(59, 18, 35, 0.8, sequential=False) > 0.055
    assert chance_of_missing(59, 18, 35, 0.8) <= 0.05


@given(st.integers(0, 60), st.integers(1, 12), st.integers(13, 80), st.data())
def test_one_look_at_a_sample_of_fixed_size_holds_its_level(
    found: int, missing: int, unscreened: int, data: st.DataObject
) -> None:
    sample = data.draw(st.integers(1, unscreened - 1))
    chance = sum(
        stats.hypergeom.pmf(k, unscreened, missing, sample)
        for k in range(min(missing, sample) + 1)
        if (found + k) / (found + missing) < 0.9 - 1e-12
        and random_sample_test(found, k, sample, unscreened, 0.9, sequential=False).stop
    )
    assert chance <= 0.05 + 1e-9


def test_seeded_screenings_that_end_by_the_test_miss_in_at_most_five_percent() -> None:
    """A pool of 1,000 with 60 relevant, 54 of them found by rank in 400; the rest drawn at random.

    Over 150 seeds; three standard errors of a share of 0.05 are 0.054.
    """
    missed = 0
    for seed in range(150):
        rest = np.zeros(600, bool)
        rest[:6] = True
        np.random.default_rng(seed).shuffle(rest)
        drawn = np.cumsum(rest)
        for n in range(150, 601, 75):
            if random_sample_test(54, int(drawn[n - 1]), n, 600, 0.95).stop:
                missed += (54 + drawn[n - 1]) / 60 < 0.95
                break
    assert missed / 150 <= 0.05 + 0.054


@pytest.mark.parametrize(("missing", "unscreened", "sample"), [(3, 60, 20), (10, 100, 30), (0, 50, 10)])
def test_the_interval_from_a_sample_covers_the_recall(missing: int, unscreened: int, sample: int) -> None:
    """The coverage is exact: over all outcomes of the sample, by their probabilities."""
    covered = 0.0
    for k in range(min(missing, sample) + 1):
        estimate = sampled_recall(20, k, sample, unscreened)
        assert estimate.low is not None
        assert estimate.high is not None
        if estimate.low - 1e-12 <= (20 + k) / (20 + missing) <= estimate.high + 1e-12:
            covered += stats.hypergeom.pmf(k, unscreened, missing, sample)
    assert covered >= 0.95


def test_the_ranked_test_is_the_least_p_of_every_last_stretch() -> None:
    """Each stretch by scipy: N = records left before it, K = fewest missing + found in it."""
    labels = [True] * 8 + [False] * 3 + [True] + [False] * 60
    total, records, target = 9, 150, 0.9
    missing = math.floor(total / target + 1e-9) + 1 - total
    expected = min(
        stats.hypergeom.cdf(sum(labels[-i:]), records - len(labels) + i, missing + sum(labels[-i:]), i)
        for i in range(1, len(labels) + 1)
    )
    verdict = ranked_test(labels, records, target)
    assert verdict.p_value == pytest.approx(expected)
    assert verdict.stop == (expected < 0.05)
    assert verdict.recall.value is None
    assert ranked_test(labels + [False] * 70, records, target).stop


def test_nothing_found_is_never_a_recall_reached() -> None:
    assert not ranked_test([False] * 90, 100, 0.9).stop
    assert not random_sample_test(0, 0, 90, 100, 0.9).stop
    assert not random_sample_test(0, 0, 100, 100, 0.9).stop


def test_how_many_control_records_must_be_met_again() -> None:
    """0.8^14 = 0.044 is the first power below 0.05, so 13 control records never assure 80 % and 14 do, all
    of them. Of 30, P(Binomial(30, 0.8) <= j - 1) first reaches 0.95 at j = 28."""
    assert 0.8**14 < 0.05 < 0.8**13
    assert (quantile_needed(13, 0.8), quantile_needed(14, 0.8)) == (None, 14)
    assert stats.binom.cdf(27, 30, 0.8) >= 0.95 > stats.binom.cdf(26, 30, 0.8)
    assert quantile_needed(30, 0.8) == 28


@given(st.integers(1, 80), st.sampled_from([0.7, 0.8, 0.9, 0.95]), st.data())
def test_the_bound_and_the_estimate_of_control_records_agree(
    control: int, target: float, data: st.DataObject
) -> None:
    """The rule stops exactly when Clopper and Pearson's lower bound reaches the target."""
    found = data.draw(st.integers(0, control))
    verdict = quantile_bound(found, control, target)
    assert verdict.recall.low is not None
    assert verdict.stop == (verdict.recall.low >= target - 1e-12)


def test_consecutive_irrelevant_counts_from_the_end() -> None:
    labels = [False] * 50 + [True] + [False] * 9
    assert not consecutive_irrelevant(labels, 10).stop
    assert consecutive_irrelevant([*labels, False], 10).stop
    assert consecutive_irrelevant(labels, 9).recall.value is None
    assert not consecutive_irrelevant([], 1).stop


def test_a_budget_knows_recall_only_at_the_end() -> None:
    assert [budget(n, 200, 0.5, 3).stop for n in (99, 100, 200)] == [False, True, True]
    assert budget(100, 200, 0.5, 3).recall.value is None
    assert budget(200, 200, 0.5, 3).recall.value == 1.0
    # All was read and nothing is relevant: 0 of 0 is no recall.
    assert budget(200, 200, 0.5, 0).recall.value is None


def test_every_verdict_names_its_assumption_in_one_sentence() -> None:
    verdicts = [
        consecutive_irrelevant([False], 1),
        budget(1, 2, 0.5, 1),
        recapture(5, 5, 4, 0.9),
        random_sample_test(5, 0, 5, 10, 0.9),
        ranked_test([True, False], 5, 0.9),
        model_based([0.5, 0.5], [True, False], 0.9),
        quantile_bound(1, 2, 0.9),
    ]
    assert len({verdict.rule for verdict in verdicts}) == len(verdicts)
    for verdict in verdicts:
        assert verdict.assumption.endswith(".")
        assert (verdict.recall.value is None) == (verdict.recall.reason is not None)


@settings(max_examples=20)
@given(st.integers(0, 12), st.integers(0, 12))
def test_more_overlap_means_more_recall(first: int, second: int) -> None:
    recalls = [
        capture_recapture(first, second, both).recall.value or 0 for both in range(min(first, second) + 1)
    ]
    assert all(a <= b + 1e-12 for a, b in pairwise(recalls))


@pytest.mark.parametrize(
    "call",
    [
        lambda: capture_recapture(3, 3, 4),
        lambda: capture_recapture(-1, 3, 0),
        lambda: random_sample_test(1, 3, 2, 10, 0.9),
        lambda: random_sample_test(1, 1, 20, 10, 0.9),
        lambda: random_sample_test(1, 1, 2, 10, 1.0),
        lambda: ranked_test([True] * 5, 4, 0.9),
        lambda: consecutive_irrelevant([True], 0),
        lambda: budget(5, 4, 0.5, 1),
        lambda: budget(4, 5, 0.5, 5),
        lambda: quantile_bound(3, 2, 0.9),
        lambda: model_recall([0.5], [True, False]),
        lambda: sampled_recall(1, 0, 5, 10, level=1.5),
    ],
)
def test_counts_that_cannot_be_are_refused_in_one_sentence(call: object) -> None:
    with pytest.raises(ClassifierError) as caught:
        call()  # type: ignore[operator]
    assert "\n" not in str(caught.value)
    assert not str(caught.value).endswith(".")
