"""Where a search begins: list schedules by several priorities, and lanes packed as tight as can be."""

from __future__ import annotations

import bisect
from collections.abc import Sequence

from scheduling_core.admission.attempts import Workload
from scheduling_core.admission.replay import fifo
from scheduling_core.admission.schedule import Limits, Policy

PRIORITIES = ("lanes", "fifo", "grouped", "longest", "shortest", "active work")


def order_by(name: str, workload: Workload) -> list[int]:
    """Attempts (n,) in the order of a priority; equal ones in the order of arrival."""
    attempts = workload.attempts
    n = range(len(attempts))
    if name == "longest":
        return sorted(n, key=lambda i: (-attempts[i].ticks, i))
    if name == "shortest":
        return sorted(n, key=lambda i: (attempts[i].ticks, i))
    if name == "active work":
        work = [a.ram_kib * sum(t for k, t in a.segments if Policy.ACTIVE.holds(k)) for a in attempts]
        return sorted(n, key=lambda i: (-work[i], i))
    if name == "grouped":
        total: dict[str, int] = {}
        for a in attempts:
            total[a.image] = total.get(a.image, 0) + a.ticks
        return sorted(n, key=lambda i: (-total[attempts[i].image], attempts[i].image, -attempts[i].ticks, i))
    return list(n)


def starts_by(name: str, workload: Workload, limits: Limits) -> list[int] | None:
    """Starts (n,) by a priority; None where it ends after the deadline or keeps a release waiting.

    `lanes` packs durations into bins of the deadline, the longest first, each where least room stays (best
    fit decreasing); it knows of no releases and of no limit but the slots.
    """
    attempts = workload.attempts
    assert limits.deadline is not None
    if name == "lanes":
        lanes = pack([a.ticks for a in attempts], limits.deadline)
        if any(a.release for a in attempts) or len(lanes) > limits.slots:
            return None
        starts = [0] * len(attempts)
        for lane in lanes:
            tick = 0
            for i in lane:
                starts[i] = tick
                tick += attempts[i].ticks
        return starts
    starts = list(fifo(workload, limits, order=order_by(name, workload)).starts)
    late = any(s + a.ticks > limits.deadline for s, a in zip(starts, attempts, strict=True))
    return None if late else starts


def pack(lengths: Sequence[int], size: int) -> list[list[int]]:
    """Bins of `size` that hold all lengths, by best fit decreasing; in each the order of arrival."""
    bins: list[list[int]] = []
    room: list[tuple[int, int]] = []
    for i in sorted(range(len(lengths)), key=lambda k: (-lengths[k], k)):
        at = bisect.bisect_left(room, (lengths[i], -1))
        left, number = room.pop(at) if at < len(room) else (size, len(bins))
        if number == len(bins):
            bins.append([])
        bins[number].append(i)
        bisect.insort(room, (left - lengths[i], number))
    return [sorted(lane) for lane in bins]
