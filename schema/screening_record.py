"""The screening file of a package: rounds, raters, votes, statements, releases and scores that fit."""

from pydantic import model_validator

from schema.base import NonEmpty, Record, each_once
from schema.scores import ModelRelease, Score
from schema.screening import Rater, Round, Statement, Vote


class ScreeningRecord(Record):
    """A screening file inside a package: everything said of its works, with the caveats on top."""

    rounds: tuple[Round, ...] = ()
    raters: tuple[Rater, ...] = ()
    votes: tuple[Vote, ...] = ()
    statements: tuple[Statement, ...] = ()
    releases: tuple[ModelRelease, ...] = ()
    scores: tuple[Score, ...] = ()
    caveats: tuple[NonEmpty, ...] = ()

    @model_validator(mode="after")
    def _refers_to_what_is_there(self) -> "ScreeningRecord":
        rounds = each_once("round", [r.id for r in self.rounds])
        raters = each_once("rater", [r.id for r in self.raters])
        votes = each_once("vote", [v.id for v in self.votes])
        each_once("statement", [s.id for s in self.statements])
        each_once("release", [r.id for r in self.releases])
        categories = {r.id: set(r.categories) for r in self.rounds}
        for vote in self.votes:
            if vote.round not in rounds:
                raise ValueError(f"vote {vote.id}: no round {vote.round!r} in this file")
            if vote.rater not in raters:
                raise ValueError(f"vote {vote.id}: no rater {vote.rater!r} in this file")
            if unknown := set(vote.categories) - categories[vote.round]:
                raise ValueError(f"vote {vote.id}: {sorted(unknown)[0]!r} is not a category of its round")
            if vote.supersedes is not None and vote.supersedes not in votes:
                raise ValueError(f"vote {vote.id}: supersedes {vote.supersedes!r}, which is not in this file")
        heads = {(r.id, h.name, c) for r in self.releases for h in r.heads for c in h.categories}
        each_once("score", [f"{s.work}/{s.release}/{s.head}/{s.category}" for s in self.scores])
        for score in self.scores:
            if (score.release, score.head, score.category) not in heads:
                raise ValueError(
                    f"score of {score.work}: release {score.release!r} has no head {score.head!r} "
                    f"for category {score.category!r}"
                )
        return self
