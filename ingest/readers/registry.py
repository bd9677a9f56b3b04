"""Which readers there are, and which one a file needs."""

import hashlib
from importlib.metadata import entry_points
from pathlib import Path

from ingest.errors import IngestError
from ingest.readers import bibtex, csl
from ingest.readers.base import Reader, Reading

GROUP = "proofshelf.readers"
_BUILT_IN = (bibtex.READER, csl.READER)
_MAGIC = (
    (b"%PDF-", "a PDF"),
    (b"PK\x03\x04", "a ZIP archive (or an Office document)"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"\xd0\xcf\x11\xe0", "an old Office document"),
)
# What `surrogateescape` makes of a byte that isn't UTF-8 -> the character that Windows-1252 has there.
_WINDOWS_1252 = {0xDC00 + byte: bytes([byte]).decode("cp1252", "replace") for byte in range(128, 256)}


def readers() -> tuple[dict[str, Reader], tuple[str, ...]]:
    """All readers by format, ours first, and a sentence for each installed one that can't be loaded."""
    found = {reader.format: reader for reader in _BUILT_IN}
    problems: list[str] = []
    for point in sorted(entry_points(group=GROUP), key=lambda p: (p.name, p.value)):
        if point.name in found:
            continue
        try:
            reader = point.load()
        except (ImportError, AttributeError) as error:
            problems.append(f"the reader {point.name!r} ({point.value}) can't be loaded: {error}")
            continue
        if isinstance(reader, Reader):
            found[reader.format] = reader
        else:
            problems.append(f"the reader {point.name!r} ({point.value}) isn't an ingest.readers.Reader")
    return found, tuple(problems)


def read(source: Path | str | bytes, filename: str | None = None) -> Reading:
    """Read a bibliography, its format recognised by what it contains and not by its name.

    `source` is a path, or the bytes of a file; `filename` is what messages call it. The file is
    hashed and decoded at once, its records come one by one. Raises IngestError, with one sentence,
    where there is no text to read or no reader knows it.
    """
    if isinstance(source, bytes):
        name, data = filename or "the input", source
    else:
        name, data = filename or str(source), _bytes_of(Path(source))
    text, notes = _text_of(data, name)
    available, problems = readers()
    for reader in available.values():
        if reader.recognises(text):
            return Reading(
                filename=name,
                format=reader.format,
                reader=f"proofshelf {reader.format}" if reader in _BUILT_IN else reader.format,
                reader_version=reader.version,
                sha256=hashlib.sha256(data).hexdigest(),
                notes=notes + problems,
                records=reader.read(text),
            )
    start = " ".join(text[:200].split())[:40]
    known = "; ".join(f"{r.format} ({r.describes_itself_by})" for r in available.values())
    also = "".join(f"; {problem}" for problem in problems)
    raise IngestError(
        f"{name}: no reader recognises this file, which starts with {start!r}; known formats, all tried: "
        f"{known}{also}."
    )


def _bytes_of(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise IngestError(f"{path}: this is a folder; give the files in it one by one.")
        if path.exists() and not path.is_file():
            raise IngestError(f"{path}: this is no ordinary file, so it can't be read.")
        return path.read_bytes()
    except FileNotFoundError:
        raise IngestError(f"{path}: there is no such file; check the spelling and the folder.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise IngestError(f"{path}: can't be read ({reason}).") from error


def _text_of(data: bytes, name: str) -> tuple[str, tuple[str, ...]]:
    """Decode to text with `\\n` line ends; whatever isn't UTF-8 is read as Windows-1252, with a note."""
    if not data:
        raise IngestError(f"{name}: the file is empty (0 bytes), so there is nothing to read.")
    for magic, what in _MAGIC:
        if data.startswith(magic):
            raise IngestError(f"{name}: this is {what}, not a bibliography; export it as BibTeX or CSL-JSON.")
    notes: list[str] = []
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            text = data.decode("utf-16")
        except UnicodeDecodeError as error:
            raise IngestError(f"{name}: starts like UTF-16 but isn't it; save the file as UTF-8.") from error
        notes.append("the file is UTF-16; UTF-8 is what others expect")
    else:
        text = data.decode("utf-8-sig", "surrogateescape")
    if "\x00" in text:
        at = text.index("\x00")
        raise IngestError(
            f"{name}: this is a binary file (zero byte at character {at + 1}); expected text such as BibTeX."
        )
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.isascii():
        foreign = [i for i, c in enumerate(text) if "\udc80" <= c <= "\udcff"]
        if foreign:
            line = text.count("\n", 0, foreign[0]) + 1
            text = text.translate(_WINDOWS_1252)
            bytes_ = "byte isn't" if len(foreign) == 1 else "bytes aren't"
            notes.append(
                f"{len(foreign)} {bytes_} UTF-8 (first in line {line}); read as Windows-1252 (Latin-1), "
                "so check the accents there"
            )
    if not text.strip("\ufeff \t\n"):
        raise IngestError(f"{name}: there is only white space in this file, so there is nothing to read.")
    return text, tuple(notes)
