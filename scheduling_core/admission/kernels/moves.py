"""The inner loops of the search for starts, on flat whole numbers.

Time is a grid of ticks 0..D-1. There are R profiles of resources that add up (such as CPU, or RAM of active
segments) and one of the image store, in which an image counts once. For profile r, `use[r D + t]` is what is
held at t, and attempt i holds `weight[r n + i]` in the segments ptr[r n + i] .. ptr[r n + i + 1] - 1, each
`off` ticks after its start and `length` long. The image profile is use[R D + t]; attempt i brings
`size[image[i]]` for as long as it runs, unless another user of the image runs too.

The cost of a schedule is what it passes its caps by, squared and summed over ticks, times scale[r] for each
profile; and `price` times the image store's area. A slot too many is never taken.

Arrays that every function here is given, in this order, as one unit:
    use, over, slots : the state of the grid; over[r B + b] counts the ticks of block b with excess
    starts : of the attempts, -1 while one is taken out
    n, profiles, horizon, most, price : whole numbers n, R, D, slots there are, price of image area
    cap, scale : (R + 1,), the last of the image store
    duration, release, ptr, off, length, weight : the attempts
    image, size, user_ptr, users : image of each attempt; sizes; attempts of each image
"""

from __future__ import annotations

from scheduling_core.compiled import kernel

BLOCK = 512
"""Ticks of which excess is counted together, so that one is found without a walk over the whole grid."""


@kernel
def draw(random, n):
    """A number 0..n-1 from the combined generator of L'Ecuyer (CACM 31, 1988); `random` holds its seeds."""
    random[0] = 40014 * random[0] % 2147483563
    random[1] = 40692 * random[1] % 2147483399
    z = random[0] - random[1]
    if z < 1:
        z += 2147483562
    return z % n


