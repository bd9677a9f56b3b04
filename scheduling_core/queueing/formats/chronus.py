"""Chronus' simulator traces (S-Lab-System-Group/ChronusArtifact): minutes, with relative deadlines.

`job_type` is strict (one deadline, in `expect_time_list`), soft (several, each worth less than the last) or
best (none: what stands there counts for nothing).
"""

from __future__ import annotations

from fractions import Fraction

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.formats.numbers import Number, length_of, shown
from scheduling_core.queueing.formats.records import Found
from scheduling_core.queueing.formats.table import Layout, Row, table

SOFT = "has several soft deadlines; the first, at which it is worth most, is taken."


def job(row: Row) -> Found:
    """The job of a row."""
    submit = row.time("submit_time")
    kind = row.text("job_type")
    if kind not in ("strict", "soft", "best"):
        raise SchedulingError(f"{row.what('job_type')} is {shown(kind)}, expected strict, soft or best.")
    deadline: Number | None = None
    assumed: tuple[str, ...] = ()
    if kind != "best":
        first, *others = row.text("expect_time_list").split("-")
        deadline = submit + length_of(first, row.what("expect_time_list"), row.unit)
        assumed = (SOFT,) if others else ()
    return Found(
        row.line.where, row.line.text, row.text("job_id"), submit, row.count("num_gpu"),
        row.length("duration"), deadline, model=row.optional("model_name"), user=row.optional("user"),
        assumed=assumed,
    )  # fmt: skip


FORMAT = table(
    "chronus",
    "Chronus",
    Layout(
        ("job_id", "num_gpu", "submit_time", "duration", "expect_time_list", "job_type"),
        job,
        "the column duration: run time with all GPUs, without waiting and restarts; minutes in the file",
        Fraction(60),
        "minutes",
        notes=("Deadlines are the file's own; jobs of type best have none.",),
    ),
    ("expect_time_list", "expect_value_list", "best_effort"),
)
