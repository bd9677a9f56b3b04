"""A verification run, its checks, and the hash that chains it to the run before."""

import hashlib
from typing import Annotated, Literal

from pydantic import Field

from schema.base import GitSha1, NonEmpty, Record, Sha256, Slug, Timestamp, canonical_json
from schema.states import CheckOutcome, Depth, FileState, RunOutcome

GENESIS = "0" * 64
Level = Literal["hash", "reaggregate", "recompute"]


class Check(Record):
    """One comparison: a file with its recorded bytes, an extraction, or a claim with a recomputation.

    `subject` is the file's path, the source's title or the claim's id. `difference` is observed
    minus expected, as a decimal string, for numbers only. `detail` is one sentence where something
    has to be explained: a diagnosis, an error, a reason for not running.
    """

    kind: Literal["file", "source", "claim"]
    subject: NonEmpty
    analysis: Slug | None = None
    pointer: str | None = None
    expected: str | None = None
    observed: str | None = None
    difference: str | None = None
    outcome: FileState | CheckOutcome
    depth: Depth = Depth.SAVED
    implementation: str | None = None
    detail: str | None = None


class Environment(Record):
    """On what a run ran: enough to say what differed when two runs do."""

    python: NonEmpty
    platform: NonEmpty
    machine: str
    sqlite: NonEmpty
    packages: dict[str, str]


class Counts(Record):
    """How a run's claims and files came out; every claim is in exactly one of the claim counts."""

    files: int = Field(ge=0)
    files_matching: int = Field(ge=0)
    claims: int = Field(ge=0)
    confirmed: int = Field(ge=0)
    denied: int = Field(ge=0)
    could_not_run: int = Field(ge=0)
    not_recomputed: int = Field(ge=0, description="evidence left out by the level of the run")
    saved: int = Field(ge=0, description="nothing could recompute them: no evidence is named")
    findings: int = Field(ge=0, description="of `claims`, those that are findings")
    findings_confirmed: int = Field(ge=0)
    independent: int = Field(ge=0, description="of `confirmed`, those confirmed by a second implementation")


class Verification(Record):
    """One run of one package, as it is stored: append-only and chained."""

    artifact: Slug
    work: Slug
    manifest_sha256: Sha256
    origin: Literal["store", "folder"]
    level: Level
    outcome: RunOutcome
    depth: Depth = Field(description="the weakest depth among confirmed published claims, else saved")
    verdict: NonEmpty
    counts: Counts
    started_at: Timestamp
    finished_at: Timestamp
    who: NonEmpty
    code_version: NonEmpty
    git_commit: GitSha1 | None = None
    seeds: dict[str, Annotated[int, Field(ge=0)]] = Field(
        description="the seed that was given to each analysis that takes one, as its manifest states it"
    )
    environment: Environment
    checks: tuple[Check, ...]


def chain_hash(previous: str, run: Verification) -> str:
    """SHA-256 over the canonical JSON of the previous hash, the run and its checks.

    The first run's `previous` is GENESIS.
    """
    return hashlib.sha256(
        canonical_json({"previous": previous, "run": run.model_dump(mode="json")})
    ).hexdigest()
