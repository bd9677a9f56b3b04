"""What came of a simulation: times of every job, exact, and series over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from scheduling_core.queueing.cluster import Cluster
from scheduling_core.queueing.decisions import Decisions
from scheduling_core.queueing.jobs import Trace
from scheduling_core.queueing.policies.base import Policy
from scheduling_core.queueing.views import Numbers


@dataclass
class Series:
    """What held from each event to the next: ticks, busy GPUs, pending jobs, fragmented GPUs."""

    time: list[int] = field(default_factory=list)
    busy: list[int] = field(default_factory=list)
    pending: list[int] = field(default_factory=list)
    fragmented: list[int] = field(default_factory=list)

    def add(self, time: int, busy: int, pending: int, fragmented: int) -> None:
        """One more event; a later one at the same time replaces it."""
        if self.time and self.time[-1] == time:
            for column in (self.time, self.busy, self.pending, self.fragmented):
                column.pop()
        self.time.append(time)
        self.busy.append(busy)
        self.pending.append(pending)
        self.fragmented.append(fragmented)


@dataclass(frozen=True)
class Outcome:
    """Arrays (n,) by job number, in ticks of `unit` seconds.

    executed : time for which the GPUs were held, restarts included; paid : the restarts of it. busy_ticks and
    fragmented_ticks : GPU ticks. refused : jobs that the cluster can never hold, with the reason; they are in
    no array. events : decisions that were made.
    """

    trace: Trace
    cluster: Cluster
    policy: Policy
    unit: Fraction
    submit: Numbers
    gpus: Numbers
    duration: Numbers
    deadline: Numbers
    first_start: Numbers
    end: Numbers
    executed: Numbers
    paid: Numbers
    preemptions: Numbers
    restarts: Numbers
    events: int
    busy_ticks: int
    fragmented_ticks: int
    refused: Mapping[str, str]
    decisions: Decisions | None = None
    series: Series | None = None
