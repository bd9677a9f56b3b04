"""Lines of a log of decisions: time, job, action, place."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass

from scheduling_core.queueing.check.findings import Finding, Kind

COLUMNS = ["time", "job", "action", "place"]
ACTIONS = ("end", "preempt", "start", "resume")
"""In the order in which they come at one time."""

LONGEST_LINE = 100_000
"""Characters. A limit of the log's own: that of the csv module is the process's, and anybody may move it."""

_WHOLE = re.compile("0|[1-9][0-9]{0,18}")
_PLACE = re.compile("(0|[1-9][0-9]{0,8}):([1-9][0-9]{0,8})")


@dataclass(frozen=True)
class Line:
    """One decision; place is GPUs by node, None where the log doesn't say."""

    number: int
    time: int
    job: str
    action: str
    place: dict[int, int] | None


def read_log(text: str, found: list[Finding]) -> Iterator[Line]:
    """The lines in their order; what can't be read is left out, and told in `found`."""
    rows = csv.reader(_short_enough(text))
    try:
        header = next(rows, None)
        if header != COLUMNS:
            sentence = f"The log begins with {header!r}, expected the columns {', '.join(COLUMNS)}."
            found.append(Finding(Kind.FORM, None, None, sentence))
            return
        for row in rows:
            line = _line(rows.line_num, row, found)
            if line is not None:
                yield line
    except _TooLong as error:
        sentence = f"Line {rows.line_num + 1} can't be read as CSV ({error}), nor what follows."
        found.append(Finding(Kind.FORM, None, None, sentence))
    except csv.Error as error:
        sentence = f"Line {rows.line_num} can't be read as CSV ({error}), nor what follows."
        found.append(Finding(Kind.FORM, None, None, sentence))


class _TooLong(Exception):
    """A line that no log has; the reader hasn't counted it yet."""


def _short_enough(text: str) -> Iterator[str]:
    for line in io.StringIO(text, newline=""):
        if len(line) > LONGEST_LINE:
            raise _TooLong(f"{len(line):,} characters, expected at most {LONGEST_LINE:,}")
        yield line


def _line(number: int, row: list[str], found: list[Finding]) -> Line | None:
    if len(row) != len(COLUMNS):
        named = row[1] if len(row) > 1 else None
        where = f"Line {number}" if named is None else f"Line {number}, job {named}"
        sentence = f"{where}: {len(row)} fields, expected {len(COLUMNS)}."
        found.append(Finding(Kind.FORM, named, None, sentence))
        return None
    time, job, action, place = row
    if _WHOLE.fullmatch(time) is None:
        sentence = f"Line {number}, job {job}: the time is {time!r}, expected a whole number of ticks."
        found.append(Finding(Kind.FORM, job, None, sentence))
        return None
    tick = int(time)
    if action not in ACTIONS:
        sentence = f"At {tick} job {job}: there is no action {action!r}, expected {', '.join(ACTIONS)}."
        found.append(Finding(Kind.UNKNOWN_ACTION, job, tick, sentence))
        return None
    places = _place(place)
    if places is None or (places and action in ("end", "preempt")):
        expected = "none at an end or a preemption" if places else '"node:GPUs node:GPUs", each node once'
        sentence = f"At {tick} job {job}: its place is {place!r}, expected {expected}."
        found.append(Finding(Kind.FORM, job, tick, sentence))
        return None
    return Line(number, tick, job, action, places or None)


def _place(text: str) -> dict[int, int] | None:
    """GPUs by node; empty for an empty text, None for one that is no place."""
    parts = text.split(" ") if text else []
    matches = [match for part in parts if (match := _PLACE.fullmatch(part))]
    place = {int(match[1]): int(match[2]) for match in matches}
    return place if len(place) == len(parts) else None
