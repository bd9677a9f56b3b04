"""What every experiment gives: a table, charts, the complete schedules behind them, and what it assumed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scheduling_core.admission.schedule import Schedule

Cell = str | int | float | None


@dataclass(frozen=True)
class Outcome:
    """One experiment's result, all of it plain enough for JSON.

    columns and rows : a table for a reader; None where a figure isn't known. charts : Vega-Lite 5
    specifications by name. schedules : every complete schedule behind the table, by the name in it.
    assumed : one sentence for each thing that was assumed and not measured.
    """

    name: str
    title: str
    parameters: Mapping[str, Any]
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    charts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    schedules: Mapping[str, Schedule] = field(default_factory=dict)
    assumed: Sequence[str] = ()
