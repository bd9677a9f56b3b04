"""What can be exported of a study: labels, votes, scores and calls, each row with the statuses and the
caveats that govern it. A label never stands without whose it is, in which round, by which instrument.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator

from catalog import screening_queries
from catalog.commands.datasets import Row
from catalog.screening_pages import StudyPage
from schema.states import Status, vote_status

ANSWERS = {True: "positive", False: "negative", None: "unknown"}
"""A label in words, so that an empty cell never stands for a negative one."""

KINDS = ("human", "model")


def labels(db: sqlite3.Connection, page: StudyPage) -> Iterator[Row]:
    """The state of scope and of every category of every work, in each round."""
    for row in screening_queries.label_rows(db, page.slug):
        yield {
            "study": row.study,
            "round": row.round,
            "origin": row.origin,
            "instrument": row.instrument,
            "work": row.work,
            "title": row.title,
            "category": "(in scope)" if row.category is None else row.category,
            "state": row.state.value,
            "status": [status.value for status in row.statuses],
            "rater_kinds": kinds(row.statuses),
            "panel": row.panel,
            "votes": row.cast,
            "usable": row.usable,
            "positives": row.positives,
            "unanimous": ANSWERS[row.unanimous],
            "majority": ANSWERS[row.majority],
            "any": ANSWERS[row.any],
            "adjudicated": None if row.adjudicated_status is None else ANSWERS[row.adjudicated],
            "adjudicated_status": row.adjudicated_status.value if row.adjudicated_status else None,
            "stratum": row.stratum,
            "weight": row.weight,
            **_about(page),
        }


def votes(db: sqlite3.Connection, page: StudyPage) -> Iterator[Row]:
    """Every vote, superseded ones too."""
    instruments = {view.round.id: view.round.instrument for view in page.rounds}
    for row in screening_queries.vote_rows(db, page.slug):
        yield {
            "study": row.study,
            "round": row.round,
            "origin": row.origin,
            "instrument": instruments[row.round],
            "work": row.work,
            "vote": row.vote,
            "rater": row.rater,
            "rater_kind": row.rater_kind,
            "rater_version": row.rater_version,
            "status": row.status.value,
            "decision": row.decision,
            "categories": list(row.categories),
            "fields": [f"{name}={value}" for name, given in row.fields.items() for value in given],
            "confidence": row.confidence,
            "reason": row.reason,
            "reason_wording": row.reason_wording,
            "cast_at": row.cast_at,
            "standing": "superseded" if row.superseded_by else "current",
            "superseded_by": row.superseded_by,
            "note": row.note,
            **_about(page),
        }


def scores(db: sqlite3.Connection, page: StudyPage) -> Iterator[Row]:
    """Every score of the study's releases, as published. It ranks and asserts nothing."""
    for row in screening_queries.score_rows(db, page.slug):
        yield {
            "study": page.slug,
            "work": row.work,
            "release": row.release,
            "rater_kind": "model",
            "head": row.head,
            "category": row.category,
            "score": row.value,
            "status": row.status,
            "maturity": row.maturity,
            "availability": row.availability,
            "calibration": row.calibration or "not calibrated",
            **_about(page),
        }


def calls(db: sqlite3.Connection, page: StudyPage) -> Iterator[Row]:
    """Every call of the study's releases: a model's, never a label. A covered work without a row for a
    category has no call."""
    for row in screening_queries.call_rows(db, page.slug):
        yield {
            "study": page.slug,
            "work": row.work,
            "run": row.run,
            "release": row.release,
            "rater_kind": "model",
            "category": row.category,
            "call": row.call.value,
            "sides": list(row.sides),
            "status": row.status,
            **_about(page),
        }


def kinds(statuses: Iterable[Status]) -> list[str]:
    """The kinds of raters whose votes have these statuses."""
    given = set(statuses)
    return [kind for kind in KINDS if vote_status(kind) in given]


def _about(page: StudyPage) -> Row:
    return {"synthetic": "true" if page.synthetic else "false", "caveats": list(page.caveats)}


STUDY_DATASETS: dict[str, Callable[[sqlite3.Connection, StudyPage], Iterator[Row]]] = {
    "labels": labels,
    "votes": votes,
    "scores": scores,
    "calls": calls,
}
