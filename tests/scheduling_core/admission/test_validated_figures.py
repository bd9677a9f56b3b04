"""The figures published with the synthetic DeepSWE-like workload of 2,000 attempts, from the validator."""

import gzip
import json
from pathlib import Path

import pytest
from admission_cases import GIB

from scheduling_core.admission.attempts import Attempt, Segment, SegmentKind, Workload, ranked
from scheduling_core.admission.metrics import metrics, saved_share
from scheduling_core.admission.replay import fifo
from scheduling_core.admission.schedule import Limits, Policy
from scheduling_core.admission.validate import validate

HOUR = 36_000


def deepswe_like(file: Path) -> Workload:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return ranked(
        "DeepSWE-like",
        [
            Attempt(
                id=row["id"], task=str(row["task"]), image=str(row["image"]), rank=row["arrival"], release=0,
                segments=tuple(Segment(SegmentKind(kind), ticks) for kind, ticks in row["segments"]),
                cpu_milli=1000 * row["cpu"], ram_kib=GIB * row["ram_gib"], disk_kib=GIB * row["disk_gib"],
                image_kib=round(GIB * row["image_gib"]), synthetic=True,
            )
            for row in rows
        ],
    )  # fmt: skip


@pytest.mark.oracle
def test_fifo_of_the_deepswe_like_workload(shared: Path) -> None:
    """64 slots: D 7.900 h, 512 GiB of active RAM at peak, 1811.4 image GiB-h, 78.2 % of quota-hours saved."""
    of = deepswe_like(shared / "data/deepswe_like/attempts.jsonl.gz")
    rows = [one.row() for one in of.attempts]
    found = {}
    for policy in Policy:
        made = fifo(of, Limits(slots=64), policy)
        validation = validate(rows, made.row(), metrics(of, made).integers())
        assert validation.violations == ()
        found[policy] = validation.metrics
    active, whole = found[Policy.ACTIVE], found[Policy.WHOLE]
    assert (active["attempts"], active["slots_peak"]) == (2000, 64)
    assert round(active["makespan"] / HOUR, 3) == 7.900
    assert active["ram_peak"] == 512 * GIB
    assert round(active["images_kib_ticks"] / GIB / HOUR, 1) == 1811.4
    for name in ("cpu_area", "ram_area"):
        assert round(1 - active[name] / whole[name], 3) == 0.782
    assert round(float(saved_share(of)), 3) == 0.782
