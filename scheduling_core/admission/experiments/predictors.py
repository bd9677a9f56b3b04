"""Predictors of lengths: the oracle's with noise in them, and what other attempts of a task tell.

Everything random takes a seed; the same seed draws the same noise at every sigma, so that levels are compared
on the same draws.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scheduling_core.admission.attempts import Workload
from scheduling_core.admission.experiments.reactive import Candidate, Known, View, oracle
from scheduling_core.errors import SchedulingError


def noisy(workload: Workload, sigma: float, seed: Sequence[int]) -> Known:
    """Each length times exp(sigma z), z standard normal, in whole ticks from 1. Sigma 0 is the oracle.

    Raises
    ------
    SchedulingError : for a sigma that isn't a number from 0 to 10.
    """
    if isinstance(sigma, bool) or not isinstance(sigma, int | float) or not 0 <= sigma <= 10:
        raise SchedulingError(f"sigma is {sigma!r}, expected a number from 0 to 10.")
    if sigma == 0:
        return oracle(workload)
    draws = np.random.default_rng(list(seed)).standard_normal(len(workload)).tolist()
    return Known(
        tuple(
            max(1, round(a.ticks * math.exp(sigma * z)))
            for a, z in zip(workload.attempts, draws, strict=True)
        )
    )


def shuffled(workload: Workload, seed: Sequence[int]) -> Known:
    """The true lengths dealt out anew: their distribution is right, their ranks tell nothing."""
    order = np.random.default_rng(list(seed)).permutation(len(workload)).tolist()
    return Known(tuple(workload.attempts[k].ticks for k in order))


def task_mean(candidate: Candidate, view: View) -> int:
    """The mean length of what ended of the same task, or else of all that ended; 0 where nothing has."""
    found = view.ended_by_task
    if candidate.task in found:
        count, ticks = found[candidate.task]
    else:
        count, ticks = len(view.ended), sum(ticks for _, ticks in found.values())
    return _mean(ticks, count) if count else 0


def other_attempts(workload: Workload) -> Known:
    """The mean length of all other attempts of the task, or else of all other attempts (leave one out).

    It looks at attempts that haven't run yet: what a task's identity tells, not what an admission could know.
    """
    by_task: dict[str, tuple[int, int]] = {}
    for a in workload.attempts:
        count, ticks = by_task.get(a.task, (0, 0))
        by_task[a.task] = (count + 1, ticks + a.ticks)
    whole = (len(workload), sum(a.ticks for a in workload.attempts))
    found = []
    for a in workload.attempts:
        count, ticks = by_task[a.task] if by_task[a.task][0] > 1 else whole
        found.append(_mean(ticks - a.ticks, count - 1) if count > 1 else 0)
    return Known(tuple(found))


@dataclass(frozen=True)
class Identity:
    """What the task tells of the logarithm of the length.

    share : explained share of the variance, 1 - within / total sum of squares. sigma : standard deviation of
    the rest, with attempts - tasks degrees of freedom. None where there is no variance or no freedom.
    """

    attempts: int
    tasks: int
    share: float | None
    sigma: float | None


def identity(workload: Workload) -> Identity:
    """The explained share of the variance of log-length, by task (one-way analysis of variance)."""
    by_task: dict[str, list[float]] = {}
    for a in workload.attempts:
        by_task.setdefault(a.task, []).append(math.log(a.ticks))
    groups = list(by_task.values())
    total = _squares([value for group in groups for value in group])
    within = math.fsum(_squares(group) for group in groups)
    freedom = len(workload) - len(groups)
    return Identity(
        len(workload), len(groups), 1 - within / total if total > 0 else None,
        math.sqrt(within / freedom) if freedom > 0 else None,
    )  # fmt: skip


def _mean(ticks: int, count: int) -> int:
    return (2 * ticks + count) // (2 * count)


def _squares(values: Sequence[float]) -> float:
    """Sum of squared deviations from the mean."""
    middle = math.fsum(values) / len(values) if values else 0.0
    return math.fsum((value - middle) ** 2 for value in values)
