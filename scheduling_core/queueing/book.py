"""Simulations side by side, each judged by the independent checker before anything of it is told.

The checker is handed the log of decisions as text, and jobs, nodes and restarts as plain rows. It must find
nothing wrong, and come to the same times of every job and the same figures as the simulator.
"""

from __future__ import annotations

import hashlib
import traceback
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.cells import Cell, code_sha256, expect_code
from scheduling_core.queueing.check import JobTimes, Report, check
from scheduling_core.queueing.metrics import Metrics, metrics
from scheduling_core.queueing.outcome import Outcome
from scheduling_core.queueing.policies import policy
from scheduling_core.queueing.simulator import simulate
from scheduling_core.queueing.sweeps import spread

DERIVED = {
    "jct_mean": "mean_jct", "first_wait_mean": "mean_first_wait", "queueing_mean": "mean_queueing",
    "non_deadline_jct_mean": "other_mean_jct", "deadline_miss_rate": "miss_rate", "makespan": "makespan",
    "utilisation": "utilisation", "restart_time": "paid", "preemptions": "preemptions",
    "restarts": "restarts",
}  # fmt: skip
"""Metrics that the checker derives too, by what it calls them. The others follow from the times of the jobs,
but for fragmentation, which is the simulator's alone."""

Progress = Callable[[int, int], None]


class RejectedLog(SchedulingError):
    """The checker found something wrong with a log of decisions, or came to something else."""


@dataclass(frozen=True)
class Entry:
    """One cell and what came of it.

    log : decisions.csv, as the checker accepted it. error : why the policy gave no outcome, in a sentence;
    then there is nothing else.
    """

    cell: Cell
    outcome: Outcome | None = None
    log: str = ""
    error: str | None = None

    @cached_property
    def metrics(self) -> Metrics | None:
        """Every figure; None without an outcome."""
        return None if self.outcome is None else metrics(self.outcome)

    @property
    def log_sha256(self) -> str:
        """Of the log's bytes."""
        return hashlib.sha256(self.log.encode()).hexdigest()


def book(
    cells: Sequence[Cell], *, jobs: int = 1, dask: str | None = None, on_progress: Progress | None = None
) -> list[Entry]:
    """Every cell simulated and judged, in their order; the same with any number of processes.

    jobs : processes on this machine, -1 for one on each core. dask : the address of a Dask scheduler, on
    whose workers the cells run instead. on_progress : called with (ended, all), jobs of all cells together.

    Raises
    ------
    RejectedLog : where the checker doesn't accept a log, or comes to other times or figures.
    SchedulingError : for a policy or options that there aren't, a Dask cluster that isn't there, a worker
        that was ended from outside. What goes wrong in a simulation is in its entry.
    """
    total = sum(len(cell.trace) for cell in cells)
    if dask is None and jobs == 1:
        entries, before = [], 0
        for cell in cells:
            entries.append(judge(cell, _later(on_progress, before, total)))
            before += len(cell.trace)
        return entries
    found: dict[int, Entry] = {}
    tasks = [(number, cell, code_sha256()) for number, cell in enumerate(cells)]
    with closing(spread(_judge_there, tasks, jobs=jobs, dask=dask)) as results:
        for number, entry in results:
            found[number] = entry
            if on_progress is not None:
                on_progress(sum(len(cells[k].trace) for k in found), total)
    return [found[number] for number in range(len(cells))]


def judge(cell: Cell, on_progress: Progress | None = None) -> Entry:
    """Simulate one cell and have the checker judge its log; see `book`."""
    made = policy(cell.policy, **cell.options)
    try:
        outcome = simulate(
            cell.trace, cell.cluster, made, cell.restart, decisions=True, series=True, on_progress=on_progress
        )
    except SchedulingError as error:
        return Entry(cell, error=str(error))
    except Exception as error:  # noqa: BLE001 - a policy may be anybody's code
        return Entry(cell, error=f"{cell.policy} failed: {type(error).__name__}: {error} ({_where(error)}).")
    assert outcome.decisions is not None
    log = outcome.decisions.text([job.id for job in outcome.trace.jobs])
    # What a policy keeps of a simulation is its own, and may be nothing that another process can be sent.
    entry = Entry(cell, replace(outcome, policy=policy(cell.policy, **cell.options)), log)
    _expect_agreement(entry, checked(cell, outcome, log))
    return entry


def checked(cell: Cell, outcome: Outcome, log: str) -> Report:
    """What the checker says of a log, being told only what the simulator was given, in ticks of the log."""
    parts = cell.trace.tick / outcome.unit
    rows = [
        {
            name: value * parts.numerator if name in ("submit", "duration", "deadline") else value
            for name, value in job.row.items()
        }
        for job in cell.trace.jobs
    ]
    restarts = {job.id: int(cell.restart.seconds(job) / outcome.unit) for job in cell.trace.jobs}
    nodes = [(node.gpus, node.gpu_type) for node in cell.cluster.nodes]
    placement = cell.cluster.placement.value
    return check(log, rows, nodes, placement, unit=outcome.unit, restarts=restarts)


def _expect_agreement(entry: Entry, report: Report) -> None:
    name = entry.cell.policy
    if not report.ok:
        n = len(report.findings)
        reasons = "" if n == 1 else f" for {n:,} reasons, the first"
        raise RejectedLog(
            f"The checker rejects the log of decisions of {name}{reasons}: {report.findings[0].sentence}"
        )
    outcome, figures = entry.outcome, entry.metrics
    assert outcome is not None
    assert figures is not None
    if set(report.refused) != set(outcome.refused):
        raise RejectedLog(f"The checker refuses other jobs than the simulator did under {name}.")
    for number, times in enumerate(report.jobs):
        if (ours := _times(outcome, number)) != times:
            raise RejectedLog(
                f"The checker comes to other times of job {times.id} under {name}: {times}, where the "
                f"simulator has {ours}."
            )
    for ours_named, theirs in DERIVED.items() if report.jobs else ():
        derived, told = getattr(report.figures, theirs), figures.value(ours_named)
        if derived != told:
            raise RejectedLog(
                f"The checker comes to {derived} as {ours_named} of {name}, the simulator to {told}."
            )


def _times(outcome: Outcome, number: int) -> JobTimes:
    job = outcome.trace.jobs[number]
    deadline = None if job.deadline is None else int(outcome.deadline[number])
    return JobTimes(
        job.id, int(outcome.submit[number]), job.gpus, deadline, int(outcome.first_start[number]),
        int(outcome.end[number]), int(outcome.executed[number]), int(outcome.paid[number]),
        int(outcome.preemptions[number]), int(outcome.restarts[number]),
    )  # fmt: skip


def _judge_there(number: int, cell: Cell, code: str) -> tuple[int, Entry]:
    """In another process, which must have the same code."""
    expect_code(code)
    return number, judge(cell)


def _later(on_progress: Progress | None, before: int, total: int) -> Progress | None:
    """The progress of one cell as that of all."""
    if on_progress is None:
        return None
    return lambda ended, _: on_progress(before + ended, total)


def _where(error: Exception) -> str:
    """The line that failed."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{Path(frame.filename).name}, line {frame.lineno}"
