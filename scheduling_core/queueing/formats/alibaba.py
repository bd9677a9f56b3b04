"""Pods of Alibaba's GPU-sharing cluster (alibaba/clusterdata, cluster-trace-gpu-v2023): times in seconds.

A pod of one GPU may ask for a part of it (`gpu_milli` below 1000). A gang holds whole GPUs, so such a pod
counts as one, with a note. A pod's run time is from `scheduled_time` to `deletion_time`; one that was never
scheduled is rejected. `gpu_spec` is kept where it names one type; where it names several, any will do.
"""

from __future__ import annotations

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.formats.numbers import Number, shown
from scheduling_core.queueing.formats.records import Found
from scheduling_core.queueing.formats.table import Layout, Row, table

PART = "asks for a part of a GPU (gpu_milli below 1000) and counts as a whole one, so the load is overstated."
WAITING = "has no scheduled_time column, so its time from creation to deletion includes waiting."
TYPES = "may run on several types of GPU (gpu_spec) and is taken to run on any."
WHOLE = 1000


def job(row: Row) -> Found:
    """The job of a row."""
    assumed: list[str] = []
    gpus = row.count("num_gpu")
    milli = row.count("gpu_milli")
    if milli > WHOLE or (milli < WHOLE and gpus > 1):
        raise SchedulingError(f"{row.what('gpu_milli')} is {milli} for {gpus} GPUs, expected {WHOLE}.")
    if milli < WHOLE:
        assumed.append(PART)
    created = row.time("creation_time")
    types = (
        [] if not row.has("gpu_spec") or row.text("gpu_spec") == "nan" else row.text("gpu_spec").split("|")
    )
    if len(types) > 1:
        assumed.append(TYPES)
    return Found(
        row.line.where, row.line.text, row.text("name"), created, gpus, _run_time(row, created, assumed),
        gpu_type=types[0] if len(types) == 1 else None, assumed=tuple(assumed),
    )  # fmt: skip


def _run_time(row: Row, created: Number, assumed: list[str]) -> Number:
    start = created
    if "scheduled_time" not in row.columns:
        assumed.append(WAITING)
    elif not row.has("scheduled_time") or row.text("scheduled_time") == "nan":
        raise SchedulingError(
            f"{row.what('scheduled_time')} is empty, so the pod never ran; expected a time."
        )
    else:
        start = row.time("scheduled_time")
    deleted = row.time("deletion_time")
    if not created <= start < deleted:
        times = f"{shown(row.text('deletion_time'))} with a start at {start} and a creation at {created}"
        raise SchedulingError(f"{row.what('deletion_time')} is {times}, expected them one after the other.")
    return deleted - start


FORMAT = table(
    "alibaba",
    "Alibaba GPU pods",
    Layout(
        ("name", "num_gpu", "gpu_milli", "creation_time", "deletion_time"),
        job,
        "scheduled_time to deletion_time, in whatever phase the pod was; seconds in the file",
    ),
    ("gpu_milli", "creation_time", "deletion_time"),
)
