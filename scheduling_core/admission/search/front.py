"""Several goals at once: whole schedules of which none is worse in one goal without being better in another.

By epsilon constraints (Y. Y. Haimes, L. S. Lasdon and D. A. Wismer, IEEE Trans. SMC 1, 1971): one goal is
made as low as can be while the others keep caps, from what each reaches alone up to what FIFO takes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from scheduling_core.admission.attempts import KIB_PER_MIB, Workload
from scheduling_core.admission.metrics import Metrics, metrics
from scheduling_core.admission.replay import fifo
from scheduling_core.admission.schedule import Limits, Policy, Schedule, schedule_of
from scheduling_core.admission.search.engine import search, value_of
from scheduling_core.admission.search.priorities import PRIORITIES, starts_by
from scheduling_core.admission.search.problem import Goal, Measure, Problem, Resource, problem_of
from scheduling_core.errors import SchedulingError

CAPPED = {
    Resource.SLOTS: "slots", Resource.CPU: "cpu_milli", Resource.RAM: "ram_kib", Resource.DISK: "disk_kib",
    Resource.PARKED: "parked_kib", Resource.REQUESTS: "requests", Resource.IMAGES: "image_kib",
}  # fmt: skip
"""The limit that caps the peak of each resource."""


@dataclass(frozen=True)
class Point:
    """One complete schedule with its values of all goals, and whether another one dominates it."""

    name: str
    schedule: Schedule
    metrics: Metrics
    values: tuple[int, ...]
    dominated: bool = False


@dataclass(frozen=True)
class Front:
    """Every whole schedule that was looked at in the end, in the order in which it was made.

    reference : FIFO's values. hypervolume : the share of the box from 0 to the reference that the front
    dominates, in goals divided by their reference. unmet : caps for which no schedule was found; whether
    there is one isn't known. stopped : "budget", or "interrupted", where fewer caps were tried than asked
    for.
    """

    goals: tuple[Goal, ...]
    points: tuple[Point, ...]
    reference: tuple[int, ...]
    hypervolume: float
    candidates: int
    unmet: tuple[str, ...] = ()
    stopped: str = "budget"

    @property
    def best(self) -> tuple[Point, ...]:
        """The points that none dominates; of several with the same values the first."""
        first = {point.values: point for point in reversed(self.points) if not point.dominated}
        return tuple(point for point in self.points if first.get(point.values) is point)

    def weighted(self, weights: Mapping[Goal, float] | None = None) -> Point:
        """The schedule with the lowest weighted mean of values over FIFO's; weights are 1 where not given.

        Raises
        ------
        SchedulingError : for a goal that isn't one of the front's, a weight below 0, or none above it.
        """
        given = {} if weights is None else weights
        foreign = [goal for goal in given if goal not in self.goals]
        if foreign:
            raise SchedulingError(
                f"A weight is given for {foreign[0]}, expected one of {', '.join(map(str, self.goals))}."
            )
        chosen = [float(given.get(goal, 1.0)) for goal in self.goals]
        if not all(0 <= weight < math.inf for weight in chosen) or not any(chosen):
            raise SchedulingError(f"The weights are {chosen}, expected numbers from 0, one of them above it.")

        def mean(point: Point) -> float:
            ratios = _scaled(point.values, self.reference)
            return sum(w * ratio for w, ratio in zip(chosen, ratios, strict=True)) / sum(chosen)

        return min(self.best, key=mean)


@dataclass(frozen=True)
class _Found:
    """A schedule with its figures, computed once."""

    name: str
    schedule: Schedule
    metrics: Metrics
    values: tuple[int, ...]


def front(
    workload: Workload,
    goals: Sequence[Goal],
    policy: Policy,
    limits: Limits,
    *,
    seed: int,
    budget: int,
    levels: int = 5,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Front:
    """A front over whole schedules that keep the limits, its deadline included.

    A third of the budget is for the goals one by one, the rest for the grid of `levels` caps of each goal
    but one. A search ends with the move in which its share is used up, so a few more candidates are looked
    at than the budget says.

    Raises
    ------
    SchedulingError : for fewer than two goals, a budget or number of levels below 1, or where no priority
        keeps the deadline.
    """
    main, capped = _roles(goals)
    if budget < 1 or levels < 1:
        raise SchedulingError(f"The budget is {budget} and levels {levels}, expected 1 or more of each.")
    looking = _Looking(workload, tuple(goals), policy, limits, budget, workers, progress)
    for goal in goals:
        begin = _alone(looking.found, goals, goal)
        how = {"seed": seed, "budget": max(1, budget // 3 // len(goals)), "chains": 2}
        if not looking.search(f"lowest {goal}", looking.problems[goal], begin, how):
            looking.unmet.append(f"lowest {goal}")
    cells = list(product(*[_levels(looking, goal, levels) for goal in capped]))
    share = max(1, (budget - looking.candidates) // len(cells))
    for number, caps in enumerate(cells):
        said = ", ".join(f"{g} <= {g.told(c)}" for g, c in zip(capped, caps, strict=True))
        problem = problem_of(workload, main, policy, _under(limits, capped, caps))
        begin = _begin(looking.found, goals, capped, caps, main)
        how = {"seed": seed + 1 + number, "budget": share, "chains": len(begin)}
        if not looking.search(f"lowest {main} with {said}", problem, begin, how) and not any(
            _keeps(one, goals, capped, caps) for one in looking.found
        ):
            looking.unmet.append(said)
    told = Front(
        tuple(goals), (), looking.reference, 0.0, looking.candidates, tuple(looking.unmet),
        "interrupted" if looking.interrupted else "budget",
    )  # fmt: skip
    return front_of(told, _points(looking.found, limits))


class _Looking:
    """What was found so far, from FIFO and the other priorities on. `reference` : FIFO's values."""

    def __init__(
        self, workload: Workload, goals: tuple[Goal, ...], policy: Policy, limits: Limits, budget: int,
        workers: int, progress: Callable[[int, int], None] | None,
    ) -> None:  # fmt: skip
        self.goals, self.limits = goals, limits
        self.budget, self.workers, self.progress = budget, workers, progress
        self.problems = {goal: problem_of(workload, goal, policy, limits) for goal in goals}
        self.found: list[_Found] = []
        self.unmet: list[str] = []
        self.candidates = 0
        self.interrupted = False
        first = fifo(workload, limits, policy)
        figures = metrics(workload, first)
        self.reference = self._values(figures)
        if figures.makespan <= self.problems[goals[0]].deadline:
            self.take("fifo", first, figures)
        for name in PRIORITIES:
            starts = starts_by(name, workload, limits)
            if starts is not None and name != "fifo":
                made = schedule_of(workload, starts, policy, limits, method=name)
                self.take(name, made, metrics(workload, made))
        if not self.found:
            raise SchedulingError(
                f"No priority ends by the deadline {limits.deadline} on {limits.slots} slots, so there is "
                "nothing to begin from."
            )

    def take(self, name: str, schedule: Schedule, figures: Metrics) -> None:
        """Remember a schedule, with the limits of all: caps were a search's, not the schedule's."""
        made = replace(schedule, limits=self.limits)
        self.found.append(_Found(name, made, figures, self._values(figures)))

    def search(
        self, name: str, problem: Problem, begin: Mapping[str, tuple[int, ...]], how: Mapping[str, Any]
    ) -> bool:
        """Search from some starts; whether a schedule that keeps every limit of the problem was met.

        After an interruption nothing is searched any more, and nothing is said to be unmet.
        """
        if self.interrupted:
            return True
        if not begin:
            return False
        done = self.candidates

        def tell(candidates: int, _: int) -> None:
            if self.progress is not None:
                self.progress(done + candidates, self.budget)

        try:
            result = search(problem, begin=begin, workers=self.workers, progress=tell, **how)
        except SchedulingError:  # all else that it refuses was checked before
            return False
        self.candidates += result.candidates
        self.interrupted = result.stopped == "interrupted"
        self.take(name, result.schedule, result.metrics)
        return True

    def _values(self, figures: Metrics) -> tuple[int, ...]:
        return tuple(value_of(self.problems[goal], figures) for goal in self.goals)


