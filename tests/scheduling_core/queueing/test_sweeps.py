"""Sweeps: the same bytes however they run, and what was finished is kept whatever happens."""

import importlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import scheduling_core.queueing.sweeps as sweeps
from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.cells import Cell, key_of, outcome_sha256, request_of
from scheduling_core.queueing.cluster import Cluster, Node, homogeneous
from scheduling_core.queueing.costs import ConstantCost, GangCost, TableCost
from scheduling_core.queueing.finished import Finished
from scheduling_core.queueing.jobs import Job, Trace
from scheduling_core.queueing.metrics import metrics
from scheduling_core.queueing.policies import policy, registry
from scheduling_core.queueing.policies.base import Policy
from scheduling_core.queueing.simulator import simulate
from scheduling_core.queueing.sweeps import Sweep, sweep
from scheduling_core.queueing.views import Numbers, View

ROOT = Path(__file__).parents[3]


def trace(seed: int, jobs: int = 25) -> Trace:
    rng = random.Random(seed)
    made = []
    for k in range(jobs):
        submit, duration = rng.randrange(200), rng.randrange(1, 90)
        made.append(Job(f"j{k}", submit, rng.choice([1, 2, 4]), duration, submit + 2 * duration))
    return Trace(f"seed {seed}", tuple(made))


CELLS = [
    Cell(trace(seed), homogeneous(8), name, options, GangCost(), seed)
    for seed in (1, 2)
    for name, options in (("las2d", {"limits": (40, 90)}), ("srtf", {}), ("fifo", {}))
]


@pytest.fixture(scope="module")
def serial() -> Sweep:
    return sweep(CELLS)


def test_each_result_is_that_of_its_cell_alone(serial: Sweep) -> None:
    for cell, result in zip(CELLS, serial.results, strict=True):
        made = policy(cell.policy, **cell.options)
        outcome = simulate(cell.trace, cell.cluster, made, cell.restart)
        assert result is not None
        assert result.metrics == metrics(outcome)
        assert result.sha256 == outcome_sha256(outcome)
    assert len({result.sha256 for result in serial.results if result}) == len(CELLS)
    assert not serial.interrupted


def test_two_processes_give_the_same_bytes_and_the_order_of_the_request(
    serial: Sweep, tmp_path: Path
) -> None:
    """Backwards too: results come in the order of the cells, whoever ends first."""
    file = tmp_path / "cells.jsonl"
    assert sweep(CELLS, jobs=2, finished=file) == serial
    assert sweep(CELLS[::-1], jobs=2).results == serial.results[::-1]
    sweep(CELLS, finished=tmp_path / "one.jsonl")
    lines = file.read_bytes().splitlines()
    assert sorted(lines) == sorted((tmp_path / "one.jsonl").read_bytes().splitlines())


def test_a_dask_cluster_gives_the_same_bytes_or_says_what_it_needs(serial: Sweep) -> None:
    """Dask's package isn't one that we need: without it, a sentence says so."""
    try:
        distributed = importlib.import_module("distributed")
    except ImportError:
        with pytest.raises(SchedulingError, match="needs the package distributed, expected it here"):
            sweep(CELLS, dask="tcp://127.0.0.1:8786")
        return
    with distributed.LocalCluster(n_workers=2, processes=False, dashboard_address=None) as cluster:
        assert sweep(CELLS, dask=cluster.scheduler_address) == serial
    with pytest.raises(SchedulingError, match="No Dask scheduler answers at nowhere"):
        sweep(CELLS, dask="nowhere")


