"""Studies with their rounds, samples and answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from schema.rubric import Rubric
from schema.screening import Rater, Round
from schema.states import ScreeningState, Status
from schema.study import SamplingDesign, Study


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
    """One release in a list. `scored` of `works` have a score of it; `finished` says whether they show.

    `calibrated` is the release's own word; `calibration` says so too where only some heads are. `gate` is
    `maturity` in words. `synthetic` says that its study is made up.
    """

    slug: str
    title: str
    status: str
    maturity: str
    study: str | None
    calibrated: bool
    calibration: str
    gate: str
    synthetic: bool
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
