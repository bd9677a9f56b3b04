"""What a policy may see of the jobs that are here, and when it is asked.

A `View` has no durations: reading one raises. Only a policy that declares itself `oracle` is handed an
`OracleView`, which has them. Arrays are aligned with `jobs`, the numbers of the jobs that have been submitted
and haven't ended, in the order of their submission.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NoReturn

import numpy as np
from numpy.typing import NDArray

from scheduling_core.errors import SchedulingError

if TYPE_CHECKING:
    from scheduling_core.queueing.state import State

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Reals = NDArray[np.float64]


class InformationError(SchedulingError):
    """A policy that isn't declared `oracle` asked for a duration."""


@dataclass(frozen=True)
class Setting:
    """What a policy is told before the first job: never a job's duration.

    jobs : how many there will be, so that it can number its own tables. gpus : of the cluster.
    ticks : the whole number of the simulator's ticks in exact seconds; `Policy.resolution` made it whole.
    """

    jobs: int
    gpus: int
    ticks: Callable[[Fraction | int], int]


class View:
    """The jobs that are here at `now`, without their durations. Times in ticks."""

    __slots__ = ("_state", "jobs", "now")

    def __init__(self, state: State, now: int, jobs: Numbers) -> None:
        self._state, self.now, self.jobs = state, now, jobs

    @property
    def submit(self) -> Numbers:
        """When each was submitted."""
        return self._state.submit[self.jobs]

    @property
    def gpus(self) -> Numbers:
        """The GPUs of each gang."""
        return self._state.gpus[self.jobs]

    @property
    def deadline(self) -> Numbers:
        """Absolute deadlines; `NEVER` for a job without one."""
        return self._state.deadline[self.jobs]

    @property
    def executed(self) -> Numbers:
        """Ticks for which each has held its GPUs, restarts included."""
        return self._state.executed[self.jobs]

    @property
    def service(self) -> Numbers:
        """Attained service: GPUs x `executed`, in GPU ticks."""
        return self._state.gpus[self.jobs] * self._state.executed[self.jobs]

    @property
    def waited(self) -> Numbers:
        """Ticks since submission in which each didn't hold its GPUs."""
        return self.now - self._state.submit[self.jobs] - self._state.executed[self.jobs]

    @property
    def running(self) -> Flags:
        """Whether each holds its GPUs."""
        return self._state.running[self.jobs]

    @property
    def started(self) -> Flags:
        """Whether each has ever held its GPUs."""
        return self._state.first_start[self.jobs] >= 0

    def held_by(self, jobs: Numbers) -> Numbers:
        """`executed` of these job numbers, also of jobs that have ended."""
        return self._state.executed[jobs]

    def window_of(self, jobs: Numbers) -> tuple[Numbers, Numbers]:
        """Submission and deadline of these job numbers, also of jobs that have ended."""
        return self._state.submit[jobs], self._state.deadline[jobs]

    @property
    def duration(self) -> Numbers:
        """Refused: a policy that needs it declares itself `oracle`."""
        return _refuse()

    @property
    def remaining(self) -> Numbers:
        """Refused: a policy that needs it declares itself `oracle`."""
        return _refuse()


class OracleView(View):
    """The same with durations, for policies that are declared `oracle` and reported apart."""

    __slots__ = ()

    @property
    def duration(self) -> Numbers:
        """Ticks that each runs in all, without restarts."""
        return self._state.duration[self.jobs]

    @property
    def remaining(self) -> Numbers:
        """Ticks of work that each still has, without restarts."""
        return self._state.left[self.jobs]


def _refuse() -> NoReturn:
    raise InformationError(
        "A policy asked for durations, which information-agnostic policies don't see; "
        "expected `oracle = True` in its class."
    )
