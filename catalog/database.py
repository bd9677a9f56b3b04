"""Opening the file: is it there, is it ours, is it of this version, can it be written?

sqlite-utils is imported only where a file is made or upgraded: it imports pandas where that is installed,
which takes longer than most commands.
"""

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import catalog.migrations
from catalog.append_only import create_triggers
from catalog.errors import CatalogError

if TYPE_CHECKING:
    from sqlite_utils import Database

SQLITE_NEEDED = (3, 37, 0)
APPLICATION_ID = 0x50525348
"""Marks the file as a catalog of ours (`PRSH`) for `file` and for anyone who opens it by hand."""
BUSY_SECONDS = 20.0
CACHE_KIB = 65_536
"""Of a writer, taken only as it is needed. An import is one transaction, which touches the indexes
everywhere: in SQLite's own 2 MiB their pages are written and read again for each record."""


def objects_path(path: Path) -> Path:
    """The folder of stored files beside a catalog."""
    return path.with_name(path.name + ".objects")


def head_path(path: Path) -> Path:
    """The anchor file beside a catalog."""
    return path.with_name(path.name + ".head")


def create_file(path: Path) -> None:
    """Make an empty catalog: built under another name, then put in place whole."""
    _sqlite_new_enough()
    if path.is_dir():
        raise CatalogError(f"{path} is a folder; name the file that the catalog shall be")
    if path.exists() or path.is_symlink():
        raise CatalogError(f"{path} is there already; choose another name, or remove it yourself")
    if not path.parent.is_dir():
        raise CatalogError(f"the folder {path.parent} is not there; make it first")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".new", dir=path.parent)
    except OSError as error:
        raise CatalogError(f"can't write in {path.parent}: {error.strerror}") from error
    os.close(handle)
    building = Path(name)
    try:
        connection = sqlite3.connect(building, isolation_level=None)
        try:
            with translated(path):
                connection.execute("PRAGMA journal_mode = WAL")
                _migrate(connection)
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            connection.close()
        os.chmod(building, 0o666 & ~_umask())
        try:
            os.link(building, path)
        except FileExistsError as error:
            raise CatalogError(f"{path} was made by somebody else just now; it is left as it is") from error
        except OSError:  # a file system without hard links
            os.rename(building, path)
        sync_folder(path.parent)
    finally:
        for suffix in ("", "-wal", "-shm"):
            Path(name + suffix).unlink(missing_ok=True)


def open_database(
    path: Path, writable: bool, busy_seconds: float = BUSY_SECONDS
) -> tuple[sqlite3.Connection, Path | None]:
    """The open database, and the copy that was kept if it had to be upgraded."""
    _sqlite_new_enough()
    _might_be_a_catalog(path)
    if writable:
        _might_be_written(path)
    with translated(path):
        connection = connect(path, writable, busy_seconds)
    try:
        with translated(path):
            pending = _pending(connection, path)
            kept = None
            if pending and not writable:
                raise CatalogError(
                    f"{path} was made by an older proofshelf and is upgraded by the next command that writes "
                    "(such as `proofshelf verify`), which keeps a copy of it"
                )
            if writable:
                connection.execute("PRAGMA journal_mode = WAL")
            if pending:
                kept = _keep_copy(connection, path)
                _migrate(connection)
        return connection, kept
    except BaseException:
        connection.close()
        raise


def is_catalog(path: Path) -> bool:
    """Whether a file says that it is a catalog, so far as it can be read; of whatever version."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            return bool(connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID)
    except sqlite3.Error:
        return False


def connect(path: Path, writable: bool, busy_seconds: float = BUSY_SECONDS) -> sqlite3.Connection:
    """A plain connection with our settings; no check of what the file is."""
    uri = f"{path.absolute().as_uri()}?mode={'rw' if writable else 'ro'}"
    connection = sqlite3.connect(uri, uri=True, timeout=busy_seconds, isolation_level=None)
    try:
        if not writable and not os.access(path.parent, os.W_OK):
            _readable_without_writing(connection, path)
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        if writable:
            connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def wrapped(connection: sqlite3.Connection) -> "Database":
    """The same database as sqlite-utils gives it, without its plugins and recursive triggers."""
    from sqlite_utils import Database

    return Database(connection, recursive_triggers=False, execute_plugins=False)


@contextmanager
def write(db: sqlite3.Connection, path: Path) -> Iterator[sqlite3.Connection]:
    """One unit of writing: all of it or nothing, and nobody else writes meanwhile.

    The lock is taken at the start (`BEGIN IMMEDIATE`): a transaction that reads first and locks
    later, as a plain `BEGIN` would, may find that what it read has changed.
    """
    with translated(path):
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise


@contextmanager
def snapshot(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Everything inside is read from one state of the database, whoever writes meanwhile."""
    inside = connection.in_transaction
    if not inside:
        connection.execute("BEGIN")
    try:
        yield connection
    finally:
        if not inside and connection.in_transaction:
            connection.execute("ROLLBACK")


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turns what SQLite says into a sentence about the file."""
    try:
        yield
    except sqlite3.Error as error:
        raise CatalogError(_sentence(path, error)) from error
    except UnicodeEncodeError as error:
        raise CatalogError(f"text that isn't valid Unicode can't be stored: {error.reason}") from error


def sync_folder(folder: Path) -> None:
    """Make a rename in this folder last through a power cut, where the system can."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)


