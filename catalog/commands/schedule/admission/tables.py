"""How commands on attempts print complete schedules."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from catalog.commands.output import Column, Table, say

if TYPE_CHECKING:
    from scheduling_core.admission.book import Entry

FIGURES = {
    "makespan_h": ("makespan, h", 3), "wait_mean_s": ("mean wait, s", 1), "wait_p95_s": ("95 % wait, s", 1),
    "slots_peak": ("slots, peak", 0), "cpu_peak_cores": ("CPU peak, cores", 1),
    "cpu_core_hours": ("CPU, core-h", 1), "ram_peak_gib": ("RAM peak, GiB", 1),
    "ram_gib_hours": ("RAM, GiB-h", 1), "disk_peak_gib": ("disk peak, GiB", 1),
    "parked_peak_gib": ("parked RAM peak, GiB", 1), "image_peak_gib": ("images peak, GiB", 1),
    "image_gib_hours": ("images, GiB-h", 1), "image_loads": ("image loads", 0),
    "service_peak_requests": ("requests, peak", 0), "service_gpu_hours": ("service, GPU-h", 1),
}  # fmt: skip


def show_entries(entries: Sequence["Entry"]) -> None:
    """A column for each complete schedule, a row for each figure."""
    table = Table((Column("figure"), *(Column(e.name, "decimal") for e in entries)), indent=2)
    told = [entry.metrics.table() for entry in entries]
    for name, (words, places) in FIGURES.items():
        table.add(words, *(_shown(figures[name], places) for figures in told))
    table.add("hash", *(entry.schedule.sha256[:12] for entry in entries))
    table.show()


def show_rows(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A table as an experiment gives it; None is unknown."""
    numeric = [all(isinstance(row[k], int | float | None) for row in rows) for k in range(len(columns))]
    table = Table(
        [
            Column(title, "decimal" if number else "left")
            for title, number in zip(columns, numeric, strict=True)
        ],
        indent=2,
    )
    for row in rows:
        table.add(*(_cell(value) for value in row))
    table.show()


def show_marks(entries: Sequence["Entry"]) -> None:
    """That every schedule was validated, and what the figures are."""
    say(f"The validator derived every figure of {len(entries)} complete schedules again from their starts "
        "alone. Hours are reserved quota, not what was used.", indent=2)  # fmt: skip


def entries_json(entries: Sequence["Entry"]) -> list[Mapping[str, Any]]:
    """Every schedule's row for `--json`: figures under their full names."""
    return [entry.row() for entry in entries]


def _shown(value: float | None, places: int) -> str:
    return "unknown" if value is None else f"{value:,.{places}f}"


def _cell(value: Any) -> str:
    if value is None:
        return "unknown"
    return f"{value:,.4g}" if isinstance(value, float) else str(value)
