"""The stratified estimator: published figures, all samples of a small frame, unknown records, refusals."""

import csv
import json
from collections.abc import Callable
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from classifiers.errors import ClassifierError
from classifiers.prevalence import (
    StratumCounts,
    counts_from_ratings,
    domain_moments,
    nonresponse_moments,
    prevalence,
    prevalence_by_rater,
)

FRAME = {
    "aff_core": 2238095, "about_only": 664248, "venue_new": 402637, "french": 233170, "fund_new": 167890
}  # fmt: skip
SAMPLED = {"aff_core": 400, "about_only": 200, "venue_new": 150, "french": 150, "fund_new": 100}


@pytest.mark.parametrize(
    ("rater", "printed"),
    [
        ("opus", ["0.03541", "0.00592", "0.0255", "0.0490"]),
        ("gpt", ["0.02512", "0.00494", "0.0171", "0.0369"]),
        ("grok", ["0.01895", "0.00424", "0.0122", "0.0293"]),
    ],
)
def test_published_dossier(shared: Path, rater: str, printed: list[str]) -> None:
    # MétaCan's n = 1000 round: in scope is T1 or T2; works that the dossier doesn't list are out.
    with open(shared / "data" / "metacan" / "dossier_n1000.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    values: list[list[bool | None]] = [
        [row[r] in ("T1", "T2") for r in ("opus", "gpt", "grok")] for row in rows
    ]
    strata = [row["stratum"] for row in rows]
    for name, n in SAMPLED.items():
        out = n - strata.count(name)
        values += [[False] * 3] * out
        strata += [name] * out
    reports = prevalence_by_rater(counts_from_ratings(values, ["opus", "gpt", "grok"], strata, FRAME))
    found = {r.rater: r.overall for r in reports}[rater]
    logit = found.logit
    assert (found.frame, found.sampled, found.df) == (3706040, 1000, 995)
    assert printed == [f"{found.estimate:.5f}", f"{found.se:.5f}", f"{logit.low:.4f}", f"{logit.high:.4f}"]


def test_totals_over_strata_determine_no_rate() -> None:
    # 224 positives of 5,600 are published with a weighted rate of 3.81 %, but not their strata. The same
    # 224 in one stratum or another weigh from 1.6 % to 5.9 %, so no total gives the rate.
    frame = {"aff_core": (2238095, 2000), "french": (233170, 750), "rest": (1784145, 2850)}
    rates = []
    for holder in ("french", "aff_core"):
        counts = [StratumCounts(s, N, n, 224 if s == holder else 0) for s, (N, n) in frame.items()]
        assert sum(c.positive for c in counts) == 224
        rates.append(prevalence(counts).overall.estimate)
    assert rates == pytest.approx([233170 / 4255410 * 224 / 750, 2238095 / 4255410 * 224 / 2000])
    assert rates[0] < 0.0381 < rates[1]


def test_unbiased_over_all_samples_of_a_small_frame() -> None:
    # Every one of C(5,3) C(4,2) samples is equally likely, so the mean estimate is the truth, and the mean
    # estimated variance is the variance of the estimates, exactly (Cochran 1977, theorems 5.1 and 5.5).
    population = [[1, 0, 0, 1, 1], [0, 0, 1, 0]]
    estimates, variances = [], []
    for first, second in product(combinations(population[0], 3), combinations(population[1], 2)):
        moments = nonresponse_moments([5, 4], [3, 2], [sum(first), sum(second)])
        estimates.append(float(moments.estimate))
        variances.append(float(moments.variance))
    assert len(estimates) == 60
    assert np.mean(estimates) == pytest.approx(4 / 9, abs=1e-12)
    assert np.mean(variances) == pytest.approx(np.var(estimates), abs=1e-12)


def test_a_worked_stratum() -> None:
    # N = 100, n = 11, 4 positive: p = 4/11, Var = (1 - .11) (4/11)(7/11)/10; df 10; Kish's n is 11.
    found = prevalence([StratumCounts("all", 100, 11, 4)]).overall
    assert found.estimate == 4 / 11
    assert found.se == pytest.approx(np.sqrt(0.89 * 4 * 7 / 1210))
    assert (found.df, found.effective_n, found.raw_share) == (10, pytest.approx(11), 4 / 11)
    half = 1.959963984540054 * found.se
    assert (found.wald.low, found.wald.high) == pytest.approx((4 / 11 - half, 4 / 11 + half))
    assert not found.wald.truncated


