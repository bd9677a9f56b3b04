"""Helios job logs (S-Lab-System-Group/HeliosData, `cluster_log.csv`): dates, and durations in seconds.

Jobs of every state are kept: a failed or cancelled one held its GPUs as long. Jobs for CPUs alone, which are
more than half of the published logs, have no GPU and are rejected.
"""

from __future__ import annotations

from scheduling_core.queueing.formats.records import Found
from scheduling_core.queueing.formats.table import Layout, Row, table


def job(row: Row) -> Found:
    """The job of a row."""
    return Found(
        row.line.where, row.line.text, row.text("job_id"), row.date("submit_time"), row.count("gpu_num"),
        row.length("duration"), user=row.optional("user"),
    )  # fmt: skip


FORMAT = table(
    "helios",
    "Helios",
    Layout(
        ("job_id", "gpu_num", "submit_time", "duration"),
        job,
        "the column duration: start to end in the log, however the job ended; seconds in the file",
        dates=True,
    ),
    ("gpu_num", "cpu_num", "node_num", "vc"),
)
