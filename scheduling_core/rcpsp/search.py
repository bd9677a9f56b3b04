"""Search for a short schedule of a project, counted in schedules generated."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

from scheduling_core.compiled import numbers
from scheduling_core.errors import CertificateError, SchedulingError
from scheduling_core.rcpsp import kernels
from scheduling_core.rcpsp.bounds import Bound, lower_bound
from scheduling_core.rcpsp.flat import chance_from, flatten, pool_for, room_for
from scheduling_core.rcpsp.generation import serial_schedule
from scheduling_core.rcpsp.project import Project
from scheduling_core.rcpsp.validate import faults


@dataclass(frozen=True)
class Found:
    """The best schedule of a search: starts (n,), makespan, and the bound that no schedule passes.

    `schedules` counts every pass of serial generation, justification passes too; it is less than `budget`
    where the bound was met before.
    """

    starts: tuple[int, ...]
    makespan: int
    bound: Bound
    schedules: int
    budget: int
    seed: int

    @property
    def proved_optimal(self) -> bool:
        """Whether the makespan meets the bound. Where not, it may be optimal all the same."""
        return self.makespan == self.bound.makespan


def search(
    project: Project,
    budget: int,
    seed: int,
    bound: Bound | None = None,
    module: ModuleType = kernels,
) -> Found:
    """The best of at most `budget` schedules; the same project, budget and seed give the same.

    bound : of the makespan, known already; otherwise it is computed (`bounds.lower_bound`), which counts as
    no schedule. `module` is `kernels` or its plain form.

    Raises
    ------
    SchedulingError : for a budget less than 1, a negative seed, or durations too long for a profile.
    CertificateError : where the bound is none, or the validator finds fault with the result: a defect.
    """
    if budget < 1:
        raise SchedulingError(f"The budget is {budget} schedules, expected at least 1.")
    if seed < 0:
        raise SchedulingError(f"The seed is {seed}, expected at least 0.")
    n = len(project)
    flat = flatten(module, project)
    room = room_for(module, flat, project.horizon)
    if bound is None:
        some = serial_schedule(project, project.topological_order, module)
        bound = lower_bound(project, project.makespan(some))
    if bound.makespan > project.horizon:
        raise CertificateError(
            f"The bound is {bound.makespan}, though the jobs in turn take {project.horizon}."
        )
    pool = pool_for(module, n, budget)
    best = numbers(module, [0] * (n + 1))
    used = module.evolve(
        flat, budget, bound.makespan, project.horizon, chance_from(module, seed), room, pool, best
    )
    starts = tuple(int(start) for start in best[:n])
    wrong = faults(project, starts)
    if wrong or project.makespan(starts) != best[n]:
        raise CertificateError(wrong[0] if wrong else f"The makespan isn't {best[n]}, as the search says.")
    if best[n] < bound.makespan:
        raise CertificateError(f"A makespan of {best[n]} is below the bound, {bound.makespan}.")
    return Found(starts, int(best[n]), bound, int(used), budget, seed)
