"""Releases as rows: what was trained, its heads, its files."""

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Mapping
from typing import Any

from catalog.clock import now
from catalog.errors import CatalogError
from catalog.rows import as_json, insert
from schema.scores import ModelRelease
from schema.states import score_status


def release_values(release: ModelRelease) -> dict[str, Any]:
    """The columns of a release that its record decides."""
    return release.model_dump(exclude={"id", "heads", "calibrated"}) | {"calibrated": int(release.calibrated)}


def head_rows(release: ModelRelease) -> list[tuple[Any, ...]]:
    """One row for each head and category, in the release's order."""
    return [
        (h.name, h.imitates, c, h.availability, h.positives, h.ess_positives, h.calibration, h.threshold)
        for h in release.heads
        for c in h.categories
    ]


def heads_of(connection: sqlite3.Connection, release_id: int) -> list[tuple[Any, ...]]:
    """The stored rows, as `head_rows` makes them."""
    return connection.execute(
        "SELECT name, imitates, category, availability, positives, ess_positives, calibration, threshold "
        "FROM heads WHERE release_id = ? ORDER BY id",
        [release_id],
    ).fetchall()


def add_heads(connection: sqlite3.Connection, release_id: int, release: ModelRelease) -> None:
    """Write the heads of a new release. Raises CatalogError for a head that names a category twice."""
    rows = head_rows(release)
    for (name, category), times in Counter((row[0], row[2]) for row in rows).items():
        if times > 1:
            raise CatalogError(f"release {release.id}: head {name} has category {category} {times} times")
    connection.executemany(
        "INSERT INTO heads(release_id, name, imitates, category, availability, positives, ess_positives, "
        "calibration, threshold) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(release_id, *row) for row in rows],
    )


def digests(files: Mapping[str, bytes]) -> dict[str, tuple[int, str]]:
    """Size and SHA-256 of each file."""
    return {path: (len(data), hashlib.sha256(data).hexdigest()) for path, data in files.items()}


def record_release(
    connection: sqlite3.Connection,
    release: ModelRelease,
    record: Mapping[str, Any],
    source_sha256: str,
    files: Mapping[str, tuple[int, str]],
    who: str,
) -> bool:
    """Write a release that was trained here, inside the caller's transaction; whether it is new.

    Raises CatalogError where the name stands for another one.
    """
    values = release_values(release) | {"record": as_json(dict(record)), "source_sha256": source_sha256}
    columns = ", ".join(values)
    here = connection.execute(
        f"SELECT id, {columns} FROM model_releases WHERE slug = ?", [release.id]
    ).fetchone()
    if here is not None:
        stored = dict(zip(values, here[1:], strict=True))
        changed = [name for name in values if stored[name] != values[name]]
        kept = connection.execute(
            "SELECT path, bytes, sha256 FROM release_files WHERE release_id = ? ORDER BY path", [here[0]]
        ).fetchall()
        if kept != sorted((path, *digest) for path, digest in files.items()):
            changed.append("files")
        if heads_of(connection, here[0]) != head_rows(release):
            changed.append("heads")
        if changed:
            raise CatalogError(
                f"release {release.id}: is here already with another {changed[0]}; give it another id"
            )
        return False
    status = score_status(release.maturity)
    if release.status != status:
        raise CatalogError(
            f"release {release.id}: its status is {release.status!r}; scores of a release trained here, "
            f"maturity {release.maturity}, have the status {status.value!r}"
        )
    if release.study is not None and not _study_known(connection, release.study):
        raise CatalogError(f"release {release.id}: there is no study {release.study!r} here")
    release_id = insert(
        connection,
        "model_releases",
        {"slug": release.id, **values, "recorded_at": now(), "recorded_by": who},
    )
    add_heads(connection, release_id, release)
    for path, (size, sha256) in files.items():
        insert(
            connection,
            "release_files",
            {"release_id": release_id, "path": path, "bytes": size, "sha256": sha256},
        )
    return True


def _study_known(connection: sqlite3.Connection, slug: str) -> bool:
    row = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM studies WHERE slug = ?) "
        "OR EXISTS (SELECT 1 FROM rounds WHERE study = ?)",
        [slug, slug],
    ).fetchone()
    return bool(row[0])
