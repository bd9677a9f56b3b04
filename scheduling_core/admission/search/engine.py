"""A search: chains from several priorities, side by side or one after another, with the same result.

The budget is counted in candidates, each of which stands for one complete schedule, and divided among the
chains. Workers and interruptions change when a chain runs, never what it does.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

from scheduling_core.admission.attempts import canonical
from scheduling_core.admission.bounds import Bound
from scheduling_core.admission.metrics import Metrics, metrics
from scheduling_core.admission.schedule import Schedule, schedule_of
from scheduling_core.admission.search.chain import SLICE, Chain
from scheduling_core.admission.search.priorities import PRIORITIES, starts_by
from scheduling_core.admission.search.problem import Measure, Problem, Resource
from scheduling_core.errors import SchedulingError

CHECKPOINT_SECONDS = 2.0
"""How often a chain is saved at the most; the last slices before a kill may have to be done again."""
CHECKPOINT_FORMAT = 1
WORKER_MB = 350
"""What a process takes before its grids, numba's compiler among it: as seen, rounded up."""

Progress = Callable[[int, int], None]
"""Called with the candidates looked at so far and the budget."""


@dataclass(frozen=True)
class ChainReport:
    """How one chain went; value None: it found no schedule that keeps every limit.

    In units of the problem's profile. `curve` : (candidates of this chain, value) each time that it found
    better.
    """

    number: int
    priority: str
    candidates: int
    moves: int
    value: int | None
    curve: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class SearchResult:
    """The best complete schedule that was found, what it comes to, and how near that is to what can be.

    value and bound are in millicores, KiB, KiB x ticks or a number of attempts, as the goal has it. proved :
    the value is the bound, so no schedule beats it. stopped : "budget", "bound", "time" or "interrupted"; the
    last two looked at fewer candidates than asked for.
    """

    schedule: Schedule
    metrics: Metrics
    value: int
    bound: Bound
    first: int
    chains: tuple[ChainReport, ...]
    skipped: tuple[str, ...]
    stopped: str

    @property
    def proved(self) -> bool:
        """Whether no schedule can beat it."""
        return self.value == self.bound.value

    @property
    def gap(self) -> float | None:
        """(value - bound) / bound; None where the bound is 0."""
        return (self.value - self.bound.value) / self.bound.value if self.bound.value else None

    @property
    def candidates(self) -> int:
        """Complete schedules looked at, over all chains."""
        return sum(chain.candidates for chain in self.chains)


@dataclass(frozen=True)
class _Task:
    problem: Problem
    number: int
    priority: str
    starts: tuple[int, ...]
    seed: int
    budget: int
    floor: int
    deadline: float | None
    checkpoint: Path | None


def search(
    problem: Problem,
    *,
    seed: int,
    budget: int,
    chains: int = 4,
    workers: int = 1,
    seconds: float | None = None,
    memory_mb: int | None = None,
    checkpoints: Path | None = None,
    begin: Mapping[str, Sequence[int]] | None = None,
    progress: Progress | None = None,
) -> SearchResult:
    """The lowest that `budget` candidates find, by `chains` chains from the priorities in turn.

    begin : named starts (n,) to begin from instead of the priorities, each keeping deadline and slots.
    checkpoints : a folder; chains that are saved there go on from where they were. seconds : stops earlier,
    and the result says so. Ctrl-C ends in the best so far.

    Raises
    ------
    SchedulingError : where no priority keeps the deadline, memory_mb isn't enough, or a checkpoint is of
        another search.
    """
    if budget < 1 or chains < 1 or workers < 1:
        raise SchedulingError("Budget, chains and workers have to be at least 1.")
    _check_memory(problem, min(workers, chains), memory_mb)
    found, skipped = _beginnings(problem, begin)
    deadline = None if seconds is None else time.monotonic() + seconds
    floor = _floor(problem)
    tasks = []
    for number in range(chains):
        priority, starts = found[number % len(found)]
        share = budget // chains + (number < budget % chains)
        place = None if checkpoints is None else checkpoints / f"chain-{number}.json"
        tasks.append(
            _Task(problem, number, priority, starts, seed * 1_000 + number, share, floor, deadline, place)
        )
    if checkpoints is not None:
        checkpoints.mkdir(parents=True, exist_ok=True)
    run = _one_by_one if workers == 1 else _side_by_side
    ended, interrupted = run(tasks, workers, budget, progress)
    return _result(problem, seed, budget, found, skipped, ended, interrupted)


