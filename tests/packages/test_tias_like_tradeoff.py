"""The package tias-like-tradeoff: verified by two accounts, and it never passes for the paper's result."""

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from artifacts.package import open_package
from artifacts.packages import bundled
from artifacts.packages.rebuild_queueing import DECISIONS, LOGS, rebuild_queueing
from artifacts.verdict import claim_standings
from artifacts.verify import verify_package
from schema.states import Depth, RunOutcome
from schema.verification import Verification


@pytest.fixture(scope="module")
def folder() -> Path:
    return bundled()["tias-like-tradeoff"]


@pytest.fixture(scope="module")
def manifest(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "manifest.json").read_text(encoding="utf-8"))


def verified(folder: Path) -> tuple[Verification, dict[str, Any]]:
    with open_package(folder) as package:
        run = verify_package(
            package.root, package.manifest, package.manifest_sha256,
            level="recompute", who="tests", origin="folder", code_version="tests",
        )  # fmt: skip
    return run, dict(claim_standings(run.checks, package.manifest))


def test_every_finding_is_recomputed_and_the_abstract_s_statement_stays_saved(folder: Path) -> None:
    """Figures of the five policies whose decisions are saved come out of the independent checker as well."""
    run, standings = verified(folder)
    assert run.outcome is RunOutcome.VERIFIED, run.verdict
    assert (run.counts.findings, run.counts.findings_confirmed, run.counts.saved) == (29, 29, 1)
    assert not standings["observations"].outcome.confirms
    twice = {name for name, standing in standings.items() if standing.independent}
    kinds = ("misses", "jct", "preemptions")
    slugs = ("fifo", "las", "edf-las", "ours-last", "ours-queue")
    assert twice == {f"{kind}-{slug}" for kind in kinds for slug in slugs}
    assert {standings[name].depth for name in twice} == {Depth.RECOMPUTED}


def test_a_changed_decision_is_found_by_the_checker(folder: Path, tmp_path: Path) -> None:
    """One preemption less in a saved log: its hash no longer matches, and the checker rejects the log."""
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    path = copy / DECISIONS
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    lines.remove(next(line for line in lines if line.startswith("las2d") and ",preempt," in line))
    path.write_text("".join(lines), encoding="utf-8")
    run, standings = verified(copy)
    assert run.outcome is RunOutcome.FAILED
    assert not standings["logs-rejected"].outcome.confirms
    assert run.counts.files_matching == run.counts.files - 1


def test_the_same_decisions_come_out(folder: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    (copy / DECISIONS).write_text("", encoding="utf-8")
    rebuild_queueing(copy)
    assert (copy / DECISIONS).read_bytes() == (folder / DECISIONS).read_bytes()
    assert (copy / "manifest.json").read_bytes() == (folder / "manifest.json").read_bytes()


def test_it_says_everywhere_what_it_is(folder: Path, manifest: dict[str, Any]) -> None:
    assert "reconstruction" in manifest["title"]
    assert "the paper's own numbers are not public" in manifest["caveats"][0]
    published = [claim for claim in manifest["claims"] if claim["kind"] == "published"]
    assert [claim["id"] for claim in published] == ["observations"]
    assert manifest["work"]["id"] == "tias"
    with (folder / DECISIONS).open(encoding="utf-8", newline="") as lines:
        assert list(dict.fromkeys(row["policy"] for row in csv.DictReader(lines))) == LOGS
