"""Charts of a package: their specifications, the data inside as tables, and the script that draws them."""

import io
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

from catalog.spreadsheet import csv_writer, inert
from schema.artifact import File

SUFFIX = ".vl.json"
LARGEST_SPEC = 5_000_000
ROWS_SHOWN = 2_000
DEEPEST = 20


@dataclass(frozen=True)
class DataTable:
    """The data of a chart, as a reader without a chart reads it."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Chart:
    """One figure that can be drawn: its file, what it shows, and the same as picture and as files."""

    path: str
    title: str
    description: str | None
    table: DataTable
    picture: str | None
    companions: tuple[str, ...]

    @property
    def shown(self) -> tuple[tuple[str, ...], ...]:
        """The rows that the page prints; all of them are in the CSV file."""
        return self.table.rows[:ROWS_SHOWN]


def is_chart(file: File) -> bool:
    """True for a figure given as a Vega-Lite specification."""
    return file.role == "figure" and file.path.endswith(SUFFIX)


def chart(file: File, spec: Any, listed: tuple[File, ...]) -> Chart:
    """The chart of one file. Files of the same name with another ending are its companions."""
    stem = PurePosixPath(file.path).name.removesuffix(SUFFIX)
    companions = tuple(
        other.path
        for other in listed
        if other.path != file.path and PurePosixPath(other.path).name.split(".")[0] == stem
    )
    picture = next((path for path in companions if path.endswith(".svg")), None)
    spec = spec if isinstance(spec, dict) else {}
    title = (
        _text(spec.get("title")) or file.description or stem.replace("-", " ").replace("_", " ").capitalize()
    )
    described = _text(spec.get("description")) or file.description
    return Chart(
        file.path, title, described if described != title else None, table(spec), picture, companions
    )


def chart_of(name: str, spec: dict[str, Any]) -> Chart:
    """The chart of a specification that stands in no file; `name` takes the place of its path."""
    title = _text(spec.get("title")) or name.replace("-", " ").replace("_", " ").capitalize()
    described = _text(spec.get("description"))
    return Chart(name, title, described if described != title else None, table(spec), None, ())


def _text(value: Any) -> str | None:
    """A Vega-Lite title: a string, lines, or an object that holds one."""
    if isinstance(value, dict):
        value = value.get("text")
    if isinstance(value, list):
        value = " ".join(str(line) for line in value)
    return value if isinstance(value, str) and value.strip() else None


def table(spec: dict[str, Any]) -> DataTable:
    """All rows stored inside a specification, in order, with the columns in the order first met."""
    records = [row for rows in _inline(spec) for row in rows]
    columns = list(dict.fromkeys(name for row in records for name in row))
    rows = tuple(tuple(_cell(row.get(name)) for name in columns) for row in records)
    return DataTable(tuple(columns), rows)


def _inline(node: Any, depth: int = 0) -> list[list[dict[str, Any]]]:
    """Every list of records under `data.values` or `datasets`, each once, outermost first.

    Whatever else stands there, in whatever shape, is passed over: it is somebody's file.
    """
    if not isinstance(node, dict) or depth > DEEPEST:
        return []
    data, named = node.get("data"), node.get("datasets")
    candidates = [data.get("values")] if isinstance(data, dict) else []
    candidates += named.values() if isinstance(named, dict) else []
    found = [rows for rows in candidates if isinstance(rows, list) and all(isinstance(r, dict) for r in rows)]
    inner = [node.get("spec")]
    for key in ("layer", "hconcat", "vconcat", "concat"):
        inner += node[key] if isinstance(node.get(key), list) else []
    for child in inner:
        found += [rows for rows in _inline(child, depth + 1) if rows not in found]
    return found


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def as_csv(data: DataTable) -> bytes:
    """The table as a CSV file, with nothing in it that a spreadsheet would run."""
    out = io.StringIO()
    writer = csv_writer(out)
    writer.writerow([inert(name) for name in data.columns])
    writer.writerows([inert(value) for value in row] for row in data.rows)
    return out.getvalue().encode("utf-8")


@lru_cache(maxsize=1)
def bundle() -> bytes | None:
    """Vega, Vega-Lite and Vega-Embed as one module, made on this machine; None without vl-convert.

    It takes a second or two, so it is made at the first chart and kept for the process.
    """
    try:
        import vl_convert
    except ImportError:
        return None
    return vl_convert.javascript_bundle("export { vegaEmbed };").encode("utf-8")


@lru_cache(maxsize=1)
def can_draw() -> bool:
    """True when the bundle can be made here."""
    from importlib.util import find_spec

    return find_spec("vl_convert") is not None
