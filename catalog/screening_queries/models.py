"""Releases, their scorings and their calls."""

import sqlite3

from catalog.screening_pages import DecisionView, ModelPage, ReleaseSummary


def releases(db: sqlite3.Connection, study: str | None = None) -> tuple[ReleaseSummary, ...]:
    """Every release (of one study), newest first."""
    raise NotImplementedError


def model_page(db: sqlite3.Connection, release: str) -> ModelPage:
    """One release."""
    raise NotImplementedError


def work_decisions(db: sqlite3.Connection, work: str) -> tuple[DecisionView, ...]:
    """What the newest decision run of each release says of a work, releases in order of their making."""
    raise NotImplementedError
