"""What the image store holds, stepped through every tick at which it can change."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from scheduling_core.admission.validate.profiles import Profile, stepped, whole


def store_profile(
    users: Sequence[tuple[int, int, str]], sizes: dict[str, int], retention: int | None, cache: int | None
) -> tuple[Profile, int]:
    """Content in KiB over time, and the number of loads, for users (start, end, image).

    At a tick, in this order: users end; idle images leave that were kept long enough, all of them at the
    last end; the longest idle leave while there are more than fit; users start, their images are loaded
    where they aren't there; and again the longest idle leave. An image in use never leaves.
    """
    ending, starting = defaultdict(list), defaultdict(list)
    for start, end, image in users:
        starting[start].append(image)
        ending[end].append(image)
    moments = sorted(ending.keys() | starting.keys(), reverse=True)
    last = moments[0] if moments else 0
    used: Counter[str] = Counter()
    idle: dict[str, int] = {}  # image -> since when
    ticks: list[int] = []
    contents: list[int] = []
    loads = 0

    def content() -> int:
        return sum(sizes[image] for image in used) + sum(sizes[image] for image in idle)

    def squeeze() -> None:
        while cache is not None and idle and content() > cache:
            del idle[min(idle, key=lambda image: (idle[image], image))]

    while moments:
        tick = moments[-1]
        if retention is not None and idle:
            tick = min(tick, min(idle.values()) + retention)
        if tick == moments[-1]:
            moments.pop()
        for image in ending.get(tick, ()):
            used[image] -= 1
            if not used[image]:
                del used[image]
                idle[image] = tick
        for image, since in list(idle.items()):
            if tick == last or (retention is not None and since + retention <= tick):
                del idle[image]
        squeeze()
        wanted = starting.get(tick, [])
        loads += len(set(wanted) - used.keys() - idle.keys())
        for image in wanted:
            idle.pop(image, None)
        used.update(wanted)
        squeeze()
        ticks.append(tick)
        contents.append(content())
    return stepped(whole(ticks), whole(contents)), loads
