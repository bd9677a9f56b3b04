"""Schedule search on PSPLIB's j30 instances: gap to the known optima, and schedules generated in a second.

    python benchmarks/rcpsp.py [--data ../shared/data/psplib] [--seeds 5] [--json]

The gap is the mean over seeds and instances of makespan / optimum - 1, after so many schedules; each pass of
serial generation counts as one, those of justification too. Speed is in CPU time of whole searches, bounds
apart. The plain form does the same search on a few instances, results compared, and gives the ratio.
"""

import argparse
import csv
import json
import sys
import time
from pathlib import Path
from statistics import fmean
from types import ModuleType
from typing import Any

from scheduling_core.compiled import is_compiled, plain_form
from scheduling_core.rcpsp import kernels
from scheduling_core.rcpsp.bounds import Bound, lower_bound
from scheduling_core.rcpsp.project import Project
from scheduling_core.rcpsp.readers import read_project
from scheduling_core.rcpsp.search import Found, search

ROOT = Path(__file__).resolve().parent.parent
BUDGETS = (1_000, 5_000, 50_000)
Instance = tuple[Project, Bound, int]


def read(folder: Path) -> dict[str, Instance]:
    """Project, bound and optimum of each instance."""
    with open(folder / "j30_optima.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    found = {}
    for row in rows:
        project = read_project(folder / "j30" / f"{row['instance']}.dzn")
        bound = lower_bound(project, project.horizon)
        found[row["instance"]] = project, bound, int(row["optimal_makespan"])
    return found


def timed(
    instances: list[Instance], budget: int, seed: int, module: ModuleType = kernels
) -> tuple[list[Found], float]:
    """Searches, and CPU seconds of all."""
    begin = time.process_time()
    found = [search(project, budget, seed, bound, module) for project, bound, _ in instances]
    return found, time.process_time() - begin


def measure(instances: dict[str, Instance], budget: int, seeds: int) -> dict[str, Any]:
    """Mean gap, share at the optimum and proved, and speed, over seeds from 1."""
    whole = list(instances.values())
    optima = [optimum for _, _, optimum in whole]
    gaps, at_optimum, proved, schedules, seconds = [], 0, 0, 0, 0.0
    for seed in range(1, seeds + 1):
        found, spent = timed(whole, budget, seed)
        below = [n for n, f, o in zip(instances, found, optima, strict=True) if f.makespan < o]
        if below:
            sys.exit(f"{below[0]}: a makespan below the known optimum, which is a defect")
        gaps += [f.makespan / o - 1 for f, o in zip(found, optima, strict=True)]
        at_optimum += sum(f.makespan == o for f, o in zip(found, optima, strict=True))
        proved += sum(f.proved_optimal for f in found)
        schedules += sum(f.schedules for f in found)
        seconds += spent
    return {
        "budget": budget,
        "mean_gap_percent": round(100 * fmean(gaps), 4),
        "at_optimum": round(at_optimum / len(gaps), 4),
        "proved": round(proved / len(gaps), 4),
        "schedules": schedules,
        "schedules_per_cpu_s": round(schedules / seconds),
    }


def against_plain(instances: list[Instance]) -> float | None:
    """How much faster the compiled form is; the results have to be the same. None: it isn't here."""
    if not is_compiled(kernels):
        return None
    loose = [(project, Bound(0, "none"), optimum) for project, _, optimum in instances]
    ours, fast = timed(loose, 1_000, 1)
    theirs, slow = timed(loose, 1_000, 1, plain_form(kernels))
    if ours != theirs:
        sys.exit("the compiled and the plain form differ, which is a defect")
    return round(slow / fast, 1)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data/psplib")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not (options.data / "j30_optima.csv").is_file():
        print(f"rcpsp: {options.data} isn't here, expected j30/*.dzn and j30_optima.csv in it; left out")
        return
    instances = read(options.data)
    timed(list(instances.values())[:1], 10, 0)  # compiles
    results = {
        "instances": len(instances),
        "seeds": options.seeds,
        "compiled": is_compiled(kernels),
        "budgets": [measure(instances, budget, options.seeds) for budget in BUDGETS],
        "compiled_over_plain": against_plain(list(instances.values())[::24]),
    }
    if options.json:
        print(json.dumps(results, indent=2))
        return
    print(f"{len(instances)} j30 instances, {options.seeds} seeds")
    for row in results["budgets"]:
        print(
            f"{row['budget']:>6,} schedules: mean gap {row['mean_gap_percent']:.4f} %, "
            f"{row['at_optimum']:.1%} at the optimum, {row['proved']:.1%} proved; "
            f"{row['schedules_per_cpu_s']:,} schedules per CPU second"
        )
    if results["compiled_over_plain"] is not None:
        print(f"compiled form: {results['compiled_over_plain']} times the speed of the plain one")


if __name__ == "__main__":
    main()
