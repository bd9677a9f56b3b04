"""Releases as rows: their heads and files, scores streamed in, calls."""

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import isfinite
from typing import Any

from catalog.clock import now
from catalog.errors import CatalogError
from catalog.rows import as_json, insert
from schema.scores import DecisionRun, ModelRelease
from schema.states import Call, call

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


# Releases and heads ----------------------------------------------------------------------------------


def release_values(release: ModelRelease) -> dict[str, Any]:
    """The columns of a release that its record decides."""
    return release.model_dump(exclude={"id", "heads", "calibrated"}) | {"calibrated": int(release.calibrated)}


def head_rows(release: ModelRelease) -> list[tuple[Any, ...]]:
    """One row for each head and category, in the release's order."""
    return [
        (h.name, h.imitates, c, h.availability, h.positives, h.ess_positives, h.calibration, h.threshold)
        for h in release.heads
        for c in h.categories
    ]


def heads_of(connection: sqlite3.Connection, release_id: int) -> list[tuple[Any, ...]]:
    """The stored rows, as `head_rows` makes them."""
    return connection.execute(
        "SELECT name, imitates, category, availability, positives, ess_positives, calibration, threshold "
        "FROM heads WHERE release_id = ? ORDER BY id",
        [release_id],
    ).fetchall()


def add_heads(connection: sqlite3.Connection, release_id: int, release: ModelRelease) -> None:
    """Write the heads of a new release. Raises CatalogError for a head that names a category twice."""
    rows = head_rows(release)
    for (name, category), times in Counter((row[0], row[2]) for row in rows).items():
        if times > 1:
            raise CatalogError(f"release {release.id}: head {name} has category {category} {times} times")
    connection.executemany(
        "INSERT INTO heads(release_id, name, imitates, category, availability, positives, ess_positives, "
        "calibration, threshold) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(release_id, *row) for row in rows],
    )


def digests(files: Mapping[str, bytes]) -> dict[str, tuple[int, str]]:
    """Size and SHA-256 of each file."""
    return {path: (len(data), hashlib.sha256(data).hexdigest()) for path, data in files.items()}


def record_release(
    connection: sqlite3.Connection,
    release: ModelRelease,
    record: Mapping[str, Any],
    source_sha256: str,
    files: Mapping[str, tuple[int, str]],
    who: str,
) -> bool:
    """Write a release that was trained here, inside the caller's transaction; whether it is new.

    Raises CatalogError where the name stands for another one.
    """
    values = release_values(release) | {"record": as_json(dict(record)), "source_sha256": source_sha256}
    columns = ", ".join(values)
    here = connection.execute(
        f"SELECT id, {columns} FROM model_releases WHERE slug = ?", [release.id]
    ).fetchone()
    if here is not None:
        stored = dict(zip(values, here[1:], strict=True))
        changed = [name for name in values if stored[name] != values[name]]
        kept = connection.execute(
            "SELECT path, bytes, sha256 FROM release_files WHERE release_id = ? ORDER BY path", [here[0]]
        ).fetchall()
        if kept != sorted((path, *digest) for path, digest in files.items()):
            changed.append("files")
        if heads_of(connection, here[0]) != head_rows(release):
            changed.append("heads")
        if changed:
            raise CatalogError(
                f"release {release.id}: is here already with another {changed[0]}; give it another id"
            )
        return False
    if release.study is not None and not _study_known(connection, release.study):
        raise CatalogError(f"release {release.id}: there is no study {release.study!r} here")
    release_id = insert(
        connection,
        "model_releases",
        {"slug": release.id, **values, "recorded_at": now(), "recorded_by": who},
    )
    add_heads(connection, release_id, release)
    for path, (size, sha256) in files.items():
        insert(
            connection,
            "release_files",
            {"release_id": release_id, "path": path, "bytes": size, "sha256": sha256},
        )
    return True


def _study_known(connection: sqlite3.Connection, slug: str) -> bool:
    row = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM studies WHERE slug = ?) "
        "OR EXISTS (SELECT 1 FROM rounds WHERE study = ?)",
        [slug, slug],
    ).fetchone()
    return bool(row[0])


# Scores ----------------------------------------------------------------------------------------------


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


# Calls -----------------------------------------------------------------------------------------------


