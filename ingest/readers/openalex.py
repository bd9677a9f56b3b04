"""Works of OpenAlex as JSON: one work, lists, pages of the API (`{"meta": …, "results": […]}`), lines.

Fields are those of the work object, https://docs.openalex.org/api-entities/works/work-object, and of
older dumps (`host_venue`, `concepts`). The type is OpenAlex's own word: its `article` may be a paper of
journal or conference, so it isn't translated.
"""

import io
import json
import re
from collections.abc import Iterator
from operator import itemgetter
from typing import Any, TextIO

from pydantic import ValidationError

from ingest import identifiers
from ingest.json_stream import Flaw, Item, items
from ingest.readers.base import Parsed, Reader, sentence
from ingest.sources import mended, not_utf8
from ingest.text import clean, from_html, whole
from schema.work import Abstract, Author, Identifier, Rejected, Work

SOURCE = "OpenAlex abstract_inverted_index"
RETRACTED = "OpenAlex marks this work as retracted"
_WRAPPERS = frozenset({"meta", "results", "group_by"})
_STARTS = re.compile(r"[ \t\n\r\ufeff]*(?:\[[\[ \t\n\r]*)?\{")
_PAGE = re.compile(r'[ \t\n\r\ufeff]*\[?[ \t\n\r]*\{\s*"(?:meta|results)"\s*:')
_EMPTY = re.compile(r'"results"\s*:\s*\[\s*\]')
_WORK_ID = re.compile(r'"id"\s*:\s*"(?:https?://)?(?:www\.|api\.)?openalex\.org/(?:works/)?[Ww][1-9]')
_OURS = re.compile(r'"(?:abstract_inverted_index|authorships|host_venue|primary_location)"\s*:')
_OTHERS = re.compile(r'"(?:issued|container-title|author|DOI)"\s*:')
# A record that follows broken JSON: an object with the id of a work, or one at the start of a line.
_RECORD = re.compile(r'\{\s*"id"\s*:\s*"https?://openalex\.org/W[1-9]|(?<=\n)\{')
_OTHER_ENTITY = re.compile(r"(?:https?://)?(?:api\.)?openalex\.org/(?:[a-z]+/)?([A-VX-Z])[1-9]", re.I)
_ENTITIES = {"A": "an author", "S": "a source", "I": "an institution", "C": "a concept", "T": "a topic",
             "P": "a publisher", "F": "a funder", "V": "a venue"}  # fmt: skip
_YEAR = re.compile(r"[12][0-9]{3}(?:-[0-9]{2}){0,2}")
_MOST_POSITIONS = 1_000_000  # of an abstract; the longest known have some ten thousand words


def recognises(text: str) -> bool:
    """True for JSON whose first part has names or ids that only works of OpenAlex have."""
    if _STARTS.match(text) is None:
        return False
    if _OURS.search(text) is not None:
        return True
    if _PAGE.match(text) is not None and ("openalex.org/" in text or _EMPTY.search(text) is not None):
        return True
    return _WORK_ID.search(text) is not None and _OTHERS.search(text) is None


def read(text: str) -> Iterator[Parsed | Rejected]:
    """The works of a JSON text in its order, each named by its OpenAlex id."""
    return stream(io.StringIO(text))


def stream(text: TextIO) -> Iterator[Parsed | Rejected]:
    """The same from a stream, holding one record at a time."""
    for number, found in enumerate(items(text, "results", _WRAPPERS, _RECORD), start=1):
        raw, foreign = mended(found.raw)
        where = f"record {number}, at character {found.offset + 1:,}"
        if isinstance(found, Flaw):
            reason = found.reason if found.line is None else f"{where}: {found.reason}"
            yield Rejected(line=found.line, raw=whole(raw), reason=reason)
            continue
        value = json.loads(raw) if foreign else found.value
        yield _record(value, whole(raw), found, where, [not_utf8(foreign)] if foreign else [])


