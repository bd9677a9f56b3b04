"""Every question that a command or a page asks of the database, answered as `catalog.pages` data.

Functions take a plain sqlite3.Connection, read only, and raise NotFound with a sentence. They set
no row factory on it and hold nothing open. Terms of a search: see `catalog.search`.
"""

import sqlite3
from collections.abc import Sequence
from typing import Any, Literal

from catalog import chain
from catalog.errors import CatalogError
from catalog.lookup import NotFound, all_rows, clean, known_work, not_found, one_row
from catalog.manifests import stored_manifest
from catalog.pages import (
    Appearance,
    ArtifactPage,
    ArtifactSummary,
    ImportSummary,
    Overview,
    RejectedRecord,
    RunSummary,
    VerificationPage,
    WorkPage,
    WorkSummary,
)
from catalog.run_views import run_views
from catalog.screening_queries.models import work_decisions
from catalog.screening_queries.work import caveats, release_views, screens, statements
from catalog.search import Search
from catalog.works import authors_of, load_work, slug_kind
from schema.artifact import Manifest
from schema.states import Depth, RunOutcome
from schema.work import Work


def overview(db: sqlite3.Connection) -> Overview:
    """The front page: how much is here, and what was verified last."""
    counts = one_row(
        db,
        """
        SELECT (SELECT count(*) FROM works) AS works,
          (SELECT count(DISTINCT work_id) FROM artifacts) AS works_with_artifacts,
          (SELECT count(DISTINCT work_id) FROM votes) AS works_with_votes,
          (SELECT count(*) FROM works w WHERE EXISTS (SELECT 1 FROM scores_shown s WHERE s.work_id = w.id))
            AS works_with_scores,
          (SELECT count(*) FROM artifacts_current) AS artifacts,
          (SELECT count(*) FROM claims c JOIN artifacts_current a ON a.id = c.artifact_id) AS claims,
          (SELECT count(*) FROM verifications) AS verifications,
          (SELECT count(*) FROM votes v WHERE NOT EXISTS (SELECT 1 FROM votes n WHERE n.supersedes = v.id))
            AS votes,
          (SELECT count(*) FROM scores WHERE scoring = 0) + (SELECT coalesce(sum(scores), 0) FROM scorings)
            AS scores,
          (SELECT count(*) FROM imports) AS imports,
          (SELECT coalesce(sum(rejected), 0) FROM imports) AS rejected
        """,
    )
    assert counts is not None
    return Overview(
        **dict(counts),
        current_artifacts=artifacts(db),
        recent_runs=runs(db, limit=10),
        recent_works=works(db, limit=10),
    )


def resolve(db: sqlite3.Connection, slug: str) -> str:
    """'work' or 'package'. Raises NotFound, naming close slugs."""
    kind = slug_kind(db, clean(slug))
    if kind is None:
        raise not_found(db, slug, "work or package", None)
    return kind


def last_event(db: sqlite3.Connection) -> int:
    """The number of the newest event: whatever writes a vote writes one with it, so the same number means
    the same votes."""
    return int(db.execute("SELECT coalesce(max(id), 0) FROM events").fetchone()[0])


def works(db: sqlite3.Connection, limit: int = 100, offset: int = 0) -> tuple[WorkSummary, ...]:
    """Works, the newest in the catalog first."""
    rows = db.execute(
        "SELECT id FROM works ORDER BY id DESC LIMIT ? OFFSET ?", [max(0, limit), max(0, offset)]
    )
    return _summaries(db, [row[0] for row in rows])


def work_slugs(db: sqlite3.Connection, having: Literal["scores", "votes"] | None = None) -> tuple[str, ...]:
    """The slug of every work (with scores or votes, if asked so), in order."""
    table = "scores_shown" if having == "scores" else having
    only = f"WHERE EXISTS (SELECT 1 FROM {table} h WHERE h.work_id = w.id)" if having else ""
    return tuple(row[0] for row in db.execute(f"SELECT w.slug FROM works w {only} ORDER BY w.slug"))


def bibliographic_record(db: sqlite3.Connection, slug: str) -> Work:
    """The record of a work, by its slug or an alias of it, without what else its page has."""
    return load_work(db, known_work(db, slug).id)


def search(
    db: sqlite3.Connection, text: str, limit: int = 50, offset: int = 0
) -> tuple[int, tuple[WorkSummary, ...]]:
    """How many works match, and one page of them, best first. No punctuation makes it fail.

    A slug or an identifier comes first; then works with all the words, the last one taken as the
    beginning of a word. No words, no works.
    """
    found = Search(db, text)
    ids = found.page(max(0, limit), max(0, offset))
    return found.total, _summaries(db, ids, found.snippets(ids))


