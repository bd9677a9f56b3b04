"""The Standard Workload Format of the Parallel Workloads Archive (Feitelson), version 2.2.

18 fields between blanks, `;` before comments, -1 for what isn't known; times in seconds from the beginning of
the log. Processors count as GPUs: those allocated (field 5), or those requested (field 8) where these are
unknown. Lines of status 2, 3 and 4 are parts of a job that has a whole line as well, and are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.formats.lines import Line, Source
from scheduling_core.queueing.formats.numbers import count_of, length_of, number_of, time_of
from scheduling_core.queueing.formats.records import Contents, Format, Found, Options, Rejected

FIELDS = 18
COMMENT = ";"
UNKNOWN = "-1"
PARTS = ("2", "3", "4")
REQUESTED = "has no allocated processors (field 5 is -1), so those requested (field 8) are taken."


def fits(head: list[str]) -> bool:
    """Whether the file begins with a comment of this format, or has a line with as many numbers."""
    return bool(head) and (head[0].startswith(COMMENT) or any(_numbers(line) for line in head))


def read(source: Source, options: Options) -> Contents:
    """The jobs of a log or model."""
    return Contents(
        _jobs(source), Fraction(1),
        "run time (field 4): wall-clock seconds from start to end, however the job ended",
        ("Processors count as GPUs.", "Lines of status 2, 3 and 4, parts of jobs, are left out."),
    )  # fmt: skip


def _numbers(line: str) -> bool:
    fields = line.split()
    return len(fields) == FIELDS and all(field.lstrip("-").replace(".", "", 1).isdigit() for field in fields)


def _jobs(source: Source) -> Iterator[Found | Rejected]:
    whole: set[str] = set()
    parts: dict[str, Line] = {}
    for line in source.lines():
        text = line.text if isinstance(line, Line) else line.raw
        if text.lstrip().startswith(COMMENT):
            continue
        if isinstance(line, Rejected):
            yield line
            continue
        fields = line.text.split()
        try:
            if len(fields) != FIELDS:
                raise SchedulingError(f"{line.where}: {len(fields)} fields, expected {FIELDS}.")
            if fields[10] in PARTS:
                parts.setdefault(fields[0], line)
                continue
            whole.add(fields[0])
            yield _job(line, fields)
        except SchedulingError as error:
            yield Rejected(line.where, str(error), line.text)
    for number, line in parts.items():
        if number not in whole:
            reason = (
                f"{line.where}: job {number[:60]} has lines for its parts alone, expected one for the whole."
            )
            yield Rejected(line.where, reason, line.text)


def _job(line: Line, fields: list[str]) -> Found:
    def what(field: int, name: str) -> str:
        return f"{line.where}: {name} (field {field})"

    number = count_of(fields[0], what(1, "the job number"), 0)
    asked = fields[4] == UNKNOWN
    processors = count_of(
        fields[7 if asked else 4], what(8, "requested processors") if asked else what(5, "processors")
    )
    user = number_of(fields[11], what(12, "the user"), "a number, or -1")
    return Found(
        line.where, line.text, str(number), time_of(fields[1], what(2, "the submit time"), "seconds"),
        processors, length_of(fields[3], what(4, "the run time"), "seconds"),
        user=None if user == -1 else str(user), assumed=(REQUESTED,) if asked else (),
    )  # fmt: skip


FORMAT = Format("swf", "Standard Workload Format", read, fits)
