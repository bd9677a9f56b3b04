"""Kernel: a whole simulation under shortest remaining time or service first.

The key of a job falls while it works and stands still while it waits, so those that wait are kept in a heap
for each size of gang, and those that run, never more than there are GPUs, in one array in the order of the
line. Of equal gangs those that wait are served in the order of the line: along it the free GPUs only become
fewer. So the greedy scan is a merge of the array with the heads of the heaps, and an event costs
O(running + (1 + changes) (sizes + log jobs)).

Equal keys stand as they stood at the event before, newcomers behind. Among those that wait `TURN` says so.
One that runs and worked since then stood behind all of them; one that only paid for its restart has its turn.

A job is named by the index x of its row, 0 to (n - 1) JOB in the order of arrival, and has the fields
job[x + ...]. Sizes of gangs are numbered from the smallest; those that wait with size c are heap[first[c]] to
heap[first[c] + count[c] - 1]. The module stands alone: a cached kernel wouldn't notice that an imported one
changed.
"""

from __future__ import annotations

from scheduling_core.compiled import kernel

FAR = 1 << 62
FIRST_JOB = 0

JOB = 17
GPUS, SIZE, KEY, TURN, WORK, TOLL, RATE, WORKED, RUNS = range(9)
"""KEY: RATE x WORK, what is still to do. TOLL: still to pay of a restart. WORKED: since the last event."""
SUBMIT, COST, EXECUTED, PAID, BEGUN, END, PREEMPTIONS, RESTARTS = range(9, 17)
"""COST: of one restart. BEGUN, END: -1 where it hasn't come."""

CLOCK = 13
ALL_GPUS, PATIENCE, NOW, ARRIVED, ENDED, EVENTS, TURNS, HELD = range(8)
VAIN, FRAGMENTED, FRAGMENTED_TICKS, LOGGED, ROWS = range(8, 13)
"""PATIENCE: starts in vain for each job that is here that are borne. The others are what a run goes on from.
ARRIVED: the row of the next job that comes. TURNS: turns that were given. HELD: jobs that run. VAIN: starts
since any job did work."""

ENDING, PREEMPTION, START, RESUMPTION = range(4)
"""Actions in a log: log[3 i] time, job (its row), action."""


@kernel
def before(job, x, y):
    """Whether x stands before y, both as if they waited."""
    if job[x + KEY] != job[y + KEY]:
        return job[x + KEY] < job[y + KEY]
    return job[x + TURN] < job[y + TURN]


@kernel
def passes(job, now, x, y):
    """Whether x, which waits, stands before y, which runs."""
    if job[x + KEY] == job[y + KEY] and job[y + WORKED]:
        return job[x + SUBMIT] < now
    return before(job, x, y)


