"""Kernels: list admission, and the peak and area of what a schedule holds; see `scheduling_core.compiled`.

n attempts, R resources. Tables are flat: demands[i * R + r]. What a docstring calls scratch or a result is
filled in place. Times are ticks from 0, intervals half-open: at equal ticks releases come before
acquisitions. A key is `tick << bits | attempt` with n <= 1 << bits, so that one number is sorted by tick.

Segments: attempt i holds amounts[i] in the runs pointers[i]..pointers[i + 1] - 1, run x from begins[x] to
ends[x] ticks after its start. grid[t] is what use gains at tick t: a difference grid.
"""

from __future__ import annotations

from scheduling_core.compiled import kernel

FAR = 1 << 62
"""Later than any key."""
WHOLE = FAR - 1
"""Mask that changes no index, but shows the compiler that none is negative: it then drops its check."""
BLOCK_BITS = 8
"""Blocks of 256 ticks of the grid share a sum and a highest prefix sum."""
DIGIT_BITS = 8
BUCKETS = 1 << DIGIT_BITS
"""Buckets of one pass of the radix sort."""


@kernel
def admit(durations, releases, demands, capacities, order, bits, starts, free, heap):
    """List admission: starts (n,) of attempts taken in `order`, the head of the line blocking.

    Scratch: free (R,), heap (n + 3,) of the keys of running attempts by end. The top of the heap may stand
    open: most ends make room for one start, whose key then sinks from there. Returns -1, or the first
    attempt in the order that passes a capacity by itself.
    """
    resources = len(capacities)
    for r in range(resources):
        free[r] = capacities[r]
    mask = (1 << bits) - 1
    running = 0  # an open top counts as running
    is_open = False
    now = 0
    heap[0] = heap[1] = heap[2] = FAR  # beyond the last key: no child is looked for there
    for place in range(len(order)):
        job = order[place]
        row = job * resources
        for r in range(resources):
            if demands[row + r] > capacities[r]:
                return job
        now = max(now, releases[job])
        while True:
            fits = True
            for r in range(resources):
                fits &= demands[row + r] <= free[r]
            if fits:  # who ended before and isn't needed stays in the heap
                break
            first = min(heap[1], heap[2]) if is_open else heap[0]
            now = max(now, first >> bits)
            ended = (first & mask) * resources
            for r in range(resources):
                free[r] += demands[ended + r]
            if is_open:
                running -= 1
                key = heap[running]
                heap[running] = FAR
                sink(heap, running, key)
            is_open = True
        for r in range(resources):
            free[r] -= demands[row + r]
        starts[job] = now
        key = (now + durations[job]) << bits | job
        if is_open:
            sink(heap, running, key)
            is_open = False
        else:
            hole = running
            running += 1
            heap[running] = heap[running + 1] = FAR
            while hole > 0 and heap[(hole - 1) >> 1] > key:
                heap[hole] = heap[(hole - 1) >> 1]
                hole = (hole - 1) >> 1
            heap[hole] = key
    return -1


@kernel
def sink(heap, running, key):
    """Put a key to its place from the open top of a heap of `running` keys with FAR after the last."""
    hole = 0
    child = 1
    while child < running:
        child += heap[child + 1] < heap[child]
        if heap[child] >= key:
            break
        heap[hole] = heap[child]
        hole = child
        child = 2 * hole + 1
    heap[hole] = key


@kernel
def sort_ticks(keys, bits, spare, counts):
    """Sort keys (n,) by tick, equal ticks as they stand: radix sort, the lowest digit first.

    Scratch: spare (n,), counts (BUCKETS,).
    """
    n = len(keys)
    highest_key = 0
    for place in range(n):
        highest_key = max(highest_key, keys[place])
    shift = bits
    while shift < 62 and highest_key >> shift > 0:  # a shift by 64 or more means nothing to a machine
        for bucket in range(BUCKETS):
            counts[bucket] = 0
        for place in range(n):
            counts[(keys[place] >> shift) & (BUCKETS - 1)] += 1
        before = 0
        for bucket in range(BUCKETS):
            count = counts[bucket]
            counts[bucket] = before
            before += count
        for place in range(n):
            key = keys[place]
            bucket = (key >> shift) & (BUCKETS - 1)
            spare[counts[bucket]] = key
            counts[bucket] += 1
        for place in range(n):
            keys[place] = spare[place]
        shift += DIGIT_BITS


