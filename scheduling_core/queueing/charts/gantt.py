"""Gangs on GPUs: a bar for each stretch that a job held them, or the share held where bars are too many."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.charts.common import axis_unit, chart, exact, tooltips
from scheduling_core.queueing.jobs import NEVER
from scheduling_core.queueing.lanes import Held, is_placed, lane_names, lanes
from scheduling_core.queueing.outcome import Outcome
from scheduling_core.queueing.steps import reduced

BARS = 3_000
"""Most bars of a chart; what has more is drawn as shares."""
NAMED_BARS = 60
"""Up to how many bars each has its job's name on it."""
ROWS, STRETCHES = 40, 100
"""Groups of lanes and equal stretches of time, of whose cells shares are drawn."""
LANE_LABELS = 40
KINDS = {"in time": "#3f97cf", "late": "#9c2a00", "no deadline": "#ddd9cf"}
"""By how the job ended in the end: medium, dark and pale, so that print in grey tells them apart."""


def gantt_chart(outcome: Outcome) -> dict[str, Any]:
    """Jobs by GPU over time, from the log of decisions.

    Lanes are given out by a rule (`lanes`), not measured. With more than `BARS` bars, each cell of a grid
    shows the exact share of its GPU time that was held.

    Raises
    ------
    SchedulingError : for an outcome without a log of decisions, or without jobs.
    """
    held = lanes(outcome)
    if not held:
        raise SchedulingError("The outcome has no jobs, expected at least one to draw.")
    placed = is_placed(outcome)
    notes = [
        "GPUs inside a node are drawn, not measured: the log has nodes"
        if placed
        else "Lanes are drawn, not measured: the placement rule doesn't say which GPUs"
    ]
    blocks = sum(len(one.blocks) for one in held)
    seconds = int(outcome.end.max() - outcome.submit.min()) * outcome.unit
    size, unit = axis_unit(seconds)
    x = {
        "field": "from", "type": "quantitative", "title": f"Time since the first submission, {unit}",
        "scale": {"domain": [0, float(seconds / size)], "nice": False},
    }  # fmt: skip
    y = _lane_axis(lane_names(outcome.cluster, placed))
    if blocks > BARS:
        notes.append(
            f"{blocks:,} bars are too many to be told apart: each cell is the exact share of its GPU time "
            "that was held"
        )
        layers = [_shares(outcome, held, size, x, y)]
    else:
        layers = _bars(outcome, held, size, x, y)
    height = max(120, min(560, 16 * outcome.cluster.gpus))
    return chart("Jobs by GPU over time", notes, width=680, height=height, layer=layers)


def _bars(outcome: Outcome, held: Sequence[Held], size: int, x: Any, y: Any) -> list[dict[str, Any]]:
    names = lane_names(outcome.cluster, is_placed(outcome))
    begin = int(outcome.submit.min())
    values: list[dict[str, Any]] = []
    for one in held:
        start, end = (one.start - begin) * outcome.unit, (one.end - begin) * outcome.unit
        job = outcome.trace.jobs[one.job]
        for lane, count in one.blocks:
            values.append({
                "job": job.id, "kind": _kind(outcome, one.job), "from": float(start / size),
                "to": float(end / size), "lane": lane, "lane_end": lane + count, "start": exact(start),
                "end": exact(end), "gpus": f"{job.gpus:,}", "left_by": "end" if one.ended else "preemption",
                "lanes": names[lane] if count == 1 else f"{names[lane]} to {names[lane + count - 1]}",
            })  # fmt: skip
    where = {"x": x, "x2": {"field": "to"}, "y": y, "y2": {"field": "lane_end"}}
    kind = {
        "field": "kind", "type": "nominal", "title": "Job",
        "scale": {"domain": list(KINDS), "range": list(KINDS.values())},
    }  # fmt: skip
    told = tooltips(
        job="Job", kind="Deadline", gpus="GPUs", lanes="Drawn on", start="From, s", end="To, s",
        left_by="Left by",
    )  # fmt: skip
    bars = {
        "data": {"values": values},
        "mark": {"type": "rect", "stroke": "white", "strokeWidth": 0.6},
        "encoding": {**where, "color": kind, "tooltip": told},
    }
    if len(values) > NAMED_BARS:
        return [bars]
    middle = [
        {
            "job": v["job"], "kind": v["kind"], "from": (v["from"] + v["to"]) / 2,
            "lane": (v["lane"] + v["lane_end"]) / 2,
        }
        for v in values
    ]  # fmt: skip
    ink = {"condition": {"test": "datum.kind == 'late'", "value": "white"}, "value": "black"}
    text = {
        "data": {"values": middle}, "mark": {"type": "text", "fontSize": 10},
        "encoding": {"x": x, "y": y, "text": {"field": "job", "type": "nominal"}, "color": ink},
    }  # fmt: skip
    return [bars, text]


