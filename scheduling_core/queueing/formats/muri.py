"""Muri's simulator traces (pkusys/Muri): Tiresias' columns in milliseconds, with the time of an iteration.

They have two durations. The column `duration` is iterations x iteration time, rounded up to whole seconds;
what Muri's public simulator runs is iterations x iteration time x 1.015.
"""

from __future__ import annotations

from fractions import Fraction

from scheduling_core.queueing.formats import tiresias
from scheduling_core.queueing.formats.lines import Source
from scheduling_core.queueing.formats.records import Contents, Found, Options
from scheduling_core.queueing.formats.table import Layout, Row, Table, marked, read_table

MARKS = ("iteration_time", "resource_time_0")
NEEDS = ("job_id", "num_gpu", "submit_time", "duration")
SLOWER = Fraction(1015, 1000)
"""By how much Muri's simulator runs each iteration slower than its profile."""


def simulated(row: Row) -> Found:
    """The job of a row, as long as Muri's simulator runs it."""
    return Found(
        row.line.where, row.line.text, row.text("job_id"), row.time("submit_time"), row.count("num_gpu"),
        row.count("iterations") * row.length("iteration_time") * SLOWER, model=row.optional("model_name"),
    )  # fmt: skip


LOGGED = Layout(
    NEEDS, tiresias.job,
    "the column duration: iterations x iteration time, rounded up to whole seconds; milliseconds in the file",
    Fraction(1, 1000), "milliseconds",
)  # fmt: skip
SIMULATED = Layout(
    ("job_id", "num_gpu", "submit_time", "iterations", "iteration_time"), simulated,
    "iterations x iteration time x 1.015, as Muri's public simulator runs it; milliseconds in the file",
    Fraction(1, 1000), "milliseconds",
)  # fmt: skip


def read(source: Source, options: Options) -> Contents:
    """The jobs of a trace, with one of its two durations."""
    return read_table(source, SIMULATED if options.muri_run_time else LOGGED)


FORMAT = Table("muri", "Muri", read, marked(MARKS), (*NEEDS, "iteration_time"))
