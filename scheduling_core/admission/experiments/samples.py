"""One-second samples of what attempts really used, from CSV or JSON lines.

Each has `attempt`, `second` (whole, from the attempt's start), `cpu_cores` (used on average in that second)
and `rss_bytes`. Used amounts are rounded up to millicores and KiB, which changes no comparison with a whole
quota. A sample that can't be taken is set aside with its reason.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Any

from scheduling_core.admission.attempts import KIB_PER_GIB, MILLICORES, TICKS_PER_SECOND, Workload
from scheduling_core.admission.formats.documents import Rejected, Source, decoded, parse, read_bytes, unpacked
from scheduling_core.admission.formats.fields import shown
from scheduling_core.errors import SchedulingError

COLUMNS = ("attempt", "second", "cpu_cores", "rss_bytes")
LARGEST = 1 << 53

LONGEST_LINE = 1 << 16
"""Characters; our own limit, since the one of `csv` is the process's and others set it."""


@dataclass(frozen=True)
class Sample:
    """What an attempt used in one second, from 10 x second ticks after its start."""

    second: int
    cpu_milli: int
    rss_kib: int


@dataclass(frozen=True)
class Samples:
    """Samples of each attempt that has any, in order of time; each second once."""

    source: Source
    of: Mapping[str, tuple[Sample, ...]]
    rejected: tuple[Rejected, ...]


def read_samples(path: Path, workload: Workload) -> Samples:
    """Read the samples of a workload's attempts; CSV where the first line names the columns, else JSON lines.

    Set aside are lines that can't be understood, attempts that the workload doesn't hold, seconds after an
    attempt's end, and a second sample of the same second.

    Raises
    ------
    SchedulingError : for a file that can't be read, or that holds no sample at all.
    """
    content, source = read_bytes(path, path.name)
    text, fault = unpacked(content, path.name)
    lengths = {a.id: a.ticks for a in workload.attempts}
    found: dict[str, dict[int, Sample]] = {}
    rejected = []
    for where, raw, row in _rows(text, path.name):
        try:
            if isinstance(row, str):
                raise SchedulingError(row)
            name, sample = _sample(row, where)
            _check(name, sample, lengths, found, where)
        except SchedulingError as error:
            rejected.append(Rejected(where, str(error), raw))
            continue
        found.setdefault(name, {})[sample.second] = sample
    if fault is not None:
        rejected.append(Rejected(path.name, f"{path.name}: {fault}, expected more.", ""))
    if not found:
        first = rejected[0].reason if rejected else f"{path.name}: there is no sample in it."
        raise SchedulingError(first)
    return Samples(
        source,
        {
            a.id: tuple(found[a.id][second] for second in sorted(found[a.id]))
            for a in workload.attempts if a.id in found
        },
        tuple(rejected),
    )  # fmt: skip


def whole_of(value: object, what: str) -> int:
    """A whole number from 0, from JSON or a cell. Raises SchedulingError for anything else."""
    number = decimal_of(value, what)
    if number.denominator != 1:
        raise SchedulingError(f"{what} is {shown(value)}, expected a whole number.")
    return int(number)


def decimal_of(value: object, what: str) -> Fraction:
    """A number from 0, exactly as it is written. Raises SchedulingError for anything else."""
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError
        number = Decimal(value.strip()) if isinstance(value, str) else Decimal(repr(value))
    except (InvalidOperation, ValueError):
        number = Decimal("NaN")
    if not number.is_finite() or not 0 <= number < LARGEST or number.adjusted() < -30:
        raise SchedulingError(f"{what} is {shown(value)}, expected a number from 0.")
    return Fraction(number)


def _rows(content: bytes, name: str) -> Iterator[tuple[str, str, Mapping[str, Any] | str]]:
    """Place, text and fields of each line; a sentence instead of fields where it can't be read."""
    text = decoded(content.removeprefix(b"\xef\xbb\xbf"))
    lines = _lines(text)
    first = next((line for line in lines if line.strip()), "")
    if first.lstrip().startswith("{"):
        for number, line in enumerate(lines, 1):
            where = f"{name}, line {number}"
            if not line.strip():
                continue
            try:
                row = parse(line)
            except ValueError as error:
                yield where, line, f"{where}: {error}."
                continue
            yield where, line, row if isinstance(row, dict) else f"{where}: this is no object."
        return
    yield from csv_rows(text, name, COLUMNS)


def _lines(text: str) -> list[str]:
    """Lines as other tools count them: letters that only Unicode takes for a line's end don't end one."""
    return [line.removesuffix("\r") for line in text.split("\n")]


def csv_rows(
    text: str, name: str, columns: Sequence[str]
) -> Iterator[tuple[str, str, Mapping[str, Any] | str]]:
    """Place, text and cells by column of each line; a sentence instead of cells where it can't be read.

    The first line that isn't empty names the columns; others than those wanted are left alone.

    Raises
    ------
    SchedulingError : where a column that is wanted is missing.
    """
    header: list[str] | None = None
    for number, line in enumerate(_lines(text), 1):
        where = f"{name}, line {number}"
        if not line.strip():
            continue
        try:
            cells = next(csv.reader([line])) if len(line) <= LONGEST_LINE else []
        except csv.Error as error:
            cells, fault = [], f"{where}: this is no CSV ({error})."
        else:
            fault = f"{where}: there are {len(cells)} cells, expected {len(header or [])}."
            if len(line) > LONGEST_LINE:
                fault = f"{where}: the line has {len(line):,} characters, expected a row of numbers."
        if header is None:
            header = [cell.strip() for cell in cells]
            missing = [column for column in columns if column not in header]
            if missing:
                raise SchedulingError(
                    f"{where}: the column {missing[0]} is missing, expected {', '.join(columns)}."
                )
        elif len(cells) != len(header):
            yield where, line, fault
        else:
            yield where, line, dict(zip(header, cells, strict=True))


def _sample(row: Mapping[str, Any], where: str) -> tuple[str, Sample]:
    missing = [column for column in COLUMNS if row.get(column) in (None, "")]
    if missing:
        raise SchedulingError(f"{where}: {missing[0]} is missing, so what was used isn't known.")
    name = row["attempt"]
    if not isinstance(name, str):
        raise SchedulingError(f"{where}: attempt is {shown(name)}, expected its id.")
    cores = decimal_of(row["cpu_cores"], f"{where}: cpu_cores")
    rss = whole_of(row["rss_bytes"], f"{where}: rss_bytes")
    second = whole_of(row["second"], f"{where}: second")
    return name, Sample(second, -(-cores * MILLICORES // 1), -(-rss // (1 << 10)))


def _check(
    name: str,
    sample: Sample,
    lengths: Mapping[str, int],
    found: Mapping[str, Mapping[int, Sample]],
    where: str,
) -> None:
    if name not in lengths:
        raise SchedulingError(f"{where}: there is no attempt {shown(name)} in the workload.")
    if sample.second * TICKS_PER_SECOND >= lengths[name]:
        raise SchedulingError(
            f"{where}: second {sample.second} is after the end of attempt {shown(name)}, which lasts "
            f"{lengths[name] / TICKS_PER_SECOND:g} s."
        )
    if sample.second in found.get(name, {}):
        raise SchedulingError(f"{where}: second {sample.second} of attempt {shown(name)} stands above too.")
    if sample.rss_kib > 1 << 20 << 20 or sample.cpu_milli > 1 << 30:
        raise SchedulingError(
            f"{where}: {sample.cpu_milli / MILLICORES:g} cores and {sample.rss_kib / KIB_PER_GIB:g} GiB, "
            "more than a machine has."
        )
