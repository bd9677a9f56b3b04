"""Groups stay together, every row stands once, and positives are spread."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from classifiers.errors import ClassifierError
from classifiers.features import Document
from classifiers.folds import grouped_folds, venue_groups

ROWS = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from([0.0, 1.0, np.nan])), min_size=4)


@given(ROWS, st.integers(2, 5), st.integers(0, 9))
def test_groups_never_cross_folds_and_every_row_has_one(rows, folds, seed):
    groups, labels = zip(*rows, strict=True)
    assume(len(set(groups)) >= folds)
    fold = grouped_folds(groups, labels, folds, seed)
    assert fold.shape == (len(rows),)
    assert all(
        len({int(f) for f, g in zip(fold, groups, strict=True) if g == group}) == 1 for group in groups
    )
    assert sorted(set(fold.tolist())) == list(range(folds))


@given(ROWS, st.randoms(use_true_random=False), st.integers(2, 4))
def test_the_order_of_the_rows_says_nothing(rows, random, folds):
    assume(len({g for g, _ in rows}) >= folds)
    shuffled = list(rows)
    random.shuffle(shuffled)

    def of_groups(some):
        fold = grouped_folds([g for g, _ in some], [y for _, y in some], folds, 3)
        return {g: int(f) for (g, _), f in zip(some, fold, strict=True)}

    assert of_groups(rows) == of_groups(shuffled)


@given(st.integers(0, 40), st.integers(41, 90), st.integers(2, 5))
def test_rows_of_their_own_are_balanced_to_one(positives, n, folds):
    # Each row is a group: 17 positives in 5 folds must come out as 3 or 4 in each.
    labels = np.arange(n) < positives
    fold = grouped_folds([f"g{i}" for i in range(n)], labels, folds, 0)
    in_folds = np.bincount(fold[labels], minlength=folds)
    assert in_folds.max() - in_folds.min() <= 1
    sizes = np.bincount(fold, minlength=folds)
    assert sizes.max() - sizes.min() <= 1


def test_each_head_is_balanced():
    # Ten rows of each of three heads' positives, apart from each other, in five folds: two in each.
    labels = np.kron(np.eye(3), np.ones((10, 1)))
    fold = grouped_folds([f"g{i}" for i in range(30)], labels, 5, 0)
    assert [np.bincount(fold[labels[:, h] == 1]).tolist() for h in range(3)] == [[2] * 5] * 3


def test_the_seed_decides_and_repeats():
    groups = [f"g{i}" for i in range(40)]
    labels = np.arange(40) % 4 == 0
    by_seed = [grouped_folds(groups, labels, 5, seed).tolist() for seed in (1, 1, 2)]
    assert by_seed[0] == by_seed[1]
    assert by_seed[0] != by_seed[2]


def test_a_missing_venue_is_a_group_of_its_own():
    documents = [
        *(Document("1", venue="Nature"), Document("2", venue=" nature "), Document("3"), Document("4")),
        Document("5", venue=" "),
    ]
    groups = venue_groups(documents)
    assert groups[0] == groups[1]
    assert len(set(groups)) == 4


def test_too_few_groups_are_refused():
    with pytest.raises(ClassifierError, match="1 groups can't fill 2 folds"):
        grouped_folds(["a", "a", "a"], [0, 1, 0], 2, 0)
    with pytest.raises(ClassifierError, match="expected 2 or more"):
        grouped_folds(["a", "b"], [0, 1], 1, 0)
