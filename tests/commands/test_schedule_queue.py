"""`schedule queue`: what it tells and writes, what it refuses, and what a killed run leaves behind."""

import csv
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from catalog import run_folders
from catalog.commands.group import cli
from catalog.queue_runs import read_run
from scheduling_core.queueing.decisions import Decisions
from scheduling_core.queueing.formats import read_trace

# Two GPUs. a takes both for 10 s; b comes at 1 s and wants one for 4 s; c comes at 2 s and wants one for 2 s.
# FIFO: b and c both begin at 10 s, so b ends at 14 s and c at 12 s.
BY_HAND = """\
job_id,num_gpu,submit_time,iterations,model_name,duration,interval
a,2,0,1,vgg16,10,0
b,1,1,1,vgg16,4,1
c,1,2,1,vgg16,2,1
"""
FIFO = {"a": (0, 10), "b": (10, 14), "c": (10, 12)}
POLICIES = ("--policy", "fifo", "--policy", "las2d:limits=3,6", "--policy", "srtf")
# The command in a process of its own that is killed when all files are written but the seal.
KILLED = """
import os, signal
from catalog import queue_runs
queue_runs.seal = lambda folder: os.kill(os.getpid(), signal.SIGKILL)
from catalog.commands import main
main()
"""
POLICY_OF_MINE = """\
import numpy as np
from scheduling_core.queueing.policies import Policy

class SmallestServiceFirst(Policy):
    name = "smallest-service"
    source = "a test"

    def order(self, view):
        return view.jobs[np.lexsort((view.submit, view.service))]

class Reader(SmallestServiceFirst):
    name = "reader"

    def order(self, view):
        return view.jobs[np.argsort(view.duration)]

class Wrong(SmallestServiceFirst):
    name = "wrong"

    def order(self, view):
        return undefined
"""


def schedule(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["schedule", *map(str, arguments)])


def queue(*arguments: str | Path) -> Result:
    return schedule("queue", *arguments)


def told(*arguments: str | Path, code: int = 0) -> Any:
    result = queue(*arguments, "--json")
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def refused(result: Result, code: int = 1) -> str:
    """The one sentence of a refusal."""
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    (sentence,) = result.stderr.splitlines()
    assert "unexpected" not in sentence
    return sentence.removeprefix("proofshelf: ")


def table_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def value(policy: dict[str, Any], figure: str) -> Fraction | None:
    exact = policy["figures"][figure]["exact"]
    return None if exact is None else Fraction(exact)


