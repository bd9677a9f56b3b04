"""A backup is a catalog by itself, or is not there; what could not be copied is named."""

from pathlib import Path

import pytest

from catalog import queries
from catalog.anchor import Head, read_head, write_head
from catalog.store import Catalog, CatalogError, open_catalog


def test_a_backup_is_the_catalog(chained: Catalog, tmp_path: Path) -> None:
    done = chained.backup(tmp_path / "copy", "tester")
    assert done.path == tmp_path / "copy" / "shelf.db"
    assert (done.works, done.runs, done.objects, done.problems) == (2, 5, 2, ())
    assert sorted(p.name for p in done.path.parent.iterdir()) == [
        "shelf.db",
        "shelf.db.head",
        "shelf.db.objects",
    ]
    with open_catalog(done.path, writable=False) as copy:
        report = copy.audit(expect=done.head, objects=True)
        assert (report.problems, report.notes, report.expected) == ((), (), "head")
        assert queries.artifact(copy.connection, "demo-package") == queries.artifact(
            chained.connection, "demo-package"
        )
        # VACUUM INTO keeps the count that makes a removed last run visible.
        sequence = "SELECT seq FROM sqlite_sequence WHERE name = 'verifications'"
        assert copy.connection.execute(sequence).fetchone()[0] == 5
    assert list(chained.db["events"].rows)[-1]["action"] == "backup"


def test_nothing_is_overwritten_and_nothing_half_done_is_left(full: Catalog, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(CatalogError, match="is there already; a backup needs a new name"):
        full.backup(tmp_path / "there")
    with pytest.raises(CatalogError, match="is not there; make it first"):
        full.backup(tmp_path / "nowhere" / "copy")
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".")]
    assert list((tmp_path / "there").iterdir()) == []


def test_damaged_and_missing_files_are_named_and_the_rest_is_copied(full: Catalog, tmp_path: Path) -> None:
    changed, missing = (full.objects.path(name) for name in full.objects.names())
    changed.chmod(0o644)
    changed.write_bytes(b"forged")
    missing.unlink()
    done = full.backup(tmp_path / "copy", "tester")
    assert done.objects == 0
    assert sorted(p.split(") ")[1] for p in done.problems) == [
        "is missing, so it isn't in the backup",
        "was changed, so it isn't in the backup",
    ]
    with open_catalog(done.path, writable=False) as copy:
        assert copy.audit().sound
        assert len(copy.audit(objects=True).problems) == 2


@pytest.mark.parametrize("what", ["link", "folder"])
def test_what_is_no_plain_file_is_named_and_the_rest_is_copied(
    full: Catalog, tmp_path: Path, what: str
) -> None:
    bad, good = (full.objects.path(name) for name in full.objects.names())
    bad.rename(tmp_path / "elsewhere")
    bad.symlink_to(tmp_path / "elsewhere") if what == "link" else bad.mkdir()
    done = full.backup(tmp_path / "copy", "tester")
    assert done.objects == 1
    (problem,) = done.problems
    assert problem.startswith(f"the stored file {bad.name}")
    assert problem.endswith("was changed, so it isn't in the backup")
    assert (done.path.with_name("shelf.db.objects") / good.name[:2] / good.name).is_file()


def test_a_broken_head_is_carried_over_and_not_healed(full: Catalog, tmp_path: Path) -> None:
    # Otherwise a backup would bless a catalog whose last run was removed.
    forged = Head(3, 3, "e" * 64)
    write_head(full.head_path, forged)
    done = full.backup(tmp_path / "copy", "tester")
    assert done.problems == ("run 3, which the anchor names, is gone or was rewritten",)
    with open_catalog(done.path, writable=False) as copy:
        assert read_head(copy.head_path) == forged
        assert not copy.audit().sound


def test_a_catalog_opened_for_reading_can_be_backed_up(full: Catalog, tmp_path: Path) -> None:
    with open_catalog(full.path, writable=False) as reader:
        assert reader.backup(tmp_path / "copy").problems == ()
    assert "backup" not in [event["action"] for event in full.db["events"].rows]
