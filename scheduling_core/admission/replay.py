"""FIFO list admission: attempts start in their order, and the first that doesn't fit holds up the rest."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from scheduling_core.admission.attempts import Workload
from scheduling_core.admission.kernels.calls import admission_starts
from scheduling_core.admission.schedule import (
    NOTHING_KEPT,
    ImageStore,
    Limits,
    Policy,
    Schedule,
    schedule_of,
)
from scheduling_core.errors import SchedulingError

DEMANDS = ("slots", "cpu_milli", "ram_kib", "disk_kib")
"""What an admission takes whole, from start to end."""


def list_admission(
    durations: Sequence[int],
    releases: Sequence[int],
    demands: Sequence[Sequence[int]],
    capacities: Sequence[int],
    order: Sequence[int],
) -> list[int]:
    """Starts (n,) of jobs (n,) admitted in `order`; the head of the line blocks.

    demands (n, R) are held from start to end; a job starts at the first tick, no earlier than its release
    and the start of the one before it, at which all fit. Ends free what they held before a start takes it.
    `kernels.calls.admission_starts` gives the same, faster.

    Raises
    ------
    SchedulingError : for a job that alone passes a capacity, or an order that doesn't hold each job once.
    """
    if sorted(order) != list(range(len(durations))):
        raise SchedulingError(f"The order doesn't hold each of the {len(durations)} jobs once.")
    free = list(capacities)
    running: list[tuple[int, int]] = []
    starts = [0] * len(durations)
    now = 0
    for job in order:
        wanted = demands[job]
        if any(w > c for w, c in zip(wanted, capacities, strict=True)):
            raise SchedulingError(f"Job {job} wants {list(wanted)}, more than there is: {list(capacities)}.")
        now = max(now, releases[job])
        while True:
            while running and running[0][0] <= now:
                _, ended = heapq.heappop(running)
                free = [f + w for f, w in zip(free, demands[ended], strict=True)]
            if all(w <= f for w, f in zip(wanted, free, strict=True)):
                break
            now = running[0][0]
        free = [f - w for f, w in zip(free, wanted, strict=True)]
        starts[job] = now
        heapq.heappush(running, (now + durations[job], job))
    return starts


def fifo(
    workload: Workload,
    limits: Limits,
    policy: Policy = Policy.WHOLE,
    images: ImageStore = NOTHING_KEPT,
    order: Sequence[int] | None = None,
) -> Schedule:
    """The workload admitted in the order of arrival, or in `order`.

    Slots, CPU, RAM and disk are taken whole from start to end to decide the starts, under either policy:
    an admission can't count on what others will release later. A deadline isn't looked at.
    """
    attempts = workload.attempts
    wanted = [[1, a.cpu_milli, a.ram_kib, a.disk_kib] for a in attempts]
    enough = [sum(row[r] for row in wanted) for r in range(len(DEMANDS))]
    given = [limits.slots, limits.cpu_milli, limits.ram_kib, limits.disk_kib]
    capacities = [e if g is None else g for g, e in zip(given, enough, strict=True)]
    starts = admission_starts(
        [a.ticks for a in attempts], [a.release for a in attempts], wanted, capacities,
        range(len(attempts)) if order is None else order,
    )  # fmt: skip
    name = "fifo" if order is None else "list"
    return schedule_of(workload, starts, policy, limits, images, method=name)


def as_run(workload: Workload, limits: Limits, policy: Policy = Policy.WHOLE) -> Schedule:
    """The schedule that really was: the starts as logged, its idle gaps included.

    Raises
    ------
    SchedulingError : where a start isn't known.
    """
    missing = [a.id for a in workload.attempts if a.started is None]
    if missing:
        raise SchedulingError(f"Attempt {missing[0]} has no logged start, so there is no schedule as run.")
    starts = [a.started or 0 for a in workload.attempts]
    return schedule_of(workload, starts, policy, limits, method="as_run")
