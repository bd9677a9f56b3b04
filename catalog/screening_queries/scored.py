"""Scores of a release as columns, for ranking a whole frame."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from catalog.screening_queries.models import model_page


@dataclass(frozen=True)
class CategoryScores:
    """The works that every head of a category scored: row numbers, places in the order of slugs, scores.

    `place` (n,) sorts as the slugs do, without holding them. `scores` maps each head to (n,).
    """

    category: str
    works: NDArray[np.int64]
    place: NDArray[np.int64]
    scores: Mapping[str, NDArray[np.float64]]


def category_scores(db: sqlite3.Connection, release: str, category: str) -> CategoryScores:
    """The scores of one category by all of a release's heads for it. Raises NotFound for no such release."""
    heads = [h.name for h in model_page(db, release).heads if category in h.categories]
    found: dict[str, dict[int, float]] = {}
    for head in heads:
        rows = db.execute(
            "SELECT s.work_id, s.value FROM scores_shown s JOIN heads h ON h.id = s.head_id "
            "JOIN model_releases m ON m.id = h.release_id WHERE m.slug = ? AND h.name = ? AND h.category = ?",
            [release, head, category],
        )
        found[head] = dict(tuple(row) for row in rows)
    shared = set.intersection(*(set(scores) for scores in found.values())) if found else set()
    ordered = [row[0] for row in db.execute("SELECT id FROM works ORDER BY slug") if row[0] in shared]
    works = np.array(ordered, dtype=np.int64)
    return CategoryScores(
        category, works, np.arange(works.size, dtype=np.int64),
        {head: np.array([scores[i] for i in ordered], dtype=np.float64) for head, scores in found.items()},
    )  # fmt: skip


def slugs_of(db: sqlite3.Connection, works: Sequence[int]) -> list[str]:
    """The slugs of these rows, in the order given."""
    found: dict[int, str] = {}
    for start in range(0, len(works), 500):
        some = [int(i) for i in works[start : start + 500]]
        marks = ", ".join("?" * len(some))
        found.update(
            tuple(row) for row in db.execute(f"SELECT id, slug FROM works WHERE id IN ({marks})", some)
        )
    return [found[int(i)] for i in works]
