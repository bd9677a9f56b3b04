"""Long checks of the Gavel package against data that is not part of the repository.

They need a folder `shared` beside the repository: the public throughput table
(stanford-futuredata/gavel at c4fa400, `scheduler/simulation_throughputs.json`) and a plain program
for the same computation.
"""

import csv
import gzip
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from scheduling_core.allocation import Problem, agnostic, water_fill

ROOT = Path(__file__).resolve().parents[2]
INPUTS = ROOT / "artifacts/packages/gavel-allocation/inputs"
TYPES = ("k80", "p100", "v100")

# The 26 single-GPU job types in the order of the public code's job table.
BATCH_SIZES = {
    "ResNet-18": (16, 32, 64, 128, 256),
    "ResNet-50": (16, 32, 64, 128),
    "Transformer": (16, 32, 64, 128, 256),
    "LM": (5, 10, 20, 40, 80),
    "Recommendation": (512, 1024, 2048, 4096, 8192),
}
JOB_TYPES = [
    *(f"{model} (batch size {size})" for model, sizes in BATCH_SIZES.items() for size in sizes),
    "A3C",
    "CycleGAN",
]

pytestmark = pytest.mark.oracle


def drawn() -> list[str]:
    """The 18 jobs: seed 0, one choice each, as in the public notebook."""
    generator = random.Random(0)
    return [generator.choice(JOB_TYPES) for _ in range(18)]


def as_csv(rows: list[list[object]]) -> bytes:
    return "".join(",".join(map(str, row)) + "\n" for row in rows).encode()


def test_the_inputs_follow_from_the_public_throughput_table(shared: Path) -> None:
    """Byte for byte: throughputs in full precision, one row for each type drawn, LF endings."""
    with gzip.open(shared / "data/gavel/simulation_throughputs.json.gz") as file:
        measured = json.load(file)
    types = list(dict.fromkeys(drawn()))
    throughputs = [
        ["job_type", *TYPES],
        *([t, *(repr(measured[gpu][f"('{t}', 1)"]["null"]) for gpu in TYPES)] for t in types),
    ]
    assert (INPUTS / "throughputs.csv").read_bytes() == as_csv(throughputs)


def test_the_other_inputs_follow_from_the_experiment() -> None:
    """Job i at step 4 i + 1, entity i // 6, user weight i % 2 + 1, one GPU; 3 GPUs of each type."""
    header = ["job_id", "job_type", "arrival_step", "entity", "user_weight", "workers"]
    jobs = [[i, t, 4 * i + 1, i // 6, i % 2 + 1, 1] for i, t in enumerate(drawn())]
    cluster = [[gpu, 3] for gpu in TYPES]
    weights = [[s, e, w] for s in ("1:2:3", "1:1:1") for e, w in enumerate(s.split(":"))]
    assert (INPUTS / "jobs.csv").read_bytes() == as_csv([header, *jobs])
    assert (INPUTS / "cluster.csv").read_bytes() == as_csv([["gpu_type", "count"], *cluster])
    assert (INPUTS / "weights.csv").read_bytes() == as_csv([["scenario", "entity", "weight"], *weights])


@pytest.mark.parametrize("weights", [(1, 2, 3), (1, 1, 1)])
@pytest.mark.parametrize("blind", [False, True])
def test_levels_agree_with_a_plain_program(
    shared: Path, monkeypatch: pytest.MonkeyPatch, weights: tuple[int, int, int], blind: bool
) -> None:
    """Exact levels by fresh linear programs to 1e-9; published scores by a dense interior point.

    Scores of single jobs lie on a flat optimum, where float64 rounding alone moves them by 1e-8.
    """
    monkeypatch.syspath_prepend(str(shared / "prototypes/gavel"))
    import experiment
    import waterfill

    for jobs in range(1, 19):
        instance = experiment.instance(jobs, weights, agnostic=blind)
        problem = Problem.of(
            instance.T,
            instance.K,
            entity=instance.entity,
            entity_weights=instance.W,
            job_weights=instance.p,
        )
        problem = agnostic(problem) if blind else problem
        exact = waterfill.waterfill(instance)[0]
        assert water_fill(problem).levels == pytest.approx(exact, rel=1e-9, abs=1e-9)
        x = waterfill.waterfill_published(instance)[0]
        scores = water_fill(problem, "published").scores
        assert scores == pytest.approx((instance.a * x).sum(axis=1), abs=3e-8)


MEANS = """
from pathlib import Path
from scheduling_core.allocation.analysis import allocation
inputs = {n: Path(INPUTS, n + ".csv") for n in ("throughputs", "jobs", "cluster", "weights")}
outputs = allocation(inputs, {"MODES": "published"}, 0)["outputs"]["published"]
for scenario in ("baseline", "alternative"):
    for policy in ("aware", "agnostic"):
        print(repr(outputs[scenario][policy]["all"]["mean"]))
"""


@pytest.mark.parametrize("kernel", [None, "Prescott", "Haswell", "Nehalem"])
def test_published_means_do_not_depend_on_the_linear_algebra_kernel(kernel: str | None) -> None:
    """The public code's own 12 digits to 1e-9 relative, with each kernel of OpenBLAS."""
    environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_CORETYPE"}
    if kernel is not None:
        environment["OPENBLAS_CORETYPE"] = kernel
    environment["PYTHONPATH"] = str(ROOT)
    code = f"INPUTS = {str(INPUTS)!r}\n{MEANS}"
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    means = [float(line) for line in run.stdout.split()]
    expected = [7.750821275928, 6.441239770550, 7.921449236422, 6.601999471825]
    assert means == pytest.approx(expected, rel=1e-9)


def test_csv_numbers_are_the_measured_floats(shared: Path) -> None:
    """Reading the CSV gives back the JSON's floats exactly."""
    with gzip.open(shared / "data/gavel/simulation_throughputs.json.gz") as file:
        measured = json.load(file)
    with (INPUTS / "throughputs.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            values = [float(row[gpu]) for gpu in TYPES]
            expected = [measured[gpu][f"('{row['job_type']}', 1)"]["null"] for gpu in TYPES]
            assert np.array_equal(values, expected)
