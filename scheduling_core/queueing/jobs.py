"""Jobs and traces in whole ticks; how long a tick is, the trace says.

A job holds all its GPUs or none (a gang). `duration` is what it runs with all of them, without restarts: only
the simulator and policies declared `oracle` may read it. Times that a tick can't hold aren't rounded: a trace
has a tick that holds them all (`ticks_of`).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from scheduling_core.errors import SchedulingError

NEVER = 1 << 62
"""A tick that is never reached: the deadline of a job without one, the wake-up that nobody needs."""


@dataclass(frozen=True, slots=True)
class Job:
    """One job.

    submit, duration, deadline : ticks; the deadline is absolute, None for a job without. gpus : all held
    together. gpu_type : the only type that it can use, None for any. model, user : what it trains and who
    submitted it, where a trace says so.
    """

    id: str
    submit: int
    gpus: int
    duration: int
    deadline: int | None = None
    gpu_type: str | None = None
    model: str | None = None
    user: str | None = None

    def __post_init__(self) -> None:
        if self.submit < 0:
            raise SchedulingError(f"Job {self.id}: submitted at {self.submit}, expected 0 or later.")
        if self.gpus < 1:
            raise SchedulingError(f"Job {self.id}: {self.gpus} GPUs, expected at least 1.")
        if self.duration < 1:
            raise SchedulingError(f"Job {self.id}: runs for {self.duration} ticks, expected at least 1.")
        if self.deadline is not None and self.deadline <= self.submit:
            raise SchedulingError(
                f"Job {self.id}: its deadline {self.deadline} is not after its submission at {self.submit}."
            )

    @property
    def row(self) -> dict[str, Any]:
        """Plain values, times in ticks; what is None is left out."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True)
class Trace:
    """Jobs in the order of their submission, ties in the order of their file.

    tick : seconds of one tick. duration_means : what the source's durations are. synthetic : generated, not
    measured; the name says how.
    """

    name: str
    jobs: tuple[Job, ...]
    tick: Fraction = Fraction(1)
    duration_means: str = "run time with all GPUs, without restarts"
    synthetic: bool = False
    notes: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        if self.tick <= 0:
            raise SchedulingError(f"{self.name}: a tick of {self.tick} s, expected more than 0.")
        seen: set[str] = set()
        for job in self.jobs:
            if job.id in seen:
                raise SchedulingError(f"{self.name}: two jobs have the id {job.id!r}, expected one.")
            seen.add(job.id)
        object.__setattr__(self, "jobs", tuple(sorted(self.jobs, key=lambda job: job.submit)))

    def __len__(self) -> int:
        return len(self.jobs)

    @cached_property
    def sha256(self) -> str:
        """Of tick and jobs, whatever the file was that they came from."""
        digest = hashlib.sha256(f"tick {self.tick}\n".encode())
        for job in self.jobs:
            digest.update(repr(tuple(job.row.items())).encode() + b"\n")
        return digest.hexdigest()

    @property
    def gpu_ticks(self) -> int:
        """GPU time asked for: GPUs x duration over all jobs, in GPU ticks."""
        return sum(job.gpus * job.duration for job in self.jobs)

    @property
    def span(self) -> int:
        """Ticks from the first submission to the last."""
        return self.jobs[-1].submit - self.jobs[0].submit if self.jobs else 0

    def seconds(self, ticks: int) -> Fraction:
        """The length of ticks in seconds, exact."""
        return ticks * self.tick

    def offered_load(self, gpus: int) -> Fraction:
        """GPU time asked for over GPU time there from the first submission to the last.

        Raises
        ------
        SchedulingError : where all jobs are submitted at once, so that no load can be told.
        """
        if self.span == 0:
            raise SchedulingError(f"{self.name}: all jobs are submitted at once; there is no offered load.")
        return Fraction(self.gpu_ticks, gpus * self.span)

    def gpus_at_load(self, load: Fraction | float) -> int:
        """The GPUs, a whole number, at which the offered load is nearest `load`; enough for every gang."""
        offered = self.offered_load(1)
        return max(max(job.gpus for job in self.jobs), round(offered / Fraction(load)))

    def with_deadlines(self, deadlines: Mapping[str, int | None]) -> Trace:
        """The same trace with other deadlines, by job id; jobs that aren't named have none."""
        return replace(self, jobs=tuple(replace(job, deadline=deadlines.get(job.id)) for job in self.jobs))

    def only(self, ids: Iterable[str]) -> Trace:
        """The same trace with these jobs alone."""
        wanted = set(ids)
        return replace(self, jobs=tuple(job for job in self.jobs if job.id in wanted))


def ticks_of(times: Sequence[Fraction]) -> int:
    """The least number of ticks in a unit at which all `times` (in units) are whole."""
    return math.lcm(1, *(time.denominator for time in times))
