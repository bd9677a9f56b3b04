"""What suspending model calls saves when it isn't free: offload, restore, channels, storage, image reload.

The published figures are the share of whole-admission hours that isn't reserved, by the seconds that each
suspended call costs: a call of l seconds that costs c < l saves l - c, one no longer than c saves nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduling_core.admission.attempts import KIB_PER_GIB, TICKS_PER_HOUR, Stratum, Workload
from scheduling_core.admission.experiments.costs import AT_ONCE, Constant, Cost, Loading, constant_of
from scheduling_core.admission.experiments.machine import suspended_replay
from scheduling_core.admission.experiments.outcome import Cell, Outcome
from scheduling_core.admission.experiments.states import Conditions, Suspended
from scheduling_core.admission.schedule import NOTHING_KEPT, ImageStore, Limits, Schedule
from scheduling_core.charts import SCHEMA
from scheduling_core.errors import SchedulingError

SECONDS = (0, 0.2, 0.5, 1, 2, 5, 10, 20, 60)
"""Seconds of a suspended call for which savings were published."""

COLUMNS = (
    "stratum", "cost of a suspended call", "seconds", "restore", "attempts", "calls", "suspended",
    "too short", "no channel", "no room", "saved share of RAM-hours", "reserved_ram_gib_hours",
    "reserved_ram_peak_gib", "destination_peak_gib", "destination_gib_hours", "transfers_peak", "moved_gib",
    "added_hours", "image_loads", "image_loading_hours", "makespan_h",
)  # fmt: skip


def run(
    workload: Workload,
    limits: Limits,
    *,
    seed: int = 0,
    seconds: Sequence[float | str] = SECONDS,
    costs: Sequence[Cost] = (),
    channels: int | None = None,
    pool_kib: int | None = None,
    images: ImageStore = NOTHING_KEPT,
    loading: Loading = AT_ONCE,
) -> Outcome:
    """One row for each stratum, cost and way to restore: hidden before the reply, or after it.

    seconds : constant costs, half for each way. costs : others, by bandwidth or measured. For channels,
    pool_kib, images and loading see `Conditions`. Nothing here is random: the seed is only noted. Schedules
    are given where no attempt got longer; the others are of another workload, see `suspended_replay`.

    Raises
    ------
    SchedulingError : for a cost that isn't whole ticks, a limit that can't be kept, or no cost at all.
    """
    tried: list[Cost] = [*(constant_of(s) for s in seconds), *costs]
    if not tried:
        raise SchedulingError("There is no cost to try; give seconds, a bandwidth or a table.")
    rows: list[list[Cell]] = []
    values: list[dict[str, Any]] = []
    schedules: dict[str, Schedule] = {}
    for stratum, part in strata(workload).items():
        for cost in tried:
            for hidden in (True, False):
                found = suspended_replay(
                    part, limits, Conditions(cost, hidden, channels, pool_kib, images, loading)
                )
                way = "hidden" if hidden else "after the reply"
                rows.append(_row(stratum, cost, way, found))
                kind = "constant" if isinstance(cost, Constant) else cost.name
                values.append({**dict(zip(COLUMNS, rows[-1], strict=True)), "kind": kind})
                if found.workload is part and part is workload:
                    schedules[f"{stratum}, {cost.name}, {way}"] = found.schedule
    return Outcome(
        "suspension",
        f"{workload.name}: what suspended model calls save, by their cost",
        {
            "slots": limits.slots, "seed": seed, "costs": [cost.name for cost in tried],
            "channels": channels, "pool_kib": pool_kib, "retention_ticks": images.retention_ticks,
            "cache_kib": images.cache_kib, "loading_ticks": loading.fixed, "loading_kib_s": loading.kib_s,
        },
        COLUMNS,
        rows,
        {"savings": savings_chart(values), "destination": _destination_chart(values)},
        schedules,
        [*(cost.assumption for cost in tried if cost in costs), *_assumed(workload, seconds, loading)],
    )  # fmt: skip


def strata(workload: Workload) -> dict[str, Workload]:
    """Both strata, or the one where every attempt ended cleanly: then they are the same."""
    clean = workload.stratum(Stratum.CLEAN)
    found = {str(Stratum.AS_LOGGED): workload}
    if len(clean) < len(workload):
        found[str(Stratum.CLEAN)] = clean
    return found


def seconds_of(cost: Cost, found: Suspended) -> float | None:
    """Mean seconds that a call costs if it is suspended; None where nothing could be suspended."""
    ticks = [
        sum(cost.ticks(a.ram_kib)) for a in found.before.attempts for kind, _ in a.segments if kind == "model"
    ]
    return sum(ticks) / len(ticks) / 10 if ticks else None


def _row(stratum: str, cost: Cost, way: str, found: Suspended) -> list[Cell]:
    ram, destination, saved = found.ram(), found.destination(), found.saved()
    hours = KIB_PER_GIB * TICKS_PER_HOUR
    ends = [s + a.ticks for s, a in zip(found.schedule.starts, found.workload.attempts, strict=True)]
    return [
        stratum, cost.name, seconds_of(cost, found), way, len(found.before), found.calls, found.suspended,
        found.too_short, found.no_channel, found.no_room, None if saved is None else float(saved),
        ram.area / hours, ram.peak / KIB_PER_GIB, destination.peak / KIB_PER_GIB, destination.area / hours,
        found.transfers().peak, found.moved_kib / KIB_PER_GIB, found.added_ticks / TICKS_PER_HOUR,
        found.loads, found.loading_ticks / TICKS_PER_HOUR, max(ends, default=0) / TICKS_PER_HOUR,
    ]  # fmt: skip


def _assumed(workload: Workload, seconds: Sequence[float | str], loading: Loading) -> list[str]:
    found = []
    if seconds:
        found.append("Constant costs are assumed, not measured: half of the seconds for each way.")
    found += [
        "CPU and RAM are reserved while RAM is moved; the destination is taken from the begin of an offload "
        "to the end of its restore.",
        "A hidden restore knows when the reply comes, which no real service tells.",
        "RAM that is moved is the whole quota, and a model call doesn't take longer because of it.",
        "Admission takes quotas whole: parked RAM lets nobody in.",
    ]
    if loading != AT_ONCE:
        found.append("Loads of several images don't slow one another; an image's users wait for one load.")
    names = sorted({name for a in workload.attempts for name in a.assumed})
    if names:
        found.append(f"Assumed for attempts whose log doesn't give them: {', '.join(names)}.")
    if workload.synthetic:
        found.append("Attempts of this workload are synthetic: generated, not measured.")
    return found


def savings_chart(values: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Saved share against the seconds of a suspended call, on a scale that shows 0 and small costs."""
    return _chart(
        values, "What suspended calls save, by their cost", "saved share of RAM-hours",
        "Share of whole-admission RAM-hours not reserved",
    )  # fmt: skip


