"""Killed, full, raced: what was said to be written is there whole, and nothing else is."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from catalog.anchor import read_head
from catalog.backup import Backup
from catalog.store import Catalog, open_catalog
from schema.verification import Verification

ROOT = Path(__file__).resolve().parents[2]

# Adds one package after another, each with files of its own, and says so after each commit.
ADDING = """
import sys, time
from pathlib import Path
from catalog.store import open_catalog
with open_catalog(Path(sys.argv[1]), writable=True) as catalog:
    print("ready", flush=True)
    for package in sys.argv[2:]:
        print(catalog.add_package(Path(package), "tester").slug, flush=True)
"""

# Records the catalog's first run again and again, each under a name of its own; between two it waits for so
# many seconds as it is told.
VERIFYING = """
import sys, time
from pathlib import Path
from catalog.chain import stored_run
from catalog.store import open_catalog
with open_catalog(Path(sys.argv[1]), writable=True, busy_seconds=60) as catalog:
    run = stored_run(catalog.connection, 1).run
    print("ready", flush=True)
    for number in range(int(sys.argv[3])):
        who = f"{sys.argv[2]}-{number}"
        print(catalog.record_verification(1, run.model_copy(update={"who": who}))[0], who, flush=True)
        time.sleep(float(sys.argv[4]))
"""


def start(script: str, *arguments: object) -> subprocess.Popen[bytes]:
    """Run a script until it says that it is ready. Unbuffered, so that no later line is read here."""
    command = [sys.executable, "-c", script, *map(str, arguments)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, bufsize=0)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


def lines(process: subprocess.Popen[bytes]) -> list[str]:
    """All that it says until its end; a line cut off by a kill doesn't count."""
    return process.communicate(timeout=300)[0].decode().split("\n")[:-1]


def kill_after(process: subprocess.Popen[bytes], seconds: float) -> list[str]:
    """Kill -9 after a while; returns what it had said until then."""
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    return lines(process)


def units_are_whole(catalog: Catalog) -> None:
    """Every package has all its rows and files, every run all its checks."""
    report = catalog.audit(objects=True)
    assert report.problems == ()
    connection = catalog.connection
    for artifact_id, slug in connection.execute("SELECT id, slug FROM artifacts").fetchall():
        counts = [
            connection.execute(f"SELECT count(*) FROM {t} WHERE artifact_id = ?", [artifact_id]).fetchone()[0]
            for t in ("files", "analyses", "claims")
        ]
        assert counts == [4 if slug.startswith("p") else 2, 1, 2]
        events = connection.execute(
            "SELECT count(*) FROM events WHERE action = 'add' AND subject = ?", [slug]
        )
        assert events.fetchone()[0] == 1
    runs = connection.execute("SELECT count(*) FROM verifications").fetchone()[0]
    assert connection.execute("SELECT count(*) FROM events WHERE action = 'verify'").fetchone()[0] == runs
    # Everything found by search is a work, and every work is found.
    found = connection.execute(
        "SELECT count(*) FROM works_fts WHERE works_fts MATCH 'demonstrated'"
    ).fetchone()[0]
    assert found == connection.execute("SELECT count(*) FROM works").fetchone()[0]


@pytest.fixture
def packages(write_package: Callable[..., Path]) -> list[Path]:
    """Forty packages of forty works, each with four files that no other has."""
    import hashlib
    import json

    made = []
    for number in range(40):
        work = {"id": f"w{number}", "title": f"A demonstrated work {number}"}
        folder = write_package(f"p{number}", work=work, csv=f"x\n{number}\n")
        manifest = json.loads((folder / "manifest.json").read_text())
        for extra in range(3):
            data = f"{number} {extra} ".encode() * 30_000
            (folder / f"extra-{extra}").write_bytes(data)
            manifest["files"].append(
                {
                    "path": f"extra-{extra}",
                    "role": "output",
                    "bytes": len(data),
                    "sha256": hashlib.sha256(data).hexdigest(),
                }
            )
        (folder / "manifest.json").write_text(json.dumps(manifest))
        made.append(folder)
    return made


def test_killed_while_adding(catalog: Catalog, packages: list[Path]) -> None:
    # Twelve kills at random moments, over a catalog that grows; the seed makes failures come again.
    chance = random.Random(20261129)
    done: set[str] = set()
    killed = 0
    for _ in range(12):
        todo = [p for p in packages if f"p{packages.index(p)}" not in done]
        said = kill_after(start(ADDING, catalog.path, *todo), chance.uniform(0.0, 0.15))
        killed += 1
        with open_catalog(catalog.path, writable=True) as after:
            units_are_whole(after)
            there = {row[0] for row in after.connection.execute("SELECT slug FROM artifacts")}
            # What was said to be done is there; at most one more, killed between commit and saying so.
            assert done | set(said) <= there
            assert len(there - done - set(said)) <= 1
            done = there
    assert killed == 12
    assert len(done) >= 5
    # What interrupted writes left is nothing that anybody needs.
    with open_catalog(catalog.path, writable=True) as after:
        after.sweep()
        units_are_whole(after)
        known = {row[0] for row in after.connection.execute("SELECT DISTINCT sha256 FROM files")}
        assert set(after.objects.names()) == known
        assert not list(after.objects.root.glob("incoming-*"))


