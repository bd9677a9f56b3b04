"""Files of votes: into a round taken here chunk by chunk, or labels from elsewhere row by row."""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from catalog.ballots import (
    AnswerMeta,
    Chunk,
    VotesReport,
    ballot_columns,
    chunk_of,
    current_votes,
    insert_answer,
    record_answer,
)
from catalog.clock import now
from catalog.errors import CatalogError
from catalog.rows import as_json, text_sha256
from catalog.studies import HarnessRound
from ingest.votes import VoteRow, Votes
from schema.ballots import judge
from schema.work import Rejected

SHOWN = 20
"""Sentences that a report spells out; every row that wasn't taken is in quarantine with its own."""


class Quarantine:
    """Rows of one file that weren't taken, each kept once with its reason, however often the file comes."""

    def __init__(
        self, connection: sqlite3.Connection, round_id: int, filename: str, sha256: str, who: str
    ) -> None:
        self._connection = connection
        self._round_id = round_id
        self._name = Path(filename).name
        self._sha256 = sha256
        self._who = who
        self._seen: Counter[tuple[int | None, str]] = Counter()
        self.rows = 0
        self.problems: list[str] = []

    def take(self, rater_id: int | None, line: int | None, raw: str, reason: str) -> None:
        """Keep a row that can't be taken; without a line it is no row, but what a file lacks."""
        self.rows += line is not None
        where = f"{self._name} line {line}" if line is not None else self._name
        self.say(f"{where}: {reason}")
        again = self._seen[line, raw] + 1
        self._seen[line, raw] = again
        here = self._connection.execute(
            "SELECT count(*) FROM answers WHERE round_id = ? AND chunk_id IS NULL AND source_sha256 = ? "
            "AND raw_sha256 = ? AND line IS ?",
            [self._round_id, self._sha256, text_sha256(raw), line],
        ).fetchone()[0]
        if here >= again:
            return
        values = {
            "chunk_id": None, "round_id": self._round_id, "rater_id": rater_id, "attempt": again,
            "line": line, "source_sha256": self._sha256,
        }  # fmt: skip
        insert_answer(self._connection, values, "quarantined", (reason,), raw, self._who, now())

    def say(self, sentence: str) -> None:
        """Add a sentence to the report, if there is room."""
        if len(self.problems) < SHOWN:
            self.problems.append(sentence)


def rows_of(rejected: Iterable[Rejected]) -> int:
    """How many rows of a file were rejected: what has no line is none."""
    return sum(broken.line is not None for broken in rejected)


def import_ballots(
    connection: sqlite3.Connection,
    round_: HarnessRound,
    votes: Votes,
    rater: str | None,
    supersede: str | None,
    who: str,
) -> VotesReport:
    """Take votes into a round taken here, inside the caller's transaction: chunk by chunk, each rater's
    answer to it whole or in quarantine."""
    quarantine = Quarantine(connection, round_.id, votes.filename, votes.sha256, who)
    for broken in votes.rejected:
        quarantine.take(None, broken.line, broken.raw, broken.reason)
    place: dict[str, int] = dict(
        connection.execute(
            "SELECT w.slug, k.position FROM chunk_works m JOIN chunks k ON k.id = m.chunk_id "
            "JOIN works w ON w.id = m.work_id WHERE m.round_id = ?",
            [round_.id],
        ).fetchall()
    )
    if not place:
        raise CatalogError(
            f"round {round_.slug}: its manifest isn't written yet (`proofshelf screen manifest`), "
            "and votes come after it"
        )
    by_chunk: dict[tuple[str, int], list[VoteRow]] = {}
    for row in votes.rows:
        name = row.rater or rater
        reason = _unplaced(round_, row, name, rater, place)
        if reason is not None or name is None:
            quarantine.take(round_.raters.get(name or ""), row.line, _as_it_stands([row]), reason or "")
        else:
            by_chunk.setdefault((name, place[row.work]), []).append(row)
    chunks = dict.fromkeys(("accepted", "unchanged", "quarantined"), 0)
    taken = unchanged = refused = 0
    order = {name: number for number, name in enumerate(round_.raters)}
    for (name, position), rows in sorted(by_chunk.items(), key=lambda item: (order[item[0][0]], item[0][1])):
        chunk = chunk_of(connection, round_, position)
        answers = [_answer(round_, row) for row in rows]
        if _is_here(connection, round_, chunk, name, answers):
            chunks["unchanged"] += 1
            unchanged += len(rows)
            continue
        meta = AnswerMeta(raw=_as_it_stands(rows))
        outcome = record_answer(
            connection, round_, chunk, name, meta, answers, _unanswered(rows), who, supersede, votes.sha256
        )
        if outcome.state == "accepted":
            chunks["accepted"] += 1
            taken += outcome.votes
            unchanged += len(rows) - outcome.votes
            continue
        chunks["quarantined"] += 1
        refused += len(rows)
        for sentence in outcome.report:
            quarantine.say(f"chunk {position} of {name} (from line {rows[0].line}): {sentence}")
    return VotesReport(
        round_.slug, votes.sha256, len(votes.rows) + rows_of(votes.rejected), taken, unchanged,
        refused + quarantine.rows, chunks, tuple(quarantine.problems), votes.notes,
    )  # fmt: skip


