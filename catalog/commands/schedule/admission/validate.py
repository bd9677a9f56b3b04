"""`proofshelf schedule admission validate`."""

from pathlib import Path

import click

from catalog.commands.options import json_option
from catalog.commands.output import Column, Table, print_json, say


@click.command("validate")
@click.argument("run", type=click.Path(path_type=Path, file_okay=False))
@json_option
def command(run: Path, as_json: bool) -> int:
    """Derive every figure of a run's schedules again.

    RUN is the folder of a run that has ended. The validator knows only the attempts, the starts and the
    limits, shares no accounting with what made the schedules, and compares every figure exactly. Exit
    code 3 where it rejects one.

    \b
    Examples:
      proofshelf schedule admission validate runs/first
    """
    from catalog.schedule_runs import WORKLOAD, read_run
    from scheduling_core.admission.formats import read_workload
    from scheduling_core.admission.validate import validate

    found = read_run(run)
    attempts = [a.row() for a in read_workload(run / WORKLOAD).workload.attempts]
    claimed = found.result["integers"]
    judged = {
        row["name"]: validate(
            attempts, {k: v for k, v in row.items() if k != "name"}, claimed.get(row["name"], {})
        )
        for row in found.schedules
    }
    bad = {name: v for name, v in judged.items() if not v.ok}
    if as_json:
        print_json({
            "run": run, "schedules": len(judged), "rejected": len(bad),
            "violations": {n: [x.sentence for x in v.violations] for n, v in bad.items()},
        })  # fmt: skip
        return 3 if bad else 0
    table = Table((Column("schedule"), Column("verdict"), Column("first reason", prose=True)), indent=2)
    for name, validation in judged.items():
        first = validation.violations[0].sentence if validation.violations else ""
        table.add(name, "holds" if validation.ok else "rejected", first)
    table.show()
    say(f"{len(judged) - len(bad)} of {len(judged)} complete schedules hold.")
    return 3 if bad else 0
