"""Response times of the shared service: what they do to each policy, and to the order of policies."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from scheduling_core.admission.attempts import Workload, canonical
from scheduling_core.admission.experiments.baselines import GOALS, assumed, check_limits, with_deadline
from scheduling_core.admission.experiments.disciplines import baselines
from scheduling_core.admission.experiments.outcome import Cell, Outcome
from scheduling_core.admission.experiments.reactive import admit
from scheduling_core.admission.experiments.served import Served, serve, serve_planned
from scheduling_core.admission.experiments.service_models import (
    Servers,
    Service,
    Sharing,
    processor_sharing,
)
from scheduling_core.admission.metrics import metrics
from scheduling_core.admission.schedule import Limits, Policy, Schedule
from scheduling_core.admission.search.engine import search
from scheduling_core.admission.search.problem import Goal, problem_of
from scheduling_core.charts import SCHEMA

CURVE = ((1, 1_000), (4, 3_800), (8, 7_000), (16, 12_000), (32, 19_000), (64, 28_000))
"""An assumed batching curve: calls in flight, and thousandths of one call's throughput. None was measured."""

RANKED = {
    "makespan_h": "makespan",
    "wait_mean_s": "mean wait",
    "ram_peak_gib": "RAM peak",
    "image_gib_hours": "image hours",
}
"""Figures of `Metrics.table` by which policies are ranked, the lowest first."""

CALLS = ("slowdown_mean", "call_delay_mean_s", "service_peak_requests")
"""What is told of the calls: mean response / work, mean response - work, and calls in the service at once."""

Table = Mapping[str, Any]


