"""The gate: the published verdict from the published rounds, and synthetic students of known behaviour."""

import csv
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from classifiers.errors import ClassifierError
from classifiers.maturity import (
    HoldOut,
    HoldOutRound,
    TrainingRound,
    Verdict,
    churn,
    published_gate,
    strict_gate,
    training_rounds,
)

# MétaCan's seven rounds, as published (design document, "Figures to meet").
AP = [0.1519, 0.1551, 0.1628, 0.1543, 0.1676, 0.1627, 0.1417]
CHURN = [None, 0.4615, 0.2222, 0.3, 0.3636, 0.2, 0.2]
SPEARMAN = [None, 0.9826, 0.9703, 0.949, 0.9605, 0.9774, 0.953]
PUBLISHED = [TrainingRound(n, *row) for n, row in enumerate(zip(AP, CHURN, SPEARMAN, strict=True), start=1)]


def states(verdict: Verdict) -> list[bool | None]:
    return [c.passed for c in verdict.conditions]


def test_the_published_gate_fails_on_all_three() -> None:
    verdict = published_gate(PUBLISHED)
    assert states(verdict) == [False, False, False]
    assert (verdict.passed, verdict.maturity) == (False, "not_passed")
    # .1676 / .1551 - 1 = 8.06 %, against the 2 % that it may gain.
    assert (
        "0.1676 (round 5) against 0.1551 before them (round 2): a gain of 8.1 %"
        in verdict.conditions[0].sentence
    )
    assert "0.3636, 0.2000, 0.2000" in verdict.conditions[1].sentence
    assert "0.9605, 0.9774, 0.9530" in verdict.conditions[2].sentence


