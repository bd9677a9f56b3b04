"""Schedule commands: what they tell and write, what they refuse, and what a killed search leaves behind."""

import csv
import gzip
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from catalog.code_version import code_version
from catalog.commands.group import cli
from catalog.schedule_runs import SAME
from scheduling_core.admission.formats import read_workload
from scheduling_core.admission.synthetic import generate
from scheduling_core.admission.validate import validate

SEARCH = ("search", "attempts.jsonl", "--slots", "4", "--budget", "30000")
# Three attempts on one slot: 4 + 8 + 4 s, of which 2 + 6 + 1 s are model time. One core, 2 GiB, image 1 GiB.
LENGTHS = {
    "a": [["setup", 20], ["model", 20]],
    "b": [["tool", 20], ["model", 60]],
    "c": [["unknown", 30], ["model", 10]],
}
# The command as a process of its own, which saves its search after each slice and not every other second;
# the slices are short.
EAGER = """
import sys
from scheduling_core.admission.search import engine
engine.SLICE, engine.CHECKPOINT_SECONDS = 100_000, 0
from catalog.commands import main
main()
"""


def admission(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["schedule", "admission", *map(str, arguments)])


def told(*arguments: str | Path) -> Any:
    result = admission(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def refused(result: Result) -> str:
    """The one sentence of a refusal."""
    assert result.exit_code == 1, result.output
    assert result.stdout == ""
    (sentence,) = result.stderr.splitlines()
    assert sentence.startswith("proofshelf: ")
    return sentence.removeprefix("proofshelf: ")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty synthetic attempts, and a run of a small search on them; nobody writes here."""
    folder = tmp_path_factory.mktemp("made")
    here = Path.cwd()
    os.chdir(folder)
    try:
        assert admission("generate", "tmax-like", "--attempts", "30", "--to", "attempts.jsonl").exit_code == 0
        shutil.move(told(*SEARCH)["run"], folder / "found")
    finally:
        os.chdir(here)
    return folder


@pytest.fixture
def work(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, in which a test may do as it likes."""
    shutil.copytree(made, tmp_path / "work")
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def three(path: Path, **more: Any) -> None:
    """The three attempts; c may be another."""
    from scheduling_core.admission.attempts import Workload, attempt_from_row
    from scheduling_core.admission.formats import write_workload

    rows = [
        {
            "id": name, "task": name, "image": name, "rank": rank, "release": 0, "segments": segments,
            "cpu_milli": 1000, "ram_kib": 2 << 20, "disk_kib": 0, "image_kib": 1 << 20,
            "score": float(name == "a"), "time": "complete", "cause": "model",
            **(more if name == "c" else {}),
        }
        for rank, (name, segments) in enumerate(LENGTHS.items())
    ]  # fmt: skip
    write_workload(Workload("three", tuple(attempt_from_row(row, "row") for row in rows)), path)


class TestGenerate:
    def test_the_same_call_gives_the_same_bytes_and_another_seed_others(self, work: Path) -> None:
        again = told("generate", "tmax-like", "--attempts", "30", "--to", "again.jsonl")
        assert again["sha256"] == sha256(work / "attempts.jsonl") == sha256(work / "again.jsonl")
        assert again["workload_sha256"] == generate("tmax-like", 30, 1).sha256
        assert again["synthetic"] is True
        other = told("generate", "tmax-like", "--attempts", "30", "--seed", "2", "--to", "other.jsonl")
        assert other["workload_sha256"] != again["workload_sha256"]

    def test_a_file_that_is_there_stays(self, work: Path) -> None:
        before = sha256(work / "attempts.jsonl")
        sentence = refused(admission("generate", "tmax-like", "--attempts", "2", "--to", "attempts.jsonl"))
        assert "is there already; --force replaces it" in sentence
        assert sha256(work / "attempts.jsonl") == before

    def test_another_ending_is_refused(self, work: Path) -> None:
        assert "expected a name that ends in" in refused(
            admission("generate", "tmax-like", "--to", "attempts.csv")
        )

    def test_the_file_may_be_read_by_whom_the_umask_lets(self, work: Path) -> None:
        plain = work / "plain"
        plain.touch()
        assert (work / "attempts.jsonl").stat().st_mode == plain.stat().st_mode


class TestCensusAndImport:
    def test_a_missing_score_is_no_zero(self, work: Path) -> None:
        """a is right, b wrong, c unscored: 1/2 over the scored; 1/3 would count nobody's verdict as wrong."""
        three(work / "w.jsonl", score=None, time="right_censored", cause="infrastructure", exception="Lost")
        census = told("census", "w.jsonl")["census"]
        assert [mean["value"] for mean in census["means"]] == [0.5, pytest.approx(1 / 3), 0.5]
        assert [bool(mean["wrong"]) for mean in census["means"]] == [False, True, True]
        assert census["strata"] == {"as_logged": 3, "clean": 2}
        shown = admission("census", "w.jsonl").stdout
        assert "wrong mean, missing as 0" in shown
        assert "it counts attempts that were never scored as failed" in " ".join(shown.split())

    def test_import_keeps_every_attempt_and_says_of_which_bytes(self, work: Path) -> None:
        found = told("import", "attempts.jsonl", "--to", "packed.jsonl.gz")
        assert found["attempts"] == 30
        assert found["inputs"] == [{"path": "attempts.jsonl", "sha256": sha256(work / "attempts.jsonl")}]
        assert (
            gzip.decompress((work / "packed.jsonl.gz").read_bytes()) == (work / "attempts.jsonl").read_bytes()
        )

    def test_a_broken_line_is_set_aside_and_the_rest_kept(self, work: Path) -> None:
        lines = (work / "attempts.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
        (work / "broken.jsonl").write_text("".join([*lines[:5], "{no\n", *lines[6:]]), encoding="utf-8")
        result = admission("import", "broken.jsonl", "--to", "kept.jsonl")
        assert result.exit_code == 0
        assert "broken.jsonl, line 6" in result.stderr
        assert len(read_workload(work / "kept.jsonl").workload) == 29

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (("census", "nowhere"), "nowhere: there is no such file or folder"),
            (("census", "empty"), "empty"),
            (("census", "attempts.jsonl", "--assume", "gpu=1"), "--assume gpu=1: expected one of cpu"),
            (("census", "attempts.jsonl", "--assume", "cpu=many"), "--assume cpu=many"),
            (("census", "attempts.jsonl", "--tasks", "nowhere"), "nowhere: there is no such folder"),
            (("replay", "other.txt", "--slots", "1"), "other.txt: this is no JSON"),
        ],
    )
    def test_what_cannot_be_read_is_one_sentence(
        self, work: Path, arguments: tuple[str, ...], says: str
    ) -> None:
        (work / "empty").touch()
        (work / "other.txt").write_text("a text\n", encoding="utf-8")
        assert says in refused(admission(*arguments))


