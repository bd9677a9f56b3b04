"""A project as flat sequences of whole numbers, which is what kernels take, and room for them to work in."""

from __future__ import annotations

from math import isqrt
from types import ModuleType
from typing import Any, NamedTuple

from scheduling_core.compiled import numbers
from scheduling_core.errors import SchedulingError
from scheduling_core.rcpsp.project import Project

WORD_BITS = 62
"""Bits of a word that hold capacities; the sign stays free."""

MOST_WORDS = 100_000_000
"""A profile of use is kept by the unit of time; more words than this are refused."""

MODULI = (2_147_483_563, 2_147_483_399)
"""Of the combined generator of L'Ecuyer (1988), Communications of the ACM 31."""


class Flat(NamedTuple):
    """A project of n jobs, in both directions of time: 0 forward, 1 backward (the mirror image).

    durations (n,). The jobs before job j in direction d are `before[k]` for k from `ends[d * (n + 1) + j]` up
    to, without, the next entry of `ends`; those after it are those before it in direction 1 - d.
    order (2n,) : a topological order, then the same reversed. urgency (2n,): the longest path from the end of
    a job to the end of the project, in each direction.
    Resources are packed into words, W for each unit of time: `full` (W,) holds the capacities, each with a
    guard bit set above it, `guards` (W,) those bits alone, and `demands` (n * W,) what a job takes. A job
    fits where subtracting its words leaves every guard bit set.
    """

    durations: Any
    ends: Any
    before: Any
    order: Any
    urgency: Any
    full: Any
    guards: Any
    demands: Any


class Room(NamedTuple):
    """Scratch: `free` (horizon * W,) what is left of each resource, kept full between uses; `counts`
    (horizon + 2,) for sorting; the others (n,)."""

    free: Any
    counts: Any
    starts: Any
    listed: Any
    place: Any
    ready: Any


class Pool(NamedTuple):
    """p schedules: starts (p * n,), their activity lists in both directions (2 * p * n,), makespans (p,), and
    when each came (p,)."""

    starts: Any
    lists: Any
    makespans: Any
    born: Any


def flatten(module: ModuleType, project: Project) -> Flat:
    """A project in the form that the kernels of `module` take.

    Raises
    ------
    SchedulingError : where a capacity is too much for a word, or the durations for a profile.
    """
    full, guards, demands = _packed(project)
    _check_profile(project.horizon, len(full))
    ends: list[int] = []
    before: list[int] = []
    for neighbours in (project.predecessors, project.successors):
        for jobs in neighbours:
            ends.append(len(before))
            before += jobs
        ends.append(len(before))
    order = project.topological_order
    urgency = [*project.tails, *project.heads]
    values = (project.durations, ends, before, (*order, *order[::-1]), urgency, full, guards, demands)
    return Flat(*(numbers(module, list(v)) for v in values))


def room_for(module: ModuleType, flat: Flat, horizon: int) -> Room:
    """Scratch for schedules no longer than `horizon`.

    Raises
    ------
    SchedulingError : where a profile of that length is too much.
    """
    n = len(flat.durations)
    _check_profile(horizon, len(flat.full))
    free = [int(word) for word in flat.full] * horizon
    sizes = (horizon + 2, *[n] * 4)
    return Room(numbers(module, free), *(numbers(module, [0] * size) for size in sizes))


def pool_for(module: ModuleType, jobs: int, budget: int) -> Pool:
    """An empty pool; its size grows with the root of the budget: 40 schedules for 1,000, 282 for 50,000."""
    size = max(4, isqrt(budget * 8 // 5))
    sizes = (size * jobs, 2 * size * jobs, size, size)
    return Pool(*(numbers(module, [0] * s) for s in sizes))


def chance_from(module: ModuleType, seed: int) -> Any:
    """State (2,) of the random numbers for a seed."""
    first, second = MODULI
    return numbers(module, [1 + seed % (first - 1), 1 + (7919 * seed + 12_345) % (second - 1)])


def _check_profile(horizon: int, words: int) -> None:
    if horizon * words > MOST_WORDS:
        raise SchedulingError(
            f"A schedule may last {horizon}, with {words} words of resources for each unit of time; "
            f"expected a product of at most {MOST_WORDS}: use coarser units."
        )


def _packed(project: Project) -> tuple[list[int], list[int], list[int]]:
    """full, guards and demands: resources in turn, into the first word with room for them."""
    placed: list[tuple[int, int]] = []
    filled: list[int] = []
    for r, capacity in enumerate(project.capacities):
        width = capacity.bit_length() + 1
        if width > WORD_BITS:
            raise SchedulingError(
                f"Resource {r + 1} has capacity {capacity}, expected less than {1 << (WORD_BITS - 1)}."
            )
        word = next((w for w, bits in enumerate(filled) if bits + width <= WORD_BITS), len(filled))
        if word == len(filled):
            filled.append(0)
        placed.append((word, filled[word]))
        filled[word] += width
    words = max(1, len(filled))
    full, guards, demands = [0] * words, [0] * words, [0] * (words * len(project))
    for r, (word, shift) in enumerate(placed):
        capacity = project.capacities[r]
        guard = 1 << (shift + capacity.bit_length())
        guards[word] |= guard
        full[word] |= guard | capacity << shift
        for j, row in enumerate(project.demands):
            demands[j * words + word] |= row[r] << shift
    return full, guards, demands
