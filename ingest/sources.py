"""A file as the texts that it holds: plain, gzipped or a ZIP archive of either; nothing is unpacked to disk.

Limits, so that a small file can't fill time or memory: what is packed may unpack to 256 MiB, and beyond
that to 200 times its own size (text packs 3 to 30 times); an archive may hold 100,000 files, stored or
deflated; what has to be in memory whole may be 1 GiB.
"""

import gzip
import hashlib
import io
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO, cast

from ingest.errors import IngestError
from ingest.text import clean

HEAD = 1 << 16
"""Characters of a text that say what it is."""
UNPACKED, RATIO, MEMBERS, WHOLE = 256 << 20, 200, 100_000, 1 << 30

_GZIP, _ZIP, _NO_ZIP = b"\x1f\x8b", b"PK\x03\x04", b"PK\x05\x06"
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_Handle = io.BufferedReader | io.BytesIO
_Bytes = io.BufferedReader | io.BytesIO | gzip.GzipFile | zipfile.ZipExtFile
_DAMAGE = (OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError)
# What `surrogateescape` makes of a byte that isn't UTF-8 -> the character that Windows-1252 has there.
_FOREIGN = re.compile("[\udc80-\udcff]")
_WINDOWS_1252 = {0xDC00 + byte: bytes([byte]).decode("cp1252", "replace") for byte in range(128, 256)}


@dataclass(eq=False)
class Member:
    """One text of a file; `name` is its name inside an archive, else None.

    `blocked` is a sentence where it can't be opened at all; `problem` is that, or one that says why the
    last reading ended before its end; `utf16` whether it was marked as UTF-16 then.
    """

    name: str | None
    start: bytes
    blocked: str | None
    _file: io.BufferedReader | io.BytesIO | zipfile.ZipFile = field(repr=False)
    _entry: zipfile.ZipInfo | None = field(repr=False)
    _budget: "_Budget" = field(repr=False)
    problem: str | None = None
    utf16: bool = False

    def head(self) -> str:
        """Its first characters, line ends as `\\n`."""
        left = self._budget.left
        with self.text() as text:
            head = text.read(HEAD)
        self._budget.left = left
        return head

    @contextmanager
    def text(self) -> Iterator[TextIO]:
        """Its text, line ends as `\\n`; bytes that aren't UTF-8 become half characters (`mended`).

        Ends early, with `problem` set, where the bytes are damaged or too many.
        """
        with self._bytes() as data:
            self.utf16 = data.peek(2)[:2] in (b"\xff\xfe", b"\xfe\xff")
            encoding, errors = ("utf-16", "replace") if self.utf16 else ("utf-8-sig", "surrogateescape")
            with io.TextIOWrapper(data, encoding, errors, newline=None) as text:
                yield text

    def whole(self) -> bytes:
        """All its bytes; raises IngestError where they are damaged or too many for memory."""
        with self._bytes() as data:
            found = data.read() if self._plain else data.read(WHOLE + 1)
        if self.problem is None and len(found) > WHOLE and not self._plain:
            self.problem = "it unpacks to more than 1 GiB; unpack it and import its parts"
        if self.problem is not None:
            raise IngestError(self.problem)
        return found

    @property
    def _plain(self) -> bool:
        return self._entry is None and self.start[:2] != _GZIP

    @contextmanager
    def _bytes(self) -> Iterator[io.BufferedReader]:
        self.problem = self.blocked
        with ExitStack() as stack:
            try:
                inner: _Bytes
                if self.problem is not None:
                    inner = io.BytesIO()
                elif self._entry is not None and isinstance(self._file, zipfile.ZipFile):
                    inner = cast(zipfile.ZipExtFile, stack.enter_context(self._file.open(self._entry)))
                else:
                    assert not isinstance(self._file, zipfile.ZipFile)
                    self._file.seek(0)
                    inner = self._file
                if self.problem is None and self.start[:2] == _GZIP:
                    inner = stack.enter_context(gzip.GzipFile(fileobj=inner))
            except _DAMAGE as error:
                self.problem = _damage(error)
                inner = io.BytesIO()
            yield io.BufferedReader(_Guarded(inner, self), 1 << 16)


class _Guarded(io.RawIOBase):
    """Bytes that end, with a sentence in the member, where they are damaged or too many."""

    def __init__(self, inner: _Bytes, member: Member) -> None:
        self._inner, self._member = inner, member
        self._counted = not member._plain

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:  # type: ignore[no-untyped-def]
        if self._member.problem is not None:
            return 0
        try:
            data = self._inner.read1(len(buffer))  # what there is before damage, and not damage alone
        except _DAMAGE as error:
            self._member.problem = _damage(error)
            return 0
        if self._counted and not self._member._budget.spend(len(data)):
            self._member.problem = _bomb(self._member._budget)
            return 0
        buffer[: len(data)] = data
        return len(data)


@dataclass
class _Budget:
    """How many bytes a file may still unpack to; all that an archive holds share one."""

    size: int
    left: int

    def spend(self, count: int) -> bool:
        self.left -= count
        return self.left >= 0


def _damage(error: BaseException) -> str:
    if isinstance(error, EOFError):
        return "the packed data end too soon; the file is cut off"
    reason = getattr(error, "strerror", None) or str(error)
    return f"the bytes can't be read any further ({clean(reason)})"


def _bomb(budget: _Budget) -> str:
    allowed = max(UNPACKED, RATIO * budget.size)
    return (
        f"it unpacks to more than {allowed:,} bytes, from {budget.size:,} (at most 256 MiB, or 200 times its "
        "size, is allowed); if that is meant, unpack it first"
    )


