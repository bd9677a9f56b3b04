"""Small CSV files as checked rows, and parameters of an analysis."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from classifiers.errors import ClassifierError


@dataclass(frozen=True)
class Row:
    """One line of a table; values are read with a sentence for each that makes no sense."""

    table: str
    line: int
    cells: Mapping[str, str]

    def text(self, column: str) -> str:
        """A name: not empty."""
        value = self.cells[column].strip()
        if not value:
            raise self.error(f"{column} is empty; expected a name")
        return value

    def count(self, column: str) -> int:
        """A whole number from 0 up."""
        value = self.cells[column].strip()
        if not (value.isascii() and value.isdigit()):
            raise self.error(f"{column} is {value!r}; expected a whole number from 0 up")
        return int(value)

    def number(self, column: str) -> float:
        """A finite number."""
        found = self.number_or_none(column)
        if found is None:
            raise self.error(f"{column} is empty; expected a number")
        return found

    def number_or_none(self, column: str) -> float | None:
        """A finite number, or None where the cell is empty: not known."""
        value = self.cells[column].strip()
        if not value:
            return None
        try:
            number = float(value) if "_" not in value else float("nan")
        except ValueError:
            number = float("nan")
        if not isfinite(number):
            raise self.error(f"{column} is {value!r}; expected a number")
        return number

    def error(self, what: str) -> ClassifierError:
        """The error that names this line."""
        return ClassifierError(f"{self.table}, line {self.line}: {what}")


def read_rows(
    inputs: Mapping[str, Path], name: str, columns: Sequence[str], others: bool = False
) -> list[Row]:
    """The rows of the input `name`, which has these columns (and more only where `others` are asked for).

    Raises
    ------
    ClassifierError : for an input that isn't given, isn't UTF-8, has other columns or ragged lines.
    """
    if name not in inputs:
        raise ClassifierError(f"the input {name!r} is missing; it is a CSV file with {', '.join(columns)}")
    try:
        text = Path(inputs[name]).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ClassifierError(f"{name} isn't UTF-8 text (byte {error.start})") from error
    reader = csv.reader(text.splitlines(keepends=True), strict=True)
    rows: list[Row] = []
    header: list[str] | None = None
    try:
        for cells in reader:
            if not cells:
                continue
            if header is None:
                header = [cell.strip() for cell in cells]
                _check_header(name, header, columns, others)
                continue
            if len(cells) != len(header):
                raise ClassifierError(
                    f"{name}, line {reader.line_num}: {len(cells)} cells; expected {len(header)}"
                )
            rows.append(Row(name, reader.line_num, dict(zip(header, cells, strict=True))))
    except csv.Error as error:
        raise ClassifierError(f"{name}, line {reader.line_num}: {error}") from error
    if not rows:
        raise ClassifierError(f"{name} has no rows; expected a header and lines with {', '.join(columns)}")
    return rows


def _check_header(name: str, header: list[str], columns: Sequence[str], others: bool) -> None:
    for column in columns:
        if column not in header:
            raise ClassifierError(f"{name} has no column {column!r}; it has {', '.join(header)}")
    if len(set(header)) < len(header):
        raise ClassifierError(f"{name}: a column stands twice in {', '.join(header)}")
    extra = [column for column in header if column not in columns]
    if extra and not others:
        raise ClassifierError(
            f"{name} has a column {extra[0]!r} that isn't read; expected {', '.join(columns)}"
        )


def read_parameters(given: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Defaults overridden by what is given, each of its default's type; text is read as that type.

    Raises
    ------
    ClassifierError : for an unknown name or a value of another type.
    """
    values = dict(defaults)
    for name, value in given.items():
        if name not in defaults:
            raise ClassifierError(f"there is no parameter {name!r}; expected one of {', '.join(defaults)}")
        kind = type(defaults[name])
        try:
            if isinstance(value, str):
                values[name] = kind(value)
            elif isinstance(value, bool) or not isinstance(value, int | float):
                raise ValueError
            else:
                values[name] = kind(value)
                if values[name] != value:
                    raise ValueError
        except (ValueError, OverflowError) as error:
            wanted = {int: "a whole number", float: "a number"}.get(kind, "a text")
            raise ClassifierError(f"{name} is {value!r}; expected {wanted}") from error
    return values
