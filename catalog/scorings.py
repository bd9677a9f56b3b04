"""Scores streamed in, many transactions long, and hidden until they are complete."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import isfinite

from catalog.clock import now
from catalog.errors import CatalogError
from catalog.rows import insert

SCORES_AT_A_TIME = 10_000
"""Scores of one transaction, about; a work's scores are never parted."""

ScoreRow = tuple[str, Sequence[float | None]]


@dataclass(frozen=True)
class Scored:
    """What a scoring wrote. `works` and `scores` are new; `known` works had these scores already."""

    release: str
    works: int
    scores: int
    known: int


def next_scoring(connection: sqlite3.Connection, release_id: int) -> int:
    """The number of the scoring that isn't finished: a later try after a stop has the same."""
    row = connection.execute(
        "SELECT coalesce(max(number), 0) + 1 FROM scorings WHERE release_id = ?", [release_id]
    ).fetchone()
    return int(row[0])


def finish_scoring(
    connection: sqlite3.Connection, release_id: int, works: int, scores: int, who: str
) -> None:
    """Say that a scoring is complete: from now on its scores show."""
    insert(connection, "scorings", {
        "release_id": release_id, "number": next_scoring(connection, release_id), "works": works,
        "scores": scores, "recorded_at": now(), "recorded_by": who,
    })  # fmt: skip


def unfinished(connection: sqlite3.Connection, release_id: int) -> tuple[int, int]:
    """Works and scores that an unfinished scoring of a release has written. Reads all of its scores."""
    row = connection.execute(
        "SELECT count(DISTINCT s.work_id), count(*) FROM scores s JOIN heads h ON h.id = s.head_id "
        "WHERE h.release_id = ? AND s.scoring = ?",
        [release_id, next_scoring(connection, release_id)],
    ).fetchone()
    return int(row[0]), int(row[1])


def covered(connection: sqlite3.Connection, release_id: int) -> int:
    """How many works have a score of a release that shows."""
    row = connection.execute(
        "SELECT (SELECT coalesce(sum(works), 0) FROM scorings WHERE release_id = :id) + "
        "(SELECT count(DISTINCT s.work_id) FROM heads h JOIN scores s ON s.head_id = h.id AND s.scoring = 0 "
        " WHERE h.release_id = :id)",
        {"id": release_id},
    ).fetchone()
    return int(row[0])


class Scoring:
    """Scores of one release on their way in; each `add` is one transaction of the caller's.

    What it writes is hidden until `finish`. Stopped before, it is gone on with by another one of the
    same release.
    """

    def __init__(self, connection: sqlite3.Connection, release: str) -> None:
        row = connection.execute(
            "SELECT id, record IS NOT NULL FROM model_releases WHERE slug = ?", [release]
        ).fetchone()
        if row is None:
            raise CatalogError(f"there is no release {release!r} here; `proofshelf classify train` makes one")
        if not row[1]:
            raise CatalogError(f"release {release!r} came with a package, which alone brings its scores")
        self.release = release
        self.release_id: int = row[0]
        self.works = self.scores = self.known = 0
        self._connection = connection
        self._number = next_scoring(connection, self.release_id)
        self._begun = False
        self._heads = connection.execute(
            "SELECT id, name, category FROM heads WHERE release_id = ? ORDER BY id", [self.release_id]
        ).fetchall()

    def batches(self, rows: Iterable[ScoreRow]) -> Iterable[list[ScoreRow]]:
        """The rows in lots of about SCORES_AT_A_TIME scores."""
        size = max(1, SCORES_AT_A_TIME // len(self._heads))
        rows = iter(rows)
        while batch := list(islice(rows, size)):
            yield batch

    def add(self, batch: Sequence[ScoreRow], who: str) -> None:
        """Write a batch. Raises CatalogError for an unknown work, or scores that are no such row."""
        self._alone()
        ids = self._works([work for work, _ in batch])
        new: list[tuple[int, int, float, int]] = []
        seen: dict[int, dict[int, float]] = {}
        for work, values in batch:
            given = self._given(work, values)
            stored = seen.get(ids[work]) or self._stored(ids[work])
            if stored:
                if stored != given:
                    raise CatalogError(
                        f"{self._other(work, stored, given)}; another model is another release"
                    )
                self.known += 1
            elif given:
                seen[ids[work]] = given
                self.works += 1
                new += [(ids[work], head, value, self._number) for head, value in given.items()]
        if new and not self._begun:
            self._begin(who)
        self._connection.executemany(
            "INSERT INTO scores(work_id, head_id, value, scoring) VALUES (?, ?, ?, ?)", new
        )
        self.scores += len(new)

    def finish(self, who: str) -> None:
        """Let them show; what an earlier try wrote before it was stopped, too."""
        self._alone()
        works, scores = self.works, self.scores
        if self._tries() != int(self._begun):  # somebody else wrote into it: count what is there
            works, scores = unfinished(self._connection, self.release_id)
        if works or self._number == 1:
            finish_scoring(self._connection, self.release_id, works, scores, who)

    def _alone(self) -> None:
        if next_scoring(self._connection, self.release_id) != self._number:
            raise CatalogError(
                f"another scoring of release {self.release} has ended meanwhile; run this one again, "
                "which goes on where it stopped"
            )

    def _begin(self, who: str) -> None:
        insert(self._connection, "scoring_starts", {
            "release_id": self.release_id, "number": self._number, "attempt": self._tries() + 1,
            "recorded_at": now(), "recorded_by": who,
        })  # fmt: skip
        self._begun = True

    def _tries(self) -> int:
        row = self._connection.execute(
            "SELECT count(*) FROM scoring_starts WHERE release_id = ? AND number = ?",
            [self.release_id, self._number],
        ).fetchone()
        return int(row[0])

    def result(self) -> Scored:
        """What was written."""
        return Scored(self.release, self.works, self.scores, self.known)

    def _works(self, slugs: Sequence[str]) -> dict[str, int]:
        marks = ", ".join("?" * len(slugs))
        ids = dict(
            self._connection.execute(f"SELECT slug, id FROM works WHERE slug IN ({marks})", slugs).fetchall()
        )
        for slug in slugs:
            if slug not in ids:
                raise CatalogError(f"score of {slug!r}: the catalog has no such work")
        return ids

    def _given(self, work: str, values: Sequence[float | None]) -> dict[int, float]:
        if len(values) != len(self._heads):
            raise CatalogError(
                f"scores of {work!r}: there are {len(values)}; expected {len(self._heads)}, "
                f"one for each head and category of release {self.release}"
            )
        given = {}
        for (head_id, name, category), value in zip(self._heads, values, strict=True):
            if value is None:
                continue
            if not isfinite(value):
                raise CatalogError(f"score of {work!r} by {name} for {category}: {value} is no finite number")
            given[head_id] = float(value)
        return given

    def _stored(self, work_id: int) -> dict[int, float]:
        first, last = self._heads[0][0], self._heads[-1][0]  # a release's heads are written in one go
        return dict(
            self._connection.execute(
                "SELECT head_id, value FROM scores WHERE work_id = ? AND head_id BETWEEN ? AND ?",
                [work_id, first, last],
            ).fetchall()
        )

    def _other(self, work: str, stored: Mapping[int, float], given: Mapping[int, float]) -> str:
        for head_id, name, category in self._heads:
            here, new = stored.get(head_id), given.get(head_id)
            if here != new:
                what = f"score of {work!r} by {name} for {category}"
                return f"{what}: is {_said(here)} here already, not {_said(new)}"
        raise AssertionError("they are the same")


def _said(value: float | None) -> str:
    return "no score" if value is None else repr(value)