def test_kish_by_hand() -> None:
    # Weights 10 (20 records) and 5 (40 records): (200 + 200)^2 / (20 * 100 + 40 * 25) = 160000 / 3000.
    counts = [StratumCounts("a", 200, 20, 5), StratumCounts("b", 200, 40, 5)]
    assert prevalence(counts).overall.effective_n == pytest.approx(160000 / 3000)


def test_each_stratum_is_reported_by_itself() -> None:
    counts = [StratumCounts("a", 200, 20, 5), StratumCounts("b", 300, 40, 5)]
    report = prevalence(counts)
    assert [p.stratum for p in report.strata] == ["a", "b"]
    assert report.overall.stratum is None
    for own, expected in zip(report.strata, counts, strict=True):
        alone = prevalence([expected]).overall
        assert (own.estimate, own.se, own.korn_graubard) == (alone.estimate, alone.se, alone.korn_graubard)
    # With equal rates everywhere, the strata's variances add up by their squared shares.
    assert report.overall.se**2 == pytest.approx(
        0.4**2 * report.strata[0].se ** 2 + 0.6**2 * report.strata[1].se ** 2
    )


def test_a_stratum_taken_whole_adds_no_variance() -> None:
    whole = [StratumCounts("sampled", 900, 30, 10), StratumCounts("whole", 100, 100, 90)]
    found = prevalence(whole).overall
    assert found.estimate == pytest.approx(0.9 / 3 + 0.1 * 0.9)
    assert found.se == pytest.approx(0.9 * prevalence(whole[:1]).overall.se)
    assert found.df == 29
    assert found.notes == ("taken whole, so without sampling error: whole",)


def test_a_census_has_one_value() -> None:
    found = prevalence([StratumCounts("a", 40, 40, 4), StratumCounts("b", 1, 1, 1)]).overall
    assert (found.estimate, found.se) == (5 / 41, 0)
    for interval in (found.wald, found.logit, found.korn_graubard):
        assert (interval.low, interval.high) == (5 / 41, 5 / 41)
        assert interval.reason == "the frame was taken whole"


def test_a_stratum_of_one_record_takes_the_overall_variance() -> None:
    counts = [StratumCounts("a", 90, 30, 12), StratumCounts("one", 10, 1, 1)]
    found = prevalence(counts).overall
    p = 0.9 * 0.4 + 0.1
    variance = 0.9**2 * (1 - 1 / 3) * 0.4 * 0.6 / 29 + 0.1**2 * (1 - 1 / 10) * p * (1 - p)
    assert (found.estimate, found.se) == pytest.approx((p, np.sqrt(variance)))
    assert found.df == 29
    assert found.notes == ("one record each, whose variance is taken from the overall estimate: one",)


def test_no_positive_is_not_certainty() -> None:
    found = prevalence([StratumCounts("a", 1000, 50, 0), StratumCounts("b", 1000, 50, 0)]).overall
    assert (found.estimate, found.se, found.wald.low, found.logit.low) == (0, None, None, None)
    assert "says nothing of the uncertainty" in found.wald.reason
    assert found.logit.reason == "the logit of 0 is not finite; the Korn-Graubard interval is"
    assert found.korn_graubard.low == 0
    assert 0.03 < found.korn_graubard.high < 0.04  # rule of three for 97.5 %: 3.7 / 100


def test_all_of_one_stratum_and_none_of_the_other_is_not_certainty() -> None:
    for unknown_as in ("nonresponse", "domain"):
        counts = [StratumCounts("a", 700, 7, 7), StratumCounts("b", 1100, 11, 0)]
        found = prevalence(counts, unknown_as=unknown_as).overall
        assert (found.se, found.wald.low, found.logit.low) == (None, None, None)
        assert found.korn_graubard.high - found.korn_graubard.low > 0.3


def test_a_wald_end_outside_is_cut_and_said() -> None:
    found = prevalence([StratumCounts("a", 10000, 50, 1)]).overall
    assert (found.wald.low, found.wald.truncated) == (0, True)


def test_unknown_records_are_never_negatives() -> None:
    known = prevalence([StratumCounts("a", 1000, 40, 10)]).overall
    more = prevalence([StratumCounts("a", 1000, 50, 10, unknown=10)]).overall
    assert (more.estimate, more.se, more.korn_graubard) == (known.estimate, known.se, known.korn_graubard)
    assert (more.sampled, more.usable, more.unknown, more.positive) == (50, 40, 10, 10)
    # All ten negative, all ten positive.
    assert (more.bounds.low, more.bounds.high) == (0.2, 0.4)
    assert (
        more.bounds.interval_low == prevalence([StratumCounts("a", 1000, 50, 10)]).overall.korn_graubard.low
    )
    assert (
        more.bounds.interval_high == prevalence([StratumCounts("a", 1000, 50, 20)]).overall.korn_graubard.high
    )
    assert known.bounds is None


