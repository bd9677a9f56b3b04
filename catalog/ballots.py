"""Answers as rows: a chunk's votes whole, or its answer in quarantine; single ballots and skips."""

import hashlib
import json
import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from catalog.clock import now
from catalog.errors import CatalogError
from catalog.rows import as_json, insert, text_sha256
from catalog.studies import HarnessRound, rater_of
from schema.ballots import Ballot, judge, judge_one
from schema.base import canonical_json
from schema.screening import Instrument, RaterKind

AnswerState = Literal["accepted", "quarantined", "failed"]
_TIMESTAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?Z")


@dataclass(frozen=True)
class AnswerMeta:
    """What came with an answer. `raw` is the response as it came, None where none came.

    Hashes are SHA-256: of the prompt (without the works) and of the input (the works as shown). `cost`
    is a decimal as text; times are UTC as in `schema.base.Timestamp`.
    """

    raw: str | None
    prompt_sha256: str | None = None
    input_sha256: str | None = None
    rater_version: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: str | None = None
    started_at: str | None = None
    finished_at: str | None = None


@dataclass(frozen=True)
class AnswerOutcome:
    """What became of an answer, with one sentence for each thing that was wrong."""

    state: AnswerState
    report: tuple[str, ...]
    votes: int
    attempt: int


@dataclass(frozen=True)
class Published:
    """Where labels from elsewhere come from, and whose they are. They go into round `round` of `study`
    (the study's own name, if none is given).

    `kind` and `name` of the rater are what the source says; `panel` is how many raters rate each work
    of that round, where more than one file or column fills it. `column` holds the labels, where the
    file has several.
    """

    study: str
    title: str
    source: str
    rater: str
    name: str
    kind: RaterKind
    round: str | None = None
    version: str | None = None
    instrument: Instrument = "unknown"
    panel: int = 1
    licence: str | None = None
    note: str | None = None
    column: str | None = None


@dataclass(frozen=True)
class VotesReport:
    """What became of a file of votes: read = taken + unchanged + refused, in rows.

    `chunks` counts chunks of a round taken here: accepted, unchanged and quarantined. `problems` has the
    first sentences, each naming its line or chunk; all are kept with the answers in quarantine.
    """

    round: str
    sha256: str
    read: int
    taken: int
    unchanged: int
    refused: int
    chunks: dict[str, int]
    problems: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Chunk:
    """One chunk of a round: its works in order of presentation, with their rows."""

    id: int
    position: int
    works: dict[str, int]


@dataclass(frozen=True)
class Current:
    """A rater's current vote on a work: its row, its name, and the columns that say what it is."""

    id: int
    slug: str
    columns: dict[str, Any]


def chunk_of(connection: sqlite3.Connection, round_: HarnessRound, position: int) -> Chunk:
    """A chunk by its position. Raises CatalogError where the round has none."""
    row = connection.execute(
        "SELECT id FROM chunks WHERE round_id = ? AND position = ?", [round_.id, position]
    ).fetchone()
    if row is None:
        last = connection.execute(
            "SELECT max(position) FROM chunks WHERE round_id = ?", [round_.id]
        ).fetchone()
        hint = (
            f"it has {last[0]}"
            if last[0]
            else "its manifest isn't written yet (`proofshelf screen manifest`)"
        )
        raise CatalogError(f"round {round_.slug} has no chunk {position}; {hint}")
    works = connection.execute(
        "SELECT w.slug, w.id FROM chunk_works c JOIN works w ON w.id = c.work_id "
        "WHERE c.chunk_id = ? ORDER BY c.position",
        [row[0]],
    ).fetchall()
    return Chunk(row[0], position, dict(works))


