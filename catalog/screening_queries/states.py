"""What votes say of works: the state of every category, and the works on which votes differ."""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from catalog.lookup import all_rows, known_work
from catalog.screening_pages import (
    AdjudicationView,
    CategoryStateRow,
    CategoryVote,
    Contested,
    ContestedVote,
)
from catalog.screening_queries.adjudications import adjudication_view
from catalog.screening_queries.records import (
    RATER_COLUMNS,
    labels_of,
    rater_record,
    round_study,
    the_round,
)
from schema.ballots import Ballot
from schema.screening import Rater
from schema.states import (
    ScreeningState,
    Status,
    category_vote,
    in_scope,
    screening_state,
    vote_status,
)

Cast = tuple[Rater, str, Sequence[str]]
"""A rater's current vote: who, decision, categories."""


def category_states(
    db: sqlite3.Connection, work: str, round_: str | None = None
) -> tuple[CategoryStateRow, ...]:
    """Every category of one work, in each round that shows it or has votes on it (or in one)."""
    known = known_work(db, work)
    only = None if round_ is None else the_round(db, round_)["id"]
    rounds = all_rows(
        db,
        "SELECT * FROM rounds WHERE (:only IS NULL OR id = :only) AND id IN "
        "(SELECT round_id FROM chunk_works WHERE work_id = :work UNION SELECT round_id FROM votes "
        "WHERE work_id = :work) ORDER BY id",
        {"only": only, "work": known.id},
    )
    found: list[CategoryStateRow] = []
    for row in rounds:
        planned = round_study(db, row)
        labels = labels_of(None if planned is None else planned[0].rubric, json.loads(row["categories"]))
        adjudication = adjudication_view(db, row["id"], known.id)
        found += work_states(db, row, known.slug, _votes(db, row["id"], known.id), labels, adjudication)
    return tuple(found)


def work_states(
    db: sqlite3.Connection,
    round_: sqlite3.Row,
    work: str,
    votes: Sequence[Cast],
    labels: Mapping[str, str],
    adjudication: AdjudicationView | None,
) -> tuple[CategoryStateRow, ...]:
    """The state of every category of one work in one round, decided by `schema.states`."""
    supported = {} if votes else head_support(db, round_["study"])
    rows = []
    for category in json.loads(round_["categories"]):
        cast = tuple(
            CategoryVote(
                rater.id,
                rater.kind,
                category_vote(decision, categories, category, round_["cannot"]),
                vote_status(rater.kind),
            )
            for rater, decision, categories in votes
        )
        said = [vote.vote for vote in cast]
        rows.append(
            CategoryStateRow(
                round=round_["slug"], work=work, category=category, label=labels[category],
                state=screening_state(said, supported.get(category)),
                usable=sum(vote is not None for vote in said), positives=sum(vote is True for vote in said),
                votes=cast, statuses=basis((vote.rater_kind, vote.vote) for vote in cast),
                adjudicated=adjudicated(adjudication, category, round_["cannot"]),
                adjudicated_status=None if adjudication is None else adjudication.status,
            )
        )  # fmt: skip
    return tuple(rows)


def adjudicated(view: AdjudicationView | None, category: str | None, cannot: str | None) -> bool | None:
    """What an adjudication says of one category (None: of scope); None where it says nothing."""
    if view is None:
        return None
    decision = view.adjudication.decision
    if category is None:
        return in_scope(decision)
    return category_vote(decision, view.adjudication.categories, category, cannot)


def head_support(db: sqlite3.Connection, study: str) -> dict[str, bool]:
    """category -> whether any head of the study's newest release can speak of it."""
    rows = db.execute("SELECT category, supported FROM head_support WHERE study = ?", [study])
    return {category: bool(supported) for category, supported in rows}


def basis(votes: Iterable[tuple[str, bool | None]]) -> tuple[Status, ...]:
    """The statuses of the votes that a state rests on: the usable ones, or where none is, all of them."""
    cast = list(votes)
    return statuses_of([kind for kind, vote in cast if vote is not None] or [kind for kind, _ in cast])


def statuses_of(kinds: Iterable[str]) -> tuple[Status, ...]:
    """The statuses of votes by raters of these kinds, each once, people first."""
    return tuple(sorted({vote_status(kind) for kind in kinds}))


def contested(db: sqlite3.Connection, round_: str, pending: bool = False) -> tuple[Contested, ...]:
    """Works of a round on which its votes differ, in the manifest's order; with `pending`, only those
    without an adjudication."""
    row = the_round(db, round_)
    planned = round_study(db, row)
    labels = labels_of(None if planned is None else planned[0].rubric, json.loads(row["categories"]))
    differ = Differing(json.loads(row["categories"]), row["cannot"])
    found = []
    for work_id, work, votes in panel_votes(db, row):
        if len(votes) < row["panel"] or not differ(votes):
            continue
        adjudication = adjudication_view(db, row["id"], work_id)
        if pending and adjudication is not None:
            continue
        title, abstract = db.execute(
            "SELECT title, abstract FROM works_now WHERE id = ?", [work_id]
        ).fetchone()
        cast = [(rater, ballot.decision, ballot.categories) for rater, ballot in votes]
        found.append(
            Contested(
                round=round_, work=work, title=title,
                abstract=None if row["instrument"] == "title" else abstract,
                scope=screening_state([in_scope(ballot.decision) for _, ballot in votes]),
                categories=work_states(db, row, work, cast, labels, adjudication),
                votes=tuple(ContestedVote(r, vote_status(r.kind), ballot) for r, ballot in votes),
                adjudication=adjudication,
            )
        )  # fmt: skip
    return tuple(found)


