"""Utilisation and fragmentation over time, one above the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.charts.common import (
    axis_unit,
    chart,
    colour,
    dash,
    exact,
    series_name,
    tooltips,
)
from scheduling_core.queueing.metrics import labelled
from scheduling_core.queueing.outcome import Outcome, Series
from scheduling_core.queueing.steps import reduced

STEPS = 400
"""Most steps of one line."""


def over_time_chart(outcomes: Iterable[Outcome] | Mapping[str, Outcome]) -> dict[str, Any]:
    """The share of GPUs that are held, and of those that no pending gang can use, a line for each outcome.

    Raises
    ------
    SchedulingError : for an outcome without series.
    """
    told = {series_name(name, of): of for name, of in labelled(outcomes).items()}
    span = max((_span(name, of) for name, of in told.items()), default=Fraction(0))
    size, unit = axis_unit(span)
    busy = [_rows(name, of, _series(name, of).busy, size) for name, of in told.items()]
    fragmented = [_rows(name, of, _series(name, of).fragmented, size) for name, of in told.items()]
    names = list(told)
    notes = ["Fragmented: free GPUs that the smallest pending gang can't use under the placement rule"]
    if any(means for _, means in busy + fragmented):
        notes.append(
            f"Lines of more than {STEPS} steps are exact means over {STEPS} equal stretches of their time"
        )
    x = {
        "field": "time", "type": "quantitative", "title": f"Time since the first submission, {unit}",
        "scale": {"domain": [0, float(span / size)], "nice": False},
    }  # fmt: skip
    panels = [
        _panel([row for rows, _ in busy for row in rows], "GPUs held, share of all", names, x, 220),
        _panel(
            [row for rows, _ in fragmented for row in rows], "GPUs fragmented, share of all", names, x, 120
        ),
    ]
    return chart("Utilisation and fragmentation over time", notes, vconcat=panels)


def _panel(
    values: list[dict[str, Any]], title: str, names: list[str], x: dict[str, Any], height: int
) -> dict[str, Any]:
    return {
        "width": 640, "height": height, "data": {"values": values},
        "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 1.4},
        "encoding": {
            "x": x,
            "y": {
                "field": "share", "type": "quantitative", "title": title,
                "scale": {"domainMin": 0}, "axis": {"format": "%"},
            },
            "color": colour(names, "Policy"), "strokeDash": dash(names, "Policy"),
            "tooltip": tooltips(series="Policy", seconds="From, s", exact="GPUs"),
        },
    }  # fmt: skip


def _rows(name: str, of: Outcome, values: list[int], size: int) -> tuple[list[dict[str, Any]], bool]:
    """Steps as rows, the last value held to the end; whether they are means."""
    time, gpus = _series(name, of).time, of.cluster.gpus
    begin, end = time[0], time[-1]
    steps, stretches = reduced(time, values, end, STEPS)
    rows = []
    for at, value in [*steps, (Fraction(end), steps[-1].value)]:
        seconds = (at - begin) * of.unit
        rows.append({
            "series": name, "time": float(seconds / size), "share": float(value / gpus),
            "seconds": exact(seconds), "exact": f"{exact(value)} of {gpus:,}",
        })  # fmt: skip
    return rows, stretches > 0


def _series(name: str, of: Outcome) -> Series:
    if of.series is None:
        raise SchedulingError(f"The outcome of {name} has no series, expected simulate(..., series=True).")
    if not of.series.time:
        raise SchedulingError(f"The outcome of {name} has no jobs, expected at least one to draw.")
    return of.series


def _span(name: str, of: Outcome) -> Fraction:
    series = _series(name, of)
    return (series.time[-1] - series.time[0]) * of.unit
