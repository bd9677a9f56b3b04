"""Leases: the order is decided anew at fixed times, and between them who runs keeps its GPUs."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction

import numpy as np

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.jobs import NEVER
from scheduling_core.queueing.policies.base import Policy, whole_parts
from scheduling_core.queueing.views import Flags, Numbers, Reals, Setting, View


def positive(what: str, seconds: float | str | Fraction) -> Fraction:
    """Seconds as written, exact.

    Raises
    ------
    SchedulingError : for what is no number above 0.
    """
    try:
        exact = Fraction(str(seconds))
    except (ValueError, ZeroDivisionError):
        exact = Fraction(0)
    if exact <= 0:
        raise SchedulingError(f"{what} is {seconds} s, expected a number above 0.")
    return exact


class Leased(Policy):
    """All jobs by the policy's keys at the start of each lease; within it, running jobs first.

    Leases start at the multiples of `lease` seconds, for all jobs together. GPUs that come free within a
    lease go to waiting jobs by the same keys: at once, or with `slot` only at its multiples.
    """

    def __init__(self, lease: float | str | Fraction, slot: float | str | Fraction | None = None) -> None:
        self.lease = positive("lease", lease)
        self.slot = None if slot is None else positive("slot", slot)
        if self.slot is not None and self.lease % self.slot:
            raise SchedulingError(f"A lease of {lease} s is no multiple of a slot of {slot} s, as expected.")

    def resolution(self, tick: Fraction, gangs: Collection[int]) -> int:
        """Leases and slots are whole."""
        return whole_parts([(self.slot or self.lease) / tick])

    def begin(self, setting: Setting) -> None:
        """Lease and slot in ticks."""
        self._lease = setting.ticks(self.lease)
        self._slot = self._lease if self.slot is None else setting.ticks(self.slot)

    def keys(self, view: View, starts: bool) -> tuple[Numbers | Reals | Flags, ...]:
        """Arrays (m,), smallest first, the last one foremost, as `numpy.lexsort` takes them.

        starts : a lease starts now.
        """
        raise NotImplementedError

    def order(self, view: View) -> Numbers:
        """By the keys, within a lease running jobs first."""
        starts = view.now % self._lease == 0
        keys = self.keys(view, starts)
        if starts:
            return view.jobs[np.lexsort(keys)]
        if self.slot is not None and view.now % self._slot:
            return view.jobs[view.running]
        return view.jobs[np.lexsort((*keys, ~view.running))]

    def wake(self, view: View) -> int:
        """At the next slot or lease, as long as a job waits."""
        if view.running.all():
            return NEVER
        return (view.now // self._slot + 1) * self._slot
