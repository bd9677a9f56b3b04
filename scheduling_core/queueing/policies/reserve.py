"""How much of its window a deadline job keeps in reserve: learned from those that have ended, no durations.

A deadline is often set with the job's length in mind, so the share of its window that one job ran tells
something of the next. Known of a job when its reserve is told: its window, and what it has run so far.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from scheduling_core.queueing.jobs import NEVER
from scheduling_core.queueing.views import Flags, Numbers, View

PARTS = 64
"""A reserve is a whole number of 64ths of the window, so that it begins at a whole tick."""
FINE = 16
CLASSES = PARTS * FINE
"""Shares are counted in 1/1024 of the window; the last class holds all that ran as long or longer."""
ENOUGH = 10
"""From so many shares on they are used; until then a job is taken to run half its window."""


class Reserves:
    """The reserve of every deadline job that waits, told anew when it has run since.

    A job that has run the share x of its window is taken to run, in all, the mean share of those that ended
    and ran more than x, or its whole window where none did. Its reserve is `margin` times what is missing
    from that, rounded up to 64ths of the window.
    """

    def __init__(self, jobs: int, margin: Fraction) -> None:
        self.margin = margin
        self.need = np.zeros(jobs, dtype=np.int64)
        self.told_at = np.full(jobs, -1, dtype=np.int64)  # what the job had run when its reserve was told
        self.counts = np.zeros(CLASSES + 1, dtype=np.int64)
        self.expected = np.full(CLASSES + 1, CLASSES, dtype=np.int64)
        self.expected[: CLASSES // 2] = CLASSES // 2

    def learn(self, executed: Numbers, submit: Numbers, deadline: Numbers) -> None:
        """Jobs with these times have ended; those without a deadline teach nothing."""
        for ran, begin, end in zip(executed.tolist(), submit.tolist(), deadline.tolist(), strict=True):
            if end < NEVER:
                self.counts[min(CLASSES, ran * CLASSES // (end - begin))] += 1
        if self.counts.sum() < ENOUGH:
            return
        numbers = np.append(np.cumsum(self.counts[::-1])[::-1][1:], 0)  # above each class
        sums = np.append(np.cumsum((self.counts * np.arange(CLASSES + 1))[::-1])[::-1][1:], 0)
        known = numbers > 0
        self.expected[:] = CLASSES
        self.expected[known] = -(-sums[known] // numbers[known])

    def begins(self, view: View, patient: Flags) -> Numbers:
        """When the reserve of each `patient` job begins if it waits until then (m,), else `NEVER`."""
        jobs, executed = view.jobs, view.executed
        stale = patient & (self.told_at[jobs] != executed)
        if stale.any() and self.margin:
            part = (view.deadline[stale] - view.submit[stale]) // PARTS
            whole, rest = np.divmod(executed[stale], part)
            ran = np.minimum(CLASSES, whole * FINE + rest * FINE // part)
            missing = self.expected[ran] - ran
            upper, lower = self.margin.numerator, self.margin.denominator * FINE
            self.need[jobs[stale]] = np.minimum(2 * PARTS, -(-missing * upper // lower)) * part
            self.told_at[jobs[stale]] = executed[stale]
        found: Numbers = np.where(patient & bool(self.margin), view.deadline - self.need[jobs], NEVER)
        return found
