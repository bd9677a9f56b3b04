"""The trade-off of a trace, as an artifact package calls it; `check.analysis` is the second account of it.

run(inputs: {name: path}, parameters: {name: value}, seed) -> {"outputs", "tables", "charts"}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from scheduling_core.errors import SchedulingError
from scheduling_core.parameters import read_parameters
from scheduling_core.queueing.charts import trade_off, trade_off_chart
from scheduling_core.queueing.cluster import homogeneous
from scheduling_core.queueing.formats import read_trace
from scheduling_core.queueing.jobs import Trace
from scheduling_core.queueing.metrics import Metrics, metrics
from scheduling_core.queueing.outcome import Outcome
from scheduling_core.queueing.policies import policy
from scheduling_core.queueing.simulator import simulate
from scheduling_core.queueing.trade_offs import OURS, SKETCH, Entry, compare, reduced

Json = dict[str, Any]
DEFAULTS = {"GPUS": 64, "MARGINS": ["0", "1", "1.5", "2", "3", "inf"], "ETAS": ["0.5", "2"], "TICK": 30}
"""GPUs, margins of tias_like, etas of the plain form, and after how many seconds that is asked again."""
LOGS: list[str] = []
"""Policies of which every decision is given, in the table `decisions`."""
GROUPS = {OURS: "tias_like", SKETCH: "plain form and baselines", "baseline": "plain form and baselines"}
NAMES = (
    "deadline_miss_rate", "deadline_misses", "non_deadline_jct_mean", "jct_mean", "preemptions", "makespan",
    "utilisation",
)  # fmt: skip


def run(inputs: Mapping[str, Path], parameters: Mapping[str, Any], seed: int = 0) -> Json:
    """Every policy on the trace: deadlines missed, mean JCT of jobs without one, and whose front is ahead.

    Input ``trace`` in any form that `read_trace` knows; parameters as in `DEFAULTS`. Times in seconds. The
    seed is unused: the trace and its deadlines are made.

    Raises
    ------
    SchedulingError : for an input or a parameter that makes no sense.
    """
    chosen = read_parameters(parameters, {**DEFAULTS, "LOGS": LOGS})
    trace = _read(inputs)
    compared = reduced(chosen["MARGINS"], chosen["ETAS"], chosen["TICK"])
    cluster = homogeneous(chosen["GPUS"])
    ran: dict[str, Outcome] = {}
    for entry in compared:
        ran[entry.name] = simulate(trace, cluster, policy(entry.policy, **entry.options), decisions=True)
    told = {name: metrics(outcome) for name, outcome in ran.items()}
    found = compare(compared, list(told.values()))
    return {
        "outputs": {
            "parameters": chosen,
            "trace": {
                "jobs": len(trace), "with_deadline": sum(job.deadline is not None for job in trace.jobs),
                "gpus": chosen["GPUS"], "offered_load": float(trace.offered_load(chosen["GPUS"])),
                "synthetic": trace.synthetic, "sha256": trace.sha256,
            },
            "policies": {
                entry.name: _told(entry, ran[entry.name], told[entry.name], trace) for entry in compared
            },
            "hypervolume": {
                "tias_like": float(found.own), "others": float(found.others), "gain": float(found.gain),
                "oracles": float(found.oracles), "reference_jct_s": float(Fraction(found.reference[1])),
            },
            "preemptions_over_las2d": None if found.preemptions is None else float(found.preemptions),
        },
        "tables": {"policies": _table(compared, told), **_logs(chosen["LOGS"], ran, trace)},
        "charts": {"trade-off": _chart(compared, told)},
    }  # fmt: skip


def _read(inputs: Mapping[str, Path]) -> Trace:
    if "trace" not in inputs:
        raise SchedulingError("The analysis needs an input named trace.")
    return read_trace(inputs["trace"]).trace


def _told(entry: Entry, outcome: Outcome, found: Metrics, trace: Trace) -> Json:
    assert outcome.decisions is not None
    return {
        **{name: found[name].plain for name in NAMES},
        "oracle": outcome.policy.oracle, "group": entry.group,
        "events": outcome.events,
        "decisions_sha256": outcome.decisions.sha256([job.id for job in trace.jobs]),
    }  # fmt: skip


def _table(compared: Sequence[Entry], told: Mapping[str, Metrics]) -> Json:
    rows = [
        [entry.name, "yes" if told[entry.name].oracle else "no"]
        + [told[entry.name][name].plain for name in NAMES]
        for entry in compared
    ]
    return {"columns": ["policy", "oracle", *NAMES], "rows": rows}


def _logs(names: Sequence[str], ran: Mapping[str, Outcome], trace: Trace) -> Json:
    """Decisions of these policies, times in ticks of the stated length."""
    if not names:
        return {}
    if unknown := [name for name in names if name not in ran]:
        raise SchedulingError(f"LOGS names {unknown[0]!r}, expected some of {', '.join(ran)}.")
    rows = [
        [name, str(ran[name].unit), time, trace.jobs[job].id, action.value, ""]
        for name in names
        for time, job, action, _ in ran[name].decisions or ()
    ]
    return {"decisions": {"columns": ["policy", "tick", "time", "job", "action", "place"], "rows": rows}}


def _chart(compared: Sequence[Entry], told: Mapping[str, Metrics]) -> Json:
    points = [
        trade_off(entry.name, told[entry.name], GROUPS.get(entry.group, "plain form and baselines"))
        for entry in compared
    ]
    return trade_off_chart(points, "Deadlines missed against completion times (a reconstruction, synthetic)")
