"""What a release says of itself: a record whose canonical JSON is hashed into the version."""

import math
from dataclasses import asdict
from typing import Any, Literal

from pydantic import Field, JsonValue

from classifiers.student import Calls, TrainedHead
from schema.base import NonEmpty, Record, Sha256
from schema.scores import Availability
from schema.states import Status

FORMAT = "proofshelf-student/1"
"""Changes whenever stored arrays would be read or used in another way."""
Maturity = Literal["passed", "not_passed", "unknown"]


class StoredFile(Record):
    """One file of a release."""

    bytes: int = Field(ge=0)
    sha256: Sha256


class StoredFeatures(Record):
    """How records are read; see `classifiers.features.Features`."""

    use: tuple[NonEmpty, ...] = Field(min_length=1)
    min_df: int = Field(ge=1)
    documents: int = Field(ge=1)


class StoredModel(Record):
    """What `classifiers.student.packing.describe` gives. heads: (side, category) in column order."""

    features: StoredFeatures
    heads: tuple[tuple[NonEmpty, NonEmpty], ...] = Field(min_length=1)
    calibrators: tuple[dict[str, JsonValue] | None, ...]


class StoredParameters(Record):
    """See `classifiers.student.Parameters`."""

    features: tuple[NonEmpty, ...]
    min_df: int
    C: float
    balance: bool
    folds: int
    replicates: int


class StoredCounts(Record):
    """See `classifiers.student.LabelCounts`."""

    positives: int = Field(ge=0)
    negatives: int = Field(ge=0)
    unknown: int = Field(ge=0)
    without_text: int = Field(ge=0)


class StoredHead(Record):
    """One head with its evidence, or the sentence why there is no model.

    calibration : as `classifiers.calibration.Calibration.to_json`, without calibrators. calls : out of
    fold, by each policy; a threshold of null calls nothing.
    """

    side: NonEmpty
    category: NonEmpty
    availability: Availability
    reason: str | None
    counts: StoredCounts
    unscored: int = Field(ge=0)
    calibration: dict[str, JsonValue] | None
    calls: tuple[dict[str, JsonValue], ...]


class Content(Record):
    """All of a release but its arrays, and their hashes: the version is the SHA-256 of this.

    code_sha256 : of the classifiers' own source files. libraries : versions that its numbers were
    computed with. arrays : for each file the hash of each array.
    """

    format: Literal["proofshelf-student/1"]
    inputs_sha256: Sha256
    code_sha256: Sha256
    libraries: dict[str, NonEmpty]
    parameters: StoredParameters
    seed: int
    maturity: Maturity
    status: Status
    out_of_fold_status: Status
    model: StoredModel
    heads: tuple[StoredHead, ...] = Field(min_length=1)
    arrays: dict[str, dict[str, Sha256]]
    files: dict[str, StoredFile]


def stored_head(head: TrainedHead) -> dict[str, Any]:
    """A head with its evidence as plain JSON."""
    return {
        "side": head.name.side,
        "category": head.name.category,
        "availability": head.availability,
        "reason": head.reason,
        "counts": asdict(head.counts),
        "unscored": head.unscored,
        "calibration": _calibration(head),
        "calls": [_calls(calls) for calls in head.calls],
    }


def _calibration(head: TrainedHead) -> dict[str, Any] | None:
    """Choices and figures; the final calibrator stands with the model, those of the folds serve no more."""
    if head.calibration is None:
        return None
    told = head.calibration.to_json()
    folds = [{"fold": fold["fold"], "choice": fold["choice"]} for fold in told["folds"]]
    return {name: value for name, value in told.items() if name != "final"} | {"folds": folds}


def _calls(calls: Calls) -> dict[str, Any]:
    intervals = {name: getattr(calls, name) for name in ("precision", "recall", "f1")}
    return {
        "policy": calls.policy,
        "called": int(calls.called.sum()),
        "thresholds": [t if math.isfinite(t) else None for t in calls.thresholds],
        "confusion": asdict(calls.confusion),
        **{name: None if i is None else asdict(i) for name, i in intervals.items()},
    }
