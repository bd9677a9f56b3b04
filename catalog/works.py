"""Works as rows: which one a record speaks of, and how a new one is written."""

import json
import sqlite3
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from catalog.clock import now
from catalog.errors import CatalogError
from schema.work import IDENTITY_SCHEMES, Abstract, Author, Identifier, Work

_AT_ONCE = 1_000
_FIELDS = ("title", "abstract", "venue", "topics", "field", "language", "type", "year")


@dataclass(frozen=True)
class Known:
    """A work that the catalog has already."""

    id: int
    slug: str


def find_work(connection: sqlite3.Connection, slug: str) -> Known | None:
    """The work of this slug or alias."""
    row = connection.execute("SELECT id, slug FROM works WHERE slug = ?", [slug]).fetchone()
    if row is None:
        row = connection.execute(
            "SELECT w.id, w.slug FROM aliases a JOIN works w ON w.id = a.work_id WHERE a.slug = ?", [slug]
        ).fetchone()
    return None if row is None else Known(*row)


def slug_kind(connection: sqlite3.Connection, slug: str) -> str | None:
    """'work', 'package', or None where the name is free."""
    row = connection.execute("SELECT kind FROM slugs WHERE slug = ?", [slug]).fetchone()
    return None if row is None else row[0]


def works_named_by(
    connection: sqlite3.Connection, identifiers: Iterable[Identifier]
) -> list[tuple[Identifier, Known]]:
    """The known works that these identifiers name, each with the identifier that names it.

    Only schemes count in which two works never share a value.
    """
    found = []
    for identifier in identifiers:
        if identifier.scheme not in IDENTITY_SCHEMES:
            continue
        row = connection.execute(
            f"SELECT w.id, w.slug FROM identifiers i JOIN works w ON w.id = i.work_id "
            f"WHERE i.scheme = ? AND i.value = ? AND i.scheme IN {IDENTITY_SCHEMES!r}",
            [identifier.scheme, identifier.value],
        ).fetchone()
        if row is not None:
            found.append((identifier, Known(*row)))
    return found


def identifiers_of(connection: sqlite3.Connection, work_id: int) -> tuple[Identifier, ...]:
    """Every identifier of a work, in the order in which they came."""
    rows = connection.execute(
        "SELECT scheme, value, version FROM identifiers WHERE work_id = ? ORDER BY id", [work_id]
    )
    return tuple(Identifier(scheme=row[0], value=row[1], version=row[2]) for row in rows)


def authors_of(connection: sqlite3.Connection, work_id: int) -> tuple[Author, ...]:
    """The authors of a work, in the order of its record."""
    rows = connection.execute(
        "SELECT a.name, a.orcid FROM work_authors wa JOIN authors a ON a.id = wa.author_id "
        "WHERE wa.work_id = ? ORDER BY wa.position",
        [work_id],
    )
    return tuple(Author(name=row[0], orcid=row[1] or None) for row in rows)


def load_work(connection: sqlite3.Connection, work_id: int) -> Work:
    """The record of a work as it is now: what came first, and what later records filled in."""
    row = connection.execute(
        "SELECT slug, title, year, venue, type, language, field, retraction, note, topics, abstract, "
        "abstract_source, abstract_note FROM works_now WHERE id = ?",
        [work_id],
    ).fetchone()
    fields = ("id", "title", "year", "venue", "type", "language", "field", "retraction", "note")
    return Work(
        **dict(zip(fields, row, strict=False)),
        topics=tuple(json.loads(row[9])),
        authors=authors_of(connection, work_id),
        abstract=Abstract(text=row[10], source=row[11], note=row[12]),
        identifiers=identifiers_of(connection, work_id),
    )


