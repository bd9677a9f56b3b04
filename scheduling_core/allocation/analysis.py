"""Analyses of the allocation trace, as an artifact package calls them.

    run(inputs: {name: path}, parameters: {name: value}, seed) -> {"outputs", "tables", "charts"}

Plain JSON in and out; numbers in outputs are full-precision floats.  Both analyses are
deterministic: the seed is part of the interface and unused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast, get_args

from scheduling_core.allocation.inputs import TRACE_COLUMNS, read_experiment, read_trace
from scheduling_core.allocation.result import Mode
from scheduling_core.allocation.trace import (
    POLICIES,
    JobSequence,
    Summary,
    Trace,
    percent_above,
    simulate,
)
from scheduling_core.charts import totals_chart
from scheduling_core.errors import SchedulingError
from scheduling_core.parameters import read_parameters

Json = dict[str, Any]

INTERVAL = {"START_STEP": 49, "END_STEP": 72, "JOB_ID": 12, "STEPS": 72}
DEFAULTS = {
    **INTERVAL,
    "BASELINE": "1:2:3",
    "ALTERNATIVE": "1:1:1",
    "MODES": ["published", "exact"],
}
SCENARIOS = ("baseline", "alternative")


def allocation(inputs: Mapping[str, Path], parameters: Mapping[str, Any], seed: int = 0) -> Json:
    """Recompute the trace from measured throughputs, in each mode, policy and weight scenario.

    Inputs ``throughputs``, ``jobs``, ``cluster``, ``weights``; parameters as in `DEFAULTS`
    (``MODES`` among published, exact, first).  Mode ``published`` agrees with the published
    figures to 1e-9 relative, ``exact`` with an independent computation to 1e-10.

    Raises
    ------
    SchedulingError : for an input or a parameter that makes no sense.
    """
    chosen = read_parameters(parameters, DEFAULTS)
    modes = _modes(chosen["MODES"])
    _check_steps(chosen)
    experiment = read_experiment(inputs)
    sequences = {name: experiment.scenario(chosen[name.upper()]) for name in SCENARIOS}
    traces: dict[tuple[str, str], Trace] = {}
    distinct = 0
    for mode in modes:
        for name, sequence in sequences.items():
            traces[mode, name], distinct = _both_policies(sequence, mode, chosen["STEPS"])

    outputs: Json = {"parameters": chosen}
    for mode in modes:
        outputs[mode] = {
            name: {"weights": chosen[name.upper()], **_aggregates(traces[mode, name], chosen)}
            for name in SCENARIOS
        }
        outputs[mode]["change"] = _change(*(traces[mode, name] for name in SCENARIOS))
    first = traces[modes[0], "baseline"]
    outputs["counts"] = {**_counts(first), "distinct_problems_per_policy": distinct}
    outputs["checks"] = {
        check: all(trace.checks()[check] for trace in traces.values()) for check in first.checks()
    }
    baselines = {str(mode): traces[mode, "baseline"] for mode in modes}
    saved = baselines.get("published", first)
    totals = _totals_rows(baselines)
    return {
        "outputs": outputs,
        "tables": {
            "trace": _table(TRACE_COLUMNS, [list(record) for record in saved.records]),
            **_tables(outputs, modes, totals, chosen),
        },
        "charts": {"totals": totals_chart(totals, f"Total score by step, weights {chosen['BASELINE']}")},
    }


def trace_aggregation(inputs: Mapping[str, Path], parameters: Mapping[str, Any], seed: int = 0) -> Json:
    """Aggregate a saved trace (input ``trace``, CSV or JSON) again, solving nothing.

    Parameters START_STEP, END_STEP, JOB_ID and STEPS, the length of the trace. With an input
    ``source``, outputs count under ``hashes_verified`` the inputs whose SHA-256 it records rightly.
    """
    chosen = read_parameters(parameters, INTERVAL)
    _check_steps(chosen)
    trace = read_trace(inputs, chosen["STEPS"])
    missing = [policy for policy in POLICIES if policy not in trace.policies]
    if missing:
        raise SchedulingError(
            f"The trace holds no records of policy {missing[0]!r}, expected 'aware' and 'agnostic'."
        )
    baseline = _aggregates(trace, chosen)
    outputs: Json = {
        "parameters": chosen,
        "baseline": baseline,
        "counts": _counts(trace),
        "checks": trace.checks(),
    }
    if "source" in inputs:
        outputs["hashes_verified"] = _hashes_verified(inputs)
    totals = _totals_rows({"saved": trace})
    return {
        "outputs": outputs,
        "tables": {
            "totals": _objects_table(("step", "policy", "mode", "total"), totals),
            "baseline": _summary_table({"saved": baseline}, "all"),
            "interval": _summary_table({"saved": baseline}, "interval"),
            "job": _summary_table({"saved": baseline}, "job"),
        },
        "charts": {"totals": totals_chart(totals, "Total score by step, saved trace")},
    }


def _hashes_verified(inputs: Mapping[str, Path]) -> int:
    """How many inputs have the SHA-256 that ``source`` records for them.

    ``source`` is a JSON object whose ``files`` are objects with ``input`` and ``sha256``.
    """
    path = Path(inputs["source"])
    try:
        recorded = {f["input"]: f["sha256"] for f in json.loads(path.read_bytes())["files"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SchedulingError(
            f"{path.name} records no hashes, expected 'files' with 'input' and 'sha256' ({error!r})."
        ) from None
    missing = [name for name in recorded if name not in inputs]
    if missing:
        raise SchedulingError(
            f"{path.name} records a hash of {missing[0]!r}, expected an input of that name."
        )
    return sum(
        hashlib.sha256(Path(inputs[name]).read_bytes()).hexdigest() == sha256
        for name, sha256 in recorded.items()
    )


def _modes(names: Sequence[str]) -> list[Mode]:
    for name in names:
        if name not in get_args(Mode):
            raise SchedulingError(f"MODES holds {name!r}, expected some of {', '.join(get_args(Mode))}.")
    return [cast(Mode, name) for name in names]


def _check_steps(chosen: Mapping[str, Any]) -> None:
    steps, start, end = chosen["STEPS"], chosen["START_STEP"], chosen["END_STEP"]
    if not 1 <= steps <= 1_000_000:
        raise SchedulingError(f"STEPS is {steps}, expected a number from 1 to 1000000.")
    for name in ("START_STEP", "END_STEP"):
        if not 1 <= chosen[name] <= steps:
            raise SchedulingError(f"{name} is {chosen[name]}, expected a step of the trace, 1 to {steps}.")
    if start > end:
        raise SchedulingError(f"START_STEP is {start}, expected at most END_STEP, which is {end}.")


def _both_policies(sequence: JobSequence, mode: Mode, steps: int) -> tuple[Trace, int]:
    aware, blind = (simulate(sequence, policy, mode, steps) for policy in POLICIES)
    return aware.trace.joined(blind.trace), len(aware.allocations)


def _aggregates(trace: Trace, chosen: Mapping[str, Any]) -> Json:
    """Both policies over all steps, the interval, and the job; how they compare."""
    start, end, job_id = chosen["START_STEP"], chosen["END_STEP"], chosen["JOB_ID"]
    result: Json = {
        policy: {
            "all": _numbers(trace.summary(policy)),
            "interval": _numbers(trace.summary(policy, start, end)),
            "job": _job(trace.job(policy, job_id, start, end)),
        }
        for policy in POLICIES
    }
    for name, part in (("comparison", "all"), ("interval_comparison", "interval")):
        aware, blind = (result[policy][part]["mean"] for policy in POLICIES)
        result[name] = {
            "aware_above_agnostic_percent": percent_above(aware, blind),
            "agnostic_below_aware_percent": -percent_above(blind, aware),
        }
    result["totals_by_jobs"] = {
        policy: {str(jobs): total for jobs, total in trace.totals_by_jobs(policy).items()}
        for policy in POLICIES
    }
    return result


def _numbers(summary: Summary) -> Json:
    return dict(summary._asdict())


def _job(summary: Summary | None) -> Json:
    if summary is None:
        return {"state": "not arrived", "steps": 0, "mean": None, "min": None, "max": None}
    return {"state": "arrived", **_numbers(summary)}


def _change(before: Trace, after: Trace) -> Json:
    """Percent change of each policy's mean from the baseline to the alternative weights."""
    return {
        f"{policy}_percent": percent_above(after.summary(policy).mean, before.summary(policy).mean)
        for policy in POLICIES
    }


