"""Opens a file or folder, finds out by its content what it is, and gives it to its reader."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from scheduling_core.admission.formats import (
    atif,
    compact,
    deepswe_like,
    harbor,
    mini_swe,
    parquet,
    r2e_gym,
    swe_agent,
)
from scheduling_core.admission.formats.documents import Document, Rejected, documents, read_bytes
from scheduling_core.admission.formats.fields import stem
from scheduling_core.admission.formats.records import Assumptions, Collector, Import, Observed, assemble
from scheduling_core.admission.formats.tasks import FILE, Tasks, read_tasks
from scheduling_core.errors import SchedulingError

LOGS: tuple[tuple[str, Callable[[Mapping[str, Any]], bool], Callable[[Document], Observed]], ...] = tuple(
    (module.NAME, module.recognises, module.observe) for module in (atif, mini_swe, r2e_gym, swe_agent)
)
"""Logs of one attempt a document: name, how it is recognised, how it is read."""

WHOLE = (compact, deepswe_like)
"""Files that are a workload as they stand."""

NAMES = (harbor.NAME, *(name for name, _, _ in LOGS), *(module.NAME for module in WHOLE))


def read_workload(path: Path, assumptions: Assumptions | None = None, tasks: Path | None = None) -> Import:
    """Read a file, or all below a folder, in whichever of the formats it is.

    assumptions : quotas for attempts for which no file gives them; without it they can't be replayed.
    tasks : a folder with task.toml files; those below `path` are found by themselves.

    Raises
    ------
    SchedulingError : where nothing can be read: no such path, an empty file, no known format.
    """
    if not path.exists():
        raise SchedulingError(f"{path}: there is no such file or folder.")
    if tasks is not None and not tasks.is_dir():
        raise SchedulingError(f"{tasks}: there is no such folder, expected one with {FILE} files.")
    collected = Collector()
    folders = [folder for folder in (path, tasks) if folder is not None and folder.is_dir()]
    known = read_tasks(folders, collected)
    if path.is_dir():
        return _folder(path, known, collected, assumptions)
    content, source = read_bytes(path, path.name)
    collected.sources.append(source)
    records = _records(content, path.name)
    module = next((m for m in WHOLE if any(_is(m.recognises, record) for record in records)), None)
    if module is compact:
        return compact.read(records, path.name, collected)
    if module is deepswe_like:
        return compact.whole(records, stem(path.name), deepswe_like.attempt, collected)
    _add_file(records, path.name, known, collected)
    return assemble(stem(path.name), collected, assumptions)


def _folder(path: Path, known: Tasks, collected: Collector, assumptions: Assumptions | None) -> Import:
    name = path.resolve().name or "workload"
    if harbor.holds_trials(path):
        harbor.add_tree(path, known, collected)
        return assemble(name, collected, assumptions)
    for file in sorted(item for item in path.rglob("*") if item.is_file() and item.name != FILE):
        where = file.relative_to(path).as_posix()
        try:
            content, source = read_bytes(file, where)
            _add_file(_records(content, where), where, known, collected)
            collected.sources.append(source)
        except SchedulingError as error:
            collected.notes.append(f"Left alone: {error}")
    if not collected.observed and not collected.rejected:
        raise SchedulingError(f"{path.name}: no file below the folder is one of {', '.join(NAMES)}.")
    return assemble(name, collected, assumptions)


def _records(content: bytes, name: str) -> list[Document | Rejected]:
    if content[:4] == parquet.MAGIC:
        return parquet.records(content, name)
    return documents(content, name)


def _is(recognises: Callable[[Any], bool], record: Document | Rejected) -> bool:
    return isinstance(record, Document) and isinstance(record.value, dict) and recognises(record.value)


def _add_file(records: Sequence[Document | Rejected], name: str, known: Tasks, collected: Collector) -> None:
    """Take the attempts of a file of logs, all in the format of the first that is recognised."""
    add: Callable[[Document], None] | None = None
    if any(_is(harbor.recognises, record) for record in records):

        def add(record: Document) -> None:
            harbor.add(record, known, collected)

    for _, recognises, observe in LOGS:
        if add is None and any(_is(recognises, record) for record in records):

            def add(record: Document, observe: Callable[[Document], Observed] = observe) -> None:
                collected.add(observe(record), record.raw)

    if add is None:
        first = next((record.reason for record in records if isinstance(record, Rejected)), None)
        raise SchedulingError(first or f"{name}: expected one of {', '.join(NAMES)}.")
    for record in records:
        if isinstance(record, Rejected):
            collected.rejected.append(record)
            continue
        try:
            add(record)
        except SchedulingError as error:
            collected.reject(record.where, str(error), record.raw)
