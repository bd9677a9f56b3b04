"""The log of decisions: time, job, action, and where; a file of it is read back by any checker.

decisions.csv: time (ticks of the simulator), job (its id), action, place ("node:gpus node:gpus", empty where
the placement rule doesn't say). At one time: ends, preemptions, starts, resumptions, each in the order in
which they were made.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from scheduling_core.queueing.views import Numbers

COLUMNS = ("time", "job", "action", "place")
Place = tuple[tuple[int, int], ...]


class Action(StrEnum):
    """What happened to a job."""

    END = "end"
    PREEMPT = "preempt"
    START = "start"
    RESUME = "resume"


class Decision(NamedTuple):
    """One line: job is its number in the trace."""

    time: int
    job: int
    action: Action
    place: Place


@dataclass
class Decisions:
    """Kept in blocks, one for each kind of action at an event."""

    _blocks: list[tuple[int, Action, Numbers, Sequence[Place]]] = field(default_factory=list)

    def add(self, time: int, action: Action, jobs: Numbers, places: Sequence[Place] = ()) -> None:
        """Append what happened to `jobs` at `time`."""
        if len(jobs):
            self._blocks.append((time, action, np.array(jobs), places))

    def __iter__(self) -> Iterator[Decision]:
        for time, action, jobs, places in self._blocks:
            for i, job in enumerate(jobs.tolist()):
                yield Decision(time, job, action, places[i] if places else ())

    def __len__(self) -> int:
        return sum(len(jobs) for _, _, jobs, _ in self._blocks)

    def text(self, ids: Sequence[str]) -> str:
        """The log as CSV, with the ids of the trace's jobs."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        for time, job, action, place in self:
            where = " ".join(f"{node}:{gpus}" for node, gpus in place)
            writer.writerow((time, ids[job], action.value, where))
        return stream.getvalue()

    def sha256(self, ids: Sequence[str]) -> str:
        """Of the CSV's bytes."""
        return hashlib.sha256(self.text(ids).encode()).hexdigest()
