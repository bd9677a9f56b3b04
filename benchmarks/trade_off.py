"""Does tias_like span a better trade-off than all policies that read no durations, the plain form among them?

    python benchmarks/trade_off.py [--data ../shared/data/traces] [--traces muri,chronus] [--seeds 10]
                                   [--loads 0.8,0.95,1.1] [--tick 1800] [--finished FILE] [--jobs 1] [--json]

The two goals are the miss rate of jobs with a deadline and the mean JCT of the others. For each trace, kind
of deadlines, offered load and seed: the share of the box (0, 0) to (1, what FIFO takes) that the front of
tias_like dominates, less that of all others together; then the mean over seeds with its paired 95 % interval.
Oracles stand apart: what reading durations would add. `muri`: half the jobs get loose or tight deadlines by
seed. `chronus`: its own deadlines; a seed keeps a random half of its jobs, on GPUs for the same load.

tias_eta, the plain form, is asked again every --tick seconds; its default of 30 takes hours on months of it.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from scheduling_core.queueing.cluster import homogeneous
from scheduling_core.queueing.deadlines import LOOSE, TIGHT, with_deadlines
from scheduling_core.queueing.formats import read_trace
from scheduling_core.queueing.front import paired_interval
from scheduling_core.queueing.jobs import Trace
from scheduling_core.queueing.sweeps import sweep
from scheduling_core.queueing.synthetic import thinned
from scheduling_core.queueing.trade_offs import Comparison, Entry, cells, comparison, entries

ROOT = Path(__file__).resolve().parent.parent
MURI, CHRONUS = "muri_trace3.csv", "chronus_philly_mix1_first3000.csv.gz"
SAMPLES = "tiresias_yarn-gput1000.csv"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data/traces")
    parser.add_argument("--traces", default="muri,chronus")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--loads", default="0.8,0.95,1.1")
    parser.add_argument("--tick", type=int, default=1800)
    parser.add_argument("--finished", type=Path, help="cells that are in this file aren't run again")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if not arguments.data.is_dir():
        print(f"(no traces in {arguments.data})")
        return
    loads = [Fraction(load) for load in arguments.loads.split(",")]
    rows = []
    for name in arguments.traces.split(","):
        for kind, seeded in _traces(arguments.data, name, arguments.seeds):
            for load in loads:
                row = _row(arguments, name, kind, load, seeded)
                rows.append(row)
                if not arguments.json:
                    _print(row, first=len(rows) == 1)
    if arguments.json:
        print(json.dumps(rows, indent=2))


def _traces(data: Path, name: str, seeds: int) -> Iterator[tuple[str, list[Trace]]]:
    if name == "muri":
        # Whole seconds: milliseconds of its durations decide nothing here.
        trace = read_trace(data / MURI).trace
        yield "loose", [with_deadlines(trace, 0.5, *LOOSE, seed) for seed in range(seeds)]
        yield "tight", [with_deadlines(trace, 0.5, *TIGHT, seed) for seed in range(seeds)]
    else:
        trace = read_trace(data / CHRONUS).trace
        yield "its own", [thinned(trace, 0.5, seed) for seed in range(seeds)]


def _row(
    arguments: argparse.Namespace, name: str, kind: str, load: Fraction, traces: list[Trace]
) -> dict[str, Any]:
    with (arguments.data / SAMPLES).open() as lines:
        samples = [int(row["duration"]) for row in csv.DictReader(lines)]
    compared = [_ticked(entry, arguments.tick) for entry in entries(samples)]
    clusters = [homogeneous(trace.gpus_at_load(load)) for trace in traces]
    asked = [
        cell
        for seed, (trace, cluster) in enumerate(zip(traces, clusters, strict=True))
        for cell in cells(trace, cluster, compared, seed)
    ]
    found = sweep(asked, jobs=arguments.jobs, finished=arguments.finished).results
    size = len(compared)
    each = [comparison(compared, found[i * size : (i + 1) * size]) for i in range(len(traces))]
    return _summary(name, kind, load, [cluster.gpus for cluster in clusters], each)


def _ticked(entry: Entry, tick: int) -> Entry:
    return replace(entry, options={**entry.options, "tick": tick}) if entry.policy == "tias_eta" else entry


def _summary(name: str, kind: str, load: Fraction, gpus: list[int], each: list[Comparison]) -> dict[str, Any]:
    gains = [one.gain for one in each]
    interval = paired_interval(gains) if len(gains) > 1 else None
    ratios = [one.preemptions for one in each if one.preemptions is not None]
    return {
        "trace": name, "deadlines": kind, "load": float(load), "gpus": sorted(set(gpus)), "seeds": len(each),
        "tias_like": _mean([one.own for one in each]), "others": _mean([one.others for one in each]),
        "oracles": _mean([one.oracles for one in each]), "gain": _mean(gains),
        "low": interval.low if interval else None, "high": interval.high if interval else None,
        "least_gain": float(min(gains)),
        "preemptions_most": float(max(ratios)) if ratios else None,
        "preemptions_mean": _mean(ratios) if ratios else None,
        "points": [
            {
                entry.name: [round(float(x), 4), round(float(y))]
                for entry, (x, y) in zip(one.compared, one.points, strict=True)
            }
            for one in each[:1]
        ],
    }  # fmt: skip


def _mean(values: list[Fraction]) -> float:
    return float(sum(values, Fraction(0)) / len(values))


def _print(row: dict[str, Any], first: bool) -> None:
    if first:
        print(
            "trace    deadlines load  GPUs        tias_like  others  gain    95 % interval      oracles  "
            "preemptions / those of las2d with two limits (most, mean)"
        )
    gpus = "-".join(str(n) for n in dict.fromkeys((row["gpus"][0], row["gpus"][-1])))
    interval = "none" if row["low"] is None else f"{row['low']:+.4f} to {row['high']:+.4f}"
    if row["preemptions_most"] is None:
        preempted = "las2d has none"
    else:
        preempted = f"{row['preemptions_most']:.2f}, {row['preemptions_mean']:.2f}"
    print(
        f"{row['trace']:8} {row['deadlines']:9} {row['load']:<5} {gpus:11} {row['tias_like']:<10.4f} "
        f"{row['others']:<7.4f} {row['gain']:+.4f} {interval:18} {row['oracles']:<8.4f} {preempted}",
        flush=True,
    )


if __name__ == "__main__":
    main()
