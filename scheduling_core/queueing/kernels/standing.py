"""Kernel: a whole simulation under a policy whose keys stand still between a job's own events.

The line is a treap of jobs by (group, rank). A stretch of it, with the decisions that stand in it, leaves
them as they are for every number of free GPUs in [low, high) before it, and takes `sum` of them: a job that
is served takes its gang g and asks for low = g, one that is skipped for high = g, and two stretches a, b for

    sum = sum_a + sum_b    low = max(low_a, sum_a + low_b)    high = min(high_a, sum_a + high_b)

So what an event changed is found from the root, and the greedy scan costs O((1 + changes) log jobs). Each
stretch also has the earliest time at which one of its jobs wants an event, and from which it is to be moved.

A job is named by the index x of its row, JOB to n JOB in the order of arrival, and has the fields
job[x + ...]; row 0 is the empty stretch, its LEFT the root. Queue q is the groups 2q, its running jobs, and
2q + 1, those that wait: see `policies.las`. Times in ticks, FAR where there is none. The module stands alone:
a cached kernel wouldn't notice that an imported one changed.
"""

from __future__ import annotations

from scheduling_core.compiled import kernel

FAR = 1 << 62
FIRST_JOB = 1

JOB = 32
LEFT, RIGHT, UP, SUM, LOW, HIGH, FIRST_SOON, FIRST_DUE = range(8)
"""Of the stretch under a job."""
GPUS, SERVED, SOON, DUE, GROUP, RANK, HEIGHT, RUNS = range(8, 16)
"""SERVED: the decision in the line. SOON: wants an event then. DUE: at events from then on it ends, sinks,
rises or gets late. HEIGHT: priority in the treap. RUNS: holds its GPUs."""
SUBMIT, WORK, COST, SINCE, EXECUTED, TOLL, PAID, BEGUN, END, PREEMPTIONS, RESTARTS = range(16, 27)
"""WORK: still to do, TOLL: of the restart to be paid, EXECUTED, PAID: all as of SINCE, when it last got its
GPUs, or now if it waits. COST: of one restart. BEGUN, END: -1 where it hasn't come."""
RESET, WAITED, ENDS, SEAT, LATE = range(27, 32)
"""EXECUTED at the last promotion; what it had waited when it first ran after that; its end if nothing
changes; its index in `held`; when it goes from group 0 to group 1, as submitted there."""

CLOCK = 20
ALL_GPUS, PATIENCE, BLOCKING, SORTED, PROMOTE, BY_GPU, ONE = range(7)
"""The rule. PATIENCE: starts in vain that are borne, for each job that is here. SORTED: jobs stand by ranks
that they came with, and don't move when they start or stop. ONE: ticks of a second where the next sinking is
foretold as the public simulator does, 0 for exactly."""
NOW, ARRIVED, ENDED, EVENTS, BACK, FRONT, STARTED, HELD = range(7, 15)
VAIN, FRAGMENTED, FRAGMENTED_TICKS, LOGGED, ROWS = range(15, 20)
"""What a run goes on from. ARRIVED: the last job that has. BACK, FRONT: the last ranks given behind and
before all others. VAIN: starts since a job that stopped had done work."""

ENDING, PREEMPTION, START, RESUMPTION = range(4)
"""Actions in a log: log[3 i] time, job (its row), action."""


@kernel
def pull(job, x):
    """The stretch under x from its two sides and x itself."""
    left, right = job[x + LEFT], job[x + RIGHT]
    upto, high = job[left + SUM], job[left + HIGH]
    if job[x + SERVED]:
        upto += job[x + GPUS]
    else:
        high = min(high, upto + job[x + GPUS])
    job[x + SUM] = upto + job[right + SUM]
    job[x + LOW] = max(job[left + LOW], upto + job[right + LOW])
    job[x + HIGH] = min(high, upto + job[right + HIGH])
    job[x + FIRST_SOON] = min(job[x + SOON], min(job[left + FIRST_SOON], job[right + FIRST_SOON]))
    job[x + FIRST_DUE] = min(job[x + DUE], min(job[left + FIRST_DUE], job[right + FIRST_DUE]))


@kernel
def refresh(job, x):
    """After x changed: every stretch that it is in."""
    while x:
        pull(job, x)
        x = job[x + UP]


@kernel
def replace(job, old, new):
    """Let the parent of `old` have `new` instead."""
    up = job[old + UP]
    side = LEFT if job[up + LEFT] == old else RIGHT
    job[up + side] = new
    job[new + UP] = up


