"""Microsoft's Philly job log (msr-fiddle/philly-traces, `cluster_job_log`): a JSON list of jobs, with dates.

A job's run time is the sum of its attempts, each from its start to its end; the GPUs are those of the attempt
that held most. Jobs of every status are kept. One without attempts, or with an attempt whose start or end
isn't known (it still ran, or the log has a gap), is rejected.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.formats.lines import BOM, Source
from scheduling_core.queueing.formats.numbers import date_of, is_unicode, shown
from scheduling_core.queueing.formats.records import Contents, Format, Found, Options, Rejected

SEVERAL = "ran in several attempts, whose times are added."
UNLIKE = "held different numbers of GPUs in its attempts; the largest is taken."
BLANK = " \t\r\n"
_BLANKS = re.compile(r"[ \t\r\n]*")


def fits(head: list[str]) -> bool:
    """Whether the file begins as a JSON list."""
    return bool(head) and head[0].lstrip(BLANK).startswith("[")


def read(source: Source, options: Options) -> Contents:
    """The jobs of a log. What stands behind a fault in the JSON can't be read.

    Raises
    ------
    SchedulingError : where the file is no JSON list.
    """
    text = source.content.removeprefix(BOM).decode("utf-8", "surrogateescape")
    if not text.lstrip(BLANK).startswith("["):
        raise SchedulingError(
            f"{source.name}: this is no JSON list, expected one of jobs with submitted_time."
        )
    return Contents(
        _jobs(text, source), Fraction(1),
        "sum over the job's attempts of start to end, however they ended; dates in the file", dates=True,
    )  # fmt: skip


def _jobs(text: str, source: Source) -> Iterator[Found | Rejected]:
    for item in _items(text, source):
        if isinstance(item, Rejected):
            yield item
            continue
        where, raw, value = item
        try:
            yield _job(value, raw, where)
        except SchedulingError as error:
            yield Rejected(where, str(error), escaped(raw))


def _items(text: str, source: Source) -> Iterator[tuple[str, str, Any] | Rejected]:
    """The items of the list, one after the other: each has its line, and those before a fault are kept."""
    decoder = json.JSONDecoder()
    place, counted, line = _past_blanks(text, text.index("[") + 1), 0, 1
    while text[place : place + 1] != "]":
        line, counted = line + text.count("\n", counted, place), place
        where = f"{source.name} line {line}"
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            what = source.fault or "this is no JSON from here on"
            yield Rejected(where, f"{where}: {what}, expected jobs up to a ].", escaped(text[place:]))
            return
        yield where, text[place:end], value
        place = _past_blanks(text, end)
        if text[place : place + 1] == ",":
            place = _past_blanks(text, place + 1)
        elif text[place : place + 1] != "]":
            what = source.fault or f"{shown(text[place : place + 20])} follows a job"
            yield Rejected(where, f"{where}: {what}, expected a comma or a ].", escaped(text[place:]))
            return


def _past_blanks(text: str, place: int) -> int:
    found = _BLANKS.match(text, place)
    return place if found is None else found.end()


def escaped(text: str) -> str:
    """Text in which bytes that aren't UTF-8 are escaped."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _job(value: Any, raw: str, where: str) -> Found:
    if not isinstance(value, dict) or "submitted_time" not in value:
        raise SchedulingError(f"{where}: this is {shown(value)}, expected a job with submitted_time.")
    attempts = value.get("attempts")
    if not isinstance(attempts, list) or not attempts:
        raise SchedulingError(f"{where}: the job has no attempts, so it never ran; expected at least one.")
    pairs = [_attempt(attempt, f"{where}: attempt {n}") for n, attempt in enumerate(attempts, 1)]
    gpus = max(held for held, _ in pairs)
    duration = sum(length for _, length in pairs)
    if gpus < 1 or duration < 1:
        raise SchedulingError(
            f"{where}: the job held {gpus} GPUs for {duration} s, expected at least 1 each."
        )
    unlike = len({held for held, _ in pairs}) > 1
    assumed = (*((SEVERAL,) if len(pairs) > 1 else ()), *((UNLIKE,) if unlike else ()))
    user = value.get("user")
    return Found(
        where, raw, _text(value.get("jobid"), f"{where}: jobid"),
        date_of(value["submitted_time"], f"{where}: submitted_time"), gpus, duration,
        user=None if user is None else _text(user, f"{where}: user"), assumed=assumed,
    )  # fmt: skip


def _attempt(value: Any, what: str) -> tuple[int, int]:
    """The GPUs and seconds of an attempt."""
    if not isinstance(value, dict):
        raise SchedulingError(f"{what} is {shown(value)}, expected start_time, end_time and detail.")
    start = date_of(value.get("start_time"), f"{what}: start_time")
    end = date_of(value.get("end_time"), f"{what}: end_time")
    if end < start:
        raise SchedulingError(f"{what}: end_time is {value['end_time']}, before start_time.")
    detail = value.get("detail")
    if not isinstance(detail, list):
        raise SchedulingError(f"{what}: detail is {shown(detail)}, expected a list of machines.")
    held = [machine.get("gpus") if isinstance(machine, dict) else None for machine in detail]
    if not all(isinstance(gpus, list) for gpus in held):
        raise SchedulingError(f"{what}: a machine has no list of gpus, expected one.")
    return sum(len(gpus) for gpus in held if isinstance(gpus, list)), end - start


def _text(value: object, what: str) -> str:
    if not isinstance(value, str) or not value or not is_unicode(value):
        raise SchedulingError(f"{what} is {shown(value)}, expected a text.")
    return value


FORMAT = Format("philly", "Philly", read, fits)