def files_of(run: Path) -> dict[str, str]:
    return {
        str(path.relative_to(run)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in run.rglob("*") if path.is_file()
    }  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty synthetic jobs, a run of them with deadlines, and the trace by hand; nobody writes here."""
    folder = tmp_path_factory.mktemp("made")
    here = Path.cwd()
    os.chdir(folder)
    try:
        line = ("traces", "generate", "--jobs", "30", "--gpus", "16", "--to", "made.csv")
        assert schedule(*line).exit_code == 0
        run = told("made.csv", "--gpus", "16", "--deadlines", "tight", *POLICIES)["run"]
        shutil.move(run, folder / "found")
    finally:
        os.chdir(here)
    (folder / "hand.csv").write_text(BY_HAND, encoding="utf-8")
    (folder / "samples.csv").write_text("duration\n5\n9\n20\n", encoding="utf-8")
    return folder


@pytest.fixture
def work(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, in which a test may do as it likes."""
    shutil.copytree(made, tmp_path / "work")
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


@pytest.fixture(autouse=True)
def undrawn(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures take most of the time, and only the tests of whole runs look at them."""
    if request.cls is not TestRun:
        monkeypatch.setattr(run_folders, "_drawn", lambda spec: "<svg/>")


@pytest.fixture
def mine(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three policies of somebody else's, registered as an installed distribution does it."""
    (work / "mine.py").write_text(POLICY_OF_MINE, encoding="utf-8")
    (work / "mine-1.dist-info").mkdir()
    (work / "mine-1.dist-info/entry_points.txt").write_text(
        "[proofshelf.policies]\nsmallest-service = mine:SmallestServiceFirst\nreader = mine:Reader\n"
        "wrong = mine:Wrong\nabsent = mine:Absent\n"
    )
    monkeypatch.syspath_prepend(work)


class TestTable:
    def test_by_hand(self, work: Path) -> None:
        """JCTs under FIFO are 10, 13 and 10 s; both GPUs for 10 s, then 4 and 2 GPU seconds, in 14 s."""
        found = told("hand.csv", "--gpus", "2", "--policy", "fifo")
        (fifo,) = found["policies"]
        assert value(fifo, "jct_mean") == 11
        assert value(fifo, "jct_p95") == 13
        assert value(fifo, "makespan") == 14
        assert value(fifo, "utilisation") == Fraction(26, 28)
        jobs = table_of(Path(found["run"]) / "policies/01-fifo/jobs.csv")
        assert {j["job"]: (int(j["first_start_s"]), int(j["end_s"])) for j in jobs} == FIFO
        log = (Path(found["run"]) / "policies/01-fifo/decisions.csv").read_text().splitlines()
        assert log == [
            "time,job,action,place", "0,a,start,", "10,a,end,", "10,b,start,", "10,c,start,", "12,c,end,",
            "14,b,end,",
        ]  # fmt: skip

    def test_without_deadlines_what_is_said_of_them_is_unknown_and_never_zero(self, work: Path) -> None:
        found = told("hand.csv", "--gpus", "2", "--policy", "fifo")
        assert found["policies"][0]["figures"]["deadline_miss_rate"] == {
            "value": None, "exact": None, "over": 0
        }  # fmt: skip
        (row,) = [r for r in queue("hand.csv", "--gpus", "2", "--policy", "fifo").stdout.splitlines()
                  if r.startswith("  fifo ")]  # fmt: skip
        assert row.split()[1:3] == ["unknown", "unknown"]

    def test_an_end_at_the_deadline_is_no_miss(self, work: Path) -> None:
        """Deadlines of 2.5 times the run time: a at 25, b at 11, c at 7 s; FIFO ends b at 14 and c at 12.
        Of 3.25 times: b at 14 s, which it meets to the second, and c at 9 s."""
        miss = ("hand.csv", "--gpus", "2", "--policy", "fifo", "--share", "1", "--deadlines")
        assert value(told(*miss, "2.5:2.5")["policies"][0], "deadline_misses") == 2
        assert value(told(*miss, "3.25:3.25")["policies"][0], "deadline_misses") == 1

    def test_oracles_are_marked_and_stand_apart_below_the_others(self, work: Path) -> None:
        shown = queue("made.csv", "--gpus", "16", "--policy", "srtf", "--policy", "fifo").stdout
        rows = [line.split("  ")[1].strip() for line in shown.splitlines() if line.startswith("  ")]
        assert rows.index("fifo") < rows.index("oracles, which read durations:") < rows.index("srtf (oracle)")
        found = json.loads((work / "found/result.json").read_text())
        assert [p["oracle"] for p in found["policies"]] == [False, False, True]
        assert [row["oracle"] for row in table_of(work / "found/comparison.csv")] == ["no", "no", "yes"]

    def test_json_has_every_number_that_is_printed(self, work: Path) -> None:
        """Each cell of the table, told from the JSON alone in another way than the command's."""
        line = ("made.csv", "--gpus", "16", "--deadlines", "tight", *POLICIES)
        found = told(*line)
        rows = {r.split("  ")[1].strip(): r for r in queue(*line).stdout.splitlines() if r.startswith("  ")}
        for policy in found["policies"]:
            label = policy["name"] + (" (oracle)" if policy["oracle"] else "")
            cells = rows[label].removeprefix("  " + label).split()
            figures = {name: figure["value"] for name, figure in policy["figures"].items()}
            expected = [
                *f"{figures['deadline_misses']} of {found['trace']['deadline_jobs']}".split(),
                *f"{figures['deadline_miss_rate']:.1%}".replace("%", " %").split(),
                *(f"{figures[n]:,.3f}" for n in ("non_deadline_jct_mean", "jct_mean", "jct_p95")),
                *f"{figures['utilisation']:.1%} {figures['fragmentation']:.1%}".replace("%", " %").split(),
                f"{figures['preemptions']:,}", f"{figures['makespan']:,.3f}",
            ]  # fmt: skip
            assert cells == expected

    def test_a_reconstruction_says_so_wherever_it_is_told(self, work: Path) -> None:
        line = ("made.csv", "--gpus", "16", "--policy", "tias_like")
        said = "a reconstruction from the abstract of TIAS"
        assert said in queue(*line).stdout
        assert said in told(*line)["policies"][0]["source"]
        assert said not in queue("made.csv", "--gpus", "16", "--policy", "las2d").stdout

    def test_a_synthetic_trace_says_so(self, work: Path) -> None:
        assert told("made.csv", "--gpus", "16", "--policy", "fifo")["trace"]["synthetic"] is True
        shown = queue("made.csv", "--gpus", "16", "--policy", "fifo").stdout
        assert shown.startswith("synthetic, seed 1")
        assert "nothing was measured" in shown

    @pytest.mark.parametrize(
        ("name", "options", "mean"),
        [
            ("fifo", (), "1,556.483"),
            ("las2d", ("limits=325,720", "upstream_rounding=true"), "760.033"),
            ("gittins2d", ("upstream=true",), "821.233"),
        ],
    )
    def test_published_figures_by_the_command_line(
        self, shared: Path, work: Path, name: str, options: tuple[str, ...], mean: str
    ) -> None:
        """SymbioticLab/Tiresias at 959f9b0, 60 jobs on 2 nodes of 4 GPUs."""
        traces = shared / "data/traces"
        samples = ("--samples", traces / "tiresias_yarn-gput1000.csv") if name == "gittins2d" else ()
        shown = queue(
            traces / "tiresias_60_job.csv", "--cluster", "2x4", "--policy", ":".join((name, *options)),
            *samples,
        ).stdout  # fmt: skip
        (row,) = [line for line in shown.splitlines() if line.startswith(f"  {name}")]
        assert mean in row.split()


class TestAsked:
    def test_the_cluster_is_told_as_it_was_asked(self, work: Path) -> None:
        found = told("made.csv", "--cluster", "2x8:v100,1x4:k80", "--placement", "spread", "--policy", "fifo")
        assert found["cluster"] == {
            "gpus": 20, "placement": "spread",
            "nodes": [
                {"count": 2, "gpus": 8, "gpu_type": "v100"}, {"count": 1, "gpus": 4, "gpu_type": "k80"},
            ],
        }  # fmt: skip

    def test_load_picks_the_gpus(self, work: Path) -> None:
        trace = read_trace(work / "made.csv").trace
        found = told("made.csv", "--load", "0.5", "--policy", "fifo")
        gpus = found["cluster"]["gpus"]
        nearest = min(range(8, 60), key=lambda n: abs(float(trace.offered_load(n)) - 0.5))
        assert abs(gpus - nearest) <= 1
        assert found["trace"]["offered_load"] == float(trace.offered_load(gpus))

    @pytest.mark.parametrize(
        ("options", "seconds"),
        [
            ((), 0),
            (("--restart", "7.5"), Fraction(15, 2)),
            (("--restart-gang",), Fraction(1, 2) * (1 + 1)),
            (("--restart", "60", "--restart-gang"), 60),
        ],
    )
    def test_a_restart_costs_what_was_asked(self, work: Path, options: tuple[str, ...], seconds: int) -> None:
        """Two GPUs; a holds both until b, smaller, takes one from it under srtf: one restart of a gang of 2,
        which costs 0.5 (1 + log2 2) = 1 unit."""
        found = told("hand.csv", "--gpus", "2", "--policy", "srtf", *options)
        (srtf,) = found["policies"]
        assert value(srtf, "restarts") == 1
        assert value(srtf, "restart_time") == seconds

    def test_placement_is_followed(self, work: Path) -> None:
        """Two nodes of 3 GPUs, 2 of each held until 9 s: a gang of 2 that comes at 1 s has room on both
        together at once, and on one of them after 8 s."""
        rows = [("a", 2, 0, 9), ("b", 2, 0, 9), ("c", 2, 1, 5)]
        lines = [f"{name},{gpus},{submit},1,m,{runs},0" for name, gpus, submit, runs in rows]
        (work / "gangs.csv").write_text("\n".join([BY_HAND.splitlines()[0], *lines]) + "\n")
        line = ("gangs.csv", "--cluster", "2x3", "--policy", "fifo", "--placement")
        found = {rule: told(*line, rule) for rule in ("count", "spread", "consolidated")}
        waits = {rule: value(each["policies"][0], "first_wait_max") for rule, each in found.items()}
        assert waits == {"count": 0, "spread": 0, "consolidated": 8}
        log = (Path(found["spread"]["run"]) / "policies/01-fifo/decisions.csv").read_text().splitlines()
        assert "1,c,start,0:1 1:1" in log

    def test_the_same_policy_with_other_options_is_another_row(self, work: Path) -> None:
        found = told("made.csv", "--gpus", "16", "--policy", "las2d", "--policy", "las2d:limits=60,90")
        assert [p["name"] for p in found["policies"]] == ["las2d", "las2d:limits=60,90"]
        assert found["policies"][1]["options"] == {"limits": [60, 90]}
        assert [p["folder"] for p in found["policies"]] == ["01-las2d", "02-las2d"]

    def test_deadlines_are_drawn_by_seed_and_share(self, work: Path) -> None:
        line = ("made.csv", "--gpus", "16", "--policy", "fifo", "--deadlines", "loose")
        jobs = {seed: told(*line, "--seed", seed)["trace"]["sha256"] for seed in ("1", "2")}
        assert jobs["1"] != jobs["2"]
        assert told(*line)["trace"]["sha256"] == jobs["1"]
        assert told(*line, "--share", "0")["trace"]["deadline_jobs"] == 0
        assert told(*line, "--share", "1")["trace"]["deadline_jobs"] == 30

    def test_a_job_larger_than_the_cluster_is_named_and_the_others_run(self, work: Path) -> None:
        (work / "large.csv").write_text(BY_HAND + "d,3,3,1,m,5,1\n")
        line = ("large.csv", "--gpus", "2", "--policy", "fifo")
        reason = "job d asks for 3 GPUs, the cluster has 2"
        found = told(*line)
        assert found["refused"] == {"d": reason}
        assert value(found["policies"][0], "jct_mean") == 11
        assert value(found["policies"][0], "jobs_refused") == 1
        assert f"Left out: {reason}." in queue(*line).stdout

    @pytest.mark.parametrize("name", ["smallest-service", "reader", "wrong"])
    def test_a_policy_of_somebody_elses_runs_or_says_where_it_fails(
        self, work: Path, mine: None, name: str
    ) -> None:
        """What reads durations without saying so, or has a fault, gives no outcome, and the others stay."""
        line = ("made.csv", "--gpus", "16", "--policy", "fifo", "--policy", name)
        says = {
            "reader": "A policy asked for durations, which information-agnostic policies don't see",
            "wrong": "wrong failed: NameError: name 'undefined' is not defined (mine.py, line 21).",
        }
        found = told(*line, code=4 if name in says else 0)
        theirs = found["policies"][1]
        assert value(found["policies"][0], "jct_mean") is not None
        if name not in says:
            assert value(theirs, "jct_mean") is not None
            return
        assert says[name] in theirs["error"]
        assert theirs["figures"] == {}
        shown = queue(*line).stdout
        assert says[name] in shown
        (row,) = [r for r in shown.splitlines() if r.startswith(f"  {name} ") and "gave no" not in r]
        assert row.split() == [name, *["unknown"] * 9]


class TestRun:
    def test_a_run_says_what_was_asked_and_what_each_file_is(self, work: Path) -> None:
        request = json.loads((work / "found/request.json").read_text(encoding="utf-8"))
        trace = hashlib.sha256((work / "made.csv").read_bytes()).hexdigest()
        assert request["inputs"] == [{"path": "made.csv", "sha256": trace}]
        assert request["parameters"]["deadlines"] == {"low": 1.1, "high": 2.0, "share": 0.5, "seed": 1}
        files = json.loads((work / "found/run.json").read_text(encoding="utf-8"))["files"]
        assert {name: h for name, h in files_of(work / "found").items() if name != "run.json"} == files
        for name in (
            "job-completion-time",
            "queueing-time",
            "utilisation",
            "trade-off",
            "jobs-by-gpu-01-fifo",
        ):
            assert {f"charts/{name}.svg", f"charts/{name}.vl.json"} <= set(files)

    def test_the_trace_in_a_run_is_the_one_that_was_scheduled(self, work: Path) -> None:
        found = read_run(work / "found").result
        assert read_trace(work / "found/trace.csv").trace.sha256 == found["trace"]["sha256"]

    def test_a_log_has_the_hash_that_is_told_of_it(self, work: Path) -> None:
        files = files_of(work / "found")
        for policy in read_run(work / "found").result["policies"]:
            assert policy["decisions_sha256"] == files[f"policies/{policy['folder']}/decisions.csv"]

    def test_rows_of_jobs_add_up_to_what_is_told(self, work: Path) -> None:
        for policy in read_run(work / "found").result["policies"]:
            jobs = table_of(work / "found/policies" / policy["folder"] / "jobs.csv")
            jct = [float(job["end_s"]) - float(job["submit_s"]) for job in jobs if not job["deadline_s"]]
            assert policy["figures"]["non_deadline_jct_mean"]["over"] == len(jct)
            assert float(value(policy, "non_deadline_jct_mean")) == pytest.approx(sum(jct) / len(jct))
            late = [float(j["end_s"]) > float(j["deadline_s"]) for j in jobs if j["deadline_s"]]
            assert [j["missed"] == "yes" for j in jobs if j["deadline_s"]] == late
            assert value(policy, "deadline_misses") == sum(late)

    @pytest.mark.parametrize("processes", ["1", "2"])
    def test_the_same_request_gives_the_same_bytes_with_any_number_of_processes(
        self, work: Path, processes: str
    ) -> None:
        line = ("made.csv", "--gpus", "16", "--deadlines", "tight", *POLICIES, "--jobs", processes)
        again = Path(told(*line)["run"])
        for folder in (again, work / "found"):
            (folder / "run.json").unlink()  # it has the time, and the hash of the request, which has one too
            (folder / "request.json").unlink()
        assert files_of(again) == files_of(work / "found")

    def test_json_is_the_result_that_was_written(self, work: Path) -> None:
        found = told("hand.csv", "--gpus", "2", "--policy", "fifo")
        run = Path(found.pop("run"))
        assert found == json.loads((run / "result.json").read_text(encoding="utf-8"))

    def test_a_killed_run_is_not_taken_as_whole(self, work: Path) -> None:
        """`kill -9` when only the seal is missing: all files are there, and nobody reads them."""
        line = ["schedule", "queue", "hand.csv", "--gpus", "2", "--policy", "fifo", "--runs", "killed"]
        done = subprocess.run([sys.executable, "-c", KILLED, *line], capture_output=True, check=False)
        assert done.returncode == -9
        assert done.stdout == b""
        (killed,) = (work / "killed").iterdir()
        assert (killed / "result.json").exists()
        assert refused(schedule("compare", killed, "found")) == f"{killed} hasn't ended; ask for it again"

    @pytest.mark.parametrize("name", ["trace.csv", "comparison.csv", "policies/01-fifo/decisions.csv"])
    def test_a_byte_that_changed_is_refused(self, work: Path, name: str) -> None:
        path = work / "found" / name
        path.write_bytes(path.read_bytes().replace(b"1", b"2", 1))
        assert refused(schedule("compare", "found", "found")).startswith(f"found/{name} has SHA-256")

    def test_compare_tells_what_was_asked_otherwise_and_each_figure(self, work: Path) -> None:
        other = told("made.csv", "--gpus", "17", "--deadlines", "tight", *POLICIES[:4])["run"]
        result = schedule("compare", "found", other, "--json")
        assert result.exit_code == 0
        found = json.loads(result.stdout)
        assert found["identical"] is False
        assert "parameters" in [row["what"] for row in found["asked"]]
        assert ("fifo", "utilisation") in [(row["schedule"], row["figure"]) for row in found["figures"]]
        assert found["only_one"] == ["srtf"]
        same = schedule("compare", "found", "found").stdout
        assert same.startswith("The results are the same bytes.")

    def test_a_run_of_attempts_is_no_run_of_a_queue(self, work: Path) -> None:
        request = json.loads((work / "found/request.json").read_text())
        (work / "found/request.json").write_text(json.dumps({**request, "command": "search"}))
        assert "says nothing of workload.jsonl.gz" in refused(schedule("compare", "found", "found"))

    def test_progress_and_messages_stay_off_standard_output(self, work: Path) -> None:
        result = queue("hand.csv", "--gpus", "2", "--policy", "fifo", "--json")
        json.loads(result.stdout)
        assert result.stderr == ""


class TestChecker:
    @pytest.mark.parametrize("more", [(), ("--json",)])
    def test_a_log_that_it_rejects_ends_with_3_a_sentence_and_no_run(
        self, work: Path, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]
    ) -> None:
        """Job b begins before it is there: a fault of the simulator, which the log shows."""
        whole = Decisions.text
        early: Callable[[Decisions, Any], str] = lambda self, ids: whole(self, ids).replace(  # noqa: E731
            "0,a,start,\n", "0,a,start,\n0,b,start,\n"
        )
        monkeypatch.setattr(Decisions, "text", early)
        sentence = refused(queue("hand.csv", "--gpus", "2", "--policy", "fifo", *more), code=3)
        assert sentence.startswith("The checker rejects the log of decisions of fifo")
        assert "job b" in sentence
        assert list(work.glob("runs/*")) == []


BAD = {
    "zero GPUs": (BY_HAND.replace("b,1,1", "b,0,1"), "bad.csv line 3: num_gpu"),
    "negative GPUs": (BY_HAND.replace("b,1,1", "b,-1,1"), "bad.csv line 3: num_gpu"),
    "zero duration": (BY_HAND.replace("vgg16,4", "vgg16,0"), "bad.csv line 3: duration"),
    "negative duration": (BY_HAND.replace("vgg16,4", "vgg16,-4"), "bad.csv line 3: duration"),
    "NaN": (BY_HAND.replace("vgg16,4", "vgg16,NaN"), "bad.csv line 3: duration"),
    "duplicate id": (BY_HAND.replace("b,1,1", "a,1,1"), "bad.csv line 3: job 'a' stands at bad.csv line 2"),
    "missing cell": (BY_HAND.replace("b,1,1,1,", "b,1,1,"), "bad.csv line 3: 6 cells, expected 7"),
    "deadline": (
        "job_id,submission_time,duration,num_gpu,deadline\nx,0,9,1,20\na,5,10,1,4\nb,6,1,1,30\n",
        "bad.csv line 3: the deadline is 4, expected after the submission at 5",
    ),
}
HOPELESS = {
    "missing column": (
        BY_HAND.replace("duration", "length"),
        "bad.csv line 1: the column 'duration' is missing",
    ),
    "no jobs": (BY_HAND.splitlines()[0] + "\n", "bad.csv: there are 0 jobs"),
    "empty": ("", "bad.csv: the file is empty"),
    "another format": ('{"jobs": []}\n', "bad.csv line 1: "),
}


class TestBadInput:
    @pytest.mark.parametrize("name", [*BAD, *HOPELESS])
    def test_is_one_sentence_with_file_and_line(self, work: Path, name: str) -> None:
        content, says = (BAD | HOPELESS)[name]
        (work / "bad.csv").write_text(content)
        assert refused(queue("bad.csv", "--gpus", "2", "--policy", "fifo")).startswith(says)
        assert list(work.glob("runs/*")) == []

    @pytest.mark.parametrize("name", BAD)
    def test_skip_bad_sets_it_aside_counts_it_and_runs_the_others(self, work: Path, name: str) -> None:
        content, says = BAD[name]
        (work / "bad.csv").write_text(content)
        line = ("bad.csv", "--gpus", "2", "--policy", "fifo", "--skip-bad")
        result = queue(*line)
        assert result.exit_code == 0
        assert result.stderr.startswith(says)
        assert "Set aside: 1 bad record." in result.stdout
        found = told(*line)
        assert [r["reason"].startswith(says) for r in found["trace"]["rejected"]] == [True]
        assert found["trace"]["jobs"] == 2

    def test_unsorted_jobs_are_sorted_and_that_is_told(self, work: Path) -> None:
        header, a, b, c = BY_HAND.splitlines()
        (work / "unsorted.csv").write_text("\n".join([header, c, a, b]) + "\n")
        found = told("unsorted.csv", "--gpus", "2", "--policy", "fifo")
        assert value(found["policies"][0], "jct_mean") == 11
        assert any("stood behind later ones" in sentence for sentence in found["trace"]["notes"])

    def test_no_such_file(self, work: Path) -> None:
        assert refused(queue("nowhere.csv", "--gpus", "2", "--policy", "fifo")).startswith("nowhere.csv")

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            ((), "one of --gpus, --cluster and --load"),
            (("--gpus", "2", "--load", "0.9"), "one of --gpus, --cluster and --load"),
            (("--cluster", "8 by 8"), "'8 by 8' is no cluster, expected such as 64, 8x8"),
            (("--cluster", "999999x9999999"), "expected at most 1,000,000"),
            (("--gpus", "2", "--share", "0.5"), "expected --deadlines with them"),
            (("--gpus", "2", "--deadlines", "soft"), "--deadlines soft: expected loose or tight"),
            (("--gpus", "2", "--deadlines", "5:1.5"), "0 < LOW <= HIGH"),
            (("--gpus", "2", "--deadlines", "nan:2"), "0 < LOW <= HIGH"),
            (("--gpus", "2", "--throughputs", "samples.csv"), "throughputs is for Gavel"),
            (("--gpus", "2", "--muri-run-time"), "muri_run_time is for Muri"),
            (("--gpus", "2", "--samples", "samples.csv"), "gittins2d does"),
            (("--gpus", "2", "--jobs", "2", "--dask", "tcp://127.0.0.1:1"), "expected one of them"),
            (("--gpus", "2", "--policy", "magic"), "There is no policy 'magic', expected one of fifo, fjf,"),
            (("--gpus", "2", "--policy", "las2d:limit=3"), "expected las2d with limits, promote, by_gpu,"),
            (("--gpus", "2", "--policy", "las2d:limits"), "each as :option=value"),
            (("--gpus", "2", "--policy", "las2d:limits=a,b"), "whole numbers with commas between"),
            (("--gpus", "2", "--policy", "las2d:limits=9,3"), "expected rising numbers above 0"),
            (
                ("--gpus", "2", "--policy", "las2d:promote=often"),
                "promote is 'often', expected a whole number",
            ),
            (("--gpus", "2", "--policy", "las2d:by_gpu=2"), "by_gpu is '2', expected true or false"),
            (("--gpus", "2", "--policy", "tias_eta:eta=nan"), "eta is 'nan', expected a number"),
            (("--gpus", "2", "--policy", "tias_like:margin=-1"), "expected a number from 0 on, or inf"),
            (("--gpus", "2", "--policy", "fifo:x=1"), "expected fifo with no options"),
            (("--gpus", "2", "--policy", "gittins2d"), "gittins2d needs the services of earlier jobs"),
            (("--gpus", "2", "--policy", "gittins2d", "--samples", "none.csv"), "there is no such file"),
            (("--gpus", "2", "--policy", "gittins2d", "--samples", "hand.csv"), "hand.csv line 2: 'a,2,0"),
        ],
    )
    def test_options_that_make_no_sense_are_one_sentence_and_leave_no_run(
        self, work: Path, options: tuple[str, ...], says: str
    ) -> None:
        assert says in refused(queue("hand.csv", "--policy", "fifo", *options))
        assert list(work.glob("runs/*")) == []

    @pytest.mark.parametrize("options", [("--load", "nan"), ("--load", "0"), ("--restart", "-1"),
                                         ("--share", "2"), ("--gpus", "0")])  # fmt: skip
    def test_numbers_out_of_range_are_wrong_usage(self, work: Path, options: tuple[str, ...]) -> None:
        refused(queue("hand.csv", "--policy", "fifo", *options), code=2)

    def test_a_policy_whose_module_fails_is_one_sentence(self, work: Path, mine: None) -> None:
        sentence = refused(queue("hand.csv", "--gpus", "2", "--policy", "absent"))
        assert sentence.startswith("policy absent can't be loaded: AttributeError")

    def test_a_load_of_jobs_that_all_come_at_once_is_unknown_or_refused(self, work: Path) -> None:
        (work / "once.csv").write_text("\n".join(BY_HAND.splitlines()[:2]) + "\n")
        assert "there is no offered load" in refused(queue("once.csv", "--load", "1", "--policy", "fifo"))
        assert told("once.csv", "--gpus", "2", "--policy", "fifo")["trace"]["offered_load"] is None
        assert "offered load unknown" in queue("once.csv", "--gpus", "2", "--policy", "fifo").stdout

    def test_where_no_job_fits_nothing_is_told(self, work: Path) -> None:
        (work / "one.csv").write_text("\n".join(BY_HAND.splitlines()[:2]) + "\n")
        sentence = refused(queue("one.csv", "--gpus", "1", "--policy", "fifo"))
        assert sentence == "no job can run here: job a asks for 2 GPUs, the cluster has 1"
        assert list(work.glob("runs/*")) == []

    def test_where_every_policy_fails_the_first_reason_is_told(self, work: Path) -> None:
        """Turns of a minute with restarts of an hour: nothing would ever be done."""
        rows = "".join(f"j{k},2,0,1,m,900,0\n" for k in range(3))
        (work / "turns.csv").write_text(BY_HAND.splitlines()[0] + "\n" + rows)
        line = ("turns.csv", "--gpus", "2", "--policy", "gandiva", "--restart", "3600")
        assert "gandiva takes GPUs back before a restart is paid" in refused(queue(*line))
        assert list(work.glob("runs/*")) == []