PanelVotes = list[tuple[Rater, Ballot]]


def panel_votes(db: sqlite3.Connection, round_: sqlite3.Row) -> list[tuple[int, str, PanelVotes]]:
    """Every work of a round with a current vote: row, slug and votes, raters in the order of their rows.

    Works come in the manifest's order; in a published round, by their row.
    """
    rows = all_rows(
        db,
        f"""
        SELECT v.work_id, w.slug AS work_slug, v.decision, v.categories, v.fields, v.confidence, v.reason,
          {RATER_COLUMNS}
        FROM votes v JOIN works w ON w.id = v.work_id JOIN raters t ON t.id = v.rater_id
        LEFT JOIN chunk_works m ON m.round_id = v.round_id AND m.work_id = v.work_id
        LEFT JOIN chunks k ON k.id = m.chunk_id
        WHERE v.round_id = ? AND NOT EXISTS (SELECT 1 FROM votes n WHERE n.supersedes = v.id)
        ORDER BY k.position, m.position, v.work_id, v.rater_id
        """,
        [round_["id"]],
    )
    found: dict[int, tuple[str, PanelVotes]] = {}
    raters: dict[str, Rater] = {}
    said = _Said()
    for row in rows:
        if row["rater_slug"] not in raters:
            raters[row["rater_slug"]] = rater_record(row, "rater_")
        # As it was judged when it was taken: thousands of votes are read for one page.
        ballot = Ballot.model_construct(
            work=row["work_slug"], decision=row["decision"], categories=said.names(row["categories"]),
            fields=said.fields(row["fields"]), confidence=row["confidence"], reason=row["reason"],
        )  # fmt: skip
        vote = (raters[row["rater_slug"]], ballot)
        found.setdefault(row["work_id"], (row["work_slug"], []))[1].append(vote)
    return [(work_id, work, votes) for work_id, (work, votes) in found.items()]


class _Said:
    """JSON of votes, each text read once: most votes say what others say."""

    def __init__(self) -> None:
        self._names: dict[str, tuple[str, ...]] = {}
        self._fields: dict[str, dict[str, tuple[str, ...]]] = {}

    def names(self, text: str) -> tuple[str, ...]:
        if text not in self._names:
            self._names[text] = tuple(json.loads(text))
        return self._names[text]

    def fields(self, text: str) -> dict[str, tuple[str, ...]]:
        if text not in self._fields:
            self._fields[text] = {name: tuple(values) for name, values in json.loads(text).items()}
        return dict(self._fields[text])


def votes_on(db: sqlite3.Connection, round_id: int, work_id: int) -> PanelVotes:
    """The current votes on one work in one round."""
    return [
        (rater, Ballot.model_construct(work="", decision=decision, categories=tuple(categories)))
        for rater, decision, categories in _votes(db, round_id, work_id)
    ]


class Differing:
    """Whether the votes on a work differ on scope or on a category, or none of them is usable."""

    def __init__(self, categories: Sequence[str], cannot: str | None) -> None:
        self._categories = categories
        self._cannot = cannot
        self._known: dict[tuple[tuple[str, tuple[str, ...]], ...], bool] = {}

    def __call__(self, votes: PanelVotes) -> bool:
        """Decided once for each pattern of votes."""
        pattern = tuple((ballot.decision, ballot.categories) for _, ballot in votes)
        if pattern not in self._known:
            self._known[pattern] = self._decide(votes)
        return self._known[pattern]

    def _decide(self, votes: PanelVotes) -> bool:
        settled = (ScreeningState.AGREED_POSITIVE, ScreeningState.AGREED_NEGATIVE)
        if screening_state([in_scope(ballot.decision) for _, ballot in votes]) not in settled:
            return True
        return any(
            screening_state(
                [category_vote(b.decision, b.categories, category, self._cannot) for _, b in votes]
            )
            not in (*settled, ScreeningState.UNKNOWN)
            for category in self._categories
        )


def _votes(db: sqlite3.Connection, round_id: int, work_id: int) -> list[Cast]:
    # The + keeps SQLite from reading the whole round in the order asked for.
    rows = all_rows(
        db,
        f"SELECT v.decision, v.categories, {RATER_COLUMNS} FROM votes v JOIN raters t ON t.id = v.rater_id "
        "WHERE v.round_id = ? AND v.work_id = ? "
        "AND NOT EXISTS (SELECT 1 FROM votes n WHERE n.supersedes = v.id) ORDER BY +v.rater_id",
        [round_id, work_id],
    )
    return [(rater_record(r, "rater_"), r["decision"], tuple(json.loads(r["categories"]))) for r in rows]
