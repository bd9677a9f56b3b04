"""One round: who rates in it, how far each has come, what the votes say of scope."""

import sqlite3
from collections import Counter
from decimal import Decimal, InvalidOperation

from catalog.lookup import all_rows
from catalog.screening_pages import CoverageRow, RoundView
from catalog.screening_queries.records import RATER_COLUMNS, rater_record, round_record, round_study
from catalog.screening_queries.states import Differing, panel_votes, statuses_of
from schema.screening import Rater
from schema.states import ScreeningState, in_scope, screening_state, vote_status


def round_of(db: sqlite3.Connection, row: sqlite3.Row) -> RoundView:
    """A round from its row."""
    record = round_record(row)
    planned = round_study(db, row)
    panel = panel_votes(db, row)
    chunks, works = db.execute(
        "SELECT count(*), coalesce(sum(works), 0) FROM chunks WHERE round_id = ?", [row["id"]]
    ).fetchone()
    if row["origin"] == "published":
        works = len(panel)
    scope = Counter(
        screening_state([in_scope(ballot.decision) for _, ballot in votes]) for _, _, votes in panel
    )
    scope[ScreeningState.UNKNOWN] += works - len(panel)
    complete = [(work_id, votes) for work_id, _, votes in panel if len(votes) >= record.panel]
    differ = Differing(record.categories, row["cannot"])
    disputed = {work_id for work_id, votes in complete if differ(votes)}
    settled = db.execute("SELECT DISTINCT work_id FROM adjudications WHERE round_id = ?", [row["id"]])
    adjudicated = disputed & {work_id for (work_id,) in settled}
    return RoundView(
        round=record,
        rubric=None if planned is None else planned[0].rubric,
        sample=None if planned is None else planned[1].sample,
        chunk_size=None if planned is None else planned[1].chunk_size,
        adjudicators=tuple(rater for _, rater in people(db, row, "adjudicator")),
        works=works,
        chunks=chunks,
        rated=len(complete),
        states={state: scope[state] for state in ScreeningState},
        statuses=statuses_of(rater.kind for _, _, votes in panel for rater, _ in votes),
        contested=len(disputed),
        adjudicated=len(adjudicated),
        coverage=tuple(
            _coverage(db, row["id"], rater_id, rater, works, chunks)
            for rater_id, rater in people(db, row, "rater")
        ),
    )


def people(db: sqlite3.Connection, round_: sqlite3.Row, role: str) -> list[tuple[int, Rater]]:
    """Raters or adjudicators of a round in the design's order; of a published round, those who voted."""
    if round_["origin"] == "harness":
        source = "round_raters m JOIN raters t ON t.id = m.rater_id WHERE m.round_id = ? AND m.role = ?"
        order = "m.position"
    elif role == "rater":
        source = "raters t WHERE t.id IN (SELECT rater_id FROM votes WHERE round_id = ?) AND ? = 'rater'"
        order = "t.id"
    else:
        return []
    rows = all_rows(db, f"SELECT t.id, {RATER_COLUMNS} FROM {source} ORDER BY {order}", [round_["id"], role])
    return [(row["id"], rater_record(row, "rater_")) for row in rows]


def _coverage(
    db: sqlite3.Connection, round_id: int, rater_id: int, rater: Rater, works: int, chunks: int
) -> CoverageRow:
    decisions = dict(
        db.execute(
            "SELECT v.decision, count(*) FROM votes v WHERE v.round_id = ? AND v.rater_id = ? "
            "AND NOT EXISTS (SELECT 1 FROM votes n WHERE n.supersedes = v.id) GROUP BY v.decision",
            [round_id, rater_id],
        ).fetchall()
    )
    voted = sum(decisions.values())
    skipped = db.execute(
        "SELECT count(DISTINCT s.work_id) FROM skips s WHERE s.round_id = :round AND s.rater_id = :rater "
        "AND NOT EXISTS (SELECT 1 FROM votes v WHERE v.round_id = :round AND v.rater_id = :rater "
        "AND v.work_id = s.work_id)",
        {"round": round_id, "rater": rater_id},
    ).fetchone()[0]
    open_chunks = db.execute(
        "SELECT count(DISTINCT m.chunk_id) FROM chunk_works m WHERE m.round_id = :round "
        "AND NOT EXISTS (SELECT 1 FROM votes v WHERE v.round_id = :round AND v.rater_id = :rater "
        "AND v.work_id = m.work_id)",
        {"round": round_id, "rater": rater_id},
    ).fetchone()[0]
    states = dict(
        db.execute(
            "SELECT state, count(*) FROM answers WHERE round_id = ? AND rater_id = ? GROUP BY state",
            [round_id, rater_id],
        ).fetchall()
    )
    input_tokens, output_tokens = db.execute(
        "SELECT sum(input_tokens), sum(output_tokens) FROM answers WHERE round_id = ? AND rater_id = ?",
        [round_id, rater_id],
    ).fetchone()
    return CoverageRow(
        rater=rater, status=vote_status(rater.kind), works=works, voted=voted, remaining=works - voted,
        skipped=skipped, in_scope=decisions.get("in_scope", 0), out_of_scope=decisions.get("out_of_scope", 0),
        insufficient_payload=decisions.get("insufficient_payload", 0), unsure=decisions.get("unsure", 0),
        chunks=chunks, chunks_done=chunks - open_chunks, accepted=states.get("accepted", 0),
        quarantined=states.get("quarantined", 0), failed=states.get("failed", 0),
        input_tokens=input_tokens, output_tokens=output_tokens, cost=_cost(db, round_id, rater_id),
    )  # fmt: skip


def _cost(db: sqlite3.Connection, round_id: int, rater_id: int) -> str | None:
    total: Decimal | None = None
    for (text,) in db.execute(
        "SELECT cost FROM answers WHERE round_id = ? AND rater_id = ? AND cost IS NOT NULL ORDER BY id",
        [round_id, rater_id],
    ):
        try:
            total = (total or Decimal(0)) + Decimal(text)
        except InvalidOperation:
            return None  # a cost that is no number leaves the sum unknown
    return None if total is None else format(total, "f")
