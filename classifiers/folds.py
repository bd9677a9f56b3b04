"""Grouped K folds: a venue's records stay together, so no model is tested on a venue that it has seen."""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classifiers.errors import ClassifierError
from classifiers.features import Document

Ints = NDArray[np.int64]


def venue_groups(documents: Sequence[Document]) -> tuple[str, ...]:
    """The group of each record: its venue, folded in case and spaces, or itself where it has none."""
    groups = []
    for document in documents:
        venue = " ".join((document.venue or "").casefold().split())
        groups.append(f"venue:{venue}" if venue else f"record:{document.id}")
    return tuple(groups)


def grouped_folds(groups: Sequence[str], labels: Any, folds: int, seed: int) -> Ints:
    """The fold (n,) of each row, 0 to folds - 1: no group in two folds, sizes and positives balanced.

    `labels` (n,) or (n, heads) of 1, 0 and NaN (unknown); only the 1s are balanced, in each head, and
    the number of rows with them.

    Groups come by the largest share that they hold of any head's positives or of all rows, the largest
    first, and each goes where it meets the least of what it brings: the greedy rule of number
    partitioning (Graham 1969), on the shares of all heads together. Ties are broken by
    SHA-256(seed, group), so the order of the rows says nothing.

    Raises ClassifierError for fewer than two folds and for fewer groups than folds.
    """
    if folds < 2:
        raise ClassifierError(f"the folds are {folds}; expected 2 or more")
    names, of_row = np.unique(np.asarray(groups, dtype=object), return_inverse=True)
    if len(names) < folds:
        raise ClassifierError(
            f"{len(names)} groups can't fill {folds} folds, since a group's records stay together;"
            f" take fewer folds or more venues"
        )
    positive = np.nan_to_num(np.asarray(labels, np.float64).reshape(len(of_row), -1)) == 1
    counted = np.column_stack([np.ones(len(of_row)), positive])
    held = np.zeros((len(names), counted.shape[1]))
    np.add.at(held, of_row, counted)
    total = held.sum(axis=0)
    share = held / np.where(total > 0, total, 1)
    keys = [_key(seed, name) for name in names]
    order = sorted(range(len(names)), key=lambda i: (-share[i].max(), keys[i]))
    load = np.zeros((folds, counted.shape[1]))
    chosen = np.empty(len(names), np.int64)
    for i in order:
        # Rounded, so that folds which are alike tie on every machine.
        met = np.round((load / np.where(total > 0, total, 1) * share[i]).sum(axis=1), 12)
        fold = min(range(folds), key=lambda k: (met[k], load[k, 0], _key(seed, f"{k}|{names[i]}")))
        chosen[i] = fold
        load[fold] += held[i]
    return chosen[of_row]


def _key(seed: int, name: str) -> bytes:
    return hashlib.sha256(f"{seed}|{name}".encode("utf-8", "backslashreplace")).digest()
