"""Calls of a decision run, as rows: each checked against scores, quotas and the frame."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence

from catalog.clock import now
from catalog.errors import CatalogError
from catalog.frames import frame_size, newest_study
from catalog.rows import as_json, insert
from catalog.scorings import covered, next_scoring
from schema.scores import DecisionRun
from schema.states import Call, Status, call


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
    if run.status != Status.MACHINE_PREDICTED:
        raise CatalogError(
            f"decision run {run.id}: its status is {run.status!r}; calls made here have the status "
            f"{Status.MACHINE_PREDICTED.value!r}"
        )
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
        (study,) = self._connection.execute(
            "SELECT study FROM model_releases WHERE id = ?", [self._release_id]
        ).fetchone()
        works = frame_size(self._connection, newest_study(self._connection, study))
        have = (works, covered(self._connection, self._release_id))
        if (self._run.works, self._run.covered) != have:
            raise CatalogError(
                f"decision run {self._run.id}: counts {self._run.covered} of {self._run.works} works "
                f"as covered; the catalog has {have[1]} of {have[0]}"
            )
