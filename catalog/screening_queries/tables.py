"""Votes as tables for statistics and for a student, and documents of the whole frame."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from catalog.frames import frame_fields, newest_study
from catalog.lookup import clean, no_such
from catalog.screening_pages import NOT_CAST, Cell, RatingTable, TrainingRows, VoteColumn
from catalog.screening_queries.exports import study_rounds
from catalog.screening_queries.records import the_round
from catalog.screening_queries.rounds import people
from catalog.screening_queries.samples import sample_places
from catalog.screening_queries.states import PanelVotes, panel_votes
from catalog.works import fields_of
from schema.ballots import Ballot
from schema.states import category_vote, in_scope, vote_status

if TYPE_CHECKING:
    from classifiers.features.documents import Document


def rating_table(db: sqlite3.Connection, round_: str, category: str | None = None) -> RatingTable:
    """Current votes on one category of a round, or on scope: of every work of the manifest (in a
    published round: with a vote)."""
    row = the_round(db, clean(round_))
    categories = json.loads(row["categories"])
    if category is not None and category not in categories:
        raise no_such(f"category of round {round_}", category, categories, "")
    raters = [rater for _, rater in people(db, row, "rater")]
    voted = {work_id: (work, votes) for work_id, work, votes in panel_votes(db, row)}
    works = db.execute(
        "SELECT m.work_id, w.slug FROM chunk_works m JOIN chunks k ON k.id = m.chunk_id "
        "JOIN works w ON w.id = m.work_id WHERE m.round_id = ? ORDER BY k.position, m.position",
        [row["id"]],
    ).fetchall() or [(work_id, work) for work_id, (work, _) in voted.items()]
    places = sample_places(db, row)
    rows: list[tuple[Cell, ...]] = []
    for work_id, work in works:
        cast = _by_rater(voted.get(work_id, (work, []))[1])
        rows.append(tuple(_cell(cast.get(rater.id), category, row["cannot"]) for rater in raters))
    return RatingTable(
        round=row["slug"],
        category=category,
        works=tuple(work for _, work in works),
        raters=tuple(rater.id for rater in raters),
        kinds=tuple(rater.kind for rater in raters),
        statuses=tuple(vote_status(rater.kind) for rater in raters),
        votes=tuple(rows),
        weights=tuple(places[work_id][1] for work_id, _ in works) if places else None,
        strata=tuple(places[work_id][0] for work_id, _ in works) if places else None,
    )


def last_vote(db: sqlite3.Connection) -> int:
    """The number of the newest vote of the catalog; numbers only grow. 0: there is none."""
    return int(db.execute("SELECT coalesce(max(id), 0) FROM votes").fetchone()[0])


def works_voted(db: sqlite3.Connection, rounds: Sequence[str], until: int | None = None) -> frozenset[str]:
    """The works with any vote in these rounds, superseded ones too; `until`: numbered so or less."""
    marks = ", ".join("?" * len(rounds))
    found = db.execute(
        "SELECT DISTINCT w.slug FROM votes v JOIN rounds r ON r.id = v.round_id JOIN works w "
        f"ON w.id = v.work_id WHERE r.slug IN ({marks}) AND v.id <= coalesce(?, v.id)",
        [*rounds, until],
    )
    return frozenset(slug for (slug,) in found)


def training_rows(db: sqlite3.Connection, study: str) -> TrainingRows:
    """Documents and votes of every work of a study that has a vote."""
    # Imported here: numpy comes with it, which no other question needs.
    from classifiers.features.documents import Document

    rounds = study_rounds(db, clean(study))
    categories = list(dict.fromkeys(c for row in reversed(rounds) for c in json.loads(row["categories"])))
    cannot = next((row["cannot"] for row in reversed(rounds) if row["cannot"] is not None), None)
    panels = [(row, {work_id: votes for work_id, _, votes in panel_votes(db, row)}) for row in rounds]
    ids = sorted({work_id for _, panel in panels for work_id in panel})
    found = sorted((fields_of(db, work_id) for work_id in ids), key=lambda work: work[1])
    columns: list[VoteColumn] = []
    for row, panel in panels:
        known = set(json.loads(row["categories"]))
        places = sample_places(db, row)
        for _, rater in people(db, row, "rater"):
            cast = [_by_rater(panel.get(work_id, [])).get(rater.id) for work_id, _, _ in found]
            if not any(cast):
                continue
            columns.append(
                VoteColumn(
                    round=row["slug"], instrument=row["instrument"], rater=rater,
                    status=vote_status(rater.kind),
                    scope=tuple(_cell(ballot, None, row["cannot"]) for ballot in cast),
                    votes=tuple(
                        tuple(
                            _cell(ballot, category, row["cannot"]) if category in known else NOT_CAST
                            for category in categories
                        )
                        for ballot in cast
                    ),
                    weights=tuple(places.get(i, (None, None))[1] for i, _, _ in found) if places else None,
                    strata=tuple(places.get(i, (None, None))[0] for i, _, _ in found) if places else None,
                )
            )  # fmt: skip
    return TrainingRows(
        study=study, categories=tuple(categories), cannot=cannot,
        works=tuple(slug for _, slug, _ in found),
        documents=tuple(Document(id=slug, **fields) for _, slug, fields in found), columns=tuple(columns),
    )  # fmt: skip


def frame_documents(
    db: sqlite3.Connection, study: str | None = None, after: int = 0
) -> "Iterator[tuple[int, Document]]":
    """Every work of a study's frame as (row number, document), in order of the row, beginning behind
    `after`; without a study, of the whole catalog."""
    from classifiers.features.documents import Document

    for work_id, slug, fields in frame_fields(db, newest_study(db, study), after):
        yield work_id, Document(id=slug, **fields)


def _by_rater(votes: PanelVotes) -> dict[str, Ballot]:
    return {rater.id: ballot for rater, ballot in votes}


def _cell(ballot: Ballot | None, category: str | None, cannot: str | None) -> Cell:
    """What a vote says of a category (None: of scope); no vote is a state of its own."""
    if ballot is None:
        return NOT_CAST
    if category is None:
        return in_scope(ballot.decision)
    return category_vote(ballot.decision, ballot.categories, category, cannot)