def _result(
    problem: Problem, seed: int, budget: int, found: Sequence[tuple[str, tuple[int, ...]]],
    skipped: tuple[str, ...], ended: Sequence[dict[str, Any]], interrupted: bool,
) -> SearchResult:  # fmt: skip
    reports = tuple(
        ChainReport(
            e["number"], e["priority"], e["candidates"], e["moves"], e["best"], tuple(map(tuple, e["curve"]))
        )
        for e in ended
    )
    schedules = [
        schedule_of(
            problem.workload, e["starts"], problem.policy, problem.limits, method="search",
            goal=str(problem.goal), seed=seed, budget=budget, chains=len(ended), chain=e["number"],
        )
        for e in ended if e["starts"] is not None
    ]  # fmt: skip
    if not schedules:
        raise SchedulingError(
            f"No schedule that keeps every limit was found among {sum(e['candidates'] for e in ended):,} "
            "candidates; whether there is one isn't known."
        )
    values = [problem.value(s.starts) for s in schedules]
    best = min(range(len(values)), key=lambda k: (values[k], k))
    figures = metrics(problem.workload, schedules[best])
    first = min(problem.value(starts) for _, starts in found)
    bound = problem.bound()
    reasons = {e["stopped"] for e in ended}
    # A chain that was cut short may have ended elsewhere, so that is told before what the others reached.
    stopped = "budget"
    if interrupted:
        stopped = "interrupted"
    elif "time" in reasons:
        stopped = "time"
    elif values[best] <= bound.value:
        stopped = "bound"
    return SearchResult(schedules[best], figures, values[best], bound, first, reports, skipped, stopped)


def value_of(problem: Problem, figures: Metrics) -> int:
    """What a schedule's metrics say of the problem's goal."""
    goal = problem.goal
    if goal.resource is Resource.IMAGES:
        return figures.images.kib_ticks if goal.measure is Measure.HOURS else figures.images.peak_kib
    if goal.resource is Resource.REQUESTS:
        return figures.service.peak_requests
    uses = {
        Resource.SLOTS: figures.slots, Resource.CPU: figures.cpu, Resource.RAM: figures.ram,
        Resource.DISK: figures.disk, Resource.PARKED: figures.parked,
    }  # fmt: skip
    return uses[goal.resource].peak


def _beginnings(
    problem: Problem, begin: Mapping[str, Sequence[int]] | None
) -> tuple[list[tuple[str, tuple[int, ...]]], tuple[str, ...]]:
    if begin is not None:
        return [(name, tuple(int(s) for s in starts)) for name, starts in begin.items()], ()
    found, skipped = [], []
    for name in PRIORITIES:
        starts = starts_by(name, problem.workload, problem.limits)
        if starts is None:
            skipped.append(name)
        else:
            found.append((name, tuple(starts)))
    if not found:
        raise SchedulingError(
            f"No priority ends by the deadline {problem.deadline} on {problem.limits.slots} slots, so there "
            "is nothing to begin from."
        )
    # The best first, and packed lanes before all where a peak is asked for: they leave the most slots free.
    packed = problem.goal.resource is not Resource.IMAGES
    scored = [
        (not (packed and name == "lanes"), problem.value(starts), k) for k, (name, starts) in enumerate(found)
    ]
    return [found[k] for _, _, k in sorted(scored)], tuple(skipped)


