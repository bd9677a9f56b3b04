"""Opening the catalog for one command, and doing the same to each of several files."""

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from catalog.clock import as_text, whoami
from catalog.commands.errors import PROGRAM, explain
from catalog.commands.output import note
from catalog.database import snapshot
from catalog.store import Catalog, open_catalog

T = TypeVar("T")


@contextmanager
def writing(path: Path) -> Iterator[Catalog]:
    """The catalog, open for writing; an upgrade of the file is told on standard error."""
    with open_catalog(path, writable=True) as catalog:
        if catalog.notice:
            note(f"{PROGRAM}: {catalog.notice}")
        yield catalog


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A read-only connection for `catalog.queries`: all answers come from one state of the database."""
    with open_catalog(path, writable=False) as catalog, snapshot(catalog.connection) as connection:
        yield connection


def who() -> str:
    """Whom the journal names: $PROOFSHELF_WHO, else the account."""
    return as_text(os.environ.get("PROOFSHELF_WHO", "").strip()) or whoami()


def each(paths: Sequence[Path], action: Callable[[Path], T]) -> tuple[list[T], list[dict[str, str]]]:
    """Do it to every path. One that is refused is told on standard error and stops no other.

    Returns what came of the rest, and path and reason of each refusal.
    """
    done: list[T] = []
    refused: list[dict[str, str]] = []
    for path in paths:
        try:
            done.append(action(path))
        except Exception as error:
            reason = explain(error)
            if reason is None:
                raise
            refused.append({"path": str(path), "reason": reason})
            note(f"{PROGRAM}: {reason if str(path) in reason else f'{path}: {reason}'}")
    return done, refused
