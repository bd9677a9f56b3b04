"""What a record page says of screening: rounds with their votes, statements, scores, caveats."""

import sqlite3

from catalog import wording
from catalog.frames import is_synthetic, newest_study
from catalog.lookup import all_rows, one_row
from catalog.pages import ReleaseView, ScoreRow, ScreenView, VoteView
from catalog.screening_queries.adjudications import adjudication_view
from catalog.screening_queries.records import (
    RATER_COLUMNS,
    labels_of,
    rater_record,
    release_record,
    round_record,
    round_study,
    vote_record,
)
from catalog.screening_queries.states import basis, work_states
from catalog.works import Known
from schema.screening import Statement, Vote
from schema.states import in_scope, screening_state, vote_status


def screens(db: sqlite3.Connection, work: Known) -> tuple[ScreenView, ...]:
    """Every round that has votes on a work, with all of them."""
    rows = all_rows(
        db,
        f"""
        SELECT v.*, r.slug AS round_slug, w.slug AS work_slug, {RATER_COLUMNS}
        FROM votes v JOIN rounds r ON r.id = v.round_id JOIN raters t ON t.id = v.rater_id
        JOIN works w ON w.id = v.work_id
        WHERE v.work_id = ? ORDER BY v.round_id, v.rater_id, v.id
        """,
        [work.id],
    )
    names = {row["id"]: row["slug"] for row in rows}
    before = {row["id"]: row["supersedes"] for row in rows}
    votes: dict[int, Vote] = {row["id"]: vote_record(row, names.get(row["supersedes"])) for row in rows}
    superseded = set(before.values())
    by_round: dict[int, list[VoteView]] = {}
    for row in rows:
        if row["id"] in superseded:
            continue
        earlier, behind = [], row["supersedes"]
        while behind is not None:
            earlier.append(votes[behind])
            behind = before[behind]
        view = VoteView(
            votes[row["id"]], rater_record(row, "rater_"), vote_status(row["rater_kind"]), tuple(earlier)
        )
        by_round.setdefault(row["round_id"], []).append(view)
    return tuple(_screen(db, work, round_id, views) for round_id, views in by_round.items())


def _screen(db: sqlite3.Connection, work: Known, round_id: int, views: list[VoteView]) -> ScreenView:
    row = one_row(db, "SELECT * FROM rounds WHERE id = ?", [round_id])
    assert row is not None
    round_ = round_record(row)
    planned = round_study(db, row)
    adjudication = adjudication_view(db, round_id, work.id)
    judged = [in_scope(view.vote.decision) for view in views]
    usable = [vote for vote in judged if vote is not None]
    stratum, weight = _stratum(db, row["study"], None if planned is None else planned[1].sample, work.id)
    return ScreenView(
        round=round_,
        votes=tuple(views),
        state=screening_state(judged),
        positives=sum(usable),
        cast=len(usable),
        sentence=wording.screen_sentence(judged, [view.rater.kind for view in views], round_.panel),
        statuses=basis(zip((view.rater.kind for view in views), judged, strict=True)),
        categories=work_states(
            db, row, work.slug,
            [(view.rater, view.vote.decision, view.vote.categories) for view in views],
            labels_of(None if planned is None else planned[0].rubric, round_.categories),
            adjudication,
        ),
        adjudication=adjudication,
        stratum=stratum,
        weight=weight,
        synthetic=planned is not None and planned[0].synthetic,
    )  # fmt: skip


def _stratum(
    db: sqlite3.Connection, study: str, sample: str | None, work_id: int
) -> tuple[str | None, float | None]:
    row = db.execute(
        "SELECT h.stratum, m.weight FROM samples s JOIN sample_works m ON m.sample_id = s.id "
        "JOIN sample_strata h ON h.sample_id = s.id AND h.position = m.stratum "
        "WHERE s.study = ? AND s.slug = ? AND m.work_id = ?",
        [study, sample, work_id],
    ).fetchone()
    return (None, None) if row is None else (row[0], row[1])


def statements(db: sqlite3.Connection, work: Known) -> tuple[Statement, ...]:
    """What publishers said of a work, in their own words."""
    rows = all_rows(
        db,
        "SELECT slug AS id, publisher, about, text, wording, status, source FROM statements "
        "WHERE work_id = ? ORDER BY statements.id",
        [work.id],
    )
    return tuple(Statement(work=work.slug, **dict(row)) for row in rows)


def release_views(db: sqlite3.Connection, work_id: int) -> tuple[ReleaseView, ...]:
    """The scores of a work, release by release."""
    rows = db.execute("SELECT head_id, value, release_id FROM scores_shown WHERE work_id = ?", [work_id])
    scores: dict[int, dict[int, float]] = {}
    for head_id, value, release_id in rows.fetchall():
        scores.setdefault(release_id, {})[head_id] = value
    return tuple(_release(db, release_id, scores[release_id]) for release_id in sorted(scores))


def _release(db: sqlite3.Connection, release_id: int, scores: dict[int, float]) -> ReleaseView:
    row = one_row(db, "SELECT * FROM model_releases WHERE id = ?", [release_id])
    assert row is not None
    release = release_record(db, row)
    cells = all_rows(db, "SELECT * FROM heads WHERE release_id = ? ORDER BY id", [release_id])
    names = list(dict.fromkeys(cell["name"] for cell in cells))
    by_place = {(cell["name"], cell["category"]): cell for cell in cells}
    rows = []
    for category in dict.fromkeys(cell["category"] for cell in cells):
        own = [by_place.get((name, category)) for name in names]
        values = [None if cell is None else scores.get(cell["id"]) for cell in own]
        written = tuple(None if value is None else f"{value:.{release.decimals}f}" for value in values)
        availability = tuple(None if cell is None else cell["availability"] for cell in own)
        rows.append(ScoreRow(category, written, availability))
    return ReleaseView(release, tuple(names), tuple(rows), is_synthetic(newest_study(db, release.study)))


def caveats(db: sqlite3.Connection, work_id: int) -> tuple[str, ...]:
    """Caveats of every study and screening file that says something of this work, each once."""
    rows = db.execute(
        """
        SELECT c.text FROM screening_caveats c WHERE c.artifact_id IN (
          SELECT f.artifact_id FROM files f WHERE f.sha256 IN (
            SELECT source_sha256 FROM votes WHERE work_id = :work
            UNION SELECT source_sha256 FROM statements WHERE work_id = :work
            UNION SELECT m.source_sha256 FROM scores_shown s JOIN model_releases m ON m.id = s.release_id
              WHERE s.work_id = :work)
          UNION SELECT id FROM artifacts WHERE work_id = :work)
        ORDER BY c.artifact_id, c.position
        """,
        {"work": work_id},
    ).fetchall()
    studies = db.execute(
        """
        SELECT s.id, t.value FROM studies s, json_each(s.content, '$.caveats') t
        WHERE s.id IN (SELECT max(id) FROM studies GROUP BY slug) AND s.slug IN (
          SELECT r.study FROM votes v JOIN rounds r ON r.id = v.round_id WHERE v.work_id = :work
          UNION SELECT m.study FROM scores_shown c JOIN model_releases m ON m.id = c.release_id
            WHERE c.work_id = :work)
        ORDER BY s.id, t.key
        """,
        {"work": work_id},
    ).fetchall()
    return tuple(dict.fromkeys([*(row[0] for row in rows), *(row[1] for row in studies)]))
