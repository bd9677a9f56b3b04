"""Out-of-fold predictions from their CSV file, by head and category."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from classifiers.analyses.tables import Row, read_rows
from classifiers.calibrators import NoCalibration, Scale
from classifiers.errors import ClassifierError
from classifiers.metrics.sample import Floats, Sample, probabilities

INPUT = "predictions"
CELL_COLUMNS = ("stratum", "language", "has_abstract")
COLUMNS = (
    *("work", "head", "category", "fold", "group", "y", "weight", "score", "probability"),
    *CELL_COLUMNS,
)


@dataclass
class HeadPredictions:
    """The records of one head and category whose label is known, and how many it isn't known of.

    probability : None where a record has none; either all have one or none has.
    """

    head: str
    category: str
    unknown: int = 0
    folds: list[str] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    y: list[bool] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    probability: list[float | None] = field(default_factory=list)
    cells: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in CELL_COLUMNS})

    @property
    def calibrated(self) -> bool:
        """True when the records have calibrated probabilities."""
        return bool(self.probability) and self.probability[0] is not None

    @property
    def crossing_groups(self) -> int:
        """How many groups have records in more than one fold; cross-fitting promises none."""
        return len(set(zip(self.groups, self.folds, strict=True))) - len(set(self.groups))

    def before(self, scale: Scale) -> Sample:
        """The raw scores as probabilities."""
        return probabilities(
            NoCalibration(scale).predict(np.array(self.scores)), self.y, self.weights, self.groups
        )

    def after(self) -> Sample:
        """The calibrated probabilities. Only for `calibrated` heads."""
        values: Floats = np.array(self.probability, dtype=np.float64)
        return probabilities(values, self.y, self.weights, self.groups)


@dataclass(frozen=True)
class Predictions:
    """All heads by (head, category), sorted; with the numbers of rows and of works of the file."""

    heads: Mapping[tuple[str, str], HeadPredictions]
    rows: int
    works: int


def read_predictions(inputs: Mapping[str, Path], scale: Scale) -> Predictions:
    """The input `predictions`: a line for each work, head and category.

    `y` is 1, 0 or empty for unknown, which is counted and nothing else. `weight` is above 0, `score` is
    on the given scale, `probability` is from 0 to 1 or empty. An empty `group` is a group of its own;
    empty stratum, language and has_abstract mean that nothing is recorded.

    Raises
    ------
    ClassifierError : with the line, for what can't be read; for a work that a head has twice; for a head
        of which some known records have a probability and some have none.
    """
    heads: dict[tuple[str, str], HeadPredictions] = {}
    seen: set[tuple[str, str, str]] = set()
    rows = read_rows(inputs, INPUT, COLUMNS, others=True)
    for row in rows:
        work, head, category = row.text("work"), row.text("head"), row.text("category")
        if (work, head, category) in seen:
            raise row.error(f"{work!r} is there twice for head {head!r} and category {category!r}")
        seen.add((work, head, category))
        _add(heads.setdefault((head, category), HeadPredictions(head, category)), row, work, scale)
    for found in heads.values():
        with_one = sum(p is not None for p in found.probability)
        if 0 < with_one < len(found.probability):
            raise ClassifierError(
                f"{INPUT}: head {found.head!r} has a probability for {with_one} of {len(found.probability)} "
                f"records with a label for {found.category!r}; expected all or none"
            )
    return Predictions(
        {key: heads[key] for key in sorted(heads)}, len(rows), len({work for work, _, _ in seen})
    )


def _add(found: HeadPredictions, row: Row, work: str, scale: Scale) -> None:
    fold, score, weight = row.text("fold"), row.number("score"), row.number("weight")
    probability, y = row.number_or_none("probability"), row.cells["y"].strip()
    if weight <= 0:
        raise row.error(f"weight is {weight:g}; expected a number above 0")
    if not 1e-100 <= weight <= 1e100:
        raise row.error(f"weight is {weight:g}; expected 1e-100 to 1e100")
    if scale == "probability" and not 0 <= score <= 1:
        raise row.error(f"score is {score:g}; expected 0 to 1, or the parameter SCALE set to log_odds")
    if probability is not None and not 0 <= probability <= 1:
        raise row.error(f"probability is {probability:g}; expected 0 to 1, or empty")
    if y not in ("", "0", "1"):
        raise row.error(f"y is {y!r}; expected 1, 0, or empty where it isn't known")
    has_abstract = row.cells["has_abstract"].strip()
    if has_abstract not in ("", "0", "1"):
        raise row.error(f"has_abstract is {has_abstract!r}; expected 1, 0, or empty where it isn't known")
    if not y:
        found.unknown += 1
        return
    group = row.cells["group"].strip()
    found.folds.append(fold)
    # The two kinds of names can't meet.
    found.groups.append(f"group {group}" if group else f"work {work}")
    found.y.append(y == "1")
    found.weights.append(weight)
    found.scores.append(score)
    found.probability.append(probability)
    for name in CELL_COLUMNS:
        found.cells[name].append(row.cells[name].strip())
