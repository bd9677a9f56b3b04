"""Kernel: serial schedule generation, each attempt at its earliest feasible start in the order of a list.

Kolisch (EJOR 90, 1996), section 2.1, without precedence. What is free over time is a skyline: a linked list
of pieces of time. The numbers of a piece lie side by side, so that a look at it is a look at one place of
memory: BEGIN, END, AFTER (where the next piece lies) and from FREE on what is free of every resource. A piece
that no attempt still to come can use is taken out and never looked at again; its place is used anew.
"""

from __future__ import annotations

from scheduling_core.compiled import kernel

FAR = 1 << 62
"""The end of the last piece."""
WHOLE = FAR - 1
"""Mask that changes no index, but shows the compiler that none is negative: it then drops its check."""
BEGIN, END, AFTER, FREE = 0, 1, 2, 3


@kernel
def schedule(durations, releases, demands, capacities, order, starts, least, earliest, pieces):
    """Starts (n,) of attempts that hold demands (n, R), flat, from start to end, half-open.

    An attempt of 0 ticks starts at its release. Scratch: least (n + 1, R) and earliest (n + 1,), the lowest
    demands and release from a place in the order on; pieces (2 n + 1, FREE + R). Returns -1, or the first
    attempt in the order that passes a capacity by itself.
    """
    n = len(order)
    resources = len(capacities)
    look_ahead(releases, demands, order, least, earliest, resources)
    pieces[BEGIN] = 0
    pieces[END] = FAR
    pieces[AFTER] = -1
    for r in range(resources):
        pieces[FREE + r] = capacities[r]
    head = 0
    spare = -1  # places of pieces taken out, linked like those in use
    unused = FREE + resources
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
        ahead = place * resources
        while pieces[head + END] <= earliest[place] or is_below(pieces, head, least, ahead, resources):
            following = pieces[head + AFTER]
            pieces[head + AFTER] = spare
            spare = head
            head = following

        before = -1
        piece = head
        while pieces[piece + END] <= begin:
            before = piece
            piece = pieces[piece + AFTER]
        first = piece  # of the pieces that would hold the attempt
        begin = max(begin, pieces[first + BEGIN])
        last_before = before
        while True:
            if is_below(pieces, piece, demands, row, resources):
                last_before = piece
                piece = pieces[piece + AFTER]
            elif pieces[piece + END] - begin >= duration:
                break
            else:
                last_before = piece
                piece = pieces[piece + AFTER]
                if pieces[piece + BEGIN] == pieces[last_before + END]:
                    continue  # none was taken out between the two
            before = last_before
            first = piece
            begin = pieces[piece + BEGIN]
        starts[job] = begin
        end = begin + duration

        for tick in (begin, end):  # the parts before the start and after the end stay as they are
            cut = first if tick == begin else piece
            if pieces[cut + BEGIN] < tick < pieces[cut + END]:
                new = spare
                if new >= 0:
                    spare = pieces[new + AFTER]
                else:
                    new = unused
                    unused += FREE + resources
                pieces[new + BEGIN] = tick
                pieces[new + END] = pieces[cut + END]
                pieces[new + AFTER] = pieces[cut + AFTER]
                for r in range(FREE, FREE + resources):
                    pieces[new + r] = pieces[cut + r]
                pieces[cut + END] = tick
                pieces[cut + AFTER] = new
                if tick == begin:
                    before = first
                    if piece == first:
                        piece = new
                    first = new
        stop = pieces[piece + AFTER]
        piece = first
        ahead += resources
        while piece != stop:
            for r in range(resources):
                pieces[piece + FREE + r] -= demands[row + r]
            following = pieces[piece + AFTER]
            if is_below(pieces, piece, least, ahead, resources):
                if before < 0:
                    head = following
                else:
                    pieces[before + AFTER] = following
                pieces[piece + AFTER] = spare
                spare = piece
            else:
                before = piece
            piece = following
    return -1


@kernel
def look_ahead(releases, demands, order, least, earliest, resources):
    """Fill `least` and `earliest`; after the last place nothing is wanted, and everything is of use."""
    n = len(order)
    earliest[n] = FAR
    for r in range(resources):
        least[n * resources + r] = FAR
    for place in range(n - 1, -1, -1):
        job = order[place]
        earliest[place] = min(earliest[place + 1], releases[job])
        for r in range(resources):
            following = least[(place + 1) * resources + r]
            least[place * resources + r] = min(following, demands[job * resources + r])
    for r in range(resources):
        least[n * resources + r] = 0


@kernel
def is_below(pieces, piece, wanted, row, resources):
    """Whether less of any resource is free in a piece than a row wants."""
    r = 0
    while r < resources and pieces[(piece + FREE + r) & WHOLE] >= wanted[(row + r) & WHOLE]:
        r += 1
    return r < resources