def _floor(problem: Problem) -> int:
    """The bound in the units in which a chain counts, rounded so that reaching it is a proof."""
    bound = problem.bound().value
    if problem.goal.resource is Resource.IMAGES:
        return 0
    profile = next(p for p in problem.profiles if p.resource is problem.goal.resource)
    return -(-bound // profile.unit) if profile.exact else 0


def _run(task: _Task, stop: Callable[[], bool], tell: Callable[[int], None]) -> dict[str, Any]:
    chain = Chain(task.problem, task.starts, task.seed)
    said = {"format": CHECKPOINT_FORMAT, "problem": task.problem.sha256, "seed": task.seed,
            "starts": list(task.starts)}  # fmt: skip
    if task.checkpoint is not None and task.checkpoint.exists():
        _resume(chain, task.checkpoint, said)
    saved = time.monotonic()
    stopped = "budget"
    while chain.candidates < task.budget:
        if chain.best is not None and chain.best.value <= task.floor:
            stopped = "bound"
            break
        if stop():
            stopped = "interrupted"
            break
        if task.deadline is not None and time.monotonic() >= task.deadline:
            stopped = "time"
            break
        chain.advance(min(SLICE, task.budget - chain.candidates))
        tell(chain.candidates)
        if task.checkpoint is not None and time.monotonic() - saved >= CHECKPOINT_SECONDS:
            _save(chain, task.checkpoint, said)
            saved = time.monotonic()
    if task.checkpoint is not None:
        _save(chain, task.checkpoint, said)
    return {
        "number": task.number, "priority": task.priority, "candidates": chain.candidates,
        "moves": chain.moves, "best": None if chain.best is None else chain.best.value,
        "starts": None if chain.best is None else list(chain.best.starts),
        "curve": chain.curve, "stopped": stopped,
    }  # fmt: skip


def _one_by_one(
    tasks: Sequence[_Task], _: int, budget: int, progress: Progress | None
) -> tuple[list[dict[str, Any]], bool]:
    ended: list[dict[str, Any]] = []
    done = 0
    asked = threading.Event()
    for task in tasks:

        def tell(candidates: int, before: int = done) -> None:
            if progress is not None:
                progress(before + candidates, budget)

        with _interrupts(asked):
            ended.append(_run(task, asked.is_set, tell))
        done += ended[-1]["candidates"]
    return ended, asked.is_set()


def _side_by_side(
    tasks: Sequence[_Task], workers: int, budget: int, progress: Progress | None
) -> tuple[list[dict[str, Any]], bool]:
    context = get_context("spawn")
    stop = context.Event()
    counts = context.Array("q", len(tasks))
    asked = threading.Event()
    with (
        _interrupts(asked),
        ProcessPoolExecutor(workers, context, initializer=_begin_worker, initargs=(stop, counts)) as pool,
    ):
        waiting = {pool.submit(_run_in_worker, task) for task in tasks}
        ended = []
        while waiting:
            done, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
            try:
                ended += [future.result() for future in done]
            except BrokenProcessPool as error:
                raise SchedulingError(
                    "A worker of the search was ended from outside, perhaps for want of memory; what was "
                    "saved stays."
                ) from error
            if asked.is_set():
                stop.set()
            if progress is not None:
                progress(sum(counts[:]), budget)
    return sorted(ended, key=lambda e: e["number"]), asked.is_set()


class _interrupts:
    """Within it, the first Ctrl-C asks for an end; a second one is a Ctrl-C. In other threads, nothing."""

    def __init__(self, asked: threading.Event) -> None:
        self.asked = asked
        self.before: Any = None

    def __enter__(self) -> None:
        import signal

        def ask(number: int, frame: Any) -> None:
            self.asked.set()
            signal.signal(signal.SIGINT, self.before)

        if threading.current_thread() is threading.main_thread():
            self.before = signal.signal(signal.SIGINT, ask)

    def __exit__(self, *_: object) -> None:
        import signal

        if self.before is not None:
            signal.signal(signal.SIGINT, self.before)


_stop: Event | None = None
_counts: Any = None


def _begin_worker(stop: Event, counts: Any) -> None:
    import signal

    global _stop, _counts
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    _stop, _counts = stop, counts
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A worker whose parent was killed has nobody to tell; what it saved is there to be gone on with."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _run_in_worker(task: _Task) -> dict[str, Any]:
    def tell(candidates: int) -> None:
        _counts[task.number] = candidates

    return _run(task, lambda: _stop is not None and _stop.is_set(), tell)


def _save(chain: Chain, path: Path, said: Mapping[str, Any]) -> None:
    building = path.with_suffix(".new")
    with building.open("w", encoding="utf-8") as file:
        file.write(canonical({**said, "state": chain.state()}))
        file.flush()
        os.fsync(file.fileno())
    os.replace(building, path)


def _resume(chain: Chain, path: Path, said: Mapping[str, Any]) -> None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        other = [name for name in said if found[name] != said[name]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SchedulingError(f"{path} is no checkpoint of a search: {error}.") from error
    if other:
        raise SchedulingError(
            f"{path} is a checkpoint of another search ({', '.join(other)} differ); name another folder, or "
            "remove it."
        )
    try:
        chain.resume(found["state"])
    except (KeyError, TypeError, ValueError, IndexError) as error:
        if isinstance(error, SchedulingError):
            raise
        raise SchedulingError(f"{path} is a damaged checkpoint ({error!r}); remove it.") from error


def _check_memory(problem: Problem, workers: int, memory_mb: int | None) -> None:
    arrays = 2 * (len(problem.profiles) + 1) + 2
    needed = workers * (arrays * problem.deadline * 8 / 1e6 + WORKER_MB)
    if memory_mb is not None and needed > memory_mb:
        raise SchedulingError(
            f"The search needs about {needed:.0f} MB on {workers} workers, over the limit of {memory_mb} MB; "
            "use fewer workers."
        )
