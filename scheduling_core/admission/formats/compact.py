"""The compact form: JSON lines, a header and one attempt a line, in the order of arrival.

The header says format, version, name, the number of attempts and the workload's hash. Every line is
canonical JSON, so that a workload has one spelling and reading it back gives the same bytes. `.parquet`
holds the same fields in columns, and needs pyarrow.
"""

from __future__ import annotations

import gzip
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from scheduling_core.admission.attempts import Attempt, Workload, attempt_from_row, canonical
from scheduling_core.admission.formats import parquet
from scheduling_core.admission.formats.documents import Document, Rejected
from scheduling_core.admission.formats.fields import Fields, shown
from scheduling_core.admission.formats.records import Collector, Import, of_attempts
from scheduling_core.errors import SchedulingError

NAME = "compact form"
FORMAT = "admission-workload"
VERSION = 1
ENDINGS = (".jsonl", ".jsonl.gz", ".parquet")


def recognises(value: Mapping[str, Any]) -> bool:
    """Whether a document is the header."""
    return value.get("format") == FORMAT


def lines(workload: Workload) -> bytes:
    """The workload as JSON lines. Raises SchedulingError for a text or number that JSON can't hold."""
    plain = _plain(workload)
    try:
        rows = [canonical(header(plain)), *(canonical(attempt.row()) for attempt in plain.attempts)]
        return "".join(f"{row}\n" for row in rows).encode()
    except ValueError as error:
        raise SchedulingError(f"{workload.name[:60]!r}: the workload can't be written: {error}.") from error


def header(workload: Workload) -> dict[str, Any]:
    """What the first line says of the rest."""
    return {
        "format": FORMAT, "version": VERSION, "name": workload.name, "attempts": len(workload),
        "workload_sha256": workload.sha256,
    }  # fmt: skip


def write_workload(workload: Workload, path: Path) -> None:
    """Write a workload whole, or leave what was there. The same workload gives the same bytes.

    Raises
    ------
    SchedulingError : for another ending than .jsonl, .jsonl.gz or .parquet, and for .parquet without
    pyarrow.
    """
    ending = next((ending for ending in ENDINGS if path.name.endswith(ending)), None)
    if ending is None:
        raise SchedulingError(f"{path.name}: expected a name that ends in {', '.join(ENDINGS)}.")
    if ending == ".parquet":
        plain = _plain(workload)
        content = parquet.written(header(plain), [attempt.row() for attempt in plain.attempts], path.name)
    else:
        content = lines(workload)
        # No time and no name inside, so that the archive depends on its content alone.
        content = gzip.compress(content, mtime=0) if ending == ".jsonl.gz" else content
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(file.fileno(), 0o666 & ~_umask())  # as any file is made; a temporary one is private
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read(records: Sequence[Document | Rejected], name: str, collected: Collector) -> Import:
    """The workload of a compact file. Lines that can't be taken are set aside, and ranks close up.

    Raises
    ------
    SchedulingError : where the first line is no header of this version.
    """
    first = records[0]
    if isinstance(first, Rejected):
        raise SchedulingError(f"{name}: the first line is no header, expected one with format {FORMAT!r}.")
    head = Fields(first.value, first.where)
    if not recognises(head.value):
        raise SchedulingError(f"{name}: the first line is no header, expected one with format {FORMAT!r}.")
    version = head.value.get("version")
    if version != VERSION or isinstance(version, bool):
        raise SchedulingError(f"{head.what('version')} is {shown(version)}, expected {VERSION}.")
    title = head.text("name")
    workload = whole(records[1:], title, attempt_of, collected)
    if head.value.get("workload_sha256") != workload.workload.sha256:
        collected.reject(
            first.where,
            f"{first.where}: the header speaks of {shown(head.value.get('attempts'))} attempts with another "
            f"hash than the {len(workload.workload)} that could be read, so lines are lost or changed.",
            first.raw,
        )
    return replace(workload, rejected=tuple(collected.rejected))


def whole(
    records: Sequence[Document | Rejected],
    name: str,
    attempt: Callable[[Document], Attempt],
    collected: Collector,
) -> Import:
    """The workload of attempts that stand whole in their records, whose ranks have to rise."""
    kept: list[Attempt] = []
    sizes: dict[str, int] = {}
    ids: set[str] = set()
    for record in records:
        if isinstance(record, Rejected):
            collected.rejected.append(record)
            continue
        try:
            found = attempt(record)
            _check(found, record.where, kept, ids, sizes)
        except SchedulingError as error:
            collected.reject(record.where, str(error), record.raw)
            continue
        ids.add(found.id)
        sizes.setdefault(found.image, found.image_kib)
        kept.append(found)
    moved = sum(found.rank != rank for rank, found in enumerate(kept))
    if moved:
        collected.notes.append(f"{name}: {moved} ranks are renumbered, since those before them are missing.")
    return of_attempts(name, kept, collected)


def attempt_of(record: Document) -> Attempt:
    """The attempt of a line."""
    return attempt_from_row(Fields(record.value, record.where).value, record.where)


def _check(
    found: Attempt, where: str, kept: Sequence[Attempt], ids: set[str], sizes: Mapping[str, int]
) -> None:
    if found.id in ids:
        raise SchedulingError(f"{where}: attempt {shown(found.id)} stands above too, expected each id once.")
    if kept and found.rank <= kept[-1].rank:
        raise SchedulingError(f"{where}: rank is {found.rank}, expected more than {kept[-1].rank} above it.")
    if sizes.get(found.image, found.image_kib) != found.image_kib:
        raise SchedulingError(
            f"{where}: image {shown(found.image)} has {found.image_kib} KiB here and {sizes[found.image]} "
            f"KiB above, expected one size."
        )


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _plain(workload: Workload) -> Workload:
    """The same workload with scores as floats, as a reader gives them: 1 and 1.0 are spelt alike."""
    floats = [replace(a, score=None if a.score is None else float(a.score)) for a in workload.attempts]
    return Workload(workload.name, tuple(floats))
