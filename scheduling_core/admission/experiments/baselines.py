"""Reactive baselines and searched schedules side by side: what a search gains over the best of them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from scheduling_core.admission.attempts import Workload
from scheduling_core.admission.experiments.disciplines import Shares, baselines, shares_of
from scheduling_core.admission.experiments.outcome import Cell, Outcome
from scheduling_core.admission.experiments.reactive import admit
from scheduling_core.admission.metrics import Metrics, metrics
from scheduling_core.admission.replay import fifo
from scheduling_core.admission.schedule import Limits, Policy
from scheduling_core.admission.search.engine import search, value_of
from scheduling_core.admission.search.problem import Goal, Measure, Resource, problem_of
from scheduling_core.charts import SCHEMA
from scheduling_core.errors import SchedulingError

GOALS = (Goal(Resource.RAM), Goal(Resource.IMAGES, Measure.HOURS))
"""What is searched for where nothing else is asked: the RAM peak, and the hours of the image store."""

FIGURES = {
    Goal(Resource.SLOTS): ("slots_peak", "Slots in use at once (attempts)"),
    Goal(Resource.CPU): ("cpu_peak_cores", "Peak of reserved CPU (cores)"),
    Goal(Resource.RAM): ("ram_peak_gib", "Peak of reserved RAM (GiB)"),
    Goal(Resource.DISK): ("disk_peak_gib", "Peak of reserved disk (GiB)"),
    Goal(Resource.PARKED): ("parked_peak_gib", "Peak of parked RAM (GiB)"),
    Goal(Resource.REQUESTS): ("service_peak_requests", "Requests in flight at once"),
    Goal(Resource.IMAGES): ("image_peak_gib", "Peak of the image store (GiB)"),
    Goal(Resource.IMAGES, Measure.HOURS): ("image_gib_hours", "Image store over time (GiB-hours)"),
}
"""The figure of `Metrics.table` that a goal lowers, and what an axis says of it."""


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
) -> Outcome:
    """Every baseline's metrics, and beside them one searched schedule for each goal.

    budget and chains are those of each search; aging in ticks for each overtaking. The deadline of the
    searches is that of the limits, or FIFO's makespan. A gain is over the best baseline for that goal,
    whether or not that one keeps the deadline.

    Raises
    ------
    SchedulingError : for a limit that a reactive admission doesn't look at, or from the search.
    """
    check_limits(limits)
    if not goals or len(set(goals)) != len(goals):
        raise SchedulingError("The goals have to be one or more, each once.")
    made = {d.name: admit(workload, limits, d, policy=policy) for d in baselines(workload, aging, skips)}
    found = {name: metrics(workload, schedule) for name, schedule in made.items()}
    until = with_deadline(workload, limits)
    problems = [problem_of(workload, goal, policy, until) for goal in goals]
    best = [min(value_of(problem, m) for m in found.values()) for problem in problems]
    kinds = dict.fromkeys(made, "baseline")
    for problem in problems:
        result = search(problem, seed=seed, budget=budget, chains=chains, workers=workers)
        name = f"searched for {problem.goal}"
        made[name], found[name], kinds[name] = result.schedule, result.metrics, "search"
    rows: list[list[Cell]] = []
    for name, figures in found.items():
        gains = [_gain(b, value_of(p, figures)) for b, p in zip(best, problems, strict=True)]
        on_time = "yes" if figures.makespan <= problems[0].deadline else "no"
        rows.append([name, kinds[name], on_time, *figures.table().values(), *gains])
    names = list(next(iter(found.values())).table())
    return Outcome(
        "baselines",
        f"{workload.name}: reactive baselines and searched schedules",
        {
            "slots": limits.slots, "deadline_ticks": problems[0].deadline, "policy": str(policy),
            "goals": [str(goal) for goal in goals], "seed": seed, "budget": budget, "chains": chains,
            "aging": aging, "skips": skips,
        },
        ["schedule", "kind", "ends by the deadline", *names, *(f"gain in {goal}, %" for goal in goals)],
        rows,
        {str(goal).replace(" ", "_"): _bars(found, kinds, goal) for goal in goals}
        | {"trade_off": _trade_off(found, kinds, goals)},
        made,
        [
            "The baselines that predict know every length exactly, which no real admission does.",
            *assumed(workload, aging),
        ],
    )  # fmt: skip


def check_limits(limits: Limits) -> None:
    """Refuse limits that an admission can't keep, as it takes quotas whole and knows no segments."""
    for name in ("parked_kib", "image_kib", "requests"):
        if getattr(limits, name) is not None:
            raise SchedulingError(
                f"A reactive admission looks at slots, CPU, RAM and disk, and can't keep a limit on {name}."
            )