def record_decisions(
    connection: sqlite3.Connection, run: DecisionRun, rows: Iterable[tuple[str, str, Sequence[str]]], who: str
) -> bool:
    """Write a run with all its calls, inside the caller's transaction; whether it is new.

    Raises CatalogError where a row isn't of a covered work and a supported category, where a head's rows
    aren't its k, or where the run counts other works than the catalog has.
    """
    release = connection.execute("SELECT id FROM model_releases WHERE slug = ?", [run.release]).fetchone()
    if release is None:
        raise CatalogError(f"decision run {run.id}: there is no release {run.release!r} here")
    calls = _Calls(connection, run, release[0])
    for work, category, sides in rows:
        calls.take(work, category, sides)
    calls.check_quotas()
    values = {
        "slug": run.id, "release_id": release[0], "rule": run.rule, "status": run.status, "works": run.works,
        "covered": run.covered, "quotas": as_json([q.model_dump() for q in run.quotas]),
        "counts": as_json(calls.counts), "thresholds": as_json(calls.thresholds), "note": run.note,
    }  # fmt: skip
    here = connection.execute(
        f"SELECT id, {', '.join(values)} FROM decision_runs WHERE slug = ?", [run.id]
    ).fetchone()
    if here is not None:
        if here[1:] != tuple(values.values()) or _stored_calls(connection, here[0]) != sorted(calls.rows):
            raise CatalogError(f"decision run {run.id}: is here already with other calls; give it another id")
        return False
    calls.check_frame()
    run_id = insert(connection, "decision_runs", {
        **values, "scoring": next_scoring(connection, release[0]) - 1, "recorded_at": now(),
        "recorded_by": who,
    })  # fmt: skip
    connection.executemany(
        "INSERT INTO decisions(work_id, category, call, sides, run_id) VALUES (?, ?, ?, ?, ?)",
        [(*row, run_id) for row in sorted(calls.rows)],
    )
    return True


def _stored_calls(connection: sqlite3.Connection, run_id: int) -> list[tuple[int, str, str, str]]:
    return connection.execute(
        "SELECT work_id, category, call, sides FROM decisions WHERE run_id = ? ORDER BY work_id, category",
        [run_id],
    ).fetchall()


class _Calls:
    """The rows of a run, each checked as it comes."""

    def __init__(self, connection: sqlite3.Connection, run: DecisionRun, release_id: int) -> None:
        self.rows: list[tuple[int, str, str, str]] = []
        self.counts: dict[str, dict[str, int]] = {}
        self.thresholds: dict[str, dict[str, float]] = {}
        self._connection = connection
        self._run = run
        self._release_id = release_id
        self._ids: dict[str, dict[str, int]] = {}
        self._taken: Counter[tuple[str, str]] = Counter()
        self._seen: set[tuple[int, str]] = set()
        for head_id, name, category in connection.execute(
            "SELECT id, name, category FROM heads WHERE release_id = ? ORDER BY id", [release_id]
        ):
            self._ids.setdefault(category, {})[name] = head_id
        self._k = {(q.head, q.category): q.k for q in run.quotas}
        if len(self._k) < len(run.quotas):
            raise CatalogError(f"decision run {run.id}: a head has two quotas for one category")
        for head, category in self._k:
            if head not in self._ids.get(category, {}):
                raise CatalogError(
                    f"decision run {run.id}: release {run.release} has no head {head!r} for {category!r}"
                )

    def take(self, work: str, category: str, sides: Sequence[str]) -> None:
        what = f"call on {work!r} for {category!r}"
        heads = self._ids.get(category)
        if heads is None:
            raise CatalogError(f"{what}: release {self._run.release} has no such category")
        if not sides or len(set(sides)) < len(sides) or not set(sides) <= set(heads):
            raise CatalogError(f"{what}: its sides are {list(sides)}; expected some of {', '.join(heads)}")
        if any(self._k.get((head, category)) is None for head in heads):
            raise CatalogError(f"{what}: a head has no support for it, so the category makes no call")
        row = self._connection.execute("SELECT id FROM works WHERE slug = ?", [work]).fetchone()
        if row is None:
            raise CatalogError(f"{what}: the catalog has no such work")
        work_id = int(row[0])
        if (work_id, category) in self._seen:
            raise CatalogError(f"{what}: comes twice")
        self._seen.add((work_id, category))
        for head in sides:
            value = self._score(work_id, heads[head], what, head)
            least = self.thresholds.setdefault(head, {})
            least[category] = min(value, least.get(category, value))
            self._taken[head, category] += 1
        made = call([head in sides for head in heads], covered=True)
        assert made in (Call.CONSENSUS, Call.CANDIDATE)
        count = self.counts.setdefault(category, {Call.CONSENSUS.value: 0, Call.CANDIDATE.value: 0})
        count[made.value] += 1
        ordered = [head for head in heads if head in sides]
        self.rows.append((work_id, category, made.value, json.dumps(ordered, ensure_ascii=False)))

    def _score(self, work_id: int, head_id: int, what: str, head: str) -> float:
        row = self._connection.execute(
            "SELECT value FROM scores_shown WHERE work_id = ? AND head_id = ?", [work_id, head_id]
        ).fetchone()
        if row is None:
            raise CatalogError(f"{what}: {head} has no score of it, so it isn't covered")
        return float(row[0])

    def check_quotas(self) -> None:
        """Each head that may call has exactly its k."""
        for (head, category), k in self._k.items():
            if k is not None and self._taken[head, category] != k:
                raise CatalogError(
                    f"decision run {self._run.id}: {head} calls {self._taken[head, category]} works for "
                    f"{category}; its quota is {k}"
                )

    def check_frame(self) -> None:
        """The run counts the works that are here."""
        works = self._connection.execute("SELECT count(*) FROM works").fetchone()[0]
        have = (works, covered(self._connection, self._release_id))
        if (self._run.works, self._run.covered) != have:
            raise CatalogError(
                f"decision run {self._run.id}: counts {self._run.covered} of {self._run.works} works "
                f"as covered; the catalog has {have[1]} of {have[0]}"
            )