def test_finished_cells_do_not_run_again(
    serial: Sweep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "cells.jsonl"
    told: list[tuple[int, int]] = []
    sweep(CELLS[:2], finished=file, on_progress=lambda *at: told.append(at))
    assert told == [(0, 2), (1, 2), (2, 2)]
    ran: list[Cell] = []
    real = sweeps.run_cell
    monkeypatch.setattr(sweeps, "run_cell", lambda cell, request: ran.append(cell) or real(cell, request))
    told.clear()
    assert sweep(CELLS, finished=file, on_progress=lambda *at: told.append(at)) == serial
    assert ran == CELLS[2:]
    assert told == [(k, 6) for k in range(2, 7)]
    assert sweep(CELLS, finished=file) == serial
    assert len(ran) == 4


def test_equal_cells_run_once(serial: Sweep, tmp_path: Path) -> None:
    file = tmp_path / "cells.jsonl"
    found = sweep([CELLS[0], CELLS[1], CELLS[0]], finished=file)
    assert found.results == (serial.results[0], serial.results[1], serial.results[0])
    assert file.read_bytes().count(b"\n") == 2


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interruption_keeps_what_was_finished(
    jobs: int, serial: Sweep, tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    file = tmp_path / "cells.jsonl"

    def stop(ended: int, of: int) -> None:
        if ended == 2:
            raise KeyboardInterrupt

    found = sweep(CELLS, jobs=jobs, finished=file, on_progress=stop)
    assert found.interrupted
    kept = [result for result in found.results if result is not None]
    assert len(kept) == 2
    assert all(result in (None, whole) for result, whole in zip(found.results, serial.results, strict=True))
    assert {json.loads(line)["key"] for line in file.read_bytes().splitlines()} == {r.key for r in kept}
    assert not list(recwarn)
    assert sweep(CELLS, finished=file) == serial


SCRIPT = """
import sys
from pathlib import Path
from scheduling_core.queueing.cells import Cell
from scheduling_core.queueing.cluster import homogeneous
from scheduling_core.queueing.jobs import Job, Trace
from scheduling_core.queueing.sweeps import sweep

def cells():
    for seed in range(300):
        jobs = tuple(Job(f"j{k}", k * 7 % 50, 1 + k % 4, 1 + (k * 13 + seed) % 40) for k in range(60))
        yield Cell(Trace("t", jobs), homogeneous(8), "srtf", {}, seed=seed)

if __name__ == "__main__":
    found = sweep(list(cells()), jobs=int(sys.argv[2]), finished=Path(sys.argv[1]))
    print(found.interrupted, sum(result is not None for result in found.results))
"""


def begun(tmp_path: Path, jobs: int) -> subprocess.Popen[str]:
    """A process in which a sweep has finished its first cells."""
    script, file = tmp_path / "script.py", tmp_path / "cells.jsonl"
    script.write_text(SCRIPT)
    process = subprocess.Popen(
        [sys.executable, str(script), str(file), str(jobs)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, start_new_session=True,
    )  # fmt: skip
    while not file.exists() or file.read_bytes().count(b"\n") < 3:
        assert process.poll() is None
        time.sleep(0.02)
    return process


def whole_lines(file: Path) -> int:
    """How many there are; the file is opened as a sweep opens it, which cuts off a torn one."""
    opened = Finished(file)
    opened.close()
    lines = file.read_bytes().splitlines()
    assert len(opened.results) == len(lines)
    assert all(key_of(json.loads(line)["request"]) == json.loads(line)["key"] for line in lines)
    return len(lines)


def test_ctrl_c_on_a_terminal_ends_parent_and_workers_quietly(tmp_path: Path) -> None:
    """A terminal sends it to all processes of the group; nobody prints a traceback."""
    process = begun(tmp_path, jobs=2)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert out == f"True {whole_lines(tmp_path / 'cells.jsonl')}\n"


def test_a_killed_process_leaves_whole_cells(tmp_path: Path) -> None:
    process = begun(tmp_path, jobs=1)
    process.kill()
    process.communicate(timeout=60)
    assert 3 <= whole_lines(tmp_path / "cells.jsonl") < 300


def test_a_torn_line_is_cut_off_and_its_cell_runs_again(serial: Sweep, tmp_path: Path) -> None:
    """Wherever in the last line the process was killed."""
    file = tmp_path / "cells.jsonl"
    sweep(CELLS[:2], finished=file)
    content = file.read_bytes()
    first = content.index(b"\n") + 1
    for length in (first, first + 1, first + 9, first + 500, len(content) - 1):
        file.write_bytes(content[:length])
        assert sweep(CELLS[:2], finished=file).results == serial.results[:2]
        assert file.read_bytes() == content


@pytest.mark.parametrize("text", ["a note\n", "a note", '{"key": 1}\n', "[]\n", "\n", "\xff\n"])
def test_a_file_of_another_kind_is_refused_and_left_alone(text: str, tmp_path: Path) -> None:
    file = tmp_path / "cells.jsonl"
    file.write_text(text, encoding="latin-1")
    before = file.read_bytes()
    with pytest.raises(
        SchedulingError, match=r"cells.jsonl, line 1: no finished cell \(.*\), expected a line"
    ):
        sweep(CELLS[:1], finished=file)
    assert file.read_bytes() == before


def test_a_changed_line_is_refused(tmp_path: Path) -> None:
    """Its key is the hash of what was asked for."""
    file = tmp_path / "cells.jsonl"
    sweep(CELLS[:2], finished=file)
    file.write_text(file.read_text().replace('"seed": 1', '"seed": 2', 1))
    with pytest.raises(SchedulingError, match=r"line 1: .*its key isn't that of its request"):
        Finished(file)
    with pytest.raises(SchedulingError, match="can't be read"):
        Finished(tmp_path)


def test_the_key_tells_every_part_of_a_request_apart() -> None:
    cell = Cell(trace(1), homogeneous(8), "las2d", {"limits": (40, 90)}, ConstantCost(Fraction(1)), 1)
    nodes = (Node(2, "a"), Node(2, "a"), Node(4, "b"))
    others = [
        cell, replace(cell, seed=2), replace(cell, seed=None), replace(cell, options={}),
        replace(cell, options={"limits": (40, 91)}), replace(cell, restart=ConstantCost(Fraction(1, 3))),
        replace(cell, restart=GangCost()), replace(cell, restart=TableCost({("m", 1): Fraction(1)})),
        replace(cell, policy="srtf", options={}), replace(cell, cluster=homogeneous(8, 4)),
        replace(cell, cluster=Cluster(nodes)), replace(cell, cluster=Cluster(nodes[::-1])),
        replace(cell, trace=trace(2)), replace(cell, trace=replace(trace(1), tick=Fraction(1, 2))),
    ]  # fmt: skip
    assert len({key_of(request_of(other)) for other in others}) == len(others)
    alike = replace(cell, trace=trace(1), options={"limits": [np.int64(40), 90]})
    assert key_of(request_of(alike)) == key_of(request_of(cell))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"policy": "none"}, "There is no policy 'none'"),
        ({"options": {"x": 1}}, "doesn't take these options"),
        ({"options": {"limits": (2, 1)}}, "expected rising numbers"),
        ({"policy": "gittins2d", "options": {"samples": [1, 2], "delta": float("inf")}}, "finite"),
        ({"restart": object()}, "expected plain values"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_for_is_refused_before_anything_runs(
    change: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    file = tmp_path / "cells.jsonl"
    with pytest.raises(SchedulingError, match=sentence):
        sweep([CELLS[0], replace(CELLS[0], **change)], finished=file)
    assert not file.exists()
    with pytest.raises(SchedulingError, match="expected 1 or more, or -1"):
        sweep(CELLS, jobs=0)


class Idle(Policy):
    """Serves nobody."""

    name = "idle"
    source = "a test"

    def order(self, view: View) -> Numbers:
        return view.jobs[:0]


def test_what_a_simulation_refuses_is_a_result_with_its_reason(
    serial: Sweep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others run; the reason is kept, since the same request would be refused again."""
    real = registry.policy_class
    monkeypatch.setattr(registry, "policy_class", lambda name: Idle if name == "idle" else real(name))
    cells = [Cell(trace(1), homogeneous(8), "idle"), CELLS[0]]
    file = tmp_path / "cells.jsonl"
    for _ in range(2):
        bad, good = sweep(cells, finished=file).results
        assert bad is not None
        assert bad.metrics is None
        assert bad.error == "idle leaves 25 jobs waiting for ever, expected it to serve them."
        assert bad.request["policy_code"] is not None  # of this file
        assert good == serial.results[0]
    assert file.read_bytes().count(b"\n") == 2


def test_a_worker_with_other_code_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    request = {**request_of(CELLS[0]), "code": "another"}
    with pytest.raises(SchedulingError, match="another version of scheduling_core"):
        sweeps.run_cell(CELLS[0], request)


def test_nothing_to_do_is_no_error(tmp_path: Path) -> None:
    assert sweep([], jobs=2, finished=tmp_path / "new" / "cells.jsonl") == Sweep((), ())
