"""`proofshelf backup`."""

import os
from pathlib import Path

import click

from catalog.commands.errors import PROGRAM
from catalog.commands.library import who
from catalog.commands.options import database_option, json_option
from catalog.commands.output import note, plain, print_json, say
from catalog.commands.words import count
from catalog.store import open_catalog


@click.command("backup")
@click.argument("to", metavar="FOLDER", type=click.Path(path_type=Path))
@database_option
@json_option
def command(to: Path, db: Path, as_json: bool) -> int:
    """Copy the catalog into a new folder.

    Database, stored files and anchor, consistently, while others may write. The copy is a catalog of
    its own. Exit code 3 when something could not be copied whole: it is named.

    \b
    Examples:
      proofshelf backup copy-of-friday
      proofshelf backup /tmp/proofshelf-backup --json
    """
    writable = os.access(db, os.W_OK) and os.access(db.absolute().parent, os.W_OK)
    with open_catalog(db, writable=writable or not db.exists()) as catalog:
        done = catalog.backup(to, who())
    if as_json:
        print_json(plain(done))
    else:
        parts = [
            count(done.works, "work"),
            count(done.runs, "verification"),
            count(done.objects, "stored file"),
        ]
        say(f"Copied {', '.join(parts)} ({done.bytes:,} bytes) to {done.path}.")
        say(f"head {done.head}")
    for problem in done.problems:
        note(f"{PROGRAM}: {problem}")
    return 3 if done.problems else 0
