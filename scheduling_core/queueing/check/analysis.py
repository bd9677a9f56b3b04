"""The checker alone, as an artifact package calls it: saved logs of decisions judged, and figures derived.

    run(inputs: {name: path}, parameters: {name: value}, seed) -> {"outputs", "tables", "charts"}

It reads trace and logs by itself: plain rows of our own form, nothing that the simulator reads with.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.check.checker import check
from scheduling_core.queueing.check.report import Report

MARK = "# queueing trace 1 "
COLUMNS = ("time", "job", "action", "place")
FIGURES = {
    "deadline_miss_rate": "miss_rate", "deadline_misses": "misses", "non_deadline_jct_mean": "other_mean_jct",
    "jct_mean": "mean_jct", "preemptions": "preemptions", "makespan": "makespan",
    "utilisation": "utilisation",
}  # fmt: skip
"""Names of the outputs, and those of `Figures`."""
Json = dict[str, Any]


def run(inputs: Mapping[str, Path], parameters: Mapping[str, Any], seed: int = 0) -> Json:
    """Judge every saved log and derive its figures from the trace and the log alone.

    Inputs ``trace`` (our own form) and ``decisions``: CSV with policy, tick (seconds, exact), time (in such
    ticks), job, action, place. Parameter GPUS, default 64. Outputs: logs that hold and that don't, and for
    each policy its figures in seconds with every finding. The seed is unused.

    Raises
    ------
    SchedulingError : for an input that isn't one of these, or a parameter that makes no sense.
    """
    gpus = _gpus(parameters)
    tick, rows = _trace(_text(inputs, "trace"))
    reports = {
        name: _report(unit, log, tick, rows, gpus)
        for name, (unit, log) in _logs(_text(inputs, "decisions")).items()
    }
    return {
        "outputs": {
            "logs": len(reports), "hold": sum(report.ok for report in reports.values()),
            "rejected": sum(not report.ok for report in reports.values()),
            "policies": {name: _told(report) for name, report in reports.items()},
        },
        "tables": {
            "findings": {
                "columns": ["policy", "finding"],
                "rows": [[name, f.sentence] for name, report in reports.items() for f in report.findings],
            }
        },
        "charts": {},
    }  # fmt: skip


def _told(report: Report) -> Json:
    found = {name: getattr(report.figures, attribute) for name, attribute in FIGURES.items()}
    return {
        **{name: float(value) if isinstance(value, Fraction) else value for name, value in found.items()},
        "findings": [finding.sentence for finding in report.findings],
    }


def _report(unit: Fraction, log: str, tick: Fraction, rows: list[Json], gpus: int) -> Report:
    """The log's ticks may be finer than the trace's."""
    parts = tick / unit
    if parts.denominator != 1:
        raise SchedulingError(f"A log in ticks of {unit} s, expected a whole part of the trace's {tick} s.")
    times = ("submit", "duration", "deadline")
    scaled = [{k: v * parts.numerator if k in times else v for k, v in row.items()} for row in rows]
    return check(log, scaled, [(gpus, "gpu")], unit=unit)


def _trace(text: str) -> tuple[Fraction, list[Json]]:
    first, _, rest = text.partition("\n")
    if not first.startswith(MARK):
        raise SchedulingError("The trace isn't in our own form, expected a first line with its tick.")
    try:
        tick = Fraction(json.loads(first[len(MARK) :])["tick"])
        rows = [
            {
                "id": row["id"], **{name: int(row[name]) for name in ("submit", "gpus", "duration")},
                **({"deadline": int(row["deadline"])} if row["deadline"] else {}),
            }
            for row in csv.DictReader(io.StringIO(rest))
        ]  # fmt: skip
    except (csv.Error, ValueError, KeyError, TypeError, ZeroDivisionError) as error:
        raise SchedulingError(f"The trace can't be read: {error}.") from error
    return tick, rows


def _logs(text: str) -> dict[str, tuple[Fraction, str]]:
    """Ticks and log of each policy, in the order of the file."""
    logs: dict[str, tuple[Fraction, list[list[str]]]] = {}
    try:
        for row in csv.DictReader(io.StringIO(text)):
            _, lines = logs.setdefault(row["policy"], (Fraction(row["tick"]), []))
            lines.append([row[name] for name in COLUMNS])
    except (csv.Error, ValueError, KeyError, TypeError, ZeroDivisionError) as error:
        raise SchedulingError(f"The decisions can't be read: {error}.") from error
    return {name: (unit, _csv(lines)) for name, (unit, lines) in logs.items()}


def _csv(lines: list[list[str]]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(lines)
    return stream.getvalue()


def _text(inputs: Mapping[str, Path], name: str) -> str:
    if name not in inputs:
        raise SchedulingError(f"The check needs an input named {name}.")
    try:
        return inputs[name].read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise SchedulingError(f"{name} isn't UTF-8 text.") from error


def _gpus(parameters: Mapping[str, Any]) -> int:
    unknown = set(parameters) - {"GPUS"}
    value = parameters.get("GPUS", 64)
    if unknown or not str(value).isdecimal() or int(value) < 1:
        raise SchedulingError(f"Parameters {dict(parameters)}, expected GPUS, a whole number above 0.")
    return int(value)
