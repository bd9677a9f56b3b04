"""`proofshelf schedule admission census`."""

from pathlib import Path
from typing import Any

import click

from catalog.commands.options import json_option
from catalog.commands.output import Column, Table, print_json, say
from catalog.commands.schedule.admission.workloads import inputs_of, read, workload_options


@click.command("census")
@workload_options
@json_option
def command(path: Path, tasks: Path | None, assumed: tuple[str, ...], as_json: bool) -> None:
    """Count attempts: of which kind, and what is missing.

    PATH is a file or folder of logs (Harbor trials, TMax timing, ATIF, mini-swe-agent, SWE-agent, R2E-Gym,
    or the compact form), recognised by content. Each attempt has three labels: whether it has a score,
    whether its time is complete, and what ended it. A missing score is never 0: the mean over the scored
    stands beside the two that are often told and wrong.

    \b
    Examples:
      proofshelf schedule admission census attempts.jsonl
    """
    from scheduling_core.admission.census import census

    found = read(path, tasks, assumed)
    counted = census(found)
    if as_json:
        print_json({"inputs": inputs_of(found), "census": counted.row(), "notes": list(found.notes)})
        return
    say(counted.name, style="bold")
    table = Table((Column("what"), Column("which", prose=True), Column("value", "decimal")), indent=2)
    before = ""
    for title, place, value in counted.table()["rows"]:
        what, colon, why = title.partition(": ")  # why a mean is wrong is prose, and no title of a column
        which = f"{place}: {why}" if colon else str(place)
        table.add(what if what != before else "", which, _shown(value))
        before = what
    table.show()
    for sentence in found.notes:
        say(sentence, indent=2)


def _shown(value: Any) -> str:
    if value is None:
        return "unknown"
    return f"{value:,.5f}" if isinstance(value, float) else f"{value:,}"
