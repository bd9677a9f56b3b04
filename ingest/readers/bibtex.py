"""BibTeX and BibLaTeX, split by bibtexparser 2 (which recovers from broken entries), read by us.

Only the splitter is used. Its middleware doesn't join `jul # " 4"`, drops what follows an unescaped
`%`, and turns a later `@string` loose on earlier entries; line numbers are ours, since the
splitter miscounts a line that ends with a backslash. The splitter needs the whole file, so memory
grows with it; records are built one by one.
"""

import logging
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from bibtexparser.entrypoint import parse_string
from bibtexparser.model import (
    Block,
    DuplicateBlockKeyBlock,
    DuplicateFieldKeyBlock,
    Entry,
    ImplicitComment,
    ParsingFailedBlock,
    String,
)
from pydantic import ValidationError

from ingest import identifiers
from ingest.readers.base import Keys, Parsed, Reader, sentence
from ingest.text import clean, from_tex, verbatim
from schema.work import Abstract, Author, Identifier, Rejected, Work

logging.getLogger("bibtexparser").addHandler(logging.NullHandler())  # what fails is returned, not logged

_TYPES = (
    "article|book|booklet|inbook|incollection|inproceedings|conference|manual|mastersthesis|misc|phdthesis"
    "|proceedings|techreport|unpublished|online|electronic|report|thesis|collection|dataset|software|patent"
    "|string|comment|preamble"
)
_STARTS = re.compile(
    rf"^[ \t\ufeff%]*@[ \t]*(?:(?:{_TYPES})\s*[{{(]|[a-z]+\s*[{{(][^\s,{{}}()=]*\s*,)", re.I | re.M
)
# Our vocabulary of types is that of CSL 1.0.2.
_CSL_TYPES = {
    "article": "article-journal",
    "periodical": "periodical",
    "inproceedings": "paper-conference",
    "conference": "paper-conference",
    "book": "book",
    "mvbook": "book",
    "proceedings": "book",
    "mvproceedings": "book",
    "collection": "book",
    "mvcollection": "book",
    "booklet": "pamphlet",
    "inbook": "chapter",
    "incollection": "chapter",
    "suppbook": "chapter",
    "inreference": "entry",
    "phdthesis": "thesis",
    "mastersthesis": "thesis",
    "thesis": "thesis",
    "techreport": "report",
    "report": "report",
    "manual": "report",
    "unpublished": "manuscript",
    "online": "webpage",
    "electronic": "webpage",
    "www": "webpage",
    "dataset": "dataset",
    "software": "software",
    "patent": "patent",
    "misc": "document",
}
_VENUES = ("journal", "journaltitle", "booktitle", "maintitle", "eventtitle")
_PUBLISHERS = ("school", "institution", "organization", "publisher")
# Fields that a crossref hands down, as BibLaTeX does; a parent's identifiers name the parent only.
_INHERITED = {
    "year": "year",
    "date": "date",
    "title": "booktitle",
    "journal": "journal",
    "journaltitle": "journaltitle",
    "publisher": "publisher",
    "organization": "organization",
}
_MONTHS = {
    "jan": "January",
    "feb": "February",
    "mar": "March",
    "apr": "April",
    "may": "May",
    "jun": "June",
    "jul": "July",
    "aug": "August",
    "sep": "September",
    "oct": "October",
    "nov": "November",
    "dec": "December",
}
_LONGEST_STRING = 2_000  # of an expanded @string, which otherwise doubles with every line

_BRACE = re.compile(r"(?<!\\)[{}]")
_BRACE_OR_QUOTE = re.compile(r"(?<!\\)[{}\"]")
_MARK_AT_END = re.compile(r"(?<=.)@\w*[ \t]*\Z", re.S)
_BARE = re.compile(r"[^\s#{}\",]+")
_BLANKS = re.compile(r"\s*")
_AND = re.compile(r"\\.|[{}]| and(?= )", re.I | re.S)
_COMMA = re.compile(r"\\.|[{},]", re.S)
_YEAR = re.compile(r"(?<![0-9])[12][0-9]{3}(?![0-9])")
_FIELD_OUTSIDE = re.compile(r"^[ \t,}\"]*[A-Za-z][\w-]*\s*=\s*[{\"0-9]", re.M)
_ENTRY_OUTSIDE = re.compile(r"^[ \t]*@", re.M)
_ISBN = re.compile(r"[0-9][0-9\s\u2010-\u2015-]{8,20}[0-9Xx]")
_BOOKS = frozenset({"book", "pamphlet", "thesis", "report", "document"})


