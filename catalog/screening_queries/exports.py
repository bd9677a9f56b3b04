"""Rows for export, each with its status, one at a time."""

import json
import sqlite3
from collections.abc import Iterator

from catalog.lookup import all_rows, clean, no_such
from catalog.screening_pages import CallLine, LabelRow, ScoreLine, VoteRow
from catalog.screening_queries.adjudications import adjudication_view
from catalog.screening_queries.records import the_round
from catalog.screening_queries.samples import sample_places
from catalog.screening_queries.states import adjudicated, basis, head_support, panel_votes
from schema.states import Call, category_vote, estimand, in_scope, screening_state, vote_status

_AT_ONCE = 500


def study_rounds(db: sqlite3.Connection, study: str, round_: str | None = None) -> list[sqlite3.Row]:
    """The rounds of a study (or the one asked for), in the order of their rows. Raises NotFound."""
    if round_ is not None:
        row = the_round(db, clean(round_))
        if row["study"] != study:
            raise no_such(f"round of study {study}", round_, [r["slug"] for r in study_rounds(db, study)], "")
        return [row]
    rows = all_rows(db, "SELECT * FROM rounds WHERE study = ? ORDER BY id", [clean(study)])
    if not rows:
        names = [r[0] for r in db.execute("SELECT DISTINCT study FROM rounds ORDER BY study")]
        raise no_such("study", study, names, "`proofshelf screen design` adds one")
    return rows


def label_rows(db: sqlite3.Connection, study: str, round_: str | None = None) -> Iterator[LabelRow]:
    """The state of scope and of every category of every work of a study's rounds: of all works in a
    manifest, voted on or not, and all with a published vote."""
    for row in study_rounds(db, study, round_):
        yield from _labels(db, row)


def _labels(db: sqlite3.Connection, row: sqlite3.Row) -> Iterator[LabelRow]:
    panel = row["panel"]
    voted = {work_id: votes for work_id, _, votes in panel_votes(db, row)}
    places = sample_places(db, row)
    support = head_support(db, row["study"])
    settled = {
        work_id
        for (work_id,) in db.execute("SELECT work_id FROM adjudications WHERE round_id = ?", [row["id"]])
    }
    shown = db.execute(
        "SELECT m.work_id, w.slug, w.title FROM chunk_works m JOIN chunks k ON k.id = m.chunk_id "
        "JOIN works w ON w.id = m.work_id WHERE m.round_id = ? ORDER BY k.position, m.position",
        [row["id"]],
    ).fetchall() or [
        (work_id, *db.execute("SELECT slug, title FROM works WHERE id = ?", [work_id]).fetchone())
        for work_id in voted
    ]
    for work_id, work, title in shown:
        votes = voted.get(work_id, [])
        view = adjudication_view(db, row["id"], work_id) if work_id in settled else None
        stratum, weight = places.get(work_id, (None, None))
        for category in (None, *json.loads(row["categories"])):
            said = [
                in_scope(b.decision)
                if category is None
                else category_vote(b.decision, b.categories, category, row["cannot"])
                for _, b in votes
            ]
            supported = None if category is None or votes else support.get(category)
            yield LabelRow(
                study=row["study"], round=row["slug"], origin=row["origin"], instrument=row["instrument"],
                work=work, title=title, category=category, state=screening_state(said, supported),
                panel=panel, cast=len(said), usable=sum(vote is not None for vote in said),
                positives=sum(vote is True for vote in said), unanimous=estimand(said, "unanimous", panel),
                majority=estimand(said, "majority", panel), any=estimand(said, "any", panel),
                statuses=basis(zip((rater.kind for rater, _ in votes), said, strict=True)),
                adjudicated=adjudicated(view, category, row["cannot"]),
                adjudicated_status=None if view is None else view.status, stratum=stratum, weight=weight,
            )  # fmt: skip