def artifacts(db: sqlite3.Connection) -> tuple[ArtifactSummary, ...]:
    """Every package at its newest version, in order of their names."""
    return _artifact_summaries(db, "", [])


def runs(db: sqlite3.Connection, artifact: str | None = None, limit: int = 100) -> tuple[RunSummary, ...]:
    """Verifications, newest first: of one package in all its versions, or of all."""
    if artifact is None:
        return _runs(db, "", [], limit)
    _require_package(db, artifact)
    return _runs(db, "WHERE a.slug = ?", [artifact], limit)


def imports(db: sqlite3.Connection, limit: int = 100, offset: int = 0) -> tuple[ImportSummary, ...]:
    """Imports, newest first."""
    rows = all_rows(
        db,
        "SELECT id, filename, format, reader, reader_version, sha256, who, started_at, finished_at, "
        "read, added, updated, unchanged, duplicate, rejected FROM imports ORDER BY id DESC LIMIT ? OFFSET ?",
        [limit, offset],
    )
    return tuple(ImportSummary(**dict(row)) for row in rows)


def rejected(
    db: sqlite3.Connection, number: int | None = None, limit: int = 100, offset: int = 0
) -> tuple[RejectedRecord, ...]:
    """Rejected records (of one import, if numbered): newest import first, in the order of the file."""
    rows = all_rows(
        db,
        "SELECT r.import_id, i.filename, r.line, r.reason, r.raw FROM rejected r "
        "JOIN imports i ON i.id = r.import_id WHERE ? IS NULL OR r.import_id = ? "
        "ORDER BY r.import_id DESC, r.position LIMIT ? OFFSET ?",
        [number, number, limit, offset],
    )
    return tuple(RejectedRecord(**dict(row)) for row in rows)


def work(db: sqlite3.Connection, slug: str) -> WorkPage:
    """The record page of a work, by its slug or an alias of it."""
    known = known_work(db, slug)
    packages = _artifact_summaries(db, "WHERE a.work_id = ?", [known.id])
    return WorkPage(
        work=load_work(db, known.id),
        screens=screens(db, known),
        statements=statements(db, known),
        releases=release_views(db, known.id),
        decisions=work_decisions(db, known.slug),
        screening_caveats=caveats(db, known.id),
        artifacts=packages,
        runs=_runs(db, "WHERE a.work_id = ?", [known.id], 100),
        appearances=_appearances(db, known.id),
    )


def artifact(db: sqlite3.Connection, slug: str, version: int | None = None) -> ArtifactPage:
    """One package, at its newest version or the one asked for, with what its newest run says."""
    _require_package(db, slug)
    versions = tuple(
        row[0]
        for row in db.execute("SELECT version FROM artifacts WHERE slug = ? ORDER BY version DESC", [slug])
    )
    if version is None:
        version = versions[0]
    elif version not in versions:
        have = ", ".join(map(str, sorted(versions)))
        raise NotFound(f"package {slug!r} has no version {version} here; it has {have}")
    row = one_row(
        db,
        "SELECT a.id, a.added_at, a.added_by, a.manifest_sha256, m.content FROM artifacts a "
        "JOIN manifests m ON m.sha256 = a.manifest_sha256 WHERE a.slug = ? AND a.version = ?",
        [slug, version],
    )
    assert row is not None
    manifest = _manifest(row["content"], row["manifest_sha256"], slug)
    history = _runs(db, "WHERE v.artifact_id = ?", [row["id"]], 1000)
    stored = chain.stored_run(db, history[0].id) if history else None
    run = stored.run if stored else None
    seen = run_views(manifest, run)
    return ArtifactPage(
        manifest=manifest,
        version=version,
        versions=versions,
        manifest_sha256=row["manifest_sha256"],
        added_at=row["added_at"],
        added_by=row["added_by"],
        claims=seen.claims,
        files=seen.files,
        sources=seen.sources,
        latest=history[0] if history else None,
        latest_run=run,
        history=history,
    )


