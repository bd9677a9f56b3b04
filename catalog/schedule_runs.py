"""Folders of schedule runs: what was asked, of which bytes, by which code, and what came of it.

runs/<UTC time>-<name>/
    request.json         command, parameters, seed, inputs with SHA-256, code version and commit, mark
    workload.jsonl.gz    the attempts as they were scheduled, in the compact form
    checkpoints/         of a search, until it ends
    schedules.jsonl      every complete schedule, with its hash
    joint_schedules.csv  one row for each: name, hash, what the validator says, every figure
    result.json          tables and figures; with the two above the same bytes for the same request
    charts/              Vega-Lite specifications and pictures
    run.json             written last: times, and the SHA-256 of each file. Without it the run isn't whole.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from catalog.code_version import code_version
from catalog.errors import CatalogError

FORMAT = 1
MARKS = ("canonical", "historical")
REQUEST, RUN, RESULT = "request.json", "run.json", "result.json"
SCHEDULES, JOINT, WORKLOAD = "schedules.jsonl", "joint_schedules.csv", "workload.jsonl.gz"
NEEDED = (REQUEST, WORKLOAD, SCHEDULES, JOINT, RESULT)
"""The files that every run has, and its seal speaks of."""
SAME = (SCHEDULES, JOINT, RESULT)
"""The files that the same request gives byte for byte."""


@dataclass(frozen=True)
class ScheduleRun:
    """A run that has ended, read back with every file's hash checked."""

    folder: Path
    request: Mapping[str, Any]
    result: Mapping[str, Any]
    schedules: tuple[Mapping[str, Any], ...]
    joint: tuple[Mapping[str, str], ...]
    files: Mapping[str, str]

    @property
    def same(self) -> Mapping[str, str]:
        """The hashes of the files that the same request gives again."""
        return {name: self.files[name] for name in SAME if name in self.files}


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
            _write(made / REQUEST, _json(request))
            return made
    except OSError as error:
        raise CatalogError(f"can't write in {folder}: {(error.strerror or str(error)).lower()}") from error
    raise CatalogError(f"{folder} has too many runs of this second; try again")


def request_of(folder: Path) -> dict[str, Any]:
    """What an unfinished or finished run was asked. Raises CatalogError where the folder is no run."""
    return _read(folder, REQUEST)


def end(
    folder: Path,
    result: Mapping[str, Any],
    schedules: Sequence[tuple[str, Mapping[str, Any]]],
    joint: Sequence[Mapping[str, Any]],
    charts: Mapping[str, Mapping[str, Any]],
) -> None:
    """Write what came of a run, its seal last; an interrupted one can be asked again.

    schedules : (name, row of the schedule). joint : one mapping for each, all with the same keys.
    """
    lines = [json.dumps({"name": name, **row}, sort_keys=True, ensure_ascii=False) for name, row in schedules]
    _write(folder / SCHEDULES, "".join(line + "\n" for line in lines))
    _write(folder / JOINT, _csv(joint))
    _write(folder / RESULT, _json(result))
    if charts:
        (folder / "charts").mkdir(exist_ok=True)
        for name, spec in charts.items():
            _write(folder / "charts" / f"{name}.vl.json", _json(spec))
            _write(folder / "charts" / f"{name}.svg", _drawn(spec))
    files = {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != RUN and "checkpoints" not in path.parts
    }
    _write(folder / RUN, _json({"format": FORMAT, "ended_at": _written(datetime.now(UTC)), "files": files}))
    for path in sorted((folder / "checkpoints").glob("*")):
        path.unlink()
    if (folder / "checkpoints").is_dir():
        (folder / "checkpoints").rmdir()


def read_run(folder: Path) -> ScheduleRun:
    """A run that has ended. Raises CatalogError where it hasn't, or a file isn't what it was."""
    if not folder.is_dir():
        raise CatalogError(f"{folder} is no folder of a run")
    request = _read(folder, REQUEST)
    if not (folder / RUN).exists():
        raise CatalogError(
            f"{folder} hasn't ended; `proofshelf schedule admission resume {folder}` goes on with a search"
        )
    files = _read(folder, RUN).get("files")
    lacking = [n for n in NEEDED if not isinstance(files, dict) or n not in files]
    if lacking or not isinstance(files, dict):
        raise CatalogError(f"{folder / RUN} says nothing of {lacking[0]}: the run isn't what it was")
    for name, expected in files.items():
        path = folder / name
        found = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None
        if found != expected:
            state = "is missing" if found is None else f"has SHA-256 {found[:12]}..."
            raise CatalogError(f"{path} {state}, expected {expected[:12]}...: the run isn't what it was")
    with (folder / JOINT).open(encoding="utf-8", newline="") as file:
        joint = tuple(csv.DictReader(file))
    lines = (folder / SCHEDULES).read_text(encoding="utf-8").splitlines()
    return ScheduleRun(
        folder, request, _read(folder, RESULT), tuple(json.loads(line) for line in lines), joint, files
    )


def compare(one: ScheduleRun, other: ScheduleRun) -> dict[str, Any]:
    """Where two runs differ: in what was asked, in bytes, and schedule by schedule in every figure.

    Schedules are matched by name; figures are compared as they are printed.
    """
    a, b = ({row["schedule"]: row for row in run.joint} for run in (one, other))
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


def _csv(rows: Sequence[Mapping[str, Any]]) -> str:
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


def _read(folder: Path, name: str) -> dict[str, Any]:
    try:
        found = json.loads((folder / name).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CatalogError(f"{folder} is no folder of a run: it has no {name}") from None
    except (OSError, ValueError) as error:
        raise CatalogError(f"{folder / name} can't be read: {error}") from error
    if not isinstance(found, dict):
        raise CatalogError(f"{folder / name} holds no object")
    return found


def _write(path: Path, text: str) -> None:
    building = path.with_name(f".{path.name}.new")
    with building.open("w", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(building, path)


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def _written(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
