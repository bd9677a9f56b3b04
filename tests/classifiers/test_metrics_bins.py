"""Bins, reliability curves and bootstrap intervals: by hand, against statsmodels, and on average."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from classifiers.errors import ClassifierError
from classifiers.metrics import Sample, measure, measure_cells, probabilities, support
from classifiers.metrics.bins import equal_mass, equal_width, expected_positives
from classifiers.metrics.bootstrap import basic, percentile, resampled
from classifiers.metrics.line import calibration_line
from classifiers.metrics.reliability import reliability_curve, wilson


def rare(seed: int, n: int = 1500, distorted: bool = False) -> Sample:
    """About 50 positives, most probabilities near 0; distorted ones are far too high."""
    rng = np.random.default_rng(seed)
    x = rng.normal(-5, 2, n)
    y = rng.random(n) < 1 / (1 + np.exp(-x))
    return probabilities(1 / (1 + np.exp(-(0.6 * x + 3 if distorted else x))), y)


# Bins


def test_bins_by_hand() -> None:
    made = probabilities([0.05, 0.95, 0.5, 0.1, 1.0, 0.0], [0, 1, 1, 0, 1, 0])
    assert equal_width(made, 10).tolist() == [0, 3, 2, 1, 3, 0]
    assert equal_mass(made, 3).tolist() == [0, 2, 1, 1, 2, 0]
    # By weight, the first record alone is half of all.
    heavy = probabilities([0.1, 0.2, 0.3], [0, 1, 1], [4, 2, 2])
    assert equal_mass(heavy, 2).tolist() == [0, 1, 1]


@given(st.lists(st.sampled_from([0.0, 0.1, 0.1, 0.4, 1.0]), min_size=2, max_size=40), st.integers(1, 9))
def test_bins_keep_the_order_and_ties_together(p: list[float], bins: int) -> None:
    made = probabilities(p, [i % 2 for i in range(len(p))])
    for numbers in (equal_mass(made, bins), equal_width(made, bins)):
        assert set(numbers) == set(range(int(numbers.max()) + 1))
        assert numbers.max() < bins
        for a, b in pairwise(p):
            i, j = p.index(a), p.index(b)
            assert (a <= b) <= (numbers[i] <= numbers[j])
        assert all(numbers[i] == numbers[p.index(value)] for i, value in enumerate(p))


@pytest.mark.parametrize("distorted", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_bins_of_a_rare_category_hold_positives(seed: int, distorted: bool) -> None:
    """Not only the last, as of equal mass, where the lower half of the bins holds one in ten at most."""
    made = rare(seed, distorted=distorted)
    curve = reliability_curve(made, expected_positives(made, calibration_line(made)))
    assert len(curve) == min(made.y.sum() // 8, 10)
    assert min(b.positives for b in curve) >= 2
    mass = reliability_curve(made, equal_mass(made, 10))
    assert sum(b.positives for b in mass[:5]) <= made.y.sum() / 10


def test_bins_do_not_pull_the_rates() -> None:
    """Over 300 seeded draws of right probabilities, rates stray from them by 0 on average in every bin.

    Edges at every 8th positive would raise rates by about 1 in 8.
    """
    strays: list[list[float]] = [[] for _ in range(4)]
    for seed in range(300):
        made = rare(seed, n=900)
        curve = reliability_curve(made, expected_positives(made, calibration_line(made), bins=4))
        for k, b in enumerate(curve):
            strays[k].append((b.observed - b.predicted) / b.predicted)
    for stray in strays:
        assert abs(np.mean(stray)) < 4 * np.std(stray) / 300**0.5
        assert 4 * np.std(stray) / 300**0.5 < 1 / 8, "or this could not tell"


def test_there_is_at_least_one_bin() -> None:
    with pytest.raises(ClassifierError, match="there are 0 bins, expected at least 1"):
        equal_mass(rare(0), 0)


# Reliability


@pytest.mark.parametrize(("x", "n"), [(0, 30), (1, 30), (17, 40), (30, 30)])
def test_wilson_against_statsmodels(x: int, n: int) -> None:
    assert wilson(x / n, n) == pytest.approx(proportion_confint(x, n, method="wilson"), abs=1e-12)


def test_reliability_by_hand() -> None:
    """Weights 1, 1, 2: mean probability (0.1 + 0.2 + 0.6) / 4, rate 2 / 4, effectively 16 / 6 records."""
    made = probabilities([0.1, 0.2, 0.3, 0.9], [0, 0, 1, 1], [1, 1, 2, 5])
    low, last = reliability_curve(made, np.array([0, 0, 0, 1]))
    assert (low.lowest, low.highest, low.records, low.positives, low.weight) == (0.1, 0.3, 3, 1, 4.0)
    assert (low.predicted, low.observed) == pytest.approx((0.225, 0.5), abs=1e-15)
    expected = proportion_confint(16 / 12, 16 / 6, method="wilson")
    assert (low.low, low.high) == pytest.approx(expected, abs=1e-12)
    assert (last.observed, last.high) == (1.0, 1.0)


# Bootstrap


def test_replicates_are_whole_samples_and_repeat() -> None:
    chunks = list(resampled(700, 5000, seed=4))
    assert len(chunks) > 1
    counts = np.concatenate(chunks)
    assert counts.shape == (5000, 700)
    assert (counts.sum(axis=1) == 700).all()
    assert np.concatenate(list(resampled(700, 5000, seed=4))).tobytes() == counts.tobytes()
    assert np.concatenate(list(resampled(700, 30, seed=4))).tobytes() == counts[:30].tobytes()
    # The variance of a count is 1 - 1 / G.
    assert counts.var() == pytest.approx(1 - 1 / 700, rel=0.01)


def test_intervals_of_replicates_by_hand() -> None:
    drawn = np.arange(1001) / 1000
    assert percentile(0.4, drawn) == percentile(0.4, np.append(drawn, [np.nan] * 20))
    middle = percentile(0.4, drawn)
    assert (middle.value, middle.low, middle.high) == pytest.approx((0.4, 0.025, 0.975))
    turned = basic(0.6, drawn, 0, 1)
    assert (turned.low, turned.high) == pytest.approx((0.225, 1.0)), "1.2 - 0.975, and 1.175 cut at 1"
    none = percentile(0.4, np.append(drawn, [np.nan] * 200))
    assert (none.value, none.low, none.high) == (0.4, None, None)


def test_replicates_that_are_all_alike_give_no_interval() -> None:
    """They show no spread, which is no evidence that there is none: an interval of no width would say so."""
    alike = percentile(0.4, np.full(500, 0.4))
    assert (alike.value, alike.low, alike.high) == (0.4, None, None)
    turned = basic(0.4, np.full(500, 0.4), 0, 1)
    assert (turned.low, turned.high) == (None, None)


def test_an_error_below_what_chance_gives_is_not_said_to_be_exactly_0() -> None:
    """0.01 with replicates from 0.04 to 0.06: turned round they are -0.04 to -0.02, all below 0."""
    turned = basic(0.01, np.linspace(0.04, 0.06, 500), 0, 1)
    assert (turned.value, turned.low, turned.high) == (0.01, None, None)
    above = basic(0.99, np.linspace(0.94, 0.96, 500), 0, 1)
    assert (above.low, above.high) == (None, None)


def test_records_of_one_group_have_figures_and_no_interval() -> None:
    """Groups are what was drawn: one of them says nothing of how others would differ."""
    rng = np.random.default_rng(5)
    p = rng.uniform(0.05, 0.6, 300)
    found = measure(probabilities(p, rng.random(300) < p, groups=["a journal"] * 300), seed=1, replicates=100)
    line = found.line
    assert line.slope is not None
    figures = (line.intercept, line.slope, found.brier_skill, found.log_loss, found.average_precision,
               found.roc_auc, found.ece_equal_mass, found.ece_equal_width)  # fmt: skip
    assert {(figure.low, figure.high) for figure in figures} == {(None, None)}
    assert (line.intercept.standard_error, line.slope.standard_error) == (None, None)


def test_skill_interval_is_that_of_resampled_records() -> None:
    """Against a loop that draws records and computes each figure anew, up to the noise of 1,000 draws."""
    made = rare(3, n=600)
    found = measure(made, seed=1, replicates=1000)
    rng = np.random.default_rng(99)
    again = []
    for _ in range(1000):
        part = made.take(rng.integers(0, len(made), len(made)))
        base = part.outcome.mean()
        again.append(1 - np.mean((part.values - part.outcome) ** 2) / (base * (1 - base)))
    spread = np.std(again)
    low, high = np.quantile(again, [0.025, 0.975])
    assert found.brier_skill.low == pytest.approx(low, abs=0.3 * spread)
    assert found.brier_skill.high == pytest.approx(high, abs=0.3 * spread)


def test_groups_are_drawn_whole() -> None:
    """Each record four times in one group is the sample itself: the same intervals, to rounding."""
    made = rare(5, n=400)
    times = [np.repeat(values, 4) for values in (made.values, made.y, made.weights)]
    grouped = measure(probabilities(*times, groups=np.repeat(np.arange(400), 4)), seed=2, replicates=200)
    single = measure(made, seed=2, replicates=200)
    for name in ("brier_skill", "log_loss", "average_precision", "roc_auc"):
        a, b = getattr(single, name), getattr(grouped, name)
        assert (b.value, b.low, b.high) == pytest.approx((a.value, a.low, a.high), abs=1e-9)
    alone = measure(probabilities(*times), seed=2, replicates=200)
    assert alone.brier_skill.high is not None
    assert single.brier_skill.high is not None
    assert alone.brier_skill.high < single.brier_skill.high


def test_the_same_seed_gives_the_same_figures() -> None:
    assert measure(rare(1), seed=7, replicates=100) == measure(rare(1), seed=7, replicates=100)
    assert measure(rare(1), seed=7, replicates=100) != measure(rare(1), seed=8, replicates=100)


# Cells


def test_cells_too_small_say_so_and_give_counts() -> None:
    rng = np.random.default_rng(0)
    n = 900
    p = rng.uniform(0.05, 0.6, n)
    y = rng.random(n) < p
    language = np.where(np.arange(n) < 30, "fr", np.where(np.arange(n) < 60, "", "en"))
    made = probabilities(p, y)
    cells = measure_cells(made, {"language": language.tolist()}, seed=1, replicates=100)
    assert [(cell.column, cell.value) for cell in cells] == [
        ("language", None),
        ("language", "en"),
        ("language", "fr"),
    ]
    unrecorded, en, fr = cells
    assert (en.state, fr.state, unrecorded.state) == ("available", *["too_few_positives"] * 2)
    assert (fr.metrics, unrecorded.metrics) == (None, None)
    assert (fr.support.records, fr.support.positives) == (30, int(y[:30].sum()))
    assert en.metrics == measure(made.take(np.flatnonzero(language == "en")), seed=1, replicates=100)


def test_cells_need_negatives_too() -> None:
    made = probabilities([0.5, 0.6] * 15, [1] * 25 + [0] * 5)
    (cell,) = measure_cells(made, {"stratum": ["a"] * 30}, seed=1)
    assert (cell.state, cell.metrics) == ("too_few_negatives", None)


def test_support_counts_effective_positives() -> None:
    """25 positives, one of weight 100: (124)^2 / (24 + 10,000) = 1.53 of them count."""
    found = support([1] * 25 + [0] * 30, [100.0] + [1.0] * 54)
    assert (found.positives, found.negatives, found.enough) == (25, 30, False)
    assert found.effective_positives == pytest.approx(124**2 / 10_024)
    assert (
        found.shortage == "25 positives worth 1.5 under their weights, expected at least 20 worth at least 10"
    )


def test_a_column_has_a_value_for_each_record() -> None:
    with pytest.raises(ClassifierError, match="language has 1 values, expected one for each record"):
        measure_cells(rare(0), {"language": ["en"]}, seed=1)


def test_probabilities_outside_0_to_1_are_refused() -> None:
    with pytest.raises(ClassifierError, match=r"probability of record 1 is 1\.5, expected 0 to 1"):
        probabilities([0.5, 1.5], [0, 1])
