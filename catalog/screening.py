"""A screening file as rows: rounds, raters, votes, statements, releases, heads and scores.

What is there already in the same words is kept once. The same id with other words is refused: a
vote is corrected by a new one that supersedes it, and nothing else is corrected at all.
"""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from decimal import Decimal
from math import isfinite
from typing import Any

from catalog.clock import now
from catalog.errors import CatalogError
from catalog.releases import add_heads, head_rows, heads_of, release_values
from catalog.rows import as_json
from catalog.scorings import finish_scoring, next_scoring
from catalog.works import find_work
from schema.scores import ModelRelease, Score
from schema.screening import Rater, Round, Statement, Vote
from schema.screening_record import ScreeningRecord


def add_screening(
    connection: sqlite3.Connection, record: ScreeningRecord, source_sha256: str, artifact_id: int, who: str
) -> None:
    """Write everything that a screening file says, inside the caller's transaction."""
    writer = _Writer(connection, source_sha256, who)
    for rater in record.raters:
        writer.rater(rater)
    for round_ in record.rounds:
        writer.round(round_)
    for vote in _superseded_first(record.votes):
        writer.vote(vote)
    for statement in record.statements:
        writer.statement(statement)
    for release in record.releases:
        writer.release(release)
    writer.scores(record.scores, {r.id: r.decimals for r in record.releases})
    for position, text in enumerate(record.caveats):
        connection.execute(
            "INSERT INTO screening_caveats(artifact_id, position, text) VALUES (?, ?, ?)",
            [artifact_id, position, text],
        )


def add_rater(connection: sqlite3.Connection, rater: Rater) -> None:
    """Write a rater, once: the same words again change nothing, other words are refused."""
    _Writer(connection, "", "").rater(rater)


def add_round(connection: sqlite3.Connection, round_: Round, source_sha256: str, who: str) -> None:
    """Write a round whose votes were published elsewhere, once, as a rater."""
    _Writer(connection, source_sha256, who).round(round_)


