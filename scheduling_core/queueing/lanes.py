"""Which GPUs a gang held, for pictures: a lane for each GPU, given out by one rule.

Lanes are drawn, not measured. A log says at most on which nodes a gang was, never which GPUs of them; under
`count` it says nothing. Here a gang gets the lowest lanes that are free: of the nodes that the log names, or
of all.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.cluster import Cluster
from scheduling_core.queueing.decisions import Action, Decision
from scheduling_core.queueing.outcome import Outcome

Place = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Held:
    """One job on its GPUs from a start to the end or preemption that follows: [start, end) in ticks.

    job : its number in the trace. lanes : rising. ended : whether its work was done then.
    """

    job: int
    start: int
    end: int
    lanes: tuple[int, ...]
    ended: bool

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """Neighbouring lanes together: first lane and how many."""
        found: list[tuple[int, int]] = []
        for lane in self.lanes:
            if found and sum(found[-1]) == lane:
                found[-1] = (found[-1][0], found[-1][1] + 1)
            else:
                found.append((lane, 1))
        return found


def lanes(outcome: Outcome) -> list[Held]:
    """Every stretch in which a job held its GPUs, in the order of their ends; the same log, the same lanes.

    Raises
    ------
    SchedulingError : for an outcome without a log of decisions, or a log that holds more GPUs than there are.
    """
    if outcome.decisions is None:
        raise SchedulingError("This outcome has no log of decisions, expected simulate(..., decisions=True).")
    free = _Free(outcome.cluster)
    running: dict[int, tuple[int, tuple[int, ...]]] = {}
    found = []
    for decision in outcome.decisions:
        if decision.action in (Action.START, Action.RESUME):
            running[decision.job] = (decision.time, free.take(decision, int(outcome.gpus[decision.job])))
        else:
            start, taken = running.pop(decision.job)
            free.give_back(taken)
            found.append(Held(decision.job, start, decision.time, taken, decision.action is Action.END))
    return found


def lane_names(cluster: Cluster, placed: bool) -> list[str]:
    """By lane: "node:gpu" where the log names nodes, else the lane's number."""
    if not placed:
        return [str(lane) for lane in range(cluster.gpus)]
    return [f"{node}:{gpu}" for node, each in enumerate(cluster.nodes) for gpu in range(each.gpus)]


def is_placed(outcome: Outcome) -> bool:
    """Whether the log names nodes."""
    return outcome.decisions is not None and any(decision.place for decision in outcome.decisions)


class _Free:
    """Free lanes of each node; the lanes of a node follow those of the node before."""

    def __init__(self, cluster: Cluster) -> None:
        sizes = [node.gpus for node in cluster.nodes]
        self._first = list(accumulate(sizes, initial=0))
        self._free = [list(range(first, first + n)) for first, n in zip(self._first, sizes, strict=False)]
        self._node = [node for node, n in enumerate(sizes) for _ in range(n)]
        self._any = list(range(cluster.gpus))
        self._placed = False

    def take(self, decision: Decision, gpus: int) -> tuple[int, ...]:
        """The lowest free lanes where the decision has its GPUs."""
        self._placed = self._placed or bool(decision.place)
        pools = [(self._free[node], n) for node, n in decision.place] if self._placed else [(self._any, gpus)]
        if any(len(pool) < n for pool, n in pools):
            raise SchedulingError(
                f"The log starts job number {decision.job} at tick {decision.time} on GPUs that others hold."
            )
        return tuple(sorted(heapq.heappop(pool) for pool, n in pools for _ in range(n)))

    def give_back(self, taken: Sequence[int]) -> None:
        """These lanes are free again."""
        for lane in taken:
            heapq.heappush(self._free[self._node[lane]] if self._placed else self._any, lane)
