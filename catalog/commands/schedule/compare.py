"""`proofshelf schedule compare`."""

from pathlib import Path

import click

from catalog.commands.options import json_option
from catalog.commands.output import Column, Table, print_json, say
from catalog.run_folders import Run, compare, request_of


@click.command("compare")
@click.argument("one", type=click.Path(path_type=Path, file_okay=False))
@click.argument("other", type=click.Path(path_type=Path, file_okay=False))
@json_option
def command(one: Path, other: Path, as_json: bool) -> None:
    """Compare two runs, complete schedule by schedule.

    ONE and OTHER are folders of runs that have ended. Told is where they differ: what was asked, of which
    bytes, by which code; and each figure of each schedule, or policy, that both have.

    \b
    Examples:
      proofshelf schedule compare runs/first runs/second
    """
    found = compare(_read(one), _read(other))
    if as_json:
        print_json(found)
        return
    say("The results are the same bytes." if found["identical"] else "The results differ.", style="bold")
    for title, rows, key in (("asked", found["asked"], "what"), ("figures", found["figures"], "figure")):
        if not rows:
            continue
        table = Table((Column(title), Column("one", prose=True), Column("other", prose=True)), indent=2)
        for row in rows:
            name = row[key] if title == "asked" else f"{row['schedule']}: {row[key]}"
            table.add(name, str(row["one"]), str(row["other"]))
        table.show()
    for side in ("one", "other"):
        if found[f"only_{side}"]:
            say(f"Only in {found[side]}: {', '.join(found[f'only_{side}'])}.", indent=2)


def _read(folder: Path) -> Run:
    from catalog import queue_runs, schedule_runs

    if request_of(folder).get("command") == queue_runs.COMMAND:
        return queue_runs.read_run(folder)
    return schedule_runs.read_run(folder)
