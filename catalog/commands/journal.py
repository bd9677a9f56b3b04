"""Imports and rejected records as lists. (The only reads of commands that `catalog.queries` lacks.)"""

import sqlite3
from typing import Any


def imports(db: sqlite3.Connection, limit: int, offset: int) -> list[dict[str, Any]]:
    """Imports, newest first."""
    sql = (
        "SELECT id, filename, format, reader, reader_version, sha256, who, started_at, finished_at, "
        "read, added, updated, unchanged, duplicate, rejected FROM imports ORDER BY id DESC LIMIT ? OFFSET ?"
    )
    return _rows(db, sql, [limit, offset])


def rejected(db: sqlite3.Connection, number: int | None, limit: int, offset: int) -> list[dict[str, Any]]:
    """Rejected records as they came, newest import first, in the order of the file."""
    sql = (
        "SELECT r.import_id AS import, i.filename, r.line, r.reason, r.raw FROM rejected r "
        "JOIN imports i ON i.id = r.import_id WHERE ? IS NULL OR r.import_id = ? "
        "ORDER BY r.import_id DESC, r.position LIMIT ? OFFSET ?"
    )
    return _rows(db, sql, [number, number, limit, offset])


def _rows(db: sqlite3.Connection, sql: str, parameters: list[Any]) -> list[dict[str, Any]]:
    cursor = db.execute(sql, parameters)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]
