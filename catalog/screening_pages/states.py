"""What votes say of a work."""

from dataclasses import dataclass

from schema.ballots import Ballot
from schema.screening import Adjudication, Rater
from schema.states import ScreeningState, Status


@dataclass(frozen=True)
class CategoryVote:
    """What one rater's current vote says of one question."""

    rater: str
    rater_kind: str
    vote: bool | None
    status: Status


@dataclass(frozen=True)
class CategoryStateRow:
    """What a round's votes say of one category of one work.

    `votes` are those cast; `usable` of them say yes or no, `positives` yes. `statuses` are those of the
    votes that the state rests on (the usable ones, or where none is, all cast), each once.
    `adjudicated` is an adjudicator's answer beside the state, which it never changes: None where there
    is none, or where it says nothing of the category.
    """

    round: str
    work: str
    category: str
    label: str
    state: ScreeningState
    usable: int
    positives: int
    votes: tuple[CategoryVote, ...]
    statuses: tuple[Status, ...]
    adjudicated: bool | None = None
    adjudicated_status: Status | None = None


@dataclass(frozen=True)
class AdjudicationView:
    """The current adjudication of one work in one round, with those that it superseded, newest first."""

    adjudication: Adjudication
    rater: Rater
    status: Status
    superseded: tuple[Adjudication, ...]


@dataclass(frozen=True)
class ContestedVote:
    """One rater's vote, as an adjudicator sees it."""

    rater: Rater
    status: Status
    ballot: Ballot


@dataclass(frozen=True)
class Contested:
    """A work on which the whole panel voted and the votes differ, on scope or on a category, or none is
    usable."""

    round: str
    work: str
    title: str
    abstract: str | None
    scope: ScreeningState
    categories: tuple[CategoryStateRow, ...]
    votes: tuple[ContestedVote, ...]
    adjudication: AdjudicationView | None
