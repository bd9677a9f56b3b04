"""What votes say of works: the state of every category, and the works on which votes differ."""

import sqlite3

from catalog.screening_pages import CategoryStateRow, Contested


def category_states(
    db: sqlite3.Connection, work: str, round_: str | None = None
) -> tuple[CategoryStateRow, ...]:
    """Every category of one work, in each round that shows it or has votes on it (or in one)."""
    raise NotImplementedError


def contested(db: sqlite3.Connection, round_: str, pending: bool = False) -> tuple[Contested, ...]:
    """Works of a round on which its votes differ, in the manifest's order; with `pending`, only those
    without an adjudication."""
    raise NotImplementedError
