"""How well an order of screening finds the relevant records.

Prior records, known before the screening began, are no part of any measure. The definitions of WSS, ERF
and recall are those of asreview-insights, so that figures can be compared: A. M. Cohen and others,
J. Am. Med. Inform. Assoc. 13 (2006) 206-219, for WSS; G. Ferdinands and others, Systematic Reviews 12
(2023) 100, for ATD. NDCG is binary, with the discount log2(1 + position).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from classifiers.errors import ClassifierError

Ints: TypeAlias = NDArray[np.int64]

WSS_LEVELS = (0.8, 0.9, 0.95, 1.0)
"""The recalls at which a summary gives the work saved."""
EARLY = 0.1
"""The part of the records after which a summary gives recall and ERF."""


@dataclass(frozen=True)
class Discovery:
    """When each relevant record was found.

    `positions`, ascending from 1: where in the order the relevant records stand that were found.
    `relevant`: how many there are. `records`: how many are screened in all, found or not, without
    priors. `screened`: how many were, if the screening ended early. A measure that asks for what
    wasn't reached is None, and never a guess.
    """

    positions: tuple[int, ...]
    relevant: int
    records: int
    screened: int

    def __post_init__(self) -> None:
        at = self.positions
        if not 0 <= self.screened <= self.records or not len(at) <= self.relevant <= self.records:
            raise ClassifierError(
                f"{len(at)} of {self.relevant} relevant among {self.screened} of {self.records} screened"
                " records can't be; expected found <= relevant and screened <= records"
            )
        if any(b <= a for a, b in zip((0, *at), at, strict=False)) or (at and at[-1] > self.screened):
            raise ClassifierError("the positions of found records don't ascend from 1 to the last screened")

    @classmethod
    def of(cls, labels: ArrayLike, relevant: int | None = None, records: int | None = None) -> Discovery:
        """From the labels (n,), 0 or 1, in the order of screening; the rest of the pool isn't screened."""
        found = np.asarray(labels, bool)
        positions = tuple((np.flatnonzero(found) + 1).tolist())
        return cls(
            positions,
            len(positions) if relevant is None else relevant,
            len(found) if records is None else records,
            len(found),
        )

    def recall(self, screened: int) -> float | None:
        """The part of the relevant records among the first `screened`; None past the end, or without any."""
        if not self.relevant or not 0 <= screened <= self.screened:
            return None
        return int(np.searchsorted(self.positions, screened, side="right")) / self.relevant

    def recall_after(self, part: float = EARLY) -> float | None:
        """Recall after that part of the records, rounded down to whole records."""
        return self.recall(_whole(part * self.records))

    def wss(self, level: float = 0.95) -> float | None:
        """Work saved over sampling: (where random order finds the k-th relevant - where it was found) / n.

        k is the greatest number of relevant records that is at most `level` of all, and at least 1.
        """
        k = max(1, _whole(level * self.relevant))
        if self.records < 2 or k > len(self.positions):
            return None
        return (self._random_position(k) - self.positions[k - 1]) / self.records

    def erf(self, part: float = EARLY) -> float | None:
        """Extra relevant records found over random order after that part of the records, of all relevant."""
        screened = _whole(part * self.records)
        recall = self.recall(screened)
        if recall is None or not screened:
            return None
        return recall - int(self._random_found()[screened - 1]) / self.relevant

    def atd(self) -> float | None:
        """Average time to discovery: the mean position of the relevant records, when all were found."""
        if not self.relevant or len(self.positions) < self.relevant:
            return None
        return sum(self.positions) / self.relevant

    def ndcg(self) -> float | None:
        """Normalised discounted cumulative gain, when all relevant records were found."""
        if not self.relevant or len(self.positions) < self.relevant:
            return None
        ideal = math.fsum(1 / math.log2(1 + i) for i in range(1, self.relevant + 1))
        return math.fsum(1 / math.log2(1 + i) for i in self.positions) / ideal

    def summary(self) -> dict[str, float | int | None]:
        """Every measure by name, plain JSON."""
        atd = self.atd()
        return {
            "records": self.records,
            "screened": self.screened,
            "relevant": self.relevant,
            "found": len(self.positions),
            **{f"wss_at_{_percent(level)}": self.wss(level) for level in WSS_LEVELS},
            f"recall_after_{_percent(EARLY)}": self.recall_after(),
            f"erf_after_{_percent(EARLY)}": self.erf(),
            "atd": atd,
            "atd_normalised": None if atd is None else atd / self.records,
            "ndcg": self.ndcg(),
        }

    def curve(self) -> list[tuple[int, int]]:
        """(screened, found) at the start, at each discovery and at the end: the steps of the recall curve."""
        steps = [(0, 0), *((at, k) for k, at in enumerate(self.positions, start=1))]
        if steps[-1][0] < self.screened:
            steps.append((self.screened, len(self.positions)))
        return steps

    def _random_found(self) -> Ints:
        """How many random order has found after each record, rounded: asreview-insights' rule."""
        return np.round(np.linspace(0, self.relevant, self.records)).astype(np.int64)

    def _random_position(self, k: int) -> int:
        return int(np.searchsorted(self._random_found(), k)) + 1


def _whole(value: float) -> int:
    """Rounded down, but 0.95 x 100 is 95 although its product in binary may lie just below."""
    return math.floor(value + 1e-9)


def _percent(part: float) -> str:
    return f"{100 * part:g}"
