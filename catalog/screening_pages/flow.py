"""The counts of a PRISMA 2020 flow."""

from dataclasses import dataclass
from typing import Literal

from schema.states import Estimand, Status


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
