"""What a reader finds, and how a trace comes of it: exact ticks, jobs in order, the rest with its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

from scheduling_core.admission.formats.documents import Rejected
from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.formats.lines import Source
from scheduling_core.queueing.formats.numbers import Number, shown
from scheduling_core.queueing.jobs import NEVER, Job, Trace, ticks_of

__all__ = ["Contents", "Format", "Found", "Import", "Options", "Rejected", "assemble"]


@dataclass(frozen=True, slots=True)
class Found:
    """A job as its file has it, its times in the file's unit; the deadline is absolute.

    assumed : sentences, without a subject, on what was taken for granted of this job.
    """

    where: str
    raw: str
    id: str
    submit: Number
    gpus: int
    duration: Number
    deadline: Number | None = None
    gpu_type: str | None = None
    model: str | None = None
    user: str | None = None
    assumed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Contents:
    """What is in a file.

    unit : seconds of a unit of time. dates : whether times count from 1970, and so start at the first job's.
    name : where the file itself has one.
    """

    found: Iterable[Found | Rejected]
    unit: Fraction
    duration_means: str
    notes: tuple[str, ...] = ()
    dates: bool = False
    name: str | None = None
    synthetic: bool = False


@dataclass(frozen=True)
class Options:
    """What only one format asks; see `read_trace`."""

    muri_run_time: bool = False
    throughputs: Path | None = None


@dataclass(frozen=True)
class Format:
    """A format: its name as an option, its title, its reader, and whether a file's first lines are its."""

    name: str
    title: str
    read: Callable[[Source, Options], Contents]
    fits: Callable[[list[str]], bool]


@dataclass(frozen=True)
class Import:
    """A trace with what was left out of it.

    format : a name in `FORMATS`. sha256 : of the file's bytes as they are stored. notes : sentences on what
    was assumed.
    """

    trace: Trace
    rejected: tuple[Rejected, ...]
    format: str
    sha256: str
    notes: tuple[str, ...]


def assemble(contents: Contents, source: Source, name: str, skip_bad: bool) -> tuple[Trace, list[Rejected]]:
    """The trace of all that can be kept, in the least ticks that hold its times exactly.

    Raises
    ------
    SchedulingError : at the first bad record where bad ones aren't skipped; where no job is left; where the
    times don't fit 64 bits.
    """
    rejected: list[Rejected] = []
    kept = list(_good(contents, rejected, skip_bad))
    if not kept:
        why = f"none can be read; {rejected[0].reason}" if rejected else "expected at least one."
        raise SchedulingError(f"{source.name}: there are 0 jobs, {why}")
    zero = min(found.submit for found in kept) if contents.dates else 0
    assert isinstance(zero, int)
    parts = _parts(kept, zero)
    jobs = tuple(_job(found, zero, parts) for found in kept)
    notes = (*contents.notes, *_assumed(kept), *_order(kept))
    if contents.dates:
        first = datetime.fromtimestamp(zero, UTC)
        notes += (
            f"Times count from {first:%Y-%m-%d %H:%M:%S}, the first submission; the dates have no time zone, "
            f"so a change of clocks would count as an hour.",
        )
    trace = Trace(name, jobs, contents.unit / parts, contents.duration_means, contents.synthetic, notes)
    return trace, rejected


def _good(contents: Contents, rejected: list[Rejected], skip_bad: bool) -> Iterator[Found]:
    """What can be kept; the rest goes to `rejected`, or ends the reading."""
    seen: dict[str, str] = {}
    for item in contents.found:
        bad = item if isinstance(item, Rejected) else _objection(item, seen)
        if isinstance(item, Found) and bad is None:
            seen[item.id] = item.where
            yield item
        elif bad is not None and skip_bad:
            rejected.append(bad)
        elif bad is not None:
            raise SchedulingError(bad.reason)


def _objection(found: Found, seen: dict[str, str]) -> Rejected | None:
    where = found.where
    if found.id in seen:
        reason = f"{where}: job {shown(found.id)} stands at {seen[found.id]} too, expected each id once."
    elif found.deadline is not None and found.deadline <= found.submit:
        reason = (
            f"{where}: the deadline is {told(found.deadline)}, expected after the submission at "
            f"{told(found.submit)}."
        )
    else:
        return None
    return Rejected(where, reason, found.raw)


def told(number: Number) -> str:
    """A number as a file could have it."""
    return str(number) if isinstance(number, int) else f"{float(number):.12g}"


def _times(found: Found) -> tuple[Number, ...]:
    return (found.submit, found.duration) + (() if found.deadline is None else (found.deadline,))


def _parts(kept: list[Found], zero: int) -> int:
    """Into how many ticks the unit is cut."""
    denominators = {time.denominator for found in kept for time in _times(found)}
    parts = ticks_of([Fraction(1, denominator) for denominator in denominators])
    if max(max(_times(found)) - zero for found in kept) * parts >= NEVER:
        finest = max(kept, key=lambda found: max(time.denominator for time in _times(found)))
        raise SchedulingError(
            f"{finest.where}: a time here has so many decimals that the longest of the file doesn't fit 64 "
            f"bits in the same ticks, expected fewer decimals."
        )
    return parts


def _job(found: Found, zero: int, parts: int) -> Job:
    return Job(
        found.id, int((found.submit - zero) * parts), found.gpus, int(found.duration * parts),
        None if found.deadline is None else int((found.deadline - zero) * parts),
        found.gpu_type, found.model, found.user,
    )  # fmt: skip


def _assumed(kept: list[Found]) -> tuple[str, ...]:
    counts = Counter(sentence for found in kept for sentence in found.assumed)
    return tuple(f"{count} of {len(kept)} jobs: {sentence}" for sentence, count in sorted(counts.items()))


def _order(kept: list[Found]) -> tuple[str, ...]:
    late, latest = 0, kept[0].submit
    for found in kept:
        late += found.submit < latest
        latest = max(latest, found.submit)
    return (f"{late} of {len(kept)} jobs stood behind later ones; sorted by submission.",) if late else ()