def _destination_chart(values: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return _chart(
        values, "Storage that parked RAM takes", "destination_peak_gib", "Peak of the destination (GiB)"
    )


def _chart(values: Sequence[dict[str, Any]], title: str, key: str, axis: str) -> dict[str, Any]:
    """A line through the constants, and a point for each row: other costs stand apart from the line."""
    kept = ("stratum", "restore", "cost of a suspended call", "kind", "seconds", "suspended", key)
    place = {
        "x": {
            "field": "seconds", "type": "quantitative", "scale": {"type": "symlog", "constant": 0.1},
            "title": "Offload and restore of one call (s)",
        },
        "y": {"field": key, "type": "quantitative", "title": axis},
        "color": {"field": "stratum", "type": "nominal", "title": "Stratum"},
    }  # fmt: skip
    return {
        "$schema": SCHEMA,
        "title": title,
        "width": 640,
        "height": 320,
        "data": {"values": [{name: row[name] for name in kept} for row in values]},
        "layer": [
            {
                "transform": [{"filter": "datum.kind == 'constant'"}],
                "mark": {"type": "line"},
                "encoding": {
                    **place, "strokeDash": {"field": "restore", "type": "nominal", "title": "Restore"}
                },
            },
            {
                "mark": {"type": "point", "filled": True, "size": 50},
                "encoding": {
                    **place,
                    "shape": {"field": "kind", "type": "nominal", "title": "Cost"},
                    "tooltip": [{"field": name} for name in kept],
                },
            },
        ],
    }  # fmt: skip