def record_answer(
    connection: sqlite3.Connection,
    round_: HarnessRound,
    chunk: Chunk,
    rater: str,
    meta: AnswerMeta,
    answers: Sequence[object] | None,
    problem: str | None,
    who: str,
    correction: str | None = None,
    source_sha256: str | None = None,
) -> AnswerOutcome:
    """Write what a rater said to one chunk, inside the caller's transaction: all its votes, or why not.

    With `correction`, the reason of one, votes that differ supersede the rater's current ones; without,
    an answer to a chunk on which the rater has voted is put into quarantine.
    """
    rater_id = rater_of(round_, rater)
    _timestamp(meta.started_at)
    finished_at = _timestamp(meta.finished_at)
    raw = _raw(meta, answers)
    report: tuple[str, ...] = ()
    ballots: tuple[Ballot, ...] = ()
    if problem is not None or answers is None:
        report = (problem or "no answers could be read out of the response",)
    else:
        judged = judge(round_.rubric, list(chunk.works), answers)
        ballots, report = judged.ballots, judged.problems or _unstorable(judged.ballots)
    before = current_votes(connection, round_, rater_id, chunk.works.values())
    if not report and before and correction is None:
        report = (
            f"{rater} has voted on {len(before)} of its {len(chunk.works)} works already; "
            "a correction says why",
        )
    state: AnswerState = "failed" if raw is None else "quarantined" if report else "accepted"
    at = now()
    attempt = connection.execute(
        "SELECT count(*) + 1 FROM answers WHERE chunk_id = ? AND rater_id = ?", [chunk.id, rater_id]
    ).fetchone()[0]
    values: dict[str, Any] = {
        "chunk_id": chunk.id, "round_id": round_.id, "rater_id": rater_id, "attempt": attempt,
        "correction": correction if before else None, "source_sha256": source_sha256,
    }  # fmt: skip
    values |= {
        "prompt_sha256": meta.prompt_sha256, "input_sha256": meta.input_sha256,
        "rater_version": meta.rater_version or round_.rater(rater).version,
        "input_tokens": meta.input_tokens, "output_tokens": meta.output_tokens, "cost": meta.cost,
        "started_at": meta.started_at, "finished_at": finished_at,
    }  # fmt: skip
    answer_id = insert_answer(connection, values, state, report, raw, who, at)
    if state != "accepted":
        return AnswerOutcome(state, report, 0, attempt)
    votes = 0
    for ballot in ballots:
        work_id = chunk.works[ballot.work]
        votes += insert_vote(
            connection, round_, rater, rater_id, ballot, work_id, before.get(work_id),
            source_sha256=source_sha256 or text_sha256(raw or ""), answer_id=answer_id, who=who, at=at,
            cast_at=None if source_sha256 else finished_at or at, note=correction,
        ) is not None  # fmt: skip
    return AnswerOutcome(state, (), votes, attempt)


def insert_answer(
    connection: sqlite3.Connection,
    values: Mapping[str, Any],
    state: AnswerState,
    report: Sequence[str],
    raw: str | None,
    who: str,
    at: str,
) -> int:
    """Write the row of an answer; returns its number."""
    return insert(connection, "answers", {
        **values, "state": state, "report": as_json([_text(line) for line in report]), "raw": raw,
        "raw_sha256": None if raw is None else text_sha256(raw), "recorded_at": at, "recorded_by": who,
    })  # fmt: skip


def cast_vote(
    connection: sqlite3.Connection, round_: HarnessRound, rater: str, ballot: Ballot, who: str
) -> tuple[str, bool]:
    """Write a person's ballot on one work, inside the caller's transaction; its name, and whether it is new.

    Raises CatalogError for a work that isn't in the manifest, or a ballot outside the rubric.
    """
    rater_id = _person(round_, rater)
    work_id = work_of(connection, round_, ballot.work)
    answer = {"id": ballot.work, **ballot.model_dump(exclude={"work", "fields"}), **ballot.fields}
    judged = judge_one(round_.rubric, answer)
    problems = _unstorable([judged]) if isinstance(judged, Ballot) else judged
    if problems or not isinstance(judged, Ballot):
        raise CatalogError("; ".join(problems))
    before = current_votes(connection, round_, rater_id, [work_id]).get(work_id)
    at = now()
    cast = insert_vote(
        connection, round_, rater, rater_id, judged, work_id, before,
        source_sha256=text_sha256(canonical_json(judged.model_dump(mode="json")).decode("utf-8")),
        answer_id=None, who=who, at=at, cast_at=at, note=None,
    )  # fmt: skip
    if cast is not None:
        return cast, True
    assert before is not None
    return before.slug, False


def skip(connection: sqlite3.Connection, round_: HarnessRound, rater: str, work: str, who: str) -> None:
    """Write that a person put a work off, inside the caller's transaction."""
    rater_id = _person(round_, rater)
    work_id = work_of(connection, round_, work)
    if current_votes(connection, round_, rater_id, [work_id]):
        raise CatalogError(f"{rater} has voted on {work} already, so it isn't in the queue")
    insert(connection, "skips", {
        "round_id": round_.id, "work_id": work_id, "rater_id": rater_id, "recorded_at": now(),
        "recorded_by": who,
    })  # fmt: skip


