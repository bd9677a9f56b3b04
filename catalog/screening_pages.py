"""What a reader is shown of screening, as plain data: the same for a terminal, a page and an export.

`catalog.screening_queries` fills these. States come decided by `schema.states`; every vote, label, score
and call stands beside the status that says how far it may be believed. A publisher's status is its own
text; the others are members of `schema.states.Status`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Literal

from schema.ballots import Ballot
from schema.rubric import Rubric
from schema.scores import DecisionRun, Head, ModelRelease
from schema.screening import Adjudication, Rater, Round
from schema.states import Call, Estimand, ScreeningState, Status
from schema.study import SamplingDesign, Study
from schema.work import Identifier


class NotCast(Enum):
    """That a rater has not voted on a work: neither a positive, a negative, nor an unusable vote.

    It has no truth value, so that nobody can take it for a negative.
    """

    NOT_CAST = "not_cast"

    def __bool__(self) -> bool:
        raise TypeError("a vote that wasn't cast is neither true nor false")


NOT_CAST: Final = NotCast.NOT_CAST

Cell = bool | None | NotCast
"""One vote on one question: True, False, None where it isn't usable, NOT_CAST where there is none."""


# Studies and rounds ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class StudySummary:
    """One study in a list. `version` is None for one whose votes were published elsewhere."""

    slug: str
    title: str
    synthetic: bool
    version: int | None
    rounds: int
    works: int
    """Works in a manifest or with a vote."""
    votes: int
    """Current votes: `human_votes` + `machine_votes`."""
    human_votes: int
    machine_votes: int
    releases: int


@dataclass(frozen=True)
class StudyVersion:
    """One version of a study, by the hash of all that it says."""

    version: int
    sha256: str
    rubric_sha256: str
    recorded_at: str
    recorded_by: str


@dataclass(frozen=True)
class CoverageRow:
    """How far one rater has come in one round. `works` = `voted` + `remaining`.

    `voted` = `in_scope` + `out_of_scope` + `insufficient_payload` + `unsure`; `skipped` of the remaining
    were put off. Answers count attempts; `cost` is a decimal in the provider's currency, None where no
    answer named one.
    """

    rater: Rater
    status: Status
    works: int
    voted: int
    remaining: int
    skipped: int
    in_scope: int
    out_of_scope: int
    insufficient_payload: int
    unsure: int
    chunks: int
    chunks_done: int
    accepted: int
    quarantined: int
    failed: int
    input_tokens: int | None
    output_tokens: int | None
    cost: str | None


@dataclass(frozen=True)
class RoundView:
    """One round: what was asked of whom, how far it is, and what the votes say of scope.

    `works` are those in the manifest (of a published round: those with a vote), `rated` those that the
    whole panel voted on. `states` counts the scope state of every one of `works`, each state named,
    also with 0. `contested` of them differ, of which `adjudicated` have an adjudication.
    """

    round: Round
    rubric: Rubric | None
    sample: str | None
    chunk_size: int | None
    adjudicators: tuple[Rater, ...]
    works: int
    chunks: int
    rated: int
    states: Mapping[ScreeningState, int]
    statuses: tuple[Status, ...]
    contested: int
    adjudicated: int
    coverage: tuple[CoverageRow, ...]

    @property
    def has_manifest(self) -> bool:
        """Whether its chunks are written, so that raters may begin."""
        return self.chunks > 0


@dataclass(frozen=True)
class StratumView:
    """One stratum as drawn: n of N, with inclusion probability n / N and weight N / n (None: n = 0).

    `rated` works of it have a current vote in any round of the study.
    """

    stratum: str
    frame_size: int
    drawn: int
    probability: float
    weight: float | None
    rated: int


@dataclass(frozen=True)
class SampleView:
    """A sampling design; `strata` is empty and the sizes None where it isn't drawn yet."""

    study: str
    design: SamplingDesign
    frame_size: int | None
    frame_sha256: str | None
    drawn: int | None
    strata: tuple[StratumView, ...]
    recorded_at: str | None
    recorded_by: str | None


