"""A vote asked for on a terminal: single keys where a person sits at one, lines where input is piped."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import click

from schema.ballots import Ballot, judge_one
from schema.rubric import Rubric, RubricField

Say = Callable[..., None]

CONFIDENCES = {"h": "high", "m": "medium", "l": "low"}


class Ended(Exception):
    """The input came to its end, or the person pressed Ctrl-D."""


class Back(Exception):
    """The person wants to begin this work again."""


@dataclass
class Input:
    """Where answers come from, and where questions go. `ahead` was typed before it was asked for."""

    say: Say
    ahead: str = ""

    @property
    def single_keys(self) -> bool:
        """Whether a key counts without Enter."""
        return sys.stdin.isatty()

    def key(self, question: str, keys: Mapping[str, str]) -> str:
        """One of the keys, asked again until it is one. Raises Ended."""
        offered = ", ".join(f"{key} {meaning}" for key, meaning in keys.items())
        while True:
            self.say(f"{question} [{offered}]")
            given = self._one_key() if self.single_keys else self.line("").strip().lower()
            if given in keys:
                if self.single_keys:
                    self.say(keys[given])  # a key leaves nothing on the screen by itself
                return given
            self.say(f"{given!r} isn't one of {', '.join(keys)}")

    def line(self, question: str) -> str:
        """A line of text, without its end. Raises Ended."""
        if question:
            self.say(question)
        before, end, rest = self.ahead.replace("\r", "\n").partition("\n")
        self.ahead = rest
        if end:
            return before
        line = sys.stdin.readline()
        if not line:
            raise Ended
        return before + line.rstrip("\n")

    def numbers(self, question: str, choices: Sequence[str], least: int, most: int) -> tuple[str, ...]:
        """Some of the choices, named by their numbers; `b` raises Back, the end of input Ended."""
        for number, choice in enumerate(choices, start=1):
            self.say(f"{number} {choice}", indent=2)
        while True:
            given = self.line(f"{question} (numbers, b to begin again)").replace(",", " ").split()
            if given == ["b"]:
                raise Back
            wrong = [text for text in given if not text.isascii() or not text.isdigit()]
            picked = sorted({int(text) for text in given if text not in wrong})
            if wrong or any(not 1 <= n <= len(choices) for n in picked):
                self.say(f"expected numbers from 1 to {len(choices)}")
            elif not least <= len(picked) <= most:
                self.say(f"expected {'one number' if least == most == 1 else f'{least} to {most} numbers'}")
            else:
                return tuple(choices[n - 1] for n in picked)

    def _one_key(self) -> str:
        if not self.ahead:
            try:
                came = click.getchar()
            except EOFError:
                raise Ended from None
            if came.startswith("\x1b"):
                return came  # an arrow, say: several characters, one key
            self.ahead = came  # all that was typed, or pasted, since
        given, self.ahead = self.ahead[0], self.ahead[1:]
        return given.lower()


def ask_ballot(given: Input, rubric: Rubric, work: str, decision: str) -> Ballot:
    """Everything that the rubric asks beside the decision. Raises Back or Ended."""
    labels = {f"{c.label} ({c.id})": c.id for c in rubric.categories if not c.cannot_be_screened}
    answer: dict[str, object] = {"id": work, "decision": decision, "categories": []}
    while True:
        categories: list[str] = []
        if decision == "in_scope" and len(labels) == 1:
            categories = list(labels.values())
        elif decision == "in_scope":
            picked = given.numbers("Categories", list(labels), 1, len(labels))
            categories = [labels[label] for label in picked]
        answer["categories"] = categories
        chosen = {*categories, *([rubric.cannot] if decision == "insufficient_payload" else [])}
        for field in rubric.fields:
            if field.required != "exactly_when" or field.when in chosen:
                answer[field.id] = list(_field(given, field))
        if rubric.asks_confidence:
            answer["confidence"] = CONFIDENCES[given.key("Confidence", CONFIDENCES)]
        answer["reason"] = _reason(given, rubric)
        judged = judge_one(rubric, answer)
        if isinstance(judged, Ballot):
            return judged
        for problem in judged:
            given.say(problem)


def _field(given: Input, field: RubricField) -> tuple[str, ...]:
    least = 0 if field.required == "optional" else 1
    return given.numbers(field.label, field.values, least, len(field.values) if field.many else 1)


def _reason(given: Input, rubric: Rubric) -> str | None:
    needed = rubric.reason == "required"
    while True:
        text = given.line(f"Reason ({'required' if needed else 'Enter for none'})").strip()
        if len(text) > rubric.reason_max:
            given.say(f"{len(text)} characters; at most {rubric.reason_max} are allowed")
        elif needed and not text:
            given.say("a reason is required")
        else:
            return text or None
