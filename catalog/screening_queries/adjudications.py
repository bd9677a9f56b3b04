"""Adjudications, each with those that it superseded."""

import json
import sqlite3

from catalog.lookup import all_rows
from catalog.screening_pages import AdjudicationView
from catalog.screening_queries.records import RATER_COLUMNS, rater_record
from schema.screening import Adjudication
from schema.states import vote_status


def adjudication_view(db: sqlite3.Connection, round_id: int, work_id: int) -> AdjudicationView | None:
    """The current adjudication of a work in a round, with its history; None where there is none."""
    rows = all_rows(
        db,
        f"SELECT a.*, r.slug AS round_slug, w.slug AS work_slug, {RATER_COLUMNS} FROM adjudications a "
        "JOIN rounds r ON r.id = a.round_id JOIN works w ON w.id = a.work_id "
        "JOIN raters t ON t.id = a.rater_id WHERE a.round_id = ? AND a.work_id = ? ORDER BY a.id DESC",
        [round_id, work_id],
    )
    if not rows:
        return None
    names = {row["id"]: row["slug"] for row in rows}
    records = [
        Adjudication(
            id=row["slug"], round=row["round_slug"], work=row["work_slug"], rater=row["rater_slug"],
            decision=row["decision"], categories=tuple(json.loads(row["categories"])), reason=row["reason"],
            decided_at=row["decided_at"], supersedes=names.get(row["supersedes"]),
        )
        for row in rows
    ]  # fmt: skip
    newest = rows[0]  # each supersedes the one before, so the last written is the current one
    return AdjudicationView(
        records[0], rater_record(newest, "rater_"), vote_status(newest["rater_kind"]), tuple(records[1:])
    )
