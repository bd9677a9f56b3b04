"""Asking one model about the chunks of one round that it hasn't answered yet.

A chunk is asked, judged and recorded as one. Stopped anywhere, what was recorded stays; asked again, a run
goes on with the chunks that have no accepted answer of this rater.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from catalog import queries, screening_queries
from catalog.asking.costs import Prices, total
from catalog.asking.models import Asker, AskingFailed
from catalog.asking.prompts import Question, ShownWork, question
from catalog.ballots import AnswerMeta, AnswerOutcome, AnswerState
from catalog.clock import now
from catalog.errors import CatalogError
from catalog.screening_pages import RoundView
from catalog.store import Catalog
from ingest.answers import Unreadable, answers_in
from schema.ballots import ChunkManifest

FIRST_WAIT = 2.0
LONGEST_WAIT = 120.0
GIVE_UP_AFTER = 3
"""Chunks in a row to which no answer came: then the provider is down, and the rest would fail too."""


@dataclass
class Pace:
    """When the next request may go out: at most `per_minute`, and later after failures.

    Waits grow twofold from 2 s to 2 min, and are never shorter than a provider asks for.
    """

    per_minute: float | None = None
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    _next: float = field(default=0.0, init=False)

    def before_request(self) -> None:
        """Wait for the next request's turn."""
        if self.per_minute is None:
            return
        ahead = self._next - self.clock()
        if ahead > 0:
            self.sleep(ahead)
        self._next = max(self._next, self.clock()) + 60 / self.per_minute

    def after_failure(self, failures: int, asked_for: float | None) -> None:
        """Wait after the n-th failure in a row (n from 1)."""
        self.sleep(min(LONGEST_WAIT, max(FIRST_WAIT * 2 ** (failures - 1), asked_for or 0.0)))


@dataclass(frozen=True)
class Problem:
    """An attempt that gave no votes, and why."""

    chunk: int
    attempt: int
    state: AnswerState
    report: tuple[str, ...]


@dataclass
class AskReport:
    """What came of a run, in chunks and attempts. `left`: chunks that still have no accepted answer.

    Tokens and cost are sums over what the provider counted; `uncounted` answers lack a count and are in none.
    """

    round: str
    rater: str
    model: str = ""
    chunks: int = 0
    already: int = 0
    accepted: int = 0
    left: int = 0
    votes: int = 0
    quarantined_attempts: int = 0
    failed_attempts: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    uncounted: int = 0
    cost: str | None = None
    stopped: str | None = None
    problems: list[Problem] = field(default_factory=list)


