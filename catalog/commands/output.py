"""How commands print: aligned tables, plain lines, JSON.

On a terminal, rich colours and folds to the width. Anywhere else everything is plain text without
escape codes, never folded and never cut. Text that came from outside loses its
control characters, so that no record can move the cursor or hide a line.
"""

import json
import os
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel
from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
from rich.text import Text

PROSE_WIDTH = 78
NARROWEST = 24


def prepare_streams() -> None:
    """What a stream's encoding lacks is written as an escape, where Python would raise.

    A stream that was closed (`>&-`) leads nowhere, and no file that is opened later takes its place.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - for good
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - for good
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def on_terminal() -> bool:
    """Whether a person looks at standard output directly."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def glyphs() -> bool:
    """Whether standard output can show shapes beyond ASCII."""
    try:
        "▮▯◆└".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


# JSON ---------------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """Records, data classes, enums and paths as JSON values, keys as they are named in the code."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(plain(k)): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(v) for v in value]
    if isinstance(value, (Path, Decimal)):
        return str(value)
    return value


def print_json(value: Any) -> None:
    """One JSON document on standard output. It has a newline at its end and no NaN."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    print(json.dumps(plain(value), indent=2, ensure_ascii=not unicode, allow_nan=False))


# Text ---------------------------------------------------------------------------------------------


def clean(text: str) -> str:
    """One line without control characters: each stands as a visible escape, a line break as a space."""
    return "".join(_visible(c) for c in " ".join(text.split("\n")))


def _visible(character: str) -> str:
    if character in "\t\r":
        return " "
    if unicodedata.category(character) in ("Cc", "Cs") or character in _REORDERING:
        return character.encode("unicode_escape").decode()
    return character


_REORDERING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def say(text: str | Text = "", style: str | None = None, indent: int = 0, bullet: str = "") -> None:
    """Print one line or paragraph on standard output; a terminal folds it at words."""
    line = text if isinstance(text, Text) else Text(clean(text), style=style or "")
    margin = " " * indent
    if not on_terminal():
        print(f"{margin}{bullet}{line.plain}".rstrip())
        return
    console = _console()
    width = max(20, min(console.width, PROSE_WIDTH) - indent - len(bullet))
    for number, piece in enumerate(line.wrap(console, width) if line.plain else [line]):
        piece.rstrip()
        _print(console, Text(margin + (" " * len(bullet) if number else bullet)) + piece)


def heading(text: str) -> None:
    """An empty line, then a title."""
    say()
    say(text, style="bold")


def note(text: str) -> None:
    """A message that isn't part of the answer: on standard error."""
    print(clean(text), file=sys.stderr)


@contextmanager
def progress(what: str) -> Iterator[Callable[..., None] | None]:
    """A progress bar on standard error while a person watches, else None: a callback(name, done, total)."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=30), TaskProgressColumn())
    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=None)

        def step(name: str = "", done: int | None = None, total: int | None = None, *_: object) -> None:
            bar.update(task, description=clean(f"{what} {name}"[:60]), completed=done, total=total)

        yield step


def _console() -> Console:
    """Rich on standard output; $NO_COLOR means no escape codes at all, also none for bold."""
    colours: Literal["auto"] | None = None if os.environ.get("NO_COLOR") else "auto"
    return Console(file=sys.stdout, color_system=colours, highlight=False, markup=False, emoji=False)


# Tables -------------------------------------------------------------------------------------------


Notes = tuple[str | Text, ...]


@dataclass(frozen=True)
class Column:
    """A column; `prose` may fold on a narrow terminal, `decimal` aligns at the decimal point."""

    title: str
    align: Literal["left", "right", "decimal"] = "left"
    prose: bool = False


@dataclass(frozen=True)
class Row:
    """Cells, and lines that stand beneath them (they belong to the row, not to a column)."""

    cells: tuple[str | Text, ...]
    notes: Notes = ()


@dataclass
class Table:
    """Rows under titles. A column in which no row has anything is left out."""

    columns: Sequence[Column]
    rows: list[Row] = field(default_factory=list)
    indent: int = 0

    def add(self, *cells: str | Text | None, notes: Iterable[str | Text] = ()) -> None:
        """Append a row; None is an empty cell."""
        self.rows.append(Row(tuple("" if c is None else c for c in cells), tuple(notes)))

    def show(self, titles: bool = True) -> None:
        """Print it, with or without the line of titles."""
        used = [i for i in range(len(self.columns)) if any(_text(r.cells[i]).plain for r in self.rows)]
        columns = [self.columns[i] for i in used]
        cells = [[_text(row.cells[i]) for i in used] for row in self.rows]
        _align_decimals(columns, cells)
        notes = [row.notes for row in self.rows]
        if on_terminal():
            _show_on_terminal(columns, cells, notes, self.indent, titles)
        else:
            _show_plain(columns, cells, notes, self.indent, titles)


def _text(cell: str | Text) -> Text:
    return cell if isinstance(cell, Text) else Text(clean(cell))


def _align_decimals(columns: Sequence[Column], cells: list[list[Text]]) -> None:
    for i, column in enumerate(columns):
        if column.align != "decimal":
            continue
        lead = max((_integer_width(row[i].plain) for row in cells), default=0)
        for row in cells:
            if row[i].plain and _integer_width(row[i].plain):
                row[i] = Text(" " * (lead - _integer_width(row[i].plain))) + row[i]


def _integer_width(number: str) -> int:
    """Characters before the decimal point (or exponent, or end); 0 for what isn't a number."""
    head = number.lstrip("+-")
    if not head[:1].isdigit():
        return 0
    return len(number) - len(head) + next((i for i, c in enumerate(head) if not c.isdigit()), len(head))


