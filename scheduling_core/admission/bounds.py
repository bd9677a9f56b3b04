"""What no schedule can beat: lower bounds on peaks, hours and the makespan. All arguments are whole numbers.

S. Martello and P. Toth, "Lower bounds and reduction procedures for the bin packing problem", Discrete Applied
Mathematics 28 (1990) 59-70. Interval energy as in P. Baptiste, C. Le Pape and W. Nuijten, "Satisfiability
tests and time-bound adjustments for cumulative scheduling problems", Annals of OR 92 (1999) 305-333.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scheduling_core.admission.attempts import Workload
from scheduling_core.admission.schedule import Limits, Policy

WINDOW_ENDS = 160
"""Ends of windows that the energy bound looks at, at the most: a subset still gives a bound."""


@dataclass(frozen=True)
class Bound:
    """A lower bound with the argument that gives it."""

    value: int
    by: str


def best_of(*bounds: Bound) -> Bound:
    """The highest of several; the first of equals."""
    return max(bounds, key=lambda bound: bound.value)


def packing_bound(lengths: Sequence[int], size: int) -> Bound:
    """Bins of `size` that lengths need at least: Martello and Toth's L2, at least the total over the size."""
    d = np.sort(np.asarray(lengths, dtype=np.int64))[::-1]
    if not d.size:
        return Bound(0, "nothing to pack")
    area = Bound(-(-int(d.sum()) // size), "total over size")
    total = np.concatenate([[0], np.cumsum(d)])
    large = int((2 * d > size).sum())
    best = area
    for k in (0, *(int(v) for v in np.unique(d[large:]))):
        beyond = int((d > size - k).sum())  # each alone in its bin: nothing of k or more fits beside
        small = int((d >= k).sum())
        middle_room = (large - beyond) * size - int(total[large] - total[beyond])
        rest = max(0, int(total[max(small, large)] - total[large]) - middle_room)
        best = best_of(best, Bound(large + -(-rest // size), "Martello-Toth L2"))
    return best


def peak_bound(workload: Workload, amounts: Sequence[int], policy: Policy | None, deadline: int) -> Bound:
    """The least peak of a resource of which attempt i holds amounts[i], ending by `deadline`.

    policy : when it is held; None: from start to end. The highest of: the largest single amount; the area
    over the deadline, which a peak made of whole quotas can only pass; with equal amounts held whole, the
    bins that the durations need; and the energy of windows, held whole, with minimal overlap under left and
    right shift.
    """
    attempts = workload.attempts
    if not attempts:
        return Bound(0, "no attempts")
    held = [
        a.ticks if policy is None else sum(t for kind, t in a.segments if policy.holds(kind))
        for a in attempts
    ]
    pairs = list(zip(amounts, held, strict=True))
    area = area_bound([q * h for q, h in pairs], deadline)
    step = math.gcd(*amounts) or 1
    found = [
        area,
        Bound(-(-area.value // step) * step, "area over the deadline, in whole quotas"),
        Bound(max((q for q, h in pairs if h), default=0), "largest single amount"),
    ]
    if policy is None or policy is Policy.WHOLE:
        released = [a.release for a in attempts]
        if len(set(amounts)) == 1 and not any(released):
            bins = packing_bound([a.ticks for a in attempts], deadline)
            found.append(Bound(bins.value * amounts[0], f"bins of the deadline, {bins.by}"))
        found.append(_energy_bound([a.ticks for a in attempts], released, amounts, deadline))
    return best_of(*found)


def area_bound(areas: Sequence[int], deadline: int) -> Bound:
    """The peak that a resource of these areas (amount x ticks) has at least by the deadline."""
    return Bound(-(-sum(areas) // deadline), "area over the deadline")


def image_area_bound(workload: Workload, slots: int) -> Bound:
    """KiB x ticks that the image store holds at least.

    An image is there for as long as its longest attempt, and for as long as all its attempts need on every
    slot there is.
    """
    longest: dict[str, int] = {}
    total: dict[str, int] = {}
    size: dict[str, int] = {}
    for a in workload.attempts:
        longest[a.image] = max(longest.get(a.image, 0), a.ticks)
        total[a.image] = total.get(a.image, 0) + a.ticks
        size[a.image] = a.image_kib
    area = sum(size[name] * max(longest[name], -(-total[name] // slots)) for name in size)
    return Bound(area, "each image as long as its attempts need on every slot")


def makespan_bound(workload: Workload, limits: Limits) -> Bound:
    """The last end that no schedule comes before: the latest of its own end, and the area over the slots."""
    attempts = workload.attempts
    if not attempts:
        return Bound(0, "no attempts")
    return best_of(
        Bound(max(a.release + a.ticks for a in attempts), "release and duration of one attempt"),
        Bound(
            min(a.release for a in attempts) + -(-sum(a.ticks for a in attempts) // limits.slots),
            "area over the slots",
        ),
    )


def _energy_bound(lengths: Sequence[int], releases: Sequence[int], amounts: Sequence[int], end: int) -> Bound:
    d, r, q = (np.asarray(values, dtype=np.int64) for values in (lengths, releases, amounts))
    ends = np.unique(np.concatenate([[0, end], r, r + d, end - d]))
    ends = ends[(ends >= 0) & (ends <= end)]
    if len(ends) > WINDOW_ENDS:
        ends = ends[np.unique(np.linspace(0, len(ends) - 1, WINDOW_ENDS).astype(np.int64))]
    best = 0
    for a in ends[:-1]:
        b = ends[ends > a]
        left = np.minimum(b[:, None], r + d) - np.maximum(a, r)  # as early as it can
        right = np.minimum(b[:, None], end) - np.maximum(a, end - d)
        inside = np.clip(np.minimum(left, right), 0, None)
        needed = (inside * q).sum(axis=1)
        best = max(best, int((-(-needed // (b - a))).max()))
    return Bound(best, "energy of a window")
