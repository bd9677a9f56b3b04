"""Measured times of putting memory aside and taking it back, in place of assumed costs.

A table is CSV with the columns bytes, offload_s and restore_s, a line for each measurement. Between two sizes
a time is that of the nearest size, or lies on the straight line; beyond the sizes nothing is known.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any

from scheduling_core.admission.attempts import TICKS_PER_SECOND, Workload
from scheduling_core.admission.experiments.outcome import Outcome
from scheduling_core.admission.experiments.samples import csv_rows, decimal_of, whole_of
from scheduling_core.admission.experiments.suspension import SECONDS
from scheduling_core.admission.experiments.suspension import run as suspend
from scheduling_core.admission.formats.documents import Rejected, Source, decoded, read_bytes
from scheduling_core.admission.schedule import Limits
from scheduling_core.charts import SCHEMA
from scheduling_core.errors import SchedulingError

COLUMNS = ("bytes", "offload_s", "restore_s")


class Between(StrEnum):
    """What holds between two measured sizes."""

    NEAREST = "nearest"
    """The time of the nearest size; halfway, of the larger one."""
    LINEAR = "linear"
    """The straight line between the sizes on both sides."""


@dataclass(frozen=True)
class Measured:
    """A cost from measurements; a `Cost` as `suspension.run` takes it.

    points : (bytes, seconds to offload, seconds to restore), ascending in bytes, each size once.
    """

    source: Source
    points: tuple[tuple[int, Fraction, Fraction], ...]
    between: Between
    measurements: int

    @property
    def name(self) -> str:
        """The file, and what holds between its sizes."""
        return f"{self.source.path}, {self.between}"

    @property
    def assumption(self) -> str:
        """Where the figures come from."""
        return (
            f"Measured in {self.source.path} (SHA-256 {self.source.sha256}): {self.measurements} "
            f"measurements of {len(self.points)} sizes, the median of several of one size; "
            f"between sizes {_SAID[self.between]}; rounded up to 0.1 s."
        )

    def ticks(self, kib: int) -> tuple[int, int]:
        """Ticks of offloading and of restoring, rounded up.

        Raises
        ------
        SchedulingError : for a size outside those measured.
        """
        size = kib << 10
        low, high = self.points[0][0], self.points[-1][0]
        if not low <= size <= high:
            raise SchedulingError(
                f"{self.source.path}: {size} bytes were not measured, only {low} to {high}; nothing is "
                "extrapolated, so measure that size too."
            )
        right = bisect_left([point[0] for point in self.points], size)
        offload, restore = self._at(size, right)
        return _ticks(offload), _ticks(restore)

    def _at(self, size: int, right: int) -> tuple[Fraction, Fraction]:
        above = self.points[right]
        if above[0] == size:
            return above[1], above[2]
        below = self.points[right - 1]
        share = Fraction(size - below[0], above[0] - below[0])
        if self.between is Between.NEAREST:
            share = Fraction(int(2 * share >= 1))
        return below[1] + share * (above[1] - below[1]), below[2] + share * (above[2] - below[2])


_SAID = {Between.NEAREST: "that of the nearest", Between.LINEAR: "on the straight line"}


@dataclass(frozen=True)
class Measurements:
    """A table as read, and the lines that couldn't be taken."""

    cost: Measured
    rejected: tuple[Rejected, ...]


def read_measurements(path: Path, between: Between = Between.LINEAR) -> Measurements:
    """Read a table. Lines that can't be understood are set aside, and the others kept.

    Raises
    ------
    SchedulingError : for a file that can't be read, without the columns, or without one good line.
    """
    content, source = read_bytes(path, path.name)
    found: dict[int, list[tuple[Fraction, Fraction]]] = {}
    rejected = []
    for where, raw, row in csv_rows(decoded(content.removeprefix(b"\xef\xbb\xbf")), path.name, COLUMNS):
        try:
            size, offload, restore = _measurement(row, where)
        except SchedulingError as error:
            rejected.append(Rejected(where, str(error), raw))
            continue
        found.setdefault(size, []).append((offload, restore))
    if not found:
        first = rejected[0].reason if rejected else f"{path.name}: there is no measurement in it."
        raise SchedulingError(first)
    points = tuple(
        (size, median(o for o, _ in found[size]), median(r for _, r in found[size])) for size in sorted(found)
    )
    return Measurements(Measured(source, points, between, sum(map(len, found.values()))), tuple(rejected))


def run(
    workload: Workload,
    limits: Limits,
    table: Measured,
    *,
    seed: int = 0,
    seconds: Sequence[float | str] = SECONDS,
    channels: int | None = None,
    pool_kib: int | None = None,
) -> Outcome:
    """What suspension saves at the measured cost, beside assumed constants of `seconds`.

    Raises
    ------
    SchedulingError : for an attempt whose RAM is of a size that wasn't measured, and as `suspension.run`.
    """
    found = suspend(
        workload, limits, seed=seed, seconds=seconds, costs=[table], channels=channels, pool_kib=pool_kib
    )
    wanted = sorted({a.ram_kib for a in workload.attempts})
    return replace(
        found,
        name="measured",
        title=f"{workload.name}: what suspended model calls save at measured costs",
        parameters={**found.parameters, "table_sha256": table.source.sha256, "between": str(table.between)},
        charts={**found.charts, "measurements": _chart(table, wanted)},
    )


def _measurement(row: Mapping[str, Any] | str, where: str) -> tuple[int, Fraction, Fraction]:
    if isinstance(row, str):
        raise SchedulingError(row)
    size, offload, restore = (row[name] for name in COLUMNS)
    return (
        whole_of(size, f"{where}: bytes"), decimal_of(offload, f"{where}: offload_s"),
        decimal_of(restore, f"{where}: restore_s"),
    )  # fmt: skip


def _ticks(seconds: Fraction) -> int:
    return -(-seconds * TICKS_PER_SECOND // 1)


def _chart(table: Measured, wanted: Sequence[int]) -> dict[str, Any]:
    values = [
        {"size": size / (1 << 30), "seconds": float(seconds), "way": way, "what": "measured"}
        for size, *ways in table.points
        for way, seconds in zip(("offload", "restore"), ways, strict=True)
    ]
    values += [
        {"size": kib / (1 << 20), "seconds": ticks / TICKS_PER_SECOND, "way": way, "what": "used"}
        for kib in wanted
        for way, ticks in zip(("offload", "restore"), table.ticks(kib), strict=True)
    ]
    return {
        "$schema": SCHEMA,
        "title": "Measured times of putting memory aside, and those used",
        "width": 640,
        "height": 320,
        "data": {"values": values},
        "mark": {"type": "point", "filled": True, "size": 60},
        "encoding": {
            "x": {"field": "size", "type": "quantitative", "title": "Memory (GiB)"},
            "y": {"field": "seconds", "type": "quantitative", "title": "Time (s)"},
            "color": {"field": "way", "type": "nominal", "title": "Way"},
            "shape": {"field": "what", "type": "nominal", "title": "Point"},
            "tooltip": [
                {"field": "size", "type": "quantitative"}, {"field": "seconds", "type": "quantitative"},
                {"field": "way", "type": "nominal"}, {"field": "what", "type": "nominal"},
            ],
        },
    }  # fmt: skip