@kernel
def push(job, heap, first, count, x):
    """Let x wait with its equals in size."""
    size = job[x + SIZE]
    base, hole = first[size], count[size]
    count[size] += 1
    while hole > 0 and before(job, x, heap[base + (hole - 1) // 2]):
        heap[base + hole] = heap[base + (hole - 1) // 2]
        hole = (hole - 1) // 2
    heap[base + hole] = x


@kernel
def pop(job, heap, first, count, size):
    """Take out the first that waits with this size."""
    base = first[size]
    count[size] -= 1
    last = count[size]
    x, hole, child = heap[base + last], 0, 1
    while child < last:
        if child + 1 < last and before(job, heap[base + child + 1], heap[base + child]):
            child += 1
        if before(job, x, heap[base + child]):
            break
        heap[base + hole] = heap[base + child]
        hole, child = child, 2 * child + 1
    heap[base + hole] = x


@kernel
def rank_heads(job, heap, first, count, best, size):
    """best[c]: who stands first of all that wait with sizes up to c, -1 for nobody; anew from `size` on."""
    for c in range(size, len(count)):
        best[c] = best[c - 1] if c else -1
        if count[c] and (best[c] < 0 or before(job, heap[first[c]], best[c])):
            best[c] = heap[first[c]]


@kernel
def note(clock, log, x, action):
    """One line of the log, if one is kept."""
    if len(log):
        at = 3 * clock[LOGGED]
        log[at], log[at + 1], log[at + 2] = clock[NOW], x, action
        clock[LOGGED] += 1


@kernel
def sort(values, count):
    """Shell's sort."""
    gap = count // 2
    while gap:
        for i in range(gap, count):
            value, place = values[i], i
            while place >= gap and values[place - gap] > value:
                values[place] = values[place - gap]
                place -= gap
            values[place] = value
        gap //= 2


@kernel
def work(job, clock, held, ticks):
    """Let those that run go on: first what a restart costs, then work."""
    for seat in range(clock[HELD]):
        x = held[seat]
        toll = min(job[x + TOLL], ticks)
        job[x + TOLL] -= toll
        job[x + PAID] += toll
        job[x + WORKED] = ticks - toll
        job[x + WORK] -= ticks - toll
        if ticks > toll:
            clock[VAIN] = 0
        job[x + KEY] = job[x + RATE] * job[x + WORK]
        job[x + EXECUTED] += ticks


@kernel
def end_and_order(job, clock, held, spare, log):
    """End those that are done, and put the others in order; equal keys stand as they stood."""
    staying = ended = 0
    for seat in range(clock[HELD]):
        x = held[seat]
        if job[x + WORK] + job[x + TOLL] == 0:
            job[x + END] = clock[NOW]
            spare[ended] = x
            ended += 1
            continue
        place = staying
        while place > 0 and job[held[place - 1] + KEY] > job[x + KEY]:
            held[place] = held[place - 1]
            place -= 1
        held[place] = x
        staying += 1
    clock[HELD] = staying
    clock[ENDED] += ended
    sort(spare, ended)
    for i in range(ended):
        note(clock, log, spare[i], ENDING)


@kernel
def arrive(job, clock, heap, first, count):
    """Let those in that are submitted now; their turn is after all that could be preempted now."""
    turn = clock[TURNS] + clock[HELD]
    while clock[ARRIVED] < len(job) and job[clock[ARRIVED] + SUBMIT] == clock[NOW]:
        job[clock[ARRIVED] + TURN] = turn
        push(job, heap, first, count, clock[ARRIVED])
        clock[ARRIVED] += JOB
        turn += 1
    return turn


@kernel
def decide(job, clock, sizes, heap, first, count, best, held, spare):
    """The greedy scan, by merging: `spare` gets who is served, in the order of the line, and from its end on
    backwards who no longer is; returns how many of each, and the GPUs that stay free."""
    rank_heads(job, heap, first, count, best, 0)
    free, top = clock[ALL_GPUS], len(count)
    seat = served = dropped = 0
    while True:
        while top and sizes[top - 1] > free:
            top -= 1
        x = best[top - 1] if top else -1
        if x >= 0 and (seat == clock[HELD] or passes(job, clock[NOW], x, held[seat])):
            pop(job, heap, first, count, job[x + SIZE])
            rank_heads(job, heap, first, count, best, job[x + SIZE])
        elif seat == clock[HELD]:
            return served, dropped, free
        else:
            x = held[seat]
            seat += 1
            if job[x + GPUS] > free:
                dropped += 1
                spare[len(spare) - dropped] = x
                continue
        spare[served] = x
        served += 1
        free -= job[x + GPUS]


@kernel
def stop_all(job, clock, dropped, heap, first, count, spare, log):
    """Preempt who isn't served any more; what is left of a restart is lost."""
    for i in range(dropped):
        x = spare[len(spare) - 1 - i]
        if job[x + WORKED]:
            job[x + TURN] = clock[TURNS] + i
        job[x + RUNS] = job[x + TOLL] = 0
        job[x + PREEMPTIONS] += 1
        push(job, heap, first, count, x)
    for i in range(dropped):
        spare[i] = spare[len(spare) - dropped + i]
    sort(spare, dropped)
    for i in range(dropped):
        note(clock, log, spare[i], PREEMPTION)


@kernel
def start_all(job, clock, served, held, log):
    """Give their GPUs to those that are served and don't hold them."""
    clock[HELD] = served
    for action in (START, RESUMPTION):
        for seat in range(served):
            x = held[seat]
            if not job[x + RUNS] and (job[x + BEGUN] < 0) == (action == START):
                note(clock, log, x, action)
    for seat in range(served):
        x = held[seat]
        if job[x + RUNS]:
            continue
        if job[x + BEGUN] < 0:
            job[x + BEGUN] = clock[NOW]
        else:
            job[x + RESTARTS] += 1
            job[x + TOLL] = job[x + COST]
        job[x + RUNS] = 1
        clock[VAIN] += 1


@kernel
def run(job, clock, sizes, heap, first, count, best, held, spare, log, series, events):
    """Go on for so many events, while jobs are left and the log has room; returns whether that is endless.

    job (n JOB,), clock (CLOCK,), heap (n,), count (c,) for c sizes of gangs, held (n,): go on from call to
    call. sizes, first (c,). Scratch: best (c,), spare (n,). log (3 m,), m >= n, and series (4 m,),
    m >= events, or empty where they aren't kept.
    """
    n = len(job) // JOB
    while clock[ENDED] < n and events and (not len(log) or len(log) - 3 * clock[LOGGED] >= 3 * n):
        time = FAR
        for seat in range(clock[HELD]):
            x = held[seat]
            time = min(time, clock[NOW] + job[x + WORK] + job[x + TOLL])
        if clock[ARRIVED] < len(job):
            time = min(time, job[clock[ARRIVED] + SUBMIT])
        clock[FRAGMENTED_TICKS] += clock[FRAGMENTED] * (time - clock[NOW])
        work(job, clock, held, time - clock[NOW])
        clock[NOW] = time
        end_and_order(job, clock, held, spare, log)
        turn = arrive(job, clock, heap, first, count)
        served, dropped, free = decide(job, clock, sizes, heap, first, count, best, held, spare)
        for seat in range(served):
            held[seat] = spare[seat]
        stop_all(job, clock, dropped, heap, first, count, spare, log)
        clock[TURNS] = turn
        start_all(job, clock, served, held, log)
        if clock[VAIN] > clock[PATIENCE] * (clock[ARRIVED] // JOB - clock[ENDED]):
            return True
        waiting = clock[ARRIVED] // JOB - clock[ENDED] - served
        clock[FRAGMENTED] = free if waiting else 0  # nothing that waits fits into it
        if len(series):
            at = 4 * clock[ROWS]
            series[at], series[at + 1], series[at + 2] = time, clock[ALL_GPUS] - free, waiting
            series[at + 3] = clock[FRAGMENTED]
            clock[ROWS] += 1
        clock[EVENTS] += 1
        events -= 1
    return False
