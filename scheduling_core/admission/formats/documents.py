"""Files as JSON documents: unpacked, cut into records, each with the place where it stands.

What can't be read is a `Rejected` in its place; the records beside it stay.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scheduling_core.errors import SchedulingError

LARGEST_BYTES = 4 << 30
"""No file is unpacked beyond this: a small archive can hold more than a machine."""


@dataclass(frozen=True)
class Source:
    """A file that was read: its path from where the reading began, and the SHA-256 of its bytes."""

    path: str
    sha256: str


@dataclass(frozen=True)
class Rejected:
    """What couldn't be taken in: the place, a sentence on what is wrong, and the text as it stands."""

    where: str
    reason: str
    raw: str


@dataclass(frozen=True)
class Document:
    """A JSON value with its place and its text."""

    where: str
    raw: str
    value: Any


def read_bytes(path: Path, name: str) -> tuple[bytes, Source]:
    """The bytes of a file and their hash. Raises SchedulingError where they can't be had."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SchedulingError(f"{name}: the file can't be read: {error.strerror or error}.") from error
    return content, Source(name, hashlib.sha256(content).hexdigest())


def unpacked(content: bytes, name: str) -> tuple[bytes, str | None]:
    """The content without gzip, and what is wrong with the archive: what stands before a fault is kept."""
    if content[:2] != b"\x1f\x8b":
        return content, None
    found = bytearray()
    rest = content
    while rest[:2] == b"\x1f\x8b":
        member = zlib.decompressobj(31)
        for start in range(0, len(rest), 1 << 16):
            try:
                found += member.decompress(rest[start : start + (1 << 16)])
            except zlib.error:
                return bytes(found), "the gzip archive is damaged here"
            if len(found) > LARGEST_BYTES:
                raise SchedulingError(f"{name}: unpacks to more than {LARGEST_BYTES >> 30} GiB.")
            if member.eof:
                rest = member.unused_data + rest[start + (1 << 16) :]
                break
        else:
            return bytes(found), "the gzip archive is cut here"
    if rest.strip(b"\0"):
        return bytes(found), "bytes that are no gzip archive follow here"
    return bytes(found), None


def parse(raw: str) -> Any:
    """A JSON value, strictly: no NaN, no key twice. Raises ValueError with a phrase."""
    try:
        return json.loads(raw, parse_constant=_no_constant, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        at = f"line {error.lineno}, column {error.colno}" if error.lineno > 1 else f"column {error.colno}"
        raise ValueError(f"this is no JSON ({error.msg} at {at})") from error
    except RecursionError as error:
        raise ValueError("the JSON is nested too deeply") from error


def documents(content: bytes, name: str) -> list[Document | Rejected]:
    """The records of a file: one whole document, the items of a list, or JSON lines.

    Raises
    ------
    SchedulingError : for an empty file.
    """
    found, fault = unpacked(content, name)
    if not found.strip() and fault is None:
        raise SchedulingError(f"{name}: the file is empty, expected JSON.")
    if fault is not None:
        return _lines(found, name, fault)
    try:
        return _whole(found, name)
    except ValueError as error:
        lines = _lines(found, name, None)
        if any(isinstance(line, Document) for line in lines):
            return lines
        return [Rejected(name, f"{name}: {error}.", decoded(found))]


def decoded(content: bytes) -> str:
    """Bytes as text for a human: what is no UTF-8 is escaped."""
    return content.decode("utf-8", "backslashreplace")


def _whole(content: bytes, name: str) -> list[Document | Rejected]:
    try:
        raw = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError("this is no UTF-8") from error
    value = parse(raw)
    if isinstance(value, list):
        return [Document(f"{name}, record {i}", _again(v), v) for i, v in enumerate(value, 1)]
    return [Document(name, raw, value)]


def _lines(content: bytes, name: str, fault: str | None) -> list[Document | Rejected]:
    found: list[Document | Rejected] = []
    lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    ended = not lines[-1].strip()
    for count, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{name}, line {count}"
        if fault is not None and count == len(lines) and not ended:
            continue
        try:
            raw = line.decode("utf-8").strip()
            found.append(Document(where, raw, parse(raw)))
        except UnicodeDecodeError:
            found.append(Rejected(where, f"{where}: this is no UTF-8.", decoded(line)))
        except ValueError as error:
            found.append(Rejected(where, f"{where}: {error}.", decoded(line)))
    if fault is not None:
        where = f"{name}, line {len(lines)}"
        found.append(Rejected(where, f"{where}: {fault}, expected more.", decoded(lines[-1])))
    return found


def _again(value: Any) -> str:
    """The text of an item of a list, whose own spelling the parser doesn't keep."""
    try:
        return json.dumps(value, ensure_ascii=True)
    except RecursionError:
        return ""


def _no_constant(name: str) -> Any:
    raise ValueError(f"it holds {name}, which is no JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for place, (key, _) in enumerate(pairs) if key in dict(pairs[:place]))
        raise ValueError(f"the key {twice[:40]!r} stands twice in an object")
    return found
