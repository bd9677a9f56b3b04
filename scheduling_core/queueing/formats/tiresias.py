"""Tiresias' simulator traces (SymbioticLab/Tiresias): times in seconds, no deadlines."""

from __future__ import annotations

from scheduling_core.queueing.formats.records import Found
from scheduling_core.queueing.formats.table import Layout, Row, table


def job(row: Row) -> Found:
    """The job of a row."""
    return Found(
        row.line.where, row.line.text, row.text("job_id"), row.time("submit_time"), row.count("num_gpu"),
        row.length("duration"), model=row.optional("model_name"),
    )  # fmt: skip


FORMAT = table(
    "tiresias",
    "Tiresias",
    Layout(
        ("job_id", "num_gpu", "submit_time", "duration"),
        job,
        "the column duration: run time with all GPUs, without waiting and restarts; seconds in the file",
    ),
)