def _shares(outcome: Outcome, held: Sequence[Held], size: int, x: Any, y: Any) -> dict[str, Any]:
    """Cells of `ROWS` groups of lanes by `STRETCHES`; those that nobody held are left white."""
    lanes_each = -(-outcome.cluster.gpus // ROWS)
    begin, end = int(outcome.submit.min()), int(outcome.end.max())
    values = []
    for lane, times, counts in _groups(held, outcome.cluster.gpus, lanes_each, begin, end):
        steps = reduced(times, counts, end, STRETCHES).steps
        until = [step.time for step in steps[1:]] + [Fraction(end)]
        top = min(lane + lanes_each, outcome.cluster.gpus)
        for (time, count), last in zip(steps, until, strict=True):
            if count:
                start, stop = (time - begin) * outcome.unit, (last - begin) * outcome.unit
                values.append({
                    "lane": lane, "lane_end": top, "from": float(start / size), "to": float(stop / size),
                    "share": float(count / (top - lane)), "start": exact(start), "end": exact(stop),
                    "gpus": f"{exact(count)} of {top - lane}",
                })  # fmt: skip
    return {
        "data": {"values": values},
        "mark": {"type": "rect"},
        "encoding": {
            "x": x, "x2": {"field": "to"}, "y": y, "y2": {"field": "lane_end"},
            "color": {
                "field": "share", "type": "quantitative", "title": "GPU time held",
                "scale": {"domain": [0, 1], "range": ["#ffffff", "#08306b"]}, "legend": {"format": "%"},
            },
            "tooltip": tooltips(gpus="GPUs held, mean", start="From, s", end="To, s"),
        },
    }  # fmt: skip


def _groups(
    held: Sequence[Held], gpus: int, each: int, begin: int, end: int
) -> list[tuple[int, list[int], list[int]]]:
    """For each group of lanes its first, and how many of it are held from which tick on."""
    changes: list[dict[int, int]] = [{begin: 0} for _ in range(0, gpus, each)]
    for one in held:
        for lane in one.lanes:
            group = changes[lane // each]
            group[one.start] = group.get(one.start, 0) + 1
            group[one.end] = group.get(one.end, 0) - 1
    found = []
    for number, change in enumerate(changes):
        times = sorted(time for time in change if time < end)
        count, counts = 0, []
        for time in times:
            count += change[time]
            counts.append(count)
        found.append((number * each, times, counts))
    return found


def _lane_axis(names: Sequence[str]) -> dict[str, Any]:
    """GPUs downwards, each named in its middle, or as many of them as have room."""
    every = -(-len(names) // LANE_LABELS)
    shown = {lane + 0.5: name for lane, name in enumerate(names) if lane % every == 0}
    words = " : ".join(f"datum.value == {at} ? '{name}'" for at, name in shown.items()) + " : ''"
    return {
        "field": "lane", "type": "quantitative", "title": "GPU",
        "scale": {"domain": [0, len(names)], "reverse": True, "nice": False},
        "axis": {"values": list(shown), "labelExpr": words, "grid": False},
    }  # fmt: skip


def _kind(outcome: Outcome, job: int) -> str:
    if outcome.deadline[job] >= NEVER:
        return "no deadline"
    return "late" if outcome.end[job] > outcome.deadline[job] else "in time"
