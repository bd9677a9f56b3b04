"""Coefficients of agreement against published figures and other implementations."""

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, jaccard_score
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa

from classifiers.agreement import (
    AC1,
    ALPHA,
    COHEN,
    FLEISS,
    JACCARD,
    PABAK,
    PERCENT,
    AgreementTable,
    agreement,
    ratings_from_matrix,
    ratings_from_pair,
    ratings_from_positive_counts,
)

FEW = 100  # replicates, where a test doesn't look at the interval


def values(table: AgreementTable) -> dict[str, float | None]:
    return {c.name: c.value for c in table.coefficients}


def panel(matrix: list[list[bool | None]], **options: object) -> AgreementTable:
    raters = [f"r{i}" for i in range(len(matrix[0]))]
    return agreement(ratings_from_matrix(matrix, raters, **options), seed=1, replicates=FEW).table()


def random_matrix(seed: int, n: int, raters: int, missing: float) -> list[list[bool | None]]:
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.3
    given = np.where(rng.random((n, raters)) < 0.2, ~truth[:, None], truth[:, None]).astype(object)
    given[rng.random((n, raters)) < missing] = None
    return [[None if v is None else bool(v) for v in row] for row in given]


@pytest.mark.parametrize(
    ("counts", "printed"),
    [
        # MétaCan, two screeners: kappa and raw agreement as published, AC1 and PABAK from the counts.
        ((1290, 58, 88, 51), {COHEN: "0.68136", AC1: "0.96181", PABAK: "0.93178", PERCENT: "0.966"}),
        # MétaCan, Codex and Gemma, metaresearch and any category: Jaccard as published.
        ((10348, 1300, 1454, 937), {JACCARD: "0.51569", COHEN: "0.6316", AC1: "0.8895", PABAK: "0.8299"}),
        ((10348, 2723, 3012, 2371), {JACCARD: "0.70482", COHEN: "0.7607", AC1: "0.8399"}),
    ],
)
def test_published_pairs(counts: tuple[int, int, int, int], printed: dict[str, str]) -> None:
    found = values(agreement(ratings_from_pair(*counts), seed=1, replicates=FEW).table())
    got = {name: f"{found[name]:.{len(text) - 2}f}" for name, text in printed.items()}
    assert printed == got


def test_published_panel_of_three() -> None:
    # MétaCan, 5,600 works, three models: 274 with any, 104 with all three, 53 with two, 117 with one.
    ratings = ratings_from_positive_counts({0: 5600 - 274, 1: 117, 2: 53, 3: 104}, raters=3)
    table = agreement(ratings, seed=1, replicates=FEW).table()
    assert f"{values(table)[FLEISS]:.4f}" == "0.6718"
    assert table.counts.by_positives == ((3, 0, 5326), (3, 1, 117), (3, 2, 53), (3, 3, 104))
    # Who gave them isn't published, so nothing is said by rater.
    assert (table.raters, table.counts.positives, table.counts.usable) == (None, None, None)
    assert values(table)[JACCARD] == 104 / 274


GWET = ["1.11", "2232", "3333", "3333", "2222", "1234", "4444", "1121", "2222", ".555", "..11", "..3."]


def test_four_raters_with_missing_ratings() -> None:
    # Krippendorff's 12 units, in Gwet (2014) and as `cac.raw4raters` in the documentation of irrCAC.
    matrix = [[None if v == "." else v for v in row] for row in GWET]
    table = panel(matrix, categories="12345", positive=None)
    printed = {PERCENT: "0.81818", AC1: "0.77544", FLEISS: "0.76117", ALPHA: "0.74342", PABAK: "0.77273"}
    assert printed == {name: f"{value:.5f}" for name, value in values(table).items()}
    errors = {name: f"{table[name].standard_error.value:.5f}" for name in (AC1, FLEISS)}
    assert errors == {AC1: "0.14295", FLEISS: "0.15302"}
    assert (table.counts.items, table.counts.compared, table.counts.one_rating) == (12, 11, 1)


def test_a_pair_against_statsmodels_and_scikit_learn() -> None:
    matrix = random_matrix(3, 400, 2, 0)
    first, second = (np.array(column, dtype=bool) for column in zip(*matrix, strict=True))
    table = panel(matrix)
    crosstab = np.array(table.counts.crosstab)
    other = cohens_kappa(crosstab)
    assert crosstab.sum() == 400
    assert values(table)[COHEN] == pytest.approx(cohen_kappa_score(first, second), abs=1e-12)
    assert table[COHEN].standard_error.value == pytest.approx(other.std_kappa, rel=1e-9)
    assert values(table)[JACCARD] == pytest.approx(jaccard_score(first, second), abs=1e-12)
    assert table.counts.positives == (first.sum(), second.sum())


