"""Names and rows: finding what a reader asks for, and a sentence where it isn't here."""

import difflib
import sqlite3
from collections.abc import Sequence
from typing import Any

from catalog.works import Known, find_work, slug_kind

MANY_NAMES = 200_000
"""Above so many names, a misspelt one is answered without reading them all for close ones."""


class NotFound(LookupError):
    """Nothing by that name; the message says so and what to do."""


def known_work(db: sqlite3.Connection, slug: str) -> Known:
    """The work of this slug or alias. Raises NotFound, naming close ones."""
    known = find_work(db, clean(slug))
    if known is None:
        raise not_found(db, slug, "work", "work")
    return known


def not_found(db: sqlite3.Connection, slug: str, what: str, kind: str | None) -> NotFound:
    """The error for a work or package that isn't here."""
    other = slug_kind(db, clean(slug))
    if other is not None and kind is not None and other != kind:
        return NotFound(f"{slug!r} is a {other} here, not a {kind}")
    close = _close(db, slug, kind)
    hint = f"did you mean {' or '.join(close)}?" if close else "`proofshelf list` names what is here"
    return NotFound(f"there is no {what} {slug!r} here; {hint}")


def no_such(what: str, slug: str, names: Sequence[str], otherwise: str) -> NotFound:
    """The error for something else that isn't here, by the names that there are."""
    close = difflib.get_close_matches(slug.lower(), names, n=3, cutoff=0.6)
    if close:
        return NotFound(f"there is no {what} {slug!r} here; did you mean {' or '.join(close)}?")
    if names:
        more = f" and {len(names) - 10} more" if len(names) > 10 else ""
        return NotFound(f"there is no {what} {slug!r} here; there is {', '.join(names[:10])}{more}")
    return NotFound(f"there is no {what} {slug!r} here; {otherwise}")


def clean(text: str) -> str:
    """Text that SQLite can be asked about: a lone surrogate is in no name."""
    return text.encode("utf-8", "replace").decode("utf-8")


def all_rows(
    db: sqlite3.Connection, sql: str, parameters: Sequence[Any] | dict[str, Any] = ()
) -> list[sqlite3.Row]:
    """Every row, by the names of its columns. Sets nothing on the connection."""
    cursor = db.cursor()
    cursor.row_factory = sqlite3.Row
    return cursor.execute(sql, parameters).fetchall()


def one_row(
    db: sqlite3.Connection, sql: str, parameters: Sequence[Any] | dict[str, Any] = ()
) -> sqlite3.Row | None:
    """The first row, by the names of its columns."""
    cursor = db.cursor()
    cursor.row_factory = sqlite3.Row
    row: sqlite3.Row | None = cursor.execute(sql, parameters).fetchone()
    return row


def _close(db: sqlite3.Connection, slug: str, kind: str | None) -> list[str]:
    names = db.execute(
        "SELECT slug FROM slugs WHERE ? IS NULL OR kind = ? LIMIT ?", [kind, kind, MANY_NAMES + 1]
    ).fetchall()
    if len(names) > MANY_NAMES:
        return []
    return difflib.get_close_matches(slug.lower(), [row[0] for row in names], n=3, cutoff=0.6)