def _record(value: Any, raw: str, item: Item, where: str, notes: list[str]) -> Parsed | Rejected:
    def rejected(reason: str) -> Rejected:
        return Rejected(line=item.line, raw=raw, reason=f"{where}: {reason}")

    if not isinstance(value, dict):
        kinds = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}
        return rejected(f"this is {kinds.get(type(value), 'a number')}; expected a work with a title")
    other = _OTHER_ENTITY.match(_string(value.get("id")))
    if other is not None:
        what = _ENTITIES.get(other[1].upper(), "another thing")
        return rejected(f"{_string(value['id'])[:60]!r} is the id of {what}; expected a work")
    title = from_html(_string(value.get("title"))) or from_html(_string(value.get("display_name")))
    if not title:
        return rejected("the work has no title; expected a text under 'title' or 'display_name'")
    found = _identifiers(value, notes)
    key = next((i.value for i in found if i.scheme == "openalex"), "")
    if not key:
        notes.append("the record has no OpenAlex id")
    remarks: list[str] = []
    try:
        work = Work(
            title=title,
            authors=_authors(value, notes, remarks),
            year=_year(value, remarks),
            venue=_venue(value),
            type=clean(_string(value.get("type"))) or None,
            language=clean(_string(value.get("language"))) or None,
            abstract=_abstract(value, notes),
            topics=_topics(value),
            field=_name(_object(_object(value.get("primary_topic")).get("field"))) or None,
            identifiers=found,
            retraction=_retraction(value, notes),
            note="; ".join(remarks) or None,
        )
    except ValidationError as error:
        return rejected(f"this isn't a record: {sentence(error)}")
    return Parsed(work, raw, item.line, key, tuple(notes), item.offset)


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _objects(value: Any) -> list[dict[str, Any]]:
    return [v for v in value if isinstance(v, dict)] if isinstance(value, list) else []


def _name(value: dict[str, Any]) -> str:
    return from_html(_string(value.get("display_name")))


def _identifiers(value: dict[str, Any], notes: list[str]) -> tuple[Identifier, ...]:
    ids = _object(value.get("ids"))
    found: list[Identifier] = []
    for scheme, given in (
        ("openalex", value.get("id") or ids.get("openalex")), ("doi", value.get("doi") or ids.get("doi")),
        ("pmid", ids.get("pmid") or value.get("pmid")), ("arxiv", ids.get("arxiv") or value.get("arxiv_id")),
    ):  # fmt: skip
        said = str(given) if isinstance(given, int) and not isinstance(given, bool) else _string(given)
        if not said:
            continue
        identifier = identifiers.normalise(scheme, said)
        if identifier is not None:
            found.append(identifier)
        else:
            notes.append(f"{scheme} {whole(said)[:100]!r} isn't a valid {scheme} and is left out")
    found += _arxiv(value, notes)
    return identifiers.unique(found)


def _arxiv(value: dict[str, Any], notes: list[str]) -> list[Identifier]:
    """The arXiv number by the addresses of the work's places, if they agree on one.

    OpenAlex joins versions by likeness, so two numbers are a sign that it joined two works.
    """
    found: dict[str, Identifier] = {}
    for place in [_object(value.get("primary_location")), *_objects(value.get("locations"))]:
        for address in (place.get("landing_page_url"), place.get("pdf_url")):
            if isinstance(address, str) and "arxiv" in address.lower():
                identifier = identifiers.named_by_address(address)
                if identifier is not None and identifier.scheme == "arxiv":
                    found.setdefault(identifier.value, identifier)
    if len(found) > 1:
        notes.append(f"its locations name {len(found)} arXiv papers ({', '.join(found)}); none is taken")
        return []
    return list(found.values())


def _authors(value: dict[str, Any], notes: list[str], remarks: list[str]) -> tuple[Author, ...]:
    authors: list[Author] = []
    for authorship in _objects(value.get("authorships")):
        author = _object(authorship.get("author"))
        name = _name(author) or from_html(_string(authorship.get("raw_author_name")))
        if not name:
            notes.append("an author without a readable name is left out")
            continue
        given = _string(author.get("orcid"))
        orcid = identifiers.orcid(given) if given else None
        if given and orcid is None:
            notes.append(f"the ORCID {whole(given)[:60]!r} isn't valid and is left out")
        authors.append(Author(name=name, orcid=orcid))
    if value.get("is_authors_truncated") is True:
        remarks.append(f"OpenAlex names only the first {len(authors)} authors here")
    return tuple(authors)


