"""Published files as their authors have them: counted and computed apart, one simulated to its figure."""

import csv
import gzip
import io
import json
from fractions import Fraction
from pathlib import Path

import pytest

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.cluster import homogeneous
from scheduling_core.queueing.formats import read_trace
from scheduling_core.queueing.policies import policy
from scheduling_core.queueing.simulator import simulate


def rows(path: Path) -> list[dict[str, str]]:
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
    return list(csv.DictReader(io.StringIO(text)))


def test_tiresias_60_jobs(shared: Path) -> None:
    """FIFO, 2 nodes of 4 GPUs: mean JCT in the public simulator (SymbioticLab/Tiresias at 959f9b0)."""
    trace = read_trace(shared / "data/traces/tiresias_60_job.csv").trace
    outcome = simulate(trace, homogeneous(8, 4), policy("fifo"))
    mean = Fraction(int((outcome.end - outcome.submit).sum()), len(trace)) * outcome.unit
    assert f"{float(mean):.3f}" == "1556.483"


def test_muri_trace_3(shared: Path) -> None:
    """Both durations of all 992 jobs in exact seconds, from the columns read apart."""
    path = shared / "data/traces/muri_trace3.csv"
    logged, simulated = read_trace(path).trace, read_trace(path, muri_run_time=True).trace
    given = rows(path)
    assert len(logged) == len(simulated) == len(given) == 992
    for row, one, other in zip(given, logged.jobs, simulated.jobs, strict=True):
        milliseconds = int(row["iterations"]) * int(row["iteration_time"])
        assert (
            logged.seconds(one.submit)
            == simulated.seconds(other.submit)
            == Fraction(row["submit_time"]) / 1000
        )
        assert logged.seconds(one.duration) == -(-milliseconds // 1000)
        assert simulated.seconds(other.duration) == Fraction(milliseconds * 203, 200 * 1000)


def test_chronus_mix_1(shared: Path) -> None:
    """907 best-effort jobs without a deadline, 2,093 strict ones; minutes are ticks of 60 s."""
    path = shared / "data/traces/chronus_philly_mix1_first3000.csv.gz"
    trace = read_trace(path).trace
    strict = {row["job_id"]: row for row in rows(path) if row["job_type"] == "strict"}
    assert (len(trace), len(strict), trace.tick) == (3000, 2093, 60)
    for job in trace.jobs:
        row = strict.get(job.id)
        assert job.deadline == (
            None if row is None else int(row["submit_time"]) + int(row["expect_time_list"])
        )


def test_gavel_traces(shared: Path) -> None:
    """Every trace of the physical cluster: steps / V100 rate within half a millisecond, from the table."""
    folder = shared / "data/gavel"
    file = folder / "simulation_throughputs.json.gz"
    table = json.loads(gzip.decompress(file.read_bytes()))["v100"]
    found = 0
    for path in sorted(folder.glob("*.trace")):
        trace = read_trace(path, throughputs=file).trace
        lines = path.read_text().splitlines()
        for line, job in zip(lines, trace.jobs, strict=True):
            kind, *_, steps, gpus, _, _, _ = line.split("\t")
            seconds = int(steps) / table[str((kind, int(gpus)))]["null"]
            assert abs(float(trace.seconds(job.duration)) - seconds) < 0.000501
            found += 1
    assert found == 15 + 14 + 20 + 20


def test_other_files_beside_them_are_no_traces(shared: Path) -> None:
    """A cluster's description and a list of samples: told as what they aren't."""
    for name in ("tiresias_n32g4.csv", "tiresias_yarn-gput1000.csv"):
        with pytest.raises(SchedulingError, match=rf"^{name} line 1: .* begins no trace that is known"):
            read_trace(shared / "data/traces" / name)
