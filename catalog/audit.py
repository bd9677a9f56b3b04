"""Whether the catalog is as it was written: every hash recomputed, every link followed, every guard there."""

import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from catalog.anchor import Head, read_head
from catalog.append_only import trigger_problems
from catalog.chain import StoredRun, stored_runs
from catalog.database import snapshot
from catalog.errors import CatalogError
from catalog.manifests import as_record, is_as_added
from catalog.packages import analysis_row, claim_row, file_row
from catalog.screening_audit import screening_problems
from schema.verification import GENESIS, Verification, chain_hash


@dataclass(frozen=True)
class Problem:
    """One thing that isn't as it was written. `run` is the first run that it concerns, if any."""

    kind: str
    sentence: str
    run: int | None = None


@dataclass(frozen=True)
class AuditReport:
    """What an audit found. Sound means: no problem. A note is nothing to act on.

    `expected` is "head" or "ancestor" where the expected hash stands in the chain, None where none
    was asked for; a hash that isn't there is a problem.
    """

    runs: int
    last: int
    head: str
    anchor: Head | None
    expected: str | None
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]
    objects: int | None = None
    """How many stored files were read and compared, where that was asked for."""

    @property
    def sound(self) -> bool:
        """Whether every run and its checks are as they were written."""
        return not self.problems


def audit(connection: sqlite3.Connection, anchor_path: Path, expect: str | None = None) -> AuditReport:
    """Recompute every hash from the rows, follow every link, and look at all that guards them."""
    if expect is not None:
        expect = expect.strip().lower()
        if not re.fullmatch(r"[0-9a-f]{64}", expect):
            raise CatalogError("the expected hash has 64 hexadecimal digits, as `proofshelf audit` prints it")
    found = _Findings()
    try:  # before the database: a writer may move it meanwhile, never back
        anchor = read_head(anchor_path)
    except CatalogError as error:
        anchor = None
        found.add("anchor", str(error))
    with snapshot(connection):
        runs, head, hashes = _chain(connection, found, {expect, anchor.hash if anchor else None})
        _sequence(connection, found, head)
        _anchor(anchor, anchor_path, found, head, hashes)
        expected = None
        if expect is not None:
            if expect == head.hash:
                expected = "head"
            elif expect in hashes:
                expected = "ancestor"
            else:
                found.add(
                    "expected",
                    f"no run here has the expected hash {expect}: it was removed or rewritten, "
                    "or the hash is from another catalog",
                )
        for sentence in trigger_problems(connection):
            found.add("trigger", sentence)
        _rows(connection, found)
        _manifests(connection, found)
        for sentence in screening_problems(connection):
            found.add("screening", sentence)
    return AuditReport(
        runs, head.last, head.hash, anchor, expected, tuple(found.problems), tuple(found.notes)
    )


@dataclass
class _Findings:
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, kind: str, sentence: str, run: int | None = None) -> None:
        self.problems.append(Problem(kind, sentence, run))


def _chain(
    connection: sqlite3.Connection, found: _Findings, wanted: set[str | None]
) -> tuple[int, Head, dict[str, int]]:
    """Walk all runs in order; returns how many, the last, and the numbers of the wanted hashes."""
    count, last, hashes = 0, StoredRun(0, 0, "", GENESIS, None, ()), {GENESIS: 0}
    recomputed = GENESIS
    for stored in stored_runs(connection):
        count += 1
        if stored.id != last.id + 1:
            found.add("removed", _removed(last.id + 1, stored.id - 1, last.id, stored.id), last.id + 1)
        own = None if stored.run is None else chain_hash(stored.previous, stored.run)
        if own != stored.hash:
            _edited(stored, last, found)
        elif stored.positions != tuple(range(len(stored.positions))):
            found.add("edited", f"run {stored.id} was edited: its checks were renumbered", stored.id)
        if stored.id == last.id + 1 and stored.previous != last.hash and own == stored.hash:
            if stored.previous == recomputed:
                pass  # the hash of the run before was edited, and that is named already
            elif last.id == 0:
                found.add(
                    "link", f"run {stored.id} doesn't begin the chain: a run before it was removed", stored.id
                )
            else:
                found.add(
                    "link",
                    f"run {stored.id} follows another run {last.id} than the one that is here: "
                    f"run {last.id} was rewritten with a new hash, or a run between them was removed and "
                    "the numbers closed up",
                    last.id,
                )
        if stored.hash in wanted:
            hashes[stored.hash] = stored.id
        recomputed = own or stored.hash
        last = stored
    return count, Head(count, last.id, last.hash), hashes


def _edited(stored: StoredRun, before: StoredRun, found: _Findings) -> None:
    number = stored.id
    if stored.run is None:
        why = stored.problem or "its row can't be read"
    elif stored.id == before.id + 1 and chain_hash(before.hash, stored.run) == stored.hash:
        why = "its link to the run before was changed"
    elif stored.positions != tuple(range(len(stored.positions))):
        missing = sorted(set(range(max(stored.positions, default=-1) + 1)) - set(stored.positions))
        why = f"check {missing[0] + 1} was removed" if missing else "its checks were renumbered"
    elif (counted := _counted(stored.run)) is not None:
        why = counted
    else:
        why = "what its row and its checks say no longer gives its hash"
    found.add("edited", f"run {number} was edited: {why}", number)


def _counted(run: Verification) -> str | None:
    """Where the number of checks of files contradicts the run's own count of them."""
    files = sum(1 for c in run.checks if c.kind == "file")
    claims = len({c.subject for c in run.checks if c.kind == "claim"})
    for noun, there, said in (("files", files, run.counts.files), ("claims", claims, run.counts.claims)):
        if there < said:
            return f"it counts {said} {noun}, but has checks of {there}; a check was removed"
        if there > said and noun == "claims":
            return f"it counts {said} claims, but has checks of {there}; a check was added"
    return None


