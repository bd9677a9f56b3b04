"""The cross-check as an analysis: exact levels of every step, aggregated anew."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from scheduling_core.crosscheck.levels import CrosscheckError, Jobs, Vector, exact_levels

Json = dict[str, Any]

DEFAULTS: Mapping[str, Any] = {
    "START_STEP": 49,
    "END_STEP": 72,
    "JOB_ID": 12,
    "STEPS": 72,
    "BASELINE": "1:2:3",
    "ALTERNATIVE": "1:1:1",
}


def run(inputs: Mapping[str, Path], parameters: Mapping[str, Any], seed: int = 0) -> Json:
    """Exact means, minima, maxima and totals for both policies and both weight scenarios.

    Inputs ``throughputs``, ``jobs``, ``cluster``, ``weights`` (CSV) and outputs under ``/exact``
    have the form of the main analysis, so that one pointer serves both.  The seed is unused.

    Raises
    ------
    CrosscheckError : for inputs or parameters that make no sense.
    """
    chosen = _choose(parameters)
    exact: Json = {}
    rows = []
    for key in ("baseline", "alternative"):
        weights = chosen[key.upper()]
        exact[key] = {"weights": weights, "totals_by_jobs": {}}
        for policy in ("aware", "agnostic"):
            arrivals, ids, jobs = _read(inputs, weights, uniform=policy == "agnostic")
            scores = _scores(jobs, arrivals, chosen["STEPS"])
            exact[key][policy] = _aggregate(scores, ids, chosen)
            active = np.isfinite(scores).sum(axis=1)
            totals = np.nansum(scores, axis=1)
            by_jobs = {str(k): float(totals[active == k].mean()) for k in np.unique(active) if k}
            exact[key]["totals_by_jobs"][policy] = by_jobs
            rows += [[weights, policy, int(k), total] for k, total in by_jobs.items()]
    for key in ("baseline", "alternative"):
        aware, blind = (exact[key][policy]["all"]["mean"] for policy in ("aware", "agnostic"))
        exact[key]["comparison"] = {
            "aware_above_agnostic_percent": 100 * (aware - blind) / blind,
            "agnostic_below_aware_percent": 100 * (aware - blind) / aware,
        }
    exact["change"] = {
        f"{policy}_percent": 100
        * (exact["alternative"][policy]["all"]["mean"] / exact["baseline"][policy]["all"]["mean"])
        - 100
        for policy in ("aware", "agnostic")
    }
    return {
        "outputs": {"parameters": chosen, "exact": exact},
        "tables": {"totals_by_jobs": {"columns": ["weights", "policy", "jobs", "total"], "rows": rows}},
        "charts": {},
    }


def _scores(jobs: Jobs, arrivals: Vector, steps: int) -> Vector:
    """(steps, m) exact levels, NaN before a job's arrival."""
    scores = np.full((steps, len(arrivals)), np.nan)
    known: dict[bytes, Vector] = {}
    for step in range(1, steps + 1):
        here = arrivals <= step
        if not here.any():
            continue
        if here.tobytes() not in known:
            known[here.tobytes()] = exact_levels(
                Jobs(
                    jobs.steps_per_second[here],
                    jobs.gpus,
                    jobs.width[here],
                    jobs.owner[here],
                    jobs.share,
                    jobs.weight[here],
                )
            )
        scores[step - 1, here] = known[here.tobytes()]
    return scores


def _aggregate(scores: Vector, ids: list[int], chosen: Json) -> Json:
    totals = np.nansum(scores, axis=1)
    interval = slice(chosen["START_STEP"] - 1, chosen["END_STEP"])
    if chosen["JOB_ID"] not in ids:
        raise CrosscheckError(f"There is no job {chosen['JOB_ID']}, expected one of {ids}.")
    job = scores[interval, ids.index(chosen["JOB_ID"])]
    job = job[np.isfinite(job)]
    state = "arrived" if len(job) else "not arrived"
    return {
        "all": _statistics(totals),
        "interval": _statistics(totals[interval]),
        "job": {"state": state, **_statistics(job)},
    }


def _statistics(values: Vector) -> Json:
    if not len(values):
        return {"steps": 0, "mean": None, "min": None, "max": None}
    return {
        "steps": len(values),
        "mean": float(values.mean()),
        "min": float(values.min()),
        "max": float(values.max()),
    }


def _read(inputs: Mapping[str, Path], scenario: str, *, uniform: bool) -> tuple[Vector, list[int], Jobs]:
    tables = {name: _table(inputs, name) for name in ("throughputs", "jobs", "cluster", "weights")}
    try:
        types = [row["gpu_type"] for row in tables["cluster"]]
        rates = {
            row["job_type"]: [1.0 if uniform else float(row[kind]) for kind in types]
            for row in tables["throughputs"]
        }
        share = {
            row["entity"]: float(row["weight"]) for row in tables["weights"] if row["scenario"] == scenario
        }
        if not share:
            raise CrosscheckError(f"weights holds no scenario {scenario!r}, expected one it has.")
        order = {entity: k for k, entity in enumerate(share)}
        rows = tables["jobs"]
        jobs = Jobs(
            steps_per_second=np.array([rates[row["job_type"]] for row in rows]),
            gpus=np.array([float(row["count"]) for row in tables["cluster"]]),
            width=np.array([float(row["workers"]) for row in rows]),
            owner=np.array([order[row["entity"]] for row in rows]),
            share=np.array(list(share.values())),
            weight=np.array([float(row["user_weight"]) for row in rows]),
        )
        arrivals = np.array([float(row["arrival_step"]) for row in rows])
        return arrivals, [int(row["job_id"]) for row in rows], jobs
    except KeyError as missing:
        raise CrosscheckError(f"The inputs lack {missing}, expected in every file.") from None
    except CrosscheckError:
        raise
    except ValueError as wrong:
        raise CrosscheckError(f"The inputs hold a wrong number: {wrong}.") from None


def _table(inputs: Mapping[str, Path], name: str) -> list[dict[str, str]]:
    if name not in inputs:
        raise CrosscheckError(f"The input {name!r} is missing, expected a CSV file.")
    with Path(inputs[name]).open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def _choose(parameters: Mapping[str, Any]) -> Json:
    chosen = dict(DEFAULTS)
    for name, value in parameters.items():
        if name not in DEFAULTS:
            raise CrosscheckError(f"There is no parameter {name!r}, expected one of {', '.join(DEFAULTS)}.")
        try:
            chosen[name] = type(DEFAULTS[name])(str(value))
        except ValueError:
            raise CrosscheckError(f"{name} is {value!r}, expected a whole number.") from None
    if not 1 <= chosen["START_STEP"] <= chosen["END_STEP"] <= chosen["STEPS"]:
        raise CrosscheckError(
            f"The interval is steps {chosen['START_STEP']} to {chosen['END_STEP']}, expected two "
            f"steps in order from 1 to {chosen['STEPS']}."
        )
    return chosen
