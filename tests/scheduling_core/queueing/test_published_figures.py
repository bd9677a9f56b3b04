"""Figures of the public simulators of Tiresias and Muri, to the printed digit; sources in each test."""

import csv
from fractions import Fraction
from pathlib import Path

import pytest

from scheduling_core.queueing.cluster import homogeneous
from scheduling_core.queueing.costs import TableCost
from scheduling_core.queueing.jobs import Job, Trace
from scheduling_core.queueing.policies import policy
from scheduling_core.queueing.simulator import simulate

OVERHEAD = {
    "vgg16": (7, 7, 8, 9, 9, 10), "vgg19": (7, 7, 8, 9, 10, 10), "resnet18": (4, 5, 5, 7, 7, 7),
    "shufflenet_v2_x1_0": (4, 4, 5, 5, 7, 8), "bert": (10,) * 6, "gpt2": (10,) * 6,
    "a2c": (38, 39, 39, 46, 46, 46), "dqn": (5, 5, 6, 6, 8, 8),
}  # fmt: skip
"""Seconds of a restart on 1, 2, 4, ... GPUs in Muri's public simulator."""


def rows(shared: Path, name: str) -> list[dict[str, str]]:
    with (shared / "data/traces" / name).open() as lines:
        return list(csv.DictReader(lines))


def tiresias(shared: Path) -> Trace:
    jobs = [
        Job(row["job_id"], int(row["submit_time"]), int(row["num_gpu"]), int(row["duration"]))
        for row in rows(shared, "tiresias_60_job.csv")
    ]
    return Trace("Tiresias, 60 jobs", tuple(jobs))


def muri(shared: Path) -> Trace:
    """Milliseconds; Muri's simulator runs iterations x iteration time x 1.015, here whole microseconds."""
    jobs = [
        Job(
            row["job_id"], 1000 * int(row["submit_time"]), int(row["num_gpu"]),
            int(Fraction(row["iterations"]) * Fraction(row["iteration_time"]) * 1015),
            model=row["model_name"],
        )
        for row in rows(shared, "muri_trace3.csv")
    ]  # fmt: skip
    return Trace("Muri, trace 3", tuple(jobs), tick=Fraction(1, 1_000_000))


def samples(shared: Path) -> list[int]:
    return [int(row["duration"]) for row in rows(shared, "tiresias_yarn-gput1000.csv")]


PUBLISHED = {  # mean JCT in seconds, at 8, 16 and 60 GPUs
    "fifo": ({}, "1556.483", "200.817"),
    "fjf": ({}, "715.267", "190.683"),
    "sjf": ({}, "725.700", "198.200"),
    "srtf": ({}, "519.867", "192.117"),
    "srsf": ({}, "563.383", "195.900"),
    "las by time": ({"by_gpu": False, "upstream_rounding": True}, "715.267", "190.683"),
    "las by GPU time": ({"upstream_rounding": True}, "715.267", "190.683"),
    "gittins2d": ({"upstream": True}, "821.233", "219.050"),
}


def mean_jct(shared: Path, name: str, gpus: int, **options: object) -> tuple[str, Fraction]:
    """The mean to three digits, and the makespan."""
    if name == "gittins2d":
        options["samples"] = samples(shared)
    outcome = simulate(tiresias(shared), homogeneous(gpus, 4), policy(name, **options))
    mean = Fraction(int((outcome.end - outcome.submit).sum()), len(outcome.trace)) * outcome.unit
    return f"{float(mean):.3f}", int(outcome.end.max() - outcome.submit.min()) * outcome.unit


@pytest.mark.parametrize("name", PUBLISHED)
def test_tiresias_60_jobs(shared: Path, name: str) -> None:
    """SymbioticLab/Tiresias at 959f9b0, count placement: 2 and 4 nodes of 4 GPUs.

    The Gittins row is met to the digit with its options (Python 2 divides whole numbers; ports that round
    differently give 821.200 to 822.533). With 60 GPUs nobody waits: 178.417 whatever the policy.
    """
    options, at_8, at_16 = PUBLISHED[name]
    known = "las2d" if name.startswith("las") else name
    assert mean_jct(shared, known, 8, **options)[0] == at_8
    assert mean_jct(shared, known, 16, **options)[0] == at_16
    assert mean_jct(shared, known, 60, **options) == ("178.417", 3271)
    assert mean_jct(shared, known, 61, **options) == ("178.417", 3271)


@pytest.mark.parametrize(
    ("gpus", "limits", "promote", "mean", "makespan"),
    [
        (8, (325, 720), 0, "760.033", 4806), (8, (325, 720), 8, "734.383", 4926),
        (16, (325, 720), 0, "213.000", 3271), (8, (100, 400), 0, "897.033", 4800),
    ],
)  # fmt: skip
def test_tiresias_with_limits_that_jobs_reach(
    shared: Path, gpus: int, limits: tuple[int, int], promote: int, mean: str, makespan: int
) -> None:
    """From a port that matches the public simulator job for job: here jobs sink, and rise again."""
    found = mean_jct(shared, "las2d", gpus, limits=limits, promote=promote, upstream_rounding=True)
    assert found == (mean, makespan)


@pytest.mark.parametrize(
    ("name", "mean", "makespan"),
    [("srtf", 193081.796, 8174135.28), ("srsf", 185021.880, 8174135.28), ("las2d", 347213.248, 8174226.28)],
)
def test_muri_trace_3(shared: Path, name: str, mean: float, makespan: float) -> None:
    """pkusys/Muri at 4e69a78, 8 nodes of 8 GPUs, with its restarts: to 1e-5, since its times are floats."""
    table = {(model, 1 << i): Fraction(s) for model, row in OVERHEAD.items() for i, s in enumerate(row)}
    outcome = simulate(
        muri(shared), homogeneous(64, 8), policy(name), TableCost(table, Fraction(10)), muri_restart=True
    )
    jct = float((outcome.end - outcome.submit).mean() * outcome.unit)
    assert jct == pytest.approx(mean, rel=1e-5)
    assert float(int(outcome.end.max() - outcome.submit.min()) * outcome.unit) == pytest.approx(
        makespan, rel=1e-5
    )
