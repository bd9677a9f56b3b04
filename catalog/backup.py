"""A copy of a catalog that stands by itself: database, stored files and anchor, taken while others write."""

import os
import shutil
import sqlite3
import tempfile
from dataclasses import dataclass
from pathlib import Path

from artifacts.errors import ArtifactError, PackageError
from artifacts.objects import ObjectStore
from catalog import chain, database
from catalog.anchor import read_head, write_head
from catalog.errors import CatalogError
from catalog.rows import OBJECTS
from schema.states import FileState


@dataclass(frozen=True)
class Backup:
    """What was copied. `problems` names stored files that could not be copied whole, and a broken head."""

    path: Path
    works: int
    runs: int
    head: str
    objects: int
    bytes: int
    problems: tuple[str, ...]


def backup(db: sqlite3.Connection, path: Path, objects: ObjectStore, to: Path) -> Backup:
    """Copy the catalog into a new folder `to`, under its own file name. All of it, or nothing is there.

    The database is one state of it (`VACUUM INTO`), whatever is written meanwhile; the stored files
    are those that this state knows, each hashed after the copy.
    """
    to = to.absolute()
    if to.exists() or to.is_symlink():
        raise CatalogError(f"{to} is there already; a backup needs a new name")
    if not to.parent.is_dir():
        raise CatalogError(f"the folder {to.parent} is not there; make it first")
    problems: list[str] = []
    anchor_file = database.head_path(path)
    try:
        anchor = read_head(anchor_file)
    except CatalogError as error:
        anchor, damaged = None, True
        problems.append(str(error))
    else:
        damaged = False
    try:
        building = Path(tempfile.mkdtemp(prefix=f".{to.name}.", dir=to.parent))
    except OSError as error:
        raise CatalogError(f"can't write in {to.parent}: {error.strerror}") from error
    try:
        copy = building / path.name
        with database.translated(copy):
            db.execute("VACUUM INTO ?", [copy.as_uri()])  # as bytes: no name is text for sure
            connection = database.connect(copy, writable=False)
        try:
            works = connection.execute("SELECT count(*) FROM works").fetchone()[0]
            head = chain.head_of(connection)
            wanted = connection.execute(
                f"SELECT sha256, min(path) FROM ({OBJECTS}) GROUP BY sha256"
            ).fetchall()
            if damaged:
                shutil.copyfile(anchor_file, database.head_path(copy))
            elif anchor is not None:
                sound = chain.follows(connection, anchor)
                write_head(database.head_path(copy), head if sound else anchor)
                if not sound:
                    problems.append(f"run {anchor.last}, which the anchor names, is gone or was rewritten")
        finally:
            connection.close()
        copied, size = _copy_objects(objects, ObjectStore(database.objects_path(copy)), wanted, problems)
        _sync_file(copy)
        size += copy.stat().st_size
        os.chmod(building, 0o755)
        database.sync_folder(building)
        if to.exists():
            raise CatalogError(f"{to} was made by somebody else just now; it is left as it is")
        os.rename(building, to)
        database.sync_folder(to.parent)
    except OSError as error:
        raise CatalogError(f"the backup failed, and nothing is left of it: {error.strerror}") from error
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return Backup(to / path.name, works, head.runs, head.hash, copied, size, tuple(problems))


def _copy_objects(
    source: ObjectStore, target: ObjectStore, wanted: list[tuple[str, str]], problems: list[str]
) -> tuple[int, int]:
    """Copy every object that is whole; a damaged or missing one is named and left out."""
    copied = size = 0
    for sha256, name in wanted:
        try:
            state = source.verify(sha256)
            if state is FileState.MATCH:
                target.put(source.path(sha256), sha256)
                copied += 1
                size += target.path(sha256).stat().st_size
                continue
            what = "is missing" if state is FileState.MISSING else "was changed"
        except PackageError:
            what = "can't be read"
        except ArtifactError as error:
            raise CatalogError(f"the backup failed, and nothing is left of it: {error}") from error
        problems.append(f"the stored file {sha256} ({name}) {what}, so it isn't in the backup")
    return copied, size


def _sync_file(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
