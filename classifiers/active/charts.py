"""The recall curve (Vega-Lite 5) as plain JSON; the values travel inside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from classifiers.active.discovery import Discovery

Spec = dict[str, Any]
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
PERFECT, CHANCE = "perfect order", "random order, expected"
_COLOURS = ["#0f58a8", "#8a5a00", "#3d7a3a", "#8b3a8f", "#b0413e", "#4a6a7a"]
_MUTED = "#6a665e"
_DASHES = [[1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [4, 4], [10, 4]]


def recall_chart(arms: Mapping[str, Discovery], title: str) -> Spec:
    """Recall by records screened, one step line for each arm, with the diagonals of chance and perfection.

    The diagonals are those of the first arm; arms of one pool and the same priors share them.
    """
    values = [
        {
            "arm": name,
            "screened": screened,
            "recall": found / arm.relevant,
            "found": f"{found} of {arm.relevant}",
        }
        for name, arm in arms.items()
        if arm.relevant
        for screened, found in arm.curve()
    ]
    encoding = {
        "x": {"field": "screened", "type": "quantitative", "title": "Records screened"},
        "y": {
            "field": "recall",
            "type": "quantitative",
            "title": "Recall",
            "scale": {"domain": [0, 1]},
            "axis": {"format": "%"},
        },
    }
    names = list(arms)
    return {
        "$schema": SCHEMA,
        "title": {"text": title, "subtitle": "Priors are left out. Thin lines: a perfect order, and chance."},
        "width": 640,
        "height": 320,
        "layer": [
            {
                "data": {"values": _diagonals(next(iter(arms.values()))) if arms else []},
                "mark": {"type": "line", "strokeWidth": 1, "color": _MUTED},
                "encoding": {**encoding, "detail": {"field": "line", "type": "nominal"}},
            },
            {
                "data": {"values": values},
                "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 2},
                "encoding": {
                    **encoding,
                    "color": {
                        "field": "arm",
                        "type": "nominal",
                        "title": "Order",
                        "scale": {"domain": names, "range": _cycle(_COLOURS, len(names))},
                    },
                    "strokeDash": {
                        "field": "arm",
                        "type": "nominal",
                        "title": "Order",
                        "scale": {"domain": names, "range": _cycle(_DASHES, len(names))},
                    },
                    "tooltip": [
                        {"field": "arm", "type": "nominal", "title": "Order"},
                        {"field": "screened", "type": "quantitative", "title": "Records screened"},
                        {"field": "found", "type": "nominal", "title": "Relevant found"},
                    ],
                },
            },
        ],
    }


def _diagonals(arm: Discovery) -> list[dict[str, Any]]:
    ends = {
        PERFECT: [(0, 0.0), (arm.relevant, 1.0), (arm.records, 1.0)],
        CHANCE: [(0, 0.0), (arm.records, 1.0)],
    }
    return [
        {"line": name, "screened": screened, "recall": recall}
        for name, points in ends.items()
        for screened, recall in points
    ]


def _cycle(items: list[Any], n: int) -> list[Any]:
    return [items[i % len(items)] for i in range(n)]
