"""Opening a file: a new one, an older one, a newer one, and what is no catalog at all."""

import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

import catalog.database
import catalog.migrations
from catalog import queries
from catalog.append_only import APPEND_ONLY, trigger_problems, triggers
from catalog.store import Catalog, CatalogError, create, open_catalog

ROOT = Path(__file__).resolve().parents[2]
KNOWN = len(catalog.migrations.STEPS)


def rename_a_column(db: Database) -> None:
    """A step as a future version might have: sqlite-utils rebuilds the table, which drops its triggers."""
    db["rejected"].transform(rename={"reason": "why"})


@pytest.fixture
def newer(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if this were a proofshelf with one more step."""
    steps = (*catalog.migrations.STEPS, ("m9999_why", rename_a_column))
    monkeypatch.setattr(catalog.migrations, "STEPS", steps)


@pytest.fixture
def new(tmp_path: Path) -> Iterator[Catalog]:
    """A new file, no copy of one."""
    with create(tmp_path / "shelf.db", who="tester") as made:
        yield made


def test_a_new_file_is_whole(new: Catalog) -> None:
    connection = new.connection
    assert connection.execute("PRAGMA user_version").fetchone()[0] == KNOWN
    assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    # synchronous = FULL (2): a commit is on the disk before it is said to be done.
    assert connection.execute("PRAGMA synchronous").fetchone()[0] == 2
    assert connection.execute("PRAGMA foreign_keys").fetchone()[0] == 1
    assert trigger_problems(connection) == []
    assert [row["action"] for row in new.db["events"].rows] == ["init"]
    assert new.head_path.read_text() == f'{{"hash":"{"0" * 64}","last":0,"runs":0}}\n'
    others = {p.name for p in new.path.parent.iterdir()} - {"shelf.db", "shelf.db-wal", "shelf.db-shm"}
    assert others == {"shelf.db.head"}


def test_a_path_where_something_is_isnt_touched(new: Catalog, tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="is there already"):
        create(new.path)
    with pytest.raises(CatalogError, match="is a folder"):
        create(tmp_path)
    with pytest.raises(CatalogError, match="is not there; make it first"):
        create(tmp_path / "nowhere" / "shelf.db")
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "target-that-is-not-there")
    with pytest.raises(CatalogError, match="is there already"):
        create(link)


def test_names_that_mean_something_in_a_uri(tmp_path: Path) -> None:
    path = tmp_path / "what? 100% #1.db"
    create(path).close()
    with open_catalog(path, writable=True) as opened:
        assert opened.audit().sound


@pytest.mark.parametrize("writable", [True, False])
@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "there is no catalog at .*; `proofshelf init` makes one"),
        (b"", r"is empty \(0 bytes\); remove it, and `proofshelf init`"),
        (b"PK\x03\x04" + b"x" * 200, "is not a SQLite file"),
        (b"SQLite format 3\0" + b"\xff" * 4096, "is damaged|is not a SQLite file"),
    ],
)
def test_what_is_no_catalog(tmp_path: Path, content: bytes | None, sentence: str, writable: bool) -> None:
    path = tmp_path / "shelf.db"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CatalogError, match=sentence):
        open_catalog(path, writable=writable)
    # Nothing was made or changed by looking.
    assert path.exists() == (content is not None)
    assert content is None or path.read_bytes() == content


def test_a_folder_a_pipe_and_a_foreign_database(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="is a folder, not a catalog"):
        open_catalog(tmp_path, writable=False)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CatalogError, match="is not a regular file"):
        open_catalog(tmp_path / "pipe", writable=False)
    foreign = tmp_path / "foreign.db"
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE _sqlite_migrations (anything TEXT)")
    before = foreign.read_bytes()
    with pytest.raises(CatalogError, match="is a SQLite file, but no proofshelf catalog"):
        open_catalog(foreign, writable=True)
    assert foreign.read_bytes() == before


def test_a_catalog_cut_short_ends_in_a_sentence(full: Catalog) -> None:
    full.close()
    os.truncate(full.path, full.path.stat().st_size // 2)
    try:
        with open_catalog(full.path, writable=False) as opened:
            sentences = [problem.sentence for problem in opened.audit().problems]
    except CatalogError as error:
        sentences = [str(error)]
    assert any("is damaged" in sentence for sentence in sentences)


def older_file(path: Path, steps: int, *statements: str) -> None:
    """A file as an older proofshelf left it: its first steps, the guards of their tables, and rows."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN")
    done = Migrations(catalog.migrations.SET)
    for name, apply in catalog.migrations.STEPS[:steps]:
        done(name=name)(apply)
    done.apply(Database(connection, recursive_triggers=False, execute_plugins=False))
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    columns = {
        row[1] for table in sorted(tables) for row in connection.execute(f"PRAGMA table_info({table})")
    }
    for definition in triggers().values():
        words = set(re.findall(r"\w+", definition.split("RAISE")[0]))
        if words & (set(APPEND_ONLY) - tables) or ("origin" in words and "origin" not in columns):
            continue
        connection.execute(definition)
    for statement in statements:
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {catalog.database.APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {steps}")
    connection.execute("COMMIT")
    connection.close()


INIT = "INSERT INTO events(at, who, action, subject, detail) VALUES ('t', 'tester', 'init', 'shelf.db', '{}')"


@pytest.mark.usefixtures("newer")
def test_an_older_file_is_upgraded_after_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "shelf.db"
    older_file(path, 1, INIT)
    with pytest.raises(
        CatalogError, match="was made by an older proofshelf and is upgraded by the next command"
    ):
        open_catalog(path, writable=False)
    with open_catalog(path, writable=True) as upgraded:
        kept = tmp_path / "shelf.db.version-1"
        assert upgraded.notice == f"{path} was upgraded; the catalog as it was is kept in {kept}"
        assert upgraded.connection.execute("PRAGMA user_version").fetchone()[0] == KNOWN + 1
        # The rebuilt table has its triggers again.
        assert trigger_problems(upgraded.connection) == []
        assert "why" in upgraded.db["rejected"].columns_dict
    with open_catalog(path, writable=True) as again:
        assert again.notice is None
    # The copy is a catalog of the older version, with its data.
    with monkeypatch.context() as older:
        older.setattr(catalog.migrations, "STEPS", catalog.migrations.STEPS[:1])
        with open_catalog(kept, writable=False) as old:
            assert [row["action"] for row in old.db["events"].rows] == ["init"]
    assert not [p for p in tmp_path.iterdir() if p.suffix in (".copy", ".new")]


AT_FIRST = (
    INIT,
    "INSERT INTO slugs VALUES ('w', 'work')",
    "INSERT INTO works(id, slug, title, created_at) VALUES (1, 'w', 'A title', 't')",
    "INSERT INTO imports VALUES (1, 's', 'f', 'csl', 'r', '1', 'tester', 't', 't', 1, 1, 0, 0, 0, 0, '[]')",
    "INSERT INTO supplements VALUES (5, 1, 'year', '1999', 1), (6, 1, 'venue', 'A venue', 1)",
    "INSERT INTO raters VALUES (1, 'm', 'model', 'M', NULL, NULL), (2, 'n', 'model', 'N', NULL, NULL)",
    "INSERT INTO rounds VALUES (1, 'r', 'S', 'R', 'title', '[\"a\"]', NULL, 2, NULL, NULL, 'it', NULL, NULL)",
    "INSERT INTO votes(id, slug, round_id, work_id, rater_id, decision, categories, source_sha256, "
    "recorded_at, recorded_by) VALUES (1, 'v', 1, 1, 1, 'in_scope', '[\"a\"]', 's', 't', 'tester'), "
    "(2, 'x', 1, 1, 2, 'out_of_scope', '[]', 's', 't', 'tester')",
    "INSERT INTO model_releases VALUES (1, 'p', 'P', NULL, 'score_only:v0', 'not_passed', NULL, 0, 3, 'it', "
    "NULL, 's', 't', 'tester')",
    "INSERT INTO heads VALUES (1, 1, 'h', NULL, 'a', 'unknown')",
    "INSERT INTO scores VALUES (1, 1, 0.125)",
    "INSERT INTO works_fts(rowid, title, abstract, venue, authors) "
    "SELECT id, title, abstract, venue, authors FROM works_text",
)


def test_what_the_first_version_held_is_there_after_the_upgrade(tmp_path: Path) -> None:
    path = tmp_path / "shelf.db"
    older_file(path, 1, *AT_FIRST)
    with open_catalog(path, writable=True) as upgraded:
        assert upgraded.audit().problems == ()
        db = upgraded.connection
        page = queries.work(db, "w")
        # What a later record had filled in is still filled in, under its row.
        assert (page.work.year, page.work.venue, page.work.topics, page.work.field) == (
            1999, "A venue", (), None,
        )  # fmt: skip
        assert db.execute("SELECT id FROM supplements ORDER BY id").fetchall() == [(5,), (6,)]
        assert queries.search(db, "venue")[0] == 1
        # Votes and scores of before stand as they were, now with their statuses.
        (screen,) = page.screens
        assert screen.round.origin == "published"
        assert [view.status for view in screen.votes] == ["machine_direct_unvalidated"] * 2
        assert [row.state for row in screen.categories] == ["single_source"]
        (release,) = page.releases
        assert release.rows[0].values == ("0.125",)
        assert queries.overview(db).scores == 1
        assert db.execute("SELECT status FROM scores_readable").fetchall() == [("score_only:v0",)]
        # The rebuilt table takes the new fields, and is guarded like every other.
        upgraded.connection.execute("INSERT INTO supplements VALUES (7, 1, 'topics', '[\"t\"]', 1)")
        assert queries.work(db, "w").work.topics == ("t",)
        with pytest.raises(sqlite3.IntegrityError, match="can't be changed"):
            db.execute("UPDATE supplements SET value = '2000' WHERE id = 5")
        with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
            db.execute("INSERT INTO supplements VALUES (8, 1, 'title', 'no', 1)")


def test_a_step_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "shelf.db"
    create(path).close()

    def breaks(db: Database) -> None:
        db.conn.execute("ALTER TABLE events ADD COLUMN more TEXT")
        db.conn.execute("SELECT * FROM nowhere")

    with monkeypatch.context() as patch:
        patch.setattr(catalog.migrations, "STEPS", (*catalog.migrations.STEPS, ("m9999_breaks", breaks)))
        with pytest.raises(CatalogError, match="nowhere"):
            open_catalog(path, writable=True)
    with open_catalog(path, writable=True) as opened:
        assert "more" not in opened.db["events"].columns_dict
        assert opened.audit().sound


def test_a_newer_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "shelf.db"
    steps = (*catalog.migrations.STEPS, ("m9999_details", lambda db: None))
    with monkeypatch.context() as newer:
        newer.setattr(catalog.migrations, "STEPS", steps)
        create(path).close()
    for writable in (True, False):
        with pytest.raises(CatalogError, match=r"made by a newer proofshelf .*'m9999_details'.*; upgrade"):
            open_catalog(path, writable=writable)


def test_a_newer_version_number_is_refused(catalog: Catalog) -> None:
    catalog.connection.execute("PRAGMA user_version = 7")
    with pytest.raises(CatalogError, match=f"its version is 7, this one knows {KNOWN}"):
        open_catalog(catalog.path, writable=True)


def test_an_old_sqlite_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 31, 1))
    with pytest.raises(CatalogError, match=r"proofshelf needs 3\.37 or newer"):
        create(tmp_path / "shelf.db")