def run(
    workload: Workload,
    limits: Limits,
    *,
    seed: int,
    budget: int = 2_000_000,
    chains: int = 2,
    workers: int = 1,
    policy: Policy = Policy.ACTIVE,
    goals: Sequence[Goal] = GOALS,
    aging: int = 100,
    skips: int = 64,
    servers: int | None = None,
    curve: Sequence[tuple[int, int]] = CURVE,
) -> Outcome:
    """Every baseline and one searched schedule for each goal, under each model of the service.

    servers : K of the line and of processor sharing; None: half the slots. curve : see
    `service_models.Sharing`. `schedules` are those under fixed latency, which are schedules of this workload;
    what a service makes of them stands in the table with the hash of its starts. Equal figures share the
    better rank.

    Raises
    ------
    SchedulingError : for a wrong model, or as `baselines.run`.
    """
    check_limits(limits)
    count = max(1, limits.slots // 2) if servers is None else servers
    services: list[Service] = [Servers(count), processor_sharing(count), Sharing(tuple(curve))]
    disciplines = baselines(workload, aging, skips)
    fixed: dict[str, Schedule] = {d.name: admit(workload, limits, d, policy=policy) for d in disciplines}
    until = with_deadline(workload, limits)
    planned = {}
    for goal in goals:
        problem = problem_of(workload, goal, policy, until)
        result = search(problem, seed=seed, budget=budget, chains=chains, workers=workers)
        planned[f"searched for {goal}"] = result.schedule
    fixed |= planned
    free = Servers(None).name
    tables: dict[str, dict[str, Table]] = {
        free: {name: _table(workload, schedule, None) for name, schedule in fixed.items()}
    }
    for service in services:
        came = {d.name: serve(workload, limits, d, service, policy=policy) for d in disciplines}
        came |= {name: serve_planned(workload, plan, service) for name, plan in planned.items()}
        tables[service.name] = {name: _table(s.workload, s.schedule, s) for name, s in came.items()}
    ranks = {name: {f: _ranks(of, f) for f in RANKED} for name, of in tables.items()}
    rows: list[list[Cell]] = []
    for name, of in tables.items():
        for schedule, table in of.items():
            row: list[Cell] = [name, schedule]
            for figure in RANKED:
                rank = ranks[name][figure][schedule]
                row += [table[figure], rank, rank - ranks[free][figure][schedule]]
            rows.append([*row, *(table[column] for column in CALLS), table["starts_sha256"]])
    return Outcome(
        "service",
        f"{workload.name}: policies under models of the shared service",
        {
            "slots": limits.slots, "policy": str(policy), "goals": [str(goal) for goal in goals],
            "seed": seed, "budget": budget, "chains": chains, "aging": aging, "skips": skips,
            "servers": count, "curve": [list(pair) for pair in curve],
        },
        ["service", "schedule",
         *(c for f, word in RANKED.items() for c in (f, f"rank by {word}", f"rank by {word}, change")),
         *CALLS, "starts_sha256"],
        rows,
        {
            "makespan": _lines(tables, "makespan_h", "Makespan (h)", ["Each line is one policy"]),
            "slowdown": _lines(
                tables, "slowdown_mean", "Mean slow-down of calls (response / work)", ["1 is as logged"]
            ),
            "ranks": _lines(
                {n: {s: {"rank": r} for s, r in of["makespan_h"].items()} for n, of in ranks.items()},
                "rank", "Rank by makespan (1 is the shortest)", _changes(tables, free),
            ),
        },
        fixed,
        [*assumed(workload, aging), *_assumed(count)],
    )  # fmt: skip


def swaps(before: Mapping[str, float], after: Mapping[str, float]) -> int:
    """Pairs of schedules of which one was strictly better before and the other is now."""
    return sum(
        (before[a] - before[b]) * (after[a] - after[b]) < 0 for a, b in combinations(sorted(before), 2)
    )


def _table(workload: Workload, schedule: Schedule, served: Served | None) -> Table:
    """The figures of a schedule, and of its calls: those of fixed latency take as long as their work."""
    found = metrics(workload, schedule).table()
    called = bool(found["request_hours"])
    slowdown = served.slowdown if served else (1.0 if called else None)
    delay = served.delay if served else (0.0 if called else None)
    return found | {
        "slowdown_mean": slowdown,
        "call_delay_mean_s": None if delay is None else delay / 10,
        "starts_sha256": hashlib.sha256(canonical(list(schedule.starts)).encode()).hexdigest(),
    }


def _ranks(tables: Mapping[str, Table], figure: str) -> dict[str, int]:
    values = {name: table[figure] for name, table in tables.items()}
    return {name: 1 + sum(other < value for other in values.values()) for name, value in values.items()}


def _changes(tables: Mapping[str, Mapping[str, Table]], free: str) -> list[str]:
    """A sentence for each model: how many pairs change places by makespan."""
    before = {name: table["makespan_h"] for name, table in tables[free].items()}
    pairs = len(before) * (len(before) - 1) // 2
    found = []
    for name, of in tables.items():
        if name != free:
            count = swaps(before, {schedule: table["makespan_h"] for schedule, table in of.items()})
            found.append(f"{name}: {count} of {pairs} pairs change places")
    return found


def _assumed(servers: int) -> list[str]:
    return [
        "A call's logged duration is taken for its work, the time it takes with nobody in its way; the load "
        "that it was logged under counts twice where the service is modelled.",
        f"The service has {servers} servers in two of the models, and the batching curve in the third; "
        "neither was measured.",
        "Shared work is counted in whole parts of 1e-9 ticks, a call is done with a thousandth of a tick of "
        "work left, and answers are read at the next whole tick.",
        "Predicted lengths are those at fixed latency.",
        "A searched schedule is run as planned: each attempt starts at its tick, or as soon after that as a "
        "slot is free and those planned before it have started.",
    ]


def _lines(
    tables: Mapping[str, Mapping[str, Table]], field: str, axis: str, subtitle: Sequence[str]
) -> dict[str, Any]:
    values = [
        {"service": service, "schedule": schedule, "value": table[field]}
        for service, of in tables.items()
        for schedule, table in of.items()
    ]
    return {
        "$schema": SCHEMA,
        "title": {"text": axis, "subtitle": list(subtitle)},
        "width": 560,
        "height": 320,
        "data": {"values": values},
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": {
                "field": "service", "type": "nominal", "sort": list(tables), "title": "Model of the service",
                "axis": {"labelAngle": 0, "labelLimit": 150},
            },
            "y": {"field": "value", "type": "quantitative", "title": axis, "scale": {"zero": False}},
            "color": {"field": "schedule", "type": "nominal", "sort": None, "title": "Schedule"},
            "tooltip": [
                {"field": "service", "type": "nominal", "title": "Model of the service"},
                {"field": "schedule", "type": "nominal", "title": "Schedule"},
                {"field": "value", "type": "quantitative", "title": axis},
            ],
        },
    }  # fmt: skip
