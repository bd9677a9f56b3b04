"""What adjudicators make of votes, as rows: beside the votes, which stay as they are."""

import hashlib
import sqlite3
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from catalog.ballots import work_of
from catalog.clock import now
from catalog.errors import CatalogError
from catalog.rows import as_json, insert
from catalog.screening_queries.states import Differing, votes_on
from catalog.studies import HarnessRound, rater_of
from schema.ballots import judge_one
from schema.base import canonical_json
from schema.screening import Adjudication


def adjudicate(
    connection: sqlite3.Connection,
    round_: HarnessRound,
    rater: str,
    work: str,
    decision: str,
    categories: Sequence[str],
    reason: str | None,
    who: str,
) -> tuple[str, bool]:
    """Write an adjudication, inside the caller's transaction; its name, and whether it is new.

    The current one on the same work is superseded, whoever made it. Raises CatalogError for a rater who
    doesn't adjudicate in the round, a work without votes, or a decision outside the rubric.
    """
    rater_id = rater_of(round_, rater, "adjudicator")
    work_id = work_of(connection, round_, work)
    votes = votes_on(connection, round_.id, work_id)
    if not votes:
        raise CatalogError(
            f"nobody has voted on {work!r} in round {round_.slug}: there is nothing to adjudicate"
        )
    before = connection.execute(
        "SELECT a.id, a.slug, a.rater_id, a.decision, a.categories, a.reason FROM adjudications a "
        "WHERE a.round_id = ? AND a.work_id = ? "
        "AND NOT EXISTS (SELECT 1 FROM adjudications n WHERE n.supersedes = a.id)",
        [round_.id, work_id],
    ).fetchone()
    differ = Differing([c.id for c in round_.rubric.categories], round_.rubric.cannot)
    people = sum(one.kind == "human" for one, _ in votes)  # what machines said, a person may overrule
    if before is None and people > 1 and not differ(votes):
        raise CatalogError(
            f"the votes on {work!r} in round {round_.slug} agree: an adjudication resolves votes that "
            "differ; a rater who erred corrects the vote"
        )
    count = connection.execute(
        "SELECT count(*) FROM adjudications WHERE round_id = ? AND work_id = ?", [round_.id, work_id]
    ).fetchone()[0]
    at = now()
    record = _record({
        "id": adjudication_name(round_.slug, work, count + 1), "round": round_.slug, "work": work,
        "rater": rater, "decision": decision, "categories": tuple(categories), "reason": reason or None,
        "decided_at": at, "supersedes": None if before is None else before[1],
    })  # fmt: skip
    if decision == "in_scope":
        # The vocabulary is the ballots'; confidence, reason and fields are for raters.
        bare = round_.rubric.model_copy(update={"fields": (), "asks_confidence": False, "reason": "optional"})
        judged = judge_one(bare, {"id": work, "decision": decision, "categories": list(categories)})
        if isinstance(judged, list):
            raise CatalogError("; ".join(judged))
    stored = as_json(list(record.categories))
    if before is not None and before[2:] == (rater_id, record.decision, stored, record.reason):
        return before[1], False
    insert(connection, "adjudications", {
        "slug": record.id, "round_id": round_.id, "work_id": work_id, "rater_id": rater_id,
        "decision": record.decision, "categories": stored, "reason": record.reason, "decided_at": at,
        "supersedes": None if before is None else before[0], "recorded_at": at, "recorded_by": who,
    })  # fmt: skip
    return record.id, True


def adjudication_name(round_: str, work: str, number: int) -> str:
    """The name of the n-th adjudication of a work in a round."""
    return f"a{hashlib.sha256(canonical_json([round_, work, number])).hexdigest()[:24]}"


def _record(values: dict[str, Any]) -> Adjudication:
    try:
        return Adjudication(**values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = first["loc"][0] if first["loc"] else "adjudication"
        raise CatalogError(f"adjudication of {values['work']!r}: {where}: {first['msg']}") from error
