"""Small attempts, and strategies for small workloads and schedules of them."""

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from scheduling_core.admission.attempts import Attempt, Segment, SegmentKind, Workload, ranked
from scheduling_core.admission.schedule import ImageStore, Limits, Policy, Schedule

GIB = 1 << 20


def attempt(name: str, segments: str, **fields: Any) -> Attempt:
    """An attempt from words such as "setup 3 model 5": 1 core, 2 GiB, 10 GiB of disk, an image of 3 GiB."""
    words = segments.split()
    pairs = zip(words[::2], words[1::2], strict=True)
    made: dict[str, Any] = {
        "id": name, "task": "t", "image": "i", "rank": 0, "release": 0,
        "segments": tuple(Segment(SegmentKind(kind), int(ticks)) for kind, ticks in pairs),
        "cpu_milli": 1000, "ram_kib": 2 * GIB, "disk_kib": 10 * GIB, "image_kib": 3 * GIB,
    }  # fmt: skip
    return Attempt(**(made | fields))


def workload(*attempts: Attempt) -> Workload:
    return ranked("a case", attempts)


SEGMENTS = st.lists(
    st.tuples(st.sampled_from(SegmentKind), st.integers(1, 6)).map(lambda pair: Segment(*pair)),
    min_size=1, max_size=4,
).map(tuple)  # fmt: skip


@st.composite
def workloads(
    draw: st.DrawFn, least: int = 0, most: int = 6, segments: Any = SEGMENTS, latest: int = 6
) -> Workload:
    """Up to `most` attempts of a few ticks, of three images, released by `latest`."""
    sizes = draw(st.lists(st.integers(0, 5), min_size=3, max_size=3))
    made = []
    for number in range(draw(st.integers(least, most))):
        image = draw(st.integers(0, 2))
        made.append(
            Attempt(
                id=f"a{number}",
                task=f"t{image}",
                image=f"i{image}",
                rank=0,
                release=draw(st.integers(0, latest)),
                segments=draw(segments),
                cpu_milli=draw(st.integers(0, 3)),
                ram_kib=draw(st.integers(0, 5)),
                disk_kib=draw(st.integers(0, 5)),
                image_kib=sizes[image],
            )
        )
    return workload(*made)


STORES = st.builds(
    ImageStore,
    retention_ticks=st.one_of(st.none(), st.integers(0, 8)),
    cache_kib=st.one_of(st.none(), st.integers(0, 12)),
)


@st.composite
def schedules(draw: st.DrawFn, of: Workload, stores: Any = STORES) -> Schedule:
    """Starts at or after the releases, without limits that matter."""
    starts = [a.release + draw(st.integers(0, 12)) for a in of.attempts]
    return Schedule(
        of.sha256, tuple(starts), draw(st.sampled_from(Policy)), Limits(slots=max(1, len(of))), draw(stores)
    )


def per_tick(of: Workload, schedule: Schedule) -> dict[str, int]:
    """The figures of a schedule by asking at each tick, for each attempt, what it does there."""
    attempts = list(zip(of.attempts, schedule.starts, strict=True))
    horizon = max((start + a.ticks for a, start in attempts), default=0)
    series: dict[str, list[int]] = {
        name: [] for name in ("slots", "cpu", "ram", "disk", "parked", "requests")
    }
    for tick in range(horizon):
        now = dict.fromkeys(series, 0)
        for a, start in attempts:
            if not start <= tick < start + a.ticks:
                continue
            kinds = [kind for kind, ticks in a.segments for _ in range(ticks)]
            calling = kinds[tick - start] == "model"
            suspended = calling and schedule.policy == "A"
            now["slots"] += 1
            now["disk"] += a.disk_kib
            now["requests"] += calling
            now["cpu"] += 0 if suspended else a.cpu_milli
            now["ram"] += 0 if suspended else a.ram_kib
            now["parked"] += a.ram_kib if suspended else 0
        for name, value in now.items():
            series[name].append(value)
    found = {
        f"{name}_{part}": max(series[name], default=0) if part == "peak" else sum(series[name])
        for name in ("slots", "cpu", "ram", "disk", "parked")
        for part in ("peak", "area")
    }
    requests = series["requests"]
    in_use = [tick for tick, value in enumerate(requests) if value]
    found |= {
        "service_peak_requests": max(requests, default=0),
        "service_request_ticks": sum(requests),
        "service_busy_ticks": len(in_use),
        "service_gpu_ticks": 8 * (in_use[-1] + 1 - in_use[0]) if in_use else 0,
    }
    if in_use:
        found |= {"service_first": in_use[0], "service_last": in_use[-1] + 1}
    waits = sorted(start - a.release for a, start in attempts)
    # Nearest rank: the ceil(0.95 n)-th of the sorted values, the least rank r with r / n >= 0.95.
    rank = next((r for r in range(1, len(waits) + 1) if 20 * r >= 19 * len(waits)), 0)
    found |= {
        "attempts": len(attempts), "makespan": horizon, "wait_sum": sum(waits),
        "wait_p95": waits[rank - 1] if waits else 0, "wait_max": waits[-1] if waits else 0,
    }  # fmt: skip
    users = [(start, start + a.ticks, a.image, a.image_kib) for a, start in attempts]
    peak, area, loads = store_per_tick(users, schedule.images)
    return found | {"images_peak_kib": peak, "images_kib_ticks": area, "images_loads": loads}


def store_per_tick(users: Sequence[tuple[int, int, str, int]], store: ImageStore) -> tuple[int, int, int]:
    """Peak, area and loads of a store that is looked through at every single tick."""
    size = {image: kib for _, _, image, kib in users}
    inside: dict[str, int] = {}  # image -> the last tick up to which somebody used it
    peak = area = loads = 0

    def give_way(live: set[str]) -> None:
        while store.cache_kib is not None and sum(size[image] for image in inside) > store.cache_kib:
            idle = sorted((used, image) for image, used in inside.items() if image not in live)
            if not idle:
                return
            del inside[idle[0][1]]

    for tick in range(max((end for _, end, _, _ in users), default=0)):
        still = {image for start, end, image, _ in users if start < tick < end}
        for image, used in list(inside.items()):
            if image in still:
                inside[image] = tick
            elif store.retention_ticks is not None and used + store.retention_ticks <= tick:
                del inside[image]
        give_way(still)
        live = {image for start, end, image, _ in users if start <= tick < end}
        loads += len(live - inside.keys())
        inside.update(dict.fromkeys(live, tick + 1))
        give_way(live)
        content = sum(size[image] for image in inside)
        peak, area = max(peak, content), area + content
    return peak, area, loads
