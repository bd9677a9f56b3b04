"""Small things that every writer of rows needs."""

import hashlib
import json
import sqlite3
from collections.abc import Mapping
from typing import Any


def insert(connection: sqlite3.Connection, table: str, values: Mapping[str, Any]) -> int:
    """Write one row; returns its number, if the table numbers its rows."""
    cursor = connection.execute(
        f"INSERT INTO {table}({', '.join(values)}) VALUES ({', '.join('?' * len(values))})",
        list(values.values()),
    )
    return cursor.lastrowid or 0


def as_json(value: Any) -> str:
    """Plain JSON for a column: keys sorted, so that the same value has the same bytes."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False)


def text_sha256(text: str) -> str:
    """SHA-256 of a text in UTF-8."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


OBJECTS = "SELECT sha256, path FROM files UNION ALL SELECT sha256, path FROM release_files"
"""Every stored object that a row knows, with a name of it."""


def known_object(connection: sqlite3.Connection, sha256: str) -> bool:
    """Whether a row of a package or a release knows an object."""
    row = f"SELECT 1 FROM ({OBJECTS}) WHERE sha256 = ? LIMIT 1"
    return connection.execute(row, [sha256]).fetchone() is not None
