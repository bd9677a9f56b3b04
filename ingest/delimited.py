"""Tables as text: which delimiter, what the header says, and rows one by one with the broken ones set aside.

Cells are read by the `csv` module, strictly: a quote inside a quoted cell is doubled (RFC 4180). Nothing
is guessed from a cell, so `00e1` and `01234` stay text.
"""

import csv
import io
import itertools
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from ingest.sources import HEAD, mended, not_utf8
from ingest.text import whole
from schema.work import Rejected

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
LONGEST_CELL = 131_072
"""Characters of a cell, which is the `csv` module's own limit."""
LONGEST_ROW = 1 << 20
_SHOWN = 2_000  # characters kept of a line that is too long
_SEPARATOR = re.compile(r"sep=([,;\t|])\s*", re.I)  # what Excel may write above the header


class Lines(Protocol):
    """What rows are read from: a text stream, or anything else that gives lines."""

    def readline(self, size: int = ..., /) -> str:
        """The next line with its end, or so many characters of it; nothing at the end."""


@dataclass(frozen=True)
class Header:
    """The first row of a table: its names as they stand, how cells are told apart, its line and text."""

    names: tuple[str, ...]
    delimiter: str
    line: int
    raw: str
    quoted: bool = True

    def parser(self, lines: "_Lines") -> Iterator[list[str]]:
        """The `csv` module's reader for this table."""
        quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if self.quoted else csv.QUOTE_NONE
        return csv.reader(lines, delimiter=self.delimiter, strict=True, quoting=quoting)

    def columns(self, fields: Mapping[str, tuple[str, ...]]) -> dict[str, int]:
        """The column of each field that has one: the first of its names that is there, folded."""
        places: dict[str, int] = {}
        for place, name in enumerate(self.names):
            places.setdefault(folded(name), place)
        found = {field: next((n for n in names if n in places), None) for field, names in fields.items()}
        return {field: places[name] for field, name in found.items() if name is not None}

    def describes(self, columns: Mapping[str, int]) -> tuple[str, ...]:
        """Sentences that say which column was taken for what, and which ones were not used."""
        used = [f"{field} from {self.names[place]!r}" for field, place in columns.items()]
        rest = [repr(name) for place, name in enumerate(self.names) if place not in columns.values()]
        notes = [f"a table with {DELIMITERS[self.delimiter]}s between cells; {', '.join(used)}"]
        if rest:
            notes.append(f"columns that aren't used: {', '.join(rest)}")
        return tuple(notes)


@dataclass(frozen=True)
class Row:
    """One row with as many cells as the header, its first line and its text."""

    cells: tuple[str, ...]
    line: int
    raw: str
    notes: tuple[str, ...] = ()


def folded(name: str) -> str:
    """A column's name for comparison: `Publication Year` and `publication-year` are one."""
    return re.sub(r"[\W_]+", "_", name.casefold()).strip("_")


def header_of(head: str, known: Callable[[str], bool]) -> Header | None:
    """The header in the first part of a text, by the delimiter under which most names are known.

    `known` is asked for folded names. None where there are fewer than two columns, or none is known.
    """
    lines = head.removeprefix("\ufeff").split("\n")
    at = next((i for i, line in enumerate(lines) if line.strip()), 0)
    given = _SEPARATOR.fullmatch(lines[at])
    if given is not None:
        at += 1
    best: tuple[int, Header] | None = None
    for delimiter in given[1] if given else DELIMITERS:
        taken = _Lines(io.StringIO("\n".join(lines[at:])))
        try:
            cells = next(Header((), delimiter, 0, "").parser(taken), [])
        except csv.Error:
            continue
        names = tuple(whole(mended(cell)[0]).strip() for cell in cells)
        score = sum(known(folded(name)) for name in names)
        if len(head) >= HEAD and not taken.taken[-1].text.endswith("\n"):
            continue  # a header that doesn't end in the first part of a text is none
        if len(names) > 1 and score and (best is None or score > best[0]):
            raw = "".join(line.text for line in taken.taken).rstrip("\n")
            best = score, Header(names, delimiter, at + 1, whole(mended(raw)[0]))
    if best is None:
        return None
    header = best[1]
    plain = header.delimiter == "\t" and _unquoted(lines[at:-1], header)
    return replace(header, quoted=False) if plain else header


def _unquoted(lines: list[str], header: Header) -> bool:
    """Whether quotes in a table with tabs are plain characters, as some databases write them."""
    width = len(header.names)
    try:
        if all(len(cells) in (0, width) for cells in header.parser(_Lines(io.StringIO("\n".join(lines))))):
            return False
    except csv.Error:
        pass
    return all(line.count("\t") + 1 == width for line in lines if line)


