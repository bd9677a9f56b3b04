"""How commands read a trace, and what they tell of it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from catalog.commands.output import note

if TYPE_CHECKING:
    from scheduling_core.queueing.formats import Import
    from scheduling_core.queueing.jobs import Trace

F = TypeVar("F", bound=Callable[..., Any])

MANY_NOTES = 5


def trace_options(function: F) -> F:
    """TRACE, and how it is to be read."""
    for option in reversed((
        click.argument("trace", type=click.Path(path_type=Path)),
        click.option("--skip-bad", is_flag=True,
                     help="Set bad records aside, count them, and go on; else the first ends it."),
        click.option("--muri-run-time", is_flag=True,
                     help="Of a Muri trace: what Muri's simulator runs, not the column `duration`."),
        click.option("--throughputs", type=click.Path(path_type=Path), metavar="FILE",
                     help="For a Gavel trace: its rates, such as Gavel's simulation_throughputs.json."),
    )):  # fmt: skip
        function = option(function)
    return function


def read(path: Path, skip_bad: bool, muri_run_time: bool, throughputs: Path | None) -> "Import":
    """The trace of a file; what was set aside is told on standard error."""
    from scheduling_core.queueing.formats import read_trace

    found = read_trace(path, skip_bad=skip_bad, muri_run_time=muri_run_time, throughputs=throughputs)
    for rejected in found.rejected[:MANY_NOTES]:
        note(rejected.reason)
    if len(found.rejected) > MANY_NOTES:
        note(f"and {len(found.rejected) - MANY_NOTES:,} more")
    return found


def described(trace: "Trace") -> dict[str, Any]:
    """What a trace is, as plain values; times in seconds, None where there is nothing to be told of."""
    hours = 3600
    lengths = sorted(job.duration for job in trace.jobs)
    gangs = [job.gpus for job in trace.jobs]
    n = len(lengths)
    return {
        "name": trace.name, "sha256": trace.sha256, "synthetic": trace.synthetic, "jobs": n,
        "deadline_jobs": sum(job.deadline is not None for job in trace.jobs),
        "tick_seconds": str(trace.tick), "duration_means": trace.duration_means,
        "gpu_hours": float(trace.seconds(trace.gpu_ticks) / hours),
        "span_hours": float(trace.seconds(trace.span) / hours),
        "gang_min": min(gangs), "gang_max": max(gangs),
        "duration_median_s": float(trace.seconds(lengths[(n - 1) // 2] + lengths[n // 2]) / 2),
        "duration_max_s": float(trace.seconds(lengths[-1])),
        "gpus_asked_mean": load(trace, 1),
    }  # fmt: skip


def load(trace: "Trace", gpus: int) -> float | None:
    """GPU time asked for over GPU time there; None where all jobs are submitted at once."""
    return float(trace.offered_load(gpus)) if trace.span else None


def rejected_json(found: "Import") -> list[Mapping[str, str]]:
    """What was set aside, each with its reason, for `--json`."""
    return [{"where": r.where, "reason": r.reason} for r in found.rejected]
