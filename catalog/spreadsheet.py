"""Cells of CSV files: a spreadsheet shows them and never runs them."""

import csv
import re
from typing import IO, Any

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
# Their full-width forms, and a control character before one, are taken for it by some.
_FORMULA_STARTS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", *map(chr, range(32)))


class _LineFeeds:
    """Ends each row with a line feed, though the writer is told CR LF: so it quotes a cell with either."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, row: str) -> int:
        return self._stream.write(row.removesuffix("\r\n") + "\n")


def csv_writer(stream: IO[str]) -> Any:
    """A writer of rows that end with LF, in which any cell can be read back: one with a lone CR as well."""
    return csv.writer(_LineFeeds(stream), lineterminator="\r\n")


def inert(text: str) -> str:
    """The text, after an apostrophe where a spreadsheet would run it as a formula; numbers as they are."""
    return f"'{text}" if text.startswith(_FORMULA_STARTS) and not _NUMBER.fullmatch(text) else text