def test_published_churn_follows_from_the_published_sets(shared: Path) -> None:
    with (shared / "data/metacan/loop_rounds.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    sets = [row["holdout_positive_idx"].split() for row in rows]
    found = [round(churn(a, b), 4) for a, b in pairwise(sets)]
    assert found == [float(row["holdout_churn"]) for row in rows[1:]] == CHURN[1:]


def test_churn_by_hand() -> None:
    assert churn([1, 2, 3], [2, 3, 4, 5]) == 3 / 5
    assert churn([1], [1]) == 0
    assert churn([], []) is None  # two rounds that call nothing say nothing of stability


def test_too_few_rounds_are_not_known_yet_and_not_passed() -> None:
    verdict = published_gate(PUBLISHED[:3])
    assert states(verdict) == [None, None, None]
    assert (verdict.passed, verdict.maturity) == (None, "unknown")
    # With four rounds, churn and Spearman are known and deny it already.
    assert published_gate(PUBLISHED[:4]).passed is False
    assert published_gate([]).passed is None


def steady(n: int, ap: float, churned: float = 0.01, rho: float = 0.99) -> TrainingRound:
    return TrainingRound(n, ap, churned, rho)


def test_limits_are_strict_and_in_each_round() -> None:
    assert published_gate([steady(n, 0.5) for n in range(1, 7)]).passed
    assert states(published_gate([steady(1, 0.5), *(steady(n, 0.51) for n in range(2, 7))])) == [
        False,
        True,
        True,
    ]
    one = [steady(n, 0.5) for n in range(1, 7)]
    assert states(published_gate([*one[:3], steady(4, 0.5, churned=0.05), *one[4:]])) == [True, False, True]
    assert states(published_gate([*one[:3], steady(4, 0.5, rho=0.98), *one[4:]])) == [True, True, False]
    # Only the last three count for churn and Spearman.
    assert published_gate([*one[:2], steady(3, 0.5, churned=0.9, rho=0.1), *one[3:]]).passed


def test_a_round_without_an_ap_is_not_known_and_not_failed() -> None:
    """NaN compares as false with everything, so it could pass unseen in a maximum, or fail as a gain."""
    for missing in (1, 2, 6):
        rounds = [steady(n, float("nan") if n == missing else 0.5) for n in range(1, 7)]
        condition = published_gate(rounds).conditions[0]
        assert (condition.passed, condition.sentence) == (None, f"the AP of round {missing} isn't known")


def test_rounds_out_of_order_are_refused() -> None:
    with pytest.raises(ClassifierError, match="in increasing order"):
        published_gate([steady(2, 0.5), steady(1, 0.5)])


# A synthetic hold-out with 150 positives of 1,500, and students whose behaviour is known.
N = 1500
RANDOM = np.random.default_rng(20260101)
LABELS = (np.arange(N) < 150).astype(float)
WEIGHTS = RANDOM.uniform(1, 3, N)
SIGNAL = np.where(LABELS == 1, 1.8, 0.0) + RANDOM.normal(size=N)
HOLDOUT = HoldOut(LABELS, WEIGHTS)


def student(number: int, scores: np.ndarray, panel: str = "a") -> HoldOutRound:
    """Calls the 150 highest."""
    called = np.zeros(N, bool)
    called[np.argsort(-scores)[:150]] = True
    return HoldOutRound(number, scores, called, panel)


def noisy(number: int, noise: float, panel: str = "a", slope: float = 0.0) -> HoldOutRound:
    random = np.random.default_rng(number)
    return student(number, SIGNAL * (1 - slope * number) + noise * random.normal(size=N), panel)


def strict(rounds: list[HoldOutRound], holdout: HoldOut = HOLDOUT) -> Verdict:
    return strict_gate(holdout, rounds, seed=7, replicates=400)


def test_a_student_that_has_settled_passes() -> None:
    settled = [noisy(n, 0.002) for n in range(1, 8)]
    assert states(strict(settled)) == [True, True, True]
    assert published_gate(training_rounds(HOLDOUT, settled)).passed


def test_a_student_that_still_changes_does_not() -> None:
    assert states(strict([noisy(n, 0.8) for n in range(1, 8)])) == [False, False, False]


def test_a_falling_student_passes_the_published_rule_on_ap_and_not_ours() -> None:
    random = np.random.default_rng(5).normal(size=N)
    falling = [student(n, SIGNAL + 0.15 * n * random) for n in range(1, 8)]
    rounds = training_rounds(HOLDOUT, falling)
    assert rounds[-1].average_precision < 0.9 * rounds[1].average_precision
    assert published_gate(rounds).conditions[0].passed
    assert strict(falling).conditions[0].passed is False


def test_a_few_positives_are_too_few_to_show_that_nothing_changes() -> None:
    """The study's hold-out had about 23 positives: within their noise, the published rule may pass."""
    few = HoldOut(LABELS * (np.arange(N) < 23), WEIGHTS)
    settled = [noisy(n, 0.05) for n in range(1, 8)]
    assert published_gate(training_rounds(few, settled)).conditions[0].passed
    assert strict(settled, few).conditions[0].passed is False


def test_a_new_panel_begins_anew() -> None:
    rounds = [noisy(n, 0.002, "a" if n < 5 else "b") for n in range(1, 10)]
    verdict = strict(rounds)
    assert states(verdict) == [None, None, None]
    assert "5 rounds with the present panel; 6 are needed" in verdict.conditions[0].sentence
    assert strict([*rounds, noisy(10, 0.002, "b")]).passed


def test_same_seed_same_verdict_and_order_of_works_doesnt_matter_to_the_point_estimates() -> None:
    rounds = [noisy(n, 0.1) for n in range(1, 8)]
    assert strict(rounds) == strict(rounds)
    turned = np.random.default_rng(3).permutation(N)
    moved = [HoldOutRound(r.number, r.scores[turned], r.called[turned], r.panel) for r in rounds]
    found = training_rounds(HoldOut(LABELS[turned], WEIGHTS[turned]), moved)
    for one, other in zip(training_rounds(HOLDOUT, rounds), found, strict=True):
        assert one.average_precision == pytest.approx(other.average_precision, rel=1e-12)


def test_whole_groups_are_resampled() -> None:
    """Ten copies of a work are no more evidence than one: taken for ten works, the interval would be
    sqrt(10) = 3.2 times too narrow."""
    copies = np.repeat(np.arange(0, N, 10), 10)
    rounds = [
        HoldOutRound(r.number, r.scores[copies], r.called[copies])
        for r in (noisy(n, 0.05) for n in range(1, 8))
    ]

    def width(groups: np.ndarray) -> float:
        holdout = HoldOut(LABELS[copies], np.ones(N), groups)
        sentence = strict_gate(holdout, rounds, seed=1, replicates=1000).conditions[2].sentence
        low, high = sentence.split("interval ")[1].split(" in round")[0].split(" to ")
        return float(high) - float(low)

    assert width(copies) / width(np.arange(N)) == pytest.approx(10**0.5, rel=0.25)


@pytest.mark.parametrize(
    ("holdout", "said"),
    [
        (HoldOut(np.full(N, np.nan)), "labels are 1 or 0"),
        (HoldOut(LABELS, -WEIGHTS), "finite weights above 0"),
        (HoldOut(LABELS, WEIGHTS[:-1]), "finite weights above 0"),
        (HoldOut(LABELS, WEIGHTS, np.arange(3)), "3 groups"),
        (HoldOut(LABELS[:5], WEIGHTS[:5]), "expected 5 finite scores"),
    ],
)
def test_what_is_no_holdout(holdout: HoldOut, said: str) -> None:
    with pytest.raises(ClassifierError, match=said):
        strict([noisy(n, 0.1) for n in range(1, 8)], holdout)


def test_without_positives_nothing_is_known() -> None:
    verdict = strict([noisy(n, 0.1) for n in range(1, 8)], HoldOut(np.zeros(N)))
    assert (states(verdict), verdict.maturity) == ([None, None, None], "unknown")


def test_one_group_is_no_evidence_that_nothing_changes() -> None:
    """Whole groups are drawn, so every draw of one group is the sample itself: intervals of no width, which
    would lie inside any limits."""
    settled = [noisy(n, 0.0) for n in range(1, 8)]
    verdict = strict(settled, HoldOut(LABELS, WEIGHTS, np.zeros(N)))
    assert (states(verdict), verdict.maturity) == ([None, None, None], "unknown")
    assert "all 1500 works of the hold-out are one group" in verdict.conditions[0].sentence


def test_a_condition_needs_enough_resamples_of_every_round() -> None:
    """Churn of a round that calls one work is unknown wherever that work isn't drawn, in about (1 - 1/N)^N =
    37 % of resamples; the other rounds, known in all, must not thin that out."""
    rounds = [noisy(n, 0.0) for n in range(1, 8)]
    one = np.zeros(N, bool)
    one[0] = True
    rounds[-2:] = [HoldOutRound(r.number, r.scores, one, r.panel) for r in rounds[-2:]]
    condition = strict(rounds).conditions[1]
    assert condition.passed is None
    assert 30 < int(condition.sentence.split(" in ")[1].split(" %")[0]) < 44
