"""Screening studies, releases trained here, topics and field of a work: `m0002_screening.sql`."""

from pathlib import Path
from typing import TYPE_CHECKING

from catalog.migrations.statements import run_script

if TYPE_CHECKING:
    from sqlite_utils import Database


def apply(db: "Database") -> None:
    """Add the tables and columns; rebuild `supplements` and the views over works, votes and scores."""
    run_script(db, Path(__file__).with_suffix(".sql"))
