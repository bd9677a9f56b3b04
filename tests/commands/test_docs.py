"""docs/commands.md is what the commands say of themselves, and the examples in it really run."""

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from artifacts.packages import bundled
from catalog.commands.group import cli
from catalog.commands.lazy import walk
from catalog.commands.reference import reference
from catalog.commands.screen.examples import EXAMPLE

PAGE = Path(__file__).resolve().parents[2] / "docs" / "commands.md"


COMMANDS = {" ".join(path): command for path, command in walk(cli)}
LEAVES = [name for name, command in COMMANDS.items() if not isinstance(command, click.Group)]


def examples(command: click.Command) -> list[str]:
    """The command lines of a help text; one that ends with a backslash goes on in the next."""
    text = re.sub(r"\\\n\s*", "", command.help or "")
    return [line.strip() for line in text.splitlines() if line.strip().startswith("proofshelf ")]


ALL_EXAMPLES = sorted({line for command in (cli, *COMMANDS.values()) for line in examples(command)})


def test_page_is_what_the_generator_writes() -> None:
    # `make docs` would change nothing: whoever changes a help text renews the page with it.
    assert reference() == PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", COMMANDS)
def test_page_has_every_command_with_every_option(name: str) -> None:
    # Independent of the generator: each option as it is declared must stand in the command's section.
    section = PAGE.read_text(encoding="utf-8").split(f"\n## proofshelf {name}\n")[1].split("\n## ")[0]
    for parameter in COMMANDS[name].params:
        spelt = (
            parameter.opts
            if isinstance(parameter, click.Option)
            else [parameter.make_metavar(_context(name))]
        )
        for text in spelt:
            assert text in section


def _context(name: str) -> click.Context:
    return click.Context(COMMANDS[name], info_name=name)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_a_purpose_and_examples(run: Any, name: str) -> None:
    result = run(*name.split(), "--help")
    assert result.exit_code == 0
    purpose = (COMMANDS[name].help or "").strip().splitlines()[0]
    # The first line stands whole in the list of commands: click cuts it with dots otherwise.
    assert purpose.endswith(".")
    assert len(purpose) <= 65
    assert purpose in run(*name.split()[:-1], "--help").stdout
    assert "Examples:" in result.stdout
    assert any(line.startswith(f"proofshelf {name}") for line in examples(COMMANDS[name]))


def test_every_command_offers_json() -> None:
    without = [n for n in LEAVES if "--json" not in {o for p in COMMANDS[n].params for o in p.opts}]
    assert without == []


def screening(folder: Path) -> None:
    """The study that `screen design --example` prints, on as many works as it draws: two people differ."""
    works = ["@article{smith, author={Smith, J.}, title={Trial}, year={2020}}"]
    works += [
        f"@article{{k{n}, author={{Author{n}, A.}}, title={{Paper}}, year={{{2015 if n < 40 else 2001}}}}}"
        for n in range(1, 60)
    ]
    (folder / "works.bib").write_text("\n".join(works))
    frame = '{ field = "title", in = ["Trial", "Paper"] }'  # not the demo's own papers
    (folder / "study.toml").write_text(EXAMPLE.replace("[[samples]]", f"[[samples]]\nframe = {frame}", 1))
    db = ("--db", str(folder / "made" / "proofshelf.db"))

    def do(*arguments: str) -> str:
        result = CliRunner().invoke(cli, [*db, *arguments])
        assert result.exit_code == 0, result.output
        return result.stdout

    do("import", str(folder / "works.bib"))
    do("screen", "design", str(folder / "study.toml"))
    do("screen", "sample", "pilot", "pilot-sample")
    chunks = json.loads(do("screen", "manifest", "pilot-screen", "--json"))["chunks"]
    sample = [work for chunk in chunks for work in chunk["works"]]
    for rater, one in (("ada", 1), ("ben", 0)):  # Ada includes every second work and Smith's, Ben none
        included = [one and (n % 2 == 0 or work == "smith-2020-trial") for n, work in enumerate(sample)]
        decided = [("in_scope,trial" if yes else "out_of_scope,") for yes in included]
        rows = [f"{work},{decision},high" for work, decision in zip(sample, decided, strict=True)]
        (folder / "votes.csv").write_text("\n".join(["work,decision,categories,confidence", *rows]))
        do("screen", "import-votes", str(folder / "votes.csv"), "--round", "pilot-screen", "--rater", rater)
    labels = [f"{work},{n % 2}" for n, work in enumerate(sample)]
    (folder / "labels.csv").write_text("\n".join(["slug,label_included", *labels]))
    records = [f"{n},Title {n},Abstract of {n},{n % 3 // 2}" for n in range(30)]
    (folder / "labelled.csv").write_text("\n".join(["record_id,title,abstract,label_included", *records]))


