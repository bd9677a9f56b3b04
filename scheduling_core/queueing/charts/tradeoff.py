"""The trade-off: deadlines missed against how long the jobs without a deadline take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from scheduling_core.queueing.charts.common import DASHES, chart, colour, exact, tooltips
from scheduling_core.queueing.front import Point, front
from scheduling_core.queueing.metrics import Metrics

LABELLED = 20
"""Up to how many points all are named in the picture; beyond, those of a front and the oracles."""
MARGIN = 1.15
"""How much wider the picture is than its points, so that the last name has room."""
KINDS = ("information-agnostic", "oracle: reads durations")


@dataclass(frozen=True)
class TradeOff:
    """One point: miss_rate of jobs with a deadline, and mean JCT of those without, in seconds.

    oracle : its policy reads durations; it is drawn apart and in no front. group : points of one group share
    a colour and have a front of their own. over : what the figures are over, in words.
    """

    name: str
    miss_rate: Fraction | None
    jct: Fraction | None
    oracle: bool = False
    group: str = "policies"
    over: str = ""


def trade_off(name: str, metrics: Metrics, group: str = "policies") -> TradeOff:
    """The point of one outcome."""
    miss, jct = metrics["deadline_miss_rate"], metrics["non_deadline_jct_mean"]
    over = f"{miss.over} with a deadline, {jct.over} without"
    return TradeOff(name, miss.value, jct.value, metrics.oracle, group, over)


def trade_off_chart(points: Sequence[TradeOff], title: str = "Trade-off") -> dict[str, Any]:
    """Points, lower left is better; a stepped line is the front of each group's information-agnostic points.

    A point whose miss rate or JCT is unknown can't be drawn and is named below the title.
    """
    drawn = [point for point in points if point.miss_rate is not None and point.jct is not None]
    groups = list(dict.fromkeys(point.group for point in drawn))
    fronts = {group: front(_pair(p) for p in drawn if p.group == group and not p.oracle) for group in groups}
    values = [_row(point, fronts, everyone=len(drawn) <= LABELLED) for point in drawn]
    widest = max((row["miss_rate"] for row in values), default=0) or 0.01
    x = {
        "field": "miss_rate", "type": "quantitative", "title": "Deadline miss rate", "axis": {"format": "~%"},
        "scale": {"domain": [0, MARGIN * widest], "nice": False},
    }  # fmt: skip
    y = {
        "field": "jct", "type": "quantitative", "title": "Mean JCT of jobs without a deadline, s",
        "scale": {"zero": False, "padding": 16},
    }  # fmt: skip
    shape = {
        "field": "kind", "type": "nominal", "title": "Kind",
        "scale": {"domain": list(KINDS), "range": ["circle", "triangle-up"]},
    }  # fmt: skip
    place = {"x": x, "y": y, "color": colour(groups, "Group")}
    points_layer = {
        "data": {"values": values},
        "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
        "encoding": {
            **place, "shape": shape,
            "tooltip": tooltips(
                name="Policy", kind="Kind", series="Group", rate="Deadline miss rate", mean="Mean JCT, s",
                over="Jobs", on_front="On its group's front",
            ),
        },
    }  # fmt: skip
    layers = [*_lines(fronts, place), points_layer, *_names(values, x, y)]
    return chart(title, _notes(points, drawn), width=560, height=380, layer=layers)


def _lines(fronts: Mapping[str, Sequence[Point]], place: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A step from each point of a front to the next: what lies above and to the right is dominated."""
    return [
        {
            "data": {
                "values": [{"series": group, "miss_rate": float(x), "jct": float(y)} for x, y in best]
            },
            "mark": {
                "type": "line", "interpolate": "step-after", "strokeWidth": 1.4,
                "strokeDash": DASHES[number % len(DASHES)],
            },
            "encoding": dict(place),
        }
        for number, (group, best) in enumerate(fronts.items())
    ]  # fmt: skip


def _row(point: TradeOff, fronts: dict[str, list[Point]], everyone: bool) -> dict[str, Any]:
    rate, jct = _pair(point)
    leads = not point.oracle and (rate, jct) in fronts[point.group]
    return {
        "name": point.name, "kind": KINDS[point.oracle], "series": point.group, "miss_rate": float(rate),
        "jct": float(jct), "rate": exact(rate), "mean": exact(jct), "over": point.over,
        "on_front": "yes" if leads else "no",
        "label": point.name if everyone or leads or point.oracle else "",
    }  # fmt: skip


def _names(values: Sequence[dict[str, Any]], x: Any, y: Any) -> list[dict[str, Any]]:
    """Points at the same place are named together; names stand above and below in turn, to leave room."""
    found: dict[tuple[float, float], list[str]] = {}
    for row in sorted(values, key=lambda row: (row["miss_rate"], row["jct"])):
        if row["label"]:
            found.setdefault((row["miss_rate"], row["jct"]), []).append(row["label"])
    texts = [
        {"miss_rate": at[0], "jct": at[1], "label": ", ".join(names)} for at, names in found.items()
    ]  # fmt: skip
    return [
        {
            "data": {"values": texts[turn::2]},
            "mark": {"type": "text", "align": "left", "dx": 7, "dy": dy, "fontSize": 10},
            "encoding": {"x": x, "y": y, "text": {"field": "label", "type": "nominal"}},
        }
        for turn, dy in enumerate((-7, 9))
    ]


def _notes(points: Sequence[TradeOff], drawn: Sequence[TradeOff]) -> list[str]:
    notes = ["Lower left is better; stepped: the front of points that read no durations"]
    if len(drawn) > LABELLED:
        notes.append("Named are the points on a front and the oracles")
    if unknown := [point.name for point in points if point not in drawn]:
        notes.append(f"Not drawn, since a figure is over no jobs: {', '.join(unknown)}")
    return notes


def _pair(point: TradeOff) -> tuple[Fraction, Fraction]:
    assert point.miss_rate is not None
    assert point.jct is not None
    return point.miss_rate, point.jct