def _removed(first: int, last: int, before: int, after: int | None) -> str:
    what = f"run {first} was removed" if first == last else f"runs {first} to {last} were removed"
    if before and after:
        return f"{what} between run {before} and run {after}"
    if after:
        return f"{what} before run {after}"
    return f"{what} after run {before}" if before else f"{what}, and none is left"


def _sequence(connection: sqlite3.Connection, found: _Findings, head: Head) -> None:
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'verifications'").fetchall()
    given = row[0][0] if row else 0
    if len(row) > 1 or given < head.last:
        found.add(
            "sequence",
            f"the database's own count of runs was edited: it says {given}, but run {head.last} is here",
        )
    elif given > head.last:
        found.add("removed", _removed(head.last + 1, given, head.last, None), head.last + 1)


def _anchor(anchor: Head | None, path: Path, found: _Findings, head: Head, hashes: dict[str, int]) -> None:
    if anchor is None:
        if found.problems and found.problems[0].kind == "anchor":
            return
        if head.last:
            found.add(
                "anchor",
                f"the anchor {path} is missing, so a removed last run can't be seen; "
                "the next verification writes it",
            )
        else:
            found.notes.append("there is no anchor yet; the first verification writes it")
    elif anchor.last > head.last:
        if not any(p.kind == "removed" and p.run is not None and p.run > head.last for p in found.problems):
            found.add("removed", _removed(head.last + 1, anchor.last, head.last, None), head.last + 1)
        found.notes.append(f"the anchor names run {anchor.last} with hash {anchor.hash}")
    elif hashes.get(anchor.hash) != anchor.last:
        found.add(
            "anchor",
            f"run {anchor.last} is not the one that the anchor names: it was rewritten or replaced, "
            "or the anchor was edited",
            anchor.last,
        )
    elif anchor.last < head.last and not _moved_on(path, head):
        found.notes.append(
            f"the anchor stands at run {anchor.last}, the database at run {head.last}: a writer was "
            "interrupted after its commit; the next verification moves the anchor on"
        )
    elif anchor.last == head.last and anchor.runs != head.runs and not found.problems:
        found.add("anchor", f"the anchor counts {anchor.runs} runs, the database {head.runs}")


def _moved_on(path: Path, head: Head) -> bool:
    """Whether a writer has moved the anchor to this head, or past it, since the audit began."""
    try:
        later = read_head(path)
    except CatalogError:
        return False
    return later is not None and later.last >= head.last


def _rows(connection: sqlite3.Connection, found: _Findings) -> None:
    """SQLite's own checks, and checks that lost their run."""
    for (text,) in connection.execute("PRAGMA integrity_check(20)"):
        if text != "ok":
            found.add("database", f"the database file is damaged: {text}")
    for table, rowid, parent, _ in connection.execute("PRAGMA foreign_key_check").fetchmany(20):
        where = f"row {rowid}" if rowid is not None else "a row"
        found.add("database", f"{where} of {table} refers to a row of {parent} that isn't there")
    orphans = connection.execute(
        "SELECT DISTINCT verification_id FROM checks "
        "WHERE verification_id NOT IN (SELECT id FROM verifications) LIMIT 20"
    ).fetchall()
    if orphans:
        numbers = ", ".join(str(n) for (n,) in orphans)
        found.notes.append(f"checks of runs that aren't here are left: {numbers}")


def _manifests(connection: sqlite3.Connection, found: _Findings) -> None:
    """Manifests against their hash, and the rows that are views of one against it."""
    packages = connection.execute(
        "SELECT a.id, a.slug, a.version, a.work_name, m.sha256, m.content FROM artifacts a "
        "JOIN manifests m ON m.sha256 = a.manifest_sha256 ORDER BY a.id"
    )
    for artifact_id, slug, version, work_name, sha256, content in packages:
        package = f"package {slug} (version {version})"
        if not is_as_added(content, sha256):
            found.add("manifest", f"{package}: its manifest was edited")
            continue
        try:
            manifest = as_record(content)
        except ValidationError:
            found.notes.append(f"{package}: its manifest is of another version, so its rows weren't compared")
            continue
        if (slug, work_name) != (manifest.id, manifest.work.id):
            found.add("manifest", f"{package}: its manifest calls it {manifest.id}, of {manifest.work.id}")
        for table, noun, rows in (
            ("files", "file", [file_row(file) for file in manifest.files]),
            ("analyses", "analysis", [analysis_row(analysis) for analysis in manifest.analyses]),
            ("claims", "claim", [claim_row(n, claim) for n, claim in enumerate(manifest.claims)]),
        ):
            for sentence in _differences(connection, table, noun, artifact_id, rows):
                found.add("manifest", f"{package}: {sentence}")


def _differences(
    connection: sqlite3.Connection, table: str, noun: str, artifact_id: int, rows: list[dict[str, Any]]
) -> Iterator[str]:
    """One sentence for each row of a package that isn't as its manifest has it."""
    key = "path" if table == "files" else "name"
    columns = list(rows[0]) if rows else [key]
    cursor = connection.execute(
        f"SELECT {', '.join(columns)} FROM {table} WHERE artifact_id = ?", [artifact_id]
    )
    stored = {row[columns.index(key)]: dict(zip(columns, row, strict=True)) for row in cursor}
    for row in rows:
        here = stored.pop(row[key], None)
        if here is None:
            yield f"{noun} {row[key]} was removed"
        elif changed := [column for column in columns if here[column] != row[column]]:
            yield f"{noun} {row[key]} was edited: its {changed[0]} isn't the manifest's"
    for name in stored:
        yield f"{noun} {name} was added"
