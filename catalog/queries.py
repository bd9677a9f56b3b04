"""Every question that a command or a page asks of the database, answered as `catalog.pages` data.

Functions take a plain sqlite3.Connection, read only, and raise NotFound with a sentence. They set
no row factory on it and hold nothing open. Terms of a search: see `catalog.search`.
"""

import difflib
import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from catalog import chain, wording
from catalog.errors import CatalogError
from catalog.manifests import stored_manifest
from catalog.pages import (
    Appearance,
    ArtifactPage,
    ArtifactSummary,
    ImportSummary,
    Overview,
    RejectedRecord,
    ReleaseView,
    RunSummary,
    ScoreRow,
    ScreenView,
    VerificationPage,
    VoteView,
    WorkPage,
    WorkSummary,
)
from catalog.run_views import run_views
from catalog.search import Search
from catalog.works import Known, authors_of, find_work, load_work, slug_kind
from schema.artifact import Manifest
from schema.scores import Head, ModelRelease
from schema.screening import Rater, Round, Statement, Vote
from schema.states import Depth, RunOutcome, in_scope, screening_state
from schema.work import Work

MANY_NAMES = 200_000
"""Above so many names, a misspelt one is answered without reading them all for close ones."""


class NotFound(LookupError):
    """Nothing by that name; the message says so and what to do."""


