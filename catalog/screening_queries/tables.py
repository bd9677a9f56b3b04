"""Votes as tables for statistics and for a student, and documents of the whole frame."""

import sqlite3
from collections.abc import Iterator
from typing import TYPE_CHECKING

from catalog.screening_pages import RatingTable, TrainingRows

if TYPE_CHECKING:
    from classifiers.features.documents import Document


def rating_table(db: sqlite3.Connection, round_: str, category: str | None = None) -> RatingTable:
    """Current votes on one category of a round, or on scope."""
    raise NotImplementedError


def training_rows(db: sqlite3.Connection, study: str) -> TrainingRows:
    """Documents and votes of every work of a study that has a vote."""
    raise NotImplementedError


def frame_documents(db: sqlite3.Connection, after: int = 0) -> "Iterator[tuple[int, Document]]":
    """Every work of the catalog as (row number, document), in order of the row, beginning behind `after`."""
    raise NotImplementedError
