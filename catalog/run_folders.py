"""What every folder of a run has: a request, files, charts, and a seal that is written last.

A run is begun with its request, and whole once `run.json` is there, which holds the SHA-256 of every other
file. What is in between, and which files the same request gives again, each kind of run says for itself:
`schedule_runs` for admission, `queue_runs` for queueing.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol

from catalog.code_version import code_version
from catalog.errors import CatalogError

FORMAT = 1
MARKS = ("canonical", "historical")
REQUEST, RUN, RESULT = "request.json", "run.json", "result.json"


class Run(Protocol):
    """A run that has ended, as `compare` sees it: rows are figures by name, same the hashes to be equal."""

    @property
    def folder(self) -> Path: ...
    @property
    def request(self) -> Mapping[str, Any]: ...
    @property
    def rows(self) -> Mapping[str, Mapping[str, str]]: ...
    @property
    def same(self) -> Mapping[str, str]: ...


def begin(
    folder: Path, name: str, command: str, parameters: Mapping[str, Any], inputs: Sequence[Mapping[str, Any]],
    mark: str = "canonical",
) -> Path:  # fmt: skip
    """A new run's folder with its request in it, so that it can be gone on with.

    Raises CatalogError where the folder can't be made.
    """
    version, commit = code_version()
    asked = datetime.now(UTC)
    request = {
        "format": FORMAT, "command": command, "parameters": dict(parameters), "inputs": list(inputs),
        "mark": mark, "code_version": version, "git_commit": commit, "asked_at": _written(asked),
        "python": platform.python_version(), "packages": _packages(),
    }  # fmt: skip
    stem = f"{asked:%Y%m%dT%H%M%SZ}-{name}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number in range(1, 1000):
            made = folder / (stem if number == 1 else f"{stem}-{number}")
            try:
                made.mkdir()
            except FileExistsError:
                continue
            write(made / REQUEST, as_json(request))
            return made
    except OSError as error:
        raise CatalogError(f"can't write in {folder}: {(error.strerror or str(error)).lower()}") from error
    raise CatalogError(f"{folder} has too many runs of this second; try again")


def request_of(folder: Path) -> dict[str, Any]:
    """What an unfinished or finished run was asked. Raises CatalogError where the folder is no run."""
    return read_object(folder, REQUEST)


def write_charts(folder: Path, charts: Mapping[str, Mapping[str, Any]]) -> None:
    """Each Vega-Lite specification, and the picture that it draws."""
    if charts:
        (folder / "charts").mkdir(exist_ok=True)
    for name, spec in charts.items():
        write(folder / "charts" / f"{name}.vl.json", as_json(spec))
        write(folder / "charts" / f"{name}.svg", _drawn(spec))


def seal(folder: Path, leave_out: Sequence[str] = ()) -> None:
    """Write the hash of every file that is there, but those in folders that are left out."""
    files = {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != RUN and not set(leave_out).intersection(path.parts)
    }
    write(folder / RUN, as_json({"format": FORMAT, "ended_at": _written(datetime.now(UTC)), "files": files}))


def sealed_files(folder: Path, needed: Sequence[str], go_on: str) -> dict[str, str]:
    """Every file of a run by its hash, after comparing each. go_on : what to do where it hasn't ended.

    Raises CatalogError where it hasn't, or a file isn't what it was.
    """
    if not (folder / RUN).exists():
        raise CatalogError(f"{folder} hasn't ended; {go_on}")
    files = read_object(folder, RUN).get("files")
    lacking = [n for n in needed if not isinstance(files, dict) or n not in files]
    if lacking or not isinstance(files, dict):
        raise CatalogError(f"{folder / RUN} says nothing of {lacking[0]}: the run isn't what it was")
    for name, expected in files.items():
        path = folder / name
        found = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None
        if found != expected:
            state = "is missing" if found is None else f"has SHA-256 {found[:12]}..."
            raise CatalogError(f"{path} {state}, expected {expected[:12]}...: the run isn't what it was")
    return files


def compare(one: Run, other: Run) -> dict[str, Any]:
    """Where two runs differ: in what was asked, in bytes, and row by row in every figure.

    Rows are matched by name; figures are compared as they are printed.
    """
    a, b = one.rows, other.rows
    asked = [
        {"what": name, "one": one.request.get(name), "other": other.request.get(name)}
        for name in ("command", "parameters", "inputs", "mark", "code_version", "git_commit", "packages")
        if one.request.get(name) != other.request.get(name)
    ]
    figures = [
        {"schedule": name, "figure": key, "one": a[name].get(key), "other": b[name].get(key)}
        for name in a if name in b
        for key in dict.fromkeys([*a[name], *b[name]])
        if a[name].get(key) != b[name].get(key)
    ]  # fmt: skip
    return {
        "one": str(one.folder), "other": str(other.folder), "identical": one.same == other.same,
        "asked": asked, "figures": figures,
        "only_one": [name for name in a if name not in b],
        "only_other": [name for name in b if name not in a],
    }  # fmt: skip


def read_object(folder: Path, name: str) -> dict[str, Any]:
    """A JSON object of a run. Raises CatalogError for anything else."""
    try:
        found = json.loads((folder / name).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CatalogError(f"{folder} is no folder of a run: it has no {name}") from None
    except (OSError, ValueError) as error:
        raise CatalogError(f"{folder / name} can't be read: {error}") from error
    if not isinstance(found, dict):
        raise CatalogError(f"{folder / name} holds no object")
    return found


def read_table(path: Path) -> tuple[dict[str, str], ...]:
    """The rows of a table that `as_csv` wrote."""
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def write(path: Path, text: str) -> None:
    """A file that appears whole, on the disk before this returns."""
    building = path.with_name(f".{path.name}.new")
    with building.open("w", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(building, path)


def as_json(value: Any) -> str:
    """The same value, the same text."""
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows with the same keys, as a table; None is an empty cell."""
    text = io.StringIO()
    if rows:
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({k: "" if v is None else v for k, v in row.items()} for row in rows)
    return text.getvalue()


def _drawn(spec: Mapping[str, Any]) -> str:
    import vl_convert

    return str(vl_convert.vegalite_to_svg(dict(spec), allowed_base_urls=[]))


def _packages() -> dict[str, str]:
    found = {}
    for name in ("numpy", "numba"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _written(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
