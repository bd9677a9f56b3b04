"""Odd surroundings: closed streams, and names that are no UTF-8. No traceback, and nothing half-made."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Shell = Callable[..., subprocess.CompletedProcess[str]]
NO_UTF8 = os.fsdecode(b"b\xffd")


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Runs a line of sh in a folder of its own, where `p` is proofshelf."""

    def run(line: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "-c", f"p() {{ '{sys.executable}' -m catalog.commands \"$@\"; }}; {line}"],
            cwd=tmp_path,
            env={k: v for k, v in os.environ.items() if k != "PROOFSHELF_DB"} | environment,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            check=False,
        )

    return run


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("p list >&-", 0),
        ("p list --json >&-", 0),
        ("p list <&- >&- 2>&-", 0),
        ("p show nothing 2>&-", 1),
        ("p show nothing >&- 2>&-", 1),
    ],
)
def test_a_closed_stream_leads_nowhere(
    shell: Shell, empty: Path, tmp_path: Path, line: str, code: int
) -> None:
    shutil.copytree(empty, tmp_path, dirs_exist_ok=True)
    done = shell(line)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "")


def test_the_database_never_takes_the_place_of_a_closed_stream(shell: Shell) -> None:
    assert shell("p init >&- 2>&- <&-").returncode == 0
    assert "SOUND" in shell("p audit").stdout


def test_names_that_are_no_utf8(shell: Shell, tmp_path: Path) -> None:
    """Linux allows any byte in a name; what is stored of it is text."""
    assert shell(f"p --db '{NO_UTF8}.db' init").returncode == 0
    (tmp_path / f"{NO_UTF8}.bib").write_text("@article{a, title={A title}, author={Doe, Jane}}")
    done = shell(f"p --db '{NO_UTF8}.db' import '{NO_UTF8}.bib' --json", PROOFSHELF_WHO=NO_UTF8)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["imports"][0]["counts"]["filename"] == "b\\xffd.bib"
    assert json.loads(done.stdout)["imports"][0]["counts"]["who"] == "b\\xffd"
    done = shell(f"p --db '{NO_UTF8}.db' backup '{NO_UTF8}'")
    assert (done.returncode, done.stderr) == (0, "")