class _Malformed(ValueError):
    """A value that BibTeX couldn't read; the message says what was expected."""


@dataclass
class _Piece:
    """A block with its place in the text and the text between it and the next block."""

    block: Block
    start: int
    end: int
    line: int
    tail: str = ""
    tail_line: int = 0
    until: int = 0


@dataclass
class _Record:
    """An entry while it becomes a work."""

    kind: str
    values: Mapping[str, list[str]]
    notes: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def text(self, *names: str) -> str:
        """The first of these fields that says something, as plain text."""
        for name in names:
            if name in self.values:
                plain = from_tex(self.values[name][0])
                if plain:
                    return plain
        return ""

    def each(self, name: str) -> list[str]:
        """Every value of one field as an address or identifier."""
        return [verbatim(value) for value in self.values.get(name, ())]


def recognises(text: str) -> bool:
    """True where a line starts with an entry, and the file isn't JSON."""
    return text.lstrip("\ufeff \t\n")[:1] not in ("{", "[") and _STARTS.search(text) is not None


def read(text: str) -> Iterator[Parsed | Rejected]:
    """The records of a BibTeX file in its order; a repeated key gets a second name, `key#2`."""
    text = text.removeprefix("\ufeff")
    pieces = _pieces(text)
    strings = _all_strings(pieces)
    parents = _Parents(pieces)
    keys = Keys()
    for piece in pieces:
        block = _unwrapped(piece.block)
        if isinstance(block, String):
            _define(block, strings)
        elif isinstance(block, Entry):
            if _commented_out(text, piece.start):
                yield _rejected(text, piece, f"entry {block.key!r} is commented out with '%'")
            elif piece.tail.lstrip()[:1] in (",", "}", '"') and _FIELD_OUTSIDE.search(piece.tail):
                yield Rejected(
                    line=piece.line,
                    raw=text[piece.start : piece.until].rstrip(),
                    reason=f"entry {block.key!r} ends before its last fields: a brace or quote too many "
                    "closes it early",
                )
                continue
            else:
                yield _entry(block, text, piece, strings, parents, keys)
        elif isinstance(block, ParsingFailedBlock):
            yield _rejected(text, piece, _why(block, text, piece), whole=True)
            continue
        yield from _outside(piece)


def _unwrapped(block: Block) -> Block:
    """The entry or @string itself where the splitter marks it for a key or field that comes twice."""
    if isinstance(block, (DuplicateBlockKeyBlock, DuplicateFieldKeyBlock)):
        return block.ignore_error_block or block
    return block


def _pieces(text: str) -> list[_Piece]:
    """Blocks in order with offset and line, found again in the text by what the splitter took."""
    pieces: list[_Piece] = []
    at, line = 0, 1
    first = _Piece(ImplicitComment(""), 0, 0, 1)
    last = first
    for block in parse_string(text, parse_stack=[]).blocks:
        raw = block.raw or ""
        start = text.index(raw, at)
        line += text.count("\n", at, start)
        if isinstance(block, ImplicitComment):
            if last.tail:
                last.tail += "\n"
            else:
                last.tail_line = line
            last.tail += raw
        else:
            last.until = start
            last = _Piece(block, start, start + len(raw), line)
            pieces.append(last)
        # The raw text of a failed block may run into the mark of the next one.
        at = start + len(_MARK_AT_END.sub("", raw) if isinstance(block, ParsingFailedBlock) else raw)
        line += text.count("\n", start, at)
    last.until = len(text)
    return [first, *pieces]


def _outside(piece: _Piece) -> Iterator[Rejected]:
    """Text between entries is a comment, unless it looks like a record that lost its frame."""
    lines = [line for line in piece.tail.split("\n") if not line.lstrip().startswith("%")]
    tail = "\n".join(lines)
    if _ENTRY_OUTSIDE.search(tail):
        reason = "this starts with '@' but isn't an entry; expected '@type{key, field = {value}}'"
    elif _FIELD_OUTSIDE.search(tail):
        reason = "fields stand outside any entry; expected '@type{key,' before them"
    else:
        return
    yield Rejected(line=piece.tail_line, raw=piece.tail, reason=reason)


