"""Ratings and counts that can't be: one sentence each, which names the item and what was expected."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from classifiers.agreement import (
    Ratings,
    agreement,
    ratings_from_matrix,
    ratings_from_pair,
    ratings_from_positive_counts,
)
from classifiers.errors import ClassifierError

AB = ["a", "b"]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: ratings_from_matrix([], AB), "there are no items"),
        (lambda: ratings_from_matrix([[True]], ["a"]), "there is 1 rater; agreement needs two or more"),
        (lambda: ratings_from_matrix([[True, True]], ["a", "a"]), "rater 'a' is there twice"),
        (lambda: ratings_from_matrix([[True]], AB), "item 1 has 1 ratings, expected 2"),
        (
            lambda: ratings_from_matrix([[True, False], [True, "maybe"]], AB, ids=["W1", "W2"]),
            "item W2: rater b says 'maybe', expected one of False, True, or None for an unusable rating",
        ),
        (lambda: ratings_from_matrix([[float("nan"), True]], AB), "item 1: rater a says nan"),
        (lambda: ratings_from_matrix([[[], True]], AB), r"item 1: rater a says \[\]"),
        (lambda: ratings_from_matrix([[True, -1]], AB), "item 1: rater b says -1"),
        (lambda: ratings_from_matrix([["x", "x"]], AB, categories=["x"]), "expected two or more, each once"),
        (lambda: ratings_from_matrix([["x", "x"]], AB, categories=["x", None]), "None marks an unusable"),
        (lambda: ratings_from_matrix([["x", "x"]], AB, categories="xy"), "True is not among"),
        (lambda: ratings_from_matrix([[True, True]], AB, weights=[0.0]), "item 1 has the weight 0.0"),
        (lambda: ratings_from_matrix([[True, True]], AB, weights=[float("nan")]), "has the weight nan"),
        (lambda: ratings_from_matrix([[True, True]], AB, weights=["x"]), "a weight is not a number"),
        (lambda: ratings_from_matrix([[True, True]], AB, weights=[1, 2]), "there are 2 weights for 1 items"),
        (lambda: ratings_from_matrix([[True, True]], AB, strata=[""]), "item 1 has the stratum ''"),
        (lambda: ratings_from_pair(10, 5, 4, 6), "both is 6, more than the 4 positives of one rater"),
        (lambda: ratings_from_pair(10, 8, 8, 1), "15 items with a positive, more than n = 10"),
        (lambda: ratings_from_pair(10, -1, 8, 1), "A is -1, expected a whole number of 0 or more"),
        (lambda: ratings_from_pair(0, 0, 0, 0), "the counts add up to no item"),
        (lambda: ratings_from_positive_counts({4: 1}, 3), "4 positives from 3 raters can't be"),
        (lambda: ratings_from_positive_counts({0: 1.5}, 3), "the count of items with 0 positives is 1.5"),
        (lambda: ratings_from_positive_counts({0: 3}, 1), "there is 1 rater"),
        (lambda: ratings_from_positive_counts({}, 3), "the counts add up to no item"),
        (lambda: agreement(ratings_from_pair(9, 3, 3, 3), seed=1, replicates=10), "10 bootstrap replicates"),
        (lambda: agreement(ratings_from_pair(9, 3, 3, 3), seed=1, level=95), "the level is 95"),
    ],
)
def test_refusals(make: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(ClassifierError, match=sentence) as refused:
        make()
    assert not str(refused.value).endswith(".")


def test_published_counts_are_the_matrix_that_they_describe() -> None:
    matrix: list[list[bool | None]] = [[True, True]] * 3 + [[True, False]] * 2 + [[False, True]]
    matrix += [[False, False]] * 4 + [[None, None]] * 2
    counted = agreement(ratings_from_pair(10, 5, 4, 3, unusable=2), seed=7, replicates=100)
    listed = agreement(ratings_from_matrix(matrix, ["A", "B"]), seed=7, replicates=100)
    assert listed.to_dict() == counted.to_dict()


def test_the_report_is_plain_json() -> None:
    ratings: Ratings = ratings_from_matrix(
        [[True, None], [None, None], [True, True]], AB, weights=[1, 2, 3], strata=["x", "x", "y"]
    )
    report = agreement(ratings, seed=1, replicates=100)
    plain = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert len(plain["tables"]) == 6
    assert plain["seed"] == 1
    assert plain["notes"][0] == "strata of one item add nothing to the bootstrap's spread: y"
