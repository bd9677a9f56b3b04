"""Lower bounds on the makespan, which no schedule can pass."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

from scheduling_core.compiled import numbers
from scheduling_core.rcpsp import deadlines
from scheduling_core.rcpsp.project import Project

MOST_WORK = 1 << 58
"""Jobs x capacity x makespan up to which sums of work stay well within 64 bits."""


@dataclass(frozen=True)
class Bound:
    """A makespan that no schedule is shorter than.

    `by` says the argument: `critical path`, `resource area` or `refuted deadline`.
    """

    makespan: int
    by: str


def critical_path(project: Project) -> int:
    """The longest chain of precedence."""
    return max(
        head + length + tail
        for head, length, tail in zip(project.heads, project.durations, project.tails, strict=True)
    )


def resource_area(project: Project) -> int:
    """For the scarcest resource: what all jobs take of it over time, divided by its capacity, rounded up."""
    areas = [
        sum(length * row[r] for length, row in zip(project.durations, project.demands, strict=True))
        for r in range(len(project.capacities))
    ]
    # a resource of capacity 0 is taken by nobody
    return max((-(-area // max(1, c)) for area, c in zip(areas, project.capacities, strict=True)), default=0)


def lower_bound(project: Project, longest: int, module: ModuleType = deadlines) -> Bound:
    """The best bound there is, searched up to `longest`, the makespan of some schedule.

    A deadline that `deadlines.refuted` shows to be too early raises the bound above it; such deadlines are
    sought by halving (destructive improvement: Klein and Scholl 1999, European Journal of Operational
    Research 112). None is sought where the work of all jobs might not fit into 64 bits.
    """
    path, area = critical_path(project), resource_area(project)
    best = Bound(path, "critical path") if path >= area else Bound(area, "resource area")
    low, high = best.makespan, longest
    if len(project) * max(project.capacities, default=0) * longest > MOST_WORK:
        return best
    while low < high:
        deadline = (low + high) // 2
        if module.refuted(_windows(module, project, deadline)):
            low = deadline + 1
            best = Bound(low, "refuted deadline")
        else:
            high = deadline
    return best


def _windows(module: ModuleType, project: Project, deadline: int) -> deadlines.Windows:
    n = len(project)
    below = _reachable(project)
    arcs = [k for i in range(n) for j in project.successors[i] for k in (i, j)]
    rivals = [
        k
        for i in range(n)
        for j in range(i + 1, n)
        if not below[i] >> j & 1 and not below[j] >> i & 1 and _cannot_overlap(project, i, j)
        for k in (i, j)
    ]
    latest = [deadline - tail for tail in project.tails]
    demands = [d for row in project.demands for d in row]
    values = (project.durations, demands, project.capacities, arcs, rivals, project.heads, latest)
    return deadlines.Windows(*(numbers(module, list(v)) for v in values))


def _cannot_overlap(project: Project, i: int, j: int) -> bool:
    demands = zip(project.demands[i], project.demands[j], project.capacities, strict=True)
    return min(project.durations[i], project.durations[j]) > 0 and any(a + b > c for a, b, c in demands)


def _reachable(project: Project) -> list[int]:
    """(n,) the jobs after each, at any distance, as bits."""
    below = [0] * len(project)
    for j in reversed(project.topological_order):
        for s in project.successors[j]:
            below[j] |= 1 << s | below[s]
    return below
