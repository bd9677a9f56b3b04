"""Charts of complete schedules (Vega-Lite 5), drawn from the validator's accounts; values travel inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduling_core.admission.attempts import KIB_PER_GIB, MILLICORES, TICKS_PER_HOUR
from scheduling_core.admission.book import Entry
from scheduling_core.charts import SCHEMA

BINS = 400
"""Stretches of time of which a profile's highest value is drawn."""
UNITS: Mapping[str, tuple[int, str]] = {
    "slots": (1, "Attempts running"), "cpu": (MILLICORES, "CPU reserved, cores"),
    "ram": (KIB_PER_GIB, "RAM reserved, GiB"), "disk": (KIB_PER_GIB, "Disk reserved, GiB"),
    "parked": (KIB_PER_GIB, "RAM put aside, GiB"), "images": (KIB_PER_GIB, "Image store, GiB"),
    "requests": (1, "Requests in flight"),
}  # fmt: skip
"""For each of the validator's profiles its unit and the title of its axis."""
TOLD = {
    "makespan_h": "makespan", "slots_peak": "slots, peak", "ram_peak_gib": "RAM, peak",
    "ram_gib_hours": "RAM, hours", "cpu_peak_cores": "CPU, peak", "image_peak_gib": "images, peak",
    "image_gib_hours": "images, hours", "wait_mean_s": "wait, mean", "service_gpu_hours": "service, GPU-h",
}  # fmt: skip


def profile_chart(
    entries: Sequence[Entry], resource: str, bound: int | None = None, deadline: int | None = None
) -> dict[str, Any]:
    """One resource over time, a line for each complete schedule; rules at a bound and a deadline.

    Each point is the highest value within a stretch of the time, 1 / BINS of the longest schedule.
    """
    unit, title = UNITS[resource]
    longest = max((e.metrics.makespan for e in entries), default=0)
    width = max(1, -(-longest // BINS))
    values = [
        {"hours": tick / TICKS_PER_HOUR, "value": value / unit, "schedule": entry.name}
        for entry in entries
        for tick, value in _highest(entry.validation.profiles.get(resource, []), width, longest)
    ]
    layers: list[dict[str, Any]] = [
        {
            "data": {"values": values},
            "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 1.5},
            "encoding": {
                "x": {"field": "hours", "type": "quantitative", "title": "Time, hours"},
                "y": {"field": "value", "type": "quantitative", "title": title},
                "color": {"field": "schedule", "type": "nominal", "title": "Complete schedule"},
                "tooltip": [
                    {"field": "schedule", "type": "nominal"},
                    {"field": "hours", "type": "quantitative", "format": ".2f"},
                    {"field": "value", "type": "quantitative"},
                ],
            },
        }
    ]
    if bound is not None:
        layers += _rule("y", bound / unit, "no schedule has a lower peak")
    if deadline is not None:
        layers += _rule("x", deadline / TICKS_PER_HOUR, "deadline")
    return {"$schema": SCHEMA, "title": f"{title}, highest in each stretch of {width / 10:g} s", "width": 640,
            "height": 300, "layer": layers}  # fmt: skip


def schedules_chart(entries: Sequence[Entry], base: Entry) -> dict[str, Any]:
    """Every complete schedule by its colour: its figures over the base's, all of one schedule together."""
    told = base.metrics.table()
    values = []
    for entry in entries:
        figures = entry.metrics.table()
        for name, words in TOLD.items():
            if told[name]:
                values.append({
                    "figure": words, "ratio": figures[name] / told[name], "schedule": entry.name,
                    "value": figures[name], "sha256": entry.schedule.sha256,
                })  # fmt: skip
    return {
        "$schema": SCHEMA,
        "title": f"Complete schedules: each figure over that of {base.name}",
        "width": 560,
        "height": {"step": 34},
        "data": {"values": values},
        "mark": {"type": "point", "filled": True, "size": 70, "opacity": 0.8},
        "encoding": {
            "y": {"field": "figure", "type": "nominal", "title": None, "sort": list(TOLD.values())},
            "x": {"field": "ratio", "type": "quantitative", "title": f"Ratio to {base.name}; lower is less"},
            "color": {"field": "schedule", "type": "nominal", "title": "Complete schedule"},
            "tooltip": [
                {"field": name, "type": kind}
                for name, kind in (
                    ("schedule", "nominal"), ("figure", "nominal"), ("value", "quantitative"),
                    ("ratio", "quantitative"), ("sha256", "nominal"),
                )
            ],
        },
    }  # fmt: skip


def curve_chart(curves: Mapping[str, Sequence[tuple[int, float]]], title: str) -> dict[str, Any]:
    """The best value by candidates looked at, a line for each chain."""
    values = [
        {"candidates": candidates, "value": value, "chain": chain}
        for chain, points in curves.items()
        for candidates, value in points
    ]
    return {
        "$schema": SCHEMA,
        "title": title,
        "width": 560,
        "height": 260,
        "data": {"values": values},
        "mark": {"type": "line", "interpolate": "step-after", "point": True},
        "encoding": {
            "x": {"field": "candidates", "type": "quantitative", "title": "Complete schedules looked at"},
            "y": {"field": "value", "type": "quantitative", "title": title, "scale": {"zero": False}},
            "color": {"field": "chain", "type": "nominal", "title": "Chain"},
        },
    }


def _highest(profile: Sequence[Sequence[int]], width: int, end: int) -> list[tuple[int, int]]:
    """The highest value within each stretch of `width` ticks, that at its beginning included."""
    found = []
    held = 0
    at = 0
    for begin in range(0, end, width):
        best = held
        while at < len(profile) and profile[at][0] < begin + width:
            tick, value = profile[at]
            if tick == begin:
                best = value
            best = max(best, value)
            held = value
            at += 1
        found.append((begin, best))
    found.append((end, 0))
    return found


def _rule(axis: str, at: float, words: str) -> list[dict[str, Any]]:
    """A dashed line, and its name at its end."""
    data = {"values": [{"at": at, "what": words}]}
    where = {"field": "at", "type": "quantitative"}
    placed = {"x": {"value": 6}, "y": where} if axis == "y" else {"x": where, "y": {"value": 6}}
    beside = {"align": "left", "dy": -5} if axis == "y" else {"align": "right", "dx": -5}
    return [
        {"data": data, "mark": {"type": "rule", "strokeDash": [5, 4]}, "encoding": {axis: where}},
        {
            "data": data,
            "mark": {"type": "text", "baseline": "bottom" if axis == "y" else "top", **beside},
            "encoding": {**placed, "text": {"field": "what", "type": "nominal"}},
        },
    ]