@pytest.mark.parametrize("raters", [2, 3, 5])
def test_fleiss_and_alpha_against_statsmodels_and_krippendorff(raters: int) -> None:
    matrix = random_matrix(raters, 300, raters, 0)
    counts, _ = aggregate_raters(np.array(matrix, dtype=int))
    found = values(panel(matrix))
    assert found[FLEISS] == pytest.approx(fleiss_kappa(counts), abs=1e-12)
    data = np.array(matrix, dtype=float).T
    assert found[ALPHA] == pytest.approx(krippendorff.alpha(data, level_of_measurement="nominal"), abs=1e-12)


def test_alpha_with_missing_ratings_against_krippendorff() -> None:
    matrix = random_matrix(8, 300, 4, 0.4)
    data = np.array([[np.nan if v is None else float(v) for v in row] for row in matrix]).T
    expected = krippendorff.alpha(data, level_of_measurement="nominal")
    assert values(panel(matrix))[ALPHA] == pytest.approx(expected, abs=1e-12)


def test_three_categories_against_scikit_learn() -> None:
    rng = np.random.default_rng(4)
    first = rng.integers(0, 3, 200)
    second = np.where(rng.random(200) < 0.6, first, rng.integers(0, 3, 200))
    matrix = [["abc"[i], "abc"[j]] for i, j in zip(first, second, strict=True)]
    table = panel(matrix, categories="abc", positive="b")
    assert values(table)[COHEN] == pytest.approx(cohen_kappa_score(first, second), abs=1e-12)
    assert values(table)[JACCARD] == pytest.approx(jaccard_score(first == 1, second == 1), abs=1e-12)
    # Brennan and Prediger: chance is 1/3.
    percent = np.mean(first == second)
    assert values(table)[PABAK] == pytest.approx((percent - 1 / 3) / (2 / 3), abs=1e-12)


def test_varying_raters_by_hand() -> None:
    # Items: ++ (2 of 2), +-- (1 of 3), -- (0 of 2), + alone. Agreement 1, 1/3, 1 of the three compared.
    # Shares of + by item: 1, 1/3, 0, 1; pi = 7/12, so chance is (7/12)^2 + (5/12)^2 = 74/144 for Fleiss
    # and 2 (7/12)(5/12) = 70/144 for AC1.
    table = panel([[True, True, None], [True, False, False], [None, False, False], [None, True, None]])
    found = values(table)
    assert found[PERCENT] == pytest.approx(7 / 9, abs=1e-12)
    assert found[FLEISS] == pytest.approx((7 / 9 - 74 / 144) / (70 / 144), abs=1e-12)
    assert found[AC1] == pytest.approx((7 / 9 - 70 / 144) / (74 / 144), abs=1e-12)
    assert found[PABAK] == pytest.approx(2 * 7 / 9 - 1, abs=1e-12)
    # One item only has everyone's rating: some positive, not all.
    assert found[JACCARD] == 0


@pytest.mark.parametrize("name", [FLEISS, AC1, PERCENT, PABAK])
@pytest.mark.parametrize("raters", [2, 4])
def test_standard_errors_against_the_jackknife(name: str, raters: int) -> None:
    # Delete-one jackknife (Efron 1982): asymptotically the same; at n = 300 they differ by O(1/n).
    matrix = random_matrix(raters, 300, raters, 0)
    table = panel(matrix)
    without: dict[tuple[bool | None, ...], float] = {}
    for i, row in enumerate(matrix):
        if tuple(row) not in without:
            without[tuple(row)] = values(panel(matrix[:i] + matrix[i + 1 :]))[name]
    left_out = np.array([without[tuple(row)] for row in matrix])
    jackknife = np.sqrt(299 / 300 * ((left_out - left_out.mean()) ** 2).sum())
    assert table[name].standard_error.value == pytest.approx(jackknife, rel=0.02)


def test_unusable_ratings_are_never_negatives() -> None:
    matrix = random_matrix(5, 100, 2, 0)
    more: list[list[bool | None]] = [[None, None], [True, None], [None, True], [None, False]]
    before, after = panel(matrix), panel(matrix + more)
    assert values(before) == pytest.approx(values(after), abs=1e-12)
    assert before.counts.crosstab == after.counts.crosstab
    assert (after.counts.items, after.counts.compared) == (104, 100)
    assert (after.counts.one_rating, after.counts.no_rating) == (3, 1)


