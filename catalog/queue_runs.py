"""Folders of queueing runs: one trace on one cluster under several policies.

runs/<UTC time>-queue/
    request.json       command, parameters, inputs with SHA-256, code version and commit, mark
    trace.csv          the jobs as they were scheduled, deadlines among them, in the compact form
    policies/01-NAME/  for each policy that could be run
        jobs.csv       one row for each job: when it started and ended, how long it ran and waited
        decisions.csv  every start, preemption, resumption and end, as the checker accepted it
    comparison.csv     one row for each policy: every figure
    result.json        all that was told, with the SHA-256 of each decisions.csv
    charts/            Vega-Lite specifications and pictures
    run.json           written last: times, and the SHA-256 of each file. Without it the run isn't whole.

All but request.json and run.json are the same bytes for the same request.
"""

from __future__ import annotations

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

COMMAND = "queue"
TRACE, COMPARISON, POLICIES = "trace.csv", "comparison.csv", "policies"
JOBS, DECISIONS = "jobs.csv", "decisions.csv"
NEEDED = (REQUEST, TRACE, COMPARISON, RESULT)
"""The files that every run has, and its seal speaks of."""


@dataclass(frozen=True)
class QueueRun:
    """A run that has ended, read back with every file's hash checked."""

    folder: Path
    request: Mapping[str, Any]
    result: Mapping[str, Any]
    rows: Mapping[str, Mapping[str, str]]
    files: Mapping[str, str]

    @property
    def same(self) -> Mapping[str, str]:
        """The hashes of the files that the same request gives again."""
        return {name: value for name, value in self.files.items() if name != REQUEST}


def end(
    folder: Path,
    trace: str,
    result: Mapping[str, Any],
    comparison: Sequence[Mapping[str, Any]],
    records: Mapping[str, tuple[Sequence[Mapping[str, Any]], str]],
    charts: Mapping[str, Mapping[str, Any]],
) -> None:
    """Write what came of a run, its seal last.

    trace : in the compact form. comparison : a row for each policy, its name first. records : by the name of
    a policy's folder the rows of its jobs, and its log of decisions.
    """
    write(folder / TRACE, trace)
    for name, (jobs, decisions) in records.items():
        (folder / POLICIES / name).mkdir(parents=True)
        write(folder / POLICIES / name / JOBS, as_csv(jobs))
        write(folder / POLICIES / name / DECISIONS, decisions)
    write(folder / COMPARISON, as_csv(comparison))
    write(folder / RESULT, as_json(result))
    write_charts(folder, charts)
    seal(folder)


def read_run(folder: Path) -> QueueRun:
    """A run that has ended. Raises CatalogError where it hasn't, or a file isn't what it was."""
    request = request_of(folder)
    if request.get("command") != COMMAND:
        raise CatalogError(f"{folder} is a run of `{request.get('command')}`, expected one of `{COMMAND}`")
    files = sealed_files(folder, NEEDED, "ask for it again")
    rows = {row["name"]: row for row in read_table(folder / COMPARISON)}
    return QueueRun(folder, request, read_object(folder, RESULT), rows, files)
