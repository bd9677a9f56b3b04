"""What a rater answers, chunk by chunk, and the one place that judges whether an answer can be taken.

A chunk's answer is taken whole or not at all: its ids must *equal* the chunk's, and every value must be
in the rubric's vocabulary. Nothing is coerced: what isn't right is said, and the chunk is asked again.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import Field

from schema.base import NonEmpty, Record, Sha256, Slug, canonical_json
from schema.rubric import Rubric
from schema.screening import Confidence, Decision

DECISIONS: dict[str, Decision] = {decision: decision for decision in get_args(Decision)}
SHOWN = 5
"""Problems of one kind that a report spells out; the rest is counted."""


class ChunkManifest(Record):
    """The works of one chunk in the order of presentation, written before any rater runs."""

    round: Slug
    position: int = Field(ge=1)
    works: tuple[NonEmpty, ...] = Field(min_length=1)
    sha256: Sha256


def chunk_sha256(round_: str, position: int, works: Sequence[str]) -> str:
    """The hash of a chunk: SHA-256 of the canonical JSON of its round, position and ids in order."""
    return hashlib.sha256(
        canonical_json({"round": round_, "position": position, "works": list(works)})
    ).hexdigest()


class Ballot(Record):
    """One rater's answer on one work, in the rubric's vocabulary."""

    work: NonEmpty
    decision: Decision
    categories: tuple[Slug, ...] = ()
    fields: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    confidence: Confidence | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Judgement:
    """The ballots in the chunk's order, or the problems for which none of them is taken."""

    ballots: tuple[Ballot, ...]
    problems: tuple[str, ...]

    @property
    def accepted(self) -> bool:
        """True where every answer can be taken."""
        return not self.problems


def judge(rubric: Rubric, works: Sequence[str], answers: Sequence[object]) -> Judgement:
    """Judge the answers to one chunk. `works` are its ids; each answer is an object as in `answer_schema`."""
    problems: list[str] = []
    ballots: dict[str, Ballot] = {}
    names: list[str] = []
    for number, answer in enumerate(answers, start=1):
        if not isinstance(answer, Mapping) or not isinstance(answer.get("id"), str):
            problems.append(f"answer {number} is no object with an `id`")
            continue
        names.append(answer["id"])
        ballot = judge_one(rubric, answer)
        if isinstance(ballot, Ballot):
            ballots[ballot.work] = ballot
        else:
            problems += ballot
    problems = [*_ids(works, names), *_shortened(problems)]
    if problems:
        return Judgement((), tuple(problems))
    return Judgement(tuple(ballots[work] for work in works), ())


def judge_one(rubric: Rubric, answer: Mapping[str, Any]) -> Ballot | list[str]:
    """One answer as a ballot, or all that is wrong with it, each naming the id."""
    who = f"{answer.get('id')!r}"
    wrong: list[str] = []
    known = {"id", "decision", "categories", "confidence", "reason", *(f.id for f in rubric.fields)}
    wrong += [f"{who}: {key!r} isn't asked for" for key in answer if key not in known]
    given = answer.get("decision")
    if not isinstance(given, str) or given not in DECISIONS:
        wrong.append(f"{who}: decision is {given!r}; expected one of {', '.join(DECISIONS)}")
        return wrong
    decision = DECISIONS[given]
    categories = _texts(answer.get("categories", []))
    if categories is None:
        return [*wrong, f"{who}: `categories` is {answer.get('categories')!r}; expected a list of names"]
    wrong += _categories(rubric, who, decision, categories)
    fields: dict[str, tuple[str, ...]] = {}
    chosen = set(categories) | ({rubric.cannot} if decision == "insufficient_payload" else set())
    for field in rubric.fields:
        given = answer.get(field.id)
        values = () if given is None else _texts([given] if isinstance(given, str) else given)
        if values is None:
            wrong.append(
                f"{who}: {field.id} is {given!r}; expected {'a list' if field.many else 'one'} of its values"
            )
            continue
        wrong += [f"{who}: {field.id} is {v!r}; expected one of {', '.join(field.values)}"
                  for v in values if v not in field.values]  # fmt: skip
        if len(set(values)) < len(values) or (len(values) > 1 and not field.many):
            wrong.append(f"{who}: {field.id} has {len(values)} values; expected each once"
                         f"{'' if field.many else ', and only one'}")  # fmt: skip
        needed = field.required == "always" or (field.required == "exactly_when" and field.when in chosen)
        if needed and not values:
            wrong.append(f"{who}: {field.id} is missing" + ("" if field.when is None else
                         f"; it is required exactly when {field.when} is chosen"))  # fmt: skip
        if field.required == "exactly_when" and values and field.when not in chosen:
            wrong.append(f"{who}: {field.id} is given, but {field.when} isn't chosen")
        if values:
            fields[field.id] = values
    confidence, reason = answer.get("confidence"), answer.get("reason")
    if confidence is not None and confidence not in get_args(Confidence):
        wrong.append(f"{who}: confidence is {confidence!r}; expected high, medium or low")
    if confidence is None and rubric.asks_confidence:
        wrong.append(f"{who}: confidence is missing; expected high, medium or low")
    if reason is not None and not isinstance(reason, str):
        wrong.append(f"{who}: reason is {reason!r}; expected text")
    elif reason is not None and len(reason) > rubric.reason_max:
        wrong.append(f"{who}: reason has {len(reason)} characters; at most {rubric.reason_max} are allowed")
    elif rubric.reason == "required" and not (reason or "").strip():
        wrong.append(f"{who}: reason is missing")
    if wrong:
        return wrong
    return Ballot(
        work=answer["id"], decision=decision, categories=categories, fields=fields,
        confidence=confidence, reason=reason or None,
    )  # fmt: skip


