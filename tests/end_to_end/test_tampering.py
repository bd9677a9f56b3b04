"""Whatever is changed after the fact is found: a claim, a byte in a folder or in the store, a run."""

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from catalog.append_only import triggers


def test_stranger_s_package_from_folder_to_verdict(proofshelf: Any, shelf: Path) -> None:
    # Mean (18.5 + 21 + 24.25 + 23.75) / 4 = 21.875, four rows, 24.25 the south's maximum: by hand.
    text = proofshelf("verify heat-numbers").stdout
    assert "3 of 3 published claims confirmed (3 recomputed from primary inputs)" in text
    assert "\x1b" not in text
    for row in ("mean-celsius  21.875", "days           4", "south-max     24.25"):
        assert row in text


def test_changed_claim_differs(proofshelf: Any, heat: Path) -> None:
    manifest = heat / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"value": "24.25"', '"value": "24.75"'))
    # Computed 24.25 less claimed 24.75 is -0.50; the tolerance is exact.
    text = proofshelf("verify heat", code=3).stdout
    assert "expected 24.75, observed 24.25, difference -0.5" in text
    assert "Failed: 1 claim doesn't come out: south-max (24.75 claimed, 24.25 computed)" in text


def test_changed_claim_is_a_new_version_and_fails(proofshelf: Any, heat: Path, shelf: Path) -> None:
    manifest = heat / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"value": "4"', '"value": "5"'))
    assert "as version 2, beside version 1" in proofshelf("add heat").stdout
    proofshelf("verify heat-numbers", code=3)
    # The first version stays what it was.
    assert '"4"' in proofshelf("show heat-numbers --version 1 --json").stdout


def test_changed_byte_in_a_folder(proofshelf: Any, heat: Path) -> None:
    data = (heat / "runs.csv").read_bytes()
    (heat / "runs.csv").write_bytes(data.replace(b"18.5", b"18.6"))
    text = proofshelf("verify heat", code=3).stdout
    assert "0 of 1 file match." in text
    assert "mismatch" in text
    assert "observed sha256" in text
    # What would be computed from other bytes than the package's isn't computed at all.
    assert "refused" in text
    assert "identical" not in text


def test_changed_byte_in_the_store(proofshelf: Any, shelf: Path, tmp_path: Path) -> None:
    proofshelf("verify heat-numbers")
    (stored,) = (p for p in (tmp_path / "proofshelf.db.objects").rglob("*") if p.is_file())
    stored.chmod(0o644)
    stored.write_bytes(stored.read_bytes().replace(b"18.5", b"18.6"))
    assert "mismatch" in proofshelf("verify heat-numbers", code=3).stdout
    audited = proofshelf("audit --objects", code=3).stdout
    assert "was changed" in audited
    assert stored.name in audited
    # Adding the package again brings the bytes back.
    proofshelf("add heat")
    proofshelf("verify heat-numbers")


def by_hand(path: Path, *statements: str) -> None:
    """What somebody with a SQLite shell would do, who first removes what is in the way and puts it back."""
    db = sqlite3.connect(path)
    for name in triggers():
        db.execute(f'DROP TRIGGER "{name}"')
    for statement in statements:
        db.execute(statement)
    for definition in triggers().values():
        db.execute(definition)
    db.commit()
    db.close()


@pytest.fixture(scope="module")
def three_runs(program: Any, stranger: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a catalog in which the package was verified three times."""
    folder = tmp_path_factory.mktemp("three")
    shutil.copytree(stranger, folder, dirs_exist_ok=True)
    proofshelf = program(folder)
    for _ in range(3):
        proofshelf("verify heat-numbers --quiet")
    assert "SOUND  3 verifications" in proofshelf("audit").stdout
    return folder


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("what", ["deleted", "edited", "check edited"])
def test_audit_names_the_run_that_was_touched(
    proofshelf: Any, three_runs: Path, tmp_path: Path, number: int, what: str
) -> None:
    shutil.copytree(three_runs, tmp_path, dirs_exist_ok=True)
    by_hand(
        tmp_path / "proofshelf.db",
        *{
            "deleted": (
                f"DELETE FROM checks WHERE verification_id = {number}",
                f"DELETE FROM verifications WHERE id = {number}",
            ),
            "edited": (f"UPDATE verifications SET who = 'nobody' WHERE id = {number}",),
            "check edited": (
                f"UPDATE checks SET observed = '5' WHERE verification_id = {number} AND kind = 'claim'",
            ),
        }[what],
    )
    text = proofshelf("audit", code=3).stdout
    assert text.startswith("NOT SOUND")
    assert f"run {number} was {'removed' if what == 'deleted' else 'edited'}" in text.splitlines()[0]
    report = json.loads(proofshelf("audit --json", code=3).stdout)
    assert (report["sound"], report["problems"][0]["run"]) == (False, number)


def test_all_runs_lost_with_their_anchor_is_seen_by_the_noted_head(
    proofshelf: Any, shelf: Path, tmp_path: Path
) -> None:
    # Whoever may write everything can rebuild everything, but not a hash that was noted elsewhere.
    proofshelf("verify heat-numbers --quiet")
    head = json.loads(proofshelf("audit --json").stdout)["head"]
    by_hand(shelf, "DELETE FROM checks", "DELETE FROM verifications", "DELETE FROM sqlite_sequence")
    (tmp_path / "proofshelf.db.head").unlink()
    assert head in proofshelf(f"audit --expect {head}", code=3).stdout
