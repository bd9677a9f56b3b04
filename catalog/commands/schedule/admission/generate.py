"""`proofshelf schedule admission generate`."""

from pathlib import Path

import click

from catalog.commands.files import free
from catalog.commands.options import json_option
from catalog.commands.output import print_json, say
from catalog.commands.schedule.admission.workloads import sha256_of

KINDS = ("tmax-like", "deepswe-like")


@click.command("generate")
@click.argument("kind", type=click.Choice(KINDS))
@click.option("--attempts", type=click.IntRange(1, 1_000_000), default=267, show_default=True,
              help="How many.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of what is drawn.")
@click.option("--to", type=click.Path(path_type=Path, dir_okay=False), required=True, metavar="FILE",
              help="Where to write them (.jsonl, .jsonl.gz, .parquet).")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
@json_option
def command(kind: str, attempts: int, seed: int, to: Path, force: bool, as_json: bool) -> None:
    """Write a synthetic workload, from published statistics.

    Every attempt in it is marked synthetic: nothing was measured, and nothing that follows from it is a
    finding about real agents. The same kind, number and seed give the same bytes.

    \b
    Examples:
      proofshelf schedule admission generate tmax-like --attempts 30 --to attempts.jsonl --force
    """
    from scheduling_core.admission.formats import write_workload
    from scheduling_core.admission.synthetic import generate

    free(to, force)
    workload = generate(kind, attempts, seed)
    write_workload(workload, to)
    if as_json:
        print_json({"path": to, "sha256": sha256_of(to), "workload_sha256": workload.sha256,
                    "name": workload.name, "attempts": len(workload), "synthetic": True})  # fmt: skip
        return
    say(f"Wrote {len(workload):,} synthetic attempts to {to}.")
