"""The first shape of the database: `m0001_first.sql`."""

from pathlib import Path
from typing import TYPE_CHECKING

from catalog.migrations.statements import run_script

if TYPE_CHECKING:
    from sqlite_utils import Database


def apply(db: "Database") -> None:
    """Create everything."""
    run_script(db, Path(__file__).with_suffix(".sql"))
