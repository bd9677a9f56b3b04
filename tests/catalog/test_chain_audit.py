"""Audit: whoever edits the file with SQLite in hand, triggers dropped, is found out and the run named."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from catalog.anchor import Head, read_head, write_head
from catalog.append_only import create_triggers
from catalog.audit import AuditReport
from catalog.chain import stored_run
from catalog.store import Catalog, CatalogError, open_catalog
from schema.verification import GENESIS, Verification, chain_hash


@contextmanager
def forger(catalog: Catalog) -> Iterator[sqlite3.Connection]:
    """Plain SQLite with every trigger dropped, and made again afterwards so that only the data tells."""
    connection = sqlite3.connect(catalog.path)
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        connection.execute(f'DROP TRIGGER "{name}"')
    yield connection
    create_triggers(connection)
    connection.commit()
    connection.close()


def remove(connection: sqlite3.Connection, *runs: int) -> None:
    for run in runs:
        connection.execute("DELETE FROM checks WHERE verification_id = ?", [run])
        connection.execute("DELETE FROM verifications WHERE id = ?", [run])


def said(report: AuditReport) -> list[str]:
    return [problem.sentence for problem in report.problems]


def test_a_chain_as_written_is_sound(chained: Catalog) -> None:
    report = chained.audit(objects=True)
    assert said(report) == []
    assert (report.runs, report.last, report.notes) == (5, 5, ())
    assert report.anchor == Head(5, 5, report.head)
    # inputs.csv (one object for both packages, their bytes are the same) and screening.json
    assert report.objects == 2


def test_hashes_are_those_of_the_schema(chained: Catalog) -> None:
    # Computed here by schema alone, from what is read back: GENESIS, then each from the one before.
    previous = GENESIS
    for number in range(1, 6):
        stored = stored_run(chained.connection, number)
        assert stored is not None
        assert stored.run is not None
        assert chain_hash(previous, stored.run) == stored.hash
        previous = stored.hash


@pytest.mark.parametrize(
    ("runs", "sentence"),
    [
        ([1], "run 1 was removed before run 2"),
        ([3], "run 3 was removed between run 2 and run 4"),
        ([2, 3], "runs 2 to 3 were removed between run 1 and run 4"),
        ([5], "run 5 was removed after run 4"),
        ([4, 5], "runs 4 to 5 were removed after run 3"),
        ([1, 2, 3, 4, 5], "runs 1 to 5 were removed, and none is left"),
    ],
)
def test_a_removed_run_is_named(chained: Catalog, runs: list[int], sentence: str) -> None:
    with forger(chained) as connection:
        remove(connection, *runs)
    assert sentence in said(chained.audit())


@pytest.mark.parametrize("runs", [[5], [4, 5], [1, 2, 3, 4, 5]])
def test_a_removed_end_is_named_when_the_count_is_edited_too(chained: Catalog, runs: list[int]) -> None:
    # AUTOINCREMENT's own count would tell; edited as well, the anchor outside the database tells.
    with forger(chained) as connection:
        remove(connection, *runs)
        connection.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'verifications'", [min(runs) - 1])
    report = chained.audit()
    assert report.problems[0].kind == "removed"
    assert report.problems[0].run == min(runs)


def test_a_removed_end_is_named_by_the_expected_hash_alone(chained: Catalog) -> None:
    # The count edited and the anchor rewritten: only a hash that somebody kept elsewhere is left.
    kept = chained.audit().head
    with forger(chained) as connection:
        remove(connection, 5)
        connection.execute("UPDATE sqlite_sequence SET seq = 4 WHERE name = 'verifications'")
        head = Head(*connection.execute("SELECT 4, id, hash FROM verifications WHERE id = 4").fetchone())
    write_head(chained.head_path, head)
    assert chained.audit().sound
    report = chained.audit(expect=kept)
    assert report.expected is None
    assert [p.kind for p in report.problems] == ["expected"]
    assert kept in report.problems[0].sentence


def test_expected_is_the_head_or_an_ancestor(chained: Catalog) -> None:
    stored = stored_run(chained.connection, 2)
    assert stored is not None
    assert chained.audit(expect=chained.audit().head.upper()).expected == "head"
    assert chained.audit(expect=stored.hash).expected == "ancestor"
    assert chained.audit(expect=GENESIS).expected == "ancestor"
    assert not chained.audit(expect="f" * 64).sound
    with pytest.raises(CatalogError, match="64 hexadecimal digits"):
        chained.audit(expect="cafe")


@pytest.mark.parametrize("run", [1, 3, 5])
@pytest.mark.parametrize(
    ("edit", "why"),
    [
        ("UPDATE verifications SET verdict = 'Verified: all.' WHERE id = :run", "no longer gives its hash"),
        ("UPDATE verifications SET seeds = '{\"x\":1}' WHERE id = :run", "no longer gives its hash"),
        ("UPDATE verifications SET outcome = 'excellent' WHERE id = :run", "outcome"),
        ("UPDATE verifications SET environment = 'none' WHERE id = :run", "aren't JSON"),
        ("UPDATE checks SET observed = '4' WHERE verification_id = :run AND kind = 'claim'", "its hash"),
        ("DELETE FROM checks WHERE verification_id = :run AND position = 1", "check 2 was removed"),
        ("DELETE FROM checks WHERE verification_id = :run AND subject = 'told'", "a check was removed"),
        (
            "INSERT INTO checks(verification_id, position, kind, subject, outcome, depth) "
            "VALUES (:run, 99, 'claim', 'more', 'identical', 'recomputed')",
            "",
        ),
        ("UPDATE checks SET position = position + 10 WHERE verification_id = :run", ""),
        ("UPDATE verifications SET artifact_id = 2 WHERE id = :run", "no longer gives its hash"),
    ],
)
def test_an_edited_run_is_named(chained: Catalog, run: int, edit: str, why: str) -> None:
    with forger(chained) as connection:
        assert connection.execute(edit, {"run": run}).rowcount >= 1
    named = [p for p in chained.audit().problems if p.kind == "edited"]
    assert [p.run for p in named] == [run]
    assert named[0].sentence.startswith(f"run {run} was edited")
    assert why in named[0].sentence


@pytest.mark.parametrize("run", [1, 3, 5])
def test_a_run_rewritten_with_its_hash_is_named(chained: Catalog, run: int) -> None:
    # The forger can compute hashes too: then the next link tells, and for the last run the anchor.
    stored = stored_run(chained.connection, run)
    assert stored is not None
    assert stored.run is not None
    forged = stored.run.model_copy(update={"who": "nobody"})
    with forger(chained) as connection:
        connection.execute(
            "UPDATE verifications SET who = 'nobody', hash = ? WHERE id = ?",
            [chain_hash(stored.previous, forged), run],
        )
    problems = chained.audit().problems
    assert [p.run for p in problems] == [run]
    assert problems[0].kind == ("anchor" if run == 5 else "link")


def test_a_stored_hash_or_link_edited_alone_is_named(chained: Catalog) -> None:
    with forger(chained) as connection:
        connection.execute("UPDATE verifications SET hash = ? WHERE id = 2", ["a" * 64])
        connection.execute("UPDATE verifications SET previous = ? WHERE id = 4", ["b" * 64])
    report = chained.audit()
    assert {p.run for p in report.problems} == {2, 4}
    assert any(s == "run 4 was edited: its link to the run before was changed" for s in said(report))


def test_numbers_closed_up_over_a_removed_run_are_noticed(chained: Catalog) -> None:
    with forger(chained) as connection:
        remove(connection, 3)
        for old in (4, 5):
            connection.execute("UPDATE verifications SET id = ? WHERE id = ?", [old - 1, old])
            connection.execute(
                "UPDATE checks SET verification_id = ? WHERE verification_id = ?", [old - 1, old]
            )
        connection.execute("UPDATE sqlite_sequence SET seq = 4 WHERE name = 'verifications'")
    sentences = said(chained.audit())
    assert any(s.startswith("run 3 follows another run 2") for s in sentences)
    assert any(s.startswith("run 5 was removed after run 4") for s in sentences)


def test_an_edited_count_of_runs_is_noticed(chained: Catalog) -> None:
    with forger(chained) as connection:
        connection.execute("UPDATE sqlite_sequence SET seq = 2 WHERE name = 'verifications'")
    assert [p.kind for p in chained.audit().problems] == ["sequence"]


def test_a_renamed_package_changes_every_run_of_it(chained: Catalog) -> None:
    # A run's hash covers the package's name and manifest, so its row can't be exchanged under it.
    with forger(chained) as connection:
        connection.execute("UPDATE artifacts SET manifest_sha256 = ? WHERE id = 1", ["c" * 64])
    assert {p.run for p in chained.audit().problems if p.kind == "edited"} == {1, 2, 3, 4, 5}


def test_an_anchor_behind_is_sound_said_and_moved_on_by_the_next_run(
    chained: Catalog, run_of: Callable[[int], Verification]
) -> None:
    # What a crash between commit and anchor leaves.
    stored = stored_run(chained.connection, 4)
    assert stored is not None
    write_head(chained.head_path, Head(4, 4, stored.hash))
    report = chained.audit()
    assert report.sound
    assert "the anchor stands at run 4, the database at run 5" in report.notes[0]
    _, head = chained.record_verification(1, run_of(6))
    assert read_head(chained.head_path) == Head(6, 6, head)
    assert chained.audit().notes == ()


def test_an_anchor_missing_damaged_or_of_another_run_is_a_problem(chained: Catalog) -> None:
    head = read_head(chained.head_path)
    assert head is not None
    chained.head_path.unlink()
    assert [p.kind for p in chained.audit().problems] == ["anchor"]
    for text in ("", "{", "[]", '{"runs": 5}', json.dumps({"runs": "5", "last": 5, "hash": head.hash})):
        chained.head_path.write_text(text, encoding="utf-8")
        assert "is damaged" in said(chained.audit())[0]
    write_head(chained.head_path, Head(5, 5, "d" * 64))
    assert "is not the one that the anchor names" in said(chained.audit())[0]
    write_head(chained.head_path, Head(6, 6, "d" * 64))
    assert said(chained.audit()) == ["run 6 was removed after run 5"]


def test_nothing_is_recorded_behind_a_lost_run(
    chained: Catalog, run_of: Callable[[int], Verification]
) -> None:
    # Otherwise the next run would take the lost one's place and the anchor would bless it.
    with forger(chained) as connection:
        remove(connection, 5)
        connection.execute("UPDATE sqlite_sequence SET seq = 4 WHERE name = 'verifications'")
    with pytest.raises(CatalogError, match=r"run 5.*is gone or was rewritten.*audit"):
        chained.record_verification(1, run_of(6))
    assert said(chained.audit()) == ["run 5 was removed after run 4"]


def test_a_run_of_another_package_is_refused(full: Catalog, run_of: Callable[[int], Verification]) -> None:
    with pytest.raises(CatalogError, match="of another package"):
        full.record_verification(2, run_of(2))
    with pytest.raises(CatalogError, match="of another package"):
        full.record_verification(99, run_of(2))


def test_a_run_with_text_that_isnt_unicode_is_refused(
    full: Catalog, run_of: Callable[[int], Verification]
) -> None:
    with pytest.raises(CatalogError, match="isn't valid Unicode"):
        full.record_verification(1, run_of(2).model_copy(update={"who": "\ud800"}))
    assert full.audit().runs == 1


def test_changed_and_missing_objects_are_named(full: Catalog) -> None:
    paths = [full.objects.path(name) for name in full.objects.names()]
    assert len(paths) == 2
    paths[0].chmod(0o644)
    paths[0].write_bytes(b"forged")
    paths[1].unlink()
    assert full.audit().sound
    problems = full.audit(objects=True).problems
    assert [p.kind for p in problems] == ["object", "object"]
    assert {s.rsplit(" ", 1)[1] for s in (p.sentence for p in problems)} == {"changed", "missing"}


def test_an_audit_only_reads(chained: Catalog) -> None:
    with open_catalog(chained.path, writable=False) as reader:
        assert reader.audit(objects=True).sound
        assert not reader.connection.in_transaction


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (
            "UPDATE claims SET value = '4' WHERE id = 1",
            "claim sum was edited: its value isn't the manifest's",
        ),
        ("DELETE FROM claims WHERE name = 'told' AND artifact_id = 1", "claim told was removed"),
        ("UPDATE claims SET name = 'heard' WHERE name = 'told' AND artifact_id = 1", "claim heard was added"),
        ("UPDATE files SET role = 'output' WHERE id = 1", "file inputs.csv was edited: its role"),
        ("UPDATE analyses SET kind = 'builtin' WHERE id = 1", "analysis total was edited: its kind"),
        ("UPDATE manifests SET content = content || ' '", "its manifest was edited"),
    ],
)
def test_rows_that_arent_their_manifests_are_named(full: Catalog, edit: str, sentence: str) -> None:
    # What pages show of a package are views of its manifest, whose hash stands in every run.
    with forger(full) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute(edit)
    assert any(s.startswith("package demo-package (version 1): " + sentence) for s in said(full.audit()))
