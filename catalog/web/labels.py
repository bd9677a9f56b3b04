"""Votes, states, calls and scores in words, each with the mark of who made it.

`schema.states` decides; this only writes it down. A mark is human, model or score, and the three never
look alike: a reader takes them apart by the word, a screen reader too, and colour and shape repeat it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

# For the templates.
from catalog.model_figures import calibration_words as calibration_words
from catalog.model_figures import call_meaning as call_meaning
from catalog.model_figures import maturity_words as maturity_words
from schema.states import Call, ScreeningState, Status

HUMAN, MODEL, SCORE = "human", "model", "score"


@dataclass(frozen=True)
class Label:
    """A status for a reader: its mark, its words, and the status itself, verbatim."""

    mark: str
    words: str
    verbatim: str


_STATUS = {
    Status.HUMAN_DIRECT: (HUMAN, "said by a person"),
    Status.MACHINE_DIRECT: (MODEL, "said by a model, not validated"),
    Status.MACHINE_PREDICTED: (MODEL, "predicted by a model, not validated"),
    Status.OUT_OF_FOLD: (SCORE, "score out of fold: fidelity to its teacher"),
    Status.SCORE_ONLY_IMMATURE: (SCORE, "score only: ranks, never asserts"),
    Status.SCORE_ONLY_MATURE: (SCORE, "score only: ranks, never asserts"),
}

STATE_WORDS = {
    ScreeningState.UNKNOWN: "unknown",
    ScreeningState.UNSUPPORTED: "unsupported",
    ScreeningState.AGREED_POSITIVE: "agreed positive",
    ScreeningState.AGREED_NEGATIVE: "agreed negative",
    ScreeningState.CONTESTED: "contested",
    ScreeningState.SINGLE_SOURCE: "single source",
}
STATE_MEANINGS = {
    ScreeningState.UNKNOWN: "no usable vote, which is no negative",
    ScreeningState.UNSUPPORTED: "only a model head without support could have spoken",
    ScreeningState.AGREED_POSITIVE: "every usable vote named it",
    ScreeningState.AGREED_NEGATIVE: "no usable vote named it",
    ScreeningState.CONTESTED: "votes differ, two or more named it",
    ScreeningState.SINGLE_SOURCE: "exactly one of the usable votes named it",
}
CALL_WORDS = {
    Call.UNKNOWN: "unknown",
    Call.UNSUPPORTED: "unsupported",
    Call.CONSENSUS: "consensus",
    Call.CANDIDATE: "candidate",
    Call.NO_CALL: "no call",
}
DECISION_WORDS = {
    "in_scope": "in scope",
    "out_of_scope": "out of scope",
    "insufficient_payload": "can't be screened",
    "unsure": "unsure",
    "unresolved": "unresolved",
}
KIND_WORDS = {HUMAN: "Person", MODEL: "Model"}
INSTRUMENT_WORDS = {
    "title": "title only",
    "title+abstract": "title and abstract",
    "full text": "full text",
    "unknown": "not recorded which part of each work",
}
AVAILABILITY_WORDS = {
    "available": "available",
    "insufficient_support": "insufficient support: makes no call",
    "fold_degenerate": "fold degenerate: makes no call",
    "unknown": "not recorded",
}


def label(status: Status | str) -> Label:
    """A status in words. One that isn't ours is a publisher's: shown as it is, as a machine's."""
    try:
        mark, words = _STATUS[Status(status)]
    except ValueError:
        mark = SCORE if str(status).startswith("score_only") else MODEL
        words = "as the publisher states it"
    return Label(mark, words, str(status))


def who(statuses: Iterable[Status]) -> str:
    """Whose votes stand behind something: people's, machines', both, or nobody's."""
    marks = {label(status).mark for status in statuses}
    if marks == {HUMAN}:
        return "people's votes"
    if HUMAN in marks:
        return "people's and machines' votes"
    return "machines' votes" if marks else "no vote"


def vote_word(vote: bool | None) -> str:
    """One vote on one question; None says nothing, and is never taken for a no."""
    return {True: "yes", False: "no", None: "says nothing"}[vote]
