"""What a resumed job pays before it makes progress: seconds in which it holds its GPUs and does no work."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from scheduling_core.queueing.jobs import Job

MILLISECOND = Fraction(1, 1000)


@dataclass(frozen=True)
class RestartCost:
    """No cost. The cost is charged in whole at every start after a preemption, not at the first."""

    def seconds(self, job: Job) -> Fraction:
        """Of one restart of this job."""
        return Fraction(0)


@dataclass(frozen=True)
class ConstantCost(RestartCost):
    """The same seconds for every job."""

    each: Fraction = Fraction(0)

    def seconds(self, job: Job) -> Fraction:
        """Of one restart of this job."""
        return self.each


@dataclass(frozen=True)
class GangCost(RestartCost):
    """factor x (1 + log2 GPUs) x unit, rounded to ms. Chronus' public code: factor 0.5, in minutes."""

    factor: Fraction = Fraction(1, 2)
    unit: Fraction = Fraction(1)

    def seconds(self, job: Job) -> Fraction:
        """Of one restart of this job."""
        exact = float(self.factor * self.unit) * (1 + math.log2(job.gpus))
        return round(exact / float(MILLISECOND)) * MILLISECOND


@dataclass(frozen=True)
class TableCost(RestartCost):
    """Seconds by model and GPUs; `other` for what the table doesn't name."""

    table: Mapping[tuple[str, int], Fraction] = field(default_factory=dict)
    other: Fraction = Fraction(0)

    def seconds(self, job: Job) -> Fraction:
        """Of one restart of this job."""
        return self.table.get((job.model or "", job.gpus), self.other)