def vote_rows(db: sqlite3.Connection, study: str, round_: str | None = None) -> Iterator[VoteRow]:
    """Every vote of a study, superseded ones too, in the order in which they were recorded."""
    for round_row in study_rounds(db, study, round_):
        after = 0
        while rows := all_rows(
            db,
            """
            SELECT v.*, w.slug AS work, t.slug AS rater, t.kind, a.rater_version, t.version,
              (SELECT n.slug FROM votes n WHERE n.supersedes = v.id) AS superseded_by
            FROM votes v JOIN works w ON w.id = v.work_id JOIN raters t ON t.id = v.rater_id
            LEFT JOIN answers a ON a.id = v.answer_id
            WHERE v.round_id = ? AND v.id > ? ORDER BY v.id LIMIT ?
            """,
            [round_row["id"], after, _AT_ONCE],
        ):
            for row in rows:
                yield VoteRow(
                    study=round_row["study"], round=round_row["slug"], origin=round_row["origin"],
                    vote=row["slug"], work=row["work"], rater=row["rater"], rater_kind=row["kind"],
                    rater_version=row["rater_version"] or row["version"], status=vote_status(row["kind"]),
                    decision=row["decision"], categories=tuple(json.loads(row["categories"])),
                    fields={name: tuple(values) for name, values in json.loads(row["fields"]).items()},
                    confidence=row["confidence"], reason=row["reason"], reason_wording=row["reason_wording"],
                    cast_at=row["cast_at"], superseded_by=row["superseded_by"], note=row["note"],
                )  # fmt: skip
            after = rows[-1]["id"]


def score_rows(
    db: sqlite3.Connection, study: str | None = None, release: str | None = None
) -> Iterator[ScoreLine]:
    """Every score (of a study's releases, or of one release), works in order of their row.

    Raises NotFound for a release that isn't here.
    """
    heads = {
        row["id"]: row
        for row in all_rows(
            db,
            "SELECT h.id, h.name, h.category, h.availability, h.calibration, m.slug AS release, m.status, "
            "m.maturity, m.decimals FROM heads h JOIN model_releases m ON m.id = h.release_id "
            "WHERE (:study IS NULL OR m.study = :study) AND (:release IS NULL OR m.slug = :release)",
            {"study": study, "release": release},
        )
    }
    if release is not None and not heads:
        names = [r[0] for r in db.execute("SELECT slug FROM model_releases ORDER BY slug")]
        raise no_such("release", release, names, "`proofshelf classify train` makes one")
    after = 0
    while heads and (works := _following(db, after)):
        for work_id, work in works:
            for head_id, value in db.execute(
                "SELECT head_id, value FROM scores_shown WHERE work_id = ? ORDER BY head_id", [work_id]
            ).fetchall():
                if (head := heads.get(head_id)) is not None:
                    yield ScoreLine(
                        work=work, release=head["release"], head=head["name"], category=head["category"],
                        value=f"{value:.{head['decimals']}f}", status=head["status"],
                        maturity=head["maturity"], availability=head["availability"],
                        calibration=head["calibration"],
                    )  # fmt: skip
        after = works[-1][0]


def call_rows(db: sqlite3.Connection, study: str | None = None, run: str | None = None) -> Iterator[CallLine]:
    """Every call (of the runs of a study's releases, or of one run), works in order of their row.

    Raises NotFound for a run that isn't here.
    """
    runs = {
        row["id"]: row
        for row in all_rows(
            db,
            "SELECT d.id, d.slug, d.status, m.slug AS release FROM decision_runs d "
            "JOIN model_releases m ON m.id = d.release_id "
            "WHERE (:study IS NULL OR m.study = :study) AND (:run IS NULL OR d.slug = :run)",
            {"study": study, "run": run},
        )
    }
    if run is not None and not runs:
        names = [r[0] for r in db.execute("SELECT slug FROM decision_runs ORDER BY slug")]
        raise no_such("decision run", run, names, "`proofshelf classify decide` makes one")
    after = 0
    while runs and (works := _following(db, after)):
        for work_id, work in works:
            for run_id, category, made, sides in db.execute(
                "SELECT run_id, category, call, sides FROM decisions WHERE work_id = ? "
                "ORDER BY run_id, category",
                [work_id],
            ).fetchall():
                if (row := runs.get(run_id)) is not None:
                    yield CallLine(
                        work=work, run=row["slug"], release=row["release"], category=category,
                        call=Call(made), sides=tuple(json.loads(sides)), status=row["status"],
                    )  # fmt: skip
        after = works[-1][0]


def _following(db: sqlite3.Connection, after: int) -> list[tuple[int, str]]:
    return db.execute(
        "SELECT id, slug FROM works WHERE id > ? ORDER BY id LIMIT ?", [after, _AT_ONCE]
    ).fetchall()
