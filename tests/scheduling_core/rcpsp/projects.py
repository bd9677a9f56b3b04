"""Small projects at random, and what is shortest by trying every list."""

from itertools import permutations
from typing import Any

from hypothesis import strategies as st

from scheduling_core.rcpsp.project import Project


@st.composite
def projects(draw: Any, most: int = 5) -> Project:
    """Up to `most` jobs in a shuffled topological order, up to three resources, idle jobs among them."""
    n = draw(st.integers(1, most))
    capacities = tuple(draw(st.lists(st.integers(0, 5), max_size=3)))
    durations = tuple(draw(st.integers(0, 4)) for _ in range(n))
    demands = tuple(tuple(draw(st.integers(0, c)) for c in capacities) for _ in range(n))
    number = draw(st.permutations(range(n)))
    after: list[list[int]] = [[] for _ in range(n)]
    for i in range(n):
        for k in range(i + 1, n):
            if draw(st.integers(0, 3)) == 0:
                after[number[i]].append(number[k])
    return Project(durations, demands, capacities, tuple(tuple(sorted(s)) for s in after))


def serial(project: Project, order: tuple[int, ...]) -> dict[int, int] | None:
    """Starts by trying every time from 0 for each job in turn; None: the order breaks the precedence."""
    starts: dict[int, int] = {}
    for j in order:
        if any(p not in starts for p in project.predecessors[j]):
            return None
        time = 0
        while not _fits(project, starts, j, time):
            time += 1
        starts[j] = time
    return starts


def _fits(project: Project, starts: dict[int, int], j: int, time: int) -> bool:
    if any(starts[p] + project.durations[p] > time for p in project.predecessors[j]):
        return False
    for t in range(time, time + project.durations[j]):
        running = [i for i, s in starts.items() if s <= t < s + project.durations[i]]
        for r, capacity in enumerate(project.capacities):
            if sum(project.demands[i][r] for i in running) + project.demands[j][r] > capacity:
                return False
    return True


def shortest(project: Project) -> int:
    """The optimum: serial generation from every list finds one (Kolisch 1996)."""
    every = (serial(project, order) for order in permutations(range(len(project))))
    return min(project.makespan([s[j] for j in range(len(project))]) for s in every if s is not None)
