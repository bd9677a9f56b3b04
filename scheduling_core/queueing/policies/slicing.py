"""Time slicing."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction

import numpy as np

from scheduling_core.queueing.jobs import NEVER
from scheduling_core.queueing.policies.base import Policy, whole_parts
from scheduling_core.queueing.policies.leases import positive
from scheduling_core.queueing.views import Numbers, Setting, View


class TimeSlicing(Policy):
    """Round robin by turns among jobs that contend; who doesn't contend with others runs on.

    A turn begins when a job waits, and lasts a quantum. Within it nobody is preempted: GPUs that come free go
    to the waiting jobs in line, those that fit. At its end all running jobs are put behind the waiting ones,
    each in the order in which they stood, and the line is served anew: who still fits runs on. So the first
    in line is served at every turn, whatever its gang.

    Gandiva suspends and resumes in this way, and moreover packs jobs onto the same GPUs, migrates them to
    better ones, grows and shrinks them, and does all this by profiles of their mini-batches; none of that is
    here. Its slices are those of a server; here the whole cluster has one turn.

    Parameters
    ----------
    quantum : seconds of a turn; about a minute in the paper.
    """

    name = "gandiva"
    source = (
        "time slicing of Gandiva: Xiao et al., OSDI 2018, section 4 (suspend-resume); without packing, "
        "migration, grow-shrink and profiling"
    )

    def __init__(self, quantum: float | str | Fraction = 60) -> None:
        self.quantum = positive("quantum", quantum)

    def resolution(self, tick: Fraction, gangs: Collection[int]) -> int:
        """A quantum is whole."""
        return whole_parts([self.quantum / tick])

    def begin(self, setting: Setting) -> None:
        """Nobody contends; newcomers will stand behind all that were in a line."""
        self._quantum = setting.ticks(self.quantum)
        self._turn_ends = NEVER
        self._place = setting.jobs + np.arange(setting.jobs, dtype=np.int64)

    def order(self, view: View) -> Numbers:
        """Running jobs first, at the end of a turn last."""
        over = view.now >= self._turn_ends
        last = view.running if over else ~view.running
        line = view.jobs[np.lexsort((self._place[view.jobs], last))]
        self._place[line] = np.arange(len(line), dtype=np.int64)
        if over:
            self._turn_ends = NEVER
        return line

    def wake(self, view: View) -> int:
        """At the end of the turn, as long as a job waits."""
        if view.running.all():
            self._turn_ends = NEVER
        elif self._turn_ends == NEVER:
            self._turn_ends = view.now + self._quantum
        return self._turn_ends
