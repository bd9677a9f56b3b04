import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from artifacts.analyses import (
    AnalysisResult,
    ProcessLimits,
    RegisteredAnalysis,
    implementation_of,
    registered,
)
from artifacts.errors import AnalysisError
from artifacts.runner import Runner
from schema.artifact import Analysis
from schema.states import CheckOutcome

Run = Callable[..., AnalysisResult]


@pytest.fixture
def runner(analyses: Path) -> Iterator[Runner]:
    with Runner(ProcessLimits(builtin_memory_bytes=2 << 30)) as opened:
        yield opened


@pytest.fixture
def run(runner: Runner, tmp_path: Path) -> Run:
    """Run one registered analysis over a small file of jobs."""
    (tmp_path / "jobs.csv").write_text("id,steps\n1,10\n2,30\n")

    def call(name: str, parameters: dict[str, Any] | None = None, seconds: float = 20) -> AnalysisResult:
        analysis = Analysis(
            id="a",
            kind="builtin",
            builtin=name,
            inputs={"jobs": "jobs.csv"},
            parameters=parameters or {},
            time_limit_s=seconds,
            seed=7,
        )
        return runner.run(analysis, lambda path: tmp_path / path)

    return call


def failure(result: AnalysisResult) -> tuple[str, str]:
    assert result.failure is not None
    assert result.detail is not None
    assert "Traceback" not in result.detail
    assert "\n" not in result.detail
    return result.failure.value, result.detail


def test_what_is_installed_is_found_without_importing_it(analyses: Path) -> None:
    found = registered()["mean"]
    expected = RegisteredAnalysis(
        "mean", "demo_core.first.analysis:mean", "demo_core.first", "demo-analyses", "1.5"
    )
    assert expected == found
    assert not [name for name in sys.modules if name.startswith("demo_core")]


def test_an_implementation_is_the_package_of_its_function(analyses: Path) -> None:
    """`demo_core.second` is a package itself; `demo_core.first.analysis` is a module of one."""
    assert implementation_of("demo_core.second") == "demo_core.second"
    assert implementation_of("demo_core.first.analysis") == "demo_core.first"
    assert implementation_of("nowhere.at.all") == "nowhere.at.all"


def test_two_distributions_with_one_name(analyses: Path) -> None:
    other = analyses / "other-1.0.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (other / "entry_points.txt").write_text("[proofshelf.analyses]\nmean = other:run\n")
    with pytest.raises(AnalysisError, match=r"two analyses are registered as 'mean': demo_core\.first"):
        registered()


def test_inputs_parameters_and_seed_arrive(run: Run) -> None:
    """(10 + 30) / 2 times 3 is 60; the seed is the manifest's."""
    result = run("mean", {"factor": 3})
    assert result.failure is None
    assert result.outputs == {"mean": 60.0, "seed": 7, "a/b": [1, 2]}
    assert result.tables == {"values": {"columns": ["value"], "rows": [[10.0], [30.0]]}}
    assert result.charts == {"bars": {"mark": "bar"}}
    assert result.implementation == "demo_core.first"


def test_an_unknown_name_lists_those_installed(run: Run) -> None:
    outcome, detail = failure(run("maen"))
    assert outcome == "refused"
    assert detail.startswith(
        "no analysis is registered as 'maen'; did you mean 'mean'? installed are aborts,"
    )


FAILURES = {
    "nan": ("crashed", "analysis a: gave nan at '/outputs/mean/1', which is no finite number"),
    "not-json": ("crashed", "analysis a: gave set at '/outputs/mean', which isn't plain JSON"),
    "wrong-shape": ("crashed", "analysis a: gave list; expected an object with outputs, tables and charts"),
    "ragged": ("crashed", "analysis a: gave table 't' with row 0 that hasn't 2 cells"),
    "breaks": ("crashed", "analysis a: KeyError: 'nothing'"),
    "aborts": ("crashed", "analysis a: its process failed: it was ended by signal SIGABRT"),
    "eats": ("timed_out", "analysis a: needed more than its limit of 2048 MiB of memory"),
    "no-import": (
        "crashed",
        "analysis a: demo_core.missing:run can't be imported: ModuleNotFoundError: No module named "
        "'demo_core.missing'",
    ),
}


@pytest.mark.parametrize("name", FAILURES)
def test_every_failure_is_a_sentence_and_the_next_analysis_runs(run: Run, name: str) -> None:
    assert FAILURES[name] == failure(run(name))
    assert run("prints").outputs == {"mean": 20}


def test_bad_input_speaks_with_the_analysis_own_sentence(run: Run) -> None:
    expected = ("crashed", "analysis a: factor must not be negative; expected 0 or more")
    assert expected == failure(run("mean", {"factor": -1}))


def test_what_an_analysis_prints_is_not_its_result(run: Run) -> None:
    assert run("prints").outputs == {"mean": 20}


def test_the_clock_stops_it(run: Run) -> None:
    began = time.monotonic()
    assert failure(run("sleeps", seconds=0.5)) == (
        "timed_out",
        "analysis a: was stopped after its limit of 0.5 s",
    )
    assert time.monotonic() - began < 10


def test_children_of_an_analysis_are_killed_with_it(run: Run, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    failure(run("spawns-and-sleeps", {"note": str(note)}, seconds=2))
    pid = int(note.read_text())
    for _ in range(50):
        try:
            with open(f"/proc/{pid}/stat") as stat:
                if stat.read().rpartition(")")[2].split()[0] == "Z":
                    return
        except FileNotFoundError:
            return
        time.sleep(0.1)
    raise AssertionError("a child of the analysis survived")


def test_one_process_serves_all_and_computes_in_one_thread(run: Run, tmp_path: Path) -> None:
    assert run("pid").outputs == run("pid").outputs != os.getpid()
    threads, more, folder = run("threads").outputs
    assert [threads, more] == ["1", "1"]
    assert Path(folder) != Path.cwd()


def test_no_process_outlives_the_runner(analyses: Path) -> None:
    with Runner() as runner:
        pid = runner.run(Analysis(id="a", kind="builtin", builtin="pid"), Path).outputs
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.parametrize(
    ("analysis", "what"),
    [
        (Analysis(id="c", kind="command", argv=("touch", "/tmp/proofshelf-ran")), "a command"),
        (Analysis(id="c", kind="notebook", notebook="n.ipynb"), "a notebook"),
    ],
)
def test_a_package_own_code_is_never_run(runner: Runner, analysis: Analysis, what: str) -> None:
    result = runner.run(analysis, Path)
    expected = ("refused", f"c is {what}, and this version never runs a package's own code")
    assert expected == failure(result)
    assert not os.path.exists("/tmp/proofshelf-ran")
    assert result.failure is CheckOutcome.REFUSED
