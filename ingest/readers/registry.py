"""Which readers there are, and which one a file needs."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.metadata import entry_points
from pathlib import Path

from ingest.errors import IngestError
from ingest.readers import bibtex, csl, openalex, table
from ingest.readers.base import Parsed, Reader, Reading
from ingest.readers.decoding import UTF16, decode
from ingest.sources import WHOLE, Member, Source, open_source
from schema.work import Rejected

GROUP = "proofshelf.readers"
_BUILT_IN = (bibtex.READER, csl.READER, openalex.READER, table.READER)
_SHOWN = 5


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

    `source` is a path, or the bytes of a file; it may be gzipped, or a ZIP archive of files in one format.
    `filename` is what messages call it. The file is hashed at once, its records come one by one. Raises
    IngestError, with one sentence, where there is no text to read or no reader knows it, and from
    `records` where the file is changed while they are read.
    """
    file = open_source(source, filename)
    available, problems = readers()
    with file.members() as members:
        found = _recognise(file, members, available, problems)
    return Reading(
        filename=file.name,
        format=found.reader.format,
        reader=f"proofshelf {found.reader.format}" if found.reader in _BUILT_IN else found.reader.format,
        reader_version=found.reader.version,
        sha256=file.sha256,
        notes=found.notes() + problems,
        records=_records(file, found),
    )


@dataclass
class _Found:
    """A file's reader and those of its texts, by their place, that it recognised.

    A text is None where it is streamed; `damaged` are those that couldn't be read to where they would
    have been recognised.
    """

    reader: Reader
    texts: dict[int, str | None]
    remarks: list[str]
    left_out: list[str]
    damaged: dict[int, str]

    def notes(self) -> tuple[str, ...]:
        """Sentences about the whole file."""
        notes = list(self.remarks)
        if self.left_out:
            shown = ", ".join(self.left_out[:_SHOWN])
            more = f" and {len(self.left_out) - _SHOWN} more" if len(self.left_out) > _SHOWN else ""
            notes.append(f"files of the archive that aren't {self.reader.format} are left out: {shown}{more}")
        return tuple(notes)


def _recognise(
    file: Source, members: list[Member], available: dict[str, Reader], problems: tuple[str, ...]
) -> _Found:
    """The reader of the first text that any reader recognises, and all that it recognises.

    Streaming readers are asked first: they need to see no more than the first part.
    """
    if not members:
        raise IngestError(f"{file.name}: this ZIP archive holds no files")
    streaming = [reader for reader in available.values() if reader.stream is not None]
    found: _Found | None = None
    start = ""
    left_out: list[str] = []
    damaged: dict[int, str] = {}
    for index, member in enumerate(members):
        head = member.head()
        start = start or head[:200]
        candidates = streaming if found is None else [found.reader]
        reader = next((reader for reader in candidates if reader.recognises(head)), None)
        if reader is None:
            if member.problem is not None:
                damaged[index] = member.problem
            else:
                left_out.append(member.name or "")
            continue
        if found is None:
            found = _Found(reader, {}, [UTF16] if member.utf16 else [], left_out, damaged)
            found.remarks += reader.remarks(head) if reader.remarks is not None else ()
        found.texts[index] = None
    return found or _recognise_whole(file, members, available, problems, start, damaged)


def _recognise_whole(
    file: Source, members: list[Member], available: dict[str, Reader], problems: tuple[str, ...], start: str,
    damaged: dict[int, str],
) -> _Found:  # fmt: skip
    """The same by readers that want to see texts whole."""
    whole = [reader for reader in available.values() if reader.stream is None]
    found: _Found | None = None
    left_out: list[str] = []
    room = WHOLE
    for index, member in enumerate(members):
        if index in damaged and member.name is not None:
            continue
        try:
            data = member.whole()
        except IngestError as error:
            raise IngestError(f"{file.name}: {error}") from error
        room -= len(data) if member.name is not None else 0
        if room < 0:
            raise IngestError(f"{file.name}: its texts are longer than 1 GiB; import them one by one")
        try:
            text, notes = decode(data, member.name or file.name)
        except IngestError:
            if member.name is None:
                raise
            left_out.append(member.name)
            continue
        candidates = whole if found is None else [found.reader]
        reader = next((reader for reader in candidates if reader.recognises(text)), None)
        if reader is None:
            left_out.append(member.name or "")
            continue
        if found is None:
            found = _Found(reader, {}, [], left_out, damaged)
        found.texts[index] = text
        found.remarks += notes if member.name is None else (f"{member.name}: {note}" for note in notes)
    if found is not None:
        return found
    known = "; ".join(f"{r.format} ({r.describes_itself_by})" for r in available.values())
    also = "".join(f"; {problem}" for problem in problems)
    raise IngestError(
        f"{file.name}: no reader recognises this file, which starts with {' '.join(start.split())[:40]!r}; "
        f"known formats, all tried: {known}{also}."
    )


def _records(file: Source, found: _Found) -> Iterator[Parsed | Rejected]:
    """The records of all texts in their order; what a text's bytes lack is a rejected record of its own."""
    reader = found.reader
    with file.members() as members:
        for index, member in enumerate(members):
            if index in found.damaged:
                yield _placed(Rejected(raw="", reason=found.damaged[index]), member)
                continue
            if index not in found.texts:
                continue
            text = found.texts[index]
            if text is not None or reader.stream is None:
                for record in reader.read(text or ""):
                    yield _placed(record, member)
                continue
            with member.text() as stream:
                for record in reader.stream(stream):
                    yield _placed(record, member)
            if member.problem is not None:
                lost = Rejected(raw="", reason=f"records may be missing here: {member.problem}")
                yield _placed(lost, member)


def _placed(record: Parsed | Rejected, member: Member) -> Parsed | Rejected:
    """The record with the name of the file that it comes from, inside an archive."""
    if member.name is None:
        return record
    if isinstance(record, Parsed):
        return replace(record, member=member.name)
    return record.model_copy(update={"reason": f"{member.name}: {record.reason}"})