@dataclass(frozen=True)
class Source:
    """A file with its SHA-256. It may be opened several times, and has to stay as it was hashed."""

    name: str
    sha256: str
    _path: Path | None
    _data: bytes | None = field(repr=False)
    _state: tuple[int, ...] | None

    @contextmanager
    def members(self) -> Iterator[list[Member]]:
        """The texts inside, in their order; raises IngestError where it is no such file, or changed."""
        with ExitStack() as stack:
            if self._path is None:
                handle: _Handle = io.BytesIO(self._data or b"")
            else:
                handle = stack.enter_context(_opened(self._path))
                self._check(handle)
            yield self._members(handle, stack)
            if self._path is not None:
                self._check(handle)

    def _check(self, handle: _Handle) -> None:
        if _state_of(handle) != self._state:
            raise IngestError(f"{self.name}: the file was changed while it was read; try again")

    def _members(self, handle: _Handle, stack: ExitStack) -> list[Member]:
        start = handle.read(8)
        size = handle.seek(0, os.SEEK_END)
        budget = _Budget(size, max(UNPACKED, RATIO * size))
        if not start.startswith((_ZIP, _NO_ZIP)):
            return [Member(None, _start(handle, start), None, handle, None, budget)]
        try:
            archive = stack.enter_context(zipfile.ZipFile(handle))
        except _DAMAGE as error:
            raise IngestError(
                f"{self.name}: this ZIP archive can't be opened ({clean(str(error))})"
            ) from error
        entries = archive.infolist()
        if any(entry.filename == "[Content_Types].xml" for entry in entries):
            raise IngestError(f"{self.name}: this is an Office document; export it as CSV or BibTeX")
        entries = [entry for entry in entries if not entry.is_dir() and not _hidden(entry.filename)]
        if len(entries) > MEMBERS:
            raise IngestError(f"{self.name}: this archive holds {len(entries):,} files; at most {MEMBERS:,}")
        if sum(entry.file_size for entry in entries) > budget.left:
            raise IngestError(f"{self.name}: {_bomb(budget)}")
        return [_entry(archive, entry, budget) for entry in entries]


def _start(handle: _Handle, start: bytes) -> bytes:
    """The first bytes, or of a gzip file its mark, which says how to go on."""
    return _GZIP if start.startswith(_GZIP) else start


def _entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, budget: _Budget) -> Member:
    name = clean(entry.filename)[:200] or "a file without a name"
    start, blocked = b"", None
    if entry.flag_bits & 1:
        blocked = "it is encrypted"
    elif entry.compress_type not in _METHODS:
        blocked = f"it is packed by method {entry.compress_type}; expected stored or deflated"
    else:
        try:
            with archive.open(entry) as opened:
                start = opened.read(8)
        except _DAMAGE as error:
            blocked = _damage(error)
    return Member(name, start, blocked, archive, entry, budget)


def _hidden(name: str) -> bool:
    """What a Mac adds to archives, and other files that nobody is meant to see."""
    return name.startswith("__MACOSX/") or name.rpartition("/")[2].startswith(".")


def open_source(source: Path | str | bytes, filename: str | None = None) -> Source:
    """Find and hash a file, or the bytes of one; `filename` is what messages call it.

    Raises IngestError where there is no such file.
    """
    if isinstance(source, bytes):
        name = filename or "the input"
        return Source(name, hashlib.sha256(source).hexdigest(), None, source, None)
    path = Path(source)
    with _opened(path) as handle:
        try:
            sha256 = hashlib.file_digest(handle, "sha256").hexdigest()
        except OSError as error:
            raise IngestError(f"{path}: can't be read ({error.strerror or error}).") from error
        return Source(filename or str(source), sha256, path, None, _state_of(handle))


def _opened(path: Path) -> io.BufferedReader:
    try:
        if path.is_dir():
            raise IngestError(f"{path}: this is a folder; give the files in it one by one.")
        # Opening a pipe would wait for ever, so it is looked at first.
        if path.exists() and not stat.S_ISREG(path.stat().st_mode):
            raise IngestError(f"{path}: this is no ordinary file, so it can't be read.")
        return path.open("rb")
    except FileNotFoundError:
        raise IngestError(f"{path}: there is no such file; check the spelling and the folder.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise IngestError(f"{path}: can't be read ({reason}).") from error


def _state_of(handle: _Handle) -> tuple[int, ...]:
    found = os.fstat(handle.fileno())
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def only_text(members: list[Member], name: str) -> tuple[Member, str]:
    """The one text of a file and its first part; raises IngestError for an archive or an empty file."""
    if len(members) != 1 or members[0].name is not None:
        raise IngestError(f"{name}: this is an archive; give the table in it by itself")
    (member,) = members
    head = member.head()
    if not head.strip("\ufeff \t\n"):
        raise IngestError(f"{name}: {member.problem or 'there is nothing in this file to read'}")
    return member, head


def mended(text: str) -> tuple[str, int]:
    """The text with bytes that weren't UTF-8 read as Windows-1252, and how many they were.

    Only for text decoded with `surrogateescape`. Bytes that Windows-1252 lacks become U+FFFD.
    """
    foreign = 0 if text.isascii() else len(_FOREIGN.findall(text))
    return (text.translate(_WINDOWS_1252), foreign) if foreign else (text, 0)


def first_foreign(text: str) -> int | None:
    """Where the first byte that wasn't UTF-8 stands in a text decoded with `surrogateescape`."""
    match = None if text.isascii() else _FOREIGN.search(text)
    return match.start() if match else None


def not_utf8(count: int, where: str = "") -> str:
    """The sentence for bytes that `mended` replaced."""
    bytes_ = "byte isn't" if count == 1 else "bytes aren't"
    return f"{count} {bytes_} UTF-8{where}; read as Windows-1252 (Latin-1), so check the accents there"
