"""Checked access to JSON objects: each read says where, what is wrong and what was expected.

Times become whole microseconds: since 1970 in UTC for a moment, from 0 for a length.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from scheduling_core.admission.attempts import Segment, SegmentKind
from scheduling_core.errors import SchedulingError

MICROSECOND = timedelta(microseconds=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
PER_SECOND = 1_000_000
PER_TICK = 100_000
LONGEST_SECONDS = 10**9
"""About 32 years: no attempt lasts longer, and sums of such lengths stay exact."""


class Span(NamedTuple):
    """A stretch of an attempt before rounding: its kind and its length in microseconds."""

    kind: SegmentKind
    length: int


def rounded(spans: list[Span]) -> tuple[Segment, ...]:
    """Segments in ticks: halves to even; a stretch that rounds to nothing is left out."""
    ticks = ((kind, round(length / PER_TICK)) for kind, length in spans)
    return tuple(Segment(kind, count) for kind, count in ticks if count > 0)


def shown(value: object) -> str:
    """A value as told in a sentence: short, and never a whole document."""
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list):
        return "a list"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def phrase(error: BaseException) -> str:
    """What a library says is wrong, as part of a sentence."""
    return " ".join(str(error).split())[:120].rstrip(".")


def text_of(value: object, what: str) -> str:
    """A text that isn't empty and has bytes: half a surrogate pair passes JSON, but can't be hashed."""
    if not isinstance(value, str) or not value.strip() or any("\ud800" <= c <= "\udfff" for c in value):
        raise SchedulingError(f"{what} is {shown(value)}, expected a text.")
    return value


def number_of(value: object, what: str, most: float = LONGEST_SECONDS, expected: str = "") -> float:
    """A number from 0 to `most`; true and false are none, and neither are NaN and infinity."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (number and 0 <= value <= most):  # type: ignore[operator]
        wanted = expected or f"a number from 0 to {most:g}"
        raise SchedulingError(f"{what} is {shown(value)}, expected {wanted}.")
    return float(value)  # type: ignore[arg-type]


def length_of(value: object, what: str) -> int:
    """A length given in seconds, in microseconds."""
    return round(number_of(value, what, expected=f"seconds from 0 to {LONGEST_SECONDS:g}") * PER_SECOND)


def moment_of(value: object, what: str) -> int:
    """A time as ISO 8601 with its zone, in microseconds since 1970.

    Without a zone it is local time of an unknown place, and refused.
    """
    try:
        found = datetime.fromisoformat(text_of(value, what))
        if found.tzinfo is not None:
            return (found - EPOCH) // MICROSECOND
    except (ValueError, OverflowError) as error:
        raise SchedulingError(f"{what} is {shown(value)}, expected a time as ISO 8601.") from error
    raise SchedulingError(f"{what} is {shown(value)}, without a time zone; expected one, such as Z for UTC.")


def stamp_of(value: object, what: str) -> int:
    """A time as seconds since 1970, in microseconds."""
    return round(number_of(value, what, 10**11, "seconds since 1970") * PER_SECOND)


def stem(where: str) -> str:
    """The name of the file in a place, without its endings: the task, where a format names none."""
    if ", " in where.rsplit("/", 1)[-1]:
        return where
    file = where.rsplit("/", 1)[-1]
    name = file
    for ending in (".gz", ".json", ".jsonl", ".traj"):
        name = name.removesuffix(ending)
    return name or file


class Fields:
    """A JSON object and the place where it stands."""

    def __init__(self, value: object, where: str, expected: str = "an object") -> None:
        if not isinstance(value, Mapping):
            raise SchedulingError(f"{where}: this is {shown(value)}, expected {expected}.")
        self.value: Mapping[str, Any] = value
        self.where = where

    def has(self, name: str) -> bool:
        """Whether the field is there and not null."""
        return self.value.get(name) is not None

    def what(self, name: str) -> str:
        """The place and name of a field, as a sentence begins with them."""
        return f"{self.where}: {name}"

    def child(self, name: str) -> Fields:
        """The object in a field; an empty one where the field is missing or null."""
        return Fields(self.value[name] if self.has(name) else {}, self.what(name))

    def children(self, name: str, what: str) -> list[Fields]:
        """The objects in a list. Raises SchedulingError where one is something else."""
        found = self.value.get(name)
        if not isinstance(found, list):
            raise SchedulingError(f"{self.what(name)} is {shown(found)}, expected a list.")
        return [Fields(item, f"{self.where}, {what} {place}") for place, item in enumerate(found, 1)]

    def text(self, name: str) -> str:
        """A text that has to be there."""
        if name not in self.value:
            raise SchedulingError(f"{self.where}: the field {name!r} is missing, expected a text.")
        return text_of(self.value[name], self.what(name))

    def optional_text(self, name: str) -> str | None:
        """A text, or None where the field is missing, null or empty."""
        return text_of(self.value[name], self.what(name)) if self.value.get(name) not in (None, "") else None

    def number(self, name: str, most: float = LONGEST_SECONDS) -> float | None:
        """A number from 0, or None where the field is missing or null."""
        return number_of(self.value[name], self.what(name), most) if self.has(name) else None

    def length(self, name: str) -> int | None:
        """A length in microseconds, or None where the field is missing or null."""
        return length_of(self.value[name], self.what(name)) if self.has(name) else None

    def moment(self, name: str) -> int | None:
        """A time in microseconds since 1970, or None where the field is missing or null."""
        return moment_of(self.value[name], self.what(name)) if self.has(name) else None

    def reward(self, name: str) -> float | None:
        """A finite number of either sign, or None where the field is missing or null."""
        if not self.has(name):
            return None
        value = self.value[name]
        sign = -1 if isinstance(value, int | float) and value < 0 else 1
        found = value if sign == 1 else -value
        expected = "a number within a thousand million of 0"
        return sign * number_of(found, self.what(name), 1e9, expected)

    def flag(self, name: str) -> bool:
        """True or false; false where the field is missing or null."""
        found = self.value[name] if self.has(name) else False
        if not isinstance(found, bool):
            raise SchedulingError(f"{self.what(name)} is {shown(found)}, expected true or false.")
        return found


_SIZE = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)\s*([KMGT])(?:i?B)?", re.IGNORECASE)
_KIB = {"K": 1, "M": 1 << 10, "G": 1 << 20, "T": 1 << 30}


def size_of(value: object, what: str) -> int:
    """A size such as "2G" in KiB; units count in 1024, as containers' limits do."""
    match = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise SchedulingError(f'{what} is {shown(value)}, expected a size such as "2G".')
    return round(float(match[1]) * _KIB[match[2].upper()])
