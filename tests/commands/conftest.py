"""A small package whose three numbers are worked by hand, and commands run in a folder of their own.

What many tests begin with is made once in a session, and each test gets a copy of it.
"""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from catalog.commands.group import cli

# Mean (18.5 + 21 + 24.25 + 23.75) / 4 = 21.875; four rows; the south's maximum is 24.25.
RUNS = "site,day,celsius\nnorth,1,18.5\nnorth,2,21.0\nsouth,1,24.25\nsouth,2,23.75\n"

Make = Callable[..., Path]
Run = Callable[..., Result]


def query(name: str, sql: str) -> dict[str, Any]:
    return {"id": name, "kind": "query", "inputs": {"runs": "runs.csv"}, "sql": sql}


def claim(name: str, value: str, analysis: str, pointer: str, **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "text": f"What {name} is",
        "value": value,
        "evidence": [{"analysis": analysis, "pointer": pointer}],
        **more,
    }


def manifest() -> dict[str, Any]:
    data = RUNS.encode()
    return {
        "manifest_version": 1,
        "id": "heat-numbers",
        "title": "Numbers of the heat paper",
        "licence": "CC0-1.0",
        "work": {"id": "heat", "title": "Heat at two sites", "year": 2026},
        "files": [
            {
                "path": "runs.csv",
                "role": "input",
                "bytes": len(data),
                "sha256": hashlib.sha256(data).hexdigest(),
            }
        ],
        "analyses": [
            query("mean", "SELECT avg(celsius) FROM runs"),
            query("count", "SELECT count(*) FROM runs"),
            query("warmest", "SELECT site, max(celsius) FROM runs GROUP BY site ORDER BY site"),
        ],
        "claims": [
            claim(
                "mean-celsius", "21.9", "mean", "/rows/0/0",
                unit="°C", tolerance={"kind": "half_unit", "reason": "printed to one decimal"},
            ),
            claim("days", "4", "count", "/rows/0/0"),
            claim("south-max", "24.25", "warmest", "/rows/1/1", unit="°C"),
        ],
        "caveats": ["Two sites in one spring; nothing follows for others."],
    }  # fmt: skip


def write_package(folder: Path, change: Callable[[dict[str, Any]], Any] | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    content = manifest()
    if change is not None:
        change(content)
    (folder / "runs.csv").write_text(RUNS, encoding="utf-8")
    (folder / "manifest.json").write_text(json.dumps(content, indent=2, ensure_ascii=False), encoding="utf-8")
    return folder


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Writes the package, changed by a function of its manifest, and gives its folder."""

    def write(change: Callable[[dict[str, Any]], Any] | None = None, name: str = "heat") -> Path:
        return write_package(tmp_path / name, change)

    return write


def invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, [str(a) for a in arguments])


def move_to(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Be in a folder, with nothing set that a user might have set."""
    patch.chdir(folder)
    for name in ("PROOFSHELF_DB", "PROOFSHELF_DEBUG", "NO_COLOR"):
        patch.delenv(name, raising=False)
    patch.setenv("PROOFSHELF_WHO", "tester")


def run_in(folder: Path, *lines: str, code: int = 0) -> None:
    """Run command lines one after another; each must end with this code."""
    with pytest.MonkeyPatch.context() as patch:
        move_to(folder, patch)
        for line in lines:
            result = invoke(*line.split())
            assert result.exit_code == code, result.output


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command line in the test's own folder, without a terminal."""
    move_to(tmp_path, monkeypatch)
    return invoke


@pytest.fixture(scope="session")
def make_once() -> Callable[..., None]:
    """Runs command lines in a folder; see `run_in`."""
    return run_in


@pytest.fixture(scope="session")
def shelf_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shelf")
    write_package(folder / "heat")
    run_in(folder, "init", "add heat")
    return folder


@pytest.fixture
def shelf(run: Run, shelf_once: Path, tmp_path: Path) -> Path:
    """A catalog with the small package in it, never verified."""
    shutil.copytree(shelf_once, tmp_path, dirs_exist_ok=True)
    return tmp_path / "proofshelf.db"


# Ten works, the first six of 2020, the last four of 2000; every second one speaks of a trial.
NAMES = ("able", "baker", "charlie", "dog", "easy", "fox", "george", "how", "item", "jig")
WORKS = "\n".join(
    f"@article{{{name}, author={{{name.title()}, A.}}, year={{{2020 if n < 6 else 2000}}}, "
    f"title={{{'Trial' if n % 2 == 0 else 'Survey'} of tea}}, abstract={{What {name} found.}}}}"
    for n, name in enumerate(NAMES)
)
STUDY = """\
id = "tea"
title = "Trials of tea"
caveats = ["Tea only."]
[rubric]
id = "tea-rubric"
version = "1"
title = "Trials"
asks_confidence = false
[[rubric.categories]]
id = "trial"
label = "Trial"
[[rubric.categories]]
id = "cannot"
label = "Cannot be screened"
cannot_be_screened = true
[[raters]]
id = "ada"
kind = "human"
name = "Ada"
[[raters]]
id = "ben"
kind = "human"
name = "Ben"
[[raters]]
id = "rule"
kind = "model"
name = "A rule, no language model"
model = "proofshelf-keywords"
[[samples]]
id = "half"
salt = "s"
[[samples.strata]]
id = "recent"
where = { field = "year", at_least = 2015 }
draw = 3
[[samples.strata]]
id = "older"
where = { otherwise = true }
draw = 2
[[rounds]]
id = "all"
title = "Every work"
instrument = "title+abstract"
raters = ["ada", "ben", "rule"]
adjudicators = ["ada"]
chunk_size = 4
[[rounds]]
id = "sampled"
title = "A sample"
instrument = "title"
raters = ["ada"]
sample = "half"
chunk_size = 5
"""


@pytest.fixture(scope="session")
def tea_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tea")
    (folder / "works.bib").write_text(WORKS, encoding="utf-8")
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    run_in(folder, "init", "import works.bib", "screen design study.toml", "screen sample tea half",
           "screen manifest all", "screen manifest sampled")  # fmt: skip
    return folder


@pytest.fixture
def tea(run: Run, tea_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A catalog with ten works and a study of them: sample drawn, manifests written, nobody has voted."""
    monkeypatch.setenv("LLM_USER_PATH", str(tmp_path / "llm"))
    shutil.copytree(tea_once, tmp_path, dirs_exist_ok=True)
    return tmp_path
