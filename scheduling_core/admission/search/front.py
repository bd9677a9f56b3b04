"""Several goals at once: whole schedules of which none is worse in one goal without being better in another.

By epsilon constraints (Y. Y. Haimes, L. S. Lasdon and D. A. Wismer, IEEE Trans. SMC 1, 1971): one goal is
made as low as can be while the others keep caps, from what each reaches alone up to what FIFO takes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from scheduling_core.admission.attempts import Workload
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
    dominates, in goals divided by their reference.
    """

    goals: tuple[Goal, ...]
    points: tuple[Point, ...]
    reference: tuple[int, ...]
    hypervolume: float
    candidates: int

    @property
    def best(self) -> tuple[Point, ...]:
        """The points that none dominates; of several with the same values the first."""
        return tuple(point for point in self.points if not point.dominated)

    def weighted(self, weights: Mapping[Goal, float] | None = None) -> Point:
        """The schedule with the lowest weighted mean of values over FIFO's; weights are 1 where not given."""
        chosen = [1.0 if weights is None else weights.get(goal, 1.0) for goal in self.goals]

        def mean(point: Point) -> float:
            ratios = [v / r if r else 0.0 for v, r in zip(point.values, self.reference, strict=True)]
            return sum(w * ratio for w, ratio in zip(chosen, ratios, strict=True)) / sum(chosen)

        return min(self.best, key=mean)


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

    A third of the budget goes to each goal by itself, the rest to the cells of the grid of `levels` caps.

    Raises
    ------
    SchedulingError : for fewer than two goals, or two of which neither can be capped.
    """
    if len(goals) < 2 or len(set(goals)) != len(goals):
        raise SchedulingError("A front needs two goals or more, each once.")
    hours = [goal for goal in goals if goal.measure is Measure.HOURS]
    main = hours[0] if hours else goals[0]
    capped = [goal for goal in goals if goal != main]
    if any(goal.measure is Measure.HOURS for goal in capped):
        raise SchedulingError("Only one of the goals can be hours; the others are kept under a cap.")
    problems = {goal: problem_of(workload, goal, policy, limits) for goal in goals}
    first = fifo(workload, limits, policy)
    found = [("fifo", first)]
    for name in PRIORITIES:
        starts = starts_by(name, workload, limits)
        if starts is not None and name != "fifo":
            found.append((name, schedule_of(workload, starts, policy, limits, method=name)))
    done = 0

    def tell(candidates: int, _: int) -> None:
        if progress is not None:
            progress(done + candidates, budget)

    alone = max(1, budget // 3 // len(goals))
    anchors = {}
    for goal in goals:
        result = search(
            problems[goal], seed=seed, budget=alone, chains=2, workers=workers, progress=tell,
        )  # fmt: skip
        done += result.candidates
        anchors[goal] = result.value
        found.append((f"lowest {goal}", result.schedule))
    reference = _values(problems, goals, metrics(workload, first))
    cells = [_levels(anchors[g], reference[goals.index(g)], levels) for g in capped]
    grid = list(product(*cells))
    share = max(1, (budget - done) // len(grid))
    for number, caps in enumerate(grid):
        under = _under(limits, capped, caps)
        begin = _begin(workload, found, goals, capped, caps, problems, main)
        result = search(
            problem_of(workload, main, policy, under), seed=seed + 1 + number, budget=share,
            chains=len(begin), workers=workers, begin=begin, progress=tell,
        )  # fmt: skip
        done += result.candidates
        name = f"lowest {main} with " + ", ".join(f"{g} <= {c}" for g, c in zip(capped, caps, strict=True))
        made = replace(result.schedule, limits=limits)  # the caps were the search's, not the schedule's
        found.append((name, made))
    points = _points(workload, found, problems, goals)
    scaled = [
        tuple(v / r if r else 0.0 for v, r in zip(p.values, reference, strict=True))
        for p in points if not p.dominated
    ]  # fmt: skip
    return Front(tuple(goals), points, reference, hypervolume(scaled, (1.0,) * len(goals)), done)


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


def _points(
    workload: Workload, found: Sequence[tuple[str, Schedule]], problems: Mapping[Goal, Problem],
    goals: Sequence[Goal],
) -> tuple[Point, ...]:  # fmt: skip
    points: list[Point] = []
    seen: set[str] = set()
    for name, schedule in found:
        if schedule.sha256 in seen:
            continue
        seen.add(schedule.sha256)
        figures = metrics(workload, schedule)
        points.append(Point(name, schedule, figures, _values(problems, goals, figures)))
    kept: list[Point] = []
    for k, point in enumerate(points):
        beaten = any(dominates(other.values, point.values) for other in points)
        repeated = any(other.values == point.values for other in points[:k])
        kept.append(replace(point, dominated=beaten or repeated))
    return tuple(kept)


def _values(problems: Mapping[Goal, Problem], goals: Sequence[Goal], figures: Metrics) -> tuple[int, ...]:
    return tuple(value_of(problems[goal], figures) for goal in goals)


def _levels(low: int, high: int, levels: int) -> list[int]:
    """Caps from the lowest that is known to be reached up to FIFO's."""
    if high <= low or levels < 2:
        return [low]
    return sorted({low + (high - low) * k // (levels - 1) for k in range(levels)})


def _under(limits: Limits, capped: Sequence[Goal], caps: Sequence[int]) -> Limits:
    under = limits
    for goal, cap in zip(capped, caps, strict=True):
        field = CAPPED[goal.resource]
        known = getattr(limits, field)
        under = replace(under, **{field: cap if known is None else min(cap, known)})
    return under


def _begin(
    workload: Workload, found: Sequence[tuple[str, Schedule]], goals: Sequence[Goal],
    capped: Sequence[Goal], caps: Sequence[int], problems: Mapping[Goal, Problem], main: Goal,
) -> dict[str, tuple[int, ...]]:  # fmt: skip
    """The schedule that is lowest in the main goal among those that keep the caps, and the lowest of all.

    The second may pass a cap, which its chain then mends; the number of slots it has to keep.
    """
    slots = min((c for g, c in zip(capped, caps, strict=True) if g.resource is Resource.SLOTS), default=None)
    scored = []
    for k, (name, schedule) in enumerate(found):
        figures = metrics(workload, schedule)
        if slots is not None and figures.slots.peak > slots:
            continue
        values = dict(zip(goals, _values(problems, goals, figures), strict=True))
        keeps = all(values[g] <= c for g, c in zip(capped, caps, strict=True))
        scored.append((values[main], k, keeps, name, schedule.starts))
    scored.sort()
    chosen = [s for s in scored if s[2]][:1] + scored[:1]
    return {f"{name} ({k})": starts for _, k, _, name, starts in chosen}