def test_killed_while_recording_verifications(full: Catalog) -> None:
    chance = random.Random(20261130)
    told: dict[int, str] = {}
    behind = 0
    for turn in range(12):
        said = kill_after(start(VERIFYING, full.path, f"turn{turn}", 10_000, 0), chance.uniform(0.0, 0.2))
        told |= {int(number): who for number, who in (line.split() for line in said)}
        with open_catalog(full.path, writable=False) as after:
            report = after.audit()
            # An anchor left behind by the kill is sound, and said.
            assert report.problems == ()
            behind += bool(report.notes)
            rows = dict(after.connection.execute("SELECT id, who FROM verifications").fetchall())
            assert told.items() <= rows.items()
            assert len(rows) <= 1 + len(told) + turn + 1
    assert len(told) > 30
    # The next run moves the anchor on.
    with open_catalog(full.path, writable=True) as last:
        number, run = last.verify_artifact("demo-package", who="tester")
        assert run.outcome.value == "verified"
        report = last.audit()
        assert report.notes == ()
        assert report.anchor is not None
        assert report.anchor.last == number == report.last


def test_eight_writers_at_once_lose_nothing(full: Catalog) -> None:
    # With a deferred BEGIN, most of these rows were lost to "database is locked" or to a torn chain.
    processes = [start(VERIFYING, full.path, f"writer{n}", 12, 0) for n in range(8)]
    said = [line for p in processes for line in lines(p)]
    assert [p.returncode for p in processes] == [0] * 8
    report = full.audit()
    assert report.problems == ()
    assert report.notes == ()
    assert report.runs == 1 + 8 * 12
    rows = dict(full.connection.execute("SELECT id, who FROM verifications WHERE id > 1").fetchall())
    assert {int(number): who for number, who in (line.split() for line in said)} == rows
    head = read_head(full.head_path)
    assert head is not None
    assert head.last == report.last


def test_a_backup_taken_while_others_write_is_one_state(full: Catalog, tmp_path: Path) -> None:
    # The writers go on until the last copy is made, however fast they are. They take a breath between two
    # runs: each audit below goes over all that they wrote.
    writers = [start(VERIFYING, full.path, f"writer{n}", 100_000, 0.005) for n in range(2)]
    copies: list[Backup] = []
    for number in range(4):
        before = copies[-1].runs if copies else 1
        while full.audit().runs <= before:
            assert [writer.poll() for writer in writers] == [None, None]
            time.sleep(0.01)
        with open_catalog(full.path, writable=True) as source:
            copies.append(source.backup(tmp_path / f"copy-{number}", "tester"))
    for writer in writers:
        writer.kill()
        writer.communicate()
    assert full.audit().problems == ()
    for copy in copies:
        with open_catalog(copy.path, writable=True) as opened:
            report = opened.audit(expect=copy.head, objects=True)
            assert report.problems == ()
            assert report.notes == ()
            assert (report.expected, report.runs) == ("head", copy.runs)
            # It goes on as a catalog of its own, and is an ancestor of the one that it was copied from.
            assert full.audit(expect=copy.head).expected in ("ancestor", "head")
            opened.verify_artifact("demo-package", who="tester")
            assert opened.audit().runs == copy.runs + 1
    assert copies[-1].runs > copies[0].runs


def test_readers_see_whole_units_while_others_write(full: Catalog) -> None:
    writer = start(VERIFYING, full.path, "writer", 60, 0)
    seen = []
    with open_catalog(full.path, writable=False) as reader:
        while writer.poll() is None:
            report = reader.audit()
            assert report.problems == ()
            seen.append(report.runs)
    lines(writer)
    assert writer.returncode == 0
    assert seen == sorted(seen)
    assert len(set(seen)) > 1


FULL_DISK = """
import sys
from pathlib import Path
from catalog.store import CatalogError, open_catalog
with open_catalog(Path(sys.argv[1]), writable=True) as catalog:
    for package in sys.argv[2:]:
        try:
            print(catalog.add_package(Path(package), "tester").slug)
        except CatalogError as error:
            print("refused:", error)
"""


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can mount a small disk")
@pytest.mark.parametrize("kilobytes", [1600, 1900, 2300, 2900])
def test_a_full_disk(tmp_path: Path, packages: list[Path], kilobytes: int) -> None:
    # A real, small file system. An empty catalog takes about 1,300 kB while it is made, a package 500 kB.
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "none", str(disk)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        from catalog.store import create

        create(disk / "shelf.db").close()
        done = subprocess.run(
            [sys.executable, "-c", FULL_DISK, str(disk / "shelf.db"), *map(str, packages[:6])],
            cwd=ROOT, capture_output=True, text=True,
        )  # fmt: skip
        assert done.stderr == ""
        said = done.stdout.splitlines()
        assert len(said) == 6
        refused = [line for line in said if line.startswith("refused: ")]
        assert refused
        assert all("the disk is full" in line or "is full; nothing was changed" in line for line in refused)
        with open_catalog(disk / "shelf.db", writable=False) as after:
            units_are_whole(after)
            there = [row[0] for row in after.connection.execute("SELECT slug FROM artifacts ORDER BY id")]
            assert there == [line for line in said if line not in refused]
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_killed_while_a_catalog_is_made(tmp_path: Path) -> None:
    # The file appears whole, or not at all; what is left beside it is hidden and in nobody's way.
    script = "import sys; from catalog.store import create; print('ready', flush=True); create(sys.argv[1])"
    made = 0
    for number in range(5):
        path = tmp_path / f"shelf-{number}.db"
        kill_after(start(script, path), 0.006 * number)
        if path.exists():
            made += 1
            with open_catalog(path, writable=True) as opened:
                assert opened.audit().problems == ()
    assert made < 5


def test_a_writer_that_waits_gets_its_turn(full: Catalog, run_of: Callable[[int], Verification]) -> None:
    other = sqlite3.connect(full.path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    threading.Timer(0.3, lambda: other.execute("COMMIT")).start()
    assert full.record_verification(1, run_of(2))[0] == 2
