"""By how long a deadline job may still wait: its laxity (preemptive), or waiting allowance (not preemptive).

Both are d - t - remaining run time, told from the true duration; what a restart costs isn't in it. Below 0 a
deadline can't be met any more, whatever is done.
"""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction

import numpy as np

from scheduling_core.queueing.jobs import NEVER
from scheduling_core.queueing.policies.base import Policy, whole_parts
from scheduling_core.queueing.policies.leases import positive
from scheduling_core.queueing.views import Flags, Numbers, OracleView, Setting


def allowance(view: OracleView) -> tuple[Numbers, Flags]:
    """Ticks that each job may still wait (m,), and whether it has a deadline that can still be met (m,)."""
    left = view.deadline - view.now - view.remaining
    return left, (view.deadline < NEVER) & (left >= 0)


class LeastLaxity(Policy):
    """Least laxity first among deadline jobs that can be met; behind them all others by remaining run time.

    Equal laxity or run time: who was submitted first. Laxity of a waiting job falls, that of a running one
    stays, so that equals would change places at every tick. Asked again where the laxity of a waiting job
    comes down to that of a running one, at the exact tick, but not before `quantum` seconds have passed
    (arrivals and ends are decisions too). A waiting job that becomes hopeless changes nothing: it wasn't
    served, and so took nothing from those behind it.

    Parameters
    ----------
    quantum : seconds from a decision to the next one that only laxity asks for.
    """

    name = "llf"
    source = (
        "least laxity first: Dertouzos and Mok, IEEE Transactions on Software Engineering 15(12), 1989; "
        "the quantum, and what stands behind, are ours"
    )
    oracle = True

    def __init__(self, quantum: float | str | Fraction = 30) -> None:
        self.quantum = positive("quantum", quantum)

    def resolution(self, tick: Fraction, gangs: Collection[int]) -> int:
        """A quantum is whole."""
        return whole_parts([self.quantum / tick])

    def begin(self, setting: Setting) -> None:
        """The quantum in ticks."""
        self._quantum = setting.ticks(self.quantum)

    def order(self, view: OracleView) -> Numbers:  # type: ignore[override]
        """By laxity, then by remaining run time."""
        laxity, hopeful = allowance(view)
        return view.jobs[np.lexsort((np.where(hopeful, laxity, view.remaining), ~hopeful))]

    def wake(self, view: OracleView) -> int:  # type: ignore[override]
        """At the next crossing, a quantum from now at the earliest."""
        laxity, hopeful = allowance(view)
        held = np.sort(laxity[hopeful & view.running])
        waiting = laxity[hopeful & ~view.running]
        below = np.searchsorted(held, waiting, "right")
        if not below.any():
            return NEVER
        nearest = int((waiting[below > 0] - held[below[below > 0] - 1]).min())
        return view.now + max(nearest, self._quantum)


class SmallestAllowance(Policy):
    """Smallest waiting allowance first, not preemptive; what doesn't fit is skipped.

    Behind the deadline jobs that can be met stand all others, in the order of submission. GENIE predicts run
    times from a profile of each model and chooses the GPUs of a job with them; here the prediction is the
    true duration and the gang is the job's own. Whoever waits loses allowance alike, and GPUs come free at
    ends only, so that nothing is asked between events.
    """

    name = "genie_like"
    source = (
        "after GENIE: Chen, Quan, Wen, Fang, Yu, Zhang and Luo, IEEE TPDS 31(1), 2020, 34-50 (shortest "
        "waiting allowance first); its predictor and its choice of GPUs aren't in it"
    )
    oracle = True
    preemptive = False

    def order(self, view: OracleView) -> Numbers:  # type: ignore[override]
        """By allowance, then by submission."""
        left, hopeful = allowance(view)
        return view.jobs[np.lexsort((np.where(hopeful, left, 0), ~hopeful))]