def work_fields(connection: sqlite3.Connection, after: int = 0) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Row number, slug and plain fields of every work behind a row, in order; some at a time, so that
    others may write meanwhile."""
    while rows := connection.execute(
        f"SELECT id, slug, {', '.join(_FIELDS)} FROM works_now WHERE id > ? ORDER BY id LIMIT {_AT_ONCE}",
        [after],
    ).fetchall():
        yield from map(_fields, rows)
        after = rows[-1][0]


def fields_of(connection: sqlite3.Connection, work_id: int) -> tuple[int, str, dict[str, Any]]:
    """The same of one work."""
    return _fields(
        connection.execute(
            f"SELECT id, slug, {', '.join(_FIELDS)} FROM works_now WHERE id = ?", [work_id]
        ).fetchone()
    )


def _fields(row: tuple[Any, ...]) -> tuple[int, str, dict[str, Any]]:
    values = dict(zip(_FIELDS, row[2:], strict=True))
    return row[0], row[1], values | {"topics": tuple(json.loads(values["topics"]))}


def disagreement(
    known: Iterable[Identifier], given: Iterable[Identifier]
) -> tuple[Identifier, Identifier] | None:
    """A pair of identifiers in one scheme that can't be of the same work, or None."""
    mine, theirs = list(known), list(given)
    for scheme in IDENTITY_SCHEMES:
        here = [i for i in mine if i.scheme == scheme]
        there = [i for i in theirs if i.scheme == scheme]
        if here and there and not {i.value for i in here} & {i.value for i in there}:
            return here[0], there[0]
    return None


def same_title(one: str, other: str) -> bool:
    """Whether two titles have the same letters and digits."""
    return _letters(one) == _letters(other)


def like_title(one: str, other: str) -> bool:
    """Whether two titles are the same, or one is the other with a subtitle."""
    a, b = sorted((_letters(one), _letters(other)), key=len)
    return a == b or (len(a) >= 10 and b.startswith(a))


def add_slug(connection: sqlite3.Connection, slug: str, kind: str) -> None:
    """Take a name in the one namespace of works and packages."""
    connection.execute("INSERT INTO slugs(slug, kind) VALUES (?, ?)", [slug, kind])


def add_work(connection: sqlite3.Connection, work: Work, slug: str) -> int:
    """Write a new work, without its entry in the search index; returns its row number."""
    add_slug(connection, slug, "work")
    abstract = work.abstract
    work_id = connection.execute(
        "INSERT INTO works(slug, title, year, venue, type, language, topics, field, abstract, "
        "abstract_source, abstract_note, retraction, note, created_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            slug, work.title, work.year, work.venue, work.type, work.language,
            _texts(work.topics), work.field, abstract.text, abstract.source, abstract.note,
            work.retraction, work.note, now(),
        ],
    ).lastrowid  # fmt: skip
    assert work_id is not None
    add_identifiers(connection, work_id, work.identifiers)
    for position, author in enumerate(work.authors):
        connection.execute(
            "INSERT INTO work_authors(work_id, position, author_id) VALUES (?, ?, ?)",
            [work_id, position, _author(connection, author.name, author.orcid or "")],
        )
    return work_id


def add_identifiers(connection: sqlite3.Connection, work_id: int, identifiers: Iterable[Identifier]) -> int:
    """Write those identifiers that the work doesn't have yet; returns how many."""
    have = {(i.scheme, i.value) for i in identifiers_of(connection, work_id)}
    added = 0
    for identifier in identifiers:
        if (identifier.scheme, identifier.value) in have:
            continue
        have.add((identifier.scheme, identifier.value))
        connection.execute(
            "INSERT INTO identifiers(work_id, scheme, value, version) VALUES (?, ?, ?, ?)",
            [work_id, identifier.scheme, identifier.value, identifier.version],
        )
        added += 1
    return added


def index_from(connection: sqlite3.Connection, first: int) -> None:
    """Put every work from this row number on into the search index, in one sweep."""
    connection.execute(
        "INSERT INTO works_fts(rowid, title, abstract, venue, authors) "
        "SELECT id, title, abstract, venue, authors FROM works_text WHERE id >= ? ORDER BY id",
        [first],
    )


