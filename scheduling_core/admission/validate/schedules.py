"""Whether a complete schedule is what it says: its hashes, its limits, and every figure claimed for it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduling_core.admission.validate.findings import Kind, Validation, Violation
from scheduling_core.admission.validate.forms import digest, schedule_faults
from scheduling_core.admission.validate.originals import well_formed
from scheduling_core.admission.validate.placements import Placed, from_rows, from_starts
from scheduling_core.admission.validate.profiles import Profile, Stretches
from scheduling_core.admission.validate.store import store_profile

GPUS = 8
"""Of the shared service, in use from its first request to its last."""

_LIMITED = (
    ("slots", Kind.SLOTS, "slots", "attempts run"),
    ("cpu_milli", Kind.CPU, "cpu", "millicores are reserved"),
    ("ram_kib", Kind.RAM, "ram", "KiB of RAM are reserved"),
    ("disk_kib", Kind.DISK, "disk", "KiB of disk are reserved"),
    ("parked_kib", Kind.PARKED, "parked", "KiB of RAM are parked"),
    ("image_kib", Kind.IMAGES, "images", "KiB of images are stored"),
    ("requests", Kind.REQUESTS, "requests", "requests are in flight"),
)
"""Limit, what its violation is called, the profile that it limits, and the words for that."""

_HASHED = ("workload_sha256", "policy", "limits", "images", "starts")


def validate(
    attempts: Sequence[Mapping[str, Any]],
    schedule: Mapping[str, Any],
    claimed: Mapping[str, Any] | None = None,
    placements: Sequence[Mapping[str, Any]] | None = None,
) -> Validation:
    """Derive all that follows from attempts and starts, and compare it with what is said.

    attempts : rows of the compact form, all fields, in order of rank. schedule : a schedule's row.
    claimed : figures by the names of `Metrics.integers`, compared exactly; some or all.
    placements : segments at explicit times, {attempt, kind, start, end} each; accounts are then made of
    them. Nothing is raised: whatever JSON a row holds, what is wrong with it is a violation.
    """
    return judge(prepare(attempts), schedule, claimed, placements)


@dataclass(frozen=True)
class Prepared:
    """Attempts judged as far as no schedule is needed: rows in good form, what is wrong, their hash."""

    rows: Sequence[Mapping[str, Any]]
    malformed: tuple[Violation, ...]
    violations: tuple[Violation, ...]
    sha256: str


def prepare(attempts: Sequence[Mapping[str, Any]]) -> Prepared:
    """What many schedules of the same attempts share."""
    rows, malformed = well_formed(attempts, "Attempt")
    if malformed:
        return Prepared(rows, tuple(malformed), (), "")
    return Prepared(rows, (), tuple(_workload_faults(rows)), digest(list(rows)))


def judge(
    prepared: Prepared,
    schedule: Mapping[str, Any],
    claimed: Mapping[str, Any] | None = None,
    placements: Sequence[Mapping[str, Any]] | None = None,
) -> Validation:
    """`validate`, of attempts that are prepared."""
    rows = prepared.rows
    found = list(prepared.malformed)
    found += [Violation(Kind.FORM, None, None, fault) for fault in schedule_faults(schedule)]
    if found:
        return Validation(tuple(found))
    found = [*prepared.violations, *_hash_faults(prepared.sha256, schedule)]
    starts = schedule["starts"]
    if len(starts) != len(rows):
        sentence = f"There are {len(starts)} starts for {len(rows)} attempts, expected one for each."
        return Validation((*found, Violation(Kind.STARTS, None, None, sentence)))
    if placements is None:
        placed = from_starts(rows, starts)
    else:
        placed, faults = from_rows(rows, starts, placements)
        found += faults
    profiles, metrics = _accounts(rows, placed, schedule)
    found += _time_faults(rows, placed, schedule["limits"]["deadline"])
    found += _limit_faults(profiles, schedule["limits"])
    found += _claim_faults(metrics, {} if claimed is None else claimed)
    return Validation(tuple(found), metrics, {name: profile.points for name, profile in profiles.items()})


def _workload_faults(rows: Sequence[Mapping[str, Any]]) -> list[Violation]:
    found = []
    sizes: dict[str, int] = {}
    for position, row in enumerate(rows):
        if row["rank"] != position:
            sentence = f"Attempt {row['id']} has rank {row['rank']}, expected its place {position}."
            found.append(Violation(Kind.ORDER, row["id"], None, sentence))
        size = sizes.setdefault(row["image"], row["image_kib"])
        if size != row["image_kib"]:
            sentence = (
                f"Attempt {row['id']}: image {row['image']} has {row['image_kib']} KiB here, {size} before."
            )
            found.append(Violation(Kind.IMAGE_SIZE, row["id"], None, sentence))
    return found


def _hash_faults(workload: str, schedule: Mapping[str, Any]) -> list[Violation]:
    found = []
    if schedule["workload_sha256"] != workload:
        sentence = (
            f"The schedule is of workload {schedule['workload_sha256']}, these attempts are {workload}."
        )
        found.append(Violation(Kind.WORKLOAD_HASH, None, None, sentence))
    own = digest([{name: schedule[name] for name in _HASHED}])
    if schedule["sha256"] != own:
        sentence = f"The schedule says hash {schedule['sha256']}, its content gives {own}."
        found.append(Violation(Kind.SCHEDULE_HASH, None, None, sentence))
    return found


def _accounts(
    rows: Sequence[Mapping[str, Any]], placed: Sequence[Sequence[Placed]], schedule: Mapping[str, Any]
) -> tuple[dict[str, Profile], dict[str, int]]:
    present = [(row, line) for row, line in zip(rows, placed, strict=True) if line]
    begins = [line[0].start for _, line in present]
    ends = [max(segment.end for segment in line) for _, line in present]
    pieces = [(row, segment) for row, line in present for segment in line]
    away = [piece for piece in pieces if schedule["policy"] == "A" and piece[1].kind == "model"]
    here = [piece for piece in pieces if schedule["policy"] == "W" or piece[1].kind != "model"]
    requests = [piece for piece in pieces if piece[1].kind == "model"]
    images, loads = store_profile(
        [(begin, end, row["image"]) for (row, _), begin, end in zip(present, begins, ends, strict=True)],
        {row["image"]: row["image_kib"] for row in rows},
        schedule["images"]["retention_ticks"],
        schedule["images"]["cache_kib"],
    )
    live, reserved = Stretches(begins, ends), _stretches(here)
    profiles = {
        "slots": live.holding([1] * len(present)),
        "cpu": reserved.holding([row["cpu_milli"] for row, _ in here]),
        "ram": reserved.holding([row["ram_kib"] for row, _ in here]),
        "disk": live.holding([row["disk_kib"] for row, _ in present]),
        "parked": _stretches(away).holding([row["ram_kib"] for row, _ in away]),
        "images": images,
        "requests": _stretches(requests).holding([1] * len(requests)),
    }
    waits = [begin - row["release"] for (row, _), begin in zip(present, begins, strict=True)]
    metrics = {
        "attempts": len(rows),
        "makespan": max(ends, default=0),
        "wait_sum": sum(waits),
        "wait_p95": nearest_rank(waits, 95),
        "wait_max": max(waits, default=0),
        "images_peak_kib": images.peak,
        "images_kib_ticks": images.area,
        "images_loads": loads,
    }
    for name in ("slots", "cpu", "ram", "disk", "parked"):
        metrics |= {f"{name}_peak": profiles[name].peak, f"{name}_area": profiles[name].area}
    return profiles, metrics | _service(profiles["requests"])


def _service(requests: Profile) -> dict[str, int]:
    found = {
        "service_peak_requests": requests.peak,
        "service_request_ticks": requests.area,
        "service_busy_ticks": requests.busy,
        "service_gpu_ticks": 0,
    }
    if len(requests.ticks):
        first, last = int(requests.ticks[0]), int(requests.ticks[-1])
        found |= {"service_first": first, "service_last": last, "service_gpu_ticks": GPUS * (last - first)}
    return found


def nearest_rank(values: Sequence[int], percent: int) -> int:
    """The smallest of the values that at least `percent` of a hundred don't pass; 0 without values."""
    ordered = sorted(values)
    for value in ordered:
        if 100 * bisect_right(ordered, value) >= percent * len(ordered):
            return value
    return 0


