"""Tables of records, CSV or TSV: a row is a record, and the header's names say what a column holds.

The names are those that reference managers, databases and ASReview write. Which column was taken for
what is said in the notes; a column of labels is no part of a work (`ingest.labels` reads it).
"""

import io
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TextIO

from pydantic import ValidationError

from ingest import identifiers
from ingest.delimited import Header, Row, header_of, rows
from ingest.readers.base import Keys, Parsed, Reader, sentence
from ingest.sources import HEAD
from ingest.text import clean, from_html
from schema.work import Abstract, Author, Identifier, Rejected, Work

# Folded names of columns, the most telling first.
FIELDS: dict[str, tuple[str, ...]] = {
    "key": ("record_id", "key", "id", "rec_number", "accession_number"),
    "title": ("title", "primary_title", "ti", "t1", "article_title", "document_title", "display_name"),
    "abstract": ("abstract", "notes_abstract", "ab", "n2", "abstract_note", "abstract_text"),
    "authors": ("authors", "author", "au", "a1", "author_names", "author_full_names", "first_authors",
                "authorships_author_display_name"),
    "year": ("year", "publication_year", "py", "y1", "pub_year", "year_of_publication", "publication_date",
             "date"),
    "venue": ("journal", "venue", "journal_title", "publication_title", "source_title", "container_title",
              "secondary_title", "jo", "t2", "so", "publication", "source",
              "primary_location_source_display_name"),
    "type": ("type", "item_type", "document_type", "publication_type", "type_of_reference", "ty", "dt"),
    "language": ("language", "la"),
    "topics": ("topics", "keywords", "author_keywords", "kw", "de", "manual_tags", "topics_display_name"),
    "field": ("field", "primary_topic_field_display_name"),
    "doi": ("doi", "di", "do"),
    "pmid": ("pmid", "pubmed_id", "pm", "ids_pmid"),
    "openalex": ("openalex_id", "openalex", "ids_openalex"),
    "arxiv": ("arxiv", "arxiv_id"),
    "url": ("url", "urls", "link", "ur"),
}  # fmt: skip
NO_TITLE = "the row has no title"
"""How the reason begins for which a row without a title is rejected."""
_KNOWN = frozenset(name for names in FIELDS.values() for name in names)
_SCHEMES = ("openalex", "doi", "pmid", "arxiv", "url")
_YEAR = re.compile(r"(?<![0-9])[12][0-9]{3}(?![0-9])")
_PLAIN_YEAR = re.compile(r"[12][0-9]{3}(?:\.0+|(?:[-/][0-9]{1,2}){0,2}/*)")
_OTHERS = re.compile(r"(?:,?\s*(?:and|&)\s+others|,?\s*et al\.?)\s*$", re.I)


def _header(head: str) -> Header | None:
    """The header of a table of records: it has a column of titles and another one that is known."""
    if head.lstrip("\ufeff \t\n")[:1] in ("{", "[", "@", "%", "<"):
        return None
    header = header_of(head, _KNOWN.__contains__)
    columns = header.columns(FIELDS) if header is not None else {}
    return header if "title" in columns and len(columns) > 1 else None


def recognises(text: str) -> bool:
    """True where the first line is a header that names titles and another known column."""
    return _header(text[:HEAD]) is not None


def remarks(text: str) -> tuple[str, ...]:
    """Which column was taken for what."""
    header = _header(text)
    return header.describes(header.columns(FIELDS)) if header is not None else ()


def read(text: str) -> Iterator[Parsed | Rejected]:
    """The records of a table in its order, each named by its key or identifier."""
    return stream(io.StringIO(text))


def stream(text: TextIO) -> Iterator[Parsed | Rejected]:
    """The same from a stream, holding one row at a time."""
    head = text.read(HEAD)
    header = _header(head)
    if header is None:
        return
    columns = header.columns(FIELDS)
    keys = Keys()
    for row in rows(_Joined(head, text), header):
        yield row if isinstance(row, Rejected) else _record(row, header, columns, keys)


@dataclass(frozen=True)
class Untitled:
    """A row that has an abstract and no title: too little for a work, enough for a classifier to read."""

    line: int
    key: str
    abstract: str
    venue: str | None
    topics: tuple[str, ...]
    field: str | None
    language: str | None
    type: str | None
    year: int | None


def untitled(text: TextIO) -> Iterator[Untitled]:
    """The rows of a table without a title and with an abstract, which `stream` rejects."""
    head = text.read(HEAD)
    header = _header(head)
    if header is None:
        return
    columns = header.columns(FIELDS)
    for row in rows(_Joined(head, text), header):
        if isinstance(row, Rejected):
            continue
        cell = _cells(row, columns)
        abstract = from_html(cell("abstract"))
        if abstract and not from_html(cell("title")):
            yield Untitled(row.line, clean(cell("key")), abstract, **_described(cell, []))


class _Joined:
    """The first part of a text, which was looked at, and the rest of it, line by line."""

    def __init__(self, head: str, rest: TextIO) -> None:
        self._head, self._rest = io.StringIO(head), rest

    def readline(self, size: int = -1, /) -> str:
        """The next line, or so many characters of it."""
        line = self._head.readline(size)
        if line.endswith("\n") or (size >= 0 and len(line) == size):
            return line
        return line + self._rest.readline(size - len(line) if size >= 0 else -1)


