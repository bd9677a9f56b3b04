"""The chain of verifications: writing a run behind the last one, and reading runs back."""

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from catalog.anchor import EMPTY, Head
from catalog.errors import CatalogError
from schema.base import canonical_json
from schema.verification import GENESIS, Check, Counts, Environment, Verification, chain_hash

_COUNTS = tuple(Counts.model_fields)
_PLAIN = ("origin", "level", "outcome", "depth", "verdict", "started_at", "finished_at", "who",
          "code_version", "git_commit")  # fmt: skip
_CHECK = tuple(Check.model_fields)
_RUN_SQL = (
    "SELECT v.id, v.artifact_id, v.previous, v.hash, v.environment, v.seeds, "
    "a.slug, a.work_name, a.manifest_sha256, "
    + ", ".join(f"v.{name}" for name in (*_PLAIN, *_COUNTS))
    + " FROM verifications v LEFT JOIN artifacts a ON a.id = v.artifact_id"
)


@dataclass(frozen=True)
class StoredRun:
    """A run as its rows give it; `run` is None where they give none, and `problem` says why."""

    id: int
    artifact_id: int
    previous: str
    hash: str
    run: Verification | None
    positions: tuple[int, ...]
    problem: str | None = None


def head_of(connection: sqlite3.Connection) -> Head:
    """The last run as the database has it."""
    row = connection.execute(
        "SELECT (SELECT count(*) FROM verifications), id, hash FROM verifications ORDER BY id DESC LIMIT 1"
    ).fetchone()
    return EMPTY if row is None else Head(*row)


def append(connection: sqlite3.Connection, artifact_id: int, run: Verification) -> tuple[int, str]:
    """Write a run behind the last one, inside a transaction that holds the write lock."""
    previous = head_of(connection).hash
    try:
        hashed = chain_hash(previous, run)
    except UnicodeEncodeError as error:
        raise CatalogError("the run holds text that isn't valid Unicode, so it can't be stored") from error
    values: dict[str, Any] = {name: _plain(getattr(run, name)) for name in _PLAIN}
    values |= {name: getattr(run.counts, name) for name in _COUNTS}
    values |= {
        "artifact_id": artifact_id,
        "environment": canonical_json(run.environment.model_dump(mode="json")).decode(),
        "seeds": canonical_json(run.seeds).decode(),
        "previous": previous,
        "hash": hashed,
    }
    run_id = connection.execute(
        f"INSERT INTO verifications({', '.join(values)}) VALUES ({', '.join('?' * len(values))})",
        list(values.values()),
    ).lastrowid
    assert run_id is not None
    for position, check in enumerate(run.checks):
        connection.execute(
            f"INSERT INTO checks(verification_id, position, {', '.join(_CHECK)}) "
            f"VALUES (?, ?, {', '.join('?' * len(_CHECK))})",
            [run_id, position, *(_plain(getattr(check, name)) for name in _CHECK)],
        )
    stored = stored_run(connection, run_id)
    if stored is None or stored.run != run:
        raise CatalogError("the run can't be read back as it was written, so it wasn't recorded")
    return run_id, hashed


def stored_run(connection: sqlite3.Connection, number: int) -> StoredRun | None:
    """One run with its checks, or None where there is none of this number."""
    return next(stored_runs(connection, number), None)


def follows(connection: sqlite3.Connection, anchor: Head) -> bool:
    """Whether the run that the anchor names is in the database, as it names it."""
    if anchor.last == 0:
        return anchor.hash == GENESIS
    row = connection.execute("SELECT hash FROM verifications WHERE id = ?", [anchor.last]).fetchone()
    return row is not None and row[0] == anchor.hash


def stored_runs(connection: sqlite3.Connection, number: int | None = None) -> Iterator[StoredRun]:
    """All runs in the order of their numbers, one at a time; or the one of this number."""
    cursor = connection.cursor()
    cursor.row_factory = sqlite3.Row
    only = "" if number is None else "WHERE v.id = ?"
    for row in cursor.execute(f"{_RUN_SQL} {only} ORDER BY v.id", [] if number is None else [number]):
        checks = connection.cursor()
        checks.row_factory = sqlite3.Row
        rows = checks.execute(
            f"SELECT position, {', '.join(_CHECK)} FROM checks WHERE verification_id = ? ORDER BY position",
            [row["id"]],
        ).fetchall()
        run, problem = None, None
        try:
            run = Verification(
                artifact=row["slug"],
                work=row["work_name"],
                manifest_sha256=row["manifest_sha256"],
                counts=Counts(**{name: row[name] for name in _COUNTS}),
                environment=Environment(**json.loads(row["environment"])),
                seeds=json.loads(row["seeds"]),
                checks=tuple(Check(**{name: check[name] for name in _CHECK}) for check in rows),
                **{name: row[name] for name in _PLAIN},
            )
        except (ValidationError, ValueError, TypeError) as error:
            if row["slug"] is None:
                problem = "its package isn't here"
            elif isinstance(error, ValidationError):
                first = error.errors(include_url=False)[0]
                problem = f"{'.'.join(map(str, first['loc'])) or 'a value'}: {first['msg']}"
            else:
                problem = "its environment or its seeds aren't JSON"
        yield StoredRun(
            row["id"], row["artifact_id"], row["previous"], row["hash"], run,
            tuple(check["position"] for check in rows), problem,
        )  # fmt: skip


def _plain(value: Any) -> Any:
    return value.value if hasattr(value, "value") else value
