"""Comma-separated tables with a header: each cell is read by its column's name, and says where it stands."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.formats.lines import Line, Source
from scheduling_core.queueing.formats.numbers import Number, count_of, date_of, length_of, time_of
from scheduling_core.queueing.formats.records import Contents, Format, Found, Options, Rejected


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table. Reads raise SchedulingError with the place, the value and what was expected."""

    line: Line
    columns: Mapping[str, int]
    cells: Sequence[str]
    unit: str

    def what(self, column: str) -> str:
        """A cell as the subject of a sentence."""
        return f"{self.line.where}: {column}"

    def has(self, column: str) -> bool:
        """Whether there is such a column, and something in it."""
        return column in self.columns and self.cells[self.columns[column]] != ""

    def text(self, column: str) -> str:
        """What is in a cell; it may not be empty."""
        found = self.cells[self.columns[column]]
        if not found:
            raise SchedulingError(f"{self.what(column)} is empty, expected a text.")
        return found

    def optional(self, column: str) -> str | None:
        """What is in a cell, None for an empty one or no such column."""
        return self.text(column) if self.has(column) else None

    def time(self, column: str) -> Number:
        """A point in time, 0 or later."""
        return time_of(self.cells[self.columns[column]], self.what(column), self.unit)

    def length(self, column: str) -> Number:
        """A length of time, more than 0."""
        return length_of(self.cells[self.columns[column]], self.what(column), self.unit)

    def count(self, column: str, least: int = 1) -> int:
        """A whole number from `least`."""
        return count_of(self.cells[self.columns[column]], self.what(column), least)

    def date(self, column: str) -> int:
        """A date and time, in seconds since 1970."""
        return date_of(self.cells[self.columns[column]], self.what(column))


@dataclass(frozen=True)
class Table(Format):
    """A format that is a table. needs : columns that it can't do without."""

    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Layout:
    """How rows become jobs. unit_name : of its times, as told. also : other spellings of columns."""

    needs: tuple[str, ...]
    job: Callable[[Row], Found]
    duration_means: str
    unit: Fraction = Fraction(1)
    unit_name: str = "seconds"
    dates: bool = False
    notes: tuple[str, ...] = ()
    also: Mapping[str, str] = field(default_factory=dict)


def cells_of(text: str) -> list[str]:
    """The cells of a line. Raises ValueError for quotes that don't close."""
    if '"' not in text:
        return [cell.strip() for cell in text.split(",")]
    try:
        return [cell.strip() for cell in next(csv.reader([text], strict=True))]
    except (csv.Error, StopIteration) as error:
        raise ValueError(str(error)) from error


def header_of(text: str) -> list[str]:
    """The cells of a line that may be a header; none where it can't be."""
    try:
        return cells_of(text)
    except ValueError:
        return []


def marked(columns: tuple[str, ...]) -> Callable[[list[str]], bool]:
    """Whether the first line of a file has one of these columns."""

    def fits(head: list[str]) -> bool:
        return bool(head) and not set(columns).isdisjoint(header_of(head[0]))

    return fits


def read_table(source: Source, layout: Layout) -> Contents:
    """The jobs of a table; a row that can't be one is rejected in its place.

    Raises
    ------
    SchedulingError : where the first line is no header with the columns that are needed.
    """
    lines = source.lines()
    columns = _columns(next(lines, None), source.name, layout)
    return Contents(
        _rows(lines, columns, layout), layout.unit, layout.duration_means, layout.notes, layout.dates
    )


def _columns(first: Line | Rejected | None, name: str, layout: Layout) -> Mapping[str, int]:
    expected = ", ".join(layout.needs)
    if first is None:
        raise SchedulingError(f"{name}: the file is empty, expected a header with {expected}.")
    if isinstance(first, Rejected):
        raise SchedulingError(first.reason)
    titles = [layout.also.get(title, title) for title in header_of(first.text)]
    for column in layout.needs:
        if column not in titles:
            raise SchedulingError(f"{first.where}: the column {column!r} is missing, expected {expected}.")
    twice = next((title for title in titles if titles.count(title) > 1), None)
    if twice is not None:
        raise SchedulingError(f"{first.where}: the column {twice[:60]!r} stands twice, expected each once.")
    return {title: place for place, title in enumerate(titles)}


def _rows(
    lines: Iterable[Line | Rejected], columns: Mapping[str, int], layout: Layout
) -> Iterator[Found | Rejected]:
    for line in lines:
        if isinstance(line, Rejected):
            yield line
            continue
        try:
            cells = cells_of(line.text)
            if len(cells) != len(columns):
                raise SchedulingError(f"{line.where}: {len(cells)} cells, expected {len(columns)}.")
            yield layout.job(Row(line, columns, cells, layout.unit_name))
        except SchedulingError as error:
            yield Rejected(line.where, str(error), line.text)
        except ValueError as error:
            yield Rejected(line.where, f"{line.where}: the quotes are wrong ({error}).", line.text)


def table(name: str, title: str, layout: Layout, marks: tuple[str, ...] = ()) -> Table:
    """A format that is always laid out alike. marks : columns that only it has."""

    def read(source: Source, options: Options) -> Contents:
        return read_table(source, layout)

    return Table(name, title, read, marked(marks), layout.needs)
