"""Which deadline jobs can all be met, and in which leases they run: a mixed-integer program, solved by HiGHS.

    maximise  2 sum_j a_j - sum_j g_j x_j0 / N
    so that   sum_p min(1, u_jp / r_j) x_jp >= a_j    for each job j: what it works before its deadline
              sum_j g_j x_jp <= N n_p                 for each period p: GPUs
              a_j in {0, 1}, x_jp in 0..(leases of p before j's deadline)

a_j says that job j, of g_j GPUs and r_j ticks of work left, is admitted, x_jp for how many leases of period p
it has its GPUs, u_jp how long it works in one of them before its deadline. As many jobs as possible are
admitted, with as few GPUs of the first lease as possible: those are left to all other jobs.
The first `WINDOW` periods are single leases (n_p = 1), in which this is exact; after them each is twice as
long as the last, and its GPUs are counted in sum, which can promise more than gangs can get.

Source of the form: Gao et al., SoCC 2021 (Chronus), and the objective "minimize" of its public code; that a
job may end within a lease, the periods and all limits are ours.
"""

from __future__ import annotations

from dataclasses import dataclass

import highspy
import numpy as np

from scheduling_core.queueing.views import Flags, Numbers

WINDOW = 12
"""Leases that are planned one by one."""

JOBS = 200
"""Jobs that are planned at most: those admitted before, then those with the earliest deadlines."""

NODES = 1
"""Nodes of the search tree at most. A limit on seconds would give another schedule on another machine."""


@dataclass(frozen=True)
class Wanted:
    """Deadline jobs that can still be met (m,): GPUs, ticks of work left, ticks to the deadline (at least the
    work), and whether each was admitted before."""

    gpus: Numbers
    work: Numbers
    left: Numbers
    kept: Flags


@dataclass(frozen=True)
class Plan:
    """Which jobs are admitted (m,), and which of them have GPUs in the lease that starts now (m,)."""

    admitted: Flags
    now: Flags


def plan(wanted: Wanted, capacity: int, lease: int) -> Plan:
    """Admit as many as the limits let HiGHS find; who was admitted before stays so if all of them can.

    capacity : GPUs. lease : ticks. The same input gives the same plan.
    """
    chosen = np.sort(np.lexsort((wanted.left, ~wanted.kept))[:JOBS])
    few = Wanted(wanted.gpus[chosen], wanted.work[chosen], wanted.left[chosen], wanted.kept[chosen])
    periods = _Periods.of(few, lease)
    leases = _solved(few, periods, capacity, few.kept)
    if leases is None:  # not all promises can be kept, after restarts say: all are weighed anew
        leases = _solved(few, periods, capacity, np.zeros_like(few.kept))
    admitted, now = np.zeros((2, len(wanted.kept)), dtype=np.bool_)
    if leases is not None:
        met = (leases * periods.useful).sum(axis=1) >= few.work
        admitted[chosen] = met
        now[chosen] = met & (leases[:, 0] > 0)
    return Plan(admitted, now)


@dataclass(frozen=True)
class _Periods:
    """sizes : (p,) leases of each. most : (m, p) those before each job's deadline. useful : (m, p) ticks that
    the job can work in one of them before its deadline."""

    sizes: Numbers
    most: Numbers
    useful: Numbers

    @classmethod
    def of(cls, wanted: Wanted, lease: int) -> _Periods:
        horizon = -(-int(wanted.left.max()) // lease)
        sizes = [1] * min(WINDOW, horizon)
        while sum(sizes) < horizon:
            sizes.append(2 * sizes[-1])
        numbers = np.array(sizes, dtype=np.int64)
        left = wanted.left[:, None] - lease * (np.cumsum(numbers) - numbers)
        whole = np.clip(left // lease, 0, numbers)
        single = numbers == 1
        return cls(
            numbers,
            np.where(single, (left > 0).astype(np.int64), whole),
            np.where(single, np.clip(left, 0, lease), lease),
        )


class _QuietHighs(highspy.Highs):
    """HiGHS that prints nothing and does the same on every machine."""

    def __init__(self) -> None:
        super(highspy.Highs, self).__init__()  # the solver itself, without callbacks
        for option, value in (
            ("output_flag", False), ("threads", 1), ("parallel", "off"), ("random_seed", 0),
            ("mip_max_nodes", NODES),
        ):  # fmt: skip
            self.setOptionValue(option, value)


def _solved(wanted: Wanted, periods: _Periods, capacity: int, kept: Flags) -> Numbers | None:
    """Leases of each job in each period (m, p); None where no such plan was found."""
    job, period = np.nonzero(periods.most)
    model = _QuietHighs()
    model.passModel(_program(wanted, periods, capacity, kept, job, period))
    model.run()
    if model.getInfo().primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        return None
    values = np.rint(model.getSolution().col_value).astype(np.int64)
    leases = np.zeros(periods.most.shape, dtype=np.int64)
    leases[job, period] = values[: len(job)]
    return leases


def _program(
    wanted: Wanted, periods: _Periods, capacity: int, kept: Flags, job: Numbers, period: Numbers
) -> highspy.HighsLp:
    """Columns: x of (job, period), then a. Rows: the GPUs of each period, then the work of each job."""
    m, p, n = len(kept), len(periods.sizes), len(job)
    infinity = highspy.kHighsInf
    part = np.minimum(1.0, periods.useful[job, period] / wanted.work[job])
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = n + m, p + m
    lp.col_cost_ = np.concatenate((np.where(period == 0, wanted.gpus[job] / capacity, 0.0), np.full(m, -2.0)))
    lp.col_lower_ = np.concatenate((np.zeros(n), kept.astype(float)))
    lp.col_upper_ = np.concatenate((periods.most[job, period].astype(float), np.ones(m)))
    lp.row_lower_ = np.concatenate((np.full(p, -infinity), np.zeros(m)))
    lp.row_upper_ = np.concatenate(((capacity * periods.sizes).astype(float), np.full(m, infinity)))
    lp.integrality_ = [highspy.HighsVarType.kInteger] * (n + m)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.concatenate((np.arange(0, 2 * n, 2), 2 * n + np.arange(m + 1)))
    lp.a_matrix_.index_ = np.concatenate((np.stack((period, p + job), axis=1).ravel(), p + np.arange(m)))
    entries = np.stack((wanted.gpus[job].astype(float), part), axis=1)
    lp.a_matrix_.value_ = np.concatenate((entries.ravel(), -np.ones(m)))
    return lp
