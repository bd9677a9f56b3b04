"""`proofshelf schedule admission refine`."""

from dataclasses import replace
from pathlib import Path

import click

from catalog.commands.errors import Refused
from catalog.commands.options import json_option
from catalog.commands.schedule.admission.searching import asked, begin_run, do_search, or_nothing
from catalog.commands.schedule.admission.workloads import run_options, sha256_of


@click.command("refine")
@click.argument("run", type=click.Path(path_type=Path, file_okay=False))
@click.option("--schedule", "name", default="found", show_default=True, help="Which one of the run's.")
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=1, show_default=True,
              help="Of what is drawn.")  # fmt: skip
@click.option("--budget", type=click.IntRange(1), default=20_000_000, show_default=True,
              help="Complete schedules to look at, over all chains.")  # fmt: skip
@click.option("--chains", type=click.IntRange(1, 64), default=2, show_default=True,
              help="Searches side by side.")  # fmt: skip
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True,
              help="Processes; the result is the same with any number.")  # fmt: skip
@run_options
@json_option
def command(
    run: Path, name: str, seed: int, budget: int, chains: int, workers: int, runs: Path, historical: bool,
    as_json: bool,
) -> int:  # fmt: skip
    """Lower a schedule's image hours, and raise no peak for it.

    Repeats of a task are brought together, up to simultaneous starts, so that their image is held once.
    No peak of slots, CPU or RAM rises above that of the schedule that it begins from, and nothing ends
    later than the deadline; waits may get longer.

    \b
    Examples:
      proofshelf schedule admission refine runs/first --budget 200000
    """
    from catalog.schedule_runs import SCHEDULES, WORKLOAD, read_run
    from scheduling_core.admission.formats import read_workload
    from scheduling_core.admission.metrics import metrics
    from scheduling_core.admission.schedule import schedule_from_row

    found = read_run(run)
    rows = {row["name"]: row for row in found.schedules}
    if name not in rows:
        raise Refused(f"{run} has no schedule {name!r}; it has {', '.join(rows)}")
    workload = read_workload(run / WORKLOAD).workload
    schedule = schedule_from_row(rows[name], f"{run / SCHEDULES}, {name}")
    figures = metrics(workload, schedule)
    limits = replace(
        schedule.limits, slots=min(schedule.limits.slots, figures.slots.peak),
        deadline=schedule.limits.deadline or figures.makespan,
        cpu_milli=figures.cpu.peak, ram_kib=figures.ram.peak,
    )  # fmt: skip
    begin = {"name": name, "starts": list(schedule.starts), "sha256": schedule.sha256}
    parameters = asked("images-hours", str(schedule.policy), limits, seed, budget, chains, begin=begin)
    inputs = [{"path": str(run / SCHEDULES), "sha256": sha256_of(run / SCHEDULES)}]
    folder = begin_run(runs, "refine", "refine", parameters, inputs, historical, workload)
    with or_nothing(folder):
        return do_search(folder, workload, parameters, workers, None, None, as_json)