@kernel
def whole_use(starts, durations, demands, bits, peaks, areas, held, by_start, by_end, spare, counts):
    """Peaks and areas (R,) of demands held from start to end: starts and ends sorted and merged, no grid.

    Scratch: held (R,), by_start, by_end and spare (n,), counts (BUCKETS,).
    """
    n = len(starts)
    resources = len(peaks)
    for r in range(resources):
        peaks[r] = areas[r] = held[r] = 0
    for i in range(n):
        by_start[i] = starts[i] << bits | i
        by_end[i] = (starts[i] + durations[i]) << bits | i
        for r in range(resources):
            areas[r] += durations[i] * demands[i * resources + r]
    sort_ticks(by_start, bits, spare, counts)
    sort_ticks(by_end, bits, spare, counts)
    mask = (1 << bits) - 1
    gone = 0
    for place in range(n):
        key = by_start[place]
        while gone < n and by_end[gone] >> bits <= key >> bits:
            row = (by_end[gone] & mask) * resources
            for r in range(resources):
                held[r] -= demands[row + r]
            gone += 1
        row = (key & mask) * resources
        for r in range(resources):
            held[r] += demands[row + r]
            peaks[r] = max(peaks[r], held[r])


@kernel
def put(attempt, start, sign, pointers, begins, ends, amounts, grid):
    """Let an attempt that starts at `start` hold its runs (sign 1), or take them away (-1)."""
    amount = sign * amounts[attempt]
    for x in range(pointers[attempt], pointers[attempt + 1]):
        grid[(start + begins[x]) & WHOLE] += amount
        grid[(start + ends[x]) & WHOLE] -= amount


@kernel
def segment_use(starts, pointers, begins, ends, amounts, grid, found):
    """Peak and area, as found[0] and found[1], of a resource held in segments.

    grid (D + 1,) for a last end of D: zeros before and after.
    """
    for i in range(len(starts)):
        put(i, starts[i], 1, pointers, begins, ends, amounts, grid)
    held = 0
    peak = 0
    area = 0
    for t in range(len(grid)):
        held += grid[t]
        grid[t] = 0
        peak = max(peak, held)
        area += held
    found[0] = peak
    found[1] = area


@kernel
def sum_blocks(grid, first, last, sums, tops):
    """The sum of each of the blocks first..last of a grid, and its highest prefix sum, the empty one not."""
    for block in range(first, last + 1):
        held = 0
        top = -FAR
        for t in range(block << BLOCK_BITS, min((block + 1) << BLOCK_BITS, len(grid))):
            held += grid[t]
            top = max(top, held)
        sums[block] = held
        tops[block] = top


@kernel
def highest(sums, tops):
    """The peak over all blocks."""
    held = 0
    peak = 0
    for block in range(len(sums)):
        peak = max(peak, held + tops[block])
        held += sums[block]
    return peak


@kernel
def move(attempt, start, starts, pointers, begins, ends, amounts, grid, sums, tops):
    """The peak after an attempt is moved to `start`: only the blocks it lies in are summed anew."""
    low, high = pointers[attempt], pointers[attempt + 1]
    old = starts[attempt]
    starts[attempt] = start
    if low == high or old == start:
        return highest(sums, tops)
    put(attempt, old, -1, pointers, begins, ends, amounts, grid)
    put(attempt, start, 1, pointers, begins, ends, amounts, grid)
    first = (old + begins[low]) >> BLOCK_BITS
    last = (old + ends[high - 1]) >> BLOCK_BITS
    sum_blocks(grid, first, last, sums, tops)
    to_first = (start + begins[low]) >> BLOCK_BITS
    to_last = (start + ends[high - 1]) >> BLOCK_BITS
    sum_blocks(grid, to_first, min(to_last, first - 1), sums, tops)
    sum_blocks(grid, max(to_first, last + 1), to_last, sums, tops)
    return highest(sums, tops)
