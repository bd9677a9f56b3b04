"""What Datasette's own pages are told of the catalog's tables."""

import sqlite3
from contextlib import closing
from pathlib import Path

from catalog.web.tables import metadata


def test_every_table_is_described_or_hidden(empty: Path) -> None:
    with closing(sqlite3.connect(empty)) as db:
        rows = db.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
        names = {name for (name,) in rows if not name.startswith("works_fts")}
        told = metadata("shelf")["databases"]["shelf"]["tables"]
        assert names == set(told)
        for name, facts in told.items():
            columns = {row[1] for row in db.execute(f"PRAGMA table_info({name})")}
            assert set(facts.get("facets", [])) <= columns
            assert facts.get("label_column") in {None, *columns}
