"""A release's report as its page prints it: support, figures around calibration, cells, gate, charts.

It is read from the record that training stored with the release:

    report  what the analysis `classifiers.report.calibration_report` gave: `outputs` with
            /heads/<head>/<category>, and `charts`
    gate    `rounds` (number, average_precision, churn, spearman) and `verdicts`, a list of objects: `gate`,
            `passed`, and `conditions` (name, passed, sentence), as in classifiers.maturity

What a record lacks is not shown and nothing is put in its place; a number that isn't there is no 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from catalog.model_figures import CALIBRATION_FIGURES, CalibrationFigure
from catalog.model_figures import CHANCE_NOTE as CHANCE_NOTE  # for the template
from catalog.web import figures

GATE_WORDS = {"published": "Published rule", "strict": "Strict rule"}
CELL_STATES = {
    "available": "available",
    "too_few_positives": "too few positives for figures",
    "too_few_negatives": "too few negatives for figures",
}


@dataclass(frozen=True)
class Figure:
    """One figure before and after calibration, each with its interval; empty where there is none."""

    name: str
    before: str
    before_interval: str
    after: str
    after_interval: str


@dataclass(frozen=True)
class CellRow:
    """Figures of one stratum, language or whatever else; None where the cell holds too little."""

    column: str
    value: str
    records: int | None
    positives: int | None
    state: str
    figures: tuple[tuple[str, str], ...] | None


@dataclass(frozen=True)
class HeadReport:
    """What the report says of one head and category."""

    head: str
    category: str
    status: str | None
    reason: str | None
    calibrated: bool
    known: int | None
    unknown: int | None
    positives: int | None
    effective_positives: float | None
    figures: tuple[Figure, ...]
    cells: tuple[CellRow, ...]
    charts: Mapping[str, Any]


@dataclass(frozen=True)
class Condition:
    """What a gate says of some of its conditions, `names`: passed, failed, or not known."""

    names: tuple[str, ...]
    passed: bool | None
    sentence: str

    @property
    def words(self) -> str:
        """What became of it."""
        return {True: "passed", False: "failed", None: "not known, which isn’t passed"}[self.passed]


@dataclass(frozen=True)
class Verdict:
    """One gate's verdict with its reasons."""

    gate: str
    passed: bool | None
    conditions: tuple[Condition, ...]

    @property
    def words(self) -> str:
        """The verdict."""
        return {True: "passed", False: "not passed", None: "not known, which isn’t passed"}[self.passed]


@dataclass(frozen=True)
class GateRound:
    """One training round as the gate reads it."""

    number: int
    average_precision: str
    churn: str
    spearman: str
    panel: str


def head_reports(record: Mapping[str, Any] | None) -> tuple[HeadReport, ...]:
    """Every head and category that the record reports on, in its order."""
    report = _object((record or {}).get("report"))
    charts = _object(report.get("charts"))
    return tuple(
        _head(head, category, _object(found), charts)
        for head, categories in _object(_object(report.get("outputs")).get("heads")).items()
        for category, found in _object(categories).items()
    )


def gate_rounds(record: Mapping[str, Any] | None) -> tuple[GateRound, ...]:
    """The training rounds, oldest first."""
    rows = _objects(_object((record or {}).get("gate")).get("rounds"))
    return tuple(
        GateRound(
            int(row["number"]),
            figures.coefficient(row.get("average_precision"), 4),
            _or_first(row.get("churn")),
            _or_first(row.get("spearman")),
            str(row.get("panel") or ""),
        )
        for row in rows
        if isinstance(row.get("number"), int)
    )


def rounds_of(record: Mapping[str, Any] | None) -> str | None:
    """Which head the rounds are of, and of how many that were judged; None where no more than one was."""
    heads = [str(head.get("head")) for head in _objects(_object((record or {}).get("gate")).get("heads"))]
    return f"{heads[0]}, the first of {len(heads)} heads that the gate judges" if len(heads) > 1 else None


def verdicts(record: Mapping[str, Any] | None) -> tuple[Verdict, ...]:
    """The verdict of each gate."""
    return tuple(
        Verdict(
            str(item.get("gate")),
            _known(item.get("passed")),
            _conditions(item),
        )
        for item in _objects(_object((record or {}).get("gate")).get("verdicts"))
    )


def _conditions(item: Mapping[str, Any]) -> tuple[Condition, ...]:
    """The conditions of a gate; those of several heads that come to the same words stand together."""
    found: dict[tuple[bool | None, str], list[str]] = {}
    for condition in _objects(item.get("conditions")):
        said = (_known(condition.get("passed")), str(condition.get("sentence", "")))
        found.setdefault(said, []).append(str(condition.get("name", "")).replace("_", " "))
    return tuple(Condition(tuple(names), *said) for said, names in found.items())


_CHARTS = ("reliability", "scores", "pr", "roc")


def _head(head: str, category: str, found: Mapping[str, Any], charts: Mapping[str, Any]) -> HeadReport:
    counts = _object(found.get("counts"))
    specs = {kind: charts.get(f"{kind}-{head}-{category}") for kind in _CHARTS}
    return HeadReport(
        head,
        category,
        _text(found.get("status")),
        _text(found.get("reason")),
        found.get("calibrated") is True,
        _whole(counts.get("known")),
        _whole(counts.get("unknown")),
        _whole(counts.get("positives")),
        _number(counts.get("effective_positives")),
        _figures(_object(found.get("before")), _object(found.get("after"))),
        tuple(
            _cell(column, value, _object(cell))
            for column, values in _object(found.get("cells")).items()
            for value, cell in _object(values).items()
        ),
        {kind: spec for kind, spec in specs.items() if isinstance(spec, dict)},
    )


_IN_CELLS = ("Brier score", "Calibration slope (1 is right)", "Average precision", "ROC area")


def _figures(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Figure, ...]:
    if not before and not after:
        return ()
    return tuple(
        Figure(figure.name, *_printed(figure, before), *_printed(figure, after))
        for figure in CALIBRATION_FIGURES
    )


def _printed(figure: CalibrationFigure, metrics: Mapping[str, Any]) -> tuple[str, str]:
    """A figure and its interval as text."""
    value, decimals = figure.of(metrics), figure.decimals
    if isinstance(value, Mapping):
        shown = figures.coefficient(_number(value.get("value")), decimals)
        interval = figures.between(_number(value.get("low")), _number(value.get("high")), decimals)
        return shown, interval if interval or value.get("value") is None else "no interval"
    return figures.coefficient(_number(value), decimals), ""


def _cell(column: str, value: str, cell: Mapping[str, Any]) -> CellRow:
    counts = _object(cell.get("counts"))
    metrics = _object(cell.get("after")) or _object(cell.get("before"))
    shown = {figure.name: figure for figure in CALIBRATION_FIGURES}
    words = {"0": "no", "1": "yes"} if column.startswith("has_") else {}
    return CellRow(
        column,
        words.get(value, value) or "not recorded",
        _whole(counts.get("records")),
        _whole(counts.get("positives")),
        str(cell.get("state", "")),
        tuple(_printed(shown[name], metrics) for name in _IN_CELLS) if metrics else None,
    )


CELL_FIGURES = tuple(name.partition(" (")[0] for name in _IN_CELLS)


def _objects(value: Any) -> list[Mapping[str, Any]]:
    listed = value if isinstance(value, Sequence) and not isinstance(value, str) else ()
    return [item for item in listed if isinstance(item, Mapping)]


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _known(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _or_first(value: Any) -> str:
    """A figure against the round before, which the first round doesn't have."""
    number = _number(value)
    return "none" if number is None else figures.coefficient(number, 4)
