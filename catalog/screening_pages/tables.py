"""Votes, labels, scores and calls as rows, for statistics, training and export."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from catalog.screening_pages.cells import Cell
from schema.screening import Rater
from schema.states import Call, ScreeningState, Status


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

    `cast` of `panel` votes are there; until all are, `state` is that of the votes so far and the estimands
    are None, as they are where the votes don't give them an answer. `statuses` as in CategoryStateRow.
    """

    study: str
    round: str
    origin: str
    instrument: str
    work: str
    title: str
    category: str | None
    state: ScreeningState
    panel: int
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