class TestReplay:
    def test_by_hand(self, work: Path) -> None:
        """One after another, 16 s; under A 9 of them aren't reserved. Waits are 0, 4 and 12 s."""
        three(work / "w.jsonl")
        found = told("replay", "w.jsonl", "--slots", "1")["as_logged"]
        whole, active = found["schedules"]
        assert found["quota_hours_not_reserved_under_a"] == 9 / 16
        assert whole["makespan_h"] == active["makespan_h"] == pytest.approx(16 / 3600)
        assert whole["ram_gib_hours"] == pytest.approx(2 * 16 / 3600)
        assert active["ram_gib_hours"] == pytest.approx(2 * 7 / 3600)
        assert active["parked_gib_hours"] == pytest.approx(2 * 9 / 3600)
        assert whole["image_gib_hours"] == pytest.approx(16 / 3600)
        assert (whole["wait_max_s"], whole["wait_mean_s"]) == (12, pytest.approx(16 / 3))

    def test_images_are_kept_as_long_and_as_many_as_asked(self, work: Path) -> None:
        """Images of 1 GiB: a runs 0 to 4 s, b 4 to 12, c 12 to 16. Kept for 8 s, a stays to 12 and b to the
        end at 16: 12 + 12 + 4 GiB-s. A store of 1 GiB keeps none beside another."""
        three(work / "w.jsonl")
        kept = told("replay", "w.jsonl", "--slots", "1", "--keep-images", "8")["as_logged"]["schedules"][0]
        assert (kept["image_gib_hours"], kept["image_peak_gib"]) == (pytest.approx(28 / 3600), 2)
        full = told("replay", "w.jsonl", "--slots", "1", "--keep-images", "8", "--cache", "1")
        tight = full["as_logged"]["schedules"][0]
        assert (tight["image_gib_hours"], tight["image_peak_gib"]) == (pytest.approx(16 / 3600), 1)
        assert "expected numbers" in refused(
            admission("replay", "w.jsonl", "--slots", "1", "--keep-images", "nan")
        )

    def test_both_strata_are_told_even_if_one_is_empty(self, work: Path) -> None:
        three(work / "w.jsonl", time="right_censored", cause="agent_limit")
        found = told("replay", "w.jsonl", "--slots", "1")
        assert {name: part["attempts"] for name, part in found.items()} == {"as_logged": 3, "clean": 2}
        assert "clean: 2 attempts" in admission("replay", "w.jsonl", "--slots", "1").stdout


