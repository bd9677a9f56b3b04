"""Chart specifications (Vega-Lite 5) as plain JSON; the values travel inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"


def totals_chart(rows: Sequence[Mapping[str, Any]], title: str) -> dict[str, Any]:
    """Total score at every step, one series for each policy and mode.

    rows : objects with step, policy, mode and total.  Lines hold a value until the next step and
    never slope between two; the tooltip shows the total in full precision.
    """
    values = [{**row, "exact value": repr(row["total"])} for row in rows]
    return {
        "$schema": SCHEMA,
        "title": title,
        "width": 640,
        "height": 320,
        "data": {"values": values},
        "mark": {"type": "line", "interpolate": "step-after", "point": {"size": 18}},
        "encoding": {
            "x": {
                "field": "step",
                "type": "quantitative",
                "title": "Step",
                "scale": {"domainMin": 1, "nice": False},
            },
            "y": {
                "field": "total",
                "type": "quantitative",
                "title": "Total normalised progress of active jobs",
            },
            "color": {"field": "policy", "type": "nominal", "title": "Policy"},
            "strokeDash": {"field": "mode", "type": "nominal", "title": "Computation"},
            "shape": {"field": "mode", "type": "nominal", "title": "Computation"},
            "tooltip": [
                {"field": "step", "type": "quantitative", "title": "Step"},
                {"field": "policy", "type": "nominal", "title": "Policy"},
                {"field": "mode", "type": "nominal", "title": "Computation"},
                {"field": "exact value", "type": "nominal", "title": "Total"},
            ],
        },
    }
