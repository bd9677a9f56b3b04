"""Studies, rounds, samples and answers."""

import sqlite3
from collections.abc import Iterator

from catalog.screening_pages import AnswerView, RoundView, StudyPage, StudySummary
from schema.ballots import ChunkManifest
from schema.study import Study


def studies(db: sqlite3.Connection) -> tuple[StudySummary, ...]:
    """Every study, in order of their names: designed here, or with published votes."""
    raise NotImplementedError


def study_page(db: sqlite3.Connection, slug: str) -> StudyPage:
    """One study with all its rounds, samples and releases."""
    raise NotImplementedError


def study_record(db: sqlite3.Connection, slug: str, version: int | None = None) -> Study:
    """A study as designed, in its newest version or the one asked for."""
    raise NotImplementedError


def round_view(db: sqlite3.Connection, slug: str) -> RoundView:
    """One round with its raters' coverage."""
    raise NotImplementedError


def manifest(db: sqlite3.Connection, round_: str) -> tuple[ChunkManifest, ...]:
    """The chunks of a round in order; empty where they aren't written yet."""
    raise NotImplementedError


def answers(
    db: sqlite3.Connection, round_: str, rater: str | None = None, state: str | None = None
) -> Iterator[AnswerView]:
    """Answers to a round's chunks as they came, oldest first: of one rater or state, if asked so."""
    raise NotImplementedError