def test_nonresponse_and_domain_are_two_questions() -> None:
    # Of the frame: 1/2 of a's usable and 0 of b's. Of what can be judged: a has 500, b 100 such records.
    counts = [StratumCounts("a", 500, 50, 25), StratumCounts("b", 500, 50, 0, unknown=40)]
    of_frame = prevalence(counts).overall
    of_usable = prevalence(counts, unknown_as="domain").overall
    assert of_frame.estimate == 0.25
    assert of_usable.estimate == pytest.approx(250 / 600)
    assert of_frame.bounds == of_usable.bounds
    assert (of_frame.bounds.low, of_frame.bounds.high) == pytest.approx((0.25, 0.65))


def test_without_unknown_records_both_are_one() -> None:
    frame, n, x = [500, 80, 9], [50, 40, 9], [[20, 3, 1], [0, 0, 9], [17, 39, 0]]
    one, other = nonresponse_moments(frame, n, x), domain_moments(frame, n, n, x)
    for what in ("estimate", "variance", "df", "n", "kish"):
        assert getattr(one, what) == pytest.approx(getattr(other, what), rel=1e-9, abs=1e-18)


def test_a_domain_record_by_record() -> None:
    # Cochran's residuals written out: z = usable (positive - p), each record with its weight N_h / n_h.
    counts = [StratumCounts("a", 60, 6, 3, unknown=2), StratumCounts("b", 40, 5, 1, unknown=1)]
    positive = [np.array([1, 1, 1, 0, 0, 0]), np.array([1, 0, 0, 0, 0])]
    usable = [np.array([1, 1, 1, 1, 0, 0]), np.array([1, 1, 1, 1, 0])]
    size = 10 * 4 + 8 * 4
    p = (10 * 3 + 8 * 1) / size
    variance = 0.0
    for N, n, x, u in zip((60, 40), (6, 5), positive, usable, strict=True):
        variance += N**2 * (1 - n / N) * np.var(u * (x - p), ddof=1) / n / size**2
    found = prevalence(counts, unknown_as="domain").overall
    assert (found.estimate, found.se) == pytest.approx((p, np.sqrt(variance)))
    assert found.effective_n == pytest.approx(size**2 / (4 * 10**2 + 4 * 8**2))
    assert found.df == 9


def test_a_domain_with_a_stratum_of_one_record() -> None:
    # In its place stands the mean square of z over the frame: p (1 - p) times the usable share.
    counts = [StratumCounts("a", 60, 6, 3, unknown=2), StratumCounts("one", 40, 1, 1)]
    size = 10 * 4 + 40
    p = (10 * 3 + 40) / size
    z = np.array([1 - p] * 3 + [-p] + [0] * 2)
    variance = 60**2 * 0.9 * np.var(z, ddof=1) / 6 + 40**2 * (1 - 1 / 40) * p * (1 - p) * size / 100
    found = prevalence(counts, unknown_as="domain").overall
    assert (found.estimate, found.se) == pytest.approx((p, np.sqrt(variance) / size))


def test_domain_variance_is_that_of_repeated_samples() -> None:
    # Three kinds of records in two strata; 20,000 samples. A ratio's linearised variance is right up to
    # O(1/n), here about 1 %, and a variance from B samples is known to sqrt(2 / B) = 1 %: 5 % is ample.
    rng = np.random.default_rng(12)
    frame, n = np.array([4000, 2000]), np.array([200, 150])
    kinds = np.array([[400, 3000, 600], [700, 700, 600]])  # positive, negative, unusable
    drawn = np.stack([rng.multivariate_hypergeometric(kinds[h], n[h], size=20000) for h in range(2)], axis=1)
    moments = domain_moments(frame, n, drawn[..., 0] + drawn[..., 1], drawn[..., 0])
    assert moments.estimate.mean() == pytest.approx(1100 / 4800, abs=0.002)
    assert moments.variance.mean() == pytest.approx(moments.estimate.var(), rel=0.05)


