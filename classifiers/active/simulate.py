"""Screening simulated on labels that are known: which record would have been read when.

After every `batch` labels the learner is fitted again and the strategy chooses the next batch. The random
arm is the control: what an order without any learning finds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from classifiers.active.batches import BatchSizes, Reason, by_hash, draw_batch, spread
from classifiers.active.discovery import Discovery
from classifiers.active.learners import LeastSquares
from classifiers.active.pool import LabelledPool
from classifiers.errors import ClassifierError

Bools: TypeAlias = NDArray[np.bool_]
Choice: TypeAlias = tuple[int, str]
"""A row of the pool and why it was chosen."""


class Strategy(StrEnum):
    CERTAINTY = "certainty"
    """The records that are most likely relevant."""
    UNCERTAINTY = "uncertainty"
    """The records nearest the border between relevant and irrelevant."""
    MIX = "mix"
    """Batches of `draw_batch`: title and abstract are the sides whose spread counts."""
    RANDOM = "random"
    """The control: no learning."""


class Ended(StrEnum):
    ALL_FOUND = "all_found"
    """The last relevant record was found: a simulation knows, a screening doesn't."""
    ALL_SCREENED = "all_screened"
    INTERRUPTED = "interrupted"
    """The progress callback said so; the result holds what was screened until then."""


@dataclass(frozen=True)
class Step:
    """One record that was screened: why, after how many labels the learner was fitted last, its label."""

    id: str
    relevant: bool
    reason: str
    trained_on: int


@dataclass(frozen=True)
class Simulation:
    """The order of discovery and what it follows from; priors are no part of the order."""

    strategy: Strategy
    batch: int
    seed: int
    priors: tuple[str, ...]
    steps: tuple[Step, ...]
    ended: Ended
    discovery: Discovery

    def to_json(self) -> dict[str, Any]:
        """Plain JSON: the settings, the summary of `Discovery` and the order."""
        return {
            "strategy": self.strategy.value,
            "batch": self.batch,
            "seed": self.seed,
            "priors": list(self.priors),
            "ended": self.ended.value,
            "summary": self.discovery.summary(),
            "curve": [list(point) for point in self.discovery.curve()],
            "order": [
                {"id": s.id, "relevant": s.relevant, "reason": s.reason, "trained_on": s.trained_on}
                for s in self.steps
            ],
        }


Progress: TypeAlias = Callable[[int, int], bool | None]
"""Called with (screened, found) after every batch; False ends the simulation."""


def simulate(
    pool: LabelledPool,
    priors: Sequence[str],
    *,
    strategy: Strategy = Strategy.CERTAINTY,
    batch: int = 1,
    seed: int = 0,
    to_the_end: bool = False,
    progress: Progress | None = None,
) -> Simulation:
    """Screen the pool in the strategy's order until the last relevant record is found.

    Parameters
    ----------
    priors : ids that are labelled before the screening begins.
    batch : how many records are read between two fits.
    seed : for what is left to chance: the control, anchors, and the order while only one kind is known.
    to_the_end : screen all records instead.

    Raises
    ------
    ClassifierError : for a batch below 1, or priors that aren't in the pool.
    """
    if batch < 1:
        raise ClassifierError(f"the batch is {batch}; expected a whole number from 1 up")
    screening = _Screening(pool, pool.rows(priors), Strategy(strategy), seed)
    records, relevant = screening.left, int(pool.relevant[screening.unread].sum())
    steps: list[Step] = []
    found, ended = 0, None
    with threadpool_limits(1):  # more threads would add in another order and change last bits
        while ended is None:
            if found == relevant and not to_the_end:
                ended = Ended.ALL_FOUND
            elif screening.left == 0:
                ended = Ended.ALL_SCREENED
            else:
                trained_on = screening.labelled
                for row, reason in screening.read(min(batch, screening.left)):
                    steps.append(Step(pool.ids[row], bool(pool.relevant[row]), reason, trained_on))
                    found += steps[-1].relevant
                if progress is not None and progress(len(steps), found) is False:
                    ended = Ended.INTERRUPTED
    discovery = Discovery.of([step.relevant for step in steps], relevant, records)
    return Simulation(Strategy(strategy), batch, seed, tuple(priors), tuple(steps), ended, discovery)


class _Screening:
    """What is read and what isn't, and the learners that saw the labels of what is."""

    def __init__(self, pool: LabelledPool, priors: Sequence[int], strategy: Strategy, seed: int) -> None:
        self.pool, self.strategy, self.seed = pool, strategy, seed
        self.unread: Bools = np.ones(len(pool), np.bool_)
        self._chance = {one: i for i, one in enumerate(by_hash(pool.ids, seed))}
        self._rounds = 0
        views: tuple[Any, ...] = () if strategy is Strategy.RANDOM else (pool.matrix,)
        if strategy is Strategy.MIX:
            views += pool.sides
        self._learners = [LeastSquares(view) for view in views]
        self._label(priors)

    @property
    def left(self) -> int:
        return int(self.unread.sum())

    @property
    def labelled(self) -> int:
        return len(self.unread) - self.left

    def read(self, size: int) -> list[Choice]:
        """Choose the next `size` records, and learn their labels."""
        if not self._learners or not self._learners[0].ready:
            chosen = self._by_chance(size)
        elif self.strategy is Strategy.MIX:
            chosen = self._by_mix(size)
        else:
            chosen = self._by_score(size)
        self._rounds += 1
        self._label([row for row, _ in chosen])
        return chosen

    def _label(self, rows: Sequence[int]) -> None:
        self.unread[rows] = False
        for learner in self._learners:
            for row in rows:
                learner.add(row, bool(self.pool.relevant[row]))

    def _by_chance(self, size: int) -> list[Choice]:
        rows = sorted(np.flatnonzero(self.unread).tolist(), key=lambda row: self._chance[self.pool.ids[row]])
        return [(row, "random") for row in rows[:size]]

    def _by_score(self, size: int) -> list[Choice]:
        scores = self._learners[0].fit().scores()
        certain = self.strategy is Strategy.CERTAINTY
        # Rows are in the order of ids and the sort is stable, so that ties go to the lesser id.
        value = np.where(self.unread, -scores if certain else np.abs(scores), np.inf)
        rows = [int(value.argmin())] if size == 1 else np.argsort(value, kind="stable")[:size].tolist()
        return [(row, Reason.CERTAIN.value if certain else Reason.UNCERTAIN.value) for row in rows]

    def _by_mix(self, size: int) -> list[Choice]:
        rows = np.flatnonzero(self.unread)
        whole, *sides = (learner.fit().scores()[rows] for learner in self._learners)
        batch = draw_batch(
            [self.pool.ids[row] for row in rows],
            spread(np.array(sides)[:, None, :]),
            -np.abs(whole),
            seed=f"{self.seed}:{self._rounds}:",
            sizes=BatchSizes().scaled(size),
        )
        row_of = {self.pool.ids[row]: int(row) for row in rows}
        return [(row_of[pick.id], pick.reason.value) for pick in batch.picks]
