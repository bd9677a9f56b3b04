"""A search from its request to its run: begun, gone on with, or begun from a schedule that is there."""

import fcntl
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catalog.commands.errors import Refused, Stopped
from catalog.commands.output import note, print_json, progress, say
from catalog.commands.schedule.admission.tables import entries_json, show_entries, show_marks

if TYPE_CHECKING:
    from scheduling_core.admission.attempts import Workload
    from scheduling_core.admission.book import Entry
    from scheduling_core.admission.schedule import Limits, Schedule
    from scheduling_core.admission.search import Goal, SearchResult

GOALS = (
    "ram-peak", "cpu-peak", "disk-peak", "slots-peak", "parked-peak", "requests-peak", "images-peak",
    "images-hours",
)  # fmt: skip


def goal_of(name: str) -> "Goal":
    """The goal that a command line names."""
    from scheduling_core.admission.search import Goal, Measure, Resource

    resource, _, measure = name.rpartition("-")
    return Goal(Resource(resource), Measure(measure))


def asked(
    goal: str, policy: str, limits: "Limits", seed: int, budget: int, chains: int, **more: Any
) -> dict[str, Any]:
    """A search's parameters as its request keeps them: all that its result follows from."""
    return {
        "goal": goal, "policy": policy, "limits": asdict(limits), "seed": seed, "budget": budget,
        "chains": chains, **more,
    }  # fmt: skip


def begin_run(
    runs: Path, name: str, command: str, parameters: Mapping[str, Any], inputs: list[dict[str, Any]],
    historical: bool, workload: "Workload",
) -> Path:  # fmt: skip
    """A new run's folder with the request and the workload in it."""
    from catalog.run_folders import begin
    from catalog.schedule_runs import WORKLOAD
    from scheduling_core.admission.formats import write_workload

    described = {**parameters, "workload": workload.name, "workload_sha256": workload.sha256}
    mark = "historical" if historical else "canonical"
    folder = begin(runs, name, command, described, inputs, mark)
    write_workload(workload, folder / WORKLOAD)
    return folder


@contextmanager
def or_nothing(folder: Path) -> Iterator[None]:
    """What is refused leaves no folder behind; a search that was saved stays, to be gone on with."""
    try:
        yield
    except Exception:
        if not any((folder / "checkpoints").glob("*.json")):
            shutil.rmtree(folder, ignore_errors=True)
        raise


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """One process at a time in a run's folder; the lock goes with the process, however that ends."""
    with (folder / "request.json").open("rb") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Refused(f"another process is at work on {folder}; wait for it, or end it") from None
        yield


def tell_if_plain() -> None:
    """A line on standard error where the search runs uncompiled: the same result, much later."""
    from scheduling_core.admission.kernels import moves
    from scheduling_core.compiled import is_compiled

    if not is_compiled(moves):
        note("numba isn't installed, so the search runs as plain Python, about a hundred times slower; "
             "the extra `fast` brings it (pip install 'proofshelf[fast]')")  # fmt: skip


def do_search(
    folder: Path, workload: "Workload", parameters: Mapping[str, Any], workers: int,
    seconds: float | None, memory: int | None, as_json: bool,
) -> int:  # fmt: skip
    """Search, or go on, in a run's folder; then write what came of it. 130 where it was interrupted."""
    with alone(folder):
        return _do_search(folder, workload, parameters, workers, seconds, memory, as_json)


