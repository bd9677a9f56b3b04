"""What a reader is and what it returns."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TextIO

from pydantic import ValidationError

from schema.work import Rejected, Work


@dataclass(frozen=True)
class Parsed:
    """One record taken in.

    `raw` is its text as the file has it (line ends as `\\n`; a row of a table with the header above it),
    `line` where it starts, `key` the name it has in the file: a second record of the same name is called
    `name#2`, except by a reader that forgets names since its files hold millions (OpenAlex). `notes` are
    sentences about the record in this file; what concerns the work itself stands in `work.note`.
    `offset` is how many characters stand before it, where lines are too long to say much; in an archive,
    `member` is the file that it comes from, and both count within that.
    """

    work: Work
    raw: str
    line: int | None
    key: str
    notes: tuple[str, ...] = ()
    offset: int | None = None
    member: str | None = None


@dataclass(frozen=True)
class Reader:
    """A format: its name, the version of its reader, how it is recognised and how it is read.

    `recognises` sees the whole decoded text. `read` may raise nothing: what it can't take in, it
    yields as `Rejected`. `version` changes whenever the same file may give other records.

    A reader for files of any length also has `stream`, which does the same from a text stream and holds
    little more than a record. Its `recognises` sees only the first part of the text (64 Ki characters),
    `remarks` gives sentences about the whole file from the same part, and bytes that aren't UTF-8 come as
    `surrogateescape` makes them (`ingest.sources.mended`).
    """

    format: str
    version: str
    describes_itself_by: str
    recognises: Callable[[str], bool]
    read: Callable[[str], Iterator[Parsed | Rejected]]
    stream: Callable[[TextIO], Iterator[Parsed | Rejected]] | None = None
    remarks: Callable[[str], tuple[str, ...]] | None = None


@dataclass(frozen=True)
class Reading:
    """One file being read: `records` is an iterator that can be walked once.

    `notes` are sentences about the whole file, such as bytes that weren't UTF-8.
    """

    filename: str
    format: str
    reader: str
    reader_version: str
    sha256: str
    notes: tuple[str, ...]
    records: Iterator[Parsed | Rejected]


class Keys:
    """The names of the records of one file, told apart where a name comes twice."""

    def __init__(self) -> None:
        self._lines: dict[str, int | None] = {}
        self._count: dict[str, int] = {}

    def distinct(self, key: str, line: int | None) -> tuple[str, str | None]:
        """The key to use and, for a repeated one, a sentence that says so."""
        if not key:
            return "", None
        self._count[key] = self._count.get(key, 0) + 1
        if self._count[key] == 1:
            self._lines[key] = line
            return key, None
        own = f"{key}#{self._count[key]}"
        first = self._lines[key]
        where = f" (first in line {first})" if first is not None else ""
        return own, f"the key {key!r} was used before{where}; this record is kept beside it as {own!r}"


def sentence(error: ValidationError) -> str:
    """The first thing that a record refused, in one sentence."""
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "record"
    return f"{where}: {first['msg']} (got {str(first['input'])[:80]!r})"