def _sentence(path: Path, error: sqlite3.Error) -> str:
    text = str(error)
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return f"{path} is locked by another writer; try again when it has finished"
    if name.startswith("SQLITE_FULL") or "disk is full" in text:
        return f"the disk of {path} is full; nothing was changed"
    if name.startswith("SQLITE_READONLY"):
        return f"{path} can't be written: the file or its folder is read-only"
    if name.startswith("SQLITE_CANTOPEN"):
        return f"{path} can't be opened: check the permissions of the file and of its folder"
    if name.startswith("SQLITE_NOTADB"):
        return f"{path} is not a SQLite file, so it is no catalog"
    if name.startswith("SQLITE_CORRUPT"):
        return f"{path} is damaged ({text}); restore it from a backup"
    if name.startswith("SQLITE_IOERR"):
        return f"reading or writing {path} failed ({text}, {name}); nothing was changed"
    if name.startswith("SQLITE_CONSTRAINT"):
        return f"the database refused this: {text}"
    return f"{path}: {text}"


def _sqlite_new_enough() -> None:
    if sqlite3.sqlite_version_info < SQLITE_NEEDED:
        needed = ".".join(map(str, SQLITE_NEEDED[:2]))
        raise CatalogError(
            f"Python uses SQLite {sqlite3.sqlite_version}, but proofshelf needs {needed} or newer; "
            "use a Python built with a newer SQLite"
        )


def _might_be_a_catalog(path: Path) -> None:
    """What can be told without opening the file. Closing a file that SQLite has open elsewhere in this
    process would drop SQLite's locks on it (POSIX advisory locks), so it is never opened otherwise.
    """
    if path.is_dir():
        raise CatalogError(f"{path} is a folder, not a catalog; name the file itself")
    if not path.exists():
        raise CatalogError(f"there is no catalog at {path}; `proofshelf init` makes one")
    if not path.is_file():
        raise CatalogError(f"{path} is not a regular file, so it is no catalog")
    if not os.access(path, os.R_OK):
        raise CatalogError(f"{path} can't be read: its permissions don't allow it")
    if path.stat().st_size == 0:
        raise CatalogError(f"{path} is empty (0 bytes); remove it, and `proofshelf init` makes a catalog")


def _pending(connection: sqlite3.Connection, path: Path) -> list[str]:
    """Names of the steps that this file lacks. Refuses what isn't ours, or newer than we are."""
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    applied: list[str] = []
    if "_sqlite_migrations" in tables:
        columns = {row[1] for row in connection.execute("PRAGMA table_info(_sqlite_migrations)")}
        if {"migration_set", "name"} <= columns:
            applied = [
                row[0]
                for row in connection.execute(
                    "SELECT name FROM _sqlite_migrations WHERE migration_set = ? ORDER BY rowid",
                    [catalog.migrations.SET],
                )
            ]
    if not applied:
        raise CatalogError(
            f"{path} is a SQLite file, but no proofshelf catalog; `proofshelf init` makes one elsewhere"
        )
    known = [name for name, _ in catalog.migrations.STEPS]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if unknown := [name for name in applied if name not in known]:
        raise CatalogError(
            f"{path} was made by a newer proofshelf (this one doesn't know its step {unknown[0]!r}); "
            "upgrade proofshelf"
        )
    if version > len(known):
        raise CatalogError(
            f"{path} was made by a newer proofshelf (its version is {version}, this one knows {len(known)}); "
            "upgrade proofshelf"
        )
    return [name for name in known if name not in applied]


def _might_be_written(path: Path) -> None:
    if not os.access(path, os.W_OK) or not os.access(path.parent, os.W_OK):
        raise CatalogError(f"{path} can't be written: the file or its folder is read-only")


def _readable_without_writing(connection: sqlite3.Connection, path: Path) -> None:
    """A file in WAL mode needs a second file beside it even to be read."""
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as error:
        raise CatalogError(
            f"{path} can't be read in a folder that can't be written: SQLite needs a file beside it; "
            "open a copy made by `proofshelf backup`, which needs none"
        ) from error


def _migrate(connection: sqlite3.Connection) -> None:
    """Apply every pending step in one transaction, under the write lock."""
    steps = catalog.migrations.migrations()
    connection.execute("BEGIN IMMEDIATE")
    try:
        steps.apply(wrapped(connection))
        create_triggers(connection)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(catalog.migrations.STEPS)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _keep_copy(connection: sqlite3.Connection, path: Path) -> Path:
    """Copy the file as it is, before an upgrade, to a name beside it that nothing has yet."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".copy", dir=path.parent)
    os.close(handle)
    copying = Path(name)
    try:
        copy = sqlite3.connect(copying)
        try:
            connection.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
        finally:
            copy.close()
        for number in range(1, 1000):
            kept = path.with_name(f"{path.name}.version-{version}" + (f".{number}" if number > 1 else ""))
            if not kept.exists():
                os.rename(copying, kept)
                sync_folder(path.parent)
                return kept
        raise CatalogError(f"there are a thousand copies of {path} beside it; remove some")
    finally:
        copying.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
