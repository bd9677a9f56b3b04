"""What a person is given to rate: blinded."""

from dataclasses import dataclass

from schema.ballots import Ballot
from schema.rubric import Rubric
from schema.screening import Rater
from schema.states import Status
from schema.work import Identifier


@dataclass(frozen=True)
class QueueItem:
    """A work as the instrument shows it: what it doesn't show is None or empty, whatever is known.

    `key` names the work within its round and says nothing of it (a work's slug may hold author and
    year); `screening_queries.queue_work` gives the slug to whoever writes the vote.
    """

    key: str
    title: str
    abstract: str | None = None
    authors: tuple[str, ...] = ()
    year: int | None = None
    venue: str | None = None
    identifiers: tuple[Identifier, ...] = ()
    skipped: bool = False
    """Whether this rater put it off before."""


@dataclass(frozen=True)
class LastVote:
    """The rater's own newest vote, which another vote on the same work supersedes."""

    vote: str
    item: QueueItem
    ballot: Ballot
    cast_at: str


@dataclass(frozen=True)
class QueuePage:
    """The next work for one rater in one round; `item` is None where all is done. Blinded: nothing of
    another rater, of a model or of an adjudicator is in it. `total` = `done` + what is left, skipped
    works included."""

    study: str
    round: str
    title: str
    instrument: str
    rubric: Rubric
    rater: Rater
    status: Status
    item: QueueItem | None
    done: int
    total: int
    skipped: int
    last: LastVote | None
