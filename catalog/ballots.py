"""Answers as rows: a chunk's votes whole, or its answer in quarantine; single ballots and skips."""

from dataclasses import dataclass
from typing import Literal

from schema.screening import Instrument, RaterKind

AnswerState = Literal["accepted", "quarantined", "failed"]


@dataclass(frozen=True)
class AnswerMeta:
    """What came with an answer. `raw` is the response as it came, None where none came.

    Hashes are SHA-256: of the prompt (without the works) and of the input (the works as shown). `cost`
    is a decimal as text.
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
    """Where labels from elsewhere come from, and whose they are. They go into round `round` of `study`.

    `kind` and `name` of the rater are what the source says; `panel` is how many raters rate each work
    of that round, where more than one file fills it.
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


@dataclass(frozen=True)
class VotesReport:
    """What became of a file of votes: read = taken + unchanged + refused, in rows.

    `chunks` counts chunks of a round taken here: state -> number. `problems` has the first sentences,
    each naming its line or chunk; all are kept with the answers in quarantine.
    """

    round: str
    sha256: str
    read: int
    taken: int
    unchanged: int
    refused: int
    chunks: dict[str, int]
    problems: tuple[str, ...]
