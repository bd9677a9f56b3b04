"""What screening writes into a catalog: each method is one unit, thin over the modules that do it.

`Catalog` inherits it, so that a caller writes `catalog.add_study(...)`.
"""

import sqlite3
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from artifacts.errors import ArtifactError
from artifacts.objects import ObjectStore
from catalog import adjudication, ballots, calls, releases, samples, studies
from catalog.ballots import AnswerMeta, AnswerOutcome, Published, VotesReport
from catalog.clock import whoami
from catalog.errors import CatalogError
from catalog.rows import known_object
from catalog.scorings import Scored, ScoreRow, Scoring
from catalog.studies import AddedStudy, DrawnSample, harness_round, the_study
from schema.ballots import Ballot, ChunkManifest
from schema.scores import DecisionRun, ModelRelease
from schema.states import FileState
from schema.study import Study


class ScreeningStore:
    """The screening part of a catalog's writing."""

    connection: sqlite3.Connection
    objects: ObjectStore

    def write(self) -> AbstractContextManager[sqlite3.Connection]:
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
        who = who or whoami()
        with self.write() as db:
            added = studies.add_study(db, study, source_sha256, who)
            if added.new:
                detail = {"version": added.version, "sha256": added.sha256, "rounds": list(added.rounds)}
                self._event("design", who, added.slug, detail)
            return added

    def draw_sample(
        self, study: str, sample: str, strata: Mapping[str, str] | None = None, who: str | None = None
    ) -> DrawnSample:
        """Draw a sample of a study from the works of the catalog, once.

        `strata` maps a work's slug to its stratum, for strata without a rule. The same draw again
        changes nothing; one that would come out otherwise (works came in since) is refused.
        """
        who = who or whoami()
        with self.write() as db:
            drawn = samples.draw_sample(db, the_study(db, study), sample, strata, who)
            if drawn.new:
                detail = {"sample": sample, "drawn": drawn.drawn, "frame_size": drawn.frame_size}
                self._event("sample", who, study, {**detail, "frame_sha256": drawn.frame_sha256})
            return drawn

    def write_manifest(self, round_: str, who: str | None = None) -> tuple[ChunkManifest, ...]:
        """Write the chunks of a round, in the order of SHA-256(seed || id). Once: the same again changes
        nothing, other works are refused."""
        who = who or whoami()
        with self.write() as db:
            chunks, new = samples.write_manifest(db, harness_round(db, round_), who)
            if new:
                works = sum(len(chunk.works) for chunk in chunks)
                self._event("manifest", who, round_, {"chunks": len(chunks), "works": works})
            return chunks

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
        who = who or whoami()
        with self.write() as db:
            plan = harness_round(db, round_)
            chunk = ballots.chunk_of(db, plan, position)
            outcome = ballots.record_answer(db, plan, chunk, rater, answer, answers, problem, who)
            detail = {"chunk": position, "rater": rater, "attempt": outcome.attempt, "state": outcome.state}
            self._event("votes", who, round_, {**detail, "votes": outcome.votes})
            return outcome

    def cast_vote(self, round_: str, rater: str, ballot: Ballot, who: str | None = None) -> str:
        """Cast a person's vote on one work and return its name; it supersedes their vote before, if any.

        The same ballot again changes nothing.
        """
        who = who or whoami()
        with self.write() as db:
            vote, new = ballots.cast_vote(db, harness_round(db, round_), rater, ballot, who)
            if new:
                self._event("votes", who, round_, {"rater": rater, "vote": vote})
            return vote

    def skip(self, round_: str, rater: str, work: str, who: str | None = None) -> None:
        """Put a work off: it comes again at the end of the rater's queue."""
        with self.write() as db:
            ballots.skip(db, harness_round(db, round_), rater, work, who or whoami())

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
        who = who or whoami()
        with self.write() as db:
            plan = harness_round(db, round_)
            name, new = adjudication.adjudicate(db, plan, rater, work, decision, categories, reason, who)
            if new:
                self._event("adjudicate", who, round_, {"rater": rater, "work": work, "adjudication": name})
            return name

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
        from catalog.label_files import import_labels
        from catalog.vote_files import import_ballots
        from ingest.errors import IngestError
        from ingest.labels import read_labels
        from ingest.votes import read_votes

        who = who or whoami()
        if (round_ is None) == (published is None):
            raise CatalogError(
                "votes go into a round taken here, or are labels published elsewhere: name one"
            )
        try:
            if published is not None:
                labels = read_labels(Path(path), published.column)
                with self.write() as db:
                    report = import_labels(db, labels, published, supersede, who)
                    self._voted(report, who)
                    return report
            plan = harness_round(self.connection, round_ or "")
            votes = read_votes(Path(path), [c.id for c in plan.rubric.categories])
            with self.write() as db:
                report = import_ballots(db, plan, votes, rater, supersede, who)
                self._voted(report, who)
                return report
        except IngestError as error:
            raise CatalogError(str(error)) from error

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
        who = who or whoami()
        digests = releases.digests(files or {})
        try:
            with self.write() as db:
                stored: list[str] = []
                try:
                    for path, data in (files or {}).items():
                        self._store(data, digests[path][1], stored)
                    new = releases.record_release(db, release, record, source_sha256, digests, who)
                    if new:
                        detail = {"version": release.version, "study": release.study, "files": len(digests)}
                        self._event("release", who, release.id, detail)
                    return new
                except BaseException:
                    self.objects.discard(stored)  # still under the lock: nobody else relies on them yet
                    raise
        except ArtifactError as error:
            raise CatalogError(str(error)) from error

    def record_scores(self, release: str, rows: Iterable[ScoreRow], who: str | None = None) -> Scored:
        """Record scores of a release as they come, many transactions long; they show when all are in.

        A row is a work's slug and its scores, one for each head and category in the release's order
        (heads, and the categories of each), None where a head gives none. The same scores again change
        nothing; another value for a work that was scored is refused.
        """
        who = who or whoami()
        scoring = Scoring(self.connection, release)
        for batch in scoring.batches(rows):
            with self.write():
                scoring.add(batch, who)
        with self.write():
            scoring.finish(who)
            done = scoring.result()
            detail = {"works": done.works, "scores": done.scores, "known": done.known}
            self._event("score", who, release, detail)
        return done

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
        who = who or whoami()
        with self.write() as db:
            new = calls.record_decisions(db, run, rows, who)
            if new:
                detail = {"release": run.release, "works": run.works, "covered": run.covered}
                self._event("decide", who, run.id, detail)
            return new

    def _voted(self, report: VotesReport, who: str) -> None:
        detail = {"sha256": report.sha256, "read": report.read, "taken": report.taken}
        self._event("votes", who, report.round, {**detail, "refused": report.refused})

    def _store(self, data: bytes, sha256: str, added: list[str]) -> None:
        """Put bytes among the stored objects; names in `added` what no row knows yet."""
        if self.objects.has(sha256) and self.objects.verify(sha256) is not FileState.MATCH:
            self.objects.path(sha256).unlink(missing_ok=True)
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            new = self.objects.put(file.name, sha256)
        if new and not known_object(self.connection, sha256):
            added.append(sha256)
