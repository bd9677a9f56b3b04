"""The synthetic DeepSWE-like rows: one attempt a line, lengths in ticks, quotas in cores and GiB.

Nothing in them was measured, and they have no score: every attempt is marked synthetic.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduling_core.admission.attempts import (
    KIB_PER_GIB,
    MILLICORES,
    Attempt,
    Cause,
    TimeState,
    attempt_from_row,
)
from scheduling_core.admission.formats.documents import Document
from scheduling_core.admission.formats.fields import Fields, number_of, shown
from scheduling_core.errors import SchedulingError

NAME = "DeepSWE-like rows"
LARGEST = 1 << 31
ENDS = {
    "ok": (TimeState.COMPLETE, Cause.MODEL),
    "agent_timeout_censored": (TimeState.RIGHT_CENSORED, Cause.AGENT_LIMIT),
    "infra_error": (TimeState.RIGHT_CENSORED, Cause.INFRASTRUCTURE),
}
"""What a status says of time and cause; of any other one the cause isn't known."""


def recognises(value: Mapping[str, Any]) -> bool:
    """Whether a document has the fields that only these rows have."""
    return {"arrival", "image_gib", "ram_gib", "segments"} <= set(value)


def attempt(document: Document) -> Attempt:
    """The attempt of a row, with its arrival as its rank.

    Raises
    ------
    SchedulingError : for a row that can't be understood.
    """
    row = Fields(document.value, document.where)
    status = row.text("status")
    time, cause = ENDS.get(status, (TimeState.RIGHT_CENSORED, Cause.UNKNOWN))
    found = attempt_from_row(
        {
            "id": row.text("id"), "task": _name(row, "task"), "image": _name(row, "image"),
            "rank": row.value.get("arrival"), "release": 0, "segments": row.value.get("segments"),
            "cpu_milli": _units(row, "cpu", MILLICORES), "ram_kib": _units(row, "ram_gib", KIB_PER_GIB),
            "disk_kib": _units(row, "disk_gib", KIB_PER_GIB),
            "image_kib": _units(row, "image_gib", KIB_PER_GIB),
            "time": str(time), "cause": str(cause), "exception": None if status == "ok" else status,
            "synthetic": row.flag("synthetic"),
        },
        document.where,
    )  # fmt: skip
    if row.has("dur") and row.value["dur"] != found.ticks:
        raise SchedulingError(
            f"{row.what('dur')} is {shown(row.value['dur'])}, expected the segments' sum, {found.ticks}."
        )
    return found


def _name(row: Fields, name: str) -> str:
    value = row.value.get(name)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53:
        return str(value)
    return row.text(name)


def _units(row: Fields, name: str, unit: int) -> int:
    return round(number_of(row.value.get(name), row.what(name), LARGEST) * unit)
