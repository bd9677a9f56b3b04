"""Complete schedules side by side, each judged by the validator before anything of it is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduling_core.admission.attempts import Workload
from scheduling_core.admission.metrics import Metrics, metrics
from scheduling_core.admission.schedule import Schedule
from scheduling_core.admission.validate import Validation, validate
from scheduling_core.errors import SchedulingError


@dataclass(frozen=True)
class Entry:
    """One complete schedule with its figures, and the validator's account of it from the starts alone."""

    name: str
    schedule: Schedule
    metrics: Metrics
    validation: Validation

    def row(self) -> dict[str, Any]:
        """A line of the table of complete schedules: name, hash, policy, and every figure."""
        return {
            "schedule": self.name, "sha256": self.schedule.sha256, "policy": str(self.schedule.policy),
            **self.metrics.table(),
        }  # fmt: skip


def book(workload: Workload, schedules: Mapping[str, Schedule]) -> tuple[Entry, ...]:
    """Every schedule with two accounts that agree.

    Raises
    ------
    SchedulingError : where the validator finds a violation, or another figure than `metrics`; nothing of
        such a schedule is told.
    """
    attempts = [attempt.row() for attempt in workload.attempts]
    entries = []
    for name, schedule in schedules.items():
        figures = metrics(workload, schedule)
        found = validate(attempts, schedule.row(), figures.integers())
        if not found.ok:
            raise SchedulingError(
                f"The validator rejects schedule {name!r} for {len(found.violations)} reasons, the first: "
                f"{found.violations[0].sentence}"
            )
        entries.append(Entry(name, schedule, figures, found))
    return tuple(entries)


def differences(entries: Sequence[Entry], base: Entry) -> list[dict[str, Any]]:
    """For each schedule, every figure of the table divided by the base's; None where that is 0."""
    told = base.metrics.table()
    rows = []
    for entry in entries:
        row: dict[str, Any] = {"schedule": entry.name}
        for name, value in entry.metrics.table().items():
            row[name] = value / told[name] if told[name] else None
        rows.append(row)
    return rows
