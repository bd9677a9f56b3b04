"""Rows for export, each with its status, one at a time."""

import sqlite3
from collections.abc import Iterator

from catalog.screening_pages import CallLine, LabelRow, ScoreLine, VoteRow


def label_rows(db: sqlite3.Connection, study: str, round_: str | None = None) -> Iterator[LabelRow]:
    """The state of scope and of every category of every work of a study's rounds."""
    raise NotImplementedError


def vote_rows(db: sqlite3.Connection, study: str, round_: str | None = None) -> Iterator[VoteRow]:
    """Every vote of a study, superseded ones too, in the order in which they were recorded."""
    raise NotImplementedError


def score_rows(
    db: sqlite3.Connection, study: str | None = None, release: str | None = None
) -> Iterator[ScoreLine]:
    """Every score (of a study's releases, or of one release), works in order of their row."""
    raise NotImplementedError


def call_rows(db: sqlite3.Connection, study: str | None = None, run: str | None = None) -> Iterator[CallLine]:
    """Every call (of the runs of a study's releases, or of one run), works in order of their row."""
    raise NotImplementedError