def _year(value: dict[str, Any], remarks: list[str]) -> int | None:
    given = value.get("publication_year")
    if given in (None, ""):
        given = value.get("publication_date")
    if given in (None, ""):
        return None
    said = str(int(given)) if isinstance(given, float) and given.is_integer() else clean(str(given)[:100])
    if _YEAR.fullmatch(said):
        return int(said[:4])
    remarks.append(f"the year is given as {said!r}")
    return None


def _venue(value: dict[str, Any]) -> str | None:
    primary = _object(value.get("primary_location"))
    return (
        _name(_object(primary.get("source")))
        or _name(_object(value.get("host_venue")))
        or from_html(_string(primary.get("raw_source_name")))
        or None
    )


def _topics(value: dict[str, Any]) -> tuple[str, ...]:
    """The names of `topics`, or in older dumps of the concepts of the top level, by falling score."""
    found = _objects(value.get("topics"))
    if not found:
        found = [c for c in _objects(value.get("concepts")) if c.get("level") in (0, "0") and _score(c) > 0]
    named = [_name(topic) for topic in sorted(found, key=lambda topic: -_score(topic))]
    return tuple(dict.fromkeys(name for name in named if name))


def _score(topic: dict[str, Any]) -> float:
    """A score, which some dumps give as text; those without one come last."""
    try:
        score = float(topic.get("score") or 0)
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return score if score == score else 0.0


def _retraction(value: dict[str, Any], notes: list[str]) -> str | None:
    said = value.get("is_retracted")
    if said is True or said == "true":
        return RETRACTED
    if said not in (None, False, "false"):
        notes.append(f"is_retracted is {whole(str(said))[:60]!r}; expected true or false")
    return None


def _abstract(value: dict[str, Any], notes: list[str]) -> Abstract:
    index = value.get("abstract_inverted_index")
    if isinstance(index, str) and index:  # tables of dumps hold it as JSON in a text
        try:
            index = json.loads(index)
        except (ValueError, RecursionError):
            notes.append("abstract_inverted_index is a text that isn't JSON; it is left out")
    if isinstance(index, dict):
        inverted = index.get("InvertedIndex")  # as in the Microsoft Academic Graph
        words = _in_order(inverted if isinstance(inverted, dict) else index, notes)
        text = from_html(" ".join(" ".join(words).split()))  # words may be blank, or hold line ends
        if text:
            return Abstract(text=text, source=SOURCE)
    elif index not in (None, "", []) and not isinstance(index, str):
        notes.append("abstract_inverted_index isn't an object of words and positions; it is left out")
    plain = from_html(_string(value.get("abstract")))
    if plain:
        return Abstract(text=plain, source="OpenAlex record")
    return Abstract(note="the OpenAlex record has no abstract")


def _in_order(index: dict[str, Any], notes: list[str]) -> list[str]:
    """The words of an inverted index by position; two at one position keep the order of the index."""
    listed = {word: positions for word, positions in index.items() if isinstance(positions, list)}
    placed = [(position, word) for word, positions in listed.items() for position in positions]
    fit = [pair for pair in placed if type(pair[0]) is int and pair[0] >= 0]
    if unfit := len(placed) - len(fit) + len(index) - len(listed):
        notes.append(f"{unfit} positions of the abstract aren't whole numbers from 0 and are left out")
    if len(fit) > _MOST_POSITIONS:
        notes.append(f"the abstract has {len(fit):,} words; the first {_MOST_POSITIONS:,} are used")
    placed = sorted(fit, key=itemgetter(0))[:_MOST_POSITIONS]
    if placed:
        distinct = len({position for position, _ in placed})
        if distinct < len(placed):
            notes.append(f"{len(placed) - distinct} words of the abstract share the position of another")
        if missing := placed[-1][0] + 1 - distinct:
            notes.append(f"{missing} positions of the abstract hold no word")
    return [word for _, word in placed]


READER = Reader(
    format="openalex",
    version="1",
    describes_itself_by="JSON with ids such as 'https://openalex.org/W2741809807', or 'authorships'",
    recognises=recognises,
    read=read,
    stream=stream,
)
