"""Parquet files of the compact form, through pyarrow where it is installed.

One column for each field of a line, the header in the schema's metadata; no file needs this to be read
elsewhere, since JSON lines hold the same.
"""

from __future__ import annotations

import importlib
import io
from collections.abc import Mapping, Sequence
from typing import Any

from scheduling_core.admission.attempts import canonical
from scheduling_core.admission.formats.documents import Document, Rejected, parse
from scheduling_core.admission.formats.fields import phrase
from scheduling_core.errors import SchedulingError

MAGIC = b"PAR1"
KEY = b"admission-workload"
WHOLE = ("rank", "release", "cpu_milli", "ram_kib", "disk_kib", "image_kib", "started")
TEXTS = ("id", "task", "image", "time", "cause", "exception", "tenant")


def written(header: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], name: str) -> bytes:
    """The file's bytes. Raises SchedulingError without pyarrow, or where a row doesn't fit."""
    arrow = _pyarrow(name)
    table = importlib.import_module("pyarrow.parquet")
    pair = arrow.struct([("kind", arrow.string()), ("ticks", arrow.int64())])
    schema = arrow.schema(
        [
            *((name, arrow.string()) for name in TEXTS),
            *((name, arrow.int64()) for name in WHOLE),
            ("score", arrow.float64()),
            ("synthetic", arrow.bool_()),
            ("segments", arrow.list_(pair)),
            ("assumed", arrow.list_(arrow.string())),
        ],
        metadata={KEY: canonical(dict(header)).encode()},
    )
    plain = [{**r, "segments": [{"kind": k, "ticks": t} for k, t in r["segments"]]} for r in rows]
    out = io.BytesIO()
    try:
        table.write_table(arrow.Table.from_pylist(plain, schema=schema), out)
    except (arrow.ArrowException, ValueError, TypeError, OverflowError) as error:
        raise SchedulingError(f"{name}: the workload doesn't fit into Parquet: {phrase(error)}.") from error
    return out.getvalue()


def records(content: bytes, name: str) -> list[Document | Rejected]:
    """The header and rows as JSON lines would give them.

    Raises
    ------
    SchedulingError : without pyarrow, or for a file that isn't Parquet of the compact form.
    """
    arrow = _pyarrow(name)
    parquet = importlib.import_module("pyarrow.parquet")
    try:
        table = parquet.read_table(io.BytesIO(content))
        head = parse((table.schema.metadata or {})[KEY].decode())
        rows = table.to_pylist()
    except KeyError as error:
        raise SchedulingError(f"{name}: this Parquet file has no header of the compact form.") from error
    except (arrow.ArrowException, OSError, ValueError) as error:
        raise SchedulingError(f"{name}: this is no Parquet file: {phrase(error)}.") from error
    found: list[Document | Rejected] = [Document(f"{name}, header", canonical(head), head)]
    for count, row in enumerate(rows, 1):
        where = f"{name}, row {count}"
        pairs = row.get("segments")
        if isinstance(pairs, list) and all(isinstance(pair, dict) for pair in pairs):
            row["segments"] = [list(pair.values()) for pair in pairs]
        found.append(Document(where, repr(row), row))
    return found


def _pyarrow(name: str) -> Any:
    try:
        return importlib.import_module("pyarrow")
    except ImportError as error:
        raise SchedulingError(
            f"{name}: Parquet needs the package pyarrow, which isn't installed; JSON lines need nothing."
        ) from error
