"""`proofshelf schedule admission import`."""

from pathlib import Path

import click

from catalog.commands.files import free
from catalog.commands.options import json_option
from catalog.commands.output import print_json, say
from catalog.commands.schedule.admission.workloads import inputs_of, read, sha256_of, workload_options
from catalog.commands.words import count


@click.command("import")
@workload_options
@click.option("--to", type=click.Path(path_type=Path, dir_okay=False), required=True, metavar="FILE",
              help="Where to write the compact form (.jsonl, .jsonl.gz, .parquet).")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
@json_option
def command(
    path: Path, tasks: Path | None, assumed: tuple[str, ...], to: Path, force: bool, as_json: bool
) -> None:
    """Turn logs of attempts into the compact form.

    Lengths become whole ticks of 0.1 s, quotas whole millicores and KiB; time that no log explains stays
    `unknown`. What can't be replayed is told and not written: take the census of the logs themselves.

    \b
    Examples:
      proofshelf schedule admission import attempts.jsonl --to attempts.jsonl.gz --force
    """
    from scheduling_core.admission.formats import write_workload

    free(to, force)
    found = read(path, tasks, assumed)
    write_workload(found.workload, to)
    if as_json:
        print_json({
            "path": to, "sha256": sha256_of(to), "workload_sha256": found.workload.sha256,
            "inputs": inputs_of(found), "attempts": len(found.workload), "rejected": len(found.rejected),
            "unreplayable": len(found.unreplayable), "notes": list(found.notes),
        })  # fmt: skip
        return
    say(f"Wrote {count(len(found.workload), 'attempt')} to {to}; {count(len(found.rejected), 'record')} "
        f"rejected, {count(len(found.unreplayable), 'attempt')} not replayable.")  # fmt: skip
    for sentence in found.notes:
        say(sentence, indent=2)
