"""The first shape of the database: `m0001_first.sql`."""

from pathlib import Path

from sqlite_utils import Database

from catalog.migrations.statements import run_script


def apply(db: Database) -> None:
    """Create everything."""
    run_script(db, Path(__file__).with_suffix(".sql"))
