"""Kernel: serial schedule generation, each attempt at its earliest feasible start in the order of a list.

Kolisch (EJOR 90, 1996), section 2.1, without precedence. What is free over time is a skyline: a linked list
of pieces, each with begin, end and what is free of every resource in it. A piece that no attempt still to
come can use is taken out and never looked at again.
"""

from __future__ import annotations

from scheduling_core.compiled import kernel

FAR = 1 << 62
"""The end of the last piece."""


@kernel
def schedule(
    durations, releases, demands, capacities, order, starts, least, earliest, begins, ends, free, after
):
    """Starts (n,) of attempts that hold demands (n, R), flat, from start to end, half-open.

    An attempt of 0 ticks starts at its release. Scratch: least (n + 1, R) and earliest (n + 1,), the lowest
    demands and release from a place in the order on; begins, ends, after (2 n + 1,) and free (2 n + 1, R),
    the pieces. Returns -1, or the first attempt in the order that passes a capacity by itself.
    """
    n = len(order)
    resources = len(capacities)
    for r in range(resources):
        least[n * resources + r] = 0
        free[r] = capacities[r]
    earliest[n] = 0
    for place in range(n - 1, -1, -1):
        job = order[place]
        earliest[place] = releases[job]
        if place < n - 1:
            earliest[place] = min(earliest[place], earliest[place + 1])
        for r in range(resources):
            lowest = demands[job * resources + r]
            if place < n - 1:
                lowest = min(lowest, least[(place + 1) * resources + r])
            least[place * resources + r] = lowest
    begins[0] = 0
    ends[0] = FAR
    after[0] = -1
    head = 0
    pieces = 1
    for place in range(n):
        job = order[place]
        row = job * resources
        for r in range(resources):
            if demands[row + r] > capacities[r]:
                return job
        begin = releases[job]
        duration = durations[job]
        if duration == 0:
            starts[job] = begin
            continue
        while ends[head] <= earliest[place] or is_below(free, head, least, place, resources):
            head = after[head]

        piece = head
        before = -1
        while ends[piece] <= begin:
            before = piece
            piece = after[piece]
        first = piece  # of the pieces that would hold the attempt
        begin = max(begin, begins[first])
        while True:
            if is_below(free, piece, demands, job, resources):
                before = piece
                piece = after[piece]
                first = piece
                begin = begins[piece]
                continue
            if ends[piece] - begin >= duration:
                break
            following = after[piece]
            if begins[following] != ends[piece]:  # pieces between were taken out
                before = piece
                first = following
                begin = begins[following]
            piece = following
        starts[job] = begin
        end = begin + duration

        if begins[first] < begin:  # the part before the start stays
            split(first, begin, pieces, begins, ends, after, free, resources)
            before = first
            if piece == first:
                piece = pieces
            first = pieces
            pieces += 1
        if end < ends[piece]:  # and the part after the end
            split(piece, end, pieces, begins, ends, after, free, resources)
            pieces += 1
        stop = after[piece]
        piece = first
        while piece != stop:
            for r in range(resources):
                free[piece * resources + r] -= demands[row + r]
            following = after[piece]
            if is_below(free, piece, least, place + 1, resources):
                if before < 0:
                    head = following
                else:
                    after[before] = following
            else:
                before = piece
            piece = following
    return -1


@kernel
def is_below(free, piece, wanted, row, resources):
    """Whether less of any resource is free in a piece than a row wants."""
    below = False
    for r in range(resources):
        below |= free[piece * resources + r] < wanted[row * resources + r]
    return below


@kernel
def split(piece, tick, new, begins, ends, after, free, resources):
    """Cut a piece at a tick within it; the part from there on is piece `new`."""
    begins[new] = tick
    ends[new] = ends[piece]
    after[new] = after[piece]
    for r in range(resources):
        free[new * resources + r] = free[piece * resources + r]
    ends[piece] = tick
    after[piece] = new
