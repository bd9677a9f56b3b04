"""CSL-JSON: a list of items, one item, or `{"items": [...]}`, as Zotero, Pandoc and Crossref write it.

Items are decoded one at a time from the text, so each keeps its own text and line, and those before
a syntax error are kept. JSON allows a key to come twice: the last value is used, as every JSON
program does, and the record says so.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from ingest import identifiers
from ingest.readers.base import Keys, Parsed, Reader, sentence
from ingest.text import clean, from_html, whole
from schema.work import Abstract, Author, Identifier, Rejected, Work

_BLANKS = re.compile(r"[ \t\n\r\ufeff]*")
_START = re.compile(r"[ \t\n\r\ufeff]*(?:\[[ \t\n\r]*)?\{")
_WRAPPED = re.compile(r'[ \t\n\r\ufeff]*\{[ \t\n\r]*"items"[ \t\n\r]*:[ \t\n\r]*(?=\[)')
_OURS = re.compile(
    r'"(?:title|author|issued|DOI|container-title|type|id|URL|ISBN|items|PMID|citation-key|family)"\s*:'
)
_OTHERS = re.compile(r'"(?:display_name|abstract_inverted_index|message-version|message-type|paperId)"\s*:')
_YEAR = re.compile(r"(?<![0-9])[12][0-9]{3}(?![0-9])")
_ISBN = re.compile(r"[0-9][0-9\s\u2010-\u2015-]{8,20}[0-9Xx]")
_IN_A_BOOK = frozenset(
    {"chapter", "paper-conference", "entry", "entry-dictionary", "entry-encyclopedia", "article-journal"}
)
_VENUES = ("container-title", "event-title", "publisher")
_ABSENT = object()


def recognises(text: str) -> bool:
    """True for JSON whose first part uses names of CSL, and no other format's."""
    head = text[:20_000]
    empty = re.fullmatch(r"\s*\[\s*\]\s*", head) is not None
    if empty:
        return True
    return _START.match(head) is not None and _OURS.search(head) is not None and not _OTHERS.search(head)


def read(text: str) -> Iterator[Parsed | Rejected]:
    """The records of a CSL-JSON file in its order; an item is named by its `id`."""
    keys = Keys()
    lines = _Lines(text)
    repeated: list[str] = []
    decoder = json.JSONDecoder(object_pairs_hook=lambda pairs: _object(pairs, repeated))
    wrapped = _WRAPPED.match(text)
    at = wrapped.end() if wrapped else _BLANKS.match(text).end()  # type: ignore[union-attr]
    in_list = text[at : at + 1] == "["
    at += in_list
    number = 0
    while True:
        at = _BLANKS.match(text, at).end()  # type: ignore[union-attr]
        if in_list and number == 0 and text[at : at + 1] == "]":
            at += 1
            break
        number += 1
        repeated.clear()
        try:
            item, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            yield _broken(text, at, lines, number, _reason(error))
            return
        yield _item(item, whole(text[at:end]), lines.of(at), number, tuple(dict.fromkeys(repeated)), keys)
        at = _BLANKS.match(text, end).end()  # type: ignore[union-attr]
        if not in_list:
            break
        mark = text[at : at + 1]
        if mark == "]":
            at += 1
            break
        if mark != ",":
            where = f"JSON syntax error in line {lines.of(at)}, column {lines.column(at)}"
            found = f"found {mark!r}" if mark else "the file ends"
            reason = f"{where}: expected ',' or ']' after item {number}, {found}"
            yield _broken(text, at, lines, number + 1, reason)
            return
        at += 1
    rest = text[at:].strip(" \t\n\r\ufeff")
    if wrapped is not None:
        yield from _wrapper(text, at, lines)
    elif rest:
        yield _broken(text, at, lines, number + 1, "more text follows the end of the JSON")


def _wrapper(text: str, at: int, lines: "_Lines") -> Iterator[Rejected]:
    """What stands beside `items`: allowed to be anything, as long as the object is closed."""
    try:
        json.loads("{" + '"items":0' + text[at:])
    except (ValueError, RecursionError):
        yield _broken(text, at, lines, None, "the object around 'items' isn't closed properly; expected '}'")


class _Lines:
    """Line and column of offsets that only grow, counted once."""

    def __init__(self, text: str) -> None:
        self._text, self._at, self._line = text, 0, 1

    def of(self, offset: int) -> int:
        """The line of an offset, from 1."""
        if offset < self._at:
            return self._text.count("\n", 0, offset) + 1
        self._line += self._text.count("\n", self._at, offset)
        self._at = offset
        return self._line

    def column(self, offset: int) -> int:
        """The column of an offset, from 1."""
        return offset - self._text.rfind("\n", 0, offset)


