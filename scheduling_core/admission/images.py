"""The image store: each image counts once while somebody uses it, and as long after as it is kept."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

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
    At equal times ends come first, then what was kept too long goes, then loads.
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
    held = peak = area = loads = now = 0

    def advance(tick: int) -> None:
        nonlocal area, now
        area += held * (tick - now)
        now = tick

    for tick, kind, image in events:
        while leaving and leaving[0][0] <= tick:
            gone, name, last = heapq.heappop(leaving)
            if kept.get(name) == last:
                advance(gone)
                del kept[name]
                held -= sizes[name]
        advance(tick)
        if kind == 0:
            live[image] -= 1
            if live[image] == 0:
                del live[image]
                if store.retention_ticks == 0 or tick == horizon:
                    held -= sizes[image]
                else:
                    kept[image] = tick
                    if store.retention_ticks is not None:
                        heapq.heappush(leaving, (tick + store.retention_ticks, image, tick))
            continue
        if image in live:
            live[image] += 1
            continue
        live[image] = 1
        if kept.pop(image, None) is not None:
            continue
        loads += 1
        held += sizes[image]
        if store.cache_kib is not None:
            for name in sorted(kept, key=lambda k: (kept[k], k)):
                if held <= store.cache_kib:
                    break
                del kept[name]
                held -= sizes[name]
        peak = max(peak, held)
    return StoreUse(peak, area, loads)
