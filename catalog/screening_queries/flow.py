"""The counts of a PRISMA 2020 flow (Page et al., BMJ 2021;372:n71): each box adds up with the next.

A record that was matched to a work that was here counts as a duplicate, whether it brought something new
or not. Which votes were counted, and how, is said beside the counts.
"""

import sqlite3
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from catalog.frames import frame_size
from catalog.lookup import clean
from catalog.screening_pages import FlowCounts, FlowStage, SourceCount
from catalog.screening_queries.exports import study_rounds
from catalog.screening_queries.records import round_study
from catalog.screening_queries.states import PanelVotes, panel_votes, statuses_of
from schema.rubric import Rubric
from schema.states import Estimand, estimand, in_scope
from schema.work import STUDY_TYPE

EXCLUSION_FIELDS = ("exclusion_reason", "exclusion_reasons")
"""Names of a rubric's field that asks why a work is excluded."""
NO_REASON, SEVERAL = "no reason given", "several reasons given"
PACKAGES = "packages of evidence"

Which = Literal["people", "machine", "people and machine", "none"]
_WHICH: dict[tuple[str, ...], Which] = {
    (): "none", ("human",): "people", ("model",): "machine", ("human", "model"): "people and machine",
}  # fmt: skip


def flow_counts(
    db: sqlite3.Connection, study: str, estimand: Estimand = "majority", rounds: Sequence[str] | None = None
) -> FlowCounts:
    """The flow of a study through its rounds (or those named), each work decided by its adjudication or,
    without one, by the named estimand over the whole panel's votes."""
    rows = study_rounds(db, clean(study))
    if rounds is not None:
        rows = [row for name in rounds for row in study_rounds(db, clean(study), name)]
    sources = [
        SourceCount(*row)
        for row in db.execute(
            "SELECT filename, sum(read) FROM imports GROUP BY filename ORDER BY min(id)"
        ).fetchall()
    ]
    brought = db.execute(
        "SELECT count(*) FROM works w WHERE w.type IS NOT ? AND NOT EXISTS "
        "(SELECT 1 FROM import_records r WHERE r.work_id = w.id AND r.outcome = 'added')",
        [STUDY_TYPE],
    ).fetchone()[0]
    if brought:
        sources.append(SourceCount(PACKAGES, brought))
    duplicates, unreadable = db.execute(
        "SELECT coalesce(sum(updated + unchanged + duplicate), 0), coalesce(sum(rejected), 0) FROM imports"
    ).fetchone()
    works = frame_size(db, None)
    newest = db.execute(
        "SELECT synthetic FROM studies WHERE slug = ? ORDER BY version DESC LIMIT 1", [clean(study)]
    ).fetchone()
    return FlowCounts(
        study=study,
        synthetic=newest is not None and bool(newest[0]),
        sources=tuple(sources),
        identified=sum(source.records for source in sources),
        duplicates=duplicates,
        unreadable=unreadable,
        works=works,
        stages=tuple(_stage(db, row, works, estimand) for row in rows),
    )


def _stage(db: sqlite3.Connection, row: sqlite3.Row, works: int, which: Estimand) -> FlowStage:
    planned = round_study(db, row)
    field = None if planned is None else _exclusion_field(planned[0].rubric)
    panel = panel_votes(db, row)
    selected = len(panel)
    if row["origin"] == "harness":
        selected = db.execute(
            "SELECT coalesce(sum(works), 0) FROM chunks WHERE round_id = ?", [row["id"]]
        ).fetchone()[0]
    settled = {
        work_id: (decision, kind)
        for work_id, decision, kind in db.execute(
            "SELECT a.work_id, a.decision, t.kind FROM adjudications a JOIN raters t ON t.id = a.rater_id "
            "WHERE a.round_id = ? AND NOT EXISTS (SELECT 1 FROM adjudications n WHERE n.supersedes = a.id)",
            [row["id"]],
        )
    }
    outcomes: Counter[bool | None] = Counter()
    reasons: Counter[str] = Counter()
    kinds: set[str] = set()
    adjudicated = 0
    for work_id, _, votes in panel:
        if work_id in settled:
            decision, kind = settled[work_id]
            outcome = in_scope(decision)
            kinds.add(kind)
            adjudicated += 1
        elif len(votes) < row["panel"]:
            continue
        else:
            outcome = estimand([in_scope(ballot.decision) for _, ballot in votes], which)
            kinds.update(rater.kind for rater, _ in votes)
        outcomes[outcome] += 1
        if outcome is False and field is not None:
            reasons[_reason(votes, field)] += 1
    screened = sum(outcomes.values())
    return FlowStage(
        round=row["slug"], title=row["title"], instrument=row["instrument"], estimand=which,
        votes=_WHICH[tuple(sorted(kinds))], statuses=statuses_of(kinds), selected=selected,
        not_selected=works - selected, screened=screened, awaiting=selected - screened,
        included=outcomes[True], excluded=outcomes[False], unresolved=outcomes[None],
        adjudicated=adjudicated, reasons=tuple(sorted(reasons.items(), key=lambda r: (-r[1], r[0]))),
    )  # fmt: skip


def _exclusion_field(rubric: Rubric) -> str | None:
    return next((field.id for field in rubric.fields if field.id in EXCLUSION_FIELDS), None)


def _reason(votes: PanelVotes, field: str) -> str:
    """The one reason that those give who voted a work out."""
    given = {
        value
        for _, ballot in votes
        if in_scope(ballot.decision) is False
        for value in ballot.fields.get(field, ())
    }
    if len(given) > 1:
        return SEVERAL
    return given.pop() if given else NO_REASON
