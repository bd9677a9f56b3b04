"""Cumulative distributions: which share of the jobs ended, or waited, within a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from scheduling_core.queueing.charts.common import chart, colour, dash, exact, series_name, tooltips
from scheduling_core.queueing.metrics import labelled
from scheduling_core.queueing.outcome import Outcome
from scheduling_core.queueing.steps import distribution
from scheduling_core.queueing.views import Numbers

POINTS = 400
"""Most points of one curve."""
Outcomes = Iterable[Outcome] | Mapping[str, Outcome]


def jct_chart(outcomes: Outcomes) -> dict[str, Any]:
    """The share of jobs by job completion time, a curve for each outcome (named, or by its policy)."""
    times = {name: (of, of.end - of.submit) for name, of in labelled(outcomes).items()}
    return _chart("Job completion time", "Job completion time (end - submission), s", times)


def wait_chart(outcomes: Outcomes) -> dict[str, Any]:
    """The share of jobs by the time between submission and end in which they held no GPUs."""
    times = {name: (of, of.end - of.submit - of.executed) for name, of in labelled(outcomes).items()}
    return _chart("Queueing time", "Time not running between submission and end, s", times)


def _chart(title: str, axis: str, times: Mapping[str, tuple[Outcome, Numbers]]) -> dict[str, Any]:
    curves: dict[str, list[tuple[Fraction, int]]] = {}
    thinned = False
    for name, (outcome, ticks) in times.items():
        points = distribution(ticks.tolist(), POINTS)
        thinned = thinned or len(points) < len(set(ticks.tolist()))
        curves[series_name(name, outcome)] = [(value * outcome.unit, count) for value, count in points]
    ticks_at = _axis([value for points in curves.values() for value, _ in points])
    values = [row for name, points in curves.items() for row in _rows(name, points, ticks_at[0])]
    jobs = sorted({points[-1][1] for points in curves.values() if points})
    notes = [f"{' or '.join(f'{n:,}' for n in jobs) or 'No'} jobs on each curve"]
    if thinned:
        notes.append(
            f"Exact quantiles in steps of 1/{POINTS}; between two of them a curve rises by less than that"
        )
    x = {
        "field": "seconds", "type": "quantitative", "title": axis, "axis": {"values": ticks_at},
        "scale": {"type": "symlog", "constant": 1, "domainMin": ticks_at[0], "nice": False},
    }  # fmt: skip
    y = {
        "field": "share", "type": "quantitative", "title": "Share of jobs", "scale": {"domain": [0, 1]},
        "axis": {"format": "%"},
    }  # fmt: skip
    names = list(curves)
    return chart(
        title, notes, width=640, height=320, data={"values": values},
        mark={"type": "line", "interpolate": "step-after", "strokeWidth": 1.8},
        encoding={
            "x": x, "y": y, "color": colour(names, "Policy"), "strokeDash": dash(names, "Policy"),
            "tooltip": tooltips(series="Policy", exact="Seconds", jobs="Jobs within it"),
        },
    )  # fmt: skip


def _rows(series: str, points: Sequence[tuple[Fraction, int]], begin: int) -> list[dict[str, Any]]:
    """A curve from the axis' beginning on."""
    if not points:
        return []
    n = points[-1][1]
    before = [(Fraction(begin), 0)] if points[0][0] > begin else []
    return [
        {
            "series": series, "seconds": float(seconds), "share": count / n, "exact": exact(seconds),
            "jobs": f"{count:,} of {n:,}",
        }
        for seconds, count in [*before, *points]
    ]  # fmt: skip


def _axis(values: Sequence[Fraction]) -> list[int]:
    """Where the axis begins (0, or a power of ten that no value is below) and its ticks up to the largest."""
    least, most = min(values, default=Fraction(0)), max(values, default=Fraction(1))
    begin = 0 if least < 1 else 10 ** (len(str(int(least))) - 1)
    tens = [10**k for k in range(len(str(int(most)))) if 10**k >= begin]
    steps = (1,) if len(tens) > 3 else (1, 2, 5)
    return sorted({begin, *(ten * step for ten in tens for step in steps if ten * step <= most)})
