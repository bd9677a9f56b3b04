"""Leases with admission of deadline jobs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from scheduling_core.queueing.jobs import NEVER
from scheduling_core.queueing.policies.allowance import allowance
from scheduling_core.queueing.policies.lease_plan import Wanted, plan
from scheduling_core.queueing.policies.leases import Leased
from scheduling_core.queueing.views import Flags, Numbers, OracleView, Setting

PLANNED, FILLING, SPARED, HOPELESS = range(4)
"""Ranks of jobs: who has this lease by the plan; unadmitted and best-effort jobs, which fill what is left;
admitted jobs that the plan runs later; deadline jobs that can't be met any more."""


class ChronusLike(Leased):
    """At every lease a mixed-integer program admits deadline (SLO) jobs that can then all be met.

    The plan (`lease_plan`, where its limits stand) says which admitted jobs have their GPUs in the lease that
    starts; they go first. What is left is filled by unadmitted deadline jobs and best-effort jobs, least GPU
    time left first; then by admitted jobs that the plan runs later, least laxity x GPUs first; last by
    deadline jobs that can't be met any more. Within the lease running jobs keep their GPUs, and those that
    come free are given away in the same order at the next slot; nothing is planned while no job waits.
    Who was admitted stays so, as long as all promises can be kept: restarts, which the plan doesn't know, and
    nodes, which it doesn't see, can break one. A job that comes within a lease and can't wait for the next
    isn't admitted in time: leases are to be shorter than most jobs' slack.

    Chronus moreover profiles jobs, admits at submission in the order of submission, plans with run times
    that are a tenth longer, and within a lease lets an unadmitted job that can end in it preempt those that
    fill; none of that is here.

    Parameters
    ----------
    lease, slot : seconds, 20 and 5 minutes as in the public code; a lease is a multiple of a slot.
    """

    name = "chronus_like"
    source = (
        "after Chronus: Gao, Ye, Sun, Wen and Zhang, SoCC 2021, DOI 10.1145/3472883.3486978; ranks, lease "
        "and slot from its public code (S-Lab-System-Group/ChronusArtifact); program solved by HiGHS"
    )
    oracle = True

    def __init__(self, lease: float | str | Fraction = 1200, slot: float | str | Fraction = 300) -> None:
        super().__init__(lease, slot)

    def begin(self, setting: Setting) -> None:
        """Nobody is admitted."""
        super().begin(setting)
        self._gpus = setting.gpus
        self._admitted = np.zeros(setting.jobs, dtype=np.bool_)
        self._planned = np.zeros(setting.jobs, dtype=np.bool_)

    def keys(self, view: OracleView, starts: bool) -> tuple[Numbers, Numbers]:  # type: ignore[override]
        """By rank, and in it by GPU time left or laxity x GPUs."""
        laxity, hopeful = allowance(view)
        if starts:
            self._plan(view, hopeful)
        admitted = hopeful & self._admitted[view.jobs]
        rank = np.select(
            [self._planned[view.jobs], admitted, (view.deadline < NEVER) & ~hopeful],
            [PLANNED, SPARED, HOPELESS], FILLING,
        )  # fmt: skip
        return view.gpus * np.where(admitted, laxity, view.remaining), rank

    def _plan(self, view: OracleView, hopeful: Flags) -> None:
        self._planned[:] = False
        if not hopeful.any():
            return
        jobs = view.jobs[hopeful]
        left = (view.deadline - view.now)[hopeful]
        wanted = Wanted(view.gpus[hopeful], view.remaining[hopeful], left, self._admitted[jobs])
        made = plan(wanted, self._gpus, self._lease)
        self._admitted[jobs], self._planned[jobs] = made.admitted, made.now