def _do_search(
    folder: Path, workload: "Workload", parameters: Mapping[str, Any], workers: int,
    seconds: float | None, memory: int | None, as_json: bool,
) -> int:  # fmt: skip
    from scheduling_core.admission.replay import fifo
    from scheduling_core.admission.schedule import Limits, Policy, schedule_of
    from scheduling_core.admission.search import search
    from scheduling_core.admission.search.problem import problem_of

    tell_if_plain()
    limits, policy = Limits(**parameters["limits"]), Policy(parameters["policy"])
    problem = problem_of(workload, goal_of(parameters["goal"]), policy, limits)
    begin = parameters.get("begin")
    with progress("Searching") as step:

        def told(candidates: int, budget: int) -> None:
            if step is not None:
                step(f"{candidates:,} schedules", candidates, budget)

        result = search(
            problem, seed=parameters["seed"], budget=parameters["budget"], chains=parameters["chains"],
            workers=workers, seconds=seconds, memory_mb=memory, checkpoints=folder / "checkpoints",
            begin=None if begin is None else {begin["name"]: begin["starts"]}, progress=told,
        )  # fmt: skip
    if result.stopped == "interrupted":
        raise Stopped(
            f"stopped after {result.candidates:,} schedules; `proofshelf schedule admission resume {folder}` "
            "goes on"
        )
    first = {"fifo": fifo(workload, Limits(limits.slots), policy)}
    if begin is not None:
        first = {"begun from": schedule_of(workload, begin["starts"], policy, limits, method="given")}
    finish(folder, workload, {**first, "found": result.schedule}, result, parameters, as_json)
    return 0


def finish(
    folder: Path, workload: "Workload", schedules: Mapping[str, "Schedule"], result: "SearchResult",
    parameters: Mapping[str, Any], as_json: bool,
) -> None:  # fmt: skip
    """Judge the schedules, write the run and tell what came of it."""
    from scheduling_core.admission.book import book
    from scheduling_core.admission.charts import curve_chart

    entries = book(workload, schedules)
    chains = {f"{c.number}: {c.priority}": [(n, float(v)) for n, v in c.curve] for c in result.chains}
    charts = {
        **entry_charts(entries, parameters, result.bound.value),
        "search": curve_chart(chains, f"{parameters['goal']}, in units of the search"),
    }
    told = {
        "goal": parameters["goal"], "value": result.value, "first": result.first,
        "bound": result.bound.value, "bound_by": result.bound.by, "proved_optimal": result.proved,
        "gap": result.gap, "candidates": result.candidates, "stopped": result.stopped,
        "begun_from": [c.priority for c in result.chains], "skipped": list(result.skipped),
        "chains": [asdict(c) for c in result.chains], "synthetic": workload.synthetic,
    }  # fmt: skip
    write_run(folder, entries, told, charts)
    if as_json:
        print_json({"run": folder, "result": told, "schedules": entries_json(entries)})
        return
    say(f"{workload.name}: {len(workload):,} attempts", style="bold")
    show_entries(entries)
    gap = "" if result.gap is None else f", {100 * result.gap:.1f} % above it"
    proof = "it is the bound, so none is lower" if result.proved else f"the bound is not reached{gap}"
    say(f"Lowest {parameters['goal']} found among {result.candidates:,} complete schedules; {proof} "
        f"(bound by {result.bound.by}).", indent=2)  # fmt: skip
    if result.stopped == "time":
        say("The time limit ended the search before its budget; another run may end elsewhere.", indent=2)
    show_marks(entries)
    say(f"Wrote {folder}")


def write_run(
    folder: Path, entries: "tuple[Entry, ...]", result: Mapping[str, Any], charts: Mapping[str, Any]
) -> None:
    """A run's end: schedules, the table of them, what was found, charts."""
    from catalog.schedule_runs import end

    integers = {entry.name: entry.metrics.integers() for entry in entries}
    end(
        folder, {**result, "integers": integers},
        [(entry.name, entry.schedule.row()) for entry in entries], [entry.row() for entry in entries], charts,
    )  # fmt: skip


def entry_charts(
    entries: "tuple[Entry, ...]", parameters: Mapping[str, Any], bound: int | None
) -> dict[str, Any]:
    """The charts that every run of schedules has: all figures, and the profile of what was asked."""
    from scheduling_core.admission.charts import UNITS, profile_chart, schedules_chart

    resource, _, measure = parameters.get("goal", "ram-peak").rpartition("-")
    deadline = parameters["limits"].get("deadline")
    charts = {"schedules": schedules_chart(entries, entries[0])}
    for name in dict.fromkeys([resource, "slots", "ram", "images"]):
        if name in UNITS:
            shown = bound if name == resource and measure == "peak" else None
            charts[f"{name}-over-time"] = profile_chart(entries, name, shown, deadline)
    return charts