def with_deadline(workload: Workload, limits: Limits) -> Limits:
    """The limits, with FIFO's makespan as the deadline where they name none."""
    if limits.deadline is not None:
        return limits
    starts = fifo(workload, limits).starts
    last = max((s + a.ticks for s, a in zip(starts, workload.attempts, strict=True)), default=0)
    return Limits(limits.slots, last, limits.cpu_milli, limits.ram_kib, limits.disk_kib)


def assumed(workload: Workload, aging: int) -> list[str]:
    """What the baselines take for granted on this workload, a sentence each."""
    found = [
        "An admission takes slots, CPU, RAM and disk whole from start to end; it can't count on what a model "
        "call releases.",
        f"Aging takes {aging} ticks of 0.1 s off a predicted length for each later arrival that started "
        "before.",
    ]
    if shares_of(workload) is Shares.TASK:
        found.append("No attempt names a tenant, so the fair share is between tasks.")
    elif any(a.tenant is None for a in workload.attempts):
        found.append("The attempts that name no tenant share as one.")
    names = sorted({name for a in workload.attempts for name in a.assumed})
    if names:
        found.append(f"Assumed for attempts whose log doesn't give them: {', '.join(names)}.")
    if workload.synthetic:
        found.append("Attempts of this workload are synthetic: generated, not measured.")
    return found


def _gain(best: int, value: int) -> float | None:
    return float(100 * Fraction(best - value, best)) if best else None


def _bars(found: dict[str, Metrics], kinds: dict[str, str], goal: Goal) -> dict[str, Any]:
    key, axis = FIGURES[goal]
    values = [{"schedule": n, "kind": kinds[n], "value": m.table()[key]} for n, m in found.items()]
    best = min(v["value"] for v in values if v["kind"] == "baseline")
    return {
        "$schema": SCHEMA,
        "title": {
            "text": axis,
            "subtitle": "Each bar is one complete schedule; the rule is the best baseline",
        },
        "width": 560,
        "data": {"values": values},
        "layer": [
            {
                "mark": "bar",
                "encoding": {
                    "y": {"field": "schedule", "type": "nominal", "sort": None, "title": "Schedule"},
                    "x": {"field": "value", "type": "quantitative", "title": axis, "scale": {"zero": True}},
                    "color": {"field": "kind", "type": "nominal", "title": "Kind"},
                    "tooltip": [
                        {"field": "schedule", "type": "nominal", "title": "Schedule"},
                        {"field": "value", "type": "quantitative", "title": axis},
                    ],
                },
            },
            {"mark": {"type": "rule", "strokeDash": [4, 4]}, "encoding": {"x": {"datum": best}}},
        ],
    }


def _trade_off(found: dict[str, Metrics], kinds: dict[str, str], goals: Sequence[Goal]) -> dict[str, Any]:
    """The first goal against the second, or against the mean wait where there is only one."""
    x_key, x_axis = FIGURES[goals[0]]
    y_key, y_axis = FIGURES[goals[1]] if len(goals) > 1 else ("wait_mean_s", "Mean wait (s)")
    values = [
        {
            "schedule": name, "kind": kinds[name], "x": table[x_key], "y": table[y_key],
            "makespan_h": table["makespan_h"],
        }
        for name, table in ((name, m.table()) for name, m in found.items())
    ]  # fmt: skip
    return {
        "$schema": SCHEMA,
        "title": {"text": "What each complete schedule costs", "subtitle": f"{x_axis} and {y_axis}"},
        "width": 480,
        "height": 360,
        "data": {"values": values},
        "mark": {"type": "point", "filled": True, "size": 80},
        "encoding": {
            "x": {"field": "x", "type": "quantitative", "title": x_axis, "scale": {"zero": True}},
            "y": {"field": "y", "type": "quantitative", "title": y_axis, "scale": {"zero": True}},
            "color": {"field": "schedule", "type": "nominal", "sort": None, "title": "Schedule"},
            "shape": {"field": "kind", "type": "nominal", "title": "Kind"},
            "tooltip": [
                {"field": "schedule", "type": "nominal", "title": "Schedule"},
                {"field": "x", "type": "quantitative", "title": x_axis},
                {"field": "y", "type": "quantitative", "title": y_axis},
                {"field": "makespan_h", "type": "quantitative", "title": "Makespan (h)"},
            ],
        },
    }
