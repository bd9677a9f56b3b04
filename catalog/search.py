"""Searching works: by a name that is theirs alone, then by words."""

import sqlite3
from collections.abc import Sequence

from catalog.works import find_work
from schema.work import IDENTITY_SCHEMES

MOST_TERMS = 32
"""So many words of a query count; a pasted abstract is found by its first ones."""
_WEIGHTS = "10.0, 1.0, 2.0, 4.0"
"""Of title, abstract, venue and authors in the ranking (bm25)."""


class Search:
    """One query: how many works it finds (`total`), and their row numbers, best first."""

    def __init__(self, db: sqlite3.Connection, text: str) -> None:
        self._db = db
        text = text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8").strip()
        self._match = _match(text)
        self._named = _named(db, text) if text else []
        self.total = len(self._named) + self._count()

    def page(self, limit: int, offset: int) -> list[int]:
        """Row numbers of one page of the works found."""
        ids = self._named[offset : offset + limit]
        if self._match is None or len(ids) == limit:
            return ids
        rows = self._db.execute(
            f"SELECT rowid FROM works_fts WHERE works_fts MATCH ? {self._others()} "
            f"ORDER BY bm25(works_fts, {_WEIGHTS}), rowid LIMIT ? OFFSET ?",
            [self._match, *self._named, limit - len(ids), max(0, offset - len(self._named))],
        )
        return ids + [row[0] for row in rows]

    def snippets(self, ids: Sequence[int]) -> dict[int, str]:
        """The words found with some around them, as plain text, where words were found."""
        if self._match is None or not ids:
            return {}
        rows = self._db.execute(
            "SELECT rowid, snippet(works_fts, -1, '', '', '…', 24) FROM works_fts "
            f"WHERE works_fts MATCH ? AND rowid IN ({', '.join('?' * len(ids))})",
            [self._match, *ids],
        )
        return {row[0]: row[1] for row in rows if row[1]}

    def _count(self) -> int:
        if self._match is None:
            return 0
        sql = f"SELECT count(*) FROM works_fts WHERE works_fts MATCH ? {self._others()}"
        return int(self._db.execute(sql, [self._match, *self._named]).fetchone()[0])

    def _others(self) -> str:
        return f"AND rowid NOT IN ({', '.join('?' * len(self._named))})" if self._named else ""


def _match(text: str) -> str | None:
    """The query in FTS5's language: every word quoted, so that no sign in it means anything."""
    words = [word for word in text.split() if any(c.isalnum() for c in word)][:MOST_TERMS]
    if not words:
        return None
    quoted = ['"' + word.replace('"', '""') + '"' for word in words]
    return " ".join(quoted) + " *"


def _named(db: sqlite3.Connection, text: str) -> list[int]:
    """Works that this text names: by slug, by the slug of a package, or by an identifier."""
    from ingest.identifiers import normalise  # slow to load, and only a search needs it

    ids = []
    if (known := find_work(db, text.lower())) is not None:
        ids.append(known.id)
    ids += [r[0] for r in db.execute("SELECT DISTINCT work_id FROM artifacts WHERE slug = ?", [text.lower()])]
    for scheme in (*IDENTITY_SCHEMES, "isbn", "url"):
        identifier = normalise(scheme, text)
        if identifier is not None:
            rows = db.execute(
                "SELECT work_id FROM identifiers WHERE value = ? AND scheme = ? ORDER BY work_id LIMIT 50",
                [identifier.value, identifier.scheme],
            )
            ids += [row[0] for row in rows]
    rows = db.execute("SELECT work_id FROM identifiers WHERE value = ? ORDER BY work_id LIMIT 50", [text])
    ids += [row[0] for row in rows]
    return list(dict.fromkeys(ids))
