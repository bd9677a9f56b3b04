"""What a reader is shown, as plain data: the same for a terminal, a page and JSON.

`catalog.queries` fills these from the database; commands and templates only lay them out.
States come decided by `schema.states`; nothing here decides one.
"""

from dataclasses import dataclass

from catalog.screening_pages import AdjudicationView, CategoryStateRow, DecisionView
from schema.artifact import Claim, File, Manifest
from schema.scores import ModelRelease
from schema.screening import Rater, Round, Statement, Vote
from schema.states import CheckOutcome, Depth, FileState, RunOutcome, ScreeningState, Standing, Status
from schema.verification import Check, Verification
from schema.work import Work


@dataclass(frozen=True)
class RunSummary:
    """One verification in a list: newest first everywhere."""

    id: int
    artifact: str
    version: int
    outcome: RunOutcome
    depth: Depth
    level: str
    origin: str
    verdict: str
    finished_at: str
    who: str
    hash: str


@dataclass(frozen=True)
class ArtifactSummary:
    """One package in a list, at its newest version, with its newest run (None: never verified)."""

    slug: str
    version: int
    title: str
    work: str
    work_title: str
    claims: int
    findings: int
    files: int
    latest: RunSummary | None


@dataclass(frozen=True)
class WorkSummary:
    """One work in a list or among search results; `snippet` holds the words found, as plain text."""

    slug: str
    title: str
    authors: tuple[str, ...]
    year: int | None
    venue: str | None
    artifacts: int
    votes: int
    scores: int
    snippet: str | None = None


@dataclass(frozen=True)
class Overview:
    """The front page: how much is here ("n of N"), what was verified last."""

    works: int
    works_with_artifacts: int
    works_with_votes: int
    works_with_scores: int
    artifacts: int
    claims: int
    verifications: int
    votes: int
    scores: int
    imports: int
    rejected: int
    current_artifacts: tuple[ArtifactSummary, ...]
    recent_runs: tuple[RunSummary, ...]
    recent_works: tuple[WorkSummary, ...]


@dataclass(frozen=True)
class VoteView:
    """A vote with its rater and its status, and the votes that it superseded, newest first."""

    vote: Vote
    rater: Rater
    status: Status
    superseded: tuple[Vote, ...]


@dataclass(frozen=True)
class ScreenView:
    """One round's screen of one work: `positives` of `cast` usable votes found it in scope.

    `statuses` are those of its votes, each once. `stratum` and `weight` are those of the round's sample,
    None where it has none; `synthetic` says that its study is made up. An adjudication stands beside the
    state and never changes it.
    """

    round: Round
    votes: tuple[VoteView, ...]
    state: ScreeningState
    positives: int
    cast: int
    sentence: str
    statuses: tuple[Status, ...]
    categories: tuple[CategoryStateRow, ...]
    adjudication: AdjudicationView | None
    stratum: str | None
    weight: float | None
    synthetic: bool


@dataclass(frozen=True)
class ScoreRow:
    """One category with each head's value as published (None: no score), heads in the release's order.

    `availability` says of each head what stands behind its score; None where it has no such category.
    """

    category: str
    values: tuple[str | None, ...]
    availability: tuple[str | None, ...]


@dataclass(frozen=True)
class ReleaseView:
    """One release's scores of one work, as a table of categories and heads.

    `synthetic` says that the release's study is made up.
    """

    release: ModelRelease
    heads: tuple[str, ...]
    rows: tuple[ScoreRow, ...]
    synthetic: bool


@dataclass(frozen=True)
class Appearance:
    """One import that brought this work, or a record counted as the same work."""

    import_id: int
    filename: str
    sha256: str
    format: str
    line: int | None
    outcome: str
    finished_at: str


@dataclass(frozen=True)
class ImportSummary:
    """One import in a list, with its counts: read = added + updated + unchanged + duplicate + rejected."""

    id: int
    filename: str
    format: str
    reader: str
    reader_version: str
    sha256: str
    who: str
    started_at: str
    finished_at: str
    read: int
    added: int
    updated: int
    unchanged: int
    duplicate: int
    rejected: int


@dataclass(frozen=True)
class RejectedRecord:
    """A record that could not be taken in: as it came, with the reason."""

    import_id: int
    filename: str
    line: int | None
    reason: str
    raw: str


@dataclass(frozen=True)
class WorkPage:
    """A record page, in the order in which it is read."""

    work: Work
    screens: tuple[ScreenView, ...]
    statements: tuple[Statement, ...]
    releases: tuple[ReleaseView, ...]
    decisions: tuple[DecisionView, ...]
    screening_caveats: tuple[str, ...]
    artifacts: tuple[ArtifactSummary, ...]
    runs: tuple[RunSummary, ...]
    appearances: tuple[Appearance, ...]


@dataclass(frozen=True)
class FileView:
    """A file with what the newest run said of it (None: not checked yet)."""

    path: str
    listed: File | None
    state: FileState | None
    observed_sha256: str | None
    detail: str | None


@dataclass(frozen=True)
class ClaimView:
    """A claim with what the newest run said of it, and the findings that speak of it.

    `observed` and `difference` come from the evidence that decided the standing; `checks` has all.
    """

    claim: Claim
    standing: Standing
    observed: str | None
    difference: str | None
    checks: tuple[Check, ...]
    findings: "tuple[ClaimView, ...]" = ()

    @property
    def outcome(self) -> CheckOutcome:
        """The outcome that decided."""
        return self.standing.outcome


@dataclass(frozen=True)
class SourceView:
    """A source with what the newest run said of it; `checks` is empty for one that is only recorded."""

    title: str
    checks: tuple[Check, ...]


@dataclass(frozen=True)
class ArtifactPage:
    """One package at one version: its statement, and what its newest run says. Published claims
    come in the manifest's order with their findings beneath; `latest` is None before any run."""

    manifest: Manifest
    version: int
    versions: tuple[int, ...]
    manifest_sha256: str
    added_at: str
    added_by: str
    claims: tuple[ClaimView, ...]
    files: tuple[FileView, ...]
    sources: tuple[SourceView, ...]
    latest: RunSummary | None
    latest_run: Verification | None
    history: tuple[RunSummary, ...]


@dataclass(frozen=True)
class VerificationPage:
    """One run, as it can be cited: everything of the artifact page, as that run saw it."""

    id: int
    run: Verification
    version: int
    manifest: Manifest
    previous: str
    hash: str
    claims: tuple[ClaimView, ...]
    files: tuple[FileView, ...]
    sources: tuple[SourceView, ...]