@dataclass(frozen=True)
class ReleaseSummary:
    """One release in a list. `scored` of `works` have a score of it; `finished` says whether they show."""

    slug: str
    title: str
    status: str
    maturity: str
    study: str | None
    calibrated: bool
    heads: tuple[str, ...]
    finished: bool
    scored: int
    works: int


@dataclass(frozen=True)
class StudyPage:
    """A study with its rounds, samples and releases. `study` is None where the votes were published."""

    slug: str
    title: str
    synthetic: bool
    study: Study | None
    versions: tuple[StudyVersion, ...]
    rounds: tuple[RoundView, ...]
    samples: tuple[SampleView, ...]
    releases: tuple[ReleaseSummary, ...]
    caveats: tuple[str, ...]


@dataclass(frozen=True)
class AnswerView:
    """One answer of a rater, as it came. `chunk` is None where its ids were in no chunk, and `rater` where
    it was of nobody who rates in the round."""

    id: int
    round: str
    chunk: int | None
    rater: str | None
    rater_kind: str | None
    attempt: int
    state: Literal["accepted", "quarantined", "failed"]
    report: tuple[str, ...]
    correction: str | None
    raw: str | None
    raw_sha256: str | None
    line: int | None
    prompt_sha256: str | None
    input_sha256: str | None
    rater_version: str | None
    input_tokens: int | None
    output_tokens: int | None
    cost: str | None
    started_at: str | None
    finished_at: str | None
    source_sha256: str | None
    recorded_at: str
    recorded_by: str


# The queue -------------------------------------------------------------------------------------------


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


# States of works -------------------------------------------------------------------------------------


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
    votes that the state rests on (the usable ones, or where none is, all cast), each once. `adjudicated` is an
    adjudicator's answer beside the state, which it never changes: None where there is none, or where it
    says nothing of the category.
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


# Models ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CallRow:
    """One category's call by one decision run.

    `sides`: head -> True where the work is among its k, False where not, None where it has no support.
    """

    category: str
    call: Call
    sides: Mapping[str, bool | None]
    disagreement: float | None
    """max over heads of |score - 1[direct positive]|; None where no head has both."""
    uncertainty: float | None
    """Threshold uncertainty in 0..1; None where no head makes calls."""


@dataclass(frozen=True)
class DecisionView:
    """What one decision run says of one work. A call is a model's, never a label."""

    run: str
    release: str
    status: str
    covered: bool
    calls: tuple[CallRow, ...]
    works: int
    works_covered: int


@dataclass(frozen=True)
class DecisionRunView:
    """A decision run with the number of its calls: category -> (consensus, candidate)."""

    run: DecisionRun
    counts: Mapping[str, tuple[int, int]]
    thresholds: Mapping[str, Mapping[str, float]]
    """head -> category -> the score at the last row of its k, where it has one."""
    recorded_at: str
    recorded_by: str


@dataclass(frozen=True)
class ReleaseFile:
    """A stored file of a release."""

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class ModelPage:
    """A release: what it was made from, how far it may be believed, what it scored and called.

    `record` is what training computed (metrics, calibration evidence, parameters), as the release holds
    it; None for one that a package brought. `scored` of `works` works have a score that shows.
    """

    release: ModelRelease
    study: str | None
    record: Mapping[str, Any] | None
    heads: tuple[Head, ...]
    files: tuple[ReleaseFile, ...]
    finished: bool
    scored: int
    works: int
    runs: tuple[DecisionRunView, ...]
    source_sha256: str
    recorded_at: str
    recorded_by: str


# Counts of a review ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class SourceCount:
    """Records that one source brought."""

    source: str
    records: int


