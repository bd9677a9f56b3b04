"""The image store: each image counts once while somebody uses it, and as long after as it is kept."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from scheduling_core.admission.schedule import ImageStore

User = tuple[int, int, str, int]
"""An attempt's start and end, its image, and the size of that in KiB."""


@dataclass(frozen=True)
class StoreUse:
    """Highest content, its integral over time, and how often an image was brought in."""

    peak_kib: int
    kib_ticks: int
    loads: int


def store_use(users: Sequence[User], store: ImageStore) -> StoreUse:
    """What a store holds over time for attempts that use images.

    The store is emptied of what is only kept at the last end: nothing is kept for users who never come.
    At equal times what was kept too long goes first, then ends come, then starts: those that find their
    image, then those that load it, so that no order of names decides what is loaded. The peak is read
    over time, not between the events of one tick.
    """
    if not users:
        return StoreUse(0, 0, 0)
    horizon = max(end for _, end, _, _ in users)
    sizes = {image: size for _, _, image, size in users}
    events = sorted(
        [(end, 0, image) for _, end, image, _ in users] + [(start, 1, image) for start, _, image, _ in users]
    )
    live: dict[str, int] = {}
    kept: dict[str, int] = {}  # image -> tick of its last use
    leaving: list[tuple[int, str, int]] = []  # when it goes, image, the last use that this is for
    held = peak = area = loads = 0
    now = events[0][0]

    def advance(tick: int) -> None:
        nonlocal area, now, peak
        if tick > now:
            area += held * (tick - now)
            peak = max(peak, held)
            now = tick

    def make_room() -> None:
        nonlocal held
        if store.cache_kib is None or held <= store.cache_kib:
            return
        for name in sorted(kept, key=lambda k: (kept[k], k)):
            if held <= store.cache_kib:
                break
            del kept[name]
            held -= sizes[name]

    for tick, group in groupby(events, key=lambda event: event[0]):
        while leaving and leaving[0][0] <= tick:
            gone, name, last = heapq.heappop(leaving)
            if kept.get(name) == last:
                advance(gone)
                del kept[name]
                held -= sizes[name]
        advance(tick)
        started: list[str] = []
        for _, kind, image in group:
            if kind == 1:
                started.append(image)
                continue
            live[image] -= 1
            if live[image] > 0:
                continue
            del live[image]
            if store.retention_ticks == 0 or tick == horizon:
                held -= sizes[image]
                continue
            kept[image] = tick
            if store.retention_ticks is not None:
                heapq.heappush(leaving, (tick + store.retention_ticks, image, tick))
        make_room()
        for image in started:
            if image not in live and kept.pop(image, None) is None:
                loads += 1
                held += sizes[image]
            live[image] = live.get(image, 0) + 1
        make_room()
    return StoreUse(peak, area, loads)
