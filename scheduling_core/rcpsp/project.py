"""A project: jobs with durations, precedence, and demands of resources that have fixed capacities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from scheduling_core.errors import SchedulingError

Jobs = tuple[int, ...]


class ProjectError(SchedulingError):
    """What is wrong with a project, and where: the parameter, and the job and resource, from 0, if one is."""

    def __init__(self, what: str, part: str, job: int | None = None, resource: int | None = None) -> None:
        super().__init__(what)
        self.part, self.job, self.resource = part, job, resource


@dataclass(frozen=True)
class Project:
    """n jobs, numbered from 0, on R renewable resources; all whole numbers.

    Parameters
    ----------
    durations : (n,) at least 0.
    demands : (n, R) of each resource while a job runs, at most its capacity.
    capacities : (R,) at least 0.
    successors : (n,) the jobs that start no earlier than this one ends; without cycles.

    Raises
    ------
    ProjectError : where one of these doesn't hold.
    """

    durations: tuple[int, ...]
    demands: tuple[tuple[int, ...], ...]
    capacities: tuple[int, ...]
    successors: tuple[Jobs, ...]

    def __post_init__(self) -> None:
        n = len(self.durations)
        if n == 0:
            raise ProjectError("There are no jobs, expected at least one.", "durations")
        for part, rows in (("demands", self.demands), ("successors", self.successors)):
            if len(rows) != n:
                raise ProjectError(f"There are {part} of {len(rows)} jobs, expected {n}.", part)
        for r, capacity in enumerate(self.capacities):
            if capacity < 0:
                what = f"Resource {r + 1} has capacity {capacity}, expected at least 0."
                raise ProjectError(what, "capacities", resource=r)
        for j in range(n):
            self._check_demands(j)
            self._check_successors(j)
        done = set(self.topological_order)
        if len(done) < n:
            stuck = next(j for j in range(n) if j not in done)
            what = f"Job {stuck + 1} waits on a cycle of precedence, expected none."
            raise ProjectError(what, "successors", stuck)

    def _check_demands(self, j: int) -> None:
        if self.durations[j] < 0:
            what = f"Job {j + 1} lasts {self.durations[j]}, expected at least 0."
            raise ProjectError(what, "durations", j)
        if len(self.demands[j]) != len(self.capacities):
            what = f"Job {j + 1} has {len(self.demands[j])} demands, expected {len(self.capacities)}."
            raise ProjectError(what, "demands", j)
        for r, (demand, capacity) in enumerate(zip(self.demands[j], self.capacities, strict=True)):
            if not 0 <= demand <= capacity:
                what = (
                    f"Job {j + 1} takes {demand} of resource {r + 1}, expected between 0 and its {capacity}."
                )
                raise ProjectError(what, "demands", j, r)

    def _check_successors(self, j: int) -> None:
        for s in self.successors[j]:
            if not 0 <= s < len(self):
                what = f"Job {j + 1} comes before job {s + 1}, expected one of 1 to {len(self)}."
                raise ProjectError(what, "successors", j)
        if len(set(self.successors[j])) < len(self.successors[j]):
            what = f"Job {j + 1} names a successor twice, expected each once."
            raise ProjectError(what, "successors", j)

    def __len__(self) -> int:
        return len(self.durations)

    @property
    def horizon(self) -> int:
        """The jobs one after another: no schedule that leaves no needless gap is longer."""
        return sum(self.durations)

    @cached_property
    def predecessors(self) -> tuple[Jobs, ...]:
        """(n,) the jobs that have to end before this one starts, in order."""
        found: list[list[int]] = [[] for _ in self.durations]
        for j, after in enumerate(self.successors):
            for s in after:
                found[s].append(j)
        return tuple(map(tuple, found))

    @cached_property
    def topological_order(self) -> Jobs:
        """Every job after its predecessors; jobs on a cycle, and what follows them, are missing."""
        waits = [0] * len(self)
        for after in self.successors:
            for s in after:
                waits[s] += 1
        order = [j for j, count in enumerate(waits) if count == 0]
        for j in order:  # grows while it is walked
            for s in self.successors[j]:
                waits[s] -= 1
                if waits[s] == 0:
                    order.append(s)
        return tuple(order)

    @cached_property
    def heads(self) -> tuple[int, ...]:
        """(n,) earliest starts by precedence alone."""
        return self._longest(self.predecessors, self.topological_order)

    @cached_property
    def tails(self) -> tuple[int, ...]:
        """(n,) time from the end of a job to the end of the project, at the least, by precedence alone."""
        return self._longest(self.successors, self.topological_order[::-1])

    def _longest(self, neighbours: Sequence[Jobs], order: Jobs) -> tuple[int, ...]:
        length = [0] * len(self)
        for j in order:
            length[j] = max((length[p] + self.durations[p] for p in neighbours[j]), default=0)
        return tuple(length)

    def makespan(self, starts: Sequence[int]) -> int:
        """When the last job ends."""
        return max(start + duration for start, duration in zip(starts, self.durations, strict=True))