def _rejected(text: str, piece: _Piece, reason: str, whole: bool = False) -> Rejected:
    end = piece.until if whole else piece.end
    return Rejected(line=piece.line, raw=text[piece.start : end].rstrip(), reason=reason)


def _why(block: ParsingFailedBlock, text: str, piece: _Piece) -> str:
    head = re.match(r"@(\w*)\s*[{(]\s*([^\s,={}()]*)", text[piece.start : piece.start + 300])
    name = f"@{head[1]} {head[2]!r}" if head and head[2] else f"@{head[1]}" if head else "an entry"
    why = str(getattr(block.error, "abort_reason", block.error))
    if "block start" in why:
        line = piece.line + text.count("\n", piece.start, piece.until)
        return f"{name} isn't closed before the next entry starts in line {line}; a '}}' or '\"' is missing"
    if "end of file" in why:
        return f"{name} isn't closed when the file ends; a '}}' or '\"' is missing"
    return f"{name} can't be read: {clean(why.replace('`', chr(39)))}"


def _commented_out(text: str, start: int) -> bool:
    begin = text.rfind("\n", 0, start) + 1
    return text[begin:start].lstrip().startswith("%")


def _all_strings(pieces: list[_Piece]) -> dict[str, str]:
    """Every @string by its first definition, for entries that stand before it."""
    strings = dict(_MONTHS)
    for piece in pieces:
        if isinstance(piece.block, String):
            _define(piece.block, strings)
    for piece in reversed(pieces):
        if isinstance(piece.block, String):
            _define(piece.block, strings)
    return strings


def _define(block: String, strings: dict[str, str]) -> None:
    try:
        strings[block.key.lower()] = _resolve(_parts(block.value), strings, [])[:_LONGEST_STRING]
    except _Malformed:
        strings.pop(block.key.lower(), None)


def _parts(value: str) -> list[tuple[bool, str]]:
    """A value as its pieces, joined by `#` in the file: (is a name to look up, text)."""
    if value[:1] == "{" and value.find("{", 1) < 0 and value.find("}") == len(value) - 1:
        return [(False, value[1:-1])]
    parts: list[tuple[bool, str]] = []
    at = 0
    while True:
        if at >= len(value):
            raise _Malformed("a value is missing")
        opener = value[at]
        if opener == "{":
            end = _closing(value, at, _BRACE)
            parts.append((False, value[at + 1 : end]))
            at = end + 1
        elif opener == '"':
            end = _closing(value, at, _BRACE_OR_QUOTE)
            parts.append((False, value[at + 1 : end]))
            at = end + 1
        else:
            bare = _BARE.match(value, at)
            if bare is None:
                raise _Malformed(f"{opener!r} stands where a value should start")
            parts.append((not bare[0].isdigit(), bare[0]))
            at = bare.end()
        at = _BLANKS.match(value, at).end()  # type: ignore[union-attr]
        if at == len(value):
            return parts
        if value[at] != "#":
            rest = clean(value[at : at + 30])
            raise _Malformed(f"{rest!r} follows a finished value; a comma is missing before it")
        at = _BLANKS.match(value, at + 1).end()  # type: ignore[union-attr]


def _closing(value: str, at: int, marks: re.Pattern[str]) -> int:
    depth = 0
    for mark in marks.finditer(value, at + 1):
        if mark[0] == "{":
            depth += 1
        elif depth == 0:
            return mark.start()
        elif mark[0] == "}":
            depth -= 1
    if value[at] == '"' and value.count('"', at) == 2:  # a lone brace inside quotes
        return value.index('"', at + 1)
    raise _Malformed(f"the {value[at]!r} that opens a value is never closed")


def _resolve(parts: list[tuple[bool, str]], strings: Mapping[str, str], undefined: list[str]) -> str:
    if len(parts) == 1 and not parts[0][0]:
        return parts[0][1]
    out: list[str] = []
    expanded = 0
    for is_name, text in parts:
        if not is_name:
            out.append(text)
            continue
        known = strings.get(text.lower())
        if known is None:
            undefined.append(text)
            known = text
        expanded += len(known)
        if expanded > 5 * _LONGEST_STRING:
            raise _Malformed("@string names expand to more than 10,000 characters")
        out.append(known)
    return "".join(out)