def answer_schema(rubric: Rubric, works: Sequence[str]) -> dict[str, Any]:
    """The JSON Schema of an answer to one chunk, strict enough for structured output of any provider."""
    categories = [c.id for c in rubric.categories]
    properties: dict[str, Any] = {
        "id": {"type": "string", "enum": list(works)},
        "decision": {"type": "string", "enum": list(DECISIONS)},
        "categories": {"type": "array", "items": {"type": "string", "enum": categories}},
    }
    for field in rubric.fields:
        values: dict[str, Any] = {"type": "array", "items": {"type": "string", "enum": list(field.values)}}
        if not field.many and field.required != "always":
            values["maxItems"] = 1
        if field.required == "always" and not field.many:
            values = {"type": "string", "enum": list(field.values)}
        properties[field.id] = values
    if rubric.asks_confidence:
        properties["confidence"] = {"type": "string", "enum": list(get_args(Confidence))}
    properties["reason"] = {"type": "string", "maxLength": rubric.reason_max}
    answer = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {
            "answers": {"type": "array", "items": answer, "minItems": len(works), "maxItems": len(works)}
        },
        "required": ["answers"],
        "additionalProperties": False,
    }


def _ids(works: Sequence[str], names: Sequence[str]) -> list[str]:
    """What keeps the ids from being the chunk's: missing, foreign and doubled ones."""
    missing = [w for w in works if w not in set(names)]
    foreign = [n for n in dict.fromkeys(names) if n not in set(works)]
    doubled = [n for n, times in Counter(names).items() if times > 1]
    said = []
    for what, found in (
        ("no answer for", missing),
        ("an answer for an id that isn't in the chunk:", foreign),
        ("more than one answer for", doubled),
    ):
        if found:
            more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
            said.append(f"{what} {', '.join(map(repr, found[:SHOWN]))}{more}")
    return said


def _shortened(problems: list[str]) -> list[str]:
    if len(problems) <= SHOWN:
        return problems
    return [*problems[:SHOWN], f"and {len(problems) - SHOWN} more problems"]


def _categories(rubric: Rubric, who: str, decision: Decision, categories: tuple[str, ...]) -> list[str]:
    by_id = {c.id: c for c in rubric.categories}
    wrong = [f"{who}: {c!r} is no category of the rubric" for c in categories if c not in by_id]
    if wrong:
        return wrong
    if len(set(categories)) < len(categories):
        wrong.append(f"{who}: a category is named twice")
    alone = [c for c in categories if by_id[c].stands_alone or by_id[c].cannot_be_screened]
    if alone and len(categories) > 1:
        wrong.append(f"{who}: {alone[0]} stands alone, but {len(categories)} categories are named")
    topics = [c for c in categories if not by_id[c].cannot_be_screened]
    if decision == "in_scope" and not topics:
        wrong.append(f"{who}: in_scope, but no category is named")
    if decision in ("out_of_scope", "unsure") and categories:
        wrong.append(f"{who}: {decision}, but {categories[0]} is named")
    if decision == "insufficient_payload" and topics:
        wrong.append(f"{who}: insufficient_payload stands alone, but {topics[0]} is named")
    if decision == "insufficient_payload" and rubric.cannot is None:
        wrong.append(f"{who}: insufficient_payload, but the rubric has no category for it")
    if decision == "in_scope" and any(by_id[c].cannot_be_screened for c in categories):
        wrong.append(f"{who}: in_scope, but {rubric.cannot} is named")
    return wrong


def _texts(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list | tuple) or not all(isinstance(v, str) for v in value):
        return None
    return tuple(value)
