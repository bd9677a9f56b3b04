"""What screening writes into a catalog: each method is one unit, thin over the modules that do it.

`Catalog` inherits it, so that a caller writes `catalog.add_study(...)`.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from artifacts.objects import ObjectStore
from catalog.ballots import AnswerMeta, AnswerOutcome, Published, VotesReport
from catalog.releases import Scored
from catalog.studies import AddedStudy, DrawnSample
from schema.ballots import Ballot, ChunkManifest
from schema.scores import DecisionRun, ModelRelease
from schema.study import Study

Row = tuple[str, Sequence[float | None]]


class ScreeningStore:
    """The screening part of a catalog's writing."""

    db: Database
    objects: ObjectStore

    def write(self) -> AbstractContextManager[Database]:
        """One transaction that holds the write lock from its start."""
        raise NotImplementedError

    def _event(self, action: str, who: str, subject: str, detail: dict[str, Any] | None = None) -> None:
        raise NotImplementedError

    def add_study(self, study: Study, source_sha256: str, who: str | None = None) -> AddedStudy:
        """Take a study in, or its next version, with its raters and rounds.

        `source_sha256` is the hash of the file that it was read from. The same study again changes
        nothing. A new version may add raters, rounds and samples; words of a round, a rater or a drawn
        sample that are here already can't change.
        """
        raise NotImplementedError

    def draw_sample(
        self, study: str, sample: str, strata: Mapping[str, str] | None = None, who: str | None = None
    ) -> DrawnSample:
        """Draw a sample of a study from the works of the catalog, once.

        `strata` maps a work's slug to its stratum, for strata without a rule. The same draw again
        changes nothing; one that would come out otherwise (works came in since) is refused.
        """
        raise NotImplementedError

    def write_manifest(self, round_: str, who: str | None = None) -> tuple[ChunkManifest, ...]:
        """Write the chunks of a round, in the order of SHA-256(seed || id). Once: the same again changes
        nothing, other works are refused."""
        raise NotImplementedError

    def record_answer(
        self,
        round_: str,
        position: int,
        rater: str,
        answer: AnswerMeta,
        answers: Sequence[object] | None,
        problem: str | None = None,
        who: str | None = None,
    ) -> AnswerOutcome:
        """Record what a rater said to one chunk: all its votes, or a quarantined (or failed) answer.

        `answers` are the objects of the answer, None where none could be read out of it; `problem` says
        why. Nothing is raised for what a rater said: the outcome reports it.
        """
        raise NotImplementedError

    def cast_vote(self, round_: str, rater: str, ballot: Ballot, who: str | None = None) -> str:
        """Cast a person's vote on one work and return its name; it supersedes their vote before, if any.

        The same ballot again changes nothing.
        """
        raise NotImplementedError

    def skip(self, round_: str, rater: str, work: str, who: str | None = None) -> None:
        """Put a work off: it comes again at the end of the rater's queue."""
        raise NotImplementedError

    def adjudicate(
        self,
        round_: str,
        rater: str,
        work: str,
        decision: str,
        categories: Sequence[str] = (),
        reason: str | None = None,
        who: str | None = None,
    ) -> str:
        """Record what an adjudicator of the round made of a work's votes; supersedes what was there.

        `decision` may be `unresolved`, which stays so. Returns the adjudication's name.
        """
        raise NotImplementedError

    def import_votes(
        self,
        path: str | Path,
        round_: str | None = None,
        rater: str | None = None,
        published: Published | None = None,
        supersede: str | None = None,
        who: str | None = None,
    ) -> VotesReport:
        """Take votes in from a CSV, JSON or JSONL file.

        Into a round taken here: chunk by chunk, each whole or quarantined. `rater` is whose they are,
        where the file has no column for it; `supersede` is the reason why votes that are here already
        are corrected. With `published`: labels from elsewhere, row by row, into a round of their own.
        """
        raise NotImplementedError

    def record_release(
        self,
        release: ModelRelease,
        record: Mapping[str, Any],
        source_sha256: str,
        files: Mapping[str, bytes] | None = None,
        who: str | None = None,
    ) -> bool:
        """Record a release that was trained here; whether it is new. `record` is plain JSON, `files` are
        its stored files by path. The same again changes nothing."""
        raise NotImplementedError

    def record_scores(self, release: str, rows: Iterable[Row], who: str | None = None) -> Scored:
        """Record scores of a release as they come, many transactions long; they show when all are in.

        A row is a work's slug and its scores, one for each head and category in the release's order
        (heads, and the categories of each), None where a head gives none. The same scores again change
        nothing; another value for a work that was scored is refused.
        """
        raise NotImplementedError

    def record_decisions(
        self,
        run: DecisionRun,
        rows: Iterable[tuple[str, str, Sequence[str]]],
        who: str | None = None,
    ) -> bool:
        """Record the calls of a decision run, whole; whether it is new.

        A row is a work's slug, a category, and the heads whose k holds the work; `schema.states` makes
        the call of it. The rows of a head must be its k.
        """
        raise NotImplementedError
