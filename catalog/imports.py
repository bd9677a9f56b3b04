"""A bibliography as works: each record is added, taken for a known work by evidence, or kept as rejected."""

import hashlib
import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from catalog.clock import as_text, now
from catalog.works import (
    Known,
    add_identifiers,
    add_work,
    disagreement,
    identifiers_of,
    index_from,
    like_title,
    load_work,
    slug_kind,
    supplement,
    works_named_by,
)
from ingest.dedupe import same_work
from ingest.readers import Parsed, Reading
from ingest.slugs import suggest_slug
from schema.work import Import, Rejected, Work

OUTCOMES = ("added", "updated", "unchanged", "duplicate", "rejected")
SHOWN = 20
_EVERY = 500


@dataclass(frozen=True)
class ImportReport:
    """What became of a file. `counts` accounts for every record that it held.

    `rejected` has the first of the rejected records (all are in the catalog), `notes` what the reader
    said of the whole file, `works` the slugs of the first works added.
    """

    id: int
    counts: Import
    rejected: tuple[Rejected, ...]
    notes: tuple[str, ...]
    works: tuple[str, ...]


def add_records(
    connection: sqlite3.Connection, reading: Reading, who: str, progress: Callable[[int], None] | None = None
) -> ImportReport:
    """Take in every record of a file, inside the caller's transaction that holds the write lock.

    `progress` is told how many records were read, every few hundred and at the end.
    """
    started = now()
    # The row of the import is written last, with its counts, since rows are written once.
    connection.execute("PRAGMA defer_foreign_keys = ON")
    work = _Import(connection, reading.format, _next(connection, "imports"))
    read = 0
    for record in reading.records:
        read += 1
        work.take(record, read)
        if progress is not None and read % _EVERY == 0:
            progress(read)
    index_from(connection, work.first_new)
    counts = Import(
        sha256=reading.sha256, filename=as_text(Path(reading.filename).name), format=reading.format,
        reader=reading.reader, reader_version=reading.reader_version, who=who,
        started_at=started, finished_at=now(), read=read, **work.counts,
    )  # fmt: skip
    values: dict[str, Any] = {"id": work.id, **counts.model_dump(), "notes": _json(reading.notes)}
    connection.execute(
        f"INSERT INTO imports({', '.join(values)}) VALUES ({', '.join('?' * len(values))})",
        list(values.values()),
    )
    if progress is not None:
        progress(read)
    return ImportReport(work.id, counts, tuple(work.rejected), tuple(reading.notes), tuple(work.slugs))


