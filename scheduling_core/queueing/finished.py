"""Finished cells of sweeps in a file: one line of JSON each, whole or not there."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.cells import Result, key_of
from scheduling_core.queueing.metrics import read_metrics

BEGINNING = b'{"key": "'
"""Of every line."""


class Finished:
    """A file of results by key, of any number of sweeps.

    A process that is killed while it writes leaves a line without an end; it is cut off when the file is
    opened again, and its cell runs again.

    Raises
    ------
    SchedulingError : where the file can't be read or written, or isn't one of these.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.results: dict[str, Result] = {}
        whole = self._read()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
            if whole is not None:
                os.truncate(path, whole)
        except OSError as error:
            raise SchedulingError(f"{path} can't be written: {error}.") from error

    def add(self, result: Result) -> None:
        """One more line, on the disk before this returns."""
        line = (json.dumps(_row(result), allow_nan=False) + "\n").encode()
        try:
            while line:
                line = line[os.write(self._file, line) :]
            os.fsync(self._file)
        except OSError as error:
            raise SchedulingError(f"{self.path} can't be written: {error}; earlier lines stay.") from error
        self.results[result.key] = result

    def close(self) -> None:
        """Nothing more is added."""
        os.close(self._file)

    def _read(self) -> int | None:
        """Take in what is there; where whole lines end if something follows them."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise SchedulingError(f"{self.path} can't be read: {error}.") from error
        *lines, rest = content.split(b"\n")
        for number, line in enumerate(lines, 1):
            result = self._result(number, line)
            self.results[result.key] = result
        if not rest:
            return None
        if not rest.startswith(BEGINNING[: len(rest)]):
            raise self._foreign(len(lines) + 1, "it has no end")
        return len(content) - len(rest)

    def _result(self, number: int, line: bytes) -> Result:
        try:
            return _result(json.loads(line))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise self._foreign(number, str(error) or repr(error)) from error

    def _foreign(self, number: int, why: str) -> SchedulingError:
        return SchedulingError(
            f"{self.path}, line {number}: no finished cell ({why.rstrip('.')}), expected a line that a sweep "
            "wrote."
        )


def _row(result: Result) -> dict[str, Any]:
    return {
        "key": result.key, "request": result.request, "sha256": result.sha256, "error": result.error,
        "metrics": None if result.metrics is None else result.metrics.exact(),
    }  # fmt: skip


def _result(row: Mapping[str, Any]) -> Result:
    request, told = row["request"], row["metrics"]
    if key_of(request) != row["key"]:
        raise ValueError("its key isn't that of its request")
    if (told is None) == (row["error"] is None):
        raise ValueError("it has neither metrics nor an error, or both")
    return Result(
        row["key"], request, None if told is None else read_metrics(told), row["sha256"], row["error"]
    )
