"""Schedules from activity lists, and their justification; one at a time. `search` makes many."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

from scheduling_core.errors import SchedulingError
from scheduling_core.rcpsp import kernels
from scheduling_core.rcpsp.flat import flatten, room_for
from scheduling_core.rcpsp.project import Project
from scheduling_core.rcpsp.validate import faults


def serial_schedule(
    project: Project, activities: Sequence[int], module: ModuleType = kernels
) -> tuple[int, ...]:
    """Starts (n,) by serial generation: each job in turn as early as precedence and capacities allow.

    Some list gives an optimal schedule (Kolisch 1996, European Journal of Operational Research 90).

    Raises
    ------
    SchedulingError : where the list isn't every job once, each after its predecessors.
    """
    seen: set[int] = set()
    for j in activities:
        if not 0 <= j < len(project):
            raise SchedulingError(f"The list names job {j + 1}, expected one of 1 to {len(project)}.")
        late = [p for p in project.predecessors[j] if p not in seen]
        if late:
            raise SchedulingError(f"The list has job {j + 1} before its predecessor {late[0] + 1}.")
        if j in seen:
            raise SchedulingError(f"The list has job {j + 1} twice, expected each once.")
        seen.add(j)
    if len(seen) < len(project):
        raise SchedulingError(f"The list has {len(seen)} jobs, expected all {len(project)}.")
    flat = flatten(module, project)
    room = room_for(module, flat, project.horizon)
    for place, j in enumerate(activities):
        room.listed[place] = j
    module.generate(flat, 0, room)
    return tuple(int(start) for start in room.starts)


def double_justification(
    project: Project, starts: Sequence[int], module: ModuleType = kernels
) -> tuple[int, ...]:
    """Starts (n,) after forward-backward improvement: every job to the right, then to the left.

    Two schedules more, and none is longer than the one before (Valls, Ballestín and Quintanilla 2005,
    European Journal of Operational Research 165).

    Raises
    ------
    SchedulingError : where `starts` are no schedule of the project.
    """
    wrong = faults(project, starts)
    if wrong:
        raise SchedulingError(wrong[0])
    flat = flatten(module, project)
    makespan = project.makespan(starts)
    room = room_for(module, flat, max(makespan, project.horizon))
    for j, start in enumerate(starts):
        room.starts[j] = start
    makespan = module.justify(flat, 1, makespan, room)
    module.justify(flat, 0, makespan, room)
    return tuple(int(start) for start in room.starts)
