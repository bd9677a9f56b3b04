"""A package as rows: the manifest whole, and beside it what can be asked for by column."""

import json
import sqlite3
from dataclasses import dataclass
from typing import Any, Literal

from artifacts.hashing import Digest
from artifacts.package import Package
from catalog.clock import now
from catalog.errors import CatalogError
from catalog.works import add_slug, find_work, slug_kind, work_for_package
from schema.artifact import Analysis, Claim, File, Manifest


@dataclass(frozen=True)
class Added:
    """What became of a package that was added."""

    slug: str
    version: int
    state: Literal["added", "unchanged", "new version"]
    work: str
    artifact_id: int


def known_version(connection: sqlite3.Connection, package: Package) -> Added | None:
    """The version of the catalog that has this very manifest, or None."""
    row = connection.execute(
        "SELECT a.version, w.slug, a.id FROM artifacts a JOIN works w ON w.id = a.work_id "
        "WHERE a.slug = ? AND a.manifest_sha256 = ?",
        [package.manifest.id, package.manifest_sha256],
    ).fetchone()
    return None if row is None else Added(package.manifest.id, row[0], "unchanged", row[1], row[2])


def add_rows(connection: sqlite3.Connection, package: Package, digests: dict[str, Digest], who: str) -> Added:
    """Write a package's work, manifest, files, analyses, claims and evidence; the caller's transaction."""
    manifest = package.manifest
    work_id, _ = work_for_package(connection, manifest.work)
    work = connection.execute("SELECT slug FROM works WHERE id = ?", [work_id]).fetchone()[0]
    version = _next_version(connection, manifest, work_id)
    connection.execute(
        "INSERT INTO manifests(sha256, content) SELECT ?, ? WHERE NOT EXISTS "
        "(SELECT 1 FROM manifests WHERE sha256 = ?)",
        [package.manifest_sha256, _text(package.manifest_bytes), package.manifest_sha256],
    )
    artifact_id = _insert(connection, "artifacts", {
        "slug": manifest.id, "version": version, "work_id": work_id, "work_name": manifest.work.id,
        "title": manifest.title, "description": manifest.description, "licence": manifest.licence,
        "manifest_sha256": package.manifest_sha256, "added_at": now(), "added_by": who,
    })  # fmt: skip
    for file in manifest.files:
        digest = digests[file.path]
        _insert(connection, "files", {
            "artifact_id": artifact_id, "git_blob_sha1": digest.git_blob_sha1, **file_row(file),
        })  # fmt: skip
    analyses = {
        analysis.id: _insert(
            connection,
            "analyses",
            {
                "artifact_id": artifact_id,
                "specification": analysis.model_dump_json(),
                **analysis_row(analysis),
            },
        )
        for analysis in manifest.analyses
    }
    for position, claim in enumerate(manifest.claims):
        claim_id = _insert(connection, "claims", {"artifact_id": artifact_id, **claim_row(position, claim)})
        for order, evidence in enumerate(claim.evidence):
            connection.execute(
                "INSERT INTO evidence(claim_id, position, analysis_id, pointer) VALUES (?, ?, ?, ?)",
                [claim_id, order, analyses[evidence.analysis], evidence.pointer],
            )
    return Added(manifest.id, version, "added" if version == 1 else "new version", work, artifact_id)


def _next_version(connection: sqlite3.Connection, manifest: Manifest, work_id: int) -> int:
    kind = slug_kind(connection, manifest.id)
    if kind == "work":
        known = find_work(connection, manifest.id)
        raise CatalogError(
            f"the package is called {manifest.id!r}, which is the name of a work here"
            + (f" ({known.slug!r})" if known and known.slug != manifest.id else "")
            + "; give the package another `id`"
        )
    if kind is None:
        add_slug(connection, manifest.id, "package")
        return 1
    version, last_work, name = connection.execute(
        "SELECT a.version, a.work_id, w.slug FROM artifacts a JOIN works w ON w.id = a.work_id "
        "WHERE a.slug = ? ORDER BY a.version DESC LIMIT 1",
        [manifest.id],
    ).fetchone()
    if last_work != work_id:
        raise CatalogError(
            f"package {manifest.id!r} is of the work {name!r} here, but this manifest is of "
            f"{manifest.work.id!r}; give the package another `id`"
        )
    return int(version) + 1


def file_row(file: File) -> dict[str, Any]:
    """The columns of `files` that a manifest decides."""
    return {
        "path": file.path, "role": file.role, "bytes": file.bytes, "sha256": file.sha256,
        "media_type": file.media_type, "licence": file.licence,
    }  # fmt: skip


def analysis_row(analysis: Analysis) -> dict[str, Any]:
    """The columns of `analyses` that a manifest decides."""
    return {
        "name": analysis.id, "kind": analysis.kind, "description": analysis.description,
    }  # fmt: skip


def claim_row(position: int, claim: Claim) -> dict[str, Any]:
    """The columns of `claims` that a manifest decides."""
    relation = claim.relation
    return {
        "position": position, "name": claim.id, "text": claim.text,
        "value": claim.value, "type": claim.type, "unit": claim.unit, "kind": claim.kind.value,
        "tolerance_kind": claim.tolerance.kind, "tolerance_value": claim.tolerance.value,
        "tolerance_reason": claim.tolerance.reason, "locator": claim.locator, "basis": claim.basis,
        "relation": relation.kind if relation else None,
        "relation_claim": relation.claim if relation else None,
        "relation_reason": relation.reason if relation else None,
        "caveats": json.dumps(list(claim.caveats), ensure_ascii=False),
    }  # fmt: skip


def _insert(connection: sqlite3.Connection, table: str, values: dict[str, Any]) -> int:
    row_id = connection.execute(
        f"INSERT INTO {table}({', '.join(values)}) VALUES ({', '.join('?' * len(values))})",
        list(values.values()),
    ).lastrowid
    assert row_id is not None
    return row_id


def _text(data: bytes) -> str:
    text = data.decode("utf-8")
    if "\0" in text:
        raise CatalogError("manifest.json holds a NUL character")
    return text
