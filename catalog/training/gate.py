"""The maturity gate over a study's releases: each that learned from other labels is a training round.

The hold-out of a head is made of the works that every release since has scored out of fold, with the
labels of the newest: no model that scores a work there has seen it or its venue.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from classifiers.maturity import (
    WINDOW,
    HoldOut,
    HoldOutRound,
    TrainingRound,
    Verdict,
    published_gate,
    strict_gate,
    training_rounds,
)
from classifiers.student.thresholds import quota

Gate = Literal["published", "strict"]


@dataclass(frozen=True)
class PastRelease:
    """A release as the gate reads it: its number, its panel, and its out-of-fold predictions as CSV."""

    number: int
    panel: str
    predictions: str


@dataclass(frozen=True)
class HeadGate:
    """Both gates' verdicts for one head, and the rounds behind them."""

    head: str
    rounds: tuple[TrainingRound, ...]
    works: int
    positives: int
    verdicts: Mapping[str, Verdict]


@dataclass(frozen=True)
class GateReport:
    """The gate of a release: passed where every head with a calibration passes."""

    gate: Gate
    heads: tuple[HeadGate, ...]

    @property
    def maturity(self) -> Literal["passed", "not_passed", "unknown"]:
        """Failed by any head that fails; unknown while any isn't known; never passed without heads."""
        states = [head.verdicts[self.gate].passed for head in self.heads]
        if False in states:
            return "not_passed"
        return "unknown" if None in states or not states else "passed"

    def to_json(self) -> dict[str, Any]:
        """`rounds` are the first head's; `verdicts` hold every head's conditions, each naming its head."""
        verdicts = []
        for gate in ("published", "strict"):
            found = [(head.head, head.verdicts[gate]) for head in self.heads]
            states = [verdict.passed for _, verdict in found]
            passed = False if False in states else (None if None in states or not states else True)
            conditions = [
                {"name": f"{name}: {c.name}", "passed": c.passed, "sentence": c.sentence}
                for name, verdict in found
                for c in verdict.conditions
            ]
            verdicts.append({"gate": gate, "passed": passed, "conditions": conditions})
        return {
            "gate": self.gate,
            "maturity": self.maturity,
            "rounds": [asdict(r) for r in self.heads[0].rounds] if self.heads else [],
            "heads": [
                {"head": h.head, "works": h.works, "positives": h.positives,
                 "rounds": [asdict(r) for r in h.rounds]}
                for h in self.heads
            ],
            "verdicts": verdicts,
        }  # fmt: skip


def judge_gate(
    past: Sequence[PastRelease], newest: PastRelease, heads: Sequence[str], gate: Gate, seed: int
) -> GateReport:
    """Judge each head ("side/category") by the releases since its first, the newest included."""
    releases = [*past, newest]
    tables = [_table(release.predictions) for release in releases]
    return GateReport(gate, tuple(_head(name, releases, tables, seed) for name in heads))


Rows = dict[str, tuple[float, float | None, float, str]]


def _table(text: str) -> dict[str, Rows]:
    """Head -> work -> score, label (None: unknown), weight, group."""
    found: dict[str, Rows] = {}
    for row in csv.DictReader(io.StringIO(text)):
        label = float(row["y"]) if row["y"] else None
        group = row["group"] or f"({row['work']})"
        entry = (float(row["score"]), label, float(row["weight"]), group)
        found.setdefault(f"{row['head']}/{row['category']}", {})[row["work"]] = entry
    return found


def _that_learned_anew(there: Sequence[tuple[PastRelease, Rows]]) -> list[tuple[PastRelease, Rows]]:
    """The last release for each set of labels.

    To train again on the same labels (with another seed, say) teaches nothing, so it is no further round:
    a head that hasn't seen a new label can't show that new labels don't change it.
    """
    taught = [{work: row[1] for work, row in rows.items() if row[1] is not None} for _, rows in there]
    return [pair for i, pair in enumerate(there) if i + 1 == len(there) or taught[i] != taught[i + 1]]


def _head(
    name: str, releases: Sequence[PastRelease], tables: Sequence[Mapping[str, Rows]], seed: int
) -> HeadGate:
    there = _that_learned_anew([(r, t[name]) for r, t in zip(releases, tables, strict=True) if name in t])
    there = there[-WINDOW - 1 - 3 :]  # the gate looks no further back, and each round narrows the hold-out
    newest = there[-1][1]
    shared = [w for w in sorted(newest) if newest[w][1] is not None and all(w in rows for _, rows in there)]
    labels = np.array([newest[w][1] for w in shared], dtype=np.float64)
    weights = np.array([newest[w][2] for w in shared], dtype=np.float64)
    positives = int(labels.sum())
    if not shared or positives in (0, len(shared)):
        nothing = {"published": published_gate(()), "strict": strict_gate(HoldOut([]), (), seed)}
        return HeadGate(name, (), len(shared), positives, nothing)
    rate = float((labels * weights).sum() / weights.sum())
    scored = [np.array([rows[w][0] for w in shared]) for _, rows in there]
    rounds_ = [
        HoldOutRound(release.number, scores, quota(scores, weights, rate), release.panel)
        for (release, _), scores in zip(there, scored, strict=True)
    ]
    holdout = HoldOut(labels, weights, np.array([newest[w][3] for w in shared]))
    rounds = training_rounds(holdout, rounds_)
    return HeadGate(name, rounds, len(shared), positives, {
        "published": published_gate(rounds), "strict": strict_gate(holdout, rounds_, seed),
    })  # fmt: skip
