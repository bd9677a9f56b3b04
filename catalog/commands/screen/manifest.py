"""`proofshelf screen manifest`."""

import json
from pathlib import Path

import click

from catalog import screening_queries
from catalog.commands.files import free, replacing
from catalog.commands.library import who, writing
from catalog.commands.options import database_option, json_option
from catalog.commands.output import Column, Table, plain, print_json, say
from catalog.commands.words import count


@click.command("manifest")
@click.argument("round_", metavar="ROUND")
@click.option("--to", type=click.Path(path_type=Path, dir_okay=False), help="Write it to this JSON file too.")
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
@database_option
@json_option
def command(round_: str, to: Path | None, force: bool, db: Path, as_json: bool) -> None:
    """Write a round's chunks, before any rater begins.

    Each chunk lists its works in the order in which they are shown, with a SHA-256 over round, number
    and ids. An answer is taken only if its ids are exactly the chunk's. Written once: the same again
    changes nothing, and other works are refused.

    \b
    Examples:
      proofshelf screen manifest pilot-screen
      proofshelf screen manifest pilot-screen --to chunks.json --force
    """
    if to is not None:
        free(to, force)
    with writing(db) as catalog:
        chunks = catalog.write_manifest(round_, who())
        view = screening_queries.round_view(catalog.connection, round_)
    if to is not None:
        with replacing(to) as stream:
            json.dump(plain(chunks), stream, indent=2, ensure_ascii=False)
            stream.write("\n")
    if as_json:
        print_json({"round": round_, "chunks": chunks, "path": to})
        return
    works = sum(len(chunk.works) for chunk in chunks)
    say(f"{round_}: {count(len(chunks), 'chunk')}, {count(works, 'work')}.")
    table = Table((Column("chunk", "right"), Column("works", "right"), Column("sha256")), indent=2)
    for chunk in chunks:
        table.add(str(chunk.position), f"{len(chunk.works):,}", chunk.sha256)
    table.show()
    if to is not None:
        say(f"Wrote {to}.")
    for row in view.coverage:
        name = "queue" if row.rater.kind == "human" else "run"
        say(f"Next: proofshelf screen {name} {round_} --rater {row.rater.id}")