def supplement(
    connection: sqlite3.Connection, work_id: int, known: Work, given: Work, import_id: int, indexed: bool
) -> list[str]:
    """Fill in what a known work lacks from a later record of it; returns the names of the fields.

    `indexed` says whether the work is in the search index already, which then learns the new words.
    """
    pairs: list[tuple[str, object, object]] = [
        (field, getattr(known, field), getattr(given, field))
        for field in ("year", "venue", "type", "language", "field", "retraction")
    ]
    pairs.append(("topics", known.topics or None, given.topics or None))
    pairs.append(("abstract", known.abstract.text, given.abstract.text))
    filled = [(field, new) for field, old, new in pairs if old is None and new is not None]
    if not filled:
        return []
    names = [field for field, _ in filled]
    if "abstract" in names and given.abstract.source is not None:
        filled.append(("abstract_source", given.abstract.source))
    words = indexed and ("abstract" in names or "venue" in names)
    if words:
        connection.execute(
            "INSERT INTO works_fts(works_fts, rowid, title, abstract, venue, authors) "
            "SELECT 'delete', id, title, abstract, venue, authors FROM works_text WHERE id = ?",
            [work_id],
        )
    connection.executemany(
        "INSERT INTO supplements(work_id, field, value, import_id) VALUES (?, ?, ?, ?)",
        [
            (work_id, field, _texts(new) if isinstance(new, tuple) else str(new), import_id)
            for field, new in filled
        ],
    )
    if words:
        connection.execute(
            "INSERT INTO works_fts(rowid, title, abstract, venue, authors) "
            "SELECT id, title, abstract, venue, authors FROM works_text WHERE id = ?",
            [work_id],
        )
    return names


def work_for_package(connection: sqlite3.Connection, work: Work) -> tuple[int, bool]:
    """The row of a package's work, and whether it is new.

    The catalog's own work is taken where an identifier names it, or where its slug is the same and
    nothing speaks against it; where its slug differs, the package's name becomes an alias of it.
    """
    assert work.id is not None
    named = works_named_by(connection, work.identifiers)
    if len({known.id for _, known in named}) > 1:
        (one, first), (two, second) = named[0], next(n for n in named if n[1].id != named[0][1].id)
        raise CatalogError(
            f"the package's work {work.id!r} can't be one work here: its {_shown(one)} is that of "
            f"{first.slug!r}, its {_shown(two)} that of {second.slug!r}"
        )
    by_slug = find_work(connection, work.id)
    by_identifier = named[0][1] if named else None
    if by_slug is not None:
        if by_identifier is not None and by_identifier.id != by_slug.id:
            raise CatalogError(
                f"the package calls its work {work.id!r}, but its {_shown(named[0][0])} is that of "
                f"{by_identifier.slug!r} here; another work has the name {work.id!r}"
            )
        _agree(connection, by_slug, work, shared=by_identifier is not None)
        add_identifiers(connection, by_slug.id, work.identifiers)
        return by_slug.id, False
    if slug_kind(connection, work.id) is not None:
        raise CatalogError(f"the package calls its work {work.id!r}, which is the name of a package here")
    if by_identifier is not None:
        _agree(connection, by_identifier, work, shared=True)
        add_slug(connection, work.id, "work")
        connection.execute("INSERT INTO aliases(slug, work_id) VALUES (?, ?)", [work.id, by_identifier.id])
        add_identifiers(connection, by_identifier.id, work.identifiers)
        return by_identifier.id, False
    work_id = add_work(connection, work, work.id)
    index_from(connection, work_id)
    return work_id, True


def _agree(connection: sqlite3.Connection, known: Known, work: Work, shared: bool) -> None:
    differing = disagreement(identifiers_of(connection, known.id), work.identifiers)
    if differing is not None:
        raise CatalogError(
            f"the package's work {work.id!r} has the {_shown(differing[1])}, "
            f"but {known.slug!r} here has the {_shown(differing[0])}; give it another `work.id`"
        )
    title = connection.execute("SELECT title FROM works WHERE id = ?", [known.id]).fetchone()[0]
    if not shared and not same_title(title, work.title):
        raise CatalogError(
            f"{known.slug!r} is another work here ({title!r}) and shares no identifier with the package's; "
            "give the package's work another `id`"
        )


def _author(connection: sqlite3.Connection, name: str, orcid: str) -> int:
    row = connection.execute("SELECT id FROM authors WHERE name = ? AND orcid = ?", [name, orcid]).fetchone()
    if row is not None:
        return int(row[0])
    added = connection.execute("INSERT INTO authors(name, orcid) VALUES (?, ?)", [name, orcid]).lastrowid
    assert added is not None
    return added


def _texts(texts: Sequence[str]) -> str:
    return json.dumps(list(texts), ensure_ascii=False)


def _letters(title: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", title).casefold() if c.isalnum())


def _shown(identifier: Identifier) -> str:
    names = {"doi": "DOI", "arxiv": "arXiv number", "pmid": "PubMed number", "openalex": "OpenAlex number"}
    return f"{names.get(identifier.scheme, identifier.scheme)} {identifier.value}"
