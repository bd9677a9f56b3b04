"""The catalog as one object: everything that is written into it is written here.

Each method is one unit: it happens whole or not at all. Errors are `CatalogError` with a sentence.
Readers and the verifier are imported by the methods that need them, so that a look at the catalog
starts without them.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from artifacts.errors import ArtifactError
from artifacts.hashing import Digest, hash_file
from artifacts.manifest import parse_screening
from artifacts.objects import ObjectStore, Swept
from artifacts.package import Package, files_on_disk, open_package, printable
from catalog import audit, chain, database
from catalog.anchor import EMPTY, read_head, write_head
from catalog.audit import AuditReport, Problem
from catalog.backup import Backup, backup
from catalog.clock import as_text, now, whoami
from catalog.code_version import code_version
from catalog.errors import CatalogError
from catalog.manifests import stored_manifest
from catalog.packages import Added, add_rows, known_version
from catalog.rows import OBJECTS, known_object
from catalog.screening import add_screening
from catalog.screening_store import ScreeningStore
from schema.event import Event
from schema.states import FileState
from schema.verification import Level, Verification

if TYPE_CHECKING:
    from sqlite_utils import Database

    from catalog.imports import ImportReport

__all__ = [
    "Added",
    "AuditReport",
    "Backup",
    "Catalog",
    "CatalogError",
    "create",
    "open_catalog",
]


def create(path: str | Path, who: str | None = None) -> "Catalog":
    """Make a new, empty catalog and open it for writing. Refuses a path where something is."""
    path = Path(path)
    anchor = None if path.exists() else read_head(database.head_path(path))
    if anchor is not None and anchor.last:
        raise CatalogError(
            f"the anchor {database.head_path(path)} names run {anchor.last} of a catalog that was here: "
            "bring it back from a backup, or move the anchor away to begin anew"
        )
    database.create_file(path)
    catalog = open_catalog(path, writable=True)
    with catalog.write():
        catalog._event("init", who or whoami(), as_text(path.name))
    write_head(catalog.head_path, EMPTY)
    return catalog


def open_catalog(path: str | Path, writable: bool, busy_seconds: float = database.BUSY_SECONDS) -> "Catalog":
    """Open a catalog; opened for writing, an older one is upgraded after a copy was kept (see `notice`)."""
    path = Path(path)
    connection, kept = database.open_database(path, writable, busy_seconds)
    catalog = Catalog(path, connection, writable)
    if kept is not None:
        catalog.notice = f"{path} was upgraded; the catalog as it was is kept in {kept}"
        with catalog.write():
            catalog._event("upgrade", whoami(), as_text(path.name), {"kept": as_text(kept.name)})
    return catalog


class Catalog(ScreeningStore):
    """An open catalog: the database, the stored files beside it, and the anchor of its chain.

    `notice` is a sentence for the user about the opening, or None.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, writable: bool) -> None:
        self.path = path
        self.connection = connection
        self.writable = writable
        self.notice: str | None = None
        self.objects = ObjectStore(database.objects_path(path))
        self.head_path = database.head_path(path)
        self._inside = False

    @property
    def db(self) -> "Database":
        """The same database as sqlite-utils gives it, to look around in."""
        return database.wrapped(self.connection)

    def close(self) -> None:
        """Close the database; the object can't be used any more."""
        self.connection.close()

    def __enter__(self) -> "Catalog":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def write(self) -> AbstractContextManager[sqlite3.Connection]:
        """One transaction that holds the write lock from its start."""
        if not self.writable:
            raise CatalogError(f"{self.path} was opened for reading only")
        return nullcontext(self.connection) if self._inside else database.write(self.connection, self.path)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Everything that is written inside is one unit: all of it or, with any error, nothing."""
        with self.write():
            self._inside = True
            try:
                yield
            finally:
                self._inside = False

    # Packages -------------------------------------------------------------------------------------

    def add_package(self, path: str | Path, who: str | None = None) -> Added:
        """Take a package in: its files into the object store, then its rows.

        The same manifest again changes nothing (and brings back stored files that were lost); another
        manifest of the same id is its next version.
        """
        who = who or whoami()
        try:
            with open_package(path) as package, self.write() as db:
                new: list[str] = []
                try:
                    digests = self._store_files(package, new)
                    known = known_version(db, package)
                    if known is not None:
                        return known
                    added = add_rows(db, package, digests, who)
                    screening = package.manifest.screening
                    if screening is not None:
                        digest = digests[screening].sha256
                        record = parse_screening(self.objects.path(digest).read_bytes(), screening)
                        add_screening(db, record, digest, added.artifact_id, who)
                    detail = {"version": added.version, "manifest_sha256": package.manifest_sha256}
                    self._event("add", who, added.slug, {**detail, "work": added.work})
                    return added
                except BaseException:
                    self.objects.discard(new)  # still under the lock: nobody else relies on them yet
                    raise
        except ArtifactError as error:
            raise CatalogError(str(error)) from error

    def artifact_id(
        self, slug: str, version: int | None = None, manifest_sha256: str | None = None
    ) -> int | None:
        """The row of a package: its newest version, or that of this number or manifest; None: not here."""
        row = self.connection.execute(
            "SELECT id FROM artifacts WHERE slug = ? AND (? IS NULL OR version = ?) "
            "AND (? IS NULL OR manifest_sha256 = ?) ORDER BY version DESC LIMIT 1",
            [slug, version, version, manifest_sha256, manifest_sha256],
        ).fetchone()
        return None if row is None else row[0]

    def sweep(self) -> Swept:
        """Remove stored files that no package and no release knows, and what interrupted writes left."""
        with self.write() as db:
            known = {row[0] for row in db.execute(OBJECTS)}
            try:
                return self.objects.sweep(known)
            except ArtifactError as error:
                raise CatalogError(str(error)) from error

    # Bibliographies -------------------------------------------------------------------------------

    def import_file(
        self, path: str | Path, who: str | None = None, progress: Callable[[int], None] | None = None
    ) -> "ImportReport":
        """Take a bibliography in, whatever its format; `progress` is told the number of records read.

        Interrupted, it leaves nothing. The same file again changes no work.
        """
        from catalog.imports import OUTCOMES, add_records
        from ingest.errors import IngestError
        from ingest.readers import read

        who = who or whoami()
        try:
            reading = read(Path(path))
        except IngestError as error:
            raise CatalogError(str(error)) from error
        with self.write() as db:
            report = add_records(db, reading, who, progress)
            counts = {name: getattr(report.counts, name) for name in ("read", *OUTCOMES)}
            self._event("import", who, report.counts.filename, {"import": report.id, **counts})
            return report

    # Verifications --------------------------------------------------------------------------------

    def verify_artifact(
        self,
        slug: str,
        version: int | None = None,
        level: Level = "recompute",
        who: str | None = None,
        progress: Callable[..., None] | None = None,
    ) -> tuple[int, Verification]:
        """Verify a stored package from its stored files and record the run; returns its number too."""
        from artifacts.verify import verify_package

        artifact_id = self.artifact_id(slug, version)
        if artifact_id is None:
            which = f" in version {version}" if version is not None else ""
            raise CatalogError(f"there is no package {slug!r}{which} here; `proofshelf list` names them all")
        content, manifest_sha256 = self.connection.execute(
            "SELECT m.content, m.sha256 FROM artifacts a JOIN manifests m ON m.sha256 = a.manifest_sha256 "
            "WHERE a.id = ?",
            [artifact_id],
        ).fetchone()
        manifest = stored_manifest(content, manifest_sha256, slug)
        running, commit = code_version()
        try:
            run = verify_package(
                self.objects.root, manifest, manifest_sha256,
                level=level, who=who or whoami(), origin="store", code_version=running, git_commit=commit,
                resolve=lambda file: self.objects.path(file.sha256), progress=progress,
            )  # fmt: skip
        except ArtifactError as error:
            raise CatalogError(str(error)) from error
        return self.record_verification(artifact_id, run)[0], run

    def record_verification(self, artifact_id: int, run: Verification) -> tuple[int, str]:
        """Append a run to the chain; returns its number and its hash. Its checks keep their order."""
        with self.write() as db:
            row = db.execute(
                "SELECT slug, work_name, manifest_sha256 FROM artifacts WHERE id = ?", [artifact_id]
            ).fetchone()
            if row is None or row != (run.artifact, run.work, run.manifest_sha256):
                raise CatalogError(
                    f"the run is of another package ({run.artifact!r}) than the one it is recorded for"
                )
            self._head_holds()
            number, hashed = chain.append(db, artifact_id, run)
            self._event("verify", run.who, run.artifact, {"run": number, "outcome": run.outcome.value})
        self._move_head()
        return number, hashed

    def audit(self, expect: str | None = None, objects: bool = False) -> AuditReport:
        """Whether all runs are there as written, and with `objects` whether all stored files are whole."""
        with database.translated(self.path):
            report = audit.audit(self.connection, self.head_path, expect)
            if not objects:
                return report
            problems = list(report.problems)
            rows = self.connection.execute(
                f"SELECT sha256, min(path) FROM ({OBJECTS}) GROUP BY sha256"
            ).fetchall()
        for sha256, name in rows:
            try:
                state = self.objects.verify(sha256)
            except ArtifactError as error:
                problems.append(Problem("object", str(error)))
                continue
            if state is FileState.MISSING:
                problems.append(Problem("object", f"the stored file {sha256} ({name}) is missing"))
            elif state is FileState.MISMATCH:
                problems.append(Problem("object", f"the stored file {sha256} ({name}) was changed"))
        return AuditReport(
            report.runs, report.last, report.head, report.anchor, report.expected,
            tuple(problems), report.notes, objects=len(rows),
        )  # fmt: skip

    def backup(self, to: str | Path, who: str | None = None) -> Backup:
        """Copy database, stored files and anchor into the new folder `to`, while others may write."""
        done = backup(self.connection, self.path, self.objects, Path(to))
        if self.writable:
            with self.write():
                detail = {"works": done.works, "runs": done.runs, "objects": done.objects, "head": done.head}
                self._event("backup", who or whoami(), as_text(str(done.path.parent)), detail)
        return done

    def _head_holds(self) -> None:
        """Refuse to write behind a chain that lost what its anchor names. Makes a first anchor."""
        anchor = read_head(self.head_path)
        if anchor is None:
            if chain.head_of(self.connection) == EMPTY:
                write_head(self.head_path, EMPTY)
        elif not chain.follows(self.connection, anchor):
            raise CatalogError(
                f"run {anchor.last}, which the anchor {self.head_path.name} names, is gone or was rewritten: "
                "`proofshelf audit` says more; nothing is recorded behind it "
                "(to go on all the same, move the anchor file away)"
            )

    def _move_head(self) -> None:
        """Move the anchor to the last run. Under the write lock, so that it never goes backwards."""
        with self.write() as db:
            anchor, head = read_head(self.head_path), chain.head_of(db)
            behind = anchor is not None and anchor.last <= head.last and chain.follows(db, anchor)
            if anchor is None or (behind and anchor != head):
                write_head(self.head_path, head)

    # What every unit needs --------------------------------------------------------------------------

    def _store_files(self, package: Package, added: list[str]) -> dict[str, Digest]:
        """Put every listed file into the store, each checked against the manifest; under the write lock.

        Names in `added` those that neither the store nor any row had.
        """
        listed_paths = {file.path for file in package.manifest.files}
        for name in files_on_disk(package.root):
            if name not in listed_paths:
                raise CatalogError(
                    f"{printable(name)}: the manifest doesn't list it; list it there, or remove it"
                )
        digests = {}
        for file in package.manifest.files:
            source = package.root / file.path
            try:
                digest = hash_file(source)
            except FileNotFoundError as error:
                raise CatalogError(f"{file.path}: the manifest lists it, but it is not there") from error
            for what, listed, found in (
                ("number of bytes", file.bytes, digest.bytes),
                ("SHA-256", file.sha256, digest.sha256),
                ("git blob SHA-1", file.git_blob_sha1 or digest.git_blob_sha1, digest.git_blob_sha1),
            ):
                if listed != found:
                    raise CatalogError(f"{file.path}: its {what} is {found}, but the manifest says {listed}")
            new = self.objects.put(source, file.sha256)
            if new and not known_object(self.connection, file.sha256):
                added.append(file.sha256)
            if not new and self.objects.verify(file.sha256) is not FileState.MATCH:
                self.objects.path(file.sha256).unlink(missing_ok=True)
                self.objects.put(source, file.sha256)
            digests[file.path] = digest
        return digests

    def _event(self, action: str, who: str, subject: str, detail: dict[str, Any] | None = None) -> None:
        event = Event(at=now(), who=who, action=action, subject=subject, detail=detail or {})  # type: ignore[arg-type]
        self.connection.execute(
            "INSERT INTO events(at, who, action, subject, detail) VALUES (?, ?, ?, ?, ?)",
            [event.at, event.who, event.action, event.subject, json.dumps(event.detail, ensure_ascii=False)],
        )
