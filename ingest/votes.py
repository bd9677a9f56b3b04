"""Tables of votes, CSV, TSV or JSON lines: rows as they stand, for a rubric to judge elsewhere.

Nothing is checked against a vocabulary here. What a row doesn't say stays None or empty.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from ingest.answers import strictly
from ingest.delimited import Header, Row, folded, header_of, rows
from ingest.errors import IngestError
from ingest.json_stream import Flaw, items
from ingest.sources import mended, not_utf8, only_text, open_source
from ingest.text import whole
from schema.work import Rejected

COLUMNS: dict[str, tuple[str, ...]] = {
    "work": (
        "work",
        "work_id",
        "openalex_id",
        "openalex",
        "doi",
        "pmid",
        "arxiv",
        "record_id",
        "key",
        "slug",
        "id",
    ),
    "rater": ("rater", "reviewer", "screener", "annotator", "model"),
    "decision": ("decision", "vote"),
    "categories": ("categories", "category"),
    "confidence": ("confidence",),
    "reason": ("reason", "rationale"),
}
_KNOWN = frozenset(name for names in COLUMNS.values() for name in names)
_OBJECT = re.compile(r"(?<=\n)\{")
_YES, _NO = frozenset({"1", "true", "yes"}), frozenset({"0", "false", "no"})


@dataclass(frozen=True)
class VoteRow:
    """One row of a table of votes, as text. `work` is whatever names the work there.

    `unanswered` are categories whose own column is empty: not known, rather than not chosen. `fields` are
    all other columns that aren't empty; a list in JSON comes as its values joined by `; `.
    """

    line: int
    work: str
    rater: str | None = None
    decision: str | None = None
    categories: tuple[str, ...] = ()
    unanswered: tuple[str, ...] = ()
    confidence: str | None = None
    reason: str | None = None
    fields: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Votes:
    """A file of votes: every row is in `rows` or in `rejected`.

    What was rejected without a line is no row: the file ends too early there, so votes may be missing.
    """

    filename: str
    sha256: str
    rows: tuple[VoteRow, ...]
    rejected: tuple[Rejected, ...]
    notes: tuple[str, ...]


class _Unfit(ValueError):
    """Why a row is rejected, in a sentence."""


def read_votes(
    source: Path | str | bytes, categories: Collection[str] = (), filename: str | None = None
) -> Votes:
    """Read votes from a CSV or TSV table, or from JSON (an object a line, or a list), which may be gzipped.

    A column `categories` holds names told apart by semicolons; `categories` here are those that have a
    column of 0 and 1 each. Raises IngestError, with one sentence, where the file can't be read or no
    column names the works.
    """
    file = open_source(source, filename)
    wanted = {folded(category): category for category in categories}
    found: list[VoteRow | Rejected] = []
    with file.members() as members:
        member, head = only_text(members, file.name)
        with member.text() as text:
            if head.lstrip("\ufeff \t\n")[:1] in ("{", "["):
                notes: tuple[str, ...] = ()
                found += _from_json(text, wanted)
            else:
                header = _header(head, wanted, file.name)
                notes = header.describes(header.columns(COLUMNS))[:1]
                found += _from_table(rows(text, header), header, wanted)
        if member.problem is not None:
            found.append(Rejected(raw="", reason=f"votes may be missing here: {member.problem}"))
    return Votes(
        filename=file.name,
        sha256=file.sha256,
        rows=tuple(row for row in found if isinstance(row, VoteRow)),
        rejected=tuple(row for row in found if isinstance(row, Rejected)),
        notes=notes,
    )


def _header(head: str, wanted: Collection[str], filename: str) -> Header:
    header = header_of(head, lambda name: name in _KNOWN or name in wanted)
    if header is None or "work" not in header.columns(COLUMNS):
        raise IngestError(
            f"{filename}: this is no table of votes; expected JSON lines, or a first line that names a "
            f"column of works ({', '.join(COLUMNS['work'])}) and what was said of them"
        )
    names = [folded(name) for name in header.names if name]
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if twice is not None:
        raise IngestError(f"{filename}: the column {twice!r} comes twice; expected each name once")
    return header


def _from_table(
    table: Iterator[Row | Rejected], header: Header, wanted: Mapping[str, str]
) -> Iterator[VoteRow | Rejected]:
    for row in table:
        if isinstance(row, Rejected):
            yield row
            continue
        given = {name: cell for name, cell in zip(header.names, row.cells, strict=True) if name}
        yield _vote(given, row.line, row.raw, row.notes, wanted)


def _from_json(text: TextIO, wanted: Mapping[str, str]) -> Iterator[VoteRow | Rejected]:
    for found in items(text, "votes", frozenset({"votes"}), _OBJECT):
        raw, foreign = mended(found.raw)
        if isinstance(found, Flaw):
            ended = "votes may be missing here: " if found.line is None else ""
            yield Rejected(line=found.line, raw=whole(raw), reason=f"{ended}{found.reason}")
            continue
        try:
            given = strictly(raw)
        except ValueError as error:
            yield Rejected(line=found.line, raw=whole(raw), reason=f"the JSON can't be taken: {error}")
            continue
        if not isinstance(given, dict):
            yield Rejected(
                line=found.line, raw=whole(raw), reason="this isn't a JSON object; expected a vote"
            )
            continue
        yield _vote(given, found.line, raw, (not_utf8(foreign),) if foreign else (), wanted)


def _vote(
    given: Mapping[str, Any], line: int, raw: str, notes: tuple[str, ...], wanted: Mapping[str, str]
) -> VoteRow | Rejected:
    """One row of either kind: text for each name, or what JSON has."""
    try:
        return _row(given, line, notes, wanted)
    except _Unfit as error:
        return Rejected(line=line, raw=raw, reason=str(error))


def _row(given: Mapping[str, Any], line: int, notes: tuple[str, ...], wanted: Mapping[str, str]) -> VoteRow:
    by_name: dict[str, Any] = {}
    for name, value in given.items():
        if folded(name) in by_name:
            raise _Unfit(f"{name!r} comes twice; expected each name once")
        by_name[folded(name)] = value
    used = {field: next((n for n in names if n in by_name), None) for field, names in COLUMNS.items()}

    def said(field: str) -> str | None:
        name = used[field]
        return (_text(by_name[name]).strip() or None) if name is not None else None

    work = said("work")
    if work is None:
        raise _Unfit("the vote names no work")
    listed = by_name.get(used["categories"] or "")
    flags = {wanted[name]: value for name, value in by_name.items() if name in wanted}
    if isinstance(listed, Mapping):  # {"category": true}
        flags = {**{str(name): value for name, value in listed.items()}, **flags}
        listed = None
    chosen = _names(listed)
    answers = {name: _flag(name, value) for name, value in flags.items()}
    for name, answer in answers.items():
        if answer is False and name in chosen:
            raise _Unfit(f"{name!r} is among the categories, but its own column says no")
    chosen += [name for name, answer in answers.items() if answer and name not in chosen]
    taken = {*(name for name in used.values() if name is not None), *wanted}
    others = [(name, _text(value)) for name, value in given.items() if folded(name) not in taken]
    return VoteRow(
        line=line,
        work=work,
        rater=said("rater"),
        decision=said("decision"),
        categories=tuple(chosen),
        unanswered=tuple(name for name, answer in answers.items() if answer is None),
        confidence=said("confidence"),
        reason=said("reason"),
        fields=tuple((name, text) for name, text in others if text.strip()),
        notes=notes,
    )


def _names(listed: Any) -> list[str]:
    """Names from a list, or from a text with semicolons between them."""
    parts = [_text(part) for part in listed] if isinstance(listed, list) else _text(listed).split(";")
    names = [part.strip() for part in parts if part.strip()]
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if twice is not None:
        raise _Unfit(f"the category {twice!r} comes twice")
    return names


def _flag(name: str, value: Any) -> bool | None:
    """Whether a category was chosen by its own column; None where it is empty."""
    said = _text(value).strip().casefold()
    if not said:
        return None
    if said not in _YES | _NO:
        raise _Unfit(f"{name} is {said[:60]!r}; expected 1 or 0, true or false, yes or no")
    return said in _YES


def _text(value: Any) -> str:
    """A value as text: what JSON writes for it, except that a text is itself and null is nothing."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and not any(isinstance(item, (list, dict)) for item in value):
        return "; ".join(_text(item) for item in value)
    return json.dumps(value, ensure_ascii=False)
