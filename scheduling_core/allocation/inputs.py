"""Reads the experiment's files: throughputs, jobs, cluster and weights (CSV), and saved traces.

throughputs   job_type, then one column for each GPU type: steps per second
jobs          job_id, job_type, arrival_step (1-based), entity, user_weight, workers
cluster       gpu_type, count
weights       scenario, entity, weight
trace         policy, step, job_id, score (CSV, JSON table, or JSON list of objects)
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from scheduling_core.allocation.problem import Problem
from scheduling_core.allocation.trace import JobSequence, Record, Trace
from scheduling_core.errors import SchedulingError

TRACE_COLUMNS = ("policy", "step", "job_id", "score")


@dataclass(frozen=True)
class Experiment:
    """The same jobs and cluster under several scenarios of entity weights."""

    scenarios: Mapping[str, JobSequence]

    def scenario(self, name: str) -> JobSequence:
        """The sequence under one scenario's weights."""
        if name not in self.scenarios:
            raise SchedulingError(
                f"There is no weight scenario {name!r}, expected one of "
                f"{', '.join(map(repr, self.scenarios))}."
            )
        return self.scenarios[name]


def read_experiment(inputs: Mapping[str, Path]) -> Experiment:
    """The experiment from its four files.

    Raises
    ------
    SchedulingError : naming the file, and where possible the line, that makes no sense.
    """
    cluster = _rows(inputs, "cluster", ("gpu_type", "count"))
    kinds = [row.text("gpu_type") for row in cluster]
    capacity = [row.number("count") for row in cluster]
    rates = {
        row.text("job_type"): [row.number(kind) for kind in kinds]
        for row in _rows(inputs, "throughputs", ("job_type", *kinds))
    }
    columns = ("job_id", "job_type", "arrival_step", "entity", "user_weight", "workers")
    jobs = _rows(inputs, "jobs", columns)
    for row in jobs:
        if row.text("job_type") not in rates:
            raise row.error(f"job type {row.text('job_type')!r} has no throughputs")
    scenarios: dict[str, dict[str, float]] = {}
    for row in _rows(inputs, "weights", ("scenario", "entity", "weight")):
        scenarios.setdefault(row.text("scenario"), {})[row.text("entity")] = row.number("weight")
    sequences = {}
    for name, weights in scenarios.items():
        entities = list(weights)
        for row in jobs:
            if row.text("entity") not in weights:
                raise row.error(f"entity {row.text('entity')!r} has no weight in scenario {name!r}")
        problem = Problem(
            rates=np.array([rates[row.text("job_type")] for row in jobs]),
            capacity=np.array(capacity),
            workers=np.array([row.number("workers") for row in jobs]),
            entity=np.array([entities.index(row.text("entity")) for row in jobs]),
            entity_weights=np.array(list(weights.values())),
            job_weights=np.array([row.number("user_weight") for row in jobs]),
        )
        sequences[name] = JobSequence(
            problem,
            tuple(row.integer("job_id") for row in jobs),
            tuple(row.integer("arrival_step") for row in jobs),
        )
    return Experiment(sequences)


def read_trace(inputs: Mapping[str, Path], steps: int | None = None) -> Trace:
    """A saved trace, CSV or JSON."""
    path = _path(inputs, "trace")
    if path.suffix.lower() == ".csv":
        rows = _rows(inputs, "trace", TRACE_COLUMNS)
    else:
        rows = [
            _Row(path.name, f"record {i}", record) for i, record in enumerate(_json_records(path), start=1)
        ]
    records = (
        Record(row.text("policy"), row.integer("step"), row.integer("job_id"), row.number("score"))
        for row in rows
    )
    return Trace.of(records, steps)


def _json_records(path: Path) -> Iterable[Mapping[str, Any]]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SchedulingError(f"{path.name} can't be read as JSON: {error}.") from None
    if isinstance(data, dict) and isinstance(data.get("rows"), list) and "columns" in data:
        return [dict(zip(data["columns"], row, strict=False)) for row in data["rows"]]
    if isinstance(data, list) and all(isinstance(record, dict) for record in data):
        return data
    raise SchedulingError(
        f"{path.name} is no trace, expected an object of 'columns' and 'rows' or a list of objects."
    )


@dataclass(frozen=True)
class _Row:
    file: str
    place: str
    cells: Mapping[str, Any]

    def text(self, column: str) -> str:
        value = self.cells.get(column)
        if value is None or value == "":
            raise self.error(f"column {column!r} is empty or missing")
        return str(value)

    def number(self, column: str) -> float:
        try:
            return float(self.text(column))
        except SchedulingError:
            raise
        except ValueError:
            raise self.error(f"column {column!r} is {self.text(column)!r}, not a number") from None

    def integer(self, column: str) -> int:
        value = self.number(column)
        if not value.is_integer():
            raise self.error(f"column {column!r} is {self.text(column)!r}, not a whole number")
        return int(value)

    def error(self, what: str) -> SchedulingError:
        return SchedulingError(f"{self.file}, {self.place}: {what}.")


def _rows(inputs: Mapping[str, Path], name: str, columns: tuple[str, ...]) -> list[_Row]:
    path = _path(inputs, name)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            missing = [column for column in columns if column not in (reader.fieldnames or ())]
            if missing:
                raise SchedulingError(
                    f"{path.name} has no column {missing[0]!r}, expected {', '.join(columns)}."
                )
            rows = [_Row(path.name, f"line {reader.line_num}", cells) for cells in reader]
    except (OSError, UnicodeDecodeError) as error:
        raise SchedulingError(f"{path.name} can't be read: {error}.") from None
    if not rows:
        raise SchedulingError(f"{path.name} holds no rows, expected at least one.")
    return rows


def _path(inputs: Mapping[str, Path], name: str) -> Path:
    if name not in inputs:
        raise SchedulingError(f"The input {name!r} is missing, expected a file.")
    return Path(inputs[name])