class _Parents:
    """Entries that a crossref may name, by key, read when asked for."""

    def __init__(self, pieces: list[_Piece]) -> None:
        self._entries: dict[str, Entry] = {}
        for piece in pieces:
            if isinstance(piece.block, Entry):
                self._entries.setdefault(piece.block.key.lower(), piece.block)

    def fields(self, key: str, strings: Mapping[str, str]) -> dict[str, list[str]] | None:
        """The fields of the entry with this key, or None where there is none that can be read."""
        entry = self._entries.get(key.lower())
        if entry is None:
            return None
        try:
            return _values(entry, strings, [], [])
        except _Malformed:
            return None


def _values(
    entry: Entry, strings: Mapping[str, str], undefined: list[str], repeated: list[str]
) -> dict[str, list[str]]:
    """Field names in lower case with their resolved values, in order."""
    values: dict[str, list[str]] = {}
    for item in entry.fields:
        name = item.key
        if "%" in name:  # a comment between two fields
            name = " ".join(part for part in name.split("\n") if not part.lstrip().startswith("%"))
        name = name.strip().lower()
        unknown: list[str] = []
        try:
            value = _resolve(_parts(item.value), strings, unknown)
        except _Malformed as error:
            raise _Malformed(f"field {name!r}: {error}") from None
        if name != "month":
            undefined += unknown
        if name in values:
            repeated.append(name)
        values.setdefault(name, []).append(value)
    return values


def _entry(
    entry: Entry, text: str, piece: _Piece, strings: Mapping[str, str], parents: _Parents, keys: Keys
) -> Parsed | Rejected:
    undefined: list[str] = []
    repeated: list[str] = []
    reject = partial(_rejected, text, piece)
    key = clean(entry.key)
    try:
        values = _values(entry, strings, undefined, repeated)
    except _Malformed as error:
        return reject(f"entry {key!r}, {error}")
    record = _Record(entry.entry_type.lower(), values)
    record.notes += [
        f"the field {n!r} comes more than once; the first is used" for n in dict.fromkeys(repeated)
    ]
    record.notes += [f"the @string {n!r} is not defined; its name is used" for n in dict.fromkeys(undefined)]
    if not key:
        record.notes.append("the entry has no key")
    if "crossref" in values:
        parent = verbatim(values["crossref"][0])
        inherited = parents.fields(parent, strings)
        if inherited is None:
            record.notes.append(f"crossref {parent!r} is not in this file")
        else:
            for theirs, ours in _INHERITED.items():
                if theirs in inherited:
                    values.setdefault(ours, inherited[theirs])
    title = record.text("title")
    if not title:
        return reject(f"entry {key!r} has no title; expected a field 'title'")
    subtitle = record.text("subtitle")
    if subtitle:
        title = f"{title} {subtitle}" if title[-1] in ":?!.\u2013\u2014" else f"{title}: {subtitle}"
    kind = _CSL_TYPES.get(record.kind, record.kind)
    try:
        work = Work(
            title=title,
            authors=_authors(record),
            year=_year(record),
            venue=record.text(*_VENUES) or record.text(*_PUBLISHERS) or None,
            type=kind or None,
            language=record.text("language", "langid") or None,
            abstract=_abstract(record),
            identifiers=_identifiers(record, kind),
            note="; ".join([n for n in (record.text("note"), *record.remarks) if n]) or None,
        )
    except ValidationError as error:
        return reject(f"entry {key!r}: {sentence(error)}")
    own, again = keys.distinct(key, piece.line)
    notes = (*record.notes, *([again] if again else []))
    return Parsed(work, text[piece.start : piece.end], piece.line, own, notes)


def _authors(record: _Record) -> tuple[Author, ...]:
    names = record.values.get("author", [""])[0]
    if not names.strip() and record.kind in ("book", "proceedings", "collection", "mvbook", "mvproceedings"):
        names = record.values.get("editor", [""])[0]
        if names.strip():
            record.remarks.append("the editors are named as authors")
    authors: list[Author] = []
    for name in _split(f" {' '.join(names.split())} ", _AND):
        if name.strip().lower() == "others":
            record.remarks.append("the record shortens its list of authors with 'and others'")
            continue
        plain = _name(name, record)
        if plain:
            authors.append(Author(name=plain))
    return tuple(authors)


