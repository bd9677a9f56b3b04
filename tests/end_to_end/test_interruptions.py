"""Killed, stopped, cut off or out of space: whole units or nothing, and the catalog goes on."""

import hashlib
import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


def counts(path: Path) -> tuple[int, ...]:
    with sqlite3.connect(path) as db:
        tables = ("artifacts", "claims", "files", "verifications", "checks", "imports", "works", "events")
        return tuple(db.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in tables)


def slow(heat: Path, seconds: float) -> None:
    """Let the first query run until its limit, so that there is time to interrupt it."""
    manifest = json.loads((heat / "manifest.json").read_text())
    manifest["analyses"][0].update(
        sql="WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n, runs",
        time_limit_s=seconds,
    )
    (heat / "manifest.json").write_text(json.dumps(manifest))


def large(heat: Path, proofshelf: Any, files: int = 200) -> None:
    """Make the package of many files, so that there is time to interrupt `add`."""
    for number in range(files):
        (heat / f"extra-{number}.csv").write_bytes(os.urandom(200_000))
    proofshelf("seal heat")


def children(pid: int) -> Iterator[int]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = (entry / "stat").read_text().rsplit(")", 1)[1].split()[1]
            except OSError:
                continue
            if int(parent) == pid:
                yield int(entry.name)


def wait_for(condition: Any, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def gone(pids: list[int]) -> bool:
    """Whether none of them runs any more; one that ended may wait there to be reaped (state Z)."""
    return not any(state(pid) not in ("", "Z") for pid in pids)


def state(pid: int) -> str:
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return ""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for child processes in /proc")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_verify_interrupted_records_nothing(
    proofshelf: Any, heat: Path, shelf: Path, number: signal.Signals, code: int
) -> None:
    slow(heat, 4)
    proofshelf("add heat")
    before = counts(shelf)
    process = proofshelf.start("verify heat-numbers", start_new_session=True)
    wait_for(lambda: list(children(process.pid)))
    below = list(children(process.pid))
    time.sleep(0.3)
    # Ctrl-C reaches the whole group of a terminal; kill -9 only the program.
    os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert process.returncode == code
    assert "Traceback" not in err
    if number == signal.SIGINT:
        assert err.splitlines() == [
            "proofshelf: stopped; what was finished before is kept, and nothing is half-written"
        ]
        assert out == ""
    # After kill -9 a query may run on to its own limit, 4 s here; it has nothing to write to.
    wait_for(lambda: gone(below))
    assert counts(shelf) == before
    assert "SOUND" in proofshelf("audit").stdout
    slow(heat, 0.2)
    proofshelf("add heat")
    proofshelf("verify heat-numbers", code=4)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_add_interrupted_leaves_whole_files_and_no_rows(
    proofshelf: Any, heat: Path, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    large(heat, proofshelf)
    proofshelf("init")
    shelf, store = tmp_path / "proofshelf.db", tmp_path / "proofshelf.db.objects"
    before = counts(shelf)
    process = proofshelf.start("add heat")
    wait_for(lambda: len(list(store.glob("*/*"))) > 5)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert "Traceback" not in err
    assert counts(shelf) == before
    for file in store.glob("*/*"):
        assert hashlib.sha256(file.read_bytes()).hexdigest() == file.name
    proofshelf("add heat")
    proofshelf("verify heat-numbers")


def test_import_interrupted_leaves_nothing(proofshelf: Any, tmp_path: Path) -> None:
    proofshelf("init")
    text = "".join(f"@book{{k{i}, title={{Title number {i}}}, year={{2020}}}}\n" for i in range(20_000))
    (tmp_path / "many.bib").write_text(text)
    shelf = tmp_path / "proofshelf.db"
    before = counts(shelf)
    process = proofshelf.start("import many.bib")
    wait_for(lambda: Path(f"{shelf}-wal").exists() or process.poll() is not None)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert len(err.splitlines()) == 1
    assert counts(shelf) == before


def test_no_room_to_write(proofshelf: Any, heat: Path, shelf: Path, tmp_path: Path) -> None:
    # A limit on the size of files fails the write midway, as a full disk does, without needing root.
    (heat / "big.csv").write_bytes(os.urandom(3_000_000))
    proofshelf("seal heat")
    before = counts(shelf)

    def limited() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))

    done = proofshelf("add heat", code=1, preexec_fn=limited)
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("proofshelf: ")
    assert "unexpected" not in done.stderr
    assert counts(shelf) == before
    assert not list((tmp_path / "proofshelf.db.objects").glob("incoming-*"))
    proofshelf("add heat")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_to_a_full_device(proofshelf: Any, shelf: Path, unbuffered: str) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    # With a buffer, the text is still unwritten when the command ends, and is written once more at exit.
    environment = {**proofshelf.environment, "PYTHONUNBUFFERED": unbuffered}
    with open("/dev/full", "w") as full:
        process = subprocess.run(
            [*proofshelf.argv, "list"], cwd=proofshelf.folder, env=environment,
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert process.returncode == 1
    assert "the disk is full" in process.stderr
    assert "Traceback" not in process.stderr


def test_reader_of_the_output_goes_away(proofshelf: Any, shelf: Path) -> None:
    # `proofshelf schema manifest | head -1`: silent, and with the shell's own code for it.
    process = proofshelf.start("show heat-numbers --json")
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    assert process.wait(timeout=30) in (0, 141)
    command = f"{sys.executable} -m catalog.commands schema manifest | head -1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], cwd=proofshelf.folder, env=proofshelf.environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout == "{\n"
    assert done.stderr == ""


def test_ascii_terminal_loses_nothing(proofshelf: Any, shelf: Path) -> None:
    # A stream that can't say ▮ or ° gets words and escapes, no error.
    proofshelf.environment |= {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    text = proofshelf("verify heat-numbers").stdout
    assert text.isascii()
    assert "### recomputed" in text
