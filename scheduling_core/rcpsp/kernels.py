"""Kernels: serial schedule generation, justification, and a genetic algorithm on activity lists.

Hartmann (1998), Naval Research Logistics 45: activity lists, two-point crossover. Valls, Ballestín and
Quintanilla (2005), European Journal of Operational Research 165: justification. Debels and Vanhoucke (2007),
Operations Research 55: schedules of both directions of time feed each other.

Direction 0 is forward and 1 backward in time; a schedule is always kept by its forward starts. Arrays are
those of `flat`.
"""

from __future__ import annotations

from typing import Any

from scheduling_core.compiled import kernel


@kernel
def draw(chance: Any, below: int) -> int:
    """A whole number from 0 up to, without, `below`, which is less than 2 to the power 31.

    The combined generator of L'Ecuyer (1988); its products stay within 64 bits.
    """
    chance[0] = chance[0] * 40_014 % 2_147_483_563
    chance[1] = chance[1] * 40_692 % 2_147_483_399
    drawn: int = (chance[0] - chance[1]) % 2_147_483_562 * below // 2_147_483_562
    return drawn


@kernel
def generate(flat: Any, direction: int, room: Any) -> int:
    """The makespan of the serial schedule of `room.listed`: each job in turn as early as it fits.

    Starts are written to `room.starts`; in direction 1 jobs are as late as they fit, and the last ends
    with the makespan.
    """
    durations, ends, before, demands = flat.durations, flat.ends, flat.before, flat.demands
    full, guards = flat.full, flat.guards
    free, starts, listed = room.free, room.starts, room.listed
    n = len(durations)
    words = len(full)
    row = direction * (n + 1)
    makespan = 0
    for place in range(n):
        j = listed[place]
        length = durations[j]
        start = 0
        for k in range(ends[row + j], ends[row + j + 1]):
            start = max(start, starts[before[k]] + durations[before[k]])
        if length > 0:
            # from the last unit of time down: where one doesn't fit, the job starts after it at the earliest
            t = min(start + length, makespan) - 1
            while t >= start:
                for w in range(words):
                    if (free[t * words + w] - demands[j * words + w]) & guards[w] != guards[w]:
                        start = t + 1
                        t = min(start + length, makespan)
                        break
                t -= 1
            for t in range(start, start + length):
                for w in range(words):
                    free[t * words + w] -= demands[j * words + w]
        starts[j] = start
        makespan = max(makespan, start + length)
    for t in range(makespan):
        for w in range(words):
            free[t * words + w] = full[w]
    if direction == 1:
        for j in range(n):
            starts[j] = makespan - starts[j] - durations[j]
    return makespan


@kernel
def list_jobs(flat: Any, direction: int, starts: Any, makespan: int, room: Any, lists: Any, at: int) -> None:
    """The activity list of a schedule for a direction: by start, or from the last end back.

    Goes to lists[at: at + n]. A counting sort of a topological order: equal times keep to the precedence.
    """
    durations, order, counts = flat.durations, flat.order, room.counts
    n = len(durations)
    for t in range(makespan + 2):
        counts[t] = 0
    for j in range(n):
        key = starts[j] if direction == 0 else makespan - starts[j] - durations[j]
        counts[key + 1] += 1
    for t in range(makespan):
        counts[t + 1] += counts[t]
    for k in range(n):
        j = order[direction * n + k]
        key = starts[j] if direction == 0 else makespan - starts[j] - durations[j]
        lists[at + counts[key]] = j
        counts[key] += 1


@kernel
def justify(flat: Any, direction: int, makespan: int, room: Any) -> int:
    """`room.starts` justified: the serial schedule, in a direction, of its own list. Never longer."""
    list_jobs(flat, direction, room.starts, makespan, room, room.listed, 0)
    return generate(flat, direction, room)


@kernel
def sample(flat: Any, direction: int, chance: Any, room: Any) -> None:
    """A list to `room.listed`: of three draws from the jobs that can come next, the most urgent, in turn."""
    ends, before, urgency = flat.ends, flat.before, flat.urgency
    waits, ready, listed = room.place, room.ready, room.listed
    n = len(flat.durations)
    row, after = direction * (n + 1), (1 - direction) * (n + 1)
    count = 0
    for j in range(n):
        waits[j] = ends[row + j + 1] - ends[row + j]
        if waits[j] == 0:
            ready[count] = j
            count += 1
    for place in range(n):
        best = draw(chance, count)
        for _ in range(2):
            other = draw(chance, count)
            if urgency[direction * n + ready[other]] > urgency[direction * n + ready[best]]:
                best = other
        j = ready[best]
        listed[place] = j
        count -= 1
        ready[best] = ready[count]
        for k in range(ends[after + j], ends[after + j + 1]):
            waits[before[k]] -= 1
            if waits[before[k]] == 0:
                ready[count] = before[k]
                count += 1


