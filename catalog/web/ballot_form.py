"""The form by which a person votes: what came back from it, and the ballot that it makes.

`schema.ballots` judges a ballot, here as everywhere; what was filled in comes back on the page as it
was, whatever became of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from schema.ballots import Ballot, judge_one
from schema.rubric import Rubric, RubricField

LARGEST = 64_000
"""Bytes of a form that are read: a reason has 400 characters, whatever is longer isn't ours."""
FIELD = "field."


@dataclass(frozen=True)
class Filled:
    """What stands in the form: of every question what was chosen, the empty text where nothing was."""

    decision: str = ""
    categories: tuple[str, ...] = ()
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    confidence: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Posted:
    """A form that came back. `work` is the key (or slug) that it speaks of; `before` names the vote that
    its page knew as the current one, empty where there was none; `action` is the button."""

    action: str
    work: str
    before: str
    token: str
    filled: Filled


def read_form(body: bytes) -> Posted:
    """The form in a request's body. Whatever isn't UTF-8 is replaced, and judged as it then is."""
    pairs = parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True)
    first: dict[str, str] = {}
    for name, value in pairs:
        first.setdefault(name, value)
    fields: dict[str, tuple[str, ...]] = {}
    for name, value in pairs:
        if name.startswith(FIELD) and value:
            fields[name.removeprefix(FIELD)] = (*fields.get(name.removeprefix(FIELD), ()), value)
    return Posted(
        action=first.get("action", ""),
        work=first.get("work", ""),
        before=first.get("before", ""),
        token=first.get("csrftoken", ""),
        filled=Filled(
            decision=first.get("decision", ""),
            categories=tuple(value for name, value in pairs if name == "category" and value),
            fields=fields,
            confidence=first.get("confidence", ""),
            # A browser sends a line's end as two characters, which would count against the reason.
            reason=first.get("reason", "").replace("\r\n", "\n").strip(),
        ),
    )


def filled_from(ballot: Ballot) -> Filled:
    """The form as it stood when a ballot was sent."""
    return Filled(
        ballot.decision, ballot.categories, ballot.fields, ballot.confidence or "", ballot.reason or ""
    )


def ballot_of(filled: Filled, rubric: Rubric, work: str) -> Ballot | tuple[str, ...]:
    """The ballot on a work, or what is wrong with it, a sentence each.

    A rubric with a single topic asks only for the decision: in scope names that topic.
    """
    if not filled.decision:
        return ("choose a decision",)
    categories = filled.categories
    if filled.decision == "in_scope" and len(rubric.topics) == 1 and not categories:
        categories = rubric.topics
    answer: dict[str, Any] = {
        "id": work,
        "decision": filled.decision,
        "categories": list(categories),
        **{name: list(values) for name, values in filled.fields.items()},
    }
    if filled.confidence:
        answer["confidence"] = filled.confidence
    if filled.reason:
        answer["reason"] = filled.reason
    judged = judge_one(rubric, answer)
    if isinstance(judged, Ballot):
        return judged
    return tuple(problem.removeprefix(f"{work!r}: ") for problem in judged)


def when_asked(asked: RubricField, rubric: Rubric) -> str:
    """When a field wants an answer, in words."""
    if asked.required == "exactly_when":
        label = next((c.label for c in rubric.categories if c.id == asked.when), asked.when)
        return f"required with “{label}”, and only then"
    return "required" if asked.required == "always" else "optional"