def _object(pairs: list[tuple[str, Any]], repeated: list[str]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                repeated.append(name)
            seen.add(name)
    return made


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"JSON syntax error in line {error.lineno}, column {error.colno}: {error.msg}"
    if isinstance(error, RecursionError):
        return "the JSON is nested too deeply to be a bibliographic item"
    return f"a number can't be read: {error}"


def _broken(text: str, at: int, lines: _Lines, number: int | None, reason: str) -> Rejected:
    here = f"item {number}: " if number is not None else ""
    return Rejected(line=lines.of(at), raw=whole(text[at:]), reason=f"{here}{reason}")


def _item(
    item: Any, raw: str, line: int, number: int, repeated: tuple[str, ...], keys: Keys
) -> Parsed | Rejected:
    def rejected(reason: str) -> Rejected:
        return Rejected(line=line, raw=raw, reason=f"item {number} {reason}")

    if not isinstance(item, dict):
        kinds = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}
        return rejected(f"is {kinds.get(type(item), 'a number')}; expected an object with a title")
    title = _text(item.get("title"))
    if not title:
        return rejected("has no title; expected a text under 'title'")
    subtitle = _text(item.get("subtitle"))
    if subtitle and subtitle.lower() not in title.lower():
        title = f"{title} {subtitle}" if title[-1] in ":?!.\u2013\u2014" else f"{title}: {subtitle}"
    notes = [f"the key {name[:60]!r} comes twice; the last value is used" for name in map(whole, repeated)]
    remarks: list[str] = []
    kind = _text(item.get("type")).lower()
    abstract = _text(item.get("abstract"))
    try:
        work = Work(
            title=title,
            authors=_authors(item, kind, notes, remarks),
            year=_year(item, remarks),
            venue=next((v for v in map(_text, map(item.get, _VENUES)) if v), None),
            type=kind or None,
            language=_text(item.get("language")) or None,
            abstract=Abstract(text=abstract, source="CSL-JSON record") if abstract else Abstract(),
            identifiers=_identifiers(item, kind, notes),
            note="; ".join([n for n in (_text(item.get("note")), *remarks) if n]) or None,
        )
    except ValidationError as error:
        return rejected(f"isn't a record: {sentence(error)}")
    name = item.get("id", item.get("citation-key", ""))
    key, again = keys.distinct(_text(name) if isinstance(name, str) else _scalar(name), line)
    return Parsed(work, raw, line, key, (*notes, *([again] if again else [])))


def _scalar(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    return clean(str(value)) if not isinstance(value, int) or abs(value) < 10**100 else ""


def _text(value: Any) -> str:
    """Plain text of a string, or of the first string in a list (Crossref wraps titles in lists)."""
    if isinstance(value, list):
        value = next((v for v in value if isinstance(v, str)), None)
    return from_html(value) if isinstance(value, str) else ""


def _authors(item: dict[str, Any], kind: str, notes: list[str], remarks: list[str]) -> tuple[Author, ...]:
    people = item.get("author")
    if not people and kind == "book" and item.get("editor"):
        people = item["editor"]
        remarks.append("the editors are named as authors")
    if people is None:
        return ()
    if not isinstance(people, list):
        people = [people]
    authors: list[Author] = []
    for person in people:
        name, orcid = _name(person), None
        if isinstance(person, dict) and isinstance(person.get("ORCID"), str):
            orcid = identifiers.orcid(person["ORCID"])
            if orcid is None:
                notes.append(f"the ORCID {whole(person['ORCID'])[:60]!r} isn't valid and is left out")
        if name:
            authors.append(Author(name=name, orcid=orcid))
        elif person not in ({}, "", None):
            notes.append("an author without a readable name is left out")
    return tuple(authors)


def _name(person: Any) -> str:
    """`given particles family suffix`, or a literal as it stands."""
    if isinstance(person, str):
        return _text(person)
    if not isinstance(person, dict):
        return ""
    literal = _text(person.get("literal")) or _text(person.get("name"))
    order = ("given", "dropping-particle", "non-dropping-particle", "family", "suffix")
    return " ".join(p for p in (_text(person.get(part)) for part in order) if p) or literal


def _year(item: dict[str, Any], remarks: list[str]) -> int | None:
    """The year of `issued`; the first of a range. What can't be read is kept as a remark."""
    issued = item.get("issued", item.get("published", _ABSENT))
    if issued is _ABSENT or issued in (None, "", {}, []):
        return None
    said: Any = issued
    if isinstance(issued, dict):
        said = issued.get("date-parts")
        while isinstance(said, list) and said:
            said = said[0]
        if said in (None, "", []):
            said = issued.get("raw") or issued.get("literal") or issued.get("year") or ""
    if isinstance(said, float) and said.is_integer():
        said = int(said)
    shown = _scalar(said)
    match = _YEAR.fullmatch(shown) or _YEAR.search(shown)
    if match is not None:
        if shown != match[0] and not re.fullmatch(r"[12][0-9]{3}([-/][0-9]{1,2}){0,2}(T.*)?", shown):
            remarks.append(f"the year is given as {shown[:100]!r}")
        return int(match[0])
    if shown:
        remarks.append(f"the year is given as {shown[:100]!r}")
    return None


def _identifiers(item: dict[str, Any], kind: str, notes: list[str]) -> tuple[Identifier, ...]:
    found: list[Identifier] = []
    for scheme, names in (("doi", ("DOI", "doi")), ("pmid", ("PMID", "pmid")), ("arxiv", ("arxiv", "arXiv")),
                          ("isbn", ("ISBN",)), ("url", ("URL", "url"))):  # fmt: skip
        for name in names:
            for value in _each(item.get(name)):
                if scheme == "isbn" and kind in _IN_A_BOOK:
                    notes.append(
                        f"the ISBN {value[:60]!r} names a whole book, not this {kind}; it is left out"
                    )
                    continue
                several = [value]
                if scheme == "isbn" and identifiers.normalise("isbn", value) is None:
                    several = _ISBN.findall(value) or [value]
                for one in several:
                    identifier = identifiers.normalise(scheme, one)
                    if identifier is not None:
                        found.append(identifier)
                    else:
                        notes.append(f"{name} {one[:100]!r} isn't a valid {scheme} and is left out")
    for name in ("number", "archive_location", "note"):  # where Zotero puts 'arXiv:2008.09213'
        for value in _each(item.get(name)):
            if "arxiv" in value.lower():
                found += [i for i in identifiers.identifiers_in(value) if i.scheme == "arxiv"]
    return identifiers.unique(found)


def _each(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [s for s in (clean(v) if isinstance(v, str) else _scalar(v) for v in values) if s]


READER = Reader(
    format="csl-json",
    version="1",
    describes_itself_by="JSON objects with 'title', 'author', 'issued'",
    recognises=recognises,
    read=read,
)
