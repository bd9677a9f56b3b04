"""Screening studies, releases trained here, topics and field of a work: `m0002_screening.sql`."""

from pathlib import Path

from sqlite_utils import Database

from catalog.migrations.statements import run_script


def apply(db: Database) -> None:
    """Add the tables and columns; rebuild `supplements` and the views over works, votes and scores."""
    run_script(db, Path(__file__).with_suffix(".sql"))
