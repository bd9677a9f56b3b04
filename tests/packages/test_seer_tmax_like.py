"""The package seer-tmax-like against its own attempts, counted on a grid of ticks."""

import gzip
import heapq
import json
import shutil
from collections.abc import Callable
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from artifacts.package import open_package
from artifacts.packages import bundled
from artifacts.packages.rebuild_admission import SCHEDULES, rebuild_admission
from artifacts.verdict import claim_standings
from artifacts.verify import verify_package
from scheduling_core.admission.analysis import bounds, replay, search
from scheduling_core.admission.formats import read_workload
from scheduling_core.admission.synthetic import generate
from scheduling_core.admission.validate import report
from scheduling_core.errors import SchedulingError
from schema.states import CheckOutcome, ClaimKind, Depth, RunOutcome

SLOTS, HOUR, GIB = 16, 36_000, 1 << 20
ATTEMPTS = "inputs/attempts.jsonl.gz"
SAVED = "original-attempts"


@pytest.fixture(scope="module")
def folder() -> Path:
    return bundled()["seer-tmax-like"]


@pytest.fixture(scope="module")
def manifest(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "manifest.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def rows(folder: Path) -> list[dict[str, Any]]:
    with gzip.open(folder / ATTEMPTS, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file][1:]


@pytest.fixture(scope="module")
def saved(folder: Path) -> dict[str, dict[str, Any]]:
    lines = (folder / SCHEDULES).read_text(encoding="utf-8").splitlines()
    return {row["name"]: row for row in map(json.loads, lines)}


def ticks(row: dict[str, Any]) -> int:
    return sum(length for _, length in row["segments"])


def on_a_grid(rows: list[dict[str, Any]], starts: list[int]) -> tuple[int, int, int, int, int]:
    """Makespan, slots, peak of RAM in GiB and its area outside model calls, and KiB x ticks of images."""
    end = max(start + ticks(row) for row, start in zip(rows, starts, strict=True))
    slots, ram = np.zeros(end, int), np.zeros(end, int)
    there = {row["image"]: np.zeros(end, bool) for row in rows}
    for row, start in zip(rows, starts, strict=True):
        there[row["image"]][start : start + ticks(row)] = True
        slots[start : start + ticks(row)] += 1
        for kind, length in row["segments"]:
            ram[start : start + length] += row["ram_kib"] * (kind != "model")
            start += length
    size = {row["image"]: row["image_kib"] for row in rows}
    images = sum(size[name] * int(held.sum()) for name, held in there.items())
    return end, int(slots.max()), int(ram.max()) // GIB, int(ram.sum()), images


def expected(rows: list[dict[str, Any]], saved: dict[str, dict[str, Any]]) -> dict[str, float]:
    """Every figure that follows from the attempts and from saved starts."""
    free = [0] * SLOTS
    starts = []
    for row in rows:  # all are released at 0, so FIFO takes the slot that is free first
        starts.append(heapq.heappop(free))
        heapq.heappush(free, starts[-1] + ticks(row))
    assert saved["fifo-a"]["starts"] == starts
    end, _, ram, active, images = on_a_grid(rows, starts)
    work = sum(map(ticks, rows))
    longest, total, size = {}, {}, {}
    for row in rows:
        name = row["image"]
        longest[name] = max(longest.get(name, 0), ticks(row))
        total[name] = total.get(name, 0) + ticks(row)
        size[name] = row["image_kib"]
    least = sum(size[name] * max(longest[name], ceil(total[name] / SLOTS)) for name in size)
    together = {name: on_a_grid(rows, saved[name]["starts"]) for name in ("fewest-slots", "grouped", "joint")}
    assert all(found[0] <= end and found[1] <= SLOTS for found in together.values())
    return {
        "attempts": len(rows),
        "fifo-deadline": end / HOUR,
        "quota-hours-cut": 100 - 100 * active / sum(row["ram_kib"] * ticks(row) for row in rows),
        "fewest-slots": together["fewest-slots"][1],
        "slots-bound": ceil(work / end),
        "ram-peak-fifo": ram,
        "ram-area-bound": ceil(active / end / GIB),
        "image-hours-fifo": images / GIB / HOUR,
        "image-hours-grouped": together["grouped"][4] / GIB / HOUR,
        "image-hours-bound": least / GIB / HOUR,
        "joint-ram-peak": together["joint"][2],
        "joint-image-hours": together["joint"][4] / GIB / HOUR,
    }


def test_claims_follow_from_the_attempts(
    manifest: dict[str, Any], rows: list[dict[str, Any]], saved: dict[str, dict[str, Any]]
) -> None:
    stated = {claim["id"]: claim["value"] for claim in manifest["claims"]}
    for name, value in expected(rows, saved).items():
        decimals = len(stated[name].partition(".")[2])
        assert f"{value:.{decimals}f}" == stated[name], name
    assert stated["slots-bound"] == stated["fewest-slots"]
    assert stated["slots-proved"] == "true"
    assert (stated["schedules-hold"], stated["schedules-rejected"]) == (str(len(saved)), "0")
    # A small search lies between the bound and what a longer one found, or FIFO.
    assert (
        int(stated["joint-ram-peak"]) <= int(stated["small-search-ram-peak"]) < int(stated["ram-peak-fifo"])
    )


def test_only_the_originals_count_is_called_published(manifest: dict[str, Any]) -> None:
    kinds = {claim["id"]: ClaimKind(claim["kind"]) for claim in manifest["claims"]}
    assert {name for name, kind in kinds.items() if kind is ClaimKind.PUBLISHED} == {SAVED}
    assert all(
        claim["basis"].startswith("Ours") and claim["relation"]["kind"] == "extends"
        for claim in manifest["claims"] if claim["id"] != SAVED
    )  # fmt: skip
    assert "synthetic" in manifest["title"]
    assert manifest["description"].startswith("Synthetic.")
    assert manifest["caveats"][0].startswith("Synthetic:")


def test_the_attempts_are_generated_by_the_command_of_the_readme(folder: Path) -> None:
    found = read_workload(folder / ATTEMPTS).workload
    assert found.sha256 == generate("tmax-like", 267, 1).sha256
    assert found.synthetic


def verified(folder: Path) -> tuple[Any, Any]:
    with open_package(folder) as package:
        made = verify_package(
            package.root, package.manifest, package.manifest_sha256,
            level="recompute", who="a test", origin="folder", code_version="test", git_commit=None,
        )  # fmt: skip
        return made, claim_standings(made.checks, package.manifest)


def test_everything_comes_out_and_the_count_stays_saved(folder: Path, manifest: dict[str, Any]) -> None:
    made, standings = verified(folder)
    assert made.outcome is RunOutcome.VERIFIED, made.verdict
    for claim in manifest["claims"]:
        standing = standings[claim["id"]]
        if claim["id"] == SAVED:
            assert (standing.outcome, standing.depth) == (CheckOutcome.NOT_RECOMPUTED, Depth.SAVED)
            continue
        assert standing.outcome.confirms, claim["id"]
        main = claim["evidence"][0]["analysis"]
        assert standing.depth is (Depth.REAGGREGATED if main == "check" else Depth.RECOMPUTED)
        # The validator is another implementation, and reads saved schedules.
        twice = Depth.REAGGREGATED if len(claim["evidence"]) > 1 else None
        assert standing.independent is twice, claim["id"]


def test_rebuilding_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    joint = (copy / SCHEDULES).read_text(encoding="utf-8").splitlines()[-1]
    (copy / SCHEDULES).write_text(joint + "\n", encoding="utf-8")
    rebuild_admission(copy)
    for name in (SCHEDULES, "manifest.json"):
        assert (copy / name).read_bytes() == (folder / name).read_bytes()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda row: row["starts"].__setitem__(0, row["starts"][0] + 1), "The schedule says hash"),
        (lambda row: row["limits"].update(deadline=1), "after the deadline 1"),
        (lambda row: row["starts"].pop(), "266 starts for 267 attempts"),
        (lambda row: row.update(workload_sha256="0" * 64), "The schedule is of workload 0000"),
    ],
)
def test_a_changed_schedule_is_rejected(
    folder: Path, tmp_path: Path, saved: dict[str, dict[str, Any]], change: Callable[[Any], Any], reason: str
) -> None:
    row = json.loads(json.dumps(saved["joint"]))
    change(row)
    (tmp_path / "schedules.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    inputs = {"workload": folder / ATTEMPTS, "schedules": tmp_path / "schedules.jsonl"}
    found = report.run(inputs, {})["outputs"]
    assert (found["hold"], found["rejected"]) == (0, 1)
    assert any(reason in sentence for sentence in found["schedules"]["joint"]["reasons"])


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "Input 'schedules' is empty."),
        (b"{\n", "Input 'schedules', line 1 is no JSON."),
        (b"{}\n", "Schedule 0 has no name of its own."),
        (b"\x1f\x8bno archive", "can't be read"),
    ],
)
def test_a_file_that_holds_no_schedules_is_one_sentence(
    folder: Path, tmp_path: Path, content: bytes, says: str
) -> None:
    (tmp_path / "s").write_bytes(content)
    with pytest.raises(report.ReportError, match=says):
        report.run({"workload": folder / ATTEMPTS, "schedules": tmp_path / "s"}, {})