def _record(row: Row, header: Header, columns: Mapping[str, int], keys: Keys) -> Parsed | Rejected:
    cell = _cells(row, columns)
    title = from_html(cell("title"))
    if not title:
        empty = not any(text.strip() for text in row.cells)
        said = "every cell of the row is empty" if empty else f"{header.names[columns['title']]!r} is empty"
        return Rejected(line=row.line, raw=row.raw, reason=f"{NO_TITLE}: {said}")
    notes = list(row.notes)
    remarks: list[str] = []
    abstract = from_html(cell("abstract"))
    try:
        work = Work(
            title=title,
            authors=_authors(cell("authors"), notes, remarks),
            abstract=Abstract(text=abstract, source=_source(header, columns)) if abstract else Abstract(),
            **_described(cell, remarks),
            identifiers=_identifiers(row, header, columns, notes),
            note="; ".join(remarks) or None,
        )
    except ValidationError as error:
        return Rejected(line=row.line, raw=row.raw, reason=f"the row isn't a record: {sentence(error)}")
    name = clean(cell("key")) or next((i.value for i in work.identifiers), "")
    key, again = keys.distinct(name, row.line)
    notes += [again] if again else []
    return Parsed(work, f"{header.raw}\n{row.raw}", row.line, key, tuple(notes))


def _cells(row: Row, columns: Mapping[str, int]) -> Callable[[str], str]:
    """What a row says in a field; nothing where the table has no column of it."""
    return lambda field: row.cells[columns[field]] if field in columns else ""


def _described(cell: Callable[[str], str], remarks: list[str]) -> dict[str, Any]:
    """What a row says beside its title, abstract and names."""
    return {
        "year": _year(cell("year"), remarks),
        "venue": from_html(cell("venue")) or None,
        "type": clean(cell("type")) or None,
        "language": clean(cell("language")) or None,
        "topics": _topics(cell("topics")),
        "field": clean(cell("field")) or None,
    }


def _source(header: Header, columns: Mapping[str, int]) -> str:
    return f"table, column {header.names[columns['abstract']]!r}"


def _year(cell: str, remarks: list[str]) -> int | None:
    said = clean(cell)
    match = _YEAR.search(said)
    if said and (match is None or not _PLAIN_YEAR.fullmatch(said)):
        remarks.append(f"the year is given as {said[:100]!r}")
    return int(match[0]) if match else None


def _topics(cell: str) -> tuple[str, ...]:
    """Keywords, told apart by semicolons, bars or lines; by commas only where there is none of these."""
    separator = next((s for s in (";", "|", "\n", ",") if s in cell), None)
    topics = [clean(part) for part in (cell.split(separator) if separator else [cell])]
    return tuple(dict.fromkeys(topic for topic in topics if topic))


def _authors(cell: str, notes: list[str], remarks: list[str]) -> tuple[Author, ...]:
    """Names told apart by semicolons, bars, lines or `and`; by commas only where that is certain."""
    cell = cell.strip().rstrip(";|")
    shortened = _OTHERS.search(cell)
    if shortened is not None:
        remarks.append(f"the record shortens its list of authors with {clean(shortened[0]).lstrip(', ')!r}")
        cell = cell[: shortened.start()]
    separator = next((s for s in (";", "|", "\n", " and ") if s in cell), None)
    parts = cell.split(separator) if separator else _by_commas(cell, notes)
    names = [_spoken(clean(part)) for part in parts]
    return tuple(Author(name=name) for name in names if name)


def _by_commas(cell: str, notes: list[str]) -> list[str]:
    """`Jane Doe, John Roe` is two people, `Doe, Jane` is one; what may be either stays whole."""
    parts = [part.strip() for part in cell.split(",") if part.strip()]
    if len(parts) > 1 and all(" " in part for part in parts):
        return parts
    if len(parts) > 2:
        notes.append("whether commas tell authors apart isn't certain; they are kept as one name")
        return [cell.replace(",", "\ufdd0")]
    return [cell]


def _spoken(name: str) -> str:
    """`Doe, Jane` as it is spoken."""
    family, comma, given = name.partition(",")
    if comma and "," not in given and family.strip() and given.strip():
        name = f"{given.strip()} {family.strip()}"
    return name.replace("\ufdd0", ",")


def _identifiers(
    row: Row, header: Header, columns: Mapping[str, int], notes: list[str]
) -> tuple[Identifier, ...]:
    found: list[Identifier] = []
    for scheme in _SCHEMES:
        said = clean(row.cells[columns[scheme]]) if scheme in columns else ""
        if not said:
            continue
        identifier = identifiers.normalise(scheme, _whole_number(said) if scheme == "pmid" else said)
        if identifier is not None:
            found.append(identifier)
        else:
            name = header.names[columns[scheme]]
            notes.append(f"{name} {said[:100]!r} isn't a valid {scheme} and is left out")
    if "key" in columns:  # an address of OpenAlex or a DOI resolver is certain; a bare number names nothing
        named = identifiers.named_by_address(clean(row.cells[columns["key"]]))
        found += [named] if named else []
    return identifiers.unique(found)


def _whole_number(said: str) -> str:
    """`12345.0` is what tables write for a number in a column with gaps."""
    return re.sub(r"\.0+$", "", said)


READER = Reader(
    format="table",
    version="1",
    describes_itself_by="CSV or TSV whose first line names a column 'title' and another known one",
    recognises=recognises,
    read=read,
    stream=stream,
    remarks=remarks,
)
