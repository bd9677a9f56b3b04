"""Bytes as text, for readers that take a text whole."""

from ingest.errors import IngestError
from ingest.sources import first_foreign, mended, not_utf8

UTF16 = "the file is UTF-16; UTF-8 is what others expect"
_MAGIC = (
    (b"%PDF-", "a PDF"),
    (b"PK\x03\x04", "a ZIP archive inside another archive"),
    (b"\x1f\x8b", "a gzip file inside another archive"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"\xd0\xcf\x11\xe0", "an old Office document"),
)


def decode(data: bytes, name: str) -> tuple[str, tuple[str, ...]]:
    """Text with `\\n` line ends, and notes; whatever isn't UTF-8 is read as Windows-1252.

    Raises IngestError where there is nothing to read.
    """
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
        notes.append(UTF16)
    else:
        text = data.decode("utf-8-sig", "surrogateescape")
    if "\x00" in text:
        at = text.index("\x00")
        raise IngestError(
            f"{name}: this is a binary file (zero byte at character {at + 1}); expected text such as BibTeX."
        )
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    first = first_foreign(text)
    if first is not None:
        line = text.count("\n", 0, first) + 1
        text, foreign = mended(text)
        notes.append(not_utf8(foreign, f" (first in line {line})"))
    if not text.strip("\ufeff \t\n"):
        raise IngestError(f"{name}: there is only white space in this file, so there is nothing to read.")
    return text, tuple(notes)