def work_of(connection: sqlite3.Connection, round_: HarnessRound, work: str) -> int:
    """The row of a work of a round's manifest. Raises CatalogError where it isn't in it."""
    row = connection.execute(
        "SELECT w.id FROM works w JOIN chunk_works c ON c.work_id = w.id AND c.round_id = ? WHERE w.slug = ?",
        [round_.id, work],
    ).fetchone()
    if row is None:
        raise CatalogError(f"{work!r} is no work of round {round_.slug}'s manifest")
    return int(row[0])


def current_votes(
    connection: sqlite3.Connection, round_: HarnessRound, rater_id: int, works: Iterable[int]
) -> dict[int, Current]:
    """A rater's current votes on these works, by the work's row."""
    found: dict[int, Current] = {}
    for work_id in works:
        row = connection.execute(
            "SELECT v.id, v.slug, v.decision, v.categories, v.fields, v.confidence, v.reason FROM votes v "
            "WHERE v.round_id = ? AND v.rater_id = ? AND v.work_id = ? "
            "AND NOT EXISTS (SELECT 1 FROM votes n WHERE n.supersedes = v.id)",
            [round_.id, rater_id, work_id],
        ).fetchone()
        if row is not None:
            columns = ("decision", "categories", "fields", "confidence", "reason")
            found[work_id] = Current(row[0], row[1], dict(zip(columns, row[2:], strict=True)))
    return found


def ballot_columns(ballot: Ballot) -> dict[str, Any]:
    """What a vote stores of a ballot. That a work can't be judged is its decision, and no category."""
    unusable = ballot.decision == "insufficient_payload"
    return {
        "decision": ballot.decision,
        "categories": as_json([] if unusable else list(ballot.categories)),
        "fields": as_json({name: list(values) for name, values in ballot.fields.items()}),
        "confidence": ballot.confidence,
        "reason": ballot.reason,
    }


def vote_name(round_: str, work: str, rater: str, number: int) -> str:
    """The name of a rater's n-th vote on a work: the same wherever the same votes are recorded."""
    digest = hashlib.sha256(canonical_json([round_, work, rater, number])).hexdigest()
    return f"v{digest[:24]}"


def insert_vote(
    connection: sqlite3.Connection,
    round_: HarnessRound,
    rater: str,
    rater_id: int,
    ballot: Ballot,
    work_id: int,
    before: Current | None,
    *,
    source_sha256: str,
    answer_id: int | None,
    who: str,
    at: str,
    cast_at: str | None,
    note: str | None,
) -> str | None:
    """Write one vote and return its name; None where the rater's current vote says the same."""
    columns = ballot_columns(ballot)
    if before is not None and before.columns == columns:
        return None
    number = connection.execute(
        "SELECT count(*) + 1 FROM votes WHERE round_id = ? AND work_id = ? AND rater_id = ?",
        [round_.id, work_id, rater_id],
    ).fetchone()[0]
    slug = vote_name(round_.slug, ballot.work, rater, number)
    insert(connection, "votes", {
        "slug": slug, "round_id": round_.id, "work_id": work_id, "rater_id": rater_id, **columns,
        "reason_wording": None if ballot.reason is None else "verbatim", "cast_at": cast_at,
        "supersedes": None if before is None else before.id, "note": note if before else None,
        "source_sha256": source_sha256, "answer_id": answer_id, "recorded_at": at, "recorded_by": who,
    })  # fmt: skip
    return slug


def _person(round_: HarnessRound, rater: str) -> int:
    rater_id = rater_of(round_, rater)
    if round_.rater(rater).kind != "human":
        raise CatalogError(f"{rater} is a model: it is asked chunk by chunk, and no person votes for it")
    return rater_id


def _raw(meta: AnswerMeta, answers: Sequence[object] | None) -> str | None:
    if meta.raw is not None:
        return _text(meta.raw)
    return None if answers is None else _text(json.dumps(answers, ensure_ascii=False, default=repr))


def _timestamp(given: str | None) -> str | None:
    if given is not None and not _TIMESTAMP.fullmatch(given):
        raise CatalogError(f"{given!r} is no time as it is stored; expected UTC such as 2026-01-31T12:00:00Z")
    return given


def _unstorable(ballots: Sequence[Ballot]) -> tuple[str, ...]:
    """Ballots with text that no file can hold: half a character (a lone surrogate)."""
    return tuple(
        f"{ballot.work!r}: reason holds half a character (a lone surrogate)"
        for ballot in ballots
        if ballot.reason is not None and _text(ballot.reason) != ballot.reason
    )


def _text(given: str) -> str:
    """Text as it can be stored: half a character stands as its escape."""
    return given.encode("utf-8", "backslashreplace").decode("utf-8")