@kernel
def rotate(job, x):
    """Put x above its parent, the order as it was."""
    parent = job[x + UP]
    near, far = (LEFT, RIGHT) if job[parent + LEFT] == x else (RIGHT, LEFT)
    inner = job[x + far]
    replace(job, parent, x)
    job[parent + near] = inner
    job[inner + UP] = parent
    job[x + far] = parent
    job[parent + UP] = x


@kernel
def insert(job, x):
    """Put x into the line by its group and rank."""
    up, side, y = 0, LEFT, job[LEFT]
    while y:
        up = y
        ahead = job[x + RANK] < job[y + RANK]
        if job[x + GROUP] != job[y + GROUP]:
            ahead = job[x + GROUP] < job[y + GROUP]
        side = LEFT if ahead else RIGHT
        y = job[y + side]
    job[up + side] = x
    job[x + LEFT] = job[x + RIGHT] = 0
    job[x + UP] = up
    while up and job[x + HEIGHT] > job[up + HEIGHT]:
        rotate(job, x)
        pull(job, up)
        up = job[x + UP]
    refresh(job, x)


@kernel
def remove(job, x):
    """Take x out of the line."""
    left, right = job[x + LEFT], job[x + RIGHT]
    while left and right:
        rotate(job, left if job[left + HEIGHT] > job[right + HEIGHT] else right)
        left, right = job[x + LEFT], job[x + RIGHT]
    replace(job, x, left + right)
    refresh(job, job[x + UP])


@kernel
def first_change(job, free):
    """The first job in the line whose decision doesn't stand with `free` GPUs before it; 0 for none."""
    x = job[LEFT]
    while x:
        left = job[x + LEFT]
        if free < job[left + LOW] or free >= job[left + HIGH]:
            x = left
            continue
        free -= job[left + SUM]
        if (job[x + GPUS] <= free) != job[x + SERVED]:
            return x
        if job[x + SERVED]:
            free -= job[x + GPUS]
        x = job[x + RIGHT]
    return 0


@kernel
def neighbour(job, x, side, back):
    """The job next to x in the line, to its LEFT (back: RIGHT) or RIGHT; 0 at the end."""
    y = job[x + side]
    if y:
        while job[y + back]:
            y = job[y + back]
        return y
    y = job[x + UP]
    while y and job[y + side] == x:
        x, y = y, job[y + UP]
    return y


@kernel
def collect_due(job, now, due, stack):
    """Jobs that are due, by number, into `due`; returns how many."""
    count = height = 0
    x = job[LEFT]
    while True:
        if job[x + FIRST_DUE] <= now:
            if job[x + DUE] <= now:
                due[count] = x
                count += 1
            stack[height] = job[x + RIGHT]
            height += 1
            x = job[x + LEFT]
        elif height:
            height -= 1
            x = stack[height]
        else:
            sort(due, count)
            return count


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
def note(job, clock, log, x):
    """A line in the log, if one is kept: what has happened to x now."""
    if len(log):
        at = 3 * clock[LOGGED]
        action = START if job[x + BEGUN] == clock[NOW] else RESUMPTION
        if not job[x + RUNS]:
            action = PREEMPTION if job[x + END] < 0 else ENDING
        log[at], log[at + 1], log[at + 2] = clock[NOW], x, action
        clock[LOGGED] += 1


@kernel
def start(job, clock, held, x):
    """Give x its GPUs now."""
    if job[x + BEGUN] < 0:
        job[x + BEGUN] = clock[NOW]
        clock[STARTED] += 1
    else:
        job[x + RESTARTS] += 1
        job[x + TOLL] = job[x + COST]
    if job[x + EXECUTED] == job[x + RESET]:
        job[x + WAITED] = clock[NOW] - job[x + SUBMIT] - job[x + EXECUTED]
    job[x + RUNS] = 1
    job[x + SINCE] = clock[NOW]
    job[x + ENDS] = clock[NOW] + job[x + WORK] + job[x + TOLL]
    job[x + SEAT] = clock[HELD]
    held[clock[HELD]] = x
    clock[HELD] += 1


@kernel
def stop(job, clock, held, x):
    """Take its GPUs from x now; what is left of a restart is lost."""
    ticks = clock[NOW] - job[x + SINCE]
    toll = min(job[x + TOLL], ticks)
    job[x + PAID] += toll
    job[x + WORK] -= ticks - toll
    if ticks > toll:
        clock[VAIN] = 0
    job[x + EXECUTED] += ticks
    job[x + TOLL] = job[x + RUNS] = job[x + SERVED] = 0
    clock[HELD] -= 1
    last = held[clock[HELD]]
    held[job[x + SEAT]] = last
    job[last + SEAT] = job[x + SEAT]