def _counts(trace: Trace) -> Json:
    by_policy = {policy: sum(record.policy == policy for record in trace.records) for policy in POLICIES}
    return {
        "records": len(trace.records),
        "records_per_policy": by_policy,
        "steps": trace.steps,
        "jobs": len(trace.arrivals),
    }


def _totals_rows(traces: Mapping[str, Trace]) -> list[Json]:
    return [
        {"step": step, "policy": policy, "mode": mode, "total": total}
        for mode, trace in traces.items()
        for policy in POLICIES
        for step, total in enumerate(trace.totals(policy), start=1)
    ]


def _tables(outputs: Json, modes: Sequence[str], totals: Sequence[Json], chosen: Mapping[str, Any]) -> Json:
    baselines = {mode: outputs[mode]["baseline"] for mode in modes}
    both = [(mode, policy) for mode in modes for policy in POLICIES]
    means = {name: chosen[name.upper()] for name in SCENARIOS}
    return {
        "totals": _objects_table(("step", "policy", "mode", "total"), totals),
        "baseline": _summary_table(baselines, "all"),
        "interval": _summary_table(baselines, "interval"),
        "job": _summary_table(baselines, "job"),
        "weights": _table(
            (
                "mode",
                "policy",
                *(f"mean {weights}" for weights in means.values()),
                "change_percent",
            ),
            [
                [
                    mode,
                    policy,
                    *(outputs[mode][name][policy]["all"]["mean"] for name in SCENARIOS),
                    outputs[mode]["change"][f"{policy}_percent"],
                ]
                for mode, policy in both
            ],
        ),
        "totals_by_jobs": _table(
            ("weights", "mode", "policy", "jobs", "total"),
            [
                [means[name], mode, policy, int(jobs), total]
                for name in SCENARIOS
                for mode, policy in both
                for jobs, total in outputs[mode][name]["totals_by_jobs"][policy].items()
            ],
        ),
    }


def _summary_table(aggregates: Mapping[str, Json], part: str) -> Json:
    rows = [
        {"mode": mode, "policy": policy, **of_mode[policy][part]}
        for mode, of_mode in aggregates.items()
        for policy in POLICIES
    ]
    return _objects_table(tuple(rows[0]), rows)


def _objects_table(columns: Sequence[str], rows: Sequence[Json]) -> Json:
    return _table(columns, [[row[column] for column in columns] for row in rows])


def _table(columns: Sequence[str], rows: list[list[Any]]) -> Json:
    return {"columns": list(columns), "rows": rows}
