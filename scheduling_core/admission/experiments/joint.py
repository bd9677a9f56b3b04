"""Several resources at once: a front over complete schedules, each checked from its starts alone.

A row is one whole schedule. Its figures belong together; the lowest of each column belong to no schedule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from scheduling_core.admission.attempts import Workload
from scheduling_core.admission.experiments.baselines import FIGURES
from scheduling_core.admission.experiments.outcome import Cell, Outcome
from scheduling_core.admission.replay import fifo
from scheduling_core.admission.schedule import Limits, Policy
from scheduling_core.admission.search.front import Front, Point, front, front_of
from scheduling_core.admission.search.problem import Goal, Measure, Resource, problem_of
from scheduling_core.admission.validate import validate
from scheduling_core.charts import SCHEMA
from scheduling_core.errors import SchedulingError

GOALS = (Goal(Resource.RAM), Goal(Resource.IMAGES, Measure.HOURS))
"""What is made low together where nothing else is asked: the RAM peak, and the hours of the image store."""


def run(
    workload: Workload,
    limits: Limits,
    *,
    seed: int,
    budget: int = 20_000_000,
    levels: int = 4,
    workers: int = 1,
    policy: Policy = Policy.ACTIVE,
    goals: Sequence[Goal] = GOALS,
    weights: Mapping[Goal, float] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Outcome:
    """A row for each whole schedule: its hash, whether another dominates it, and every figure.

    The deadline is that of the limits, or FIFO's makespan. `chosen` is the schedule with the lowest mean of
    goals over FIFO's, by `weights`, each 1 where none is given. A schedule that the validator rejects isn't
    listed, and counts for nothing; the outcome says so.

    Raises
    ------
    SchedulingError : as `front`, for weights that aren't of the goals, or where no schedule is valid.
    """
    until = limits
    if limits.deadline is None:
        starts = fifo(workload, limits).starts
        last = max((s + a.ticks for s, a in zip(starts, workload.attempts, strict=True)), default=0)
        until = replace(limits, deadline=last)
    looked = front(
        workload, goals, policy, until, seed=seed, budget=budget, levels=levels, workers=workers,
        progress=progress,
    )  # fmt: skip
    found, refused = valid_part(workload, looked)
    given = {goal: 1.0 if weights is None else weights.get(goal, 1.0) for goal in goals}
    chosen = found.weighted(given if weights is None else {**given, **weights})
    rows: list[list[Cell]] = []
    for point in found.points:
        rows.append(
            [
                point.name, point.schedule.sha256, _yes(point.dominated), _yes(point is chosen),
                *_ratios(point, found), *point.metrics.table().values(),
            ]
        )  # fmt: skip
    bounds = {str(goal): problem_of(workload, goal, policy, until).bound() for goal in goals}
    return Outcome(
        "joint",
        f"{workload.name}: {' and '.join(map(str, goals))} together",
        {
            "slots": limits.slots, "deadline_ticks": until.deadline, "policy": str(policy),
            "goals": [str(goal) for goal in goals], "weights": {str(g): w for g, w in given.items()},
            "seed": seed, "budget": budget, "levels": levels, "candidates": found.candidates,
            "stopped": found.stopped, "reference": dict(zip(map(str, goals), found.reference, strict=True)),
            "bounds": {name: {"value": b.value, "by": b.by} for name, b in bounds.items()},
            "hypervolume": found.hypervolume, "chosen": chosen.schedule.sha256, "unmet": list(found.unmet),
        },
        [
            "schedule", "sha256", "dominated", "chosen", *(f"{goal} over FIFO's" for goal in goals),
            *found.points[0].metrics.table(),
        ],
        rows,
        {"front": front_chart(found, chosen)},
        {point.name: point.schedule for point in found.points},
        [*_said(found), *(f"Not listed: {sentence}" for sentence in refused), *_assumed(workload)],
    )  # fmt: skip


def valid_part(workload: Workload, looked: Front) -> tuple[Front, list[str]]:
    """The front of the schedules that the validator accepts, and a sentence for each that it rejects.

    Raises
    ------
    SchedulingError : where none is accepted.
    """
    attempts = [attempt.row() for attempt in workload.attempts]
    kept, refused = [], []
    for point in looked.points:
        outcome = validate(attempts, point.schedule.row(), point.metrics.integers())
        if outcome.ok:
            kept.append(point)
        else:
            refused.append(f"{point.name}: {outcome.violations[0].sentence}")
    if not kept:
        raise SchedulingError(
            f"The validator rejects every schedule; {refused[0] if refused else 'none is there.'}"
        )
    return front_of(looked, kept), refused


def _said(found: Front) -> list[str]:
    said = [
        "The front is what this search found; schedules beyond it may exist.",
        f"Hypervolume {found.hypervolume:.6f}: the dominated share of the box from 0 to FIFO's values.",
    ]
    if found.unmet:
        said.append(f"No schedule was found with {'; '.join(found.unmet)}; whether there is one isn't known.")
    if found.stopped != "budget":
        said.append("The search was interrupted before its budget was used.")
    return said


def _assumed(workload: Workload) -> list[str]:
    found = ["Durations are fixed, and nothing is paid for putting RAM aside."]
    names = sorted({name for a in workload.attempts for name in a.assumed})
    if names:
        found.append(f"Assumed for attempts whose log doesn't give them: {', '.join(names)}.")
    if workload.synthetic:
        found.append("Attempts of this workload are synthetic: generated, not measured.")
    return found


def _ratios(point: Point, found: Front) -> list[float | None]:
    return [v / r if r else None for v, r in zip(point.values, found.reference, strict=True)]


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def front_chart(found: Front, chosen: Point) -> dict[str, Any]:
    """The first two goals as axes; with no others, the steps bound what the front dominates."""
    first, second, *_ = (FIGURES[goal] for goal in found.goals)
    kinds = {id(point): "on the front" for point in found.best} | {id(chosen): "chosen by the weights"}
    values = [
        {
            "schedule": point.name, "sha256": point.schedule.sha256[:12],
            "kind": kinds.get(id(point), "beaten"), "x": point.metrics.table()[first[0]],
            "y": point.metrics.table()[second[0]],
        }
        for point in found.points
    ]  # fmt: skip
    x = {"field": "x", "type": "quantitative", "title": first[1], "scale": {"zero": False}}
    y = {"field": "y", "type": "quantitative", "title": second[1], "scale": {"zero": False}}
    steps = {
        "transform": [{"filter": "datum.kind != 'beaten'"}],
        "mark": {"type": "line", "interpolate": "step-after", "opacity": 0.5},
        "encoding": {"x": x, "y": y},
    }
    return {
        "$schema": SCHEMA,
        "title": {"text": "Whole schedules in two goals", "subtitle": "Each point is one complete schedule"},
        "width": 640,
        "height": 320,
        "data": {"values": values},
        "layer": [
            *([steps] if len(found.goals) == 2 else []),
            {
                "mark": {"type": "point", "filled": True, "size": 70},
                "encoding": {
                    "x": x,
                    "y": y,
                    "color": {"field": "kind", "type": "nominal", "title": "Schedule"},
                    "shape": {"field": "kind", "type": "nominal", "title": "Schedule"},
                    "tooltip": [
                        {"field": "schedule", "type": "nominal"}, {"field": "sha256", "type": "nominal"},
                        {"field": "x", "type": "quantitative"}, {"field": "y", "type": "quantitative"},
                    ],
                },
            },
        ],
    }  # fmt: skip
