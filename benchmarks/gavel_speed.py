"""How fast is the whole Gavel recomputation, against a plain program that does the same?

    python benchmarks/gavel_speed.py [--reference DIR] [--repeat N] [--json]

One unit of work: 72 steps, both policies, both weight scenarios, that is 72 distinct allocations.
The reference is a direct transcription of the published procedure (dense interior point, one
linear program for each bottleneck test; modules `experiment` and `waterfill` in --reference).
Both sides run on one thread, interleaved, in one process; the times are CPU seconds, the medians of
the repeats, so that a busy machine slows both alike.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"  # one thread on both sides

import numpy as np  # noqa: E402  (reads the variables above)

ROOT = Path(__file__).resolve().parents[1]
INPUTS = ROOT / "artifacts/packages/gavel-allocation/inputs"
REFERENCE = ROOT.parent / "shared/prototypes/gavel"
FILES = {name: INPUTS / f"{name}.csv" for name in ("throughputs", "jobs", "cluster", "weights")}
JOBS, STEPS = 18, 72


def ours(mode: str) -> list[float]:
    """Read the inputs, solve, build the traces; mean totals of the four runs."""
    from scheduling_core.allocation.inputs import read_experiment
    from scheduling_core.allocation.trace import POLICIES, simulate

    experiment = read_experiment(FILES)
    return [
        simulate(sequence, policy, mode, STEPS).trace.summary(policy).mean  # type: ignore[arg-type]
        for sequence in experiment.scenarios.values()
        for policy in POLICIES
    ]


def reference(folder: Path) -> Callable[[], list[float]]:
    """The same by the reference program."""
    sys.path.insert(0, str(folder))
    import experiment  # type: ignore[import-not-found]
    import waterfill  # type: ignore[import-not-found]

    def run() -> list[float]:
        means = []
        for weights in ((1, 2, 3), (1, 1, 1)):
            for blind in (False, True):
                scores = []
                for jobs in range(1, JOBS + 1):
                    instance = experiment.instance(jobs, weights, agnostic=blind)
                    x = waterfill.waterfill_published(instance)[0]
                    of_jobs = np.zeros(JOBS)
                    of_jobs[:jobs] = (instance.a * x).sum(axis=1)
                    scores.append(of_jobs)
                means.append(float(experiment.stats(scores)["mean"]))
        return means

    return run


def measure(sides: dict[str, Callable[[], list[float]]], repeat: int) -> dict[str, Any]:
    """CPU seconds of each side, interleaved, after one untimed warm-up of each."""
    means = {name: side() for name, side in sides.items()}
    times: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(repeat):
        for name, side in sides.items():
            start = time.process_time()
            side()
            times[name].append(time.process_time() - start)
    return {
        name: {
            "cpu_seconds": statistics.median(times[name]),
            "fastest": min(times[name]),
            "means": means[name],
        }
        for name in sides
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--reference", type=Path, default=REFERENCE)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    sides: dict[str, Callable[[], list[float]]] = {
        "published": lambda: ours("published"),
        "exact": lambda: ours("exact"),
    }
    if arguments.reference.is_dir():
        sides["reference"] = reference(arguments.reference)
    result = measure(sides, arguments.repeat)
    if "reference" in result:
        for side in result.values():
            side["times_faster"] = result["reference"]["cpu_seconds"] / side["cpu_seconds"]
    if arguments.json:
        print(json.dumps(result, indent=2, sort_keys=True))
        return
    print(f"{'72 allocations, 1 thread':26}{'CPU s':>9}{'faster':>9}   mean of the first run")
    for name, side in result.items():
        ratio = f"{side['times_faster']:.1f} x" if "times_faster" in side else "-"
        print(f"{name:26}{side['cpu_seconds']:9.3f}{ratio:>9}   {side['means'][0]:.12f}")
    if "reference" not in result:
        print(f"(no reference program in {arguments.reference})")


if __name__ == "__main__":
    main()
