"""`proofshelf schedule admission experiment`."""

import importlib
import inspect
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from catalog.commands.errors import Refused
from catalog.commands.options import json_option
from catalog.commands.output import note, print_json, say
from catalog.commands.schedule.admission.searching import begin_run, or_nothing, tell_if_plain, write_run
from catalog.commands.schedule.admission.tables import entries_json, show_rows
from catalog.commands.schedule.admission.workloads import (
    choice_options,
    chosen,
    inputs_of,
    limit_options,
    limits_of,
    read,
    run_options,
    sha256_of,
    workload_options,
)

EXPERIMENTS = (
    "baselines", "predictions", "suspension", "measured", "utilisation", "service", "joint",
)  # fmt: skip
BOTH_STRATA = ("suspension", "measured")
FROM_A_FILE = ("measured", "utilisation")
PLACES = "scheduling_core.admission.experiments"


@click.command("experiment")
@click.argument("name", metavar="EXPERIMENT", type=click.Choice(EXPERIMENTS))
@workload_options
@choice_options
@limit_options
@click.option("--table", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE",
              help="Of measured costs, or of CPU and RSS samples, where they are needed.")  # fmt: skip
@click.option("--param", "given", multiple=True, metavar="NAME=NUMBER",
              help="A parameter of the experiment, such as budget; repeatable.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=1, show_default=True,
              help="Of what is drawn.")  # fmt: skip
@run_options
@json_option
def command(
    name: str, path: Path, tasks: Path | None, assumed: tuple[str, ...], first: int | None, stratum: str,
    slots: int, policy: str, deadline: float | None, caps: tuple[str, ...], table: Path | None,
    given: tuple[str, ...], seed: int, runs: Path, historical: bool, as_json: bool,
) -> None:  # fmt: skip
    """Run an experiment on attempts: a table and charts.

    baselines: reactive policies, and a search beside the best of them. predictions: how they fare on noisy
    durations. suspension: what offloading RAM saves at a cost. measured: the same with measured costs.
    utilisation: what was used beside what was reserved. service: response times of the shared service.
    joint: a front over whole schedules.

    \b
    Examples:
      proofshelf schedule admission experiment suspension attempts.jsonl --slots 4
      proofshelf schedule admission experiment baselines attempts.jsonl --slots 4 --param budget=100000
    """
    from scheduling_core.admission.book import book
    from scheduling_core.admission.schedule import Policy

    module = importlib.import_module(f"{PLACES}.{name}")
    accepted = inspect.signature(module.run).parameters
    parameters = _parameters(name, given, accepted)
    if (table is not None) != (name in FROM_A_FILE):
        raise Refused(
            f"{name} needs a table, --table FILE" if name in FROM_A_FILE else f"{name} takes no --table"
        )
    if name in BOTH_STRATA and stratum != "as_logged":
        raise Refused(f"{name} tells both strata in one table; leave --stratum out")
    found = read(path, tasks, assumed)
    workload = chosen(found, first, stratum)
    limits = limits_of(workload, slots, deadline, caps, fallback=False)
    inputs = inputs_of(found)
    beside = []
    if table is not None:
        beside = [_read_table(name, table, workload)]
        inputs.append({"path": str(table), "sha256": sha256_of(table)})
    asked = {
        "experiment": name, "policy": policy, "limits": asdict(limits), "seed": seed,
        "parameters": parameters, "first": first, "stratum": stratum,
    }  # fmt: skip
    folder = begin_run(runs, name, "experiment", asked, inputs, historical, workload)
    tell_if_plain()
    under = {"policy": Policy(policy)} if "policy" in accepted else {}
    with or_nothing(folder):
        outcome = module.run(workload, limits, *beside, seed=seed, **parameters, **under)
    entries = book(workload, outcome.schedules)
    result = {
        "experiment": outcome.name, "title": outcome.title, "parameters": _plain(outcome.parameters),
        "columns": list(outcome.columns), "rows": [list(row) for row in outcome.rows],
        "assumed": list(outcome.assumed), "synthetic": workload.synthetic,
    }  # fmt: skip
    write_run(folder, entries, result, dict(outcome.charts))
    if as_json:
        print_json({"run": folder, "result": result, "schedules": entries_json(entries)})
        return
    say(f"{outcome.title} ({len(workload):,} attempts)", style="bold")
    show_rows(outcome.columns, outcome.rows)
    for sentence in outcome.assumed:
        say(sentence, indent=2)
    say(f"Wrote {folder}")


def _parameters(name: str, given: tuple[str, ...], accepted: Any) -> dict[str, int]:
    numbers = {
        n for n, p in accepted.items()
        if p.kind is p.KEYWORD_ONLY and n != "seed" and str(p.annotation) in ("int", "int | None")
    }  # fmt: skip
    found = {}
    for text in given:
        key, equals, value = text.partition("=")
        if key not in numbers or not equals or not value.isdigit():
            raise Refused(
                f"--param {text}: expected one of {', '.join(sorted(numbers))}, then = and a whole number"
            )
        found[key] = int(value)
    return found


def _read_table(name: str, table: Path, workload: Any) -> Any:
    if name == "measured":
        from scheduling_core.admission.experiments.measured import read_measurements

        found = read_measurements(table)
        for rejected in found.rejected:
            note(rejected.reason)
        return found.cost
    from scheduling_core.admission.experiments.samples import read_samples

    samples = read_samples(table, workload)
    for rejected in samples.rejected:
        note(rejected.reason)
    return samples


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return value if isinstance(value, int | float | str | None) else str(value)
