"""`proofshelf schedule admission front`."""

from pathlib import Path

import click

from catalog.commands.errors import Refused
from catalog.commands.options import json_option
from catalog.commands.output import print_json, progress, say
from catalog.commands.schedule.admission.searching import (
    GOALS,
    asked,
    begin_run,
    entry_charts,
    goal_of,
    or_nothing,
    tell_if_plain,
    write_run,
)
from catalog.commands.schedule.admission.tables import entries_json, show_entries, show_marks
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


@click.command("front")
@workload_options
@choice_options
@limit_options
@click.option("--goal", "goals", type=click.Choice(GOALS), multiple=True,
              default=("ram-peak", "images-hours"), show_default=True,
              help="What is to be low; two or more.")  # fmt: skip
@click.option("--weight", "weights", multiple=True, metavar="GOAL=NUMBER",
              help="What a goal counts for in the choice of one schedule; else 1.")  # fmt: skip
@click.option("--levels", type=click.IntRange(2, 20), default=5, show_default=True,
              help="Caps to try for each goal but the last.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=1, show_default=True,
              help="Of what is drawn.")  # fmt: skip
@click.option("--budget", type=click.IntRange(1), default=40_000_000, show_default=True,
              help="Complete schedules to look at.")  # fmt: skip
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True,
              help="Processes; the result is the same with any number.")  # fmt: skip
@run_options
@json_option
def command(
    path: Path, tasks: Path | None, assumed: tuple[str, ...], first: int | None, stratum: str, slots: int,
    policy: str, deadline: float | None, caps: tuple[str, ...], goals: tuple[str, ...],
    weights: tuple[str, ...], levels: int, seed: int, budget: int, workers: int, runs: Path,
    historical: bool, as_json: bool,
) -> None:  # fmt: skip
    """Find whole schedules that are low in several goals.

    None in the front is worse than another in all goals. Every row of joint_schedules.csv is one complete
    schedule: minima of different rows can't be had together.

    \b
    Examples:
      proofshelf schedule admission front attempts.jsonl --slots 4 --levels 2 --budget 200000
    """
    from scheduling_core.admission.book import book
    from scheduling_core.admission.experiments.joint import front_chart
    from scheduling_core.admission.schedule import Policy
    from scheduling_core.admission.search.front import front

    wanted = {name: goal_of(name) for name in goals}
    counted = {wanted[name]: weight for name, weight in _weights(weights, goals).items()}
    found = read(path, tasks, assumed)
    workload = chosen(found, first, stratum)
    limits = limits_of(workload, slots, deadline, caps)
    parameters = asked(
        goals[0], policy, limits, seed, budget, 0, goals=list(goals), weights=_weights(weights, goals),
        levels=levels, first=first, stratum=stratum,
    )  # fmt: skip
    folder = begin_run(runs, "front", "front", parameters, inputs_of(found), historical, workload)
    tell_if_plain()
    with or_nothing(folder), progress("Searching") as step:

        def told(candidates: int, total: int) -> None:
            if step is not None:
                step(f"{candidates:,} schedules", candidates, total)

        made = front(
            workload, list(wanted.values()), Policy(policy), limits, seed=seed, budget=budget, levels=levels,
            workers=workers, progress=told,
        )  # fmt: skip
    entries = book(workload, {point.name: point.schedule for point in made.points})
    best = {point.name for point in made.best}
    choice = made.weighted(counted).name
    result = {
        "goals": list(goals), "hypervolume": made.hypervolume, "candidates": made.candidates,
        "reference": list(made.reference), "front": [p.name for p in made.best], "chosen": choice,
        "weights": _weights(weights, goals), "unmet": list(made.unmet), "stopped": made.stopped,
        "synthetic": workload.synthetic,
    }  # fmt: skip
    shown = tuple(e for e in entries if e.name in best or e.name == "fifo")
    shown = tuple(sorted(shown, key=lambda e: e.name != "fifo"))
    charts = {**entry_charts(shown, parameters, None), "front": front_chart(made, made.weighted(counted))}
    write_run(folder, entries, result, charts)
    if as_json:
        print_json({"run": folder, "result": result, "schedules": entries_json(entries)})
        return
    say(f"{workload.name}: {len(workload):,} attempts", style="bold")
    show_entries([e for e in entries if e.name in ("fifo", choice)])
    say(f"{len(best)} of {len(entries)} complete schedules are in the front; it dominates "
        f"{100 * made.hypervolume:.1f} % of the box below FIFO.", indent=2)  # fmt: skip
    say(f"By the weights: {choice}.", indent=2)
    for sentence in made.unmet:
        say(f"No schedule was found: {sentence}; whether there is one isn't known.", indent=2)
    if made.stopped == "interrupted":
        say("It was interrupted: fewer caps were tried than asked for.", indent=2)
    show_marks(entries)
    say(f"Wrote {folder}")


def _weights(given: tuple[str, ...], goals: tuple[str, ...]) -> dict[str, float]:
    found = dict.fromkeys(goals, 1.0)
    for text in given:
        name, equals, amount = text.partition("=")
        try:
            weight = float(amount)
        except ValueError:
            weight = -1.0
        if name not in goals or not equals or not 0 <= weight < 1e9:
            raise Refused(f"--weight {text}: expected one of {', '.join(goals)}, then = and a number from 0")
        found[name] = weight
    if not any(found.values()):
        raise Refused("--weight: all weights are 0, expected one above it")
    return found
