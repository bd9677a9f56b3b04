"""Releases, what they scored and called."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from schema.scores import DecisionRun, Head, ModelRelease
from schema.states import Call


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
    """What one decision run says of one work. A call is a model's, never a label.

    `synthetic` says that the release's study is made up.
    """

    run: str
    release: str
    status: str
    covered: bool
    calls: tuple[CallRow, ...]
    works: int
    works_covered: int
    synthetic: bool


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