class TestSearch:
    def test_a_run_says_what_was_asked_and_what_each_file_is(self, work: Path) -> None:
        request = json.loads((work / "found/request.json").read_text(encoding="utf-8"))
        assert request["inputs"] == [{"path": "attempts.jsonl", "sha256": sha256(work / "attempts.jsonl")}]
        assert request["mark"] == "canonical"
        assert (request["parameters"]["seed"], request["parameters"]["budget"]) == (1, 30000)
        files = json.loads((work / "found/run.json").read_text(encoding="utf-8"))["files"]
        there = {p.relative_to(work / "found").as_posix() for p in (work / "found").rglob("*") if p.is_file()}
        assert set(files) == there - {"run.json"}
        assert all(sha256(work / "found" / name) == value for name, value in files.items())
        assert "charts/ram-over-time.svg" in files

    def test_found_keeps_fifos_deadline_and_the_row_is_of_one_whole_schedule(self, work: Path) -> None:
        with (work / "found/joint_schedules.csv").open(encoding="utf-8", newline="") as file:
            first, found = csv.DictReader(file)
        assert float(found["makespan_h"]) <= float(first["makespan_h"])
        assert float(found["ram_peak_gib"]) <= float(first["ram_peak_gib"])
        # Reserved hours follow from durations and quotas alone.
        assert found["ram_gib_hours"] == first["ram_gib_hours"]
        rows = [json.loads(line) for line in (work / "found/schedules.jsonl").read_text().splitlines()]
        attempts = [a.row() for a in read_workload(work / "attempts.jsonl").workload.attempts]
        for row, told_of in zip(rows, (first, found), strict=True):
            assert told_of["sha256"] == row["sha256"]
            judged = validate(attempts, {k: v for k, v in row.items() if k != "name"})
            assert judged.ok
            assert judged.metrics["ram_peak"] == float(told_of["ram_peak_gib"]) * (1 << 20)

    @pytest.mark.parametrize("workers", ["1", "2"])
    def test_the_same_request_gives_the_same_bytes_with_any_number_of_workers(
        self, work: Path, workers: str
    ) -> None:
        again = Path(told(*SEARCH, "--workers", workers)["run"])
        assert {name: sha256(again / name) for name in SAME} == {
            name: sha256(work / "found" / name) for name in SAME
        }
        compared = CliRunner().invoke(cli, ["schedule", "compare", "found", str(again)])
        assert compared.stdout.splitlines()[0] == "The results are the same bytes."

    def test_slots_are_proved_to_be_the_fewest(self, work: Path) -> None:
        """4 + 8 + 4 s on 2 slots: FIFO ends after 8 s, and on one slot nothing ends before 16 s."""
        three(work / "w.jsonl")
        line = (
            "search",
            "w.jsonl",
            "--slots",
            "2",
            "--policy",
            "W",
            "--goal",
            "slots-peak",
            "--budget",
            "100",
        )
        found = told(*line)["result"]
        assert (found["value"], found["bound"], found["proved_optimal"]) == (2, 2, True)
        assert found["stopped"] == "bound"
        assert "it is the bound, so none is lower" in admission(*line).stdout

    def test_a_run_can_be_marked_historical(self, work: Path) -> None:
        run = told(*SEARCH[:-1], "1000", "--historical")["run"]
        assert json.loads((work / run / "request.json").read_text(encoding="utf-8"))["mark"] == "historical"

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            (("--deadline", "0.0001"), "at the earliest, after the deadline"),
            (("--cap", "ram=1"), "alone takes"),
            (("--cap", "gpu=1"), "--cap gpu=1: expected one of"),
            (("--memory", "1"), "over the limit of 1 MB"),
        ],
    )
    def test_what_cannot_be_searched_is_one_sentence_and_leaves_no_run(
        self, work: Path, options: tuple[str, ...], says: str
    ) -> None:
        assert says in refused(admission(*SEARCH, *options))
        assert list(work.glob("runs/*")) == []