def rows(stream: Lines, header: Header) -> Iterator[Row | Rejected]:
    """The rows below a header, from a stream that starts with it; blank lines are no rows.

    What can't be cut into as many cells as the header has is rejected with its line; a quote that is
    never closed costs the rows up to the next one that fits, not the rest.
    """
    lines = _Lines(stream)
    parser = header.parser(lines)
    broken: _Broken | None = None
    while True:
        lines.begin()
        try:
            cells = next(parser, None)
        except csv.Error as error:
            reason = _why(str(error), lines.taken)
            lost = lines.give_back(header.delimiter)
            if lost[0].number > header.line:
                broken = broken or _Broken(lost[0].number, reason)
                broken.take(lost)
            continue
        if cells is None:
            break
        line, raw = lines.taken[0].number, "".join(taken.text for taken in lines.taken)
        if line <= header.line or not raw.strip("\ufeff \n"):
            continue
        row = _row(cells, line, raw.rstrip("\n"), len(header.names))
        if broken is not None:
            if isinstance(row, Rejected) or raw.count('"') % 2:  # maybe the rest of the broken row
                broken.take(lines.taken)
                continue
            yield broken.rejected()
            broken = None
        yield row
    if broken is not None:
        yield broken.rejected()


def _row(cells: list[str], line: int, raw: str, width: int) -> Row | Rejected:
    raw, foreign = mended(raw)
    if foreign:
        cells = [mended(cell)[0] for cell in cells]
    while len(cells) > width and not cells[-1].strip():
        cells.pop()
    problem = ""
    if "\x00" in raw:
        problem = "the row holds a zero byte"
    elif len(cells) != width:
        problem = f"the row has {len(cells)} cells; expected {width}, as in the header"
    elif any(len(cell) > LONGEST_CELL for cell in cells):
        problem = f"a cell is longer than {LONGEST_CELL:,} characters"
    if problem:
        return Rejected(line=line, raw=whole(raw), reason=problem)
    notes = (not_utf8(foreign),) if foreign else ()
    return Row(tuple(cells), line, whole(raw), notes)


class _Broken:
    """Lines that no row could be made of, until one fits again."""

    def __init__(self, line: int, reason: str) -> None:
        self._line, self._reason = line, reason
        self._texts: list[str] = []
        self._room = LONGEST_ROW

    def take(self, lines: "list[_Line]") -> None:
        for line in lines:
            if self._room > 0:
                self._texts.append(line.text[: self._room])
                self._room -= len(line.text)

    def rejected(self) -> Rejected:
        raw = mended("".join(self._texts).rstrip("\n"))[0]
        return Rejected(line=self._line, raw=whole(raw), reason=self._reason)


@dataclass(frozen=True)
class _Line:
    number: int
    text: str
    length: int


class _Lines:
    """The lines of a stream for the `csv` module; those of the row being read can be given back."""

    def __init__(self, stream: Lines) -> None:
        self._stream = stream
        self._again: deque[_Line] = deque()
        self._number = 0
        self._read = self._reread = self._held = 0
        self.taken: list[_Line] = []

    def __iter__(self) -> "_Lines":
        return self

    def begin(self) -> None:
        """Start a row."""
        self.taken = []
        self._held = 0

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else self._next()
        if line is None:
            raise StopIteration
        self.taken.append(line)
        if line.length > LONGEST_ROW:
            raise csv.Error("line too long")
        self._held += line.length
        if self._held > LONGEST_ROW and len(self.taken) > 1:
            raise csv.Error("row too long")
        return line.text

    def _next(self) -> _Line | None:
        text = self._stream.readline(LONGEST_ROW + 1)
        if not text:
            return None
        self._number += 1
        length = len(text)
        if length > LONGEST_ROW and not text.endswith("\n"):
            text = text[:_SHOWN]
            while part := self._stream.readline(LONGEST_ROW):
                length += len(part)
                if part.endswith("\n"):
                    break
        self._read += length
        return _Line(self._number, text, length)

    def give_back(self, delimiter: str) -> list[_Line]:
        """Give back the lines of a broken row that may be rows themselves; returns those that are lost.

        Lost is the first line. Where it leaves a quote open, and the next line with an odd number of quotes
        closes it, all down to there are lost with it: they are one cell, not rows. Where lines were read
        again too often, all are lost, so that no file takes for ever.
        """
        self._reread += self._held
        if self._reread > 8 * self._read + LONGEST_ROW:
            return self.taken
        self._again.extendleft(reversed(self.taken))
        lost = [self._again.popleft()]
        if lost[0].text.count('"') % 2:
            lost += [self._again.popleft() for _ in range(self._closing(delimiter))]
        return lost

    def _closing(self, delimiter: str) -> int:
        """How many lines there are down to the one that closes an open quote; 0 where none does."""
        seen = 0
        for count in itertools.count(1):
            if count > len(self._again):
                line = self._next()
                if line is None:
                    return 0
                self._again.append(line)
            text = self._again[count - 1].text
            seen += len(text)
            if seen > LONGEST_CELL:
                return 0
            if text.count('"') % 2:
                behind = text.partition('"')[2].lstrip(" ")[:1]
                return count if behind in ("", "\n", delimiter) else 0
        return 0


def _why(message: str, taken: list[_Line]) -> str:
    if "expected after" in message:
        return "a quote inside a quoted cell isn't doubled, or a quoted cell isn't closed"
    if "end of data" in message and sum(line.length for line in taken) <= LONGEST_CELL:
        return "a quote opens a cell and is never closed"
    if "line too long" in message:
        return f"the line has {taken[-1].length:,} characters; at most {LONGEST_ROW:,} are read"
    if len(taken) > 1:  # whatever limit others have set for the whole process, as sqlite-utils does
        return "a quote opens a cell and isn't closed within what a cell may hold"
    return f"a cell is longer than {LONGEST_CELL:,} characters"
