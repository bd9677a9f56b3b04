"""Kernel: whether a deadline can be shown to be too early. One that can be met is never refuted.

Each job has a window [earliest, latest) to run in. Windows are narrowed, until nothing changes, by
precedence, by pairs of jobs that can't run together (immediate selection: Carlier and Pinson 1989, Management
Science 35), and by the work that intervals must hold (energetic reasoning: Baptiste, Le Pape and Nuijten
1999, Annals of Operations Research 92).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from scheduling_core.compiled import kernel

ROUNDS = 100
"""Of narrowing; stopping early refutes less and nothing falsely."""


class Windows(NamedTuple):
    """durations, earliest, latest (n,); demands (n * R,); capacities (R,).

    arcs (2 * A,) : pairs (job, successor). rivals (2 * P,) : pairs whose demands don't fit together.
    """

    durations: Any
    demands: Any
    capacities: Any
    arcs: Any
    rivals: Any
    earliest: Any
    latest: Any


@kernel
def order_arcs(w: Any) -> bool:
    """Narrows windows by precedence; whether any changed."""
    changed = False
    for k in range(len(w.arcs) // 2):
        i, j = w.arcs[2 * k], w.arcs[2 * k + 1]
        if w.earliest[i] + w.durations[i] > w.earliest[j]:
            w.earliest[j] = w.earliest[i] + w.durations[i]
            changed = True
        if w.latest[j] - w.durations[j] < w.latest[i]:
            w.latest[i] = w.latest[j] - w.durations[j]
            changed = True
    return changed


@kernel
def order_rivals(w: Any) -> bool:
    """Where one of two rivals can't go first, the other does: narrows both windows; whether any changed."""
    changed = False
    for k in range(len(w.rivals) // 2):
        for turn in range(2):
            i, j = w.rivals[2 * k + turn], w.rivals[2 * k + 1 - turn]
            if w.earliest[i] + w.durations[i] + w.durations[j] > w.latest[j]:
                if w.earliest[j] + w.durations[j] > w.earliest[i]:
                    w.earliest[i] = w.earliest[j] + w.durations[j]
                    changed = True
                if w.latest[i] - w.durations[i] < w.latest[j]:
                    w.latest[j] = w.latest[i] - w.durations[i]
                    changed = True
    return changed


@kernel
def inside(w: Any, j: int, begin: int, end: int, shift: int) -> int:
    """How long job j runs within [begin, end), at its earliest (shift 0) or its latest (1)."""
    start = w.earliest[j] if shift == 0 else w.latest[j] - w.durations[j]
    length: int = max(0, min(end, start + w.durations[j]) - max(begin, start))
    return length


@kernel
def weigh(w: Any, begin: int, end: int) -> int:
    """Narrows windows by the work within [begin, end): 0 nothing new, 1 something, 2 there is too much."""
    n, kinds = len(w.durations), len(w.capacities)
    changed = 0
    for r in range(kinds):
        needed = 0
        for j in range(n):
            least = min(inside(w, j, begin, end, 0), inside(w, j, begin, end, 1))
            needed += w.demands[j * kinds + r] * least
        spare = w.capacities[r] * (end - begin) - needed
        if spare < 0:
            return 2
        # `spare` is of the windows as they were: narrower ones only leave less, so what follows stays true
        for j in range(n):
            demand = w.demands[j * kinds + r]
            if demand == 0:
                continue
            first = inside(w, j, begin, end, 0)
            last = inside(w, j, begin, end, 1)
            # what the job may have of the interval, the least of all others left in it
            most = (spare + demand * min(first, last)) // demand
            if first > most and end - most > w.earliest[j]:
                w.earliest[j] = end - most
                changed = 1
            if last > most and begin + most < w.latest[j]:
                w.latest[j] = begin + most
                changed = 1
    return changed


@kernel
def refuted(w: Any) -> bool:
    """Whether no schedule has every job within its window. False says nothing."""
    n = len(w.durations)
    for _ in range(ROUNDS):
        changed = False
        while order_arcs(w) or order_rivals(w):
            changed = True
            for j in range(n):
                if w.earliest[j] + w.durations[j] > w.latest[j]:
                    return True
        for j in range(n):
            if w.earliest[j] + w.durations[j] > w.latest[j]:
                return True
        for i in range(2 * n):
            begin = w.earliest[i] if i < n else w.latest[i - n] - w.durations[i - n]
            for k in range(2 * n):
                end = w.latest[k] if k < n else w.earliest[k - n] + w.durations[k - n]
                if begin < end:
                    found = weigh(w, begin, end)
                    if found == 2:
                        return True
                    changed = changed or found == 1
                    begin = w.earliest[i] if i < n else w.latest[i - n] - w.durations[i - n]
        if not changed:
            return False
    return False
