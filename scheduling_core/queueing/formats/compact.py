"""Our own form: a comment line with what holds for all, a header, and one job a line, in ticks.

What is written comes back the same, in every field. A text that is more than plain characters stands as JSON,
and so each job is on one line.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.formats.lines import Line, Source
from scheduling_core.queueing.formats.numbers import is_unicode, shown
from scheduling_core.queueing.formats.records import Contents, Format, Found, Options, Rejected
from scheduling_core.queueing.formats.table import cells_of
from scheduling_core.queueing.jobs import NEVER, Job, Trace

MARK = "# queueing trace 1 "
COLUMNS = ("id", "submit", "gpus", "duration", "deadline", "gpu_type", "model", "user")
QUOTE = '"'
TICK = re.compile("[0-9]{1,99}(?:/[0-9]{1,99})?")


def write_trace(trace: Trace) -> str:
    """The text of a trace; the same trace gives the same text.

    Raises
    ------
    SchedulingError : for a trace without jobs, or with a number that doesn't fit 64 bits or a text that isn't
    Unicode: it couldn't be read again.
    """
    if not len(trace):
        raise SchedulingError(f"{trace.name}: a trace with 0 jobs isn't written, expected at least one.")
    if not all(map(is_unicode, (trace.name, trace.duration_means, *trace.notes))):
        raise SchedulingError(f"{trace.name!r}: a text of the trace isn't Unicode, expected one that is.")
    head = {
        "name": trace.name, "tick": str(trace.tick), "duration_means": trace.duration_means,
        "synthetic": trace.synthetic, "notes": list(trace.notes),
    }  # fmt: skip
    text = io.StringIO()
    text.write(f"{MARK}{json.dumps(head)}\n")
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    rows.writerows(_row(job) for job in trace.jobs)
    return text.getvalue()


def fits(head: list[str]) -> bool:
    """Whether the first line is that of this form."""
    return bool(head) and head[0].startswith(MARK)


def read(source: Source, options: Options) -> Contents:
    """The jobs of a trace, with all that its first line says.

    Raises
    ------
    SchedulingError : where the first two lines aren't those of this form.
    """
    lines = source.lines()
    first, header = next(lines, None), next(lines, None)
    if not isinstance(first, Line) or not first.text.startswith(MARK):
        raise SchedulingError(f"{source.name} line 1: the first line is no head, expected {MARK!r} and JSON.")
    head = _head(first)
    if not isinstance(header, Line) or tuple(cells_of(header.text)) != COLUMNS:
        raise SchedulingError(
            f"{source.name} line 2: the columns aren't {', '.join(COLUMNS)}, expected these."
        )
    return Contents(
        _jobs(lines), head["tick"], head["duration_means"], tuple(head["notes"]), name=head["name"],
        synthetic=head["synthetic"],
    )  # fmt: skip


def _row(job: Job) -> list[str]:
    numbers = (job.submit, job.gpus, job.duration, job.deadline)
    if any(number is not None and number >= NEVER for number in numbers):
        raise SchedulingError(
            f"Job {shown(job.id)}: a number doesn't fit 64 bits, expected less than {NEVER}."
        )
    plain = ["" if number is None else str(number) for number in numbers]
    return [_written(job.id), *plain, *(_written(text) for text in (job.gpu_type, job.model, job.user))]


def _written(text: str | None) -> str:
    """A text as a cell: itself where it is plain, else JSON; empty for None."""
    if text is None:
        return ""
    if not is_unicode(text):
        raise SchedulingError(f"{shown(text)} isn't Unicode, expected a text that is.")
    plain = bool(text) and text.isprintable() and text == text.strip() and not text.startswith(QUOTE)
    return text if plain else json.dumps(text)


def _read(cell: str, what: str) -> str | None:
    if not cell.startswith(QUOTE):
        return cell or None
    try:
        found = json.loads(cell)
    except ValueError:
        found = None
    if not isinstance(found, str) or not is_unicode(found):
        raise SchedulingError(f"{what} is {shown(cell)}, expected a text.")
    return found


def _head(line: Line) -> dict[str, Any]:
    expected = "expected JSON with name, tick, duration_means, synthetic and notes"
    try:
        head = json.loads(line.text.removeprefix(MARK))
        tick = Fraction(head["tick"] if TICK.fullmatch(head["tick"]) else 0)
        texts = (head["name"], head["duration_means"], *head["notes"])
        whole = isinstance(head["synthetic"], bool) and isinstance(head["notes"], list)
    except (ValueError, TypeError, KeyError, ZeroDivisionError, RecursionError) as error:
        raise SchedulingError(f"{line.where}: the head can't be read, {expected}.") from error
    good = all(isinstance(text, str) and is_unicode(text) for text in texts)
    if tick <= 0 or not whole or not good:
        raise SchedulingError(f"{line.where}: the head has a value of another kind, {expected}.")
    return {**head, "tick": tick}


def _jobs(lines: Iterator[Line | Rejected]) -> Iterator[Found | Rejected]:
    for line in lines:
        if isinstance(line, Rejected):
            yield line
            continue
        try:
            yield _job(line, cells_of(line.text))
        except SchedulingError as error:
            yield Rejected(line.where, str(error), line.text)
        except ValueError as error:
            yield Rejected(line.where, f"{line.where}: the quotes are wrong ({error}).", line.text)


def _job(line: Line, cells: Sequence[str]) -> Found:
    if len(cells) != len(COLUMNS):
        raise SchedulingError(f"{line.where}: {len(cells)} cells, expected {len(COLUMNS)}.")
    named = dict(zip(COLUMNS, cells, strict=True))
    job_id = _read(named["id"], f"{line.where}: id")
    if job_id is None:
        raise SchedulingError(f"{line.where}: id is empty, expected a text.")
    kind, model, user = (_read(named[column], f"{line.where}: {column}") for column in COLUMNS[5:])
    return Found(
        line.where, line.text, job_id, _whole(line, named, "submit", 0), _whole(line, named, "gpus", 1),
        _whole(line, named, "duration", 1),
        _whole(line, named, "deadline", 1) if named["deadline"] else None,
        kind, model, user,
    )  # fmt: skip


def _whole(line: Line, named: dict[str, str], column: str, least: int) -> int:
    text = named[column]
    if not (text.isascii() and text.isdigit() and len(text) < 20 and least <= int(text) < NEVER):
        raise SchedulingError(
            f"{line.where}: {column} is {shown(text)}, expected a whole number from {least}."
        )
    return int(text)


FORMAT = Format("compact", "the compact form", read, fits)