class _Writer:
    def __init__(self, connection: sqlite3.Connection, source_sha256: str, who: str) -> None:
        self._connection = connection
        self._origin = {"source_sha256": source_sha256, "recorded_at": now(), "recorded_by": who}
        self._works: dict[str, int] = {}
        self._scorings: dict[int, int] = {}

    def rater(self, rater: Rater) -> None:
        self._once("raters", "rater", rater.id, rater.model_dump(exclude={"id"}))

    def round(self, round_: Round) -> None:
        if round_.origin != "published":
            raise CatalogError(
                f"round {round_.id}: a package brings votes from elsewhere, so its origin is 'published'"
            )
        values = round_.model_dump(exclude={"id", "categories"})
        self._once(
            "rounds", "round", round_.id, {**values, "categories": _json(round_.categories)}, self._origin
        )

    def vote(self, vote: Vote) -> None:
        round_id, rater_id = self._row("rounds", vote.round), self._row("raters", vote.rater)
        work_id = self._work(vote.work, f"vote {vote.id}")
        values = vote.model_dump(
            exclude={"id", "round", "work", "rater", "categories", "fields", "supersedes"}
        )
        supersedes = None if vote.supersedes is None else self._row("votes", vote.supersedes)
        values |= {
            "round_id": round_id, "work_id": work_id, "rater_id": rater_id,
            "categories": _json(vote.categories), "fields": as_json(vote.fields), "supersedes": supersedes,
        }  # fmt: skip
        if self._there("votes", "vote", vote.id, values):
            return
        if supersedes is None:
            earlier = self._connection.execute(
                "SELECT slug FROM votes "
                "WHERE round_id = ? AND work_id = ? AND rater_id = ? AND supersedes IS NULL",
                [round_id, work_id, rater_id],
            ).fetchone()
            if earlier is not None:
                raise CatalogError(
                    f"vote {vote.id}: {vote.rater} has voted on {vote.work} in round {vote.round} already "
                    f"({earlier[0]}); a correction names the vote that it supersedes"
                )
        else:
            taken = self._connection.execute(
                "SELECT slug FROM votes WHERE supersedes = ?", [supersedes]
            ).fetchone()
            if taken is not None:
                raise CatalogError(
                    f"vote {vote.id}: {taken[0]} supersedes {vote.supersedes} already; supersede that one"
                )
            same = self._connection.execute(
                "SELECT round_id = ? AND work_id = ? AND rater_id = ? FROM votes WHERE id = ?",
                [round_id, work_id, rater_id, supersedes],
            ).fetchone()
            if not same[0]:
                raise CatalogError(
                    f"vote {vote.id}: supersedes {vote.supersedes}, which isn't of the same rater "
                    "on the same work in the same round"
                )
        self._insert("votes", vote.id, {**values, **self._origin})

    def statement(self, statement: Statement) -> None:
        values = statement.model_dump(exclude={"id", "work"})
        values["work_id"] = self._work(statement.work, f"statement {statement.id}")
        self._once("statements", "statement", statement.id, values, self._origin)

    def release(self, release: ModelRelease) -> None:
        values = release_values(release)
        if self._once("model_releases", "release", release.id, values, self._origin):
            release_id = self._row("model_releases", release.id)
            if heads_of(self._connection, release_id) != head_rows(release):
                raise CatalogError(f"release {release.id}: is here with other heads; give it another id")
            return
        add_heads(self._connection, self._row("model_releases", release.id), release)

    def scores(self, scores: Sequence[Score], decimals: dict[str, int]) -> None:
        heads = {
            (slug, name, category): (head_id, release_id)
            for head_id, release_id, slug, name, category in self._connection.execute(
                "SELECT h.id, m.id, m.slug, h.name, h.category FROM heads h "
                "JOIN model_releases m ON m.id = h.release_id"
            )
        }
        new: dict[int, dict[int, int]] = {}
        for score in scores:
            what = f"score of {score.work} by {score.release}/{score.head} for {score.category}"
            value = _score_value(score.value, decimals[score.release], what)
            work_id = self._work(score.work, what)
            head_id, release_id = heads[score.release, score.head, score.category]
            stored = self._connection.execute(
                "SELECT value FROM scores WHERE work_id = ? AND head_id = ?", [work_id, head_id]
            ).fetchone()
            if stored is None:
                number = self._scoring(score.release, release_id)
                self._connection.execute(
                    "INSERT INTO scores(work_id, head_id, value, scoring) VALUES (?, ?, ?, ?)",
                    [work_id, head_id, value, number],
                )
                works = new.setdefault(release_id, {})
                works[work_id] = works.get(work_id, 0) + 1
            elif stored[0] != value:
                raise CatalogError(
                    f"{what}: is {stored[0]} here already, not {score.value}; use another release"
                )
        for release_id, works in new.items():
            finish_scoring(
                self._connection, release_id, len(works), sum(works.values()), self._origin["recorded_by"]
            )

    def _scoring(self, release: str, release_id: int) -> int:
        if release_id not in self._scorings:
            record = self._connection.execute(
                "SELECT record FROM model_releases WHERE id = ?", [release_id]
            ).fetchone()[0]
            if record is not None:
                raise CatalogError(f"release {release}: was trained here, so no package brings scores of it")
            self._scorings[release_id] = next_scoring(self._connection, release_id)
        return self._scorings[release_id]

    def _once(
        self, table: str, what: str, slug: str, values: dict[str, Any], origin: dict[str, Any] | None = None
    ) -> bool:
        """Insert unless there; returns whether it was."""
        if self._there(table, what, slug, values):
            return True
        self._insert(table, slug, {**values, **(origin or {})})
        return False

    def _there(self, table: str, what: str, slug: str, values: dict[str, Any]) -> bool:
        columns = list(values)
        stored = self._connection.execute(
            f"SELECT {', '.join(columns)} FROM {table} WHERE slug = ?", [slug]
        ).fetchone()
        if stored is None:
            return False
        for column, here, given in zip(columns, stored, values.values(), strict=True):
            if here != given:
                advice = "give it another id"
                if table == "votes":
                    advice = "a correction is a new vote that supersedes it"
                raise CatalogError(
                    f"{what} {slug}: is here already with another {column.removesuffix('_id')}; {advice}"
                )
        return True

    def _insert(self, table: str, slug: str, values: dict[str, Any]) -> None:
        columns = ", ".join(["slug", *values])
        marks = ", ".join("?" * (len(values) + 1))
        self._connection.execute(f"INSERT INTO {table}({columns}) VALUES ({marks})", [slug, *values.values()])

    def _row(self, table: str, slug: str) -> int:
        row = self._connection.execute(f"SELECT id FROM {table} WHERE slug = ?", [slug]).fetchone()
        if row is None:
            raise CatalogError(f"{table[:-1].replace('_', ' ')} {slug!r} is not here")
        return int(row[0])

    def _work(self, slug: str, what: str) -> int:
        if slug not in self._works:
            known = find_work(self._connection, slug)
            if known is None:
                raise CatalogError(f"{what}: the catalog has no work {slug!r}; import it first")
            self._works[slug] = known.id
        return self._works[slug]


def _superseded_first(votes: Iterable[Vote]) -> list[Vote]:
    """The votes in an order in which each comes after the one that it supersedes."""
    by_id = {vote.id: vote for vote in votes}
    ordered: dict[str, Vote] = {}
    for vote in by_id.values():
        chain: list[Vote] = []
        current: Vote | None = vote
        while current is not None and current.id not in ordered:
            if current in chain:
                raise CatalogError(f"vote {vote.id}: supersedes itself, by way of {len(chain)} vote(s)")
            chain.append(current)
            current = by_id.get(current.supersedes) if current.supersedes else None
        ordered.update((v.id, v) for v in reversed(chain))
    return list(ordered.values())


def _score_value(text: str, decimals: int, what: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise CatalogError(f"{what}: {text} is too large to be a score")
    if Decimal(f"{value:.{decimals}f}") != Decimal(text):
        raise CatalogError(f"{what}: {text} has more digits than the {decimals} decimals of its release")
    return value


def _json(names: Sequence[str]) -> str:
    return json.dumps(list(names), ensure_ascii=False)