def queueing(folder: Path) -> None:
    """A synthetic trace, and one as Tiresias' public simulator reads it."""
    line = ["traces", "generate", "--jobs", "60", "--gpus", "16", "--to", str(folder / "made.csv")]
    result = CliRunner().invoke(cli, ["schedule", *line])
    assert result.exit_code == 0, result.output
    (folder / "tiresias.csv").write_text(
        "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n0,1,0,606,vgg19,164,30\n"
    )


def scheduling(folder: Path) -> None:
    """Attempts, two runs of one search on them, and a third that was killed before it saved anything."""

    def do(*arguments: str) -> str:
        result = CliRunner().invoke(cli, ["schedule", "admission", *arguments])
        assert result.exit_code == 0, result.output
        return result.stdout

    attempts = str(folder / "attempts.jsonl")
    do("generate", "tmax-like", "--attempts", "30", "--to", attempts)
    for name in ("first", "second"):
        made = do("search", attempts, "--slots", "4", "--budget", "20000", "--runs", str(folder), "--json")
        (folder / "runs").mkdir(exist_ok=True)
        shutil.move(json.loads(made)["run"], folder / "runs" / name)
    unfinished = folder / "runs" / "unfinished"
    unfinished.mkdir()
    for name in ("request.json", "workload.jsonl.gz"):
        shutil.copy(folder / "runs" / "first" / name, unfinished)


@pytest.fixture(scope="module")
def world(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the examples make sense: the demo's catalog, and files to read."""
    folder = tmp_path_factory.mktemp("world")
    shutil.copytree(demo / "shelf", folder / "made")
    screening(folder)
    scheduling(folder)
    queueing(folder)
    (folder / "library.bib").write_text("@book{a, title={A title}, year={2020}}\n@book{b, year={1}}\n")
    (folder / "zotero.json").write_text('[{"type": "book", "title": "Another"}]')
    for name in ("my-package", "first"):
        shutil.copytree(bundled()["tias-record"], folder / name)
    shutil.make_archive(str(folder / "first"), "zip", folder / "first")
    shutil.make_archive(str(folder / "second"), "gztar", folder / "first")
    return folder


# Exit codes other than 0 that an example rightly has here.
EXPECTED = {
    "proofshelf verify tias --quiet": 4,  # nothing recomputes a screening record
    "proofshelf verify ./my-package": 4,  # the same record as a folder
    "proofshelf verify my-package": 4,
    "proofshelf verify --all --level hash": 4,  # hashing alone recomputes nothing
    "proofshelf audit --expect 5f0c9a4be1a4c1f5f6a3f1d1b8e1a7d2c3b4a59687786950413223140f0e0d0c": 3,
    'proofshelf search "deep learning" --limit 5 --json': 0,
    # Nobody has validated the made-up study, so there is no such round.
    "proofshelf classify evaluate synthetic-r1 --round synthetic-validation": 1,
    "proofshelf classify evaluate synthetic-r1 --round synthetic-validation --rater ann --json": 1,
}
NOT_HERE = ("proofshelf browse", "proofshelf demo")  # a server, tested elsewhere; `world` ran the demo


@pytest.mark.parametrize("line", [line for line in ALL_EXAMPLES if not line.startswith(NOT_HERE)])
def test_example_runs(run: Any, world: Path, tmp_path: Path, line: str) -> None:
    shutil.copytree(world, tmp_path, dirs_exist_ok=True)
    if not line.startswith("proofshelf init"):
        for file in (tmp_path / "made").iterdir():
            shutil.move(file, tmp_path / file.name)
    arguments = [a.replace("/tmp", str(tmp_path)) for a in shlex.split(line)[1:]]
    result = run(*arguments)
    assert result.exit_code == EXPECTED.get(line, 0), result.output
    assert "Traceback" not in result.output
