"""`proofshelf classify batch`."""

import csv
from pathlib import Path

import click

from catalog.commands.errors import Refused
from catalog.commands.files import free, replacing
from catalog.commands.library import reading
from catalog.commands.options import database_option, json_option
from catalog.commands.output import Column, Table, print_json, say
from catalog.commands.words import count


@click.command("batch")
@click.argument("release")
@click.option(
    "--size", type=click.IntRange(1, 100_000), default=100, show_default=True, help="Works to rate."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of those by chance.")
@click.option("--to", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE.csv",
              help="Write work, reason, place and value.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
@database_option
@json_option
def command(
    release: str, size: int, seed: int, to: Path | None, force: bool, db: Path, as_json: bool
) -> None:
    """Pick the next works to rate, and say why each was picked.

    Of every 100: the 50 on which the sides differ most, the 30 nearest to a threshold, and 20 by chance,
    which keep an estimate possible. The pool is what the release scored and nobody has rated. It records
    nothing: put the works into a round of the study (`works = [...]`) to have them rated.

    \b
    Examples:
      proofshelf classify batch synthetic-r1
      proofshelf classify batch synthetic-r1 --size 20 --seed 3 --to next.csv
    """
    from catalog.training.batch import next_batch

    if to is not None:
        if to.suffix.lower() != ".csv":
            raise Refused(f"{to}: expected a name that ends in .csv")
        free(to, force)
    with reading(db) as connection:
        found = next_batch(connection, release, seed, size)
    picks = found.batch.picks
    if to is not None:
        with replacing(to) as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(["work", "reason", "place", "value"])
            for p in picks:
                writer.writerow([p.id, p.reason.value, p.place, "" if p.value is None else repr(p.value)])
    if as_json:
        print_json({"batch": found, "path": to})
        return
    say(f"{count(len(picks), 'work')} of a pool of {found.pool:,}, by {release} and {found.run}, seed {seed} "
        f"(pool sha256 {found.pool_sha256}).")  # fmt: skip
    table = Table(
        (Column("work"), Column("reason"), Column("place", "right"), Column("value", "decimal")), indent=2
    )
    for p in picks:
        table.add(p.id, p.reason.value, str(p.place), "" if p.value is None else f"{p.value:.4f}")
    table.show()
    lacking = {kind: n for kind, n in found.batch.short.items() if n}
    for kind, n in lacking.items():
        say(f"{n:,} fewer by {kind} than asked for: the pool, or its scores, ran out.", indent=2)
    if to is not None:
        say(f"Wrote {to}.")