def _split(text: str, separator: re.Pattern[str]) -> list[str]:
    """Cut where `separator` matches outside braces."""
    out: list[str] = []
    depth = at = 0
    for match in separator.finditer(text):
        token = match[0]
        if token == "{":
            depth += 1
        elif token == "}":
            depth = max(0, depth - 1)
        elif token[0] != "\\" and depth == 0:
            out.append(text[at : match.start()])
            at = match.end()
    out.append(text[at:])
    return out


def _name(name: str, record: _Record) -> str:
    """`von Last, Jr, First` as it is spoken: `First von Last Jr`. A braced name is left whole."""
    if "," not in name:
        return from_tex(name)
    parts = [plain for plain in (from_tex(p) for p in _split(name, _COMMA)) if plain]
    if len(parts) == 2:
        return f"{parts[1]} {parts[0]}"
    if len(parts) == 3:
        return f"{parts[2]} {parts[0]} {parts[1]}"
    if len(parts) > 3:
        record.notes.append("an author has more than two commas; maybe several people without 'and' between")
    return ", ".join(parts)


def _year(record: _Record) -> int | None:
    said = record.text("year", "date")
    if not said:
        return None
    match = _YEAR.search(said)
    if match is None:
        record.remarks.append(f"the year is given as {said[:100]!r}")
        return None
    if said != match[0] and not re.fullmatch(r"[12][0-9]{3}(-[0-9]{2}){0,2}", said):
        record.remarks.append(f"the year is given as {said[:100]!r}")
    return int(match[0])


def _abstract(record: _Record) -> Abstract:
    text = record.text("abstract")
    return Abstract(text=text, source="BibTeX record") if text else Abstract()


def _identifiers(record: _Record, kind: str) -> tuple[Identifier, ...]:
    found: list[Identifier] = []

    def take(scheme: str, value: str, field_name: str) -> None:
        if not value:
            return
        identifier = identifiers.normalise(scheme, value)
        if identifier is not None:
            found.append(identifier)
        else:
            record.notes.append(f"{field_name} {value[:100]!r} isn't a valid {scheme} and is left out")

    for value in record.each("doi"):
        take("doi", value, "doi")
    eprint_type = " ".join(record.each("archiveprefix") + record.each("eprinttype")).lower()
    for value in record.each("eprint"):
        if "pubmed" in eprint_type:
            take("pmid", value, "eprint")
        elif "arxiv" in eprint_type:
            archive = "".join(record.each("primaryclass")[:1])
            if re.fullmatch(r"[0-9]{7}(v[0-9]+)?", value) and archive:
                value = f"{archive}/{value}"
            take("arxiv", value, "eprint")
        else:
            guess = None if eprint_type else identifiers.normalise("arxiv", value)
            found += [guess] if guess else identifiers.identifiers_in(value)
    for name in ("arxiv", "arxivid"):
        for value in record.each(name):
            take("arxiv", value, name)
    for value in record.each("pmid"):
        take("pmid", value, "pmid")
    for value in record.each("openalex"):
        take("openalex", value, "openalex")
    for value in record.each("isbn"):
        several = _ISBN.findall(value) if identifiers.normalise("isbn", value) is None else [value]
        if kind not in _BOOKS:
            record.notes.append(
                f"the ISBN {value[:60]!r} names a whole book, not this {kind}; it is left out"
            )
            continue
        for one in several or [value]:
            take("isbn", one, "isbn")
    for value in record.each("url"):
        take("url", value, "url")
    for name in ("journal", "howpublished", "note"):
        for value in record.each(name):
            if name == "howpublished":
                found += identifiers.identifiers_in(value)
            elif "arxiv" in value.lower():
                found += [i for i in identifiers.identifiers_in(value) if i.scheme == "arxiv"]
    return identifiers.unique(found)


READER = Reader(
    format="bibtex",
    version="1",
    describes_itself_by="a line that starts with '@type{key,'",
    recognises=recognises,
    read=read,
)