@dataclass(frozen=True)
class FlowStage:
    """One round in a PRISMA 2020 flow.

    works = selected + not_selected; selected = screened + awaiting; screened = included + excluded +
    unresolved; excluded = the sum of `reasons`, where a field of the rubric asks for one. `awaiting`:
    not every rater has voted, and nobody adjudicated. `unresolved`: no answer came of it. `adjudicated`
    of the screened were decided by an adjudicator. `statuses` are those of the votes and adjudications
    counted.
    """

    round: str
    title: str
    instrument: str
    estimand: Estimand
    votes: Literal["people", "machine", "people and machine", "none"]
    statuses: tuple[Status, ...]
    selected: int
    not_selected: int
    screened: int
    awaiting: int
    included: int
    excluded: int
    unresolved: int
    adjudicated: int
    reasons: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class FlowCounts:
    """The counts of a PRISMA 2020 flow.

    identified = the sum of `sources` = duplicates + unreadable + works, for the catalog that the study
    screens in. Each stage begins from `works`.
    """

    study: str
    synthetic: bool
    sources: tuple[SourceCount, ...]
    identified: int
    duplicates: int
    unreadable: int
    works: int
    stages: tuple[FlowStage, ...]


# Tables for statistics, training and export ----------------------------------------------------------


@dataclass(frozen=True)
class RatingTable:
    """Votes on one question of one round, works by raters, in the order of the manifest.

    `category` is None for scope. `weights` and `strata` are None where the round has no sample.
    `statuses` has one entry for each rater.
    """

    round: str
    category: str | None
    works: tuple[str, ...]
    raters: tuple[str, ...]
    kinds: tuple[str, ...]
    statuses: tuple[Status, ...]
    votes: tuple[tuple[Cell, ...], ...]
    weights: tuple[float, ...] | None
    strata: tuple[str, ...] | None


@dataclass(frozen=True)
class LabelRow:
    """The state of one question of one work in one round, for export. `category` is None for scope.

    An estimand is None where the votes don't give it an answer. `statuses` as in CategoryStateRow.
    """

    study: str
    round: str
    origin: str
    instrument: str
    work: str
    title: str
    category: str | None
    state: ScreeningState
    cast: int
    usable: int
    positives: int
    unanimous: bool | None
    majority: bool | None
    any: bool | None
    statuses: tuple[Status, ...]
    adjudicated: bool | None
    adjudicated_status: Status | None
    stratum: str | None
    weight: float | None


@dataclass(frozen=True)
class VoteRow:
    """One vote, for export; `superseded_by` names the vote that corrects it."""

    study: str
    round: str
    origin: str
    vote: str
    work: str
    rater: str
    rater_kind: str
    rater_version: str | None
    status: Status
    decision: str
    categories: tuple[str, ...]
    fields: Mapping[str, tuple[str, ...]]
    confidence: str | None
    reason: str | None
    reason_wording: str | None
    cast_at: str | None
    superseded_by: str | None
    note: str | None


@dataclass(frozen=True)
class ScoreLine:
    """One score, for export: `value` with the decimals of its release. It ranks and never asserts."""

    work: str
    release: str
    head: str
    category: str
    value: str
    status: str
    maturity: str
    availability: str
    calibration: str | None


@dataclass(frozen=True)
class CallLine:
    """One call, for export; a work that a run covers and that has no line for a category has no call."""

    work: str
    run: str
    release: str
    category: str
    call: Call
    sides: tuple[str, ...]
    status: str


@dataclass(frozen=True)
class VoteColumn:
    """One rater in one round, over the works of a TrainingRows: votes (works x categories).

    `weights` and `strata` (works) are those of the round's sample, None for a work outside it; both are
    None where the round has no sample. `scope` (works) is the vote on scope.
    """

    round: str
    instrument: str
    rater: Rater
    status: Status
    scope: tuple[Cell, ...]
    votes: tuple[tuple[Cell, ...], ...]
    weights: tuple[float | None, ...] | None
    strata: tuple[str | None, ...] | None


@dataclass(frozen=True)
class TrainingRows:
    """Everything that a student of a study may learn from: works with a vote, in order of their slugs.

    `documents` are classifiers.features.documents.Document, one for each work. `categories` are the
    newest rubric's in score order; `cannot` is the one that means "cannot be screened".
    """

    study: str
    categories: tuple[str, ...]
    cannot: str | None
    works: tuple[str, ...]
    documents: tuple[Any, ...]
    columns: tuple[VoteColumn, ...]
