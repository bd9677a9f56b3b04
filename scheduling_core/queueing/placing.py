"""Who gets GPUs and which: one greedy scan of the line that a policy gave, under the placement rule.

A running job keeps its place while every job before it in the line leaves it there. One that is before it
takes room that is free by then, and of equally good room that which nobody runs on.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Protocol

import numpy as np

from scheduling_core.compiled import is_compiled
from scheduling_core.queueing.cluster import Cluster, Placement
from scheduling_core.queueing.jobs import Trace
from scheduling_core.queueing.kernels import scanning
from scheduling_core.queueing.state import State
from scheduling_core.queueing.views import Flags, Numbers

Place = tuple[tuple[int, int], ...]
"""GPUs of a gang: (node, GPUs on it), nodes ascending."""


class Placer(Protocol):
    """One rule at work on one cluster."""

    def serve(self, line: Numbers, state: State, blocking: bool) -> tuple[Flags, Flags]:
        """Which jobs of the line get GPUs (m,), and which of those had others before (moved)."""
        ...

    def release(self, jobs: Numbers) -> None:
        """These jobs have ended."""
        ...

    def free(self) -> int:
        """GPUs that nobody holds."""
        ...

    def usable(self, gang: int, kind: str | None) -> int:
        """Free GPUs that gangs of this size and type could use under the rule."""
        ...

    def place(self, job: int) -> Place:
        """Where a job is; empty where the rule doesn't say."""
        ...


def placer_of(cluster: Cluster, trace: Trace) -> Placer:
    """The placer for a cluster: counting where the rule and the types allow it."""
    if cluster.placement is Placement.COUNT and len(cluster.types) == 1:
        return CountPlacer(cluster.gpus)
    return NodePlacer(cluster, trace)


class CountPlacer:
    """GPUs are alike and a gang may have any: a number says all."""

    def __init__(self, gpus: int, kernels: ModuleType = scanning) -> None:
        self.gpus, self._free, self._kernels = gpus, gpus, kernels

    def serve(self, line: Numbers, state: State, blocking: bool) -> tuple[Flags, Flags]:
        """See `Placer`; nothing ever moves."""
        if is_compiled(self._kernels):
            served = np.empty(len(line), dtype=np.int64)
            self._free = int(self._kernels.scan(line, state.gpus, self.gpus, blocking, served))
            chosen = served > 0
        else:
            marks = [0] * len(line)
            needs = state.gpus[line].tolist()
            self._free = self._kernels.scan(range(len(line)), needs, self.gpus, blocking, marks)
            chosen = np.array(marks, dtype=np.bool_)
        return chosen, np.zeros(len(line), dtype=np.bool_)

    def release(self, jobs: Numbers) -> None:
        """Counted anew at each scan."""

    def free(self) -> int:
        """GPUs that nobody holds since the last scan."""
        return self._free

    def usable(self, gang: int, kind: str | None) -> int:
        """Whole gangs in what is free."""
        return self._free // gang * gang

    def place(self, job: int) -> Place:
        """Any GPUs: the rule doesn't say which."""
        return ()


