"""Harbor trials as they lie on disk: a folder tree of results, or results packed one a line.

A folder has `<trial>/result.json` with `<trial>/agent/timing.json`, or a trajectory beside it. A job's own
`result.json` lies above them; its times are local ones without a zone, and none of them is read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scheduling_core.admission.formats import atif, mini_swe, trial
from scheduling_core.admission.formats.documents import (
    Document,
    Rejected,
    Source,
    decoded,
    documents,
    parse,
    read_bytes,
)
from scheduling_core.admission.formats.fields import Fields
from scheduling_core.admission.formats.records import Collector
from scheduling_core.admission.formats.tasks import Tasks
from scheduling_core.errors import SchedulingError

NAME = "Harbor trial"
RESULT = "result.json"
TIMING = "timing.json"
CONFIG = "config.json"
OTHERS = (".jsonl", ".jsonl.gz", ".parquet", ".traj")
"""Endings of files that may hold attempts too."""


def recognises(value: dict[str, Any]) -> bool:
    """Whether a document is a trial, alone or packed with its step log."""
    return trial.recognises(value) or ("result" in value and "timing" in value)


def add(document: Document, tasks: Tasks, collected: Collector) -> None:
    """Take a packed trial, or one that stands alone.

    Raises
    ------
    SchedulingError : for a result that can't be understood.
    """
    result, log = document, None
    if not trial.recognises(document.value):
        fields = Fields(document.value, document.where, "a trial, or result and timing")
        result = Document(document.where, document.raw, fields.child("result").value)
        if fields.has("timing"):
            log = Document(f"{document.where}, timing", document.raw, fields.value["timing"])
    collected.add(trial.observe(result, log, tasks, collected), document.raw)


def holds_trials(folder: Path) -> bool:
    """Whether there is a result.json below a folder."""
    return any(RESULT in files for _, _, files in os.walk(folder))


def add_tree(folder: Path, tasks: Tasks, collected: Collector) -> None:
    """Take every trial below a folder, in the order of their paths."""
    for path, files in _folders(folder):
        where = path.relative_to(folder).as_posix()
        place = "" if where == "." else f"{where}/"
        if RESULT not in files:
            collected.notes += [
                f"{place}{file}: left alone, since a folder with {RESULT} is read by its trials."
                for file in sorted(files)
                if file.endswith(OTHERS) and path.name not in ("agent", "verifier")
            ]
            if _is_trial_without_result(path, files):
                sentence = f"{where}: there is no result.json, so how the trial ended isn't known."
                collected.reject(where, sentence, "")
            continue
        result = _one(path / RESULT, f"{place}{RESULT}", collected)
        if result is None:
            continue
        if isinstance(result.value, dict) and not trial.recognises(result.value) and _is_job(result.value):
            collected.notes.append(f"{result.where}: this is the summary of a job, not a trial; left alone.")
            continue
        try:
            log = _log(path / "agent", f"{place}agent", collected)
            collected.add(trial.observe(result, log, tasks, collected), result.raw)
        except SchedulingError as error:
            collected.reject(result.where, str(error), result.raw)


def _folders(folder: Path) -> Iterator[tuple[Path, list[str]]]:
    for top, below, files in os.walk(folder):
        below.sort()
        yield Path(top), files


def _is_trial_without_result(path: Path, files: list[str]) -> bool:
    return (path / "agent" / TIMING).is_file() or (CONFIG in files and "trial.log" in files)


def _is_job(value: dict[str, Any]) -> bool:
    return "n_total_trials" in value or "stats" in value


def _one(path: Path, where: str, collected: Collector) -> Document | None:
    """A file that is one document; None where it isn't, which is then set aside."""
    content = b""
    try:
        content, source = read_bytes(path, where)
        collected.sources.append(source)
        raw = content.decode("utf-8-sig")
        return Document(where, raw, parse(raw))
    except UnicodeDecodeError:
        collected.reject(where, f"{where}: this is no UTF-8.", decoded(content))
    except SchedulingError as error:
        collected.reject(where, str(error), "")
    except ValueError as error:
        collected.reject(where, f"{where}: {error}.", decoded(content))
    return None


def _log(folder: Path, where: str, collected: Collector) -> Document | None:
    """The step log of a trial: TMax's timing, else mini-swe-agent's trajectory, else one in ATIF."""
    if (folder / TIMING).is_file():
        return _one(folder / TIMING, f"{where}/{TIMING}", collected)
    found: list[tuple[int, Document, Source]] = []
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else []:
        content, source = read_bytes(path, f"{where}/{path.name}")
        for item in documents(content, source.path) if content.strip() else []:
            if isinstance(item, Rejected):
                collected.rejected.append(item)
                continue
            if not isinstance(item.value, dict):
                continue
            kind = 0 if mini_swe.recognises(item.value) else 1 if atif.recognises(item.value) else 2
            found.append((kind, item, source))
    usable = [one for one in found if one[0] < 2]
    if not usable:
        return None
    _, log, source = min(usable, key=lambda one: one[0])
    collected.sources.append(source)
    return log