def verification(db: sqlite3.Connection, number: int) -> VerificationPage:
    """One run by its number, with the manifest that it saw."""
    stored = chain.stored_run(db, number) if -(2**63) <= number < 2**63 else None
    if stored is None:
        last = chain.head_of(db).last
        hint = f"the last one is {last}" if last else "nothing was verified yet"
        raise NotFound(f"there is no verification {number} here; {hint}")
    if stored.run is None:
        raise NotFound(f"verification {number} can't be read: {stored.problem}; `proofshelf audit` says more")
    row = one_row(
        db,
        "SELECT a.version, m.sha256, m.content FROM artifacts a "
        "JOIN manifests m ON m.sha256 = a.manifest_sha256 WHERE a.id = ?",
        [stored.artifact_id],
    )
    assert row is not None
    manifest = _manifest(row["content"], row["sha256"], stored.run.artifact)
    seen = run_views(manifest, stored.run)
    return VerificationPage(
        id=stored.id,
        run=stored.run,
        version=row["version"],
        manifest=manifest,
        previous=stored.previous,
        hash=stored.hash,
        claims=seen.claims,
        files=seen.files,
        sources=seen.sources,
    )


# Works ---------------------------------------------------------------------------------------------


def _summaries(
    db: sqlite3.Connection, ids: Sequence[int], snippets: dict[int, str] | None = None
) -> tuple[WorkSummary, ...]:
    """Summaries in the order of the row numbers given."""
    found: dict[int, WorkSummary] = {}
    for work_id in ids:
        row = one_row(
            db,
            """
            SELECT w.slug, w.title, w.year, w.venue,
              (SELECT count(DISTINCT a.slug) FROM artifacts a WHERE a.work_id = w.id) AS artifacts,
              (SELECT count(*) FROM votes v WHERE v.work_id = w.id
                AND NOT EXISTS (SELECT 1 FROM votes n WHERE n.supersedes = v.id)) AS votes,
              (SELECT count(*) FROM scores_shown s WHERE s.work_id = w.id) AS scores
            FROM works_now w WHERE w.id = ?
            """,
            [work_id],
        )
        if row is not None:
            authors = tuple(author.name for author in authors_of(db, work_id))
            found[work_id] = WorkSummary(authors=authors, snippet=(snippets or {}).get(work_id), **dict(row))
    return tuple(found[work_id] for work_id in ids if work_id in found)


def _appearances(db: sqlite3.Connection, work_id: int) -> tuple[Appearance, ...]:
    rows = all_rows(
        db,
        "SELECT i.id AS import_id, i.filename, i.sha256, i.format, r.line, r.outcome, i.finished_at "
        "FROM import_records r JOIN imports i ON i.id = r.import_id WHERE r.work_id = ? "
        "ORDER BY r.import_id DESC, r.position",
        [work_id],
    )
    return tuple(Appearance(**dict(row)) for row in rows)


# Packages and runs ---------------------------------------------------------------------------------


def _manifest(content: str, sha256: str, slug: str) -> Manifest:
    try:
        return stored_manifest(content, sha256, slug)
    except CatalogError as error:
        raise NotFound(str(error)) from error


def _artifact_summaries(
    db: sqlite3.Connection, where: str, parameters: list[Any]
) -> tuple[ArtifactSummary, ...]:
    rows = all_rows(
        db,
        f"""
        SELECT a.id, a.slug, a.version, a.title, w.slug AS work, w.title AS work_title,
          (SELECT count(*) FROM claims c WHERE c.artifact_id = a.id) AS claims,
          (SELECT count(*) FROM claims c WHERE c.artifact_id = a.id AND c.kind = 'finding') AS findings,
          (SELECT count(*) FROM files f WHERE f.artifact_id = a.id) AS files
        FROM artifacts_current a JOIN works w ON w.id = a.work_id {where} ORDER BY a.slug
        """,
        parameters,
    )
    summaries = []
    for row in rows:
        latest = _runs(db, "WHERE v.artifact_id = ?", [row["id"]], 1)
        values = {name: value for name, value in dict(row).items() if name != "id"}
        summaries.append(ArtifactSummary(latest=latest[0] if latest else None, **values))
    return tuple(summaries)


def _runs(db: sqlite3.Connection, where: str, parameters: list[Any], limit: int) -> tuple[RunSummary, ...]:
    rows = all_rows(
        db,
        "SELECT v.id, a.slug AS artifact, a.version, v.outcome, v.depth, v.level, v.origin, v.verdict, "
        f"v.finished_at, v.who, v.hash FROM verifications v JOIN artifacts a ON a.id = v.artifact_id {where} "
        "ORDER BY v.id DESC LIMIT ?",
        [*parameters, max(0, limit)],
    )
    return tuple(
        RunSummary(**{**dict(row), "outcome": RunOutcome(row["outcome"]), "depth": Depth(row["depth"])})
        for row in rows
    )


def _require_package(db: sqlite3.Connection, slug: str) -> None:
    if slug_kind(db, clean(slug)) != "package":
        raise not_found(db, slug, "package", "package")