class NodePlacer:
    """Nodes with types: free GPUs of each node, and where each running job is."""

    def __init__(self, cluster: Cluster, trace: Trace) -> None:
        self.rule = cluster.placement
        self.sizes = np.array([node.gpus for node in cluster.nodes], dtype=np.int64)
        self.pools = {
            kind: np.array([i for i, node in enumerate(cluster.nodes) if node.gpu_type == kind])
            for kind in cluster.types
        }
        self.kinds = [job.gpu_type for job in trace.jobs]
        self.places: dict[int, Place] = {}

    def serve(self, line: Numbers, state: State, blocking: bool) -> tuple[Flags, Flags]:
        """See `Placer`."""
        open_now = self.sizes.copy()  # what those before in the line leave
        idle = self.sizes.copy()  # what nobody runs on either; below 0 where a place was taken from others
        for taken in self.places.values():
            for node, gpus in taken:
                idle[node] -= gpus
        before = self.places
        self.places = {}
        chosen, moved = np.zeros(len(line), dtype=np.bool_), np.zeros(len(line), dtype=np.bool_)
        for position, number in enumerate(line.tolist()):
            held = before.get(number)
            place: Place | None = held
            if held is None or any(open_now[node] < gpus for node, gpus in held):
                for node, gpus in held or ():
                    idle[node] += gpus
                place = self._find(int(state.gpus[number]), self.kinds[number], open_now, idle)
            if place is None:
                if blocking:
                    break
                continue
            for node, gpus in place:
                open_now[node] -= gpus
                if place is not held:
                    idle[node] -= gpus
            self.places[number] = place
            chosen[position], moved[position] = True, held is not None and place != held
        self._open = open_now
        return chosen, moved

    def release(self, jobs: Numbers) -> None:
        """Their places are open to the next scan."""
        for number in jobs.tolist():
            del self.places[number]

    def free(self) -> int:
        """GPUs that nobody holds since the last scan."""
        return int(self._open.sum())

    def usable(self, gang: int, kind: str | None) -> int:
        """Free GPUs in whole gangs that the rule allows, of all types that the gang can use."""
        pools = self.pools.values() if kind is None else [self.pools[kind]]
        return sum(self._whole_gangs(self._open[pool], self.sizes[pool], gang) for pool in pools) * gang

    def place(self, job: int) -> Place:
        """Where a running job is."""
        return self.places[job]

    def _whole_gangs(self, free: Numbers, sizes: Numbers, gang: int) -> int:
        if self.rule is not Placement.CONSOLIDATED:
            return int(free.sum()) // gang
        if gang <= int(sizes.max()):
            return int((free // gang).sum())
        found, left = 0, free.copy()
        while (place := _consolidated(gang, np.arange(len(left)), left, left, sizes)) is not None:
            for node, gpus in place:
                left[node] -= gpus
            found += 1
        return found

    def _find(self, gang: int, kind: str | None, open_now: Numbers, idle: Numbers) -> Place | None:
        for pool in self.pools.values() if kind is None else [self.pools[kind]]:
            if self.rule is Placement.CONSOLIDATED:
                place = _consolidated(gang, pool, open_now, idle, self.sizes)
            else:
                place = _anywhere(gang, pool, open_now, idle, emptiest=self.rule is Placement.SPREAD)
            if place is not None:
                return place
        return None


def _consolidated(gang: int, pool: Numbers, open_now: Numbers, idle: Numbers, sizes: Numbers) -> Place | None:
    """On one node where one can hold the gang, else on whole nodes and the rest on one more."""
    largest = int(sizes[pool].max())
    if gang <= largest:
        fitting = pool[open_now[pool] >= gang]
        if not len(fitting):
            return None
        return ((_fullest(gang, fitting, open_now, idle), gang),)
    whole = pool[(open_now[pool] == sizes[pool]) & (sizes[pool] == largest)]
    whole = whole[np.lexsort((whole, idle[whole] < largest))]
    count, rest = divmod(gang, largest)
    if len(whole) < count:
        return None
    place = [(int(node), largest) for node in whole[:count]]
    if rest:
        others = pool[(open_now[pool] >= rest) & ~np.isin(pool, whole[:count])]
        if not len(others):
            return None
        place.append((_fullest(rest, others, open_now, idle), rest))
    return tuple(sorted(place))


def _fullest(gpus: int, nodes: Numbers, open_now: Numbers, idle: Numbers) -> int:
    """The node with the least room, those first that have it where nobody runs; all of `nodes` have it."""
    disturbs = idle[nodes] < gpus
    room = np.where(disturbs, open_now[nodes], idle[nodes])
    return int(nodes[np.lexsort((nodes, room, disturbs))[0]])


def _anywhere(
    gang: int, pool: Sequence[int] | Numbers, open_now: Numbers, idle: Numbers, emptiest: bool
) -> Place | None:
    """GPUs of one type on any nodes: first those that nobody runs on, from the emptiest node or the first."""
    nodes = np.asarray(pool)
    if int(open_now[nodes].sum()) < gang:
        return None
    taken: dict[int, int] = {}
    for room in (np.minimum(idle, open_now), open_now):
        order = nodes[np.lexsort((nodes, -room[nodes]))] if emptiest else nodes
        for node in order.tolist():
            gpus = min(gang - sum(taken.values()), int(room[node]) - taken.get(node, 0))
            if gpus > 0:
                taken[node] = taken.get(node, 0) + gpus
        if sum(taken.values()) == gang:
            break
    return tuple(sorted(taken.items()))