def _stretches(pieces: Sequence[tuple[Mapping[str, Any], Placed]]) -> Stretches:
    return Stretches([piece.start for _, piece in pieces], [piece.end for _, piece in pieces])


def _time_faults(
    rows: Sequence[Mapping[str, Any]], placed: Sequence[Sequence[Placed]], deadline: int | None
) -> list[Violation]:
    found = []
    for row, line in zip(rows, placed, strict=True):
        if not line:
            continue
        begin, end = line[0].start, max(segment.end for segment in line)
        if begin < row["release"]:
            sentence = f"Attempt {row['id']} starts at tick {begin}, expected none before {row['release']}."
            found.append(Violation(Kind.RELEASE, row["id"], begin, sentence))
        if deadline is not None and end > deadline:
            sentence = f"Attempt {row['id']} ends at tick {end}, expected none after the deadline {deadline}."
            found.append(Violation(Kind.DEADLINE, row["id"], end, sentence))
    return found


def _limit_faults(profiles: Mapping[str, Profile], limits: Mapping[str, int | None]) -> list[Violation]:
    found = []
    for limit, kind, name, words in _LIMITED:
        most = limits[limit]
        above = None if most is None else profiles[name].first_above(most)
        if above is not None:
            tick, value = above
            sentence = f"At tick {tick} {value} {words}, expected no more than {most}."
            found.append(Violation(kind, None, tick, sentence))
    return found


def _claim_faults(metrics: Mapping[str, int], claimed: Any) -> list[Violation]:
    if not isinstance(claimed, Mapping):
        sentence = f"The claims are {claimed!r}, expected an object of figures."
        return [Violation(Kind.FORM, None, None, sentence)]
    found = []
    for name, value in claimed.items():
        if name not in metrics:
            sentence = f"The claim of {name} is {value!r}, but this schedule has no such figure."
        elif type(value) is not int or value != metrics[name]:
            sentence = f"The claim of {name} is {value!r}, expected {metrics[name]}."
        else:
            continue
        found.append(Violation(Kind.CLAIM, None, None, sentence))
    return found
