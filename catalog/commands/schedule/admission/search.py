"""`proofshelf schedule admission search`."""

from pathlib import Path

import click

from catalog.commands.options import json_option
from catalog.commands.schedule.admission.searching import GOALS, asked, begin_run, do_search, or_nothing
from catalog.commands.schedule.admission.workloads import (
    choice_options,
    chosen,
    inputs_of,
    limit_options,
    limits_of,
    read,
    run_options,
    workload_options,
)


@click.command("search")
@workload_options
@choice_options
@limit_options
@click.option("--goal", type=click.Choice(GOALS), default=GOALS[0], show_default=True,
              help="What is to be as low as can be.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=1, show_default=True,
              help="Of what is drawn.")  # fmt: skip
@click.option("--budget", type=click.IntRange(1), default=20_000_000, show_default=True,
              help="Complete schedules to look at, over all chains.")  # fmt: skip
@click.option("--chains", type=click.IntRange(1, 64), default=4, show_default=True,
              help="Searches side by side, from several priorities.")  # fmt: skip
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True,
              help="Processes; the result is the same with any number.")  # fmt: skip
@click.option("--seconds", type=click.FloatRange(0, min_open=True),
              help="Stop earlier, and say so.")  # fmt: skip
@click.option(
    "--memory", type=click.IntRange(1), metavar="MB", help="Refuse where more is to be expected; an estimate."
)
@run_options
@json_option
def command(
    path: Path, tasks: Path | None, assumed: tuple[str, ...], first: int | None, stratum: str, slots: int,
    policy: str, deadline: float | None, caps: tuple[str, ...], goal: str, seed: int, budget: int,
    chains: int, workers: int, seconds: float | None, memory: int | None, runs: Path, historical: bool,
    as_json: bool,
) -> int:  # fmt: skip
    """Search for starts that take least of one resource.

    No attempt ends after the deadline, and no more run at once than there are slots; starts may be delayed
    on purpose. The same seed and budget give the same bytes. Ctrl-C or a kill loses at most the last
    seconds: `resume` goes on and ends as if nothing had happened. What is proved to be lowest is called so.

    \b
    Examples:
      proofshelf schedule admission search attempts.jsonl --slots 4 --budget 200000
      proofshelf schedule admission search attempts.jsonl --slots 4 --goal slots-peak --policy W \\
        --budget 200000
    """
    found = read(path, tasks, assumed)
    workload = chosen(found, first, stratum)
    limits = limits_of(workload, slots, deadline, caps)
    parameters = asked(goal, policy, limits, seed, budget, chains, first=first, stratum=stratum)
    folder = begin_run(runs, f"search-{goal}", "search", parameters, inputs_of(found), historical, workload)
    with or_nothing(folder):
        return do_search(folder, workload, parameters, workers, seconds, memory, as_json)
