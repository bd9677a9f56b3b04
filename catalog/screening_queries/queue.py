"""What a person is given to rate next. Blinded: nothing here reads another rater's votes."""

import json
import re
import sqlite3

from catalog.lookup import NotFound, all_rows, clean, one_row
from catalog.screening_pages import LastVote, QueueItem, QueuePage
from catalog.screening_queries.records import rater_record, round_study, the_round
from catalog.works import authors_of, identifiers_of
from schema.ballots import Ballot
from schema.states import vote_status

_KEY = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})")

# Works of a round's manifest with this rater's own state: voted, or when it was last put off (0: never).
_OWN = """
WITH own AS (
  SELECT k.position AS chunk, m.position AS place, m.work_id,
    EXISTS (SELECT 1 FROM votes v WHERE v.round_id = :round AND v.work_id = m.work_id AND v.rater_id = :rater)
      AS voted,
    (SELECT coalesce(max(s.id), 0) FROM skips s
      WHERE s.round_id = :round AND s.rater_id = :rater AND s.work_id = m.work_id) AS put_off
  FROM chunks k JOIN chunk_works m ON m.chunk_id = k.id WHERE k.round_id = :round
)
"""


def rater_rounds(db: sqlite3.Connection, rater: str) -> tuple[tuple[str, str, int, int], ...]:
    """Rounds that a person may rate in: (round, title, works voted on, works in all), open ones first."""
    rows = db.execute(
        """
        SELECT r.slug, r.title,
          (SELECT count(DISTINCT v.work_id) FROM votes v WHERE v.round_id = r.id AND v.rater_id = t.id),
          (SELECT coalesce(sum(k.works), 0) FROM chunks k WHERE k.round_id = r.id)
        FROM raters t JOIN round_raters m ON m.rater_id = t.id AND m.role = 'rater'
        JOIN rounds r ON r.id = m.round_id
        WHERE t.slug = ? AND t.kind = 'human' ORDER BY r.id
        """,
        [clean(rater)],
    ).fetchall()
    return tuple(sorted((tuple(row) for row in rows), key=lambda row: row[2] >= row[3]))


def queue_page(db: sqlite3.Connection, round_: str, rater: str) -> QueuePage:
    """The next work for this rater: in the manifest's order, skipped works last, longest skipped first.

    Raises NotFound for a round that isn't taken here, or one who doesn't rate in it as a person.
    """
    row = the_round(db, clean(round_))
    planned = round_study(db, row)
    if planned is None:
        raise NotFound(f"round {round_!r} holds votes that were published elsewhere; nothing is rated in it")
    found = one_row(
        db,
        "SELECT t.* FROM raters t JOIN round_raters m ON m.rater_id = t.id AND m.role = 'rater' "
        "WHERE m.round_id = ? AND t.slug = ?",
        [row["id"], clean(rater)],
    )
    if found is None:
        raise NotFound(
            f"{rater!r} is no rater of round {round_!r}; its raters: {', '.join(planned[1].raters)}"
        )
    if found["kind"] != "human":
        raise NotFound(f"{rater!r} is a model: it is asked chunk by chunk (`proofshelf screen run`)")
    own = {"round": row["id"], "rater": found["id"]}
    total, done, skipped = db.execute(
        f"{_OWN} SELECT count(*), coalesce(sum(voted), 0), "
        "coalesce(sum(put_off > 0 AND NOT voted), 0) FROM own",
        own,
    ).fetchone()
    following = db.execute(
        f"{_OWN} SELECT chunk, place, work_id, put_off FROM own WHERE NOT voted "
        "ORDER BY put_off, chunk, place LIMIT 1",
        own,
    ).fetchone()
    record = rater_record(found)
    return QueuePage(
        study=row["study"],
        round=row["slug"],
        title=row["title"],
        instrument=row["instrument"],
        rubric=planned[0].rubric,
        rater=record,
        status=vote_status(record.kind),
        item=None if following is None else _item(db, row["instrument"], *following),
        done=done,
        total=total,
        skipped=skipped,
        last=_last(db, row, found["id"]),
    )


def queue_work(db: sqlite3.Connection, round_: str, key: str) -> str:
    """The slug of the work that a queue calls by this key. Raises NotFound."""
    row = the_round(db, clean(round_))
    match = _KEY.fullmatch(key)
    work = None
    if match is not None:
        work = db.execute(
            "SELECT w.slug FROM chunks k JOIN chunk_works m ON m.chunk_id = k.id "
            "JOIN works w ON w.id = m.work_id WHERE k.round_id = ? AND k.position = ? AND m.position = ?",
            [row["id"], int(match[1]), int(match[2])],
        ).fetchone()
    if work is None:
        raise NotFound(f"round {round_!r} has no work {key!r} in its queue")
    return str(work[0])


def _item(
    db: sqlite3.Connection, instrument: str, chunk: int, place: int, work_id: int, put_off: int = 0
) -> QueueItem:
    """A work as an instrument shows it."""
    title, abstract, year, venue = db.execute(
        "SELECT title, abstract, year, venue FROM works_now WHERE id = ?", [work_id]
    ).fetchone()
    key, skipped = f"{chunk}-{place}", put_off > 0
    if instrument == "title":
        return QueueItem(key, title, skipped=skipped)
    if instrument == "title+abstract":
        return QueueItem(key, title, abstract, skipped=skipped)
    return QueueItem(
        key, title, abstract, tuple(author.name for author in authors_of(db, work_id)), year, venue,
        identifiers_of(db, work_id), skipped,
    )  # fmt: skip


def _last(db: sqlite3.Connection, round_: sqlite3.Row, rater_id: int) -> LastVote | None:
    """The rater's own newest vote, with its work as the instrument shows it."""
    rows = all_rows(
        db,
        "SELECT v.*, w.slug AS work_slug, k.position AS chunk, m.position AS place FROM votes v "
        "JOIN works w ON w.id = v.work_id "
        "JOIN chunk_works m ON m.round_id = v.round_id AND m.work_id = v.work_id "
        "JOIN chunks k ON k.id = m.chunk_id "
        "WHERE v.round_id = ? AND v.rater_id = ? ORDER BY v.id DESC LIMIT 1",
        [round_["id"], rater_id],
    )
    if not rows:
        return None
    row = rows[0]
    item = _item(db, round_["instrument"], row["chunk"], row["place"], row["work_id"])
    ballot = Ballot(
        work=item.key, decision=row["decision"], categories=tuple(json.loads(row["categories"])),
        fields={name: tuple(values) for name, values in json.loads(row["fields"]).items()},
        confidence=row["confidence"], reason=row["reason"],
    )  # fmt: skip
    return LastVote(row["slug"], item, ballot, row["cast_at"] or row["recorded_at"])
