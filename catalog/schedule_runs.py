"""Folders of admission runs: what was asked, of which bytes, by which code, and what came of it.

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

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from catalog.errors import CatalogError
from catalog.run_folders import (
    REQUEST,
    RESULT,
    as_csv,
    as_json,
    read_object,
    read_table,
    request_of,
    seal,
    sealed_files,
    write,
    write_charts,
)

SCHEDULES, JOINT, WORKLOAD = "schedules.jsonl", "joint_schedules.csv", "workload.jsonl.gz"
CHECKPOINTS = "checkpoints"
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
    def rows(self) -> Mapping[str, Mapping[str, str]]:
        """The figures of each complete schedule, by its name."""
        return {row["schedule"]: row for row in self.joint}

    @property
    def same(self) -> Mapping[str, str]:
        """The hashes of the files that the same request gives again."""
        return {name: self.files[name] for name in SAME if name in self.files}


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
    write(folder / SCHEDULES, "".join(line + "\n" for line in lines))
    write(folder / JOINT, as_csv(joint))
    write(folder / RESULT, as_json(result))
    write_charts(folder, charts)
    seal(folder, leave_out=(CHECKPOINTS,))
    for path in sorted((folder / CHECKPOINTS).glob("*")):
        path.unlink()
    if (folder / CHECKPOINTS).is_dir():
        (folder / CHECKPOINTS).rmdir()


def read_run(folder: Path) -> ScheduleRun:
    """A run that has ended. Raises CatalogError where it hasn't, or a file isn't what it was."""
    if not folder.is_dir():
        raise CatalogError(f"{folder} is no folder of a run")
    request = request_of(folder)
    go_on = f"`proofshelf schedule admission resume {folder}` goes on with a search"
    files = sealed_files(folder, NEEDED, go_on)
    lines = (folder / SCHEDULES).read_text(encoding="utf-8").splitlines()
    return ScheduleRun(
        folder, request, read_object(folder, RESULT), tuple(json.loads(line) for line in lines),
        read_table(folder / JOINT), files,
    )  # fmt: skip
