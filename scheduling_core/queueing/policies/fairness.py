"""Finish-time fairness."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from scheduling_core.queueing.policies.leases import Leased
from scheduling_core.queueing.views import Numbers, OracleView, Reals, Setting


class FinishTimeFairness(Leased):
    """Worst finish-time fairness rho = T_shared / T_isolated first, told anew at every lease.

    T_shared = (t - s) + remaining run time: from submission to the end if the job had its GPUs from now on.
    T_isolated = D max(1, g n / N): its whole duration D in a share of 1/n of the N GPUs, where a gang of g
    that is larger than the share gets its GPUs for a part of the time, at no cost. n, the contention, is the
    average number of jobs that were here, from its submission until now, itself included.

    Themis holds an auction in which apps bid for the GPUs that come free, offered to those with the worst
    rho, and knows how much placement slows a job; neither is here, and each job is an app of its own.

    Parameters
    ----------
    lease : seconds; the default is ours.
    """

    name = "ftf"
    source = (
        "after Themis: Mahajan, Balasubramanian, Singhvi, Venkataraman, Akella, Phanishayee and Chawla, NSDI "
        "2020, sections 3.2 and 4.3; without auction and placement"
    )
    oracle = True

    def __init__(self, lease: float | str | Fraction = 600) -> None:
        super().__init__(lease)

    def begin(self, setting: Setting) -> None:
        """Nobody is here."""
        super().begin(setting)
        self._gpus = setting.gpus
        self._arrived = self._here = self._until = 0
        self._sum = 0  # jobs here x ticks, up to `_until`
        self._sum_before = np.zeros(setting.jobs)  # the same at each job's submission

    def keys(self, view: OracleView, starts: bool) -> tuple[Reals]:  # type: ignore[override]
        """Worst rho first."""
        self._count(view)
        return (-self.rho(view),)

    def _count(self, view: OracleView) -> None:
        """Who was here at the last decision was here until now, or nobody was and no age spans it."""
        self._sum += self._here * (view.now - self._until)
        self._until, self._here = view.now, len(view.jobs)
        fresh = view.jobs[view.jobs >= self._arrived]  # numbers rise with submission
        self._sum_before[fresh] = self._sum
        self._arrived += len(fresh)

    def contention(self, view: OracleView) -> Reals:
        """Average number of jobs here since the submission of each (m,)."""
        age: Numbers = view.now - view.submit
        since = float(self._sum) - self._sum_before[view.jobs]
        average: Reals = np.where(age > 0, since / np.maximum(age, 1), float(self._here))
        return average

    def rho(self, view: OracleView) -> Reals:
        """Finish-time fairness of each job (m,), above 1 where sharing is worse than its share."""
        shared = (view.now - view.submit + view.remaining) / view.duration
        stretched = np.maximum(1.0, view.gpus * self.contention(view) / self._gpus)
        rho: Reals = shared / stretched
        return rho