def overview(db: sqlite3.Connection) -> Overview:
    """The front page: how much is here, and what was verified last."""
    counts = _one(
        db,
        """
        SELECT (SELECT count(*) FROM works) AS works,
          (SELECT count(DISTINCT work_id) FROM artifacts) AS works_with_artifacts,
          (SELECT count(DISTINCT work_id) FROM votes) AS works_with_votes,
          (SELECT count(*) FROM works w WHERE EXISTS (SELECT 1 FROM scores s WHERE s.work_id = w.id))
            AS works_with_scores,
          (SELECT count(*) FROM artifacts_current) AS artifacts,
          (SELECT count(*) FROM claims c JOIN artifacts_current a ON a.id = c.artifact_id) AS claims,
          (SELECT count(*) FROM verifications) AS verifications,
          (SELECT count(*) FROM votes v WHERE NOT EXISTS (SELECT 1 FROM votes n WHERE n.supersedes = v.id))
            AS votes,
          (SELECT count(*) FROM scores) AS scores,
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
    kind = slug_kind(db, _clean(slug))
    if kind is None:
        raise _not_found(db, slug, "work or package", None)
    return kind


def works(db: sqlite3.Connection, limit: int = 100, offset: int = 0) -> tuple[WorkSummary, ...]:
    """Works, the newest in the catalog first."""
    rows = db.execute(
        "SELECT id FROM works ORDER BY id DESC LIMIT ? OFFSET ?", [max(0, limit), max(0, offset)]
    )
    return _summaries(db, [row[0] for row in rows])


def work_slugs(db: sqlite3.Connection, having: Literal["scores", "votes"] | None = None) -> tuple[str, ...]:
    """The slug of every work (with scores or votes, if asked so), in order."""
    only = f"WHERE EXISTS (SELECT 1 FROM {having} h WHERE h.work_id = w.id)" if having else ""
    return tuple(row[0] for row in db.execute(f"SELECT w.slug FROM works w {only} ORDER BY w.slug"))


def bibliographic_record(db: sqlite3.Connection, slug: str) -> Work:
    """The record of a work, by its slug or an alias of it, without what else its page has."""
    return load_work(db, _known_work(db, slug).id)


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
    rows = _all(
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
    rows = _all(
        db,
        "SELECT r.import_id, i.filename, r.line, r.reason, r.raw FROM rejected r "
        "JOIN imports i ON i.id = r.import_id WHERE ? IS NULL OR r.import_id = ? "
        "ORDER BY r.import_id DESC, r.position LIMIT ? OFFSET ?",
        [number, number, limit, offset],
    )
    return tuple(RejectedRecord(**dict(row)) for row in rows)


def work(db: sqlite3.Connection, slug: str) -> WorkPage:
    """The record page of a work, by its slug or an alias of it."""
    known = _known_work(db, slug)
    packages = _artifact_summaries(db, "WHERE a.work_id = ?", [known.id])
    return WorkPage(
        work=load_work(db, known.id),
        screens=_screens(db, known.id, known.slug),
        statements=_statements(db, known.id, known.slug),
        releases=_releases(db, known.id),
        screening_caveats=_caveats(db, known.id),
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
    row = _one(
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
    row = _one(
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


def _known_work(db: sqlite3.Connection, slug: str) -> Known:
    known = find_work(db, _clean(slug))
    if known is None:
        raise _not_found(db, slug, "work", "work")
    return known


def _summaries(
    db: sqlite3.Connection, ids: Sequence[int], snippets: dict[int, str] | None = None
) -> tuple[WorkSummary, ...]:
    """Summaries in the order of the row numbers given."""
    found: dict[int, WorkSummary] = {}
    for work_id in ids:
        row = _one(
            db,
            """
            SELECT w.slug, w.title, w.year, w.venue,
              (SELECT count(DISTINCT a.slug) FROM artifacts a WHERE a.work_id = w.id) AS artifacts,
              (SELECT count(*) FROM votes v WHERE v.work_id = w.id
                AND NOT EXISTS (SELECT 1 FROM votes n WHERE n.supersedes = v.id)) AS votes,
              (SELECT count(*) FROM scores s WHERE s.work_id = w.id) AS scores
            FROM works_now w WHERE w.id = ?
            """,
            [work_id],
        )
        if row is not None:
            authors = tuple(author.name for author in authors_of(db, work_id))
            found[work_id] = WorkSummary(authors=authors, snippet=(snippets or {}).get(work_id), **dict(row))
    return tuple(found[work_id] for work_id in ids if work_id in found)


def _appearances(db: sqlite3.Connection, work_id: int) -> tuple[Appearance, ...]:
    rows = _all(
        db,
        "SELECT i.id AS import_id, i.filename, i.sha256, i.format, r.line, r.outcome, i.finished_at "
        "FROM import_records r JOIN imports i ON i.id = r.import_id WHERE r.work_id = ? "
        "ORDER BY r.import_id DESC, r.position",
        [work_id],
    )
    return tuple(Appearance(**dict(row)) for row in rows)


# Screening -----------------------------------------------------------------------------------------


def _screens(db: sqlite3.Connection, work_id: int, slug: str) -> tuple[ScreenView, ...]:
    rows = _all(
        db,
        """
        SELECT v.*, r.slug AS round_slug,
          t.slug AS rater_slug, t.kind, t.name, t.version, t.note AS rater_note
        FROM votes v JOIN rounds r ON r.id = v.round_id JOIN raters t ON t.id = v.rater_id
        WHERE v.work_id = ? ORDER BY v.round_id, v.rater_id, v.id
        """,
        [work_id],
    )
    slugs = {row["id"]: row["slug"] for row in rows}
    votes = {row["id"]: _vote(row, slug, slugs) for row in rows}
    superseded = {row["supersedes"] for row in rows}
    by_round: dict[int, list[VoteView]] = {}
    for row in rows:
        if row["id"] in superseded:
            continue
        earlier, behind = [], row["supersedes"]
        while behind is not None:
            earlier.append(votes[behind])
            behind = next(r["supersedes"] for r in rows if r["id"] == behind)
        rater = Rater(
            id=row["rater_slug"],
            kind=row["kind"],
            name=row["name"],
            version=row["version"],
            note=row["rater_note"],
        )
        by_round.setdefault(row["round_id"], []).append(VoteView(votes[row["id"]], rater, tuple(earlier)))
    return tuple(_screen(_round(db, round_id), views) for round_id, views in by_round.items())


def _screen(round_: Round, views: list[VoteView]) -> ScreenView:
    judged = [in_scope(view.vote.decision) for view in views]
    usable = [vote for vote in judged if vote is not None]
    return ScreenView(
        round=round_,
        votes=tuple(views),
        state=screening_state(judged),
        positives=sum(usable),
        cast=len(usable),
        sentence=wording.screen_sentence(judged, [view.rater.kind for view in views], round_.panel),
    )


def _vote(row: sqlite3.Row, work: str, slugs: dict[int, str]) -> Vote:
    return Vote(
        id=row["slug"],
        round=row["round_slug"],
        work=work,
        rater=row["rater_slug"],
        decision=row["decision"],
        categories=tuple(json.loads(row["categories"])),
        confidence=row["confidence"],
        reason=row["reason"],
        reason_wording=row["reason_wording"],
        cast_at=row["cast_at"],
        supersedes=None if row["supersedes"] is None else slugs[row["supersedes"]],
        note=row["note"],
    )


def _round(db: sqlite3.Connection, round_id: int) -> Round:
    row = _one(db, "SELECT * FROM rounds WHERE id = ?", [round_id])
    assert row is not None
    values = {name: row[name] for name in row.keys() if name not in ("id", "slug", "categories")}  # noqa: SIM118
    return Round(id=row["slug"], categories=tuple(json.loads(row["categories"])), **values)


def _statements(db: sqlite3.Connection, work_id: int, slug: str) -> tuple[Statement, ...]:
    rows = _all(
        db,
        "SELECT slug AS id, publisher, about, text, wording, status, source FROM statements "
        "WHERE work_id = ? ORDER BY statements.id",
        [work_id],
    )
    return tuple(Statement(work=slug, **dict(row)) for row in rows)


def _releases(db: sqlite3.Connection, work_id: int) -> tuple[ReleaseView, ...]:
    scores = dict(db.execute("SELECT head_id, value FROM scores WHERE work_id = ?", [work_id]).fetchall())
    ids = db.execute(
        "SELECT DISTINCT h.release_id FROM scores s JOIN heads h ON h.id = s.head_id WHERE s.work_id = ? "
        "ORDER BY h.release_id",
        [work_id],
    ).fetchall()
    return tuple(_release(db, row[0], scores) for row in ids)


def _release(db: sqlite3.Connection, release_id: int, scores: dict[int, float]) -> ReleaseView:
    row = _one(db, "SELECT * FROM model_releases WHERE id = ?", [release_id])
    assert row is not None
    cells = _all(db, "SELECT * FROM heads WHERE release_id = ? ORDER BY id", [release_id])
    names = list(dict.fromkeys(cell["name"] for cell in cells))
    heads = []
    for name in names:
        own = [cell for cell in cells if cell["name"] == name]
        heads.append(
            Head(
                name=name,
                imitates=own[0]["imitates"],
                categories=tuple(cell["category"] for cell in own),
                availability=own[0]["availability"],
            )
        )
    release = ModelRelease(
        id=row["slug"],
        title=row["title"],
        version=row["version"],
        status=row["status"],
        maturity=row["maturity"],
        training_rounds=row["training_rounds"],
        calibrated=bool(row["calibrated"]),
        decimals=row["decimals"],
        heads=tuple(heads),
        source=row["source"],
        note=row["note"],
    )
    head_ids = {(cell["name"], cell["category"]): cell["id"] for cell in cells}
    rows = []
    for category in dict.fromkeys(cell["category"] for cell in cells):
        values = [scores.get(head_ids.get((name, category), -1)) for name in names]
        written = tuple(None if value is None else f"{value:.{release.decimals}f}" for value in values)
        rows.append(ScoreRow(category, written))
    return ReleaseView(release, tuple(names), tuple(rows))


def _caveats(db: sqlite3.Connection, work_id: int) -> tuple[str, ...]:
    """Caveats of every screening file that says something of this work, each once."""
    rows = db.execute(
        """
        SELECT c.text FROM screening_caveats c WHERE c.artifact_id IN (
          SELECT f.artifact_id FROM files f WHERE f.sha256 IN (
            SELECT source_sha256 FROM votes WHERE work_id = :work
            UNION SELECT source_sha256 FROM statements WHERE work_id = :work
            UNION SELECT m.source_sha256 FROM scores s JOIN heads h ON h.id = s.head_id
              JOIN model_releases m ON m.id = h.release_id WHERE s.work_id = :work)
          UNION SELECT id FROM artifacts WHERE work_id = :work)
        ORDER BY c.artifact_id, c.position
        """,
        {"work": work_id},
    )
    return tuple(dict.fromkeys(row[0] for row in rows))


# Packages and runs ---------------------------------------------------------------------------------


def _manifest(content: str, sha256: str, slug: str) -> Manifest:
    try:
        return stored_manifest(content, sha256, slug)
    except CatalogError as error:
        raise NotFound(str(error)) from error


def _artifact_summaries(
    db: sqlite3.Connection, where: str, parameters: list[Any]
) -> tuple[ArtifactSummary, ...]:
    rows = _all(
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
    rows = _all(
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


# Names and rows ------------------------------------------------------------------------------------


def _require_package(db: sqlite3.Connection, slug: str) -> None:
    if slug_kind(db, _clean(slug)) != "package":
        raise _not_found(db, slug, "package", "package")


def _not_found(db: sqlite3.Connection, slug: str, what: str, kind: str | None) -> NotFound:
    other = slug_kind(db, _clean(slug))
    if other is not None and kind is not None and other != kind:
        return NotFound(f"{slug!r} is a {other} here, not a {kind}")
    close = _close(db, slug, kind)
    hint = f"did you mean {' or '.join(close)}?" if close else "`proofshelf list` names what is here"
    return NotFound(f"there is no {what} {slug!r} here; {hint}")


def _close(db: sqlite3.Connection, slug: str, kind: str | None) -> list[str]:
    names = db.execute(
        "SELECT slug FROM slugs WHERE ? IS NULL OR kind = ? LIMIT ?", [kind, kind, MANY_NAMES + 1]
    ).fetchall()
    if len(names) > MANY_NAMES:
        return []
    return difflib.get_close_matches(slug.lower(), [row[0] for row in names], n=3, cutoff=0.6)


def _clean(text: str) -> str:
    """Text that SQLite can be asked about: a lone surrogate is in no name."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _all(
    db: sqlite3.Connection, sql: str, parameters: Sequence[Any] | dict[str, Any] = ()
) -> Iterable[sqlite3.Row]:
    cursor = db.cursor()
    cursor.row_factory = sqlite3.Row
    return cursor.execute(sql, parameters).fetchall()


def _one(db: sqlite3.Connection, sql: str, parameters: Sequence[Any] = ()) -> sqlite3.Row | None:
    cursor = db.cursor()
    cursor.row_factory = sqlite3.Row
    row: sqlite3.Row | None = cursor.execute(sql, parameters).fetchone()
    return row
