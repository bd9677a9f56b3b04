"""What a complete schedule costs: peaks, hours and waits, by one sweep over its events.

At equal times releases come before acquisitions: intervals are half-open.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from scheduling_core.admission.attempts import (
    KIB_PER_GIB,
    MILLICORES,
    TICKS_PER_HOUR,
    SegmentKind,
    Workload,
)
from scheduling_core.admission.images import StoreUse, store_use
from scheduling_core.admission.schedule import Policy, Schedule

SERVICE_GPUS = 8
"""The shared service is one tensor-parallel group of 8 GPUs."""

Interval = tuple[int, int, int]
"""Start, end and amount; half-open."""


@dataclass(frozen=True)
class Use:
    """Highest amount at any time, and its integral over time (amount x ticks)."""

    peak: int
    area: int


@dataclass(frozen=True)
class ServiceUse:
    """The shared service: requests in flight are the `model` segments.

    request_ticks : summed over requests; busy_ticks : with at least one; gpu_ticks : 8 x (last use -
    first use), idle gaps in between included.
    """

    peak_requests: int
    request_ticks: int
    busy_ticks: int
    first: int | None
    last: int | None

    @property
    def gpu_ticks(self) -> int:
        """0 where no request was made."""
        return 0 if self.first is None or self.last is None else SERVICE_GPUS * (self.last - self.first)


@dataclass(frozen=True)
class Metrics:
    """Every figure of one schedule, in integers: ticks, millicores, KiB.

    makespan : the last end, from tick 0. Waits are start - release; p95 is the nearest rank
    ceil(0.95 n). `parked` is RAM put aside during model segments under policy A.
    """

    attempts: int
    makespan: int
    wait_sum: int
    wait_p95: int
    wait_max: int
    slots: Use
    cpu: Use
    ram: Use
    disk: Use
    parked: Use
    images: StoreUse
    service: ServiceUse

    def integers(self) -> dict[str, int]:
        """The figures as they are, under flat names such as `ram_peak`: what a validator can be asked about.

        Where no request was made, `service_first` and `service_last` aren't in it.
        """
        flat: dict[str, int | None] = {}
        for name, value in asdict(self).items():
            flat |= (
                {f"{name}_{part}": v for part, v in value.items()}
                if isinstance(value, dict)
                else {name: value}
            )
        flat["service_gpu_ticks"] = self.service.gpu_ticks
        return {name: value for name, value in flat.items() if value is not None}

    def table(self) -> dict[str, Any]:
        """The figures in the units in which they are told: hours, cores, GiB, seconds."""
        return {
            "attempts": self.attempts,
            "makespan_h": _of(self.makespan, TICKS_PER_HOUR),
            "wait_mean_s": _of(Fraction(self.wait_sum, self.attempts), 10) if self.attempts else None,
            "wait_p95_s": _of(self.wait_p95, 10),
            "wait_max_s": _of(self.wait_max, 10),
            "slots_peak": self.slots.peak,
            "slot_hours": _of(self.slots.area, TICKS_PER_HOUR),
            "cpu_peak_cores": _of(self.cpu.peak, MILLICORES),
            "cpu_core_hours": _of(self.cpu.area, MILLICORES * TICKS_PER_HOUR),
            "ram_peak_gib": _of(self.ram.peak, KIB_PER_GIB),
            "ram_gib_hours": _of(self.ram.area, KIB_PER_GIB * TICKS_PER_HOUR),
            "disk_peak_gib": _of(self.disk.peak, KIB_PER_GIB),
            "disk_gib_hours": _of(self.disk.area, KIB_PER_GIB * TICKS_PER_HOUR),
            "parked_peak_gib": _of(self.parked.peak, KIB_PER_GIB),
            "parked_gib_hours": _of(self.parked.area, KIB_PER_GIB * TICKS_PER_HOUR),
            "image_peak_gib": _of(self.images.peak_kib, KIB_PER_GIB),
            "image_gib_hours": _of(self.images.kib_ticks, KIB_PER_GIB * TICKS_PER_HOUR),
            "image_loads": self.images.loads,
            "request_hours": _of(self.service.request_ticks, TICKS_PER_HOUR),
            "service_busy_hours": _of(self.service.busy_ticks, TICKS_PER_HOUR),
            "service_peak_requests": self.service.peak_requests,
            "service_gpu_hours": _of(self.service.gpu_ticks, TICKS_PER_HOUR),
        }


def use_of(intervals: Iterable[Interval]) -> Use:
    """Peak and area of amounts held over half-open intervals."""
    events: dict[int, int] = {}
    area = 0
    for start, end, amount in intervals:
        events[start] = events.get(start, 0) + amount
        events[end] = events.get(end, 0) - amount
        area += (end - start) * amount
    held = peak = 0
    for tick in sorted(events):
        held += events[tick]
        peak = max(peak, held)
    return Use(peak, area)


def metrics(workload: Workload, schedule: Schedule) -> Metrics:
    """Every figure of a schedule. Limits aren't checked here: `validate` does that."""
    starts = schedule.starts
    whole: list[tuple[int, int]] = []
    active: list[Interval] = []
    cpu: list[Interval] = []
    parked: list[Interval] = []
    requests: list[Interval] = []
    held_whole = schedule.policy is Policy.WHOLE
    for attempt, start in zip(workload.attempts, starts, strict=True):
        tick = start
        for kind, ticks in attempt.segments:
            if kind is SegmentKind.MODEL:
                requests.append((tick, tick + ticks, 1))
            if schedule.policy.holds(kind):
                if not held_whole:
                    active.append((tick, tick + ticks, attempt.ram_kib))
                    cpu.append((tick, tick + ticks, attempt.cpu_milli))
            else:
                parked.append((tick, tick + ticks, attempt.ram_kib))
            tick += ticks
        if held_whole:
            active.append((start, tick, attempt.ram_kib))
            cpu.append((start, tick, attempt.cpu_milli))
        whole.append((start, tick))
    waits = sorted(s - a.release for a, s in zip(workload.attempts, starts, strict=True))
    return Metrics(
        attempts=len(workload),
        makespan=max((end for _, end in whole), default=0),
        wait_sum=sum(waits),
        wait_p95=waits[-(-19 * len(waits) // 20) - 1] if waits else 0,
        wait_max=waits[-1] if waits else 0,
        slots=use_of((s, e, 1) for s, e in whole),
        cpu=use_of(cpu),
        ram=use_of(active),
        disk=use_of((s, e, a.disk_kib) for (s, e), a in zip(whole, workload.attempts, strict=True)),
        parked=use_of(parked),
        images=store_use(
            [(s, e, a.image, a.image_kib) for (s, e), a in zip(whole, workload.attempts, strict=True)],
            schedule.images,
        ),
        service=_service(requests),
    )


def saved_share(workload: Workload, resource: str = "ram") -> Fraction:
    """The share of whole-admission quota-hours of `cpu` or `ram` that policy A doesn't reserve.

    It depends on no schedule, and is an estimate of quota-hours: what was really used isn't in it.
    """
    whole = released = 0
    for attempt in workload.attempts:
        quota = attempt.ram_kib if resource == "ram" else attempt.cpu_milli
        whole += quota * attempt.ticks
        released += quota * sum(t for kind, t in attempt.segments if not Policy.ACTIVE.holds(kind))
    return Fraction(released, whole) if whole else Fraction(0)


def _service(requests: Sequence[Interval]) -> ServiceUse:
    busy = 0
    reached = min((start for start, _, _ in requests), default=0)
    for start, end, _ in sorted(requests):
        if end > reached:
            busy += end - max(start, reached)
            reached = end
    found = use_of(requests)
    first = min((start for start, _, _ in requests), default=None)
    last = max((end for _, end, _ in requests), default=None)
    return ServiceUse(found.peak, found.area, busy, first, last)


def _of(value: int | Fraction, unit: int) -> float:
    return float(Fraction(value) / unit)
