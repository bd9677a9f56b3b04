"""Utilisation beside reservation: what attempts really used, from samples of one second.

What is reserved says what others can't have, what is used says what was needed of it. Neither stands for the
other: used figures are columns beside the reserved ones, and where a second has no sample they are unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduling_core.admission.attempts import (
    KIB_PER_GIB,
    MILLICORES,
    TICKS_PER_HOUR,
    TICKS_PER_SECOND,
    Attempt,
    Workload,
)
from scheduling_core.admission.experiments.outcome import Cell, Outcome
from scheduling_core.admission.experiments.samples import Sample, Samples
from scheduling_core.admission.metrics import Interval, Metrics, Use, metrics, use_of
from scheduling_core.admission.replay import fifo
from scheduling_core.admission.schedule import Limits, Policy, Schedule, schedule_of
from scheduling_core.charts import SCHEMA

SHOWN = 400
"""Stretches of time that a chart shows at the most; each shows its highest value."""

COLUMNS = (
    "schedule", "resource", "unit", "reserved_peak_W", "reserved_peak_A", "used_peak", "used_peak_at_least",
    "reserved_hours_W", "reserved_hours_A", "used_hours", "used_hours_at_least", "sampled_share",
    "attempts_without_samples", "samples", "violations_W", "violations_A",
)  # fmt: skip


@dataclass(frozen=True)
class Violation:
    """A sample that used more than a policy reserved. Amounts are in millicores or KiB."""

    attempt: str
    second: int
    resource: str
    policy: Policy
    used: int
    reserved: int


@dataclass(frozen=True)
class MeasuredUse:
    """What a schedule's attempts used together, where that was sampled.

    known : peak and area of the seconds with samples: what was used at least. complete : whether every tick
    of every attempt was sampled; only then `known` is the whole. sampled_ticks of all_ticks : summed over
    attempts.
    """

    known: Use
    sampled_ticks: int
    all_ticks: int

    @property
    def complete(self) -> bool:
        """Whether nothing is missing."""
        return self.sampled_ticks == self.all_ticks


def violations(workload: Workload, samples: Samples) -> list[Violation]:
    """Every sample above what is reserved in its second, in the order of arrival and time.

    Under W that is the whole quota. Under A the CPU of a second that lies in model calls altogether is not
    reserved; RAM that is parked keeps its place elsewhere, so its quota holds there too.
    """
    found = []
    for attempt in workload.attempts:
        taken = samples.of.get(attempt.id, ())
        calls = _only_calls(attempt) if taken else set()
        for sample in taken:
            for policy in Policy:
                released = policy is Policy.ACTIVE and sample.second in calls
                for resource, used, reserved in (
                    ("cpu", sample.cpu_milli, 0 if released else attempt.cpu_milli),
                    ("ram", sample.rss_kib, attempt.ram_kib),
                ):
                    if used > reserved:
                        found.append(Violation(attempt.id, sample.second, resource, policy, used, reserved))
    return found


def measured_use(
    workload: Workload, starts: Sequence[int], samples: Samples, resource: str
) -> MeasuredUse | None:
    """Use of "cpu" or "ram" under a start vector (n,); None, which is unknown, where there is no sample."""
    intervals = list(used_intervals(workload, starts, samples, resource))
    if not intervals:
        return None
    return MeasuredUse(
        use_of(intervals),
        sum(end - start for start, end, _ in intervals),
        sum(a.ticks for a in workload.attempts),
    )


def used_intervals(
    workload: Workload, starts: Sequence[int], samples: Samples, resource: str
) -> list[Interval]:
    """Each sample at its time, in millicores or KiB; the last second of an attempt may be cut."""
    found = []
    for attempt, start in zip(workload.attempts, starts, strict=True):
        for sample in samples.of.get(attempt.id, ()):
            begin = sample.second * TICKS_PER_SECOND
            end = min(begin + TICKS_PER_SECOND, attempt.ticks)
            found.append((start + begin, start + end, _amount(sample, resource)))
    return found


def run(
    workload: Workload,
    limits: Limits,
    samples: Samples,
    *,
    seed: int = 0,
    schedules: Mapping[str, Sequence[int]] | None = None,
) -> Outcome:
    """Reserved and used CPU and RAM, two rows for each schedule: FIFO, and start vectors (n,) given by name.

    used_peak and used_hours are known only where every second was sampled; `at_least` is what the samples
    alone come to. Nothing here is random: the seed is only noted.

    Raises
    ------
    SchedulingError : where a start vector isn't of this workload, or an attempt alone passes a limit.
    """
    made = {"fifo": fifo(workload, limits)}
    for name, starts in (schedules or {}).items():
        made[name] = schedule_of(workload, starts, Policy.WHOLE, limits, method="given")
    over = violations(workload, samples)
    rows: list[list[Cell]] = []
    charts: dict[str, dict[str, Any]] = {}
    for name, schedule in made.items():
        figures = {p: metrics(workload, _under(workload, schedule, p)) for p in Policy}
        for resource in ("cpu", "ram"):
            rows.append(_row(workload, name, schedule, resource, samples, figures, over))
            charts[f"{name}_{resource}"] = _over_time(workload, schedule, samples, resource, name)
    charts["violations"] = _violations_chart(over)
    return Outcome(
        "utilisation",
        f"{workload.name}: what is reserved, and what was used of it",
        {
            "slots": limits.slots, "seed": seed, "samples_sha256": samples.source.sha256,
            "rejected_samples": len(samples.rejected),
        },
        COLUMNS,
        rows,
        charts,
        made,
        _assumed(workload, samples, over),
    )  # fmt: skip


def _assumed(workload: Workload, samples: Samples, over: Sequence[Violation]) -> list[str]:
    without = sum(a.id not in samples.of for a in workload.attempts)
    found = [
        "A sample holds for its whole second, and attempts use the same under any schedule.",
        "Without a sample, what was used is unknown; it is not counted as 0.",
    ]
    if without:
        found.append(f"{without} of {len(workload)} attempts have no samples.")
    if over:
        found.append(f"{len(over)} samples pass what was reserved; each is listed, and none is cut.")
    names = sorted({name for a in workload.attempts for name in a.assumed})
    if names:
        found.append(f"Assumed for attempts whose log doesn't give them: {', '.join(names)}.")
    if workload.synthetic:
        found.append("Attempts of this workload are synthetic: generated, not measured.")
    return found


def _row(
    workload: Workload, name: str, schedule: Schedule, resource: str, samples: Samples,
    figures: Mapping[Policy, Metrics], over: Sequence[Violation],
) -> list[Cell]:  # fmt: skip
    unit = MILLICORES if resource == "cpu" else KIB_PER_GIB
    reserved = [getattr(figures[p], resource) for p in Policy]
    used = measured_use(workload, schedule.starts, samples, resource)
    known = None if used is None else used.known
    whole = known if used is not None and used.complete else None
    counts = [sum(v.resource == resource and v.policy is p for v in over) for p in Policy]
    return [
        name, resource, "cores" if resource == "cpu" else "GiB",
        *(use.peak / unit for use in reserved), _peak(whole, unit), _peak(known, unit),
        *(use.area / unit / TICKS_PER_HOUR for use in reserved), _hours(whole, unit), _hours(known, unit),
        0.0 if used is None else used.sampled_ticks / used.all_ticks,
        sum(a.id not in samples.of for a in workload.attempts),
        sum(len(taken) for taken in samples.of.values()), *counts,
    ]  # fmt: skip


def _peak(use: Use | None, unit: int) -> float | None:
    return None if use is None else use.peak / unit


def _hours(use: Use | None, unit: int) -> float | None:
    return None if use is None else use.area / unit / TICKS_PER_HOUR


def _amount(sample: Sample, resource: str) -> int:
    return sample.cpu_milli if resource == "cpu" else sample.rss_kib


def _only_calls(attempt: Attempt) -> set[int]:
    """Seconds of which every tick lies in a model call."""
    held: set[int] = set()
    tick = 0
    for kind, ticks in attempt.segments:
        if Policy.ACTIVE.holds(kind):
            held.update(range(tick // TICKS_PER_SECOND, (tick + ticks - 1) // TICKS_PER_SECOND + 1))
        tick += ticks
    return set(range(-(-tick // TICKS_PER_SECOND))) - held


def _under(workload: Workload, schedule: Schedule, policy: Policy) -> Schedule:
    return schedule_of(workload, schedule.starts, policy, schedule.limits, schedule.images)


def _reserved_intervals(
    workload: Workload, starts: Sequence[int], resource: str, policy: Policy
) -> list[Interval]:
    found = []
    for attempt, start in zip(workload.attempts, starts, strict=True):
        amount = attempt.cpu_milli if resource == "cpu" else attempt.ram_kib
        tick = start
        for kind, ticks in attempt.segments:
            if policy.holds(kind):
                found.append((tick, tick + ticks, amount))
            tick += ticks
    return found


def _over_time(
    workload: Workload, schedule: Schedule, samples: Samples, resource: str, name: str
) -> dict[str, Any]:
    """Highest amounts in each stretch of time; used ones only where whoever ran was sampled."""
    starts = schedule.starts
    last = max((s + a.ticks for s, a in zip(starts, workload.attempts, strict=True)), default=0)
    width = max(1, -(-last // SHOWN))
    unit = MILLICORES if resource == "cpu" else KIB_PER_GIB
    live = [(s, s + a.ticks, 1) for s, a in zip(starts, workload.attempts, strict=True)]
    used = used_intervals(workload, starts, samples, resource)
    unsampled = _highest([*live, *((s, e, -1) for s, e, _ in used)], width, last)
    series = {
        f"reserved, {policy}": _highest(_reserved_intervals(workload, starts, resource, policy), width, last)
        for policy in Policy
    } | {"used": _highest(used, width, last)}
    values = [
        {
            "hour": k * width / TICKS_PER_HOUR, "series": label,
            "amount": None if label == "used" and unsampled[k] else value / unit,
        }
        for label, highest in series.items() for k, value in enumerate(highest)
    ]  # fmt: skip
    what, of = ("CPU", "cores") if resource == "cpu" else ("RAM", "GiB")
    return {
        "$schema": SCHEMA,
        "title": f"{what} reserved and used, {name}",
        "width": 640,
        "height": 320,
        "data": {"values": values},
        "mark": {"type": "line", "interpolate": "step-after", "invalid": "break-paths-show-domains"},
        "encoding": {
            "x": {"field": "hour", "type": "quantitative", "title": "Time (h)"},
            "y": {"field": "amount", "type": "quantitative", "title": f"{what} ({of})"},
            "color": {"field": "series", "type": "nominal", "title": "Account"},
        },
    }


def _highest(intervals: Sequence[Interval], width: int, last: int) -> list[int]:
    """The highest sum of amounts in each stretch of `width` ticks up to `last`."""
    events: dict[int, int] = {}
    for start, end, amount in intervals:
        events[start] = events.get(start, 0) + amount
        events[end] = events.get(end, 0) - amount
    found: list[int] = []
    held = 0
    ticks = iter([*sorted(events), last])
    following = next(ticks)
    for begin in range(0, last, width):
        highest = held if following > begin else None
        while following < min(begin + width, last):
            held += events.get(following, 0)
            highest = held if highest is None else max(highest, held)
            following = next(ticks)
        found.append(held if highest is None else highest)
    return found


def _violations_chart(over: Sequence[Violation]) -> dict[str, Any]:
    return {
        "$schema": SCHEMA,
        "title": "Samples that used more than was reserved",
        "width": 640,
        "height": 320,
        "data": {
            "values": [
                {
                    "attempt": v.attempt, "second": v.second, "resource": v.resource,
                    "policy": str(v.policy), "used": v.used, "reserved": v.reserved,
                    "over": (v.used - v.reserved) / (MILLICORES if v.resource == "cpu" else KIB_PER_GIB),
                }
                for v in over
            ]
        },
        "mark": {"type": "point"},
        "encoding": {
            "x": {"field": "second", "type": "quantitative", "title": "Time from the attempt's start (s)"},
            "y": {"field": "over", "type": "quantitative", "title": "Above the reservation (cores or GiB)"},
            "color": {"field": "resource", "type": "nominal", "title": "Resource"},
            "shape": {"field": "policy", "type": "nominal", "title": "Policy"},
            "tooltip": [{"field": "attempt", "type": "nominal"}, {"field": "second", "type": "quantitative"}],
        },
    }  # fmt: skip
