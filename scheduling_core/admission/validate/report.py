"""The validator as an analysis: the figures of saved schedules, derived anew from attempts and starts."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scheduling_core.admission.validate.schedules import judge, prepare

Json = dict[str, Any]

HOUR = 36_000
"""Ticks of 0.1 s."""
GIB, CORE = 1 << 20, 1_000
"""KiB and millicores."""
LARGEST = 1 << 30
"""Bytes that a file may unpack to."""
SHOWN = 5
"""Violations of a schedule that are told in words; all are counted."""


class ReportError(ValueError):
    """A file that holds no attempts or no schedules: one sentence."""


def run(inputs: Mapping[str, Path], parameters: Mapping[str, Any], seed: int = 0) -> Json:
    """Judge every schedule of the input ``schedules`` against the attempts of ``workload``.

    Both are JSON lines, plain or gzip: the compact form with its header, and a schedule with its name a
    line. Outputs: for each schedule whether it holds, the violations, and its figures; for each of them the
    quota-hours that it reserves less than the first, in percent; and how many hold. No parameters; the seed
    is unused.

    Raises
    ------
    ReportError : for a missing input, or a line that can't be read.
    """
    if parameters:
        raise ReportError(f"There is no parameter {next(iter(parameters))!r}, expected none.")
    header, *attempts = _lines(inputs, "workload")
    if not isinstance(header, dict) or header.get("format") != "admission-workload":
        raise ReportError("The first line of the workload is no header of the compact form.")
    prepared = prepare(attempts)
    told: Json = {}
    for row in _lines(inputs, "schedules"):
        if not isinstance(row, dict) or not isinstance(row.get("name"), str) or row["name"] in told:
            raise ReportError(f"Schedule {len(told)} has no name of its own.")
        found = judge(prepared, {key: value for key, value in row.items() if key != "name"})
        told[row["name"]] = {
            "holds": found.ok,
            "violations": len(found.violations),
            "reasons": [violation.sentence for violation in found.violations[:SHOWN]],
            "sha256": row.get("sha256"),
            "deadline_ticks": row["limits"]["deadline"] if found.metrics else None,
            "integers": dict(found.metrics),
            **(_units(found.metrics) if found.metrics else {}),
        }
    _add_saved(list(told.values()))
    columns = ("holds", "violations", "makespan_h", "slots_peak", "ram_peak_gib", "image_gib_hours", "sha256")
    return {
        "outputs": {
            "attempts": len(attempts),
            "schedules": told,
            "hold": sum(one["holds"] for one in told.values()),
            "rejected": sum(not one["holds"] for one in told.values()),
        },
        "tables": {
            "schedules": {
                "columns": ["schedule", *columns],
                "rows": [[name, *(one.get(column) for column in columns)] for name, one in told.items()],
            }
        },
        "charts": {},
    }


def _units(metrics: Mapping[str, int]) -> Json:
    """The figures that claims are about, in hours, GiB and cores."""
    return {
        "makespan_h": metrics["makespan"] / HOUR,
        "slots_peak": metrics["slots_peak"],
        "cpu_peak_cores": metrics["cpu_peak"] / CORE,
        "cpu_core_hours": metrics["cpu_area"] / (CORE * HOUR),
        "ram_peak_gib": metrics["ram_peak"] / GIB,
        "ram_gib_hours": metrics["ram_area"] / (GIB * HOUR),
        "disk_peak_gib": metrics["disk_peak"] / GIB,
        "parked_peak_gib": metrics["parked_peak"] / GIB,
        "image_peak_gib": metrics["images_peak_kib"] / GIB,
        "image_gib_hours": metrics["images_kib_ticks"] / (GIB * HOUR),
        "wait_mean_s": metrics["wait_sum"] / (10 * metrics["attempts"]) if metrics["attempts"] else None,
        "service_gpu_hours": metrics["service_gpu_ticks"] / HOUR,
    }


def _add_saved(told: Sequence[Json]) -> None:
    """How much less than the first each reserves, of RAM over time."""
    first = told[0]["integers"].get("ram_area") if told else None
    for one in told:
        area = one["integers"].get("ram_area")
        one["saved_percent"] = 100 * (first - area) / first if first and area is not None else None


def _lines(inputs: Mapping[str, Path], name: str) -> list[Any]:
    if name not in inputs:
        raise ReportError(f"There is no input {name!r}, only {', '.join(inputs) or 'none'}.")
    path = Path(inputs[name])
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        with gzip.open(path) if packed else path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except (OSError, EOFError) as error:
        raise ReportError(f"Input {name!r} can't be read: {error}.") from None
    if len(content) > LARGEST:
        raise ReportError(f"Input {name!r} unpacks to more than {LARGEST >> 20} MiB.")
    found = []
    for number, line in enumerate(content.splitlines(), 1):
        try:
            found.append(json.loads(line))
        except (ValueError, RecursionError):
            raise ReportError(f"Input {name!r}, line {number} is no JSON.") from None
    if not found:
        raise ReportError(f"Input {name!r} is empty.")
    return found
