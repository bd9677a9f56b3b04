"""Opens a trace, finds out by its content which format it has, and gives it to its reader."""

from __future__ import annotations

from pathlib import Path

from scheduling_core.admission.formats.documents import read_bytes, unpacked
from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.formats import (
    alibaba,
    chronus,
    compact,
    elasticflow,
    gavel,
    helios,
    muri,
    philly,
    swf,
    tiresias,
)
from scheduling_core.queueing.formats.lines import Source
from scheduling_core.queueing.formats.numbers import shown
from scheduling_core.queueing.formats.records import Format, Import, Options, Rejected, assemble
from scheduling_core.queueing.formats.table import Table, header_of

TABLES: tuple[Table, ...] = (
    chronus.FORMAT,
    muri.FORMAT,
    helios.FORMAT,
    alibaba.FORMAT,
    elasticflow.FORMAT,
    tiresias.FORMAT,
)
SURE: tuple[Format, ...] = (compact.FORMAT, philly.FORMAT, *TABLES)
"""Formats that a first line tells, in the order in which they are asked."""
SHAPES: tuple[Format, ...] = (gavel.FORMAT, swf.FORMAT)
"""Formats without a header, which only the shape of their lines tells."""
FORMATS: dict[str, Format] = {item.name: item for item in (*SURE, *SHAPES)}
"""By name."""


def read_trace(
    path: Path,
    *,
    name: str | None = None,
    skip_bad: bool = False,
    format: str | None = None,
    muri_run_time: bool = False,
    throughputs: Path | None = None,
) -> Import:
    """Read a trace, packed by gzip or not, in whichever of the formats it is.

    name : of the trace; the file's own or its name without. skip_bad : set bad records aside in
    `Import.rejected` instead of ending at the first. format : one of `FORMATS`, where the content isn't to
    decide. muri_run_time : of a Muri trace, take what Muri's simulator runs, not the column `duration`.
    throughputs : for a Gavel trace, the file of its rates.

    Raises
    ------
    SchedulingError : where nothing can be read (no such file, empty, no known format, 0 jobs), and at the
    first bad record without `skip_bad`.
    """
    if format is not None and format not in FORMATS:
        raise SchedulingError(f"There is no format {format!r}, expected one of {', '.join(FORMATS)}.")
    content, stored = read_bytes(path, path.name)
    plain, fault = unpacked(content, path.name)
    source = Source(path.name, plain, fault)
    if not plain.strip() and fault is None:
        raise SchedulingError(f"{source.name}: the file is empty, expected a trace.")
    kind = FORMATS[format] if format is not None else recognised(source)
    for option, owner in ((muri_run_time, muri.FORMAT), (throughputs, gavel.FORMAT)):
        if option and kind is not owner:
            what = "muri_run_time" if owner is muri.FORMAT else "throughputs"
            raise SchedulingError(f"{source.name}: {what} is for {owner.title}, this is {kind.title}.")
    contents = kind.read(source, Options(muri_run_time, throughputs))
    own = stem(path) if contents.name is None else contents.name
    trace, rejected = assemble(contents, source, own if name is None else name, skip_bad)
    notes = trace.notes
    if rejected:
        notes += (f"{len(rejected)} of {len(rejected) + len(trace)} records are set aside as bad.",)
    return Import(trace, tuple(rejected), kind.name, stored.sha256, notes)


def recognised(source: Source) -> Format:
    """The format that a file's first lines are in.

    Raises
    ------
    SchedulingError : where it is none that is known.
    """
    head = source.head()
    for sure in SURE:
        if sure.fits(head):
            return sure
    columns = set(header_of(head[0])) if head else set()
    nearest = min(TABLES, key=lambda table: len(set(table.needs) - columns))
    if len(columns.intersection(nearest.needs)) > 1:
        return nearest  # whose reader says which column is missing
    for shape in SHAPES:
        if shape.fits(head):
            return shape
    first = next(source.lines(), None)
    if isinstance(first, Rejected):
        raise SchedulingError(first.reason)
    known = ", ".join(item.title for item in FORMATS.values())
    begins = shown(head[0]) if head else "nothing"
    raise SchedulingError(f"{source.name} line 1: {begins} begins no trace that is known, expected {known}.")


def stem(path: Path) -> str:
    """A file's name without its endings."""
    return Path(path.name.removesuffix(".gz")).stem or "trace"
