"""ElasticFlow's traces: microsoft/elasticflow-traces (raw and with deadlines) and pkusys/ElasticFlow.

Times in seconds from the beginning of the collection, deadlines absolute. The second repository spells
`submission_time` as `submit_time` and `deadline` as `ddl`.
"""

from __future__ import annotations

from scheduling_core.queueing.formats.records import Found
from scheduling_core.queueing.formats.table import Layout, Row, table


def job(row: Row) -> Found:
    """The job of a row."""
    return Found(
        row.line.where, row.line.text, row.text("job_id"), row.time("submission_time"),
        row.count("num_gpu"), row.length("duration"),
        row.time("deadline") if row.has("deadline") else None, model=row.optional("model_name"),
    )  # fmt: skip


FORMAT = table(
    "elasticflow",
    "ElasticFlow",
    Layout(
        ("job_id", "submission_time", "duration", "num_gpu"),
        job,
        "the column duration: run time with the GPUs asked for; seconds in the file",
        notes=("Deadlines are the file's own, absolute in seconds, where it has any.",),
        also={"submit_time": "submission_time", "ddl": "deadline"},
    ),
    ("submission_time", "ddl", "deadline", "num_iteration"),
)