def test_a_stratum_of_unknown_records_leaves_the_frame_unknown() -> None:
    counts = [StratumCounts("a", 500, 50, 25), StratumCounts("b", 100, 10, 0, unknown=10)]
    report = prevalence(counts)
    found = report.overall
    assert (found.estimate, found.se, found.df, found.effective_n) == (None, None, None, None)
    assert found.undefined == "no usable record in b, so nothing is known of that part of the frame"
    assert found.wald.reason == found.undefined
    # The bounds stand all the same, and so does the other stratum.
    assert (found.bounds.low, found.bounds.high) == pytest.approx((250 / 600, 350 / 600))
    assert report.strata[0].estimate == 0.5
    assert prevalence(counts, unknown_as="domain").overall.estimate == 0.5


def test_a_stratum_without_a_record_leaves_the_frame_unknown() -> None:
    found = prevalence([StratumCounts("a", 500, 50, 25), StratumCounts("b", 100, 0, 0)]).overall
    assert (found.estimate, found.bounds) == (None, None)
    unseen = [StratumCounts("a", 500, 50, 25, unknown=5), StratumCounts("b", 100, 0, 0)]
    assert prevalence(unseen).overall.bounds is None
    domain = prevalence([StratumCounts("a", 500, 50, 25), StratumCounts("b", 100, 0, 0)], unknown_as="domain")
    assert domain.overall.undefined == "no sampled record in b, so nothing is known of that part of the frame"


def test_nothing_usable_at_all() -> None:
    counts = [StratumCounts("a", 500, 5, 0, unknown=5)]
    assert prevalence(counts, unknown_as="domain").overall.undefined == "no sampled record is usable"
    assert prevalence(counts).overall.raw_share is None


def test_the_report_is_plain_json() -> None:
    counts = [StratumCounts("a", 500, 5, 0, unknown=5), StratumCounts("b", 9, 1, 1)]
    plain = json.loads(json.dumps(prevalence(counts, rater="x").to_dict(), allow_nan=False))
    assert (plain["rater"], plain["overall"]["estimate"], plain["overall"]["unknown"]) == ("x", None, 5)
    assert [s["stratum"] for s in plain["strata"]] == ["a", "b"]


def test_counts_by_rater() -> None:
    found = counts_from_ratings(
        [[True, None], [False, True], [True, True]], ["x", "y"], ["a", "a", "b"], {"b": 5, "a": 9, "c": 2}
    )
    assert found["x"] == (
        StratumCounts("b", 5, 1, 1), StratumCounts("a", 9, 2, 1), StratumCounts("c", 2, 0, 0)
    )  # fmt: skip
    assert found["y"][1] == StratumCounts("a", 9, 2, 1, unknown=1)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: StratumCounts("s", 10, 11, 0), "stratum s: 11 records sampled of the 10 in its frame"),
        (lambda: StratumCounts("s", 10, 5, 4, 2), "s: 4 positive and 2 unknown records among 5 sampled"),
        (lambda: StratumCounts("s", 0, 0, 0), "stratum s: there is no record in its frame"),
        (lambda: StratumCounts("s", 10, 5, -1), "stratum s: positive is -1, expected a whole number"),
        (lambda: StratumCounts("s", 10, 5, 0.5), "stratum s: positive is 0.5, expected a whole number"),
        (lambda: prevalence([]), "there is no stratum"),
        (lambda: prevalence([StratumCounts("s", 9, 5, 1)] * 2), "stratum 's' is there twice"),
        (lambda: prevalence([StratumCounts("s", 9, 5, 1)], level=0), "the level is 0"),
        (lambda: prevalence([StratumCounts("s", 9, 5, 1)], unknown_as="no"), "unknown_as is 'no'"),
        (
            lambda: counts_from_ratings([[1]], ["x"], ["a"], {"a": 3}),
            "record 1: rater x says 1, expected True",
        ),
        (lambda: counts_from_ratings([[True]], ["x"], ["z"], {"a": 3}), "record 1 is of stratum 'z'"),
        (lambda: counts_from_ratings([[True]], ["x", "y"], ["a"], {"a": 3}), "record 1 has 1 ratings"),
        (lambda: counts_from_ratings([[True]], ["x"], [], {"a": 3}), "there are 0 strata for 1 records"),
        (lambda: counts_from_ratings([[True]] * 4, ["x"], ["a"] * 4, {"a": 3}), "4 records sampled of the 3"),
        (lambda: counts_from_ratings([], ["x", "x"], [], {"a": 3}), "expected one or more, each once"),
    ],
)
def test_refusals(make: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(ClassifierError, match=sentence) as refused:
        make()
    assert not str(refused.value).endswith(".")