def test_a_rater_who_never_gave_a_usable_rating() -> None:
    matrix: list[list[bool | None]] = [[True, False, None], [False, False, None], [True, True, None]]
    report = agreement(ratings_from_matrix(matrix, ["a", "b", "c"]), seed=1, replicates=FEW)
    assert {c.undefined for c in report.table("a", "c").coefficients} == {
        "no item has two usable ratings",
        "no item has a usable rating by every rater",
    }
    assert all(c.value is None and c.interval is None for c in report.table("a", "c").coefficients)
    assert report.table()[PERCENT].value == 2 / 3
    assert report.table().counts.usable == (3, 3, 0)


def test_one_category_in_use_is_undefined_and_says_so() -> None:
    table = panel([[False, False]] * 10)
    for name in (COHEN, FLEISS, ALPHA):
        assert table[name].value is None
        assert "every usable rating is False" in table[name].undefined
    assert table[JACCARD].undefined == "no item is positive for any rater, so there are no sets to compare"
    # Percent agreement, AC1 and PABAK have a value, but nothing measures its uncertainty.
    for name in (PERCENT, AC1, PABAK):
        assert table[name].value == 1
        assert table[name].standard_error.value is None
        assert table[name].interval.low is None
        assert "every replicate has the same value" in table[name].interval.reason


def test_a_single_compared_item() -> None:
    table = panel([[True, False]])
    assert table[PERCENT].value == 0
    assert table[PERCENT].standard_error.source == "one compared item has no standard error"


def test_order_of_raters_and_items_does_not_matter() -> None:
    matrix = random_matrix(6, 150, 3, 0.2)
    turned = [row[::-1] for row in matrix][::-1]
    assert values(panel(matrix)) == pytest.approx(values(panel(turned)), abs=1e-12)


# Chance below certainty is all that bounds Fleiss' kappa and alpha: in a handful of ratings, agreement can
# lie far below it.
LEAST = {PERCENT: 0, COHEN: -1, FLEISS: -np.inf, ALPHA: -np.inf, AC1: -1, PABAK: -1, JACCARD: 0}
ITEM = st.lists(st.sampled_from([True, False, None]), min_size=3, max_size=3)


@given(st.lists(ITEM, min_size=1, max_size=12))
def test_every_coefficient_has_a_value_in_range_or_a_reason(matrix: list[list[bool | None]]) -> None:
    report = agreement(ratings_from_matrix(matrix, ["a", "b", "c"]), seed=0, replicates=FEW)
    assert len(report.tables) == 4
    for table in report.tables:
        assert table.counts.items == len(matrix)
        for c in table.coefficients:
            assert (c.value is None) == (c.undefined is not None)
            if c.value is not None:
                assert LEAST[c.name] - 1e-12 <= c.value <= 1 + 1e-12


def test_weights_count_like_repeated_items() -> None:
    matrix = random_matrix(9, 60, 3, 0.2)
    weights = [1.0 + i % 3 for i in range(60)]
    repeated = [row for row, w in zip(matrix, weights, strict=True) for _ in range(int(w))]
    raters = ["a", "b", "c"]
    ratings = ratings_from_matrix(matrix, raters, weights=weights)
    report = agreement(ratings, seed=1, replicates=FEW)
    expected = agreement(ratings_from_matrix(repeated, raters), seed=1, replicates=FEW)
    for names in ((), ("a", "b"), ("a", "c"), ("b", "c")):
        found, other = values(report.table(*names, weighting="design")), values(expected.table(*names))
        found.pop(ALPHA), other.pop(ALPHA)  # its small-sample correction knows the number of items
        assert found == pytest.approx(other, abs=1e-12)
        assert report.table(*names, weighting="design").weighted_counts == expected.table(*names).counts
        assert report.table(*names).counts == report.table(*names, weighting="design").counts
        # No published formula knows a design.
        assert all(
            c.standard_error.value is None for c in report.table(*names, weighting="design").coefficients
        )


def test_strata_are_tables_of_their_own() -> None:
    matrix = random_matrix(10, 90, 2, 0.1)
    strata = ["south" if i % 3 else "north" for i in range(90)]
    ratings = ratings_from_matrix(matrix, ["a", "b"], strata=strata, weights=[2.0] * 90)
    report = agreement(ratings, seed=1, replicates=FEW)
    assert report.strata == ("north", "south")
    for name in report.strata:
        own = [row for row, s in zip(matrix, strata, strict=True) if s == name]
        assert values(report.table(stratum=name)) == pytest.approx(values(panel(own)), abs=1e-12)
        # Within a stratum of one weight, weighting changes nothing.
        assert values(report.table(stratum=name, weighting="design")) == pytest.approx(values(panel(own)))
    assert values(report.table()) == pytest.approx(values(panel(matrix)), abs=1e-12)
