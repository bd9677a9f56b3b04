"""Rows are written once: the database itself refuses, whoever opens it with whatever."""

import sqlite3
from pathlib import Path

import pytest

from catalog.append_only import APPEND_ONLY, create_triggers, trigger_problems
from catalog.store import Catalog

# sqlite_* are SQLite's own; works_fts and its shadow tables are an index that can be made again.
NOT_OURS = ("sqlite_", "works_fts")


@pytest.fixture
def plain(everything: Catalog) -> sqlite3.Connection:
    """The same file, opened by somebody who knows nothing of us: no pragma is set."""
    return sqlite3.connect(everything.path)


def tables(connection: sqlite3.Connection) -> set[str]:
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    return {name for (name,) in rows if not name.startswith(NOT_OURS)}


def test_every_table_is_listed(plain: sqlite3.Connection) -> None:
    # A table that somebody adds and forgets to guard fails here.
    assert tables(plain) == set(APPEND_ONLY)


def other(value: object) -> object:
    """Another value of the same type."""
    return -value - 7 if isinstance(value, int | float) else f"other {value}"


@pytest.mark.parametrize("table", sorted(APPEND_ONLY))
def test_every_unique_key_is_guarded(plain: sqlite3.Connection, table: str) -> None:
    # Asked of SQLite, not of our list: each unique index of the table, and its primary key, must
    # refuse a replacing insert of an existing row, alone in that key.
    plain.row_factory = sqlite3.Row
    row = dict(plain.execute(f"SELECT * FROM {table} LIMIT 1").fetchone())
    info = plain.execute(f"PRAGMA table_info({table})").fetchall()
    keys = [[c["name"] for c in info if c["pk"]]]
    for index in plain.execute(f"PRAGMA index_list({table})").fetchall():
        if index["unique"]:
            names = [c["name"] for c in plain.execute(f"PRAGMA index_info({index['name']})")]
            if all(row[n] is not None for n in names):
                keys.append(names)
    plain.execute("PRAGMA ignore_check_constraints = ON")
    for key in keys:
        # Other columns get new values, so that only this key stands in the way.
        values = {
            c["name"]: row[c["name"]]
            if c["name"] in key or c["name"] in ("scheme", "supersedes", "state")
            else other(row[c["name"]])
            for c in info
            if c["name"] in key or row[c["name"]] is not None or c["notnull"]
        }
        statement = (
            f"INSERT OR REPLACE INTO {table}({', '.join(values)}) VALUES ({', '.join('?' * len(values))})"
        )
        with pytest.raises(sqlite3.IntegrityError, match="can't be replaced"):
            plain.execute(statement, list(values.values()))
    assert plain.execute(f"SELECT count(*) FROM {table}").fetchone()[0] >= 1


@pytest.mark.parametrize("table", sorted(APPEND_ONLY))
def test_no_row_is_changed_or_removed(plain: sqlite3.Connection, table: str) -> None:
    column = plain.execute(f"PRAGMA table_info({table})").fetchall()[0][1]
    before = plain.execute(f"SELECT * FROM {table}").fetchall()
    assert before, "an empty table would refuse nothing"
    with pytest.raises(
        sqlite3.IntegrityError, match=f"a row of {table} is written once and can't be changed"
    ):
        plain.execute(f"UPDATE {table} SET {column} = {column}")
    with pytest.raises(
        sqlite3.IntegrityError, match=f"a row of {table} is written once and can't be removed"
    ):
        plain.execute(f"DELETE FROM {table}")
    with pytest.raises(sqlite3.IntegrityError, match=r"can't be changed|can't be replaced"):
        plain.execute(
            f"INSERT INTO {table} SELECT * FROM {table} WHERE true ON CONFLICT DO UPDATE SET {column} = 0"
        )
    plain.rollback()
    assert plain.execute(f"SELECT * FROM {table}").fetchall() == before


def test_a_second_vote_of_a_rater_is_refused_by_the_database(plain: sqlite3.Connection) -> None:
    # Not only by our code: one unsuperseded vote for each rater, work and round.
    columns = "round_id, work_id, rater_id, decision, categories, source_sha256, recorded_at, recorded_by"
    with pytest.raises(sqlite3.IntegrityError, match="can't be replaced"):
        plain.execute(f"INSERT INTO votes(slug, {columns}) SELECT 'again', {columns} FROM votes LIMIT 1")
    with pytest.raises(sqlite3.IntegrityError, match="only one of the same rater"):
        plain.execute(
            f"INSERT INTO votes(slug, supersedes, {columns}) "
            f"SELECT 'of-another', 2, {columns} FROM votes WHERE id = 1"
        )


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan"), None, "high"])
def test_a_score_that_is_no_number_is_refused(plain: sqlite3.Connection, value: object) -> None:
    # STRICT stores NaN as NULL, which NOT NULL refuses, and takes an infinity, which the CHECK refuses.
    with pytest.raises(sqlite3.IntegrityError):
        plain.execute("INSERT INTO scores(work_id, head_id, value) VALUES (2, 1, ?)", [value])


def test_a_missing_or_altered_trigger_is_named_and_made_again(full: Catalog) -> None:
    connection = sqlite3.connect(full.path)
    connection.execute("DROP TRIGGER votes_not_changed")
    connection.execute("DROP TRIGGER checks_not_removed")
    connection.execute("CREATE TRIGGER checks_not_removed BEFORE DELETE ON checks BEGIN SELECT 1; END")
    connection.commit()
    assert {p.sentence for p in full.audit().problems} == {
        "trigger checks_not_removed was altered",
        "trigger votes_not_changed is missing: rows of its table could be changed unseen",
    }
    with full.write() as db:
        create_triggers(db)
    assert trigger_problems(full.connection) == []
    assert full.audit().sound


def test_a_table_rebuilt_by_sqlite_utils_loses_its_triggers_and_is_noticed(
    full: Catalog, tmp_path: Path
) -> None:
    # `transform()` makes a new table and renames it: what a future migration might do.
    full.db["events"].transform(rename={"who": "by"})
    assert any("events_not_changed is missing" in p.sentence for p in full.audit().problems)
