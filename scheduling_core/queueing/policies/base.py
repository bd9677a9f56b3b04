"""What a policy is."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from fractions import Fraction
from typing import ClassVar

import numpy as np

from scheduling_core.queueing.jobs import NEVER
from scheduling_core.queueing.views import Numbers, Setting, View


class Policy:
    """Who is served first.

    At every event (an arrival, an end, a wake-up that it asked for) the simulator asks for the `order` of the
    jobs that are here, walks it and serves each gang that fits; who isn't served waits, running or not. A
    policy of ten lines::

        class SmallestServiceFirst(Policy):
            name = "smallest-service"
            source = "an example"

            def order(self, view):
                return view.jobs[np.lexsort((view.submit, view.service))]

    name : as the command line knows it. source : where it is from, and what is ours. oracle : reads
    durations and is reported apart. preemptive : without, running jobs are always served first. blocking :
    the first gang that doesn't fit ends the scan.
    """

    name: ClassVar[str]
    source: ClassVar[str]
    oracle: ClassVar[bool] = False
    preemptive: ClassVar[bool] = True
    blocking: ClassVar[bool] = False

    def resolution(self, tick: Fraction, gangs: Collection[int]) -> int:
        """Into how many parts a tick is cut so that every wake-up is a whole number.

        tick : seconds of the trace's. gangs : numbers of GPUs that its jobs ask for.
        """
        return 1

    def begin(self, setting: Setting) -> None:
        """Forget everything: a simulation begins."""

    def order(self, view: View) -> Numbers:
        """Numbers of jobs, first served first; jobs that are left out wait."""
        raise NotImplementedError

    def wake(self, view: View) -> int:
        """Asked after the decisions, which `view.running` shows: when to be asked again at the latest."""
        return NEVER

    def ended(self, view: View, jobs: Numbers) -> None:
        """These jobs have ended now; how long each held its GPUs is public from here on (`view.held_by`)."""


class KeyPolicy(Policy):
    """Ordered by a key, smallest first; what is equal stays in the order in which it stood before."""

    def begin(self, setting: Setting) -> None:
        """Newcomers stand behind all that were in a line, in the order of submission."""
        self._place = setting.jobs + np.arange(setting.jobs, dtype=np.int64)

    def key(self, view: View) -> Numbers:
        """One number for each job of the view."""
        raise NotImplementedError

    def order(self, view: View) -> Numbers:
        """By key, then as before; a newcomer stands behind its equals."""
        line = view.jobs[np.lexsort((self._place[view.jobs], self.key(view)))]
        self._place[line] = np.arange(len(line), dtype=np.int64)
        return line


def whole_parts(times: Iterable[Fraction]) -> int:
    """Into how many parts a tick is cut so that all `times`, in ticks, are whole."""
    return math.lcm(1, *(time.denominator for time in times))
