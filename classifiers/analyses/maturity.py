"""The published maturity gate as an analysis: from the figures of each training round."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from classifiers.analyses.tables import read_parameters, read_rows
from classifiers.maturity import LAST, MAX_CHURN, MIN_SPEARMAN, WINDOW, TrainingRound, published_gate

ROUNDS = ("round", "average_precision", "churn", "spearman")


def maturity_gate(inputs: Mapping[str, Path], parameters: Mapping[str, Any], seed: int = 0) -> dict[str, Any]:
    """The verdict of the published rule with its three conditions and the numbers behind them.

    Input ``rounds`` (round, average_precision, churn, spearman; empty where there is none yet).
    Deterministic; the seed is unused.

    Raises
    ------
    ClassifierError : for a table that makes no sense, with its line.
    """
    read_parameters(parameters, {})
    rounds = [
        TrainingRound(
            row.count("round"), row.number("average_precision"),
            row.number_or_none("churn"), row.number_or_none("spearman"),
        )
        for row in read_rows(inputs, "rounds", ROUNDS)
    ]  # fmt: skip
    verdict = published_gate(rounds)
    outputs: dict[str, Any] = {"maturity": verdict.maturity, "rounds": len(rounds), "conditions": {}}
    for condition in verdict.conditions:
        outputs["conditions"][condition.name] = {"passed": condition.passed, "sentence": condition.sentence}
    if len(rounds) > WINDOW:
        before = rounds[-WINDOW - 1].average_precision
        best = max(r.average_precision for r in rounds[-WINDOW:])
        outputs["gain"] = best / before - 1 if before > 0 else None
    last = rounds[-LAST:]
    for name, worst in (("churn", max), ("spearman", min)):
        values = [v for r in last if (v := getattr(r, name)) is not None]
        outputs[f"worst_{name}"] = worst(values) if values else None
    rows = [[r.number, r.average_precision, r.churn, r.spearman] for r in rounds]
    return {
        "outputs": outputs,
        "tables": {"rounds": {"columns": list(ROUNDS), "rows": rows}},
        "charts": {"rounds": _chart(rows)},
    }


def _chart(rows: list[list[Any]]) -> dict[str, Any]:
    names = ("average precision", "churn", "Spearman")
    limits = {"churn": MAX_CHURN, "Spearman": MIN_SPEARMAN}
    values = [
        {"round": row[0], "measure": name, "value": value, "limit": limits.get(name)}
        for row in rows
        for name, value in zip(names, row[1:], strict=True)
        if value is not None
    ]
    x = {"field": "round", "type": "ordinal", "title": "Training round", "axis": {"labelAngle": 0}}
    y = {"field": "value", "type": "quantitative", "title": None, "scale": {"zero": False}}
    tooltip = [
        {"field": "round", "title": "Round"}, {"field": "measure", "title": "Measure"},
        {"field": "value", "title": "Value"},
    ]  # fmt: skip
    line = {"mark": {"type": "line", "point": True}, "encoding": {"x": x, "y": y, "tooltip": tooltip}}
    limit = {
        "mark": {"type": "rule", "strokeDash": [4, 3]},
        "encoding": {"y": {"field": "limit", "type": "quantitative"}},
    }
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": "Has the student settled? Dashed: the limit of the published gate",
        "data": {"values": values},
        "facet": {"row": {"field": "measure", "type": "nominal", "title": None}},
        "spec": {"width": 420, "height": 90, "layer": [line, limit]},
        "resolve": {"scale": {"y": "independent"}},
    }