class _Taken:
    """The names in use, asked of the database one at a time, however many there are."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __contains__(self, slug: object) -> bool:
        return slug_kind(self._connection, str(slug)) is not None


class _Import:
    def __init__(self, connection: sqlite3.Connection, format_: str, import_id: int) -> None:
        self.id = import_id
        self.counts = dict.fromkeys(OUTCOMES, 0)
        self.rejected: list[Rejected] = []
        self.slugs: list[str] = []
        self._connection = connection
        self._format = format_
        self._taken = _Taken(connection)
        self.first_new = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM works").fetchone()[0]
        self._first_raw = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM raw_records").fetchone()[0]

    def take(self, record: Parsed | Rejected, position: int) -> None:
        """Decide on one record and write what it became."""
        if isinstance(record, Rejected):
            self._reject(record, position)
            return
        raw_sha256 = hashlib.sha256(f"{self._format}\0{record.raw}".encode()).hexdigest()
        seen = self._connection.execute(
            "SELECT id, work_id FROM raw_records WHERE sha256 = ?", [raw_sha256]
        ).fetchone()
        if seen is not None:
            raw_id, work_id = seen
            here = raw_id >= self._first_raw
            evidence = f"the same record {'stands in this file' if here else 'was imported'} before"
            self._keep(record, position, work_id, raw_id, "duplicate" if here else "unchanged", evidence)
            return
        found = self._same(record.work)
        if isinstance(found, str):
            self._reject(Rejected(line=record.line, raw=record.raw, reason=found), position)
            return
        known_id = None if found is None else found[0].id
        record, contested = self._uncontested(record, known_id)
        if found is None:
            work_id = self._add(record.work)
            became: tuple[str, str | None] = ("added", None)
        else:
            work_id = found[0].id
            became = self._merge(found[0], record.work, found[1])
        if contested:
            record = replace(record, notes=(*record.notes, *contested))
        raw_id = self._connection.execute(
            "INSERT INTO raw_records(sha256, work_id, content) VALUES (?, ?, ?)",
            [raw_sha256, work_id, record.raw],
        ).lastrowid
        assert raw_id is not None
        self._keep(record, position, work_id, raw_id, *became)

    def _same(self, work: Work) -> tuple[Known, str] | str | None:
        """The known work that a record is, with the evidence; a sentence where it would be two; or None."""
        named = works_named_by(self._connection, work.identifiers)
        for identifier in work.identifiers:
            if identifier.scheme == "isbn":
                rows = self._connection.execute(
                    "SELECT DISTINCT w.id, w.slug FROM identifiers i JOIN works w ON w.id = i.work_id "
                    "WHERE i.value = ? AND i.scheme = 'isbn' LIMIT 20",
                    [identifier.value],
                )
                named += [(identifier, Known(*row)) for row in rows]
        found: dict[int, tuple[Known, str]] = {}
        for _, known in named:
            if known.id not in found:
                same = same_work(load_work(self._connection, known.id), work)
                if same is not None:
                    found[known.id] = (known, same.evidence)
        if len(found) > 1:
            parts = " and ".join(f"{known.slug} ({evidence})" for known, evidence in found.values())
            return f"its identifiers are those of {len(found)} works here: {parts}"
        return next(iter(found.values()), None)

    def _uncontested(self, record: Parsed, known_id: int | None) -> tuple[Parsed, list[str]]:
        """The record without identifiers that name another work here, and a note on each."""
        taken = [
            (i, k) for i, k in works_named_by(self._connection, record.work.identifiers) if k.id != known_id
        ]
        if not taken:
            return record, []
        names = {i for i, _ in taken}
        left = tuple(i for i in record.work.identifiers if i not in names)
        work = record.work.model_copy(update={"identifiers": left})
        notes = [
            f"{i.scheme} {i.value} is left out: it names {k.slug} here, which other identifiers tell apart"
            for i, k in taken
        ]
        return replace(record, work=work), notes

    def _add(self, work: Work) -> int:
        slug = (
            work.id if work.id is not None and work.id not in self._taken else suggest_slug(work, self._taken)
        )
        if len(self.slugs) < SHOWN:
            self.slugs.append(slug)
        return add_work(self._connection, work, slug)

    def _merge(self, known: Known, given: Work, evidence: str) -> tuple[str, str]:
        """Keep the known work as it is, and add what it lacks."""
        stored = load_work(self._connection, known.id)
        differing = disagreement(identifiers_of(self._connection, known.id), given.identifiers)
        brought = []
        if differing is not None:
            own, other = differing
            evidence += f"; its {other.scheme} {other.value} is not the work's {own.value}"
        elif added := add_identifiers(self._connection, known.id, given.identifiers):
            brought.append("an identifier" if added == 1 else f"{added} identifiers")
        if like_title(stored.title, given.title):
            indexed = known.id < self.first_new
            brought += supplement(self._connection, known.id, stored, given, self.id, indexed)
        if brought:
            return "updated", f"{evidence}; it brought {', '.join(brought)}"
        plain = {"id": None, "identifiers": (), "note": None}
        if stored.model_copy(update=plain) == given.model_copy(update=plain) and differing is None:
            return "unchanged", evidence
        return "duplicate", evidence

    def _keep(
        self, record: Parsed, position: int, work_id: int, raw_id: int, outcome: str, evidence: str | None
    ) -> None:
        self.counts[outcome] += 1
        self._connection.execute(
            "INSERT INTO import_records(import_id, position, line, key, work_id, outcome, evidence, notes, "
            "raw_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                self.id, position, record.line, record.key, work_id, outcome, evidence,
                _json(record.notes), raw_id,
            ],
        )  # fmt: skip

    def _reject(self, record: Rejected, position: int) -> None:
        self.counts["rejected"] += 1
        if len(self.rejected) < SHOWN:
            self.rejected.append(record)
        self._connection.execute(
            "INSERT INTO rejected(import_id, position, line, raw, reason) VALUES (?, ?, ?, ?, ?)",
            [self.id, position, record.line, record.raw, record.reason],
        )


def _next(connection: sqlite3.Connection, table: str) -> int:
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", [table]).fetchone()
    return 1 if row is None else row[0] + 1


def _json(texts: tuple[str, ...]) -> str:
    return json.dumps(list(texts), ensure_ascii=False)