@kernel
def cross(lists: Any, father: int, mother: int, chance: Any, room: Any) -> None:
    """Two-point crossover to `room.listed`: the father's list, with a middle part in the mother's order."""
    listed, taken = room.listed, room.place
    n = len(listed)
    first = draw(chance, n)
    last = draw(chance, n)
    if first > last:
        first, last = last, first
    for j in range(n):
        taken[j] = 0
    for place in range(first):
        listed[place] = lists[father + place]
        taken[listed[place]] = 1
    place = first
    for k in range(n):
        if place > last:
            break
        j = lists[mother + k]
        if taken[j] == 0:
            listed[place] = j
            taken[j] = 1
            place += 1
    for k in range(n):
        j = lists[father + k]
        if taken[j] == 0:
            listed[place] = j
            place += 1


@kernel
def mutate(flat: Any, direction: int, chance: Any, room: Any) -> None:
    """Moves six jobs, on average, each to any place in `room.listed` that the precedence leaves them."""
    ends, before = flat.ends, flat.before
    listed, place = room.listed, room.place
    n = len(listed)
    row, after = direction * (n + 1), (1 - direction) * (n + 1)
    for k in range(n):
        place[listed[k]] = k
    for j in range(n):
        if draw(chance, n) >= 6:
            continue
        low, high = 0, n - 1
        for k in range(ends[row + j], ends[row + j + 1]):
            low = max(low, place[before[k]] + 1)
        for k in range(ends[after + j], ends[after + j + 1]):
            high = min(high, place[before[k]] - 1)
        target = low + draw(chance, high - low + 1)
        step = 1 if target > place[j] else -1
        k = place[j]
        while k != target:
            listed[k] = listed[k + step]
            place[listed[k]] = k
            k += step
        listed[k] = j
        place[j] = k


@kernel
def pick(pool: Any, count: int, chance: Any) -> int:
    """The better of two members drawn."""
    one = draw(chance, count)
    other = draw(chance, count)
    return other if pool.makespans[other] < pool.makespans[one] else one


@kernel
def place_for(flat: Any, starts: Any, makespan: int, pool: Any) -> int:
    """Which member a schedule replaces: the oldest of the longest; -1: none, if longer or there already."""
    n = len(flat.durations)
    slot = 0
    for i in range(len(pool.makespans)):
        if pool.makespans[i] == makespan:
            j = 0
            while j < n and pool.starts[i * n + j] == starts[j]:
                j += 1
            if j == n:
                return -1
        longer = pool.makespans[i] - pool.makespans[slot]
        if longer > 0 or (longer == 0 and pool.born[i] < pool.born[slot]):
            slot = i
    return slot if makespan <= pool.makespans[slot] else -1


@kernel
def evolve(
    flat: Any, budget: int, bound: int, longest: int, chance: Any, room: Any, pool: Any, best: Any
) -> int:
    """Searches until `budget` schedules are generated or one of makespan `bound` is found; counts them.

    A child is a list in a direction drawn at random: sampled while the pool fills, then crossed and mutated.
    It is generated and justified once, which is two schedules and never makes it longer, and it may enter
    the pool. The starts of the best go to best[:n], its makespan to best[n].
    """
    n, size = len(flat.durations), len(pool.makespans)
    starts = room.starts
    used, members, children = 0, 0, 0
    best[n] = longest + 1
    while used < budget and best[n] > bound:
        direction = draw(chance, 2)
        if members < size:
            sample(flat, direction, chance, room)
        else:
            father = pick(pool, size, chance)
            mother = pick(pool, size, chance)
            cross(pool.lists, (2 * father + direction) * n, (2 * mother + direction) * n, chance, room)
            mutate(flat, direction, chance, room)
        makespan = generate(flat, direction, room)
        used += 1
        if used < budget and makespan > bound:
            makespan = justify(flat, 1 - direction, makespan, room)
            used += 1
        if makespan < best[n]:
            best[n] = makespan
            for j in range(n):
                best[j] = starts[j]
        slot = members
        if members < size:
            members += 1
        else:
            slot = place_for(flat, starts, makespan, pool)
        children += 1
        if slot >= 0:
            pool.makespans[slot] = makespan
            pool.born[slot] = children
            for j in range(n):
                pool.starts[slot * n + j] = starts[j]
            for d in range(2):
                list_jobs(flat, d, starts, makespan, room, pool.lists, (2 * slot + d) * n)
    return used