def ask_round(
    catalog: Catalog,
    round_: str,
    rater: str,
    make_asker: Callable[[RoundView], Asker],
    *,
    chunks: int | None = None,
    max_attempts: int = 3,
    prices: Prices | None = None,
    pace: Pace | None = None,
    who: str | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> AskReport:
    """Ask about every chunk without an accepted answer, at most `chunks` of them, and record what comes.

    An answer that can't be taken is quarantined and the same question asked again, `max_attempts` times in
    all; so is one that failed to come. Raises CatalogError where the round can't be asked at all.
    """
    view = screening_queries.round_view(catalog.connection, round_)
    asker = make_asker(view)
    pending, already = _pending(catalog, view, rater)
    report = AskReport(round_, rater, asker.model.model_id, len(pending) + already, already)
    report.left = len(pending)
    run = _Run(catalog, view, rater, asker, max_attempts, prices, pace or Pace(), who, report)
    unanswered = 0
    todo = pending if chunks is None else pending[:chunks]
    for number, chunk in enumerate(todo):
        if progress is not None:
            progress(f"chunk {chunk.position}", number, len(todo))
        answered = run.chunk(chunk)
        unanswered = 0 if answered else unanswered + 1
        if unanswered == GIVE_UP_AFTER:
            report.stopped = (
                f"no answer came to {GIVE_UP_AFTER} chunks in a row, so the rest wasn't asked; "
                "the same command goes on from here"
            )
            break
    return report


def _pending(catalog: Catalog, view: RoundView, rater: str) -> tuple[list[ChunkManifest], int]:
    """Chunks without an accepted answer of this rater, and the number of those with one."""
    name = view.round.id
    if view.rubric is None:
        raise CatalogError(f"round {name}: its votes were published elsewhere; nobody is asked here")
    if not view.has_manifest:
        raise CatalogError(f"round {name} has no chunks yet: proofshelf screen manifest {name}")
    done = {answer.chunk for answer in screening_queries.answers(catalog.connection, name, rater, "accepted")}
    chunks = screening_queries.manifest(catalog.connection, name)
    pending = [chunk for chunk in chunks if chunk.position not in done]
    return pending, len(chunks) - len(pending)


@dataclass
class _Run:
    catalog: Catalog
    view: RoundView
    rater: str
    asker: Asker
    max_attempts: int
    prices: Prices | None
    pace: Pace
    who: str | None
    report: AskReport

    def chunk(self, chunk: ChunkManifest) -> bool:
        """Ask until an answer is accepted or the attempts are used up; whether any answer came."""
        asked = self._question(chunk.works)
        came = False
        failures = 0
        for _ in range(self.max_attempts):
            self.pace.before_request()
            try:
                outcome = self._answer(chunk, asked)
            except AskingFailed as failure:
                failures += 1
                outcome = self._failure(chunk, asked, failure)
                self._note(chunk, outcome)
                if not failure.passing:
                    break
                if failures < self.max_attempts:
                    self.pace.after_failure(failures, failure.wait)
                continue
            came = True
            if outcome.state == "accepted":
                self.report.accepted += 1
                self.report.left -= 1
                self.report.votes += outcome.votes
                break
            self._note(chunk, outcome)
        return came

    def _question(self, works: Sequence[str]) -> Question:
        shown = []
        for slug in works:
            work = queries.bibliographic_record(self.catalog.connection, slug)
            shown.append(ShownWork(slug, work.title, work.abstract.text))
        assert self.view.rubric is not None
        try:
            return question(
                self.view.rubric, self.view.round.id, self.view.round.instrument, shown,
                by_schema=self.asker.by_schema, options=self.asker.options,
            )  # fmt: skip
        except ValueError as error:
            raise CatalogError(str(error)) from error

    def _answer(self, chunk: ChunkManifest, asked: Question) -> AnswerOutcome:
        reply = self.asker.ask(asked)
        found = answers_in(reply.raw)
        cost = self.prices.cost(reply.input_tokens, reply.output_tokens) if self.prices else None
        meta = AnswerMeta(
            reply.raw, asked.prompt_sha256, asked.input_sha256, self.asker.version(reply),
            reply.input_tokens, reply.output_tokens, cost, reply.started_at, reply.finished_at,
        )  # fmt: skip
        self.report.input_tokens += reply.input_tokens or 0
        self.report.output_tokens += reply.output_tokens or 0
        self.report.uncounted += None in (reply.input_tokens, reply.output_tokens)
        self.report.cost = total([self.report.cost, cost])
        if isinstance(found, Unreadable):
            return self._record(chunk, meta, None, found.reason)
        return self._record(chunk, meta, asked.named(found), None)

    def _failure(self, chunk: ChunkManifest, asked: Question, failure: AskingFailed) -> AnswerOutcome:
        meta = AnswerMeta(
            None, asked.prompt_sha256, asked.input_sha256, self.asker.version(None),
            started_at=failure.started_at, finished_at=now(),
        )  # fmt: skip
        return self._record(chunk, meta, None, str(failure))

    def _record(
        self, chunk: ChunkManifest, meta: AnswerMeta, answers: list[object] | None, problem: str | None
    ) -> AnswerOutcome:
        return self.catalog.record_answer(
            self.view.round.id, chunk.position, self.rater, meta, answers, problem, self.who
        )

    def _note(self, chunk: ChunkManifest, outcome: AnswerOutcome) -> None:
        if outcome.state == "quarantined":
            self.report.quarantined_attempts += 1
        else:
            self.report.failed_attempts += 1
        self.report.problems.append(Problem(chunk.position, outcome.attempt, outcome.state, outcome.report))
