"""The first shape of the database: `m0001_first.sql`."""

import sqlite3
from pathlib import Path

from sqlite_utils import Database


def apply(db: Database) -> None:
    """Create everything. Statement by statement: `executescript` would end the transaction."""
    for statement in _statements(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")):
        db.conn.execute(statement)


def _statements(script: str) -> list[str]:
    statements, pending = [], ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            statements.append(pending.strip())
            pending = ""
    return statements
