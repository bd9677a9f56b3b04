"""Analyses of admissions, as an artifact package calls them.

    run(inputs: {name: path}, parameters: {name: value}, seed) -> {"outputs", "tables", "charts"}

Plain JSON in and out. They run the plain forms of the kernels: what stands behind a claim can be read, and
needs no compiler. `scheduling_core.admission.validate.report` is the second account of the same schedules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from scheduling_core.admission.attempts import KIB_PER_GIB, MILLICORES, TICKS_PER_HOUR, Stratum, Workload
from scheduling_core.admission.book import book
from scheduling_core.admission.bounds import (
    area_bound,
    image_area_bound,
    makespan_bound,
    packing_bound,
    peak_bound,
)
from scheduling_core.admission.census import census
from scheduling_core.admission.charts import profile_chart
from scheduling_core.admission.formats import Assumptions, Import, read_workload
from scheduling_core.admission.metrics import Metrics, metrics, saved_share
from scheduling_core.admission.schedule import ImageStore, Limits, Policy, Schedule
from scheduling_core.admission.search import Goal, Measure, Resource
from scheduling_core.admission.search.engine import value_of
from scheduling_core.admission.search.priorities import pack
from scheduling_core.admission.search.problem import problem_of
from scheduling_core.admission.search.small import in_lanes, last_end, listed, small_search
from scheduling_core.errors import SchedulingError
from scheduling_core.parameters import read_parameters

Json = dict[str, Any]
Judged = Mapping[str, tuple[Schedule, Metrics]]
Word = TypeVar("Word", bound=StrEnum)

CHOICE = {"SLOTS": 16, "FIRST": 0, "CPU_MILLI": 0, "RAM_KIB": 0, "DISK_KIB": 0, "IMAGE_KIB": 0}
"""Slots; the first N attempts of each task (0: all); quotas where none is known (0: none is assumed)."""
STORE = {"RETENTION_TICKS": 0, "CACHE_KIB": 0}
"""How long an image stays after its last use, and what the store holds (0: no limit)."""
SEARCHES = {"GOALS": ["images-hours", "ram-peak"], "STRATUM": "as_logged", "BUDGET": 0}
"""What is to be low; which attempts; and candidates for each goal (0: only the priorities are looked at)."""
FIGURE_COLUMNS = ("schedule", "sha256", "policy")


def replay(inputs: Mapping[str, Path], parameters: Mapping[str, Any], seed: int = 0) -> Json:
    """FIFO on SLOTS slots for each stratum, with quotas held whole (W) and outside model calls only (A).

    Input ``workload``; parameters as in `CHOICE` and `STORE`. Outputs: the census with its three means, and
    for each stratum the deadline, every figure of both schedules, and the share of quota-hours that A
    doesn't reserve. A stratum without attempts is null. The seed is unused.

    Raises
    ------
    SchedulingError : for an input or a parameter that makes no sense.
    """
    chosen = read_parameters(parameters, {**CHOICE, **STORE})
    found = _read(inputs, chosen)
    store = ImageStore(chosen["RETENTION_TICKS"], chosen["CACHE_KIB"] or None)
    counted = census(found)
    whole = _first(found, chosen)
    strata: Json = {}
    replayed: dict[str, tuple[Schedule, Metrics]] = {}
    for stratum in Stratum:
        workload = whole.stratum(stratum)
        if stratum is not Stratum.AS_LOGGED and len(workload) == len(whole):
            strata[stratum] = strata[Stratum.AS_LOGGED]  # all are clean
            continue
        strata[stratum] = None
        if not len(workload):
            continue
        schedules = {
            f"fifo-{policy.lower()}": listed("fifo", workload, Limits(chosen["SLOTS"]), policy, store)
            for policy in Policy
        }
        judged = {name: (schedule, metrics(workload, schedule)) for name, schedule in schedules.items()}
        replayed |= {f"{stratum} {name}": pair for name, pair in judged.items()}
        saved = saved_share(workload)
        strata[stratum] = {
            "attempts": len(workload), **_end(judged["fifo-w"][1].makespan),
            "saved_share": float(saved), "saved_percent": float(100 * saved), "schedules": _told(judged),
        }  # fmt: skip
    outputs = {
        "parameters": chosen,
        "workload": _about(found.workload),
        "census": {name: value for name, value in counted.row().items() if name != "means"},
        "means": {
            mean.name: {"value": mean.value, "attempts": mean.attempts, "wrong": mean.wrong}
            for mean in counted.means
        },
        "strata": strata,
    }
    return {"outputs": outputs, "tables": {"census": counted.table(), **_tables(replayed)}, "charts": {}}


def bounds(inputs: Mapping[str, Path], parameters: Mapping[str, Any], seed: int = 0) -> Json:
    """What no schedule that ends with FIFO can beat, and the fewest slots that keep its deadline.

    Input ``workload``; parameters as in `CHOICE`, POLICY for the peaks of CPU and RAM, and STRATUM. Fewest
    slots: durations packed into bins of the deadline, the packing against Martello and Toth's L2; null
    where releases keep attempts from being packed. The seed is unused.

    Raises
    ------
    SchedulingError : as `replay`.
    """
    chosen = read_parameters(parameters, {**CHOICE, "POLICY": "A", "STRATUM": "as_logged"})
    policy = _one_of("POLICY", chosen["POLICY"], Policy)
    workload = _chosen(inputs, chosen)
    limits = Limits(chosen["SLOTS"])
    deadline = last_end(workload, listed("fifo", workload, limits, Policy.WHOLE))
    lengths = [a.ticks for a in workload.attempts]
    least = packing_bound(lengths, deadline)
    judged: dict[str, tuple[Schedule, Metrics]] = {}
    fewest = None
    if not any(a.release for a in workload.attempts):
        lanes = pack(lengths, deadline)
        fewest = len(lanes)
        tight = in_lanes(workload, lanes, Policy.WHOLE, Limits(fewest, deadline=deadline))
        judged["fewest-slots"] = (tight, metrics(workload, tight))
    images = image_area_bound(workload, chosen["SLOTS"])
    earliest = makespan_bound(workload, limits)
    outputs = {
        "parameters": chosen,
        "workload": _about(workload),
        **_end(deadline),
        "slots": {"fewest": fewest, "bound": least.value, "by": least.by, "proved": fewest == least.value},
        "peaks": {
            name: _peak(workload, amounts, unit, policy, deadline)
            for name, (amounts, unit) in _quotas(workload).items()
        },
        "images": {"gib_hours": images.value / KIB_PER_GIB / TICKS_PER_HOUR, "by": images.by},
        "makespan": {"h": earliest.value / TICKS_PER_HOUR, "ticks": earliest.value, "by": earliest.by},
        "schedules": _told(judged),
    }
    return {"outputs": outputs, "tables": _tables(judged), "charts": {}}


def search(inputs: Mapping[str, Path], parameters: Mapping[str, Any], seed: int = 0) -> Json:
    """The lowest that a small search finds for each goal, never later than FIFO, each validated.

    Input ``workload``; parameters as in `CHOICE` and `SEARCHES`, policy A. It begins from the best of
    several priorities: list admissions on SLOTS slots, and durations packed into lanes. What it finds is a
    schedule that exists; it is a minimum only where it is `proved`.

    Raises
    ------
    SchedulingError : as `replay`, and where no priority keeps the deadline.
    """
    chosen = read_parameters(parameters, {**CHOICE, **SEARCHES})
    workload = _chosen(inputs, chosen)
    deadline = last_end(workload, listed("fifo", workload, Limits(chosen["SLOTS"]), Policy.ACTIVE))
    limits = Limits(chosen["SLOTS"], deadline=deadline)
    schedules: dict[str, Schedule] = {}
    told: Json = {}
    problems = {name: problem_of(workload, _goal(name), Policy.ACTIVE, limits) for name in chosen["GOALS"]}
    for name, problem in problems.items():
        schedules[name], candidates = small_search(problem, chosen["BUDGET"], seed)
        bound = problem.bound()
        told[name] = {"candidates": candidates, "made_by": dict(schedules[name].made_by),
                      "bound": bound.value, "bound_by": bound.by}  # fmt: skip
    entries = book(workload, schedules)
    for entry in entries:
        found = told[entry.name]
        value = value_of(problems[entry.name], entry.metrics)
        found |= {"value": value, "proved": value == found["bound"], "gap": value / found["bound"] - 1}
    outputs = {
        "parameters": chosen,
        "workload": _about(workload),
        **_end(deadline),
        "found": told,
        "schedules": _told({e.name: (e.schedule, e.metrics) for e in entries}),
    }
    return {
        "outputs": outputs,
        "tables": _tables({e.name: (e.schedule, e.metrics) for e in entries}),
        "charts": {
            f"{name}-over-time": profile_chart(entries, name, None, deadline) for name in ("ram", "images")
        },
    }


def _read(inputs: Mapping[str, Path], chosen: Mapping[str, Any]) -> Import:
    """The attempts of the input, whole: a file with rejected records is no basis for a claim."""
    if "workload" not in inputs:
        raise SchedulingError(f"There is no input 'workload', only {', '.join(inputs) or 'none'}.")
    given = {name: chosen[name] or None for name in ("CPU_MILLI", "RAM_KIB", "DISK_KIB", "IMAGE_KIB")}
    assumed = Assumptions(**{name.lower(): value for name, value in given.items()})
    found = read_workload(Path(inputs["workload"]), assumed)
    if found.rejected:
        raise SchedulingError(found.rejected[0].reason)
    return found


def _first(found: Import, chosen: Mapping[str, Any]) -> Workload:
    return found.workload.first_of_each_task(chosen["FIRST"]) if chosen["FIRST"] else found.workload


def _chosen(inputs: Mapping[str, Path], chosen: Mapping[str, Any]) -> Workload:
    stratum = _one_of("STRATUM", chosen["STRATUM"], Stratum)
    workload = _first(_read(inputs, chosen), chosen).stratum(stratum)
    if not len(workload):
        raise SchedulingError(f"{workload.name}: no attempt of it can be replayed.")
    return workload


def _one_of(name: str, value: str, words: type[Word]) -> Word:
    if value not in list(words):
        raise SchedulingError(f"{name} is {value!r}, expected one of {', '.join(words)}.")
    return words(value)


def _goal(name: str) -> Goal:
    resource, _, measure = name.rpartition("-")
    return Goal(_one_of("A goal's resource", resource, Resource), _one_of("Its measure", measure, Measure))


def _about(workload: Workload) -> Json:
    return {
        "name": workload.name, "sha256": workload.sha256, "attempts": len(workload),
        "tasks": len({a.task for a in workload.attempts}), "synthetic": workload.synthetic,
    }  # fmt: skip


def _end(deadline: int) -> Json:
    return {"deadline_ticks": deadline, "deadline_h": deadline / TICKS_PER_HOUR}


def _quotas(workload: Workload) -> dict[str, tuple[list[int], int]]:
    """Amounts (n,) of each resource of which a peak has a bound, and its unit."""
    every = workload.attempts
    return {
        "cpu": ([a.cpu_milli for a in every], MILLICORES),
        "ram": ([a.ram_kib for a in every], KIB_PER_GIB),
    }


def _peak(
    workload: Workload, amounts: Sequence[int], unit: int, policy: Policy, deadline: int
) -> dict[str, Any]:
    """The area over the deadline, as it is and rounded up to whole units, and the best bound."""
    held = [
        q * sum(ticks for kind, ticks in a.segments if policy.holds(kind))
        for q, a in zip(amounts, workload.attempts, strict=True)
    ]
    area = area_bound(held, deadline).value
    best = peak_bound(workload, amounts, policy, deadline)
    return {
        "area": area / unit, "area_up": -(-area // unit), "bound": best.value / unit, "by": best.by,
    }  # fmt: skip


def _told(judged: Judged) -> Json:
    """Every figure of each schedule, in integers too."""
    return {
        name: {**figures.table(), "sha256": schedule.sha256, "integers": figures.integers()}
        for name, (schedule, figures) in judged.items()
    }


def _tables(judged: Judged) -> Json:
    """A row of figures for each complete schedule, and the schedules as they are saved."""
    if not judged:
        return {}
    rows = [
        [name, schedule.sha256, str(schedule.policy), *figures.table().values()]
        for name, (schedule, figures) in judged.items()
    ]
    titles = next(iter(judged.values()))[1].table()
    return {
        "schedules": {"columns": [*FIGURE_COLUMNS, *titles], "rows": rows},
        "starts": {
            "columns": ["schedule", "row"],
            "rows": [[name, schedule.row()] for name, (schedule, _) in judged.items()],
        },
    }
