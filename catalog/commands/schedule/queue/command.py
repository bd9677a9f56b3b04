"""The command `proofshelf schedule queue`."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from catalog.commands.errors import Refused
from catalog.commands.options import json_option
from catalog.commands.output import print_json, progress, say
from catalog.commands.schedule.admission.workloads import run_options, sha256_of
from catalog.commands.schedule.queue.asked import (
    cluster_of,
    cluster_options,
    deadline_options,
    deadlines_of,
    restart_of,
    restart_words,
)
from catalog.commands.schedule.queue.policies import chosen
from catalog.commands.schedule.traces.reading import read, trace_options

if TYPE_CHECKING:
    from scheduling_core.queueing.book import Entry
    from scheduling_core.queueing.cells import Cell

INCOMPLETE = 4


class Rejected(click.ClickException):
    """The independent checker doesn't accept a log of decisions, so nothing is told of the run."""

    exit_code = 3


@click.command("queue")
@trace_options
@click.option("--policy", "policies", multiple=True, required=True, metavar="NAME[:OPTION=VALUE...]",
              help="Repeatable, as las2d:limits=325,720 or tias_like:margin=2.")  # fmt: skip
@cluster_options
@deadline_options
@click.option("--samples", type=click.Path(path_type=Path), metavar="FILE",
              help="For gittins2d: services of earlier jobs in GPU seconds, one a line.")  # fmt: skip
@click.option("--jobs", "workers", type=click.IntRange(1, 64), default=1, show_default=True,
              help="Processes; the result is the same with any number.")  # fmt: skip
@click.option("--dask", metavar="ADDRESS", help="Run on the workers of a Dask scheduler instead.")
@run_options
@json_option
def command(
    trace: Path, skip_bad: bool, muri_run_time: bool, throughputs: Path | None, policies: tuple[str, ...],
    gpus: int | None, cluster: str | None, load: Fraction | None, placement: str, restart: Fraction | None,
    restart_gang: bool, deadlines: str | None, share: Fraction | None, seed: int | None,
    samples: Path | None, workers: int, dask: str | None, runs: Path, historical: bool, as_json: bool,
) -> int:  # fmt: skip
    """Run a trace of GPU jobs under queue-based policies.

    TRACE is a file in any format that `schedule traces read` knows. Policies are compared in one table; those
    that read durations are oracles and stand apart. Nothing is told before an independent checker has
    accepted each log of decisions: exit code 3 where it rejects one, 4 where a policy gave no outcome. An
    unknown policy is answered with the known ones; `docs/queueing.md` explains each, and how to add one.

    \b
    Examples:
      proofshelf schedule queue made.csv --gpus 16 --policy fifo --policy las2d --policy srtf
      proofshelf schedule queue made.csv --cluster 4x4 --placement consolidated --restart-gang \\
        --deadlines loose --policy edf --policy tias_like --policy tias_like:margin=0.5
    """
    from catalog import queue_runs
    from catalog.commands.schedule.queue import results
    from catalog.commands.schedule.queue.tables import show
    from catalog.run_folders import begin
    from scheduling_core.queueing.cells import Cell
    from scheduling_core.queueing.formats import write_trace

    if dask is not None and workers > 1:
        raise Refused("--jobs and --dask: expected one of them")
    asked = chosen(policies, samples)
    drawn = deadlines_of(deadlines, share, seed)
    found = read(trace, skip_bad, muri_run_time, throughputs)
    jobs = found.trace if drawn is None else drawn.of(found.trace)
    machines = cluster_of(jobs, gpus, cluster, load, placement)
    cost, cost_words = restart_of(restart, restart_gang), restart_words(restart, restart_gang)
    parameters = {
        "trace": jobs.name, "trace_sha256": jobs.sha256, "format": found.format, "skip_bad": skip_bad,
        "muri_run_time": muri_run_time, "cluster": results.cluster_row(machines), "restart": cost_words,
        "deadlines": None if drawn is None else drawn.row(),
        "policies": [{"name": each.name, "options": each.plain_options()} for each in asked],
    }  # fmt: skip
    inputs = [{"path": str(trace), "sha256": found.sha256}]
    inputs += [{"path": str(path), "sha256": sha256_of(path)} for path in (throughputs, samples) if path]
    cells = [Cell(jobs, machines, each.name, each.options, cost) for each in asked]
    mark = "historical" if historical else "canonical"
    folder = begin(runs, "queue", queue_runs.COMMAND, parameters, inputs, mark)
    with _whole_or_nothing(folder):
        entries = _judged(cells, workers, dask)
        result = results.result_of(found, jobs, machines, cost_words, asked, entries)
        records = {
            name: (results.job_rows(entry.outcome), entry.log)
            for name, entry in zip(results.folders(asked), entries, strict=True)
            if entry.outcome is not None
        }
        queue_runs.end(
            folder, write_trace(jobs), result, results.comparison_rows(result), records,
            results.charts_of(asked, entries),
        )  # fmt: skip
    if as_json:
        print_json({"run": folder, **result})
    else:
        show(result)
        say(f"Wrote {folder}")
    return INCOMPLETE if any(entry.error for entry in entries) else 0


def _judged(cells: "list[Cell]", workers: int, dask: str | None) -> "list[Entry]":
    """Every policy's outcome, accepted by the checker."""
    from scheduling_core.queueing.book import RejectedLog, book

    with progress("Simulating") as step:

        def told(ended: int, total: int) -> None:
            if step is not None:
                step(f"{len(cells)} policies", ended, total)

        try:
            entries = book(cells, jobs=workers, dask=dask, on_progress=told)
        except RejectedLog as error:
            raise Rejected(str(error)) from error
    ran = [entry.outcome for entry in entries if entry.outcome is not None]
    if not ran:
        raise Refused(str(entries[0].error))
    if not len(ran[0].trace):
        raise Refused(f"no job can run here: {next(iter(ran[0].refused.values()))}")
    return entries


@contextmanager
def _whole_or_nothing(folder: Path) -> Iterator[None]:
    """What is refused, rejected or stopped leaves no folder behind."""
    try:
        yield
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