class TestResume:
    def test_a_killed_search_ends_as_an_undisturbed_one(self, work: Path) -> None:
        """`kill -9` after a checkpoint: what is lost is done again, and the bytes are the same."""
        options = [*SEARCH[:-1], "4000000", "--chains", "1"]
        whole = Path(told(*options, "--runs", "whole")["run"])
        command = [sys.executable, "-c", EAGER, "schedule", "admission", *options]
        process = subprocess.Popen(
            [*command, "--runs", "killed"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        until = time.monotonic() + 120
        while not list(work.glob("killed/*/checkpoints/*.json")) and process.poll() is None:
            assert time.monotonic() < until, "no checkpoint was written"
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        (killed,) = (work / "killed").iterdir()
        assert not (killed / "run.json").exists()
        assert "hasn't ended" in refused(admission("validate", killed))
        resumed = told("resume", killed)
        assert resumed["result"]["stopped"] == "budget"
        assert {n: sha256(killed / n) for n in SAME} == {n: sha256(whole / n) for n in SAME}
        assert not (killed / "checkpoints").exists()

    def test_what_has_ended_or_is_no_run_is_refused(self, work: Path) -> None:
        assert refused(admission("resume", "found")) == "found has ended already; nothing is left to do"
        (work / "empty").mkdir()
        assert refused(admission("resume", "empty")) == "empty is no folder of a run: it has no request.json"

    def test_a_search_begun_by_other_code_is_refused(self, work: Path) -> None:
        begun = unfinished(work, lambda request: request.update(git_commit="0" * 40))
        assert "begin the search anew" in refused(admission("resume", begun))

    def test_another_workload_is_refused(self, work: Path) -> None:
        begun = unfinished(work, lambda request: request["parameters"].update(workload_sha256="0" * 64))
        assert "isn't the workload that the search was begun with" in refused(admission("resume", begun))


def unfinished(work: Path, change: Callable[[dict[str, Any]], Any]) -> Path:
    """The run as it was before it ended, its request changed."""
    folder = work / "unfinished"
    folder.mkdir()
    shutil.copy(work / "found/workload.jsonl.gz", folder)
    request = json.loads((work / "found/request.json").read_text(encoding="utf-8"))
    request["code_version"], request["git_commit"] = code_version()
    change(request)
    (folder / "request.json").write_text(json.dumps(request), encoding="utf-8")
    return folder


class TestRefineAndFront:
    def test_refining_lowers_image_hours_and_raises_no_peak(self, work: Path) -> None:
        first = rows_of(work / "found")["found"]
        run = told("refine", "found", "--budget", "30000")["run"]
        refined = rows_of(work / run)["found"]
        assert float(refined["image_gib_hours"]) <= float(first["image_gib_hours"])
        for peak in ("ram_peak_gib", "cpu_peak_cores", "slots_peak"):
            assert float(refined[peak]) <= float(first[peak])
        assert "has no schedule 'best'; it has fifo, found" in refused(
            admission("refine", "found", "--schedule", "best")
        )

    def test_no_schedule_in_a_front_is_worse_than_another_in_all(self, work: Path) -> None:
        made = told("front", "attempts.jsonl", "--slots", "4", "--levels", "2", "--budget", "60000")
        rows = {row["schedule"]: row for row in made["schedules"]}
        front = [(rows[n]["ram_peak_gib"], rows[n]["image_gib_hours"]) for n in made["result"]["front"]]
        every = [(row["ram_peak_gib"], row["image_gib_hours"]) for row in rows.values()]
        assert front
        for one in front:
            assert not any(o[0] <= one[0] and o[1] <= one[1] and o != one for o in every)
        assert made["result"]["chosen"] in rows
        assert 0 <= made["result"]["hypervolume"] <= 1

    @pytest.mark.parametrize(
        ("weight", "says"),
        [
            ("cpu-peak=1", "--weight cpu-peak=1: expected one of ram-peak, images-hours"),
            ("ram-peak=-1", "a number from 0"),
        ],
    )
    def test_a_weight_that_makes_no_sense_is_one_sentence(self, work: Path, weight: str, says: str) -> None:
        assert says in refused(admission("front", "attempts.jsonl", "--slots", "4", "--weight", weight))


def rows_of(run: Path) -> dict[str, dict[str, str]]:
    with (run / "joint_schedules.csv").open(encoding="utf-8", newline="") as file:
        return {row["schedule"]: row for row in csv.DictReader(file)}


class TestExperiment:
    def test_an_experiment_is_a_run_that_holds(self, work: Path) -> None:
        made = told("experiment", "suspension", "attempts.jsonl", "--slots", "4")
        assert (work / made["run"] / "run.json").exists()
        assert admission("validate", made["run"]).exit_code == 0

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            (("measured", "attempts.jsonl"), "measured needs a table, --table FILE"),
            (("suspension", "attempts.jsonl", "--table", "attempts.jsonl"), "suspension takes no --table"),
            (("suspension", "attempts.jsonl", "--param", "luck=1"), "luck"),
        ],
    )
    def test_what_makes_no_sense_is_one_sentence(
        self, work: Path, options: tuple[str, ...], says: str
    ) -> None:
        assert says in refused(admission("experiment", *options, "--slots", "4"))
        assert list(work.glob("runs/*")) == []


