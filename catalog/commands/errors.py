"""From an exception to the one sentence that the user reads."""

import errno
import sqlite3

import click

PROGRAM = "proofshelf"


class Refused(click.ClickException):
    """Bad input, or something that a command won't do: one sentence, exit code 1."""

    exit_code = 1


class Stopped(click.ClickException):
    """The user pressed Ctrl-C."""

    exit_code = 130

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or "stopped; what was finished before is kept, and nothing is half-written")


def explain(error: Exception) -> str | None:
    """The sentence for an error that we expect, else None: then it is a bug of ours."""
    if isinstance(error, _library_errors()):
        return " ".join(str(error.args[0] if error.args else error).split())
    if isinstance(error, sqlite3.Error):
        return _explain_sqlite(error)
    if isinstance(error, OSError):
        return _explain_os(error)
    return None


def _library_errors() -> tuple[type[Exception], ...]:
    from artifacts.errors import ArtifactError
    from catalog.errors import CatalogError
    from catalog.lookup import NotFound
    from classifiers.errors import ClassifierError
    from ingest.errors import IngestError
    from scheduling_core.errors import SchedulingError

    return (ArtifactError, CatalogError, ClassifierError, IngestError, NotFound, SchedulingError)


def _explain_sqlite(error: sqlite3.Error) -> str | None:
    text = str(error)
    if "locked" in text or "busy" in text:
        return "another program is writing to the catalog; nothing was changed: try again when it is done"
    if "disk is full" in text:
        return "the disk is full; nothing was changed: free some space and try again"
    if "readonly" in text:
        return "the catalog's file or folder can't be written; nothing was changed: check its permissions"
    if "unable to open" in text:
        return "the catalog's file can't be opened: check that it exists and may be read"
    if "not a database" in text or "malformed" in text:
        return f"the catalog's file is damaged or no SQLite database ({text}); a backup can stand in for it"
    return None


def _explain_os(error: OSError) -> str:
    where = f": {error.filename}" if error.filename else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"the disk is full{where}; nothing is half-written: free some space and try again"
    reason = error.strerror or str(error) or type(error).__name__
    return f"{reason[:1].lower()}{reason[1:]}{where}"