def _unplaced(
    round_: HarnessRound, row: VoteRow, name: str | None, rater: str | None, place: Mapping[str, int]
) -> str | None:
    """Why a row belongs to no chunk of a rater, or None."""
    if name is None:
        return "the row names no rater, and none was given"
    if row.rater is not None and rater is not None and row.rater != rater:
        return f"the row is of {row.rater!r}, but the file was given as that of {rater!r}"
    if name not in round_.raters:
        return f"{name!r} is no rater of round {round_.slug}; its raters: {', '.join(round_.raters)}"
    if row.work not in place:
        return f"{row.work!r} is no work of round {round_.slug}'s manifest"
    return None


def _answer(round_: HarnessRound, row: VoteRow) -> dict[str, Any]:
    """A row as an answer to a chunk. A field of many values has semicolons between them."""
    many = {field.id: field.many for field in round_.rubric.fields}
    answer: dict[str, Any] = {
        "id": row.work,
        "decision": row.decision,
        "categories": list(row.categories),
    }
    for name, text in (("confidence", row.confidence), ("reason", row.reason)):
        if text is not None:
            answer[name] = text
    for name, text in row.fields:
        if name in _BESIDE and name not in many:
            continue
        split = many.get(name, False)
        answer[name] = [part.strip() for part in text.split(";") if part.strip()] if split else text
    return answer


_BESIDE = frozenset({
    "study", "round", "origin", "instrument", "vote", "title", "chunk", "position", "rater_kind",
    "rater_version", "status", "reason_wording", "cast_at", "superseded_by", "note", "stratum", "weight",
})  # fmt: skip
"""Columns of our own exports that stand beside a vote and are none of its answers."""


def _unanswered(rows: Sequence[VoteRow]) -> str | None:
    """A category whose own column is empty is neither chosen nor not."""
    for row in rows:
        if row.unanswered and row.decision == "in_scope":
            return f"{row.work!r}: {row.unanswered[0]} is empty; expected 1 or 0"
    return None


def _is_here(
    connection: sqlite3.Connection,
    round_: HarnessRound,
    chunk: Chunk,
    rater: str,
    answers: Sequence[Mapping[str, Any]],
) -> bool:
    """Whether these are the rater's current votes on the whole chunk."""
    judged = judge(round_.rubric, list(chunk.works), answers)
    if not judged.accepted:
        return False
    here = current_votes(connection, round_, round_.raters[rater], chunk.works.values())
    return all(
        chunk.works[ballot.work] in here and here[chunk.works[ballot.work]].columns == ballot_columns(ballot)
        for ballot in judged.ballots
    )


def _as_it_stands(rows: Iterable[VoteRow]) -> str:
    """What rows of a file say, line by line."""
    return "\n".join(as_json({k: v for k, v in asdict(row).items() if v not in (None, ())}) for row in rows)
