"""`proofshelf init`."""

from pathlib import Path

import click

from catalog.commands.library import reading, who
from catalog.commands.options import database_option, json_option
from catalog.commands.output import print_json, say
from catalog.store import create


@click.command("init")
@database_option
@json_option
def command(db: Path, as_json: bool) -> None:
    """Create an empty catalog.

    One that is there already stays as it is. Its stored files go into a folder beside it.

    \b
    Examples:
      proofshelf init
      proofshelf init --db papers.db
    """
    created = ensure(db)
    if as_json:
        print_json({"database": db, "created": created})
    elif created:
        say(f"Created the catalog {db}. Next: proofshelf add PACKAGE, or proofshelf import FILE.")
    else:
        say(f"{db} is a catalog already; nothing was changed.")


def ensure(db: Path) -> bool:
    """Create the catalog unless it is there; returns whether it was created."""
    if db.exists():
        with reading(db):
            return False
    with create(db, who()):
        return True