def test_a_locked_catalog_ends_in_one_sentence(catalog: Catalog) -> None:
    other = sqlite3.connect(catalog.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    sentence = f"{catalog.path} is locked by another writer; try again when it has finished"
    with (
        open_catalog(catalog.path, writable=True, busy_seconds=0.1) as second,
        pytest.raises(CatalogError) as raised,
        second.write(),
    ):
        raise AssertionError("unreachable: the lock is another's")
    assert str(raised.value) == sentence
    # Reading goes on meanwhile.
    with open_catalog(catalog.path, writable=False, busy_seconds=0.1) as reader:
        assert reader.audit().sound


def test_reading_only_means_it(catalog: Catalog) -> None:
    with open_catalog(catalog.path, writable=False) as reader:
        with pytest.raises(CatalogError, match="was opened for reading only"):
            reader.write()
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            reader.connection.execute("DELETE FROM events")


AS_NOBODY = """
import os, sys
from pathlib import Path
from catalog.store import CatalogError, open_catalog
os.setgid(65534); os.setuid(65534)  # after the imports: the library may be root's alone
for writable in (True, False):
    try:
        with open_catalog(Path(sys.argv[1]), writable=writable) as catalog:
            print("opened", catalog.audit().sound)
    except CatalogError as error:
        print(error)
"""


@pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can become somebody else"
)
def test_a_read_only_folder() -> None:
    # Root may write anywhere, so another user looks. WAL needs its -shm file, which can't be made there.
    with tempfile.TemporaryDirectory(prefix="shelf-") as name:
        folder = Path(name)
        with create(folder / "shelf.db") as made:
            made.backup(folder / "copy")
        folder.chmod(0o755)
        said = [
            subprocess.run(
                [sys.executable, "-c", AS_NOBODY, str(path)],
                cwd=ROOT,
                capture_output=True,
                text=True,
                check=True,
            ).stdout.splitlines()
            for path in (folder / "shelf.db", folder / "copy" / "shelf.db")
        ]
    assert "can't be written" in said[0][0]
    assert "open a copy made by `proofshelf backup`" in said[0][1]
    # A backup holds no WAL, so it can be read where nothing can be written.
    assert "can't be written" in said[1][0]
    assert said[1][1] == "opened True"


def test_a_read_only_medium_is_named_before_sqlite_fails_on_it(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There SQLite can't make its own files, and would say only that it can't open."""
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    monkeypatch.setattr(sqlite3, "connect", lambda *_, **__: pytest.fail("opened all the same"))
    with pytest.raises(CatalogError, match="can't be written: the file or its folder is read-only"):
        open_catalog(catalog.path, writable=True)