@kernel
def arm(job, clock, limits, x):
    """Set when x is next due and wants an event: running it ends or sinks, waiting it rises; it gets late."""
    queue = job[x + GROUP] >> 1
    time = job[x + EXECUTED] - job[x + RESET]
    soon = due = FAR
    if job[x + RUNS]:
        soon = due = job[x + ENDS]
        if queue < len(limits):
            gang = job[x + GPUS] if clock[BY_GPU] else 1
            due = min(due, job[x + SINCE] - time + (limits[queue] + gang - 1) // gang)
            soon = soon if clock[ONE] else due
    elif clock[PROMOTE] and queue > 0 and 0 < time < FAR // 2 // clock[PROMOTE]:
        soon = due = job[x + SUBMIT] + job[x + EXECUTED] + job[x + WAITED] + clock[PROMOTE] * time
    job[x + SOON], job[x + DUE] = min(soon, job[x + LATE]), min(due, job[x + LATE])


@kernel
def foretold(job, clock, limits, held, time):
    """The next sinking as the public simulator foretells it from now, if it is before `time`; else that."""
    one = clock[ONE]
    for seat in range(clock[HELD]):
        x = held[seat]
        queue = job[x + GROUP] >> 1
        if queue < len(limits):
            left = limits[queue] - (job[x + EXECUTED] + clock[NOW] - job[x + SINCE] - job[x + RESET])
            gang = job[x + GPUS] if clock[BY_GPU] else 1
            if left < (time - clock[NOW] + one) * gang:  # else it is later: a division is spared
                time = min(time, clock[NOW] + max(left // (one * gang), 1) * one)
    return time


@kernel
def enter(job, clock, x):
    """Put x behind all in its queue; it isn't served there yet."""
    job[x + SERVED] = 0
    if not clock[SORTED]:
        clock[BACK] += 1
        job[x + RANK] = clock[BACK]
    insert(job, x)


@kernel
def move_on(job, clock, limits, due, changed, held, log):
    """Ends, arrivals, then who sinks, rises or gets late; returns how many sank, which are in `due`."""
    count = collect_due(job, clock[NOW], due, changed)
    others = sunk = 0
    for i in range(count):
        x = due[i]
        if job[x + RUNS] and job[x + ENDS] == clock[NOW]:
            remove(job, x)
            stop(job, clock, held, x)
            job[x + END] = clock[NOW]
            clock[ENDED] += 1
            note(job, clock, log, x)
        else:
            due[others] = x
            others += 1
    while clock[ARRIVED] + JOB < len(job) and job[clock[ARRIVED] + JOB + SUBMIT] == clock[NOW]:
        clock[ARRIVED] += JOB
        enter(job, clock, clock[ARRIVED])
    for i in range(others):
        x = due[i]
        remove(job, x)
        if clock[SORTED]:
            job[x + GROUP], job[x + RANK], job[x + LATE] = 1, x, FAR
            arm(job, clock, limits, x)
            insert(job, x)
            continue
        job[x + SOON] = job[x + DUE] = FAR
        if job[x + RUNS]:
            job[x + GROUP] += 3
            due[sunk] = x
            sunk += 1
        else:
            job[x + GROUP] = 1
            job[x + RESET] = job[x + EXECUTED]
        enter(job, clock, x)
    return sunk


@kernel
def decide(job, clock, limits, changed, held):
    """The greedy scan: start and stop jobs. `changed` gets first, in the order of the line, who is newly
    served, and from its end on backwards who no longer is; returns how many of each."""
    served = dropped = 0
    while True:
        x = first_change(job, clock[ALL_GPUS])
        if x == 0 or (clock[BLOCKING] and x != (clock[STARTED] + 1) * JOB):
            return served, dropped
        if job[x + SERVED]:
            stop(job, clock, held, x)
            dropped += 1
            changed[len(changed) - dropped] = x
        else:
            job[x + SERVED] = 1
            if not job[x + RUNS]:
                start(job, clock, held, x)
            changed[served] = x
            served += 1
        arm(job, clock, limits, x)
        refresh(job, x)


@kernel
def place(job, x, group, rank, stands):
    """Give x another group and rank; `stands`: it has its place by them already."""
    if not stands:
        remove(job, x)
    job[x + GROUP], job[x + RANK] = group, rank
    if not stands:
        insert(job, x)


@kernel
def put_stopped(job, clock, limits, sunk, dropped, due, changed, held, log):
    """Stop who sank and isn't served, where it is; put the others that stopped before all that wait."""
    stopped = 0
    for i in range(sunk):
        x = due[i]
        if not job[x + SERVED]:
            stop(job, clock, held, x)
            arm(job, clock, limits, x)
            refresh(job, x)
            due[stopped] = x
            stopped += 1
    for i in range(len(changed) - dropped, len(changed)):
        x = changed[i]
        if not clock[SORTED]:
            clock[FRONT] -= 1
            after = neighbour(job, x, RIGHT, LEFT)
            stands = after == 0 or job[after + GROUP] > job[x + GROUP]
            place(job, x, job[x + GROUP] + 1, clock[FRONT], stands)
        due[stopped] = x
        stopped += 1
    sort(due, stopped)
    for i in range(stopped):
        job[due[i] + PREEMPTIONS] += 1
        note(job, clock, log, due[i])


@kernel
def put_served(job, clock, served, changed, log):
    """Put who is newly served behind those that run in its queue; returns how many started."""
    started = 0
    for first in (True, False):
        for i in range(served):
            x = changed[i]
            if job[x + SINCE] == clock[NOW] and (job[x + BEGUN] == clock[NOW]) == first:
                note(job, clock, log, x)
                started += 1
    clock[VAIN] += started
    if not clock[SORTED]:
        for i in range(served):
            x = changed[i]
            clock[BACK] += 1
            ahead = neighbour(job, x, LEFT, RIGHT)
            stands = ahead == 0 or job[ahead + GROUP] < job[x + GROUP]
            place(job, x, job[x + GROUP] - 1, clock[BACK], stands)
    return started


@kernel
def is_endless(job, clock, held, started):
    """Whether too many starts were in vain, `started` of them now, and nobody is at work."""
    if clock[VAIN] <= clock[PATIENCE] * (clock[ARRIVED] // JOB - clock[ENDED]):
        return False
    for seat in range(clock[HELD]):
        x = held[seat]
        if job[x + SINCE] + job[x + TOLL] < clock[NOW]:
            clock[VAIN] = started
            return False
    return True


@kernel
def account(job, clock, series):
    """What is fragmented until the next event; with what is busy and waits into `series`, if one is kept."""
    root = job[LEFT]
    busy, waiting = job[root + SUM], clock[ARRIVED] // JOB - clock[ENDED] - clock[HELD]
    free = clock[ALL_GPUS] - busy
    clock[FRAGMENTED] = 0
    if waiting:  # without blocking nothing that waits fits into what is free
        clock[FRAGMENTED] = free % (job[root + HIGH] - busy) if clock[BLOCKING] else free
    if len(series):
        at = 4 * clock[ROWS]
        series[at], series[at + 1], series[at + 2] = clock[NOW], busy, waiting
        series[at + 3] = clock[FRAGMENTED]
        clock[ROWS] += 1


@kernel
def run(job, clock, limits, due, changed, held, log, series, events):
    """Go on for so many events, while jobs are left and the log has room; returns whether that is endless.

    job ((n + 1) JOB,), clock (CLOCK,), held (n + 1,): go on from call to call. limits: of all queues but the
    last. Scratch: due, changed (n + 1,). log (3 m,), m >= n, and series (4 m,), m >= events, or empty where
    they aren't kept.
    """
    n = len(job) // JOB - 1
    while clock[ENDED] < n and events and (not len(log) or len(log) - 3 * clock[LOGGED] >= 3 * n):
        time = job[job[LEFT] + FIRST_SOON]
        if clock[ARRIVED] < n * JOB:
            time = min(time, job[clock[ARRIVED] + JOB + SUBMIT])
        if clock[ONE]:
            time = foretold(job, clock, limits, held, time)
        clock[FRAGMENTED_TICKS] += clock[FRAGMENTED] * (time - clock[NOW])
        clock[NOW] = time
        sunk = move_on(job, clock, limits, due, changed, held, log)
        served, dropped = decide(job, clock, limits, changed, held)
        put_stopped(job, clock, limits, sunk, dropped, due, changed, held, log)
        started = put_served(job, clock, served, changed, log)
        if is_endless(job, clock, held, started):
            return True
        account(job, clock, series)
        clock[EVENTS] += 1
        events -= 1
    return False
