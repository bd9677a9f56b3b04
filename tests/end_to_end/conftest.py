"""The installed program as a user runs it: a process of its own, in a folder of its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]

RUNS = "site,day,celsius\nnorth,1,18.5\nnorth,2,21.0\nsouth,1,24.25\nsouth,2,23.75\n"
# Written as a stranger would: no sizes, no hashes; `seal` fills them in.
MANIFEST = """
{
  "manifest_version": 1,
  "id": "heat-numbers",
  "title": "Numbers of the heat paper",
  "licence": "CC0-1.0",
  "work": {"id": "heat", "title": "Heat at two sites", "year": 2026},
  "files": [{"path": "runs.csv", "role": "input"}],
  "analyses": [
    {"id": "mean", "kind": "query", "inputs": {"runs": "runs.csv"}, "sql": "SELECT avg(celsius) FROM runs"},
    {"id": "count", "kind": "query", "inputs": {"runs": "runs.csv"}, "sql": "SELECT count(*) FROM runs"},
    {"id": "warmest", "kind": "query", "inputs": {"runs": "runs.csv"},
     "sql": "SELECT site, max(celsius) FROM runs GROUP BY site ORDER BY site"}
  ],
  "claims": [
    {"id": "mean-celsius", "text": "Mean temperature", "value": "21.875",
     "evidence": [{"analysis": "mean", "pointer": "/rows/0/0"}]},
    {"id": "days", "text": "Measurements", "value": "4",
     "evidence": [{"analysis": "count", "pointer": "/rows/0/0"}]},
    {"id": "south-max", "text": "Highest value in the south", "value": "24.25",
     "evidence": [{"analysis": "warmest", "pointer": "/rows/1/1"}]}
  ]
}
"""


class Program:
    """`proofshelf` in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.argv = [sys.executable, "-m", "catalog.commands"]
        passed = {k: v for k, v in os.environ.items() if not k.startswith("PROOFSHELF_")}
        self.environment = {**passed, "PYTHONPATH": str(ROOT), "PROOFSHELF_WHO": "tester"}

    def __call__(self, line: str, code: int = 0, **more: Any) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [*self.argv, *line.split()],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            **more,
        )
        assert "Traceback" not in done.stderr
        assert done.returncode == code, done.stdout + done.stderr
        return done

    def start(self, line: str, **more: Any) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [*self.argv, *line.split()], cwd=self.folder, env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more,
        )  # fmt: skip


@pytest.fixture
def proofshelf(tmp_path: Path) -> Program:
    return Program(tmp_path)


@pytest.fixture(scope="session")
def program() -> type[Program]:
    """Makes `proofshelf` in a folder, for what is made once and copied."""
    return Program


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an empty catalog, to be copied."""
    folder = tmp_path_factory.mktemp("empty")
    Program(folder)("init")
    return folder


@pytest.fixture(scope="session")
def stranger(empty: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the stranger's package, sealed, and a catalog with that package."""
    folder = tmp_path_factory.mktemp("stranger")
    shutil.copytree(empty, folder, dirs_exist_ok=True)
    heat = folder / "heat"
    heat.mkdir()
    (heat / "runs.csv").write_text(RUNS)
    (heat / "manifest.json").write_text(MANIFEST)
    program = Program(folder)
    program("seal heat")
    program("add heat")
    return folder


@pytest.fixture
def heat(stranger: Path, tmp_path: Path) -> Path:
    """The stranger's folder, sealed."""
    return Path(shutil.copytree(stranger / "heat", tmp_path / "heat"))


@pytest.fixture
def shelf(stranger: Path, heat: Path, tmp_path: Path) -> Path:
    """A catalog with that package."""
    shutil.copytree(stranger, tmp_path, dirs_exist_ok=True)
    return tmp_path / "proofshelf.db"
