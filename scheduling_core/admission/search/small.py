"""A search small enough to stand behind a claim: one chain, kernels in plain Python, no checkpoints."""

from __future__ import annotations

from collections.abc import Sequence

from scheduling_core.admission.attempts import Workload
from scheduling_core.admission.images import store_use
from scheduling_core.admission.kernels import moves
from scheduling_core.admission.metrics import use_of
from scheduling_core.admission.replay import list_admission
from scheduling_core.admission.schedule import (
    NOTHING_KEPT,
    ImageStore,
    Limits,
    Policy,
    Schedule,
    schedule_of,
)
from scheduling_core.admission.search.chain import Chain
from scheduling_core.admission.search.priorities import PRIORITIES, order_by, pack
from scheduling_core.admission.search.problem import Measure, Problem, Resource
from scheduling_core.compiled import plain_form
from scheduling_core.errors import SchedulingError


def small_search(problem: Problem, budget: int, seed: int) -> tuple[Schedule, int]:
    """The best schedule of the priorities, or what one chain of moves finds from it, and the candidates.

    budget : candidates, 0 for the priorities alone. The same in every installation: nothing is compiled.

    Raises
    ------
    SchedulingError : where no priority keeps the deadline.
    """
    workload, limits = problem.workload, problem.limits
    begun = [listed(name, workload, limits, problem.policy) for name in PRIORITIES if name != "lanes"]
    if not any(a.release for a in workload.attempts):
        lanes = pack([a.ticks for a in workload.attempts], problem.deadline)
        if len(lanes) <= limits.slots:
            begun.append(in_lanes(workload, lanes, problem.policy, limits))
    kept = [schedule for schedule in begun if last_end(workload, schedule) <= problem.deadline]
    if not kept:
        raise SchedulingError(f"No priority ends by the deadline {problem.deadline}; allow more time.")
    best = min(kept, key=lambda schedule: _cost(problem, schedule))
    if not budget:
        return best, 0
    chain = Chain(problem, best.starts, seed, plain_form(moves))
    while chain.candidates < budget:
        chain.advance(budget - chain.candidates)
    if chain.best is None:
        return best, chain.candidates
    found = schedule_of(
        workload, chain.best.starts, problem.policy, limits, NOTHING_KEPT, method="search",
        goal=str(problem.goal), seed=seed, budget=budget, begun_from=best.made_by["method"],
    )  # fmt: skip
    return found, chain.candidates


def listed(
    name: str, workload: Workload, limits: Limits, policy: Policy, images: ImageStore = NOTHING_KEPT
) -> Schedule:
    """List admission on the slots alone, in the order of a priority."""
    attempts = workload.attempts
    starts = list_admission(
        [a.ticks for a in attempts], [a.release for a in attempts], [[1]] * len(attempts), [limits.slots],
        order_by(name, workload),
    )  # fmt: skip
    return schedule_of(workload, starts, policy, limits, images, method=name)


def in_lanes(workload: Workload, lanes: Sequence[Sequence[int]], policy: Policy, limits: Limits) -> Schedule:
    """Each lane's attempts (positions) one behind the other from tick 0."""
    starts = [0] * len(workload)
    for lane in lanes:
        tick = 0
        for i in lane:
            starts[i] = tick
            tick += workload.attempts[i].ticks
    return schedule_of(workload, starts, policy, limits, method="lanes")


def last_end(workload: Workload, schedule: Schedule) -> int:
    """The makespan, in ticks."""
    return max(s + a.ticks for s, a in zip(schedule.starts, workload.attempts, strict=True))


def _cost(problem: Problem, schedule: Schedule) -> int:
    goal, attempts = problem.goal, problem.workload.attempts
    if goal.resource is Resource.IMAGES:
        users = [
            (s, s + a.ticks, a.image, a.image_kib) for s, a in zip(schedule.starts, attempts, strict=True)
        ]
        found = store_use(users, schedule.images)
        return found.kib_ticks if goal.measure is Measure.HOURS else found.peak_kib
    profile = next(p for p in problem.profiles if p.resource is goal.resource)
    return use_of(
        (start + offset, start + offset + length, amount)
        for start, spans, amount in zip(schedule.starts, profile.spans, profile.amounts, strict=True)
        for offset, length in spans
    ).peak
