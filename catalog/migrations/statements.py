"""A script of SQL as single statements: `executescript` would end the transaction."""

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite_utils import Database


def run_script(db: "Database", path: Path) -> None:
    """Run every statement of a script, inside the caller's transaction."""
    for statement in _statements(path.read_text(encoding="utf-8")):
        db.conn.execute(statement)


def _statements(script: str) -> list[str]:
    statements, pending = [], ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            statements.append(pending.strip())
            pending = ""
    return statements