@pytest.mark.parametrize(
    ("analysis", "parameters", "says"),
    [
        (replay, {"SLOT": 4}, "There is no parameter 'SLOT'"),
        (bounds, {"POLICY": "M"}, "POLICY is 'M', expected one of W, A"),
        (bounds, {"STRATUM": "all"}, "STRATUM is 'all', expected one of as_logged, clean"),
        (search, {"GOALS": "ram-hours"}, "The hours of ram are the same in every schedule"),
        (search, {"GOALS": "gpu-peak"}, "resource is 'gpu'"),
        (replay, {"SLOTS": 0}, "slots is 0"),
    ],
)
def test_a_parameter_that_makes_no_sense_is_one_sentence(
    folder: Path, analysis: Callable[..., Any], parameters: dict[str, Any], says: str
) -> None:
    with pytest.raises(SchedulingError, match=says):
        analysis({"workload": folder / ATTEMPTS}, parameters)


def test_a_missing_input_is_told(tmp_path: Path) -> None:
    with pytest.raises(SchedulingError, match="no input 'workload'"):
        replay({}, {})
    with pytest.raises(report.ReportError, match="no input 'workload'"):
        report.run({}, {})


def test_strata_are_both_told_and_means_only_where_scores_are(tmp_path: Path) -> None:
    """Three attempts: right, infrastructure without score, a valid 0. Scored only: 1/2; missing as 0: 1/3."""
    base = {
        "task": "t", "image": "i", "release": 0, "cpu_milli": 1000, "ram_kib": GIB, "disk_kib": 0,
        "image_kib": GIB, "segments": [["setup", 10], ["model", 30]], "time": "complete", "cause": "model",
    }  # fmt: skip
    from scheduling_core.admission.attempts import Workload, attempt_from_row
    from scheduling_core.admission.formats import write_workload

    ends = [
        {"score": 1.0},
        {"score": None, "time": "right_censored", "cause": "infrastructure", "exception": "SandboxError"},
        {"score": 0.0},
    ]
    attempts = [
        attempt_from_row({**base, "id": f"a{n}", "rank": n, **end}, "x") for n, end in enumerate(ends)
    ]
    write_workload(Workload("three", tuple(attempts)), tmp_path / "w.jsonl")
    found = replay({"workload": tmp_path / "w.jsonl"}, {"SLOTS": 1})["outputs"]
    assert {name: m["value"] for name, m in found["means"].items()} == {
        "scored only": 0.5, "missing as 0": pytest.approx(1 / 3), "no exceptions": 0.5,
    }  # fmt: skip
    strata = found["strata"]
    assert [strata[s]["deadline_ticks"] for s in ("as_logged", "clean")] == [120, 80]
    assert strata["clean"]["attempts"] == 2
    assert strata["clean"]["saved_percent"] == 75.0  # 30 of 40 ticks are model time