def front_of(looked: Front, points: Sequence[Point]) -> Front:
    """The front of some points, in what else is said as `looked`."""
    values = {point.values for point in points}
    told = tuple(
        replace(point, dominated=any(dominates(other, point.values) for other in values)) for point in points
    )
    scaled = [_scaled(point.values, looked.reference) for point in told if not point.dominated]
    return replace(looked, points=told, hypervolume=hypervolume(scaled, (1.0,) * len(looked.goals)))


def hypervolume(points: Sequence[Sequence[float]], reference: Sequence[float]) -> float:
    """The volume that points dominate below a reference, all goals to be low; by slices of the last goal."""
    inside = [p for p in points if all(v < r for v, r in zip(p, reference, strict=True))]
    if not inside:
        return 0.0
    if len(reference) == 1:
        return reference[0] - min(p[0] for p in inside)
    edges = sorted({p[-1] for p in inside})
    volume = 0.0
    for low, high in zip(edges, [*edges[1:], reference[-1]], strict=True):
        slab = [p[:-1] for p in inside if p[-1] <= low]
        volume += (high - low) * hypervolume(slab, reference[:-1])
    return volume


def dominates(one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether `one` is nowhere higher and somewhere lower."""
    return all(a <= b for a, b in zip(one, other, strict=True)) and tuple(one) != tuple(other)


def _roles(goals: Sequence[Goal]) -> tuple[Goal, list[Goal]]:
    """The goal that is made low, and those that are capped meanwhile."""
    if len(goals) < 2 or len(set(goals)) != len(goals):
        raise SchedulingError("A front needs two goals or more, each once.")
    # Hours can't be capped, and there is one such goal at the most: those of images.
    main = next((goal for goal in goals if goal.measure is Measure.HOURS), goals[0])
    return main, [goal for goal in goals if goal != main]


def _points(found: Sequence[_Found], limits: Limits) -> tuple[Point, ...]:
    """Each schedule that keeps the limits, once."""
    kept: dict[str, _Found] = {}
    for one in found:
        if _within(one.metrics, limits):
            kept.setdefault(one.schedule.sha256, one)
    return tuple(Point(one.name, one.schedule, one.metrics, one.values) for one in kept.values())


def _within(figures: Metrics, limits: Limits) -> bool:
    used = (
        (figures.makespan, limits.deadline), (figures.slots.peak, limits.slots),
        (figures.cpu.peak, limits.cpu_milli), (figures.ram.peak, limits.ram_kib),
        (figures.disk.peak, limits.disk_kib), (figures.parked.peak, limits.parked_kib),
        (figures.images.peak_kib, limits.image_kib), (figures.service.peak_requests, limits.requests),
    )  # fmt: skip
    return all(most is None or value <= most for value, most in used)


def _scaled(values: Sequence[int], reference: Sequence[int]) -> tuple[float, ...]:
    return tuple(v / r if r else 0.0 for v, r in zip(values, reference, strict=True))


def _levels(looking: _Looking, goal: Goal, levels: int) -> list[int]:
    """Caps from FIFO's value down to the lowest that is known to be reached, in whole units of the search.

    Each is the same share of the one before, for a front bends most where it is low. With one goal to cap,
    both ends are already reached by each goal alone, so the caps lie in the middle of `levels` equal steps.
    """
    place = looking.goals.index(goal)
    kept = [one for one in looking.found if _within(one.metrics, looking.limits)] or looking.found
    low, high = min(one.values[place] for one in kept), looking.reference[place]
    if high <= low or levels < 2 or not low:
        return [low]
    profiles = looking.problems[goal].profiles
    unit = next((p.unit for p in profiles if p.resource is goal.resource), KIB_PER_MIB)
    one = len(looking.goals) == 2
    shares = [(k + 0.5) / levels if one else k / (levels - 1) for k in range(levels)]
    caps = [round(low * (high / low) ** share) for share in shares]
    return sorted({max(low, cap // unit * unit) for cap in caps}, reverse=True)


def _under(limits: Limits, capped: Sequence[Goal], caps: Sequence[int]) -> Limits:
    under = limits
    for goal, cap in zip(capped, caps, strict=True):
        field = CAPPED[goal.resource]
        known = getattr(limits, field)
        under = replace(under, **{field: cap if known is None else min(cap, known)})
    return under


def _alone(found: Sequence[_Found], goals: Sequence[Goal], goal: Goal) -> dict[str, tuple[int, ...]]:
    """Where the search for one goal begins: at lanes, which leave most room, or at what is lowest in it."""
    lanes = [one for one in found if one.name == "lanes" and goal.resource is not Resource.IMAGES]
    place = goals.index(goal)
    lowest = sorted(range(len(found)), key=lambda k: (found[k].values[place], k))[:2]
    return {one.name: one.schedule.starts for one in lanes or [found[k] for k in lowest]}


def _keeps(one: _Found, goals: Sequence[Goal], capped: Sequence[Goal], caps: Sequence[int]) -> bool:
    return all(one.values[goals.index(g)] <= cap for g, cap in zip(capped, caps, strict=True))


def _begin(
    found: Sequence[_Found], goals: Sequence[Goal], capped: Sequence[Goal], caps: Sequence[int], main: Goal
) -> dict[str, tuple[int, ...]]:
    """The schedule that is lowest in the main goal among those that keep the caps, and one to be mended.

    That one passes the caps by the smallest share of those that none dominates, for then a chain has least
    to mend. The number of slots both have to keep.
    """
    slots = [c for g, c in zip(capped, caps, strict=True) if g.resource is Resource.SLOTS]
    fitting = [k for k, one in enumerate(found) if not slots or one.metrics.slots.peak <= slots[0]]
    place = goals.index(main)

    def passes(k: int) -> float:
        ratios = [found[k].values[goals.index(g)] / max(1, c) for g, c in zip(capped, caps, strict=True)]
        return max(ratios)

    keeping = [k for k in fitting if _keeps(found[k], goals, capped, caps)]
    others = [
        k for k in fitting
        if k not in keeping and not any(dominates(one.values, found[k].values) for one in found)
    ]  # fmt: skip
    chosen = [
        *sorted(keeping, key=lambda k: (found[k].values[place], k))[:1],
        *sorted(others, key=lambda k: (passes(k), found[k].values[place], k))[:1],
    ]
    return {f"{found[k].name} ({k})": found[k].schedule.starts for k in chosen or fitting[:1]}
