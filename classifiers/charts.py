"""Charts of a head's probabilities (Vega-Lite 5) as plain JSON; the values travel inside."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from classifiers.metrics.curves import Curve, pr_curve, roc_curve
from classifiers.metrics.sample import Sample
from classifiers.metrics.summary import Metrics

Spec = dict[str, Any]
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"

# Blue and brown stay apart in every common colour blindness, and each stage has its own shape and
# dash as well. The page turns these very colours into their dark ones.
_COLOURS = {"before": "#8a5a00", "after": "#0f58a8"}
_SHAPES = {"before": "square", "after": "circle"}
_MUTED = "#6a665e"
_TICKS = [0, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1]
# Scores of rare categories crowd at 0, so bins widen upwards.
_EDGES = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def head_charts(
    head: str, category: str, samples: Mapping[str, Sample], measured: Mapping[str, Metrics]
) -> dict[str, Spec]:
    """Reliability, scores, PR and ROC of one head and category by name; nothing where nothing is measured.

    samples and measured are by stage, `before` and `after` calibration.
    """
    if not measured:
        return {}
    last = "after" if "after" in measured else "before"
    of = f"{category}, {head}"
    curves = {stage: (pr_curve(made), roc_curve(made)) for stage, made in samples.items()}
    base = measured[last].base_rate
    return {
        f"reliability-{head}-{category}": reliability_chart(measured, f"Reliability: {of}"),
        f"scores-{head}-{category}": scores_chart(
            samples[last], f"Probabilities {last} calibration by label: {of}"
        ),
        f"pr-{head}-{category}": pr_chart(
            {s: c[0] for s, c in curves.items()}, base, f"Precision and recall: {of}"
        ),
        f"roc-{head}-{category}": roc_chart({s: c[1] for s, c in curves.items()}, f"ROC: {of}"),
    }


def reliability_chart(measured: Mapping[str, Metrics], title: str) -> Spec:
    """Rate of positives against mean probability by bin, with intervals, and the line of equality.

    Both axes are of square roots, which spreads the low probabilities, shows 0, and leaves the line of
    equality straight.
    """
    values = [
        {
            "stage": stage,
            "predicted": b.predicted,
            "observed": b.observed,
            "low": b.low,
            "high": b.high,
            "mean probability": repr(b.predicted),
            "rate of positives": repr(b.observed),
            "95 % interval": f"{b.low!r} to {b.high!r}",
            "positives of records": f"{b.positives} of {b.records}",
        }
        for stage, metrics in measured.items()
        for b in metrics.reliability
    ]
    x, y = _probability("predicted", "Mean probability"), _probability("observed", "Rate of positives")
    colour = _by_stage(_COLOURS, measured)
    return {
        **_frame(
            title,
            "Points on the straight line are calibrated; bins hold about equal expected positives. "
            "Square-root axes spread the low probabilities.",
        ),
        "layer": [
            _diagonal(x, y),
            {
                "data": {"values": values},
                "mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.6, "aria": False},
                "encoding": {"x": x, "y": _probability("low", "Rate of positives"), "y2": {"field": "high"}}
                | {"color": colour},
            },
            {
                "data": {"values": values},
                "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
                "encoding": {
                    "x": x,
                    "y": y,
                    "color": colour,
                    "shape": _by_stage(_SHAPES, measured),
                    "tooltip": _tooltip(
                        "stage",
                        "mean probability",
                        "rate of positives",
                        "95 % interval",
                        "positives of records",
                    ),
                },
            },
        ],
    }


def scores_chart(made: Sample, title: str) -> Spec:
    """Which share of the positives' and of the negatives' weight lies in each range of probability."""
    edges = np.array(_EDGES)
    place = np.minimum(np.searchsorted(edges, made.values, side="right") - 1, len(edges) - 2)
    values = []
    for label, rows in (("positive", made.y), ("negative", ~made.y)):
        weights = np.bincount(place[rows], weights=made.weights[rows], minlength=len(edges) - 1)
        counts = np.bincount(place[rows], minlength=len(edges) - 1)
        for k in range(len(edges) - 1):
            share = float(weights[k] / weights.sum())
            values.append(
                {
                    "probability": f"{edges[k]:g} to {edges[k + 1]:g}",
                    "label": label,
                    "share": share,
                    "share of its label": repr(share),
                    "records": int(counts[k]),
                }
            )
    ranges = [f"{a:g} to {b:g}" for a, b in itertools.pairwise(_EDGES)]
    return {
        **_frame(title, "Each label's bars add up to 1; of rare positives little else could be seen."),
        "data": {"values": values},
        "mark": {"type": "bar"},
        "encoding": {
            "x": {"field": "probability", "type": "ordinal", "title": "Probability", "sort": ranges}
            | {"axis": {"labelAngle": -40}},
            "xOffset": {"field": "label", "type": "nominal"},
            "y": {"field": "share", "type": "quantitative", "title": "Share of the label's weight"},
            "color": {
                "field": "label",
                "type": "nominal",
                "title": "Label",
                "scale": {"domain": ["positive", "negative"], "range": ["#0f58a8", "#8a5a00"]},
            },
            "tooltip": _tooltip("label", "probability", "share of its label", "records"),
        },
    }


def pr_chart(curves: Mapping[str, Curve], base_rate: float, title: str) -> Spec:
    """Precision against recall, stepwise as average precision sums it, above the base rate."""
    values = _curve_values(curves, "recall", "precision")
    x, y = _share("recall", "Recall"), _share("precision", "Precision")
    return {
        **_frame(
            title, f"The dashed line is the base rate, {base_rate:.4g}: the precision of a random order."
        ),
        "layer": [
            {
                "data": {"values": [{"base rate": base_rate}]},
                "mark": {"type": "rule", "strokeDash": [4, 4], "color": _MUTED, "aria": False},
                "encoding": {"y": {"field": "base rate", "type": "quantitative"}},
            },
            _lines(values, x, y, curves, "step-before"),
            _points(values, x, y, curves, "recall", "precision"),
        ],
    }


def roc_chart(curves: Mapping[str, Curve], title: str) -> Spec:
    """True against false positive rate, and the line of a random order."""
    fpr, tpr = "false positive rate", "true positive rate"
    values = _curve_values(curves, fpr, tpr)
    x, y = _share(fpr, "False positive rate"), _share(tpr, "True positive rate")
    return {
        **_frame(title, "The dashed line is a random order."),
        "layer": [
            _diagonal(x, y),
            _lines(values, x, y, curves, "linear"),
            _points(values, x, y, curves, fpr, tpr),
        ],
    }


def _frame(title: str, description: str) -> Spec:
    return {"$schema": SCHEMA, "title": title, "description": description, "width": 560, "height": 360}


def _curve_values(curves: Mapping[str, Curve], x: str, y: str) -> list[dict[str, Any]]:
    return [
        {"stage": stage, x: a, y: b, "threshold": "above all scores" if t is None else repr(t)}
        | {f"exact {x}": repr(a), f"exact {y}": repr(b)}
        for stage, curve in curves.items()
        for a, b, t in zip(curve.x, curve.y, curve.thresholds, strict=True)
    ]


def _lines(values: list[dict[str, Any]], x: Spec, y: Spec, stages: Mapping[str, Any], how: str) -> Spec:
    dashes = {"before": [5, 3], "after": [1, 0]}
    return {
        "data": {"values": values},
        "mark": {"type": "line", "interpolate": how, "strokeWidth": 2, "aria": False},
        # Points come in the order of the curve, which sorting by one axis would lose in ties.
        "encoding": {"x": x | {"sort": None}, "y": y, "color": _by_stage(_COLOURS, stages)}
        | {"strokeDash": _by_stage(dashes, stages)},
    }


def _points(values: list[dict[str, Any]], x: Spec, y: Spec, stages: Mapping[str, Any], *fields: str) -> Spec:
    return {
        "data": {"values": values},
        "mark": {"type": "point", "filled": True, "size": 16},
        "encoding": {
            "x": x,
            "y": y,
            "color": _by_stage(_COLOURS, stages),
            "tooltip": _tooltip("stage", *(f"exact {name}" for name in fields), "threshold"),
        },
    }


def _diagonal(x: Spec, y: Spec) -> Spec:
    ends = [{x["field"]: 0, y["field"]: 0}, {x["field"]: 1, y["field"]: 1}]
    return {
        "data": {"values": ends},
        "mark": {"type": "line", "strokeDash": [4, 4], "color": _MUTED, "strokeWidth": 1, "aria": False},
        "encoding": {"x": x, "y": y},
    }


def _probability(field: str, title: str) -> Spec:
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "scale": {"type": "sqrt", "domain": [0, 1]},
        "axis": {"values": _TICKS, "format": "~g"},
    }


def _share(field: str, title: str) -> Spec:
    return {"field": field, "type": "quantitative", "title": title, "scale": {"domain": [0, 1]}}


def _by_stage(choices: Mapping[str, Any], stages: Mapping[str, Any]) -> Spec:
    shown: Sequence[str] = list(stages)
    return {
        "field": "stage",
        "type": "nominal",
        "title": "Calibration",
        "scale": {"domain": shown, "range": [choices[stage] for stage in shown]},
    }


def _tooltip(*fields: str) -> list[Spec]:
    return [
        {"field": name, "type": "nominal", "title": name.removeprefix("exact ").capitalize()}
        for name in fields
    ]
