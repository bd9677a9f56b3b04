"""A file, unpacked, as numbered lines; those that aren't UTF-8 are set aside in their place."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from scheduling_core.admission.formats.documents import Rejected, decoded

BOM = b"\xef\xbb\xbf"
HEAD = 40
"""Lines that are looked at to find out what a file is."""


class Line(NamedTuple):
    """A line that isn't blank, without its ending, and where it stands."""

    where: str
    text: str


@dataclass(frozen=True)
class Source:
    """The content of a file without gzip; `fault` says what is wrong with the archive behind it."""

    name: str
    content: bytes
    fault: str | None = None

    def lines(self) -> Iterator[Line | Rejected]:
        """Every line that isn't blank."""
        where = f"{self.name} line 1"
        cut = b""
        for number, raw in enumerate(io.BytesIO(self.content.removeprefix(BOM)), 1):
            where = f"{self.name} line {number}"
            if self.fault is not None and not raw.endswith(b"\n"):
                cut = raw
                break
            if not raw.strip():
                continue
            try:
                yield Line(where, raw.decode("utf-8").strip("\r\n"))
            except UnicodeDecodeError:
                yield Rejected(where, f"{where}: this isn't UTF-8, expected text.", decoded(raw.strip()))
        if self.fault is not None:
            yield Rejected(where, f"{where}: {self.fault}, expected a whole file.", decoded(cut))

    def head(self) -> list[str]:
        """The first lines, whatever their bytes."""
        found: list[str] = []
        for line in self.lines():
            found.append(line.text if isinstance(line, Line) else line.raw)
            if len(found) == HEAD:
                break
        return found
