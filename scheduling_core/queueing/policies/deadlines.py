"""Earliest deadline first, and what stands behind the jobs whose deadline can still be met."""

from __future__ import annotations

import numpy as np

from scheduling_core.queueing.jobs import NEVER
from scheduling_core.queueing.policies.base import Policy
from scheduling_core.queueing.policies.las import LeastAttainedService
from scheduling_core.queueing.views import Flags, Numbers, View


def live(view: View) -> Flags:
    """Jobs whose deadline is ahead. Ends come before decisions: who is still here at a deadline is late."""
    found: Flags = (view.deadline < NEVER) & (view.deadline > view.now)
    return found


def next_deadline(view: View) -> int:
    """The first deadline ahead, at which a job becomes late; `NEVER` where there is none."""
    ahead = view.deadline[live(view)]
    return int(ahead.min()) if len(ahead) else NEVER


class EarliestDeadline(Policy):
    """Live deadline jobs first, by deadline; behind them all others, late ones too, as they were submitted.

    Equal deadlines: who was submitted first. Asked again at every deadline, where a job becomes late.
    """

    name = "edf"
    source = (
        "earliest deadline first: Liu and Layland, Journal of the ACM 20(1), 1973, section 7 (deadline "
        "driven); what stands behind live jobs is ours"
    )

    def order(self, view: View) -> Numbers:
        """By deadline, then by submission."""
        alive = live(view)
        return view.jobs[np.lexsort((np.where(alive, view.deadline, 0), ~alive))]

    def wake(self, view: View) -> int:
        """When the next job becomes late."""
        return next_deadline(view)


class EarliestDeadlineThenLas(LeastAttainedService):
    """Live deadline jobs first, by deadline; behind them all others, late ones too, in the queues of LAS.

    A deadline job moves through the queues from its submission on: once late, it is where its service has
    brought it. Without live deadline jobs every decision is that of las2d with the same options.
    """

    name = "edf_las"
    source = (
        "edf (Liu and Layland, 1973) before las2d (Tiresias-L: Gu et al., NSDI 2019); the combination is ours"
    )

    def order(self, view: View) -> Numbers:
        """By deadline, then queue by queue."""
        self.queues.update(view)
        alive = live(view)
        deadline = np.where(alive, view.deadline, 0)
        level = np.where(alive, 0, self.queues.level[view.jobs])
        place = np.where(alive, 0, self.queues.place[view.jobs])
        return view.jobs[np.lexsort((place, level, deadline, ~alive))]

    def wake(self, view: View) -> int:
        """When a job next changes its queue or becomes late."""
        return min(super().wake(view), next_deadline(view))