def _show_plain(
    columns: Sequence[Column],
    cells: list[list[Text]],
    notes: list[Notes],
    indent: int,
    titles: bool,
) -> None:
    lines = [[t.plain for t in row] for row in cells]
    beneath = list(notes)
    if titles:
        lines.insert(0, [c.title for c in columns])
        beneath.insert(0, ())
    widths = _widths(columns, cells, titles)
    margin = " " * indent
    for line, extras in zip(lines, beneath, strict=True):
        padded = (_pad(t, w, c.align) for t, w, c in zip(line, widths, columns, strict=True))
        print((margin + "  ".join(padded)).rstrip())
        for extra in extras:
            print(f"{margin}    {_text(extra).plain}".rstrip())


def _pad(text: str, width: int, align: str) -> str:
    fill = " " * (width - cell_len(text))
    return fill + text if align == "right" else text + fill


def _show_on_terminal(
    columns: Sequence[Column], cells: list[list[Text]], notes: list[Notes], indent: int, titles: bool
) -> None:
    """Aligned lines that fit: prose folds; columns that still have no room go beneath their row."""
    console = _console()
    room = max(40, console.width - indent)
    widths = _widths(columns, cells, titles)
    _narrow_prose(columns, widths, room)
    shown = len(columns)
    while shown > 1 and sum(widths[:shown]) + 2 * (shown - 1) > room:
        shown -= 1
    margin = Text(" " * indent)
    if titles:
        _print(
            console, margin + _line([Text(c.title, style="dim") for c in columns[:shown]], columns, widths)
        )
    for row, beneath in zip(cells, notes, strict=True):
        folded = [list(row[i].wrap(console, widths[i])) if row[i].plain else [Text()] for i in range(shown)]
        for part in range(max(len(pieces) for pieces in folded)):
            pieces = [lines[part] if part < len(lines) else Text() for lines in folded]
            _print(console, margin + _line(pieces, columns, widths))
        rest = [
            Text(f"{columns[i].title} ") + _stripped(row[i])
            for i in range(shown, len(columns))
            if row[i].plain
        ]
        lines = [Text(" · ").join(rest)] if rest else []
        for text in (*lines, *(_text(extra) for extra in beneath)):
            for piece in text.wrap(console, room - 4):
                _print(console, margin + Text("    ") + piece)


def _widths(columns: Sequence[Column], cells: list[list[Text]], titles: bool) -> list[int]:
    heads = [cell_len(c.title) if titles else 0 for c in columns]
    return [max([heads[i], *(cell_len(row[i].plain) for row in cells)]) for i in range(len(columns))]


def _narrow_prose(columns: Sequence[Column], widths: list[int], room: int) -> None:
    """Take what is too wide from the widest prose columns, if that makes the table fit."""
    prose = [i for i, column in enumerate(columns) if column.prose]
    excess = sum(widths) + 2 * (len(widths) - 1) - room
    if excess > sum(max(0, widths[i] - NARROWEST) for i in prose):
        for i in prose:
            widths[i] = min(widths[i], 2 * NARROWEST)
        return
    for i in sorted(prose, key=lambda i: -widths[i]):
        taken = min(max(0, widths[i] - NARROWEST), max(0, excess))
        widths[i] -= taken
        excess -= taken


def _line(pieces: Sequence[Text], columns: Sequence[Column], widths: Sequence[int]) -> Text:
    line = Text()
    for i, piece in enumerate(pieces):
        piece.rstrip()
        fill = Text(" " * max(0, widths[i] - cell_len(piece.plain)))
        line.append_text(fill + piece if columns[i].align == "right" else piece + fill)
        line.append("  ")
    line.rstrip()
    return line


def _stripped(text: Text) -> Text:
    return text[len(text.plain) - len(text.plain.lstrip()) :] if text.plain[:1] == " " else text


def _print(console: Console, line: Text) -> None:
    console.print(line, overflow="ignore", crop=False, no_wrap=True)
