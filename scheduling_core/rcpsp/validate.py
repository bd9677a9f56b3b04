"""An independent validator: from a project and its starts alone, sharing no code with what made them."""

from __future__ import annotations

from collections.abc import Sequence

from scheduling_core.rcpsp.project import Project


def faults(project: Project, starts: Sequence[int]) -> list[str]:
    """What is wrong with a schedule, one sentence each, jobs and resources counted from 1; empty: nothing."""
    n = len(project.durations)
    if len(starts) != n:
        return [f"There are {len(starts)} starts for {n} jobs."]
    found = [f"Job {j + 1} starts at {starts[j]}, before 0." for j in range(n) if starts[j] < 0]
    for j in range(n):
        end = starts[j] + project.durations[j]
        found += [
            f"Job {s + 1} starts at {starts[s]}, before job {j + 1} ends at {end}."
            for s in project.successors[j]
            if starts[s] < end
        ]
    # use only rises where a job starts
    for time in sorted(set(starts)):
        running = [j for j in range(n) if starts[j] <= time < starts[j] + project.durations[j]]
        for r, capacity in enumerate(project.capacities):
            used = sum(project.demands[j][r] for j in running)
            if used > capacity:
                found.append(f"At {time}, {used} of resource {r + 1} are in use, more than its {capacity}.")
    return found