class TestValidateAndCompare:
    def test_a_run_as_it_was_holds(self, work: Path) -> None:
        assert told("validate", "found") == {
            "run": "found", "schedules": 2, "rejected": 0, "violations": {}
        }  # fmt: skip
        assert "2 of 2 complete schedules hold." in admission("validate", "found").stdout

    @pytest.mark.parametrize("name", ["schedules.jsonl", "joint_schedules.csv", "charts/schedules.svg"])
    def test_a_byte_that_changed_is_refused(self, work: Path, name: str) -> None:
        path = work / "found" / name
        path.write_bytes(path.read_bytes().replace(b"1", b"2", 1))
        sentence = refused(admission("validate", "found"))
        assert sentence.startswith(f"found/{name} has SHA-256")
        assert "the run isn't what it was" in sentence
        result = CliRunner().invoke(cli, ["schedule", "compare", "found", "found"])
        assert refused(result) == sentence

    def test_a_file_that_is_gone_is_refused(self, work: Path) -> None:
        (work / "found/charts/search.svg").unlink()
        assert "found/charts/search.svg is missing" in refused(admission("validate", "found"))

    @pytest.mark.parametrize(
        ("change", "says"),
        [
            (
                lambda row, figures: row["starts"].__setitem__(3, row["starts"][3] + 1),
                "The schedule says hash",
            ),
            (lambda row, figures: figures.update(ram_peak=1), "The claim of ram_peak is 1"),
        ],
    )
    def test_a_schedule_or_figure_changed_with_its_seal_is_rejected(
        self, work: Path, change: Callable[..., Any], says: str
    ) -> None:
        """Whoever can write the files can seal them again; the validator still derives everything itself."""
        rows = [json.loads(line) for line in (work / "found/schedules.jsonl").read_text().splitlines()]
        result = json.loads((work / "found/result.json").read_text(encoding="utf-8"))
        change(rows[1], result["integers"]["found"])
        (work / "found/schedules.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
        (work / "found/result.json").write_text(json.dumps(result))
        seal = json.loads((work / "found/run.json").read_text(encoding="utf-8"))
        for name in ("schedules.jsonl", "result.json"):
            seal["files"][name] = sha256(work / "found" / name)
        (work / "found/run.json").write_text(json.dumps(seal))
        shown = admission("validate", "found")
        assert shown.exit_code == 3
        assert "1 of 2 complete schedules hold." in shown.stdout
        answer = json.loads(admission("validate", "found", "--json").stdout)
        assert answer["rejected"] == 1
        assert any(says in sentence for sentence in answer["violations"]["found"])

    def test_compare_tells_what_was_asked_otherwise_and_each_figure(self, work: Path) -> None:
        other = told(*SEARCH[:3], "5", *SEARCH[4:])["run"]
        result = CliRunner().invoke(cli, ["schedule", "compare", "found", other, "--json"])
        assert result.exit_code == 0
        found = json.loads(result.stdout)
        assert found["identical"] is False
        assert "parameters" in [row["what"] for row in found["asked"]]
        assert {"schedule": "fifo", "figure": "slots_peak", "one": "4", "other": "5"} in found["figures"]
        shown = CliRunner().invoke(cli, ["schedule", "compare", "found", other]).stdout
        assert shown.startswith("The results differ.")
        assert "fifo: slots_peak" in shown

    def test_a_folder_that_is_no_run_is_one_sentence(self, work: Path) -> None:
        (work / "empty").mkdir()
        for line in (("validate", "nowhere"), ("refine", "nowhere")):
            assert refused(admission(*line)) == "nowhere is no folder of a run"
        result = CliRunner().invoke(cli, ["schedule", "compare", "found", "empty"])
        assert refused(result) == "empty is no folder of a run: it has no request.json"