@kernel
def hold(use, over, r, horizon, blocks, cap, scale, begin, end, amount):
    """Add `amount` (it may be negative) to profile r over begin..end-1; the change of the cost."""
    change = 0
    base = r * horizon
    for t in range(begin, end):
        before = use[base + t] - cap
        after = before + amount
        use[base + t] += amount
        if before > 0:
            change -= before * before
            if after <= 0:
                over[r * blocks + t // 512] -= 1
        if after > 0:
            change += after * after
            if before <= 0:
                over[r * blocks + t // 512] += 1
    return change * scale


@kernel
def cover(i, low, high, covered, starts, duration, image, user_ptr, users):
    """covered[t - low] = 1 for ticks low..high-1 at which another user of i's image runs, else 0."""
    for t in range(high - low):
        covered[t] = 0
    m = image[i]
    for x in range(user_ptr[m], user_ptr[m + 1]):
        j = users[x]
        if j == i or starts[j] < 0:
            continue
        begin = max(low, starts[j])
        end = min(high, starts[j] + duration[j])
        for t in range(begin, end):
            covered[t - low] = 1


@kernel
def place(
    i, start, sign, use, over, slots, covered, starts, n, profiles, horizon, blocks, price, cap, scale,
    duration, ptr, off, length, weight, image, size, user_ptr, users, state,
):  # fmt: skip
    """Let attempt i hold (sign 1) or give back (-1) all that it takes at `start`; the change of the cost.

    state[1] is the cost of all excess, state[3] the area of the image store; both are kept up to date.
    """
    excess = 0
    for r in range(profiles):
        for x in range(ptr[r * n + i], ptr[r * n + i + 1]):
            begin = start + off[x]
            excess += hold(
                use, over, r, horizon, blocks, cap[r], scale[r], begin, begin + length[x],
                sign * weight[r * n + i],
            )  # fmt: skip
    end = start + duration[i]
    for t in range(start, end):
        slots[t] += sign
    area = 0
    if price > 0 or scale[profiles] > 0:
        cover(i, start, end, covered, starts, duration, image, user_ptr, users)
        amount = size[image[i]]
        t = start
        while t < end:
            if covered[t - start] == 1:
                t += 1
                continue
            begin = t
            while t < end and covered[t - start] == 0:
                t += 1
            excess += hold(
                use, over, profiles, horizon, blocks, cap[profiles], scale[profiles], begin, t, sign * amount
            )
            area += sign * amount * (t - begin)
    starts[i] = start if sign > 0 else -1
    state[1] += excess
    state[3] += area
    return excess + price * area


@kernel
def recount(use, over, profiles, horizon, blocks, cap, scale):
    """The cost of all excess under new caps; `over` is filled anew."""
    for block in range(len(over)):
        over[block] = 0
    cost = 0
    for r in range(profiles + 1):
        if scale[r] == 0:
            continue
        for t in range(horizon):
            excess = use[r * horizon + t] - cap[r]
            if excess > 0:
                cost += excess * excess * scale[r]
                over[r * blocks + t // 512] += 1
    return cost


@kernel
def place_above(use, over, profiles, horizon, blocks, cap, random):
    """r D + t for a profile and a tick at which its cap is passed; -1 where there is none."""
    every = (profiles + 1) * blocks
    first = draw(random, every)
    for step in range(every):
        at = (first + step) % every
        if over[at] > 0:
            r = at // blocks
            nth = draw(random, over[at])
            begin = (at - r * blocks) * 512
            for t in range(begin, min(begin + 512, horizon)):
                if use[r * horizon + t] > cap[r]:
                    if nth == 0:
                        return r * horizon + t
                    nth -= 1
    return -1


@kernel
def holder_at(r, t, n, profiles, starts, duration, ptr, off, length, random):
    """One of the attempts that hold profile r at tick t, each as likely; -1 where none does."""
    found = -1
    seen = 0
    for i in range(n):
        since = t - starts[i]
        if since < 0 or since >= duration[i]:
            continue
        if r < profiles:
            low, high = ptr[r * n + i], ptr[r * n + i + 1]
            while low < high:  # the first segment that begins later
                middle = (low + high) // 2
                if off[middle] <= since:
                    low = middle + 1
                else:
                    high = middle
            x = low - 1
            if x < ptr[r * n + i] or since >= off[x] + length[x]:
                continue
        seen += 1
        if draw(random, seen) == 0:
            found = i
    return found


@kernel
def best_start(
    i, low, high, best, use, slots, gain, covered, starts, n, profiles, horizon, most, price, cap, scale,
    duration, ptr, off, length, weight, image, size, user_ptr, users, random, out,
):  # fmt: skip
    """The start in low..high at which attempt i, which is taken out, costs least, and no more than `best`.

    Starts at which a slot is missing aren't candidates. out : [start or -1, its cost, candidates]. They are
    looked at from a random one on, round the window; the first that costs nothing is taken, and equal costs
    are chosen among at random. Each profile's cost at a start is a difference of prefix sums, so a
    candidate costs as many steps as the attempt has segments.
    """
    d = duration[i]
    span = high + d - low
    for r in range(profiles):
        w = weight[r * n + i]
        base = r * (horizon + 1)
        gain[base] = 0
        for t in range(span):
            before = use[r * horizon + low + t] - cap[r]
            after = before + w
            g = 0
            if after > 0:
                g = after * after
                if before > 0:
                    g -= before * before
            gain[base + t + 1] = gain[base + t] + g * scale[r]
    images = price > 0 or scale[profiles] > 0
    store = profiles * (horizon + 1)
    if images:
        cover(i, low, high + d, covered, starts, duration, image, user_ptr, users)
        w = size[image[i]]
        gain[store] = 0
        for t in range(span):
            g = 0
            if covered[t] == 0:
                before = use[profiles * horizon + low + t] - cap[profiles]
                after = before + w
                if after > 0:
                    g = after * after
                    if before > 0:
                        g -= before * before
                g = g * scale[profiles] + price * w
            gain[store + t + 1] = gain[store + t] + g
    found = -1
    ties = 0
    looked = 0
    middle = low + draw(random, high - low + 1)
    for part in range(2):
        begin, end = middle, high
        if part == 1:
            begin, end = low, middle - 1
        if end < begin or (found >= 0 and best == 0):
            continue
        blocked = begin - 1  # the last tick without a free slot among those seen
        for t in range(begin, begin + d - 1):
            if slots[t] >= most:
                blocked = t
        for s in range(begin, end + 1):
            if slots[s + d - 1] >= most:
                blocked = s + d - 1
            if blocked >= s:
                continue
            looked += 1
            cost = 0
            if images:
                cost = gain[store + s - low + d] - gain[store + s - low]
            for r in range(profiles):
                base = r * (horizon + 1) + s - low
                for x in range(ptr[r * n + i], ptr[r * n + i + 1]):
                    if cost > best:
                        break
                    a = base + off[x]
                    cost += gain[a + length[x]] - gain[a]
            if cost > best:
                continue
            if cost < best or found < 0:
                best = cost
                found = s
                ties = 1
                if best == 0:  # nothing costs less
                    break
            else:
                ties += 1
                if draw(random, ties) == 0:
                    found = s
    out[0] = found
    out[1] = best
    out[2] = looked
    return found


@kernel
def improve(
    use, over, slots, gain, covered, out, state, random, starts, n, profiles, horizon, blocks, most, price,
    window, enough, cap, scale, duration, release, ptr, off, length, weight, image, size, user_ptr, users,
):  # fmt: skip
    """Move attempts to where they cost no more, one or a pair at a time, for `enough` candidates.

    Without a price it ends where no cap is passed any more. state : [candidates, cost of excess, moves,
    area of the image store].
    """
    begun = state[0]
    while state[0] - begun < enough and (price > 0 or state[1] > 0):
        i = -1
        kind = draw(random, 16)
        if kind > 0 and state[1] > 0:
            at = place_above(use, over, profiles, horizon, blocks, cap, random)
            i = holder_at(
                at // horizon, at % horizon, n, profiles, starts, duration, ptr, off, length, random
            )
        if i < 0:
            i = draw(random, n)
        j = -1
        centre = starts[i]
        last = horizon - duration[i]
        way = draw(random, 8)
        if way < 2 and price > 0:  # to where another user of its image is
            m = image[i]
            j = users[user_ptr[m] + draw(random, user_ptr[m + 1] - user_ptr[m])]
            centre = starts[j]
            j = -1
        elif way < 4:
            centre = release[i] + draw(random, last - release[i] + 1)
        elif way == 4:  # in exchange for another
            j = draw(random, n)
            centre = starts[j]
            if j == i:
                j = -1
        reach = window >> (2 * draw(random, 3))
        low = max(release[i], centre - reach)
        high = min(last, centre + reach)
        state[0] += 1
        if high < low:
            continue
        old_i = starts[i]
        freed = -place(
            i, old_i, -1, use, over, slots, covered, starts, n, profiles, horizon, blocks, price, cap, scale,
            duration, ptr, off, length, weight, image, size, user_ptr, users, state,
        )  # fmt: skip
        if j >= 0:
            old_j = starts[j]
            freed -= place(
                j, old_j, -1, use, over, slots, covered, starts, n, profiles, horizon, blocks, price, cap,
                scale, duration, ptr, off, length, weight, image, size, user_ptr, users, state,
            )  # fmt: skip
        best_start(
            i, low, high, freed, use, slots, gain, covered, starts, n, profiles, horizon, most, price, cap,
            scale, duration, ptr, off, length, weight, image, size, user_ptr, users, random, out,
        )  # fmt: skip
        state[0] += out[2]
        new = out[0]
        if j >= 0:
            if new >= 0:
                left = freed - place(
                    i, new, 1, use, over, slots, covered, starts, n, profiles, horizon, blocks, price, cap,
                    scale, duration, ptr, off, length, weight, image, size, user_ptr, users, state,
                )  # fmt: skip
                low = max(release[j], old_i - reach)
                high = min(horizon - duration[j], old_i + reach)
                out[0] = -1
                if high >= low:
                    best_start(
                        j, low, high, left, use, slots, gain, covered, starts, n, profiles, horizon, most,
                        price, cap, scale, duration, ptr, off, length, weight, image, size, user_ptr, users,
                        random, out,
                    )  # fmt: skip
                    state[0] += out[2]
                if out[0] >= 0:
                    place(
                        j, out[0], 1, use, over, slots, covered, starts, n, profiles, horizon, blocks, price,
                        cap, scale, duration, ptr, off, length, weight, image, size, user_ptr, users, state,
                    )  # fmt: skip
                    state[2] += 1
                    continue
                place(
                    i, new, -1, use, over, slots, covered, starts, n, profiles, horizon, blocks, price, cap,
                    scale, duration, ptr, off, length, weight, image, size, user_ptr, users, state,
                )  # fmt: skip
            place(
                j, old_j, 1, use, over, slots, covered, starts, n, profiles, horizon, blocks, price, cap,
                scale, duration, ptr, off, length, weight, image, size, user_ptr, users, state,
            )  # fmt: skip
            new = -1
        if new < 0:
            new = old_i
        elif new != old_i:
            state[2] += 1
        place(
            i, new, 1, use, over, slots, covered, starts, n, profiles, horizon, blocks, price, cap, scale,
            duration, ptr, off, length, weight, image, size, user_ptr, users, state,
        )  # fmt: skip
    return state[1]
