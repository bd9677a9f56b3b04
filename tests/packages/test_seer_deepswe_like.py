"""The package seer-deepswe-like against the figures that its instance came with, copied out by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

from artifacts.package import open_package
from artifacts.packages import bundled
from artifacts.verdict import claim_standings
from artifacts.verify import verify_package
from scheduling_core.admission.formats import read_workload
from schema.states import CheckOutcome, ClaimKind, Depth, RunOutcome, Standing
from schema.verification import Verification

# As the design's table of this instance prints them: deadline, slots, saving, peaks, image hours, bounds.
DESIGN = {
    "attempts": "2000",
    "fifo-deadline": "7.900",
    "fewest-slots": "59",
    "slots-bound": "59",
    "slots-proved": "true",
    "quota-hours-cut": "78.2",
    "ram-peak-fifo": "512",
    "ram-area-bound": "101",
    "image-hours-fifo": "1811.4",
    "image-hours-grouped": "209.9",
    "image-hours-bound": "209.7",
}
# What longer searches found, and what follows from the file itself.
OURS = {
    "clean-attempts": "1992",
    "ram-peak-found": "136",
    "joint-ram-peak": "152",
    "joint-image-hours": "286.5",
    "schedules-hold": "5",
    "schedules-rejected": "0",
}
SAVED = {"original-quota-hours-cut": "89.4", "original-attempts": "2000"}
TWICE = {
    "attempts", "fifo-deadline", "fewest-slots", "quota-hours-cut", "ram-peak-fifo", "image-hours-fifo",
    "image-hours-grouped",
}  # fmt: skip
BY_THE_VALIDATOR = {
    "ram-peak-found", "joint-ram-peak", "joint-image-hours", "schedules-hold", "schedules-rejected",
}  # fmt: skip


@pytest.fixture(scope="module")
def folder() -> Path:
    return bundled()["seer-deepswe-like"]


@pytest.fixture(scope="module")
def manifest(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "manifest.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def run(folder: Path) -> tuple[Verification, dict[str, Standing]]:
    with open_package(folder) as package:
        made = verify_package(
            package.root, package.manifest, package.manifest_sha256,
            level="recompute", who="a test", origin="folder", code_version="test", git_commit=None,
        )  # fmt: skip
        return made, claim_standings(made.checks, package.manifest)


def test_claims_are_the_designs_figures_to_the_digit(manifest: dict[str, Any]) -> None:
    assert {c["id"]: c["value"] for c in manifest["claims"]} == DESIGN | OURS | SAVED


def test_only_the_originals_own_numbers_are_called_published(manifest: dict[str, Any]) -> None:
    for claim in manifest["claims"]:
        ours = claim["id"] not in SAVED
        assert (ClaimKind(claim["kind"]) is ClaimKind.FINDING) == ours
        assert claim["basis"].startswith("Ours" if ours else "The project's number")
        assert bool(claim.get("evidence")) == ours
        if ours:  # none speaks for or against a number of the original
            assert claim["relation"]["kind"] == "extends"


def test_a_reader_sees_that_nothing_was_measured(manifest: dict[str, Any], folder: Path) -> None:
    assert "synthetic" in manifest["title"]
    assert manifest["description"].startswith("Synthetic.")
    assert manifest["caveats"][0].startswith("Synthetic:")
    assert "aren't public" in manifest["caveats"][0]
    assert "not utilisation" in " ".join(manifest["caveats"])
    headline = next(c for c in manifest["claims"] if c["id"] == "original-quota-hours-cut")
    assert "not an observed cut of utilisation" in headline["caveats"][0]
    assert "nothing recomputes it" in headline["caveats"][1]
    workload = read_workload(folder / "inputs/attempts.jsonl.gz").workload
    assert all(attempt.synthetic and attempt.score is None for attempt in workload.attempts)


@pytest.mark.oracle
def test_everything_comes_out_and_the_headline_stays_saved(
    run: tuple[Verification, dict[str, Standing]],
) -> None:
    made, standings = run
    assert made.outcome is RunOutcome.VERIFIED, made.verdict
    for name in DESIGN | OURS:
        assert standings[name].outcome.confirms, name
        saved = name in BY_THE_VALIDATOR
        assert standings[name].depth is (Depth.REAGGREGATED if saved else Depth.RECOMPUTED), name
        assert (standings[name].independent is not None) == (name in TWICE), name
    for name in SAVED:
        assert standings[name].outcome is CheckOutcome.NOT_RECOMPUTED
        assert standings[name].depth is Depth.SAVED
    assert made.counts.confirmed == made.counts.findings_confirmed == len(DESIGN | OURS)


def test_the_attempts_are_the_supplied_ones(folder: Path, shared: Path) -> None:
    supplied = read_workload(shared / "data/deepswe_like/attempts.jsonl.gz").workload
    assert read_workload(folder / "inputs/attempts.jsonl.gz").workload.sha256 == supplied.sha256
    assert (folder / "inputs/attempts.jsonl.gz").stat().st_size < 1_000_000
