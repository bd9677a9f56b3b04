"""`proofshelf show`."""

from pathlib import Path

import click

from catalog import queries
from catalog.commands.errors import Refused
from catalog.commands.library import reading
from catalog.commands.options import database_option, json_option
from catalog.commands.output import print_json
from catalog.commands.show_package import show_package, show_verification
from catalog.commands.show_work import show_work


@click.command("show")
@click.argument("name", metavar="ID")
@click.argument("number", metavar="[NUMBER]", type=click.IntRange(1), required=False)
@click.option("--version", type=click.IntRange(1), help="An earlier version of a package; else the newest.")
@database_option
@json_option
def command(name: str, number: int | None, version: int | None, db: Path, as_json: bool) -> None:
    """Show a work, a package or a verification.

    ID is the slug of a work or package; `verification NUMBER` is a run.

    \b
    Examples:
      proofshelf show tias
      proofshelf show gavel-allocation --json
      proofshelf show verification 1
    """
    if number is not None and name != "verification":
        raise click.UsageError(
            f"only `verification` takes a number, not {name!r}", click.get_current_context()
        )
    with reading(db) as connection:
        if number is not None:
            run = queries.verification(connection, number)
            print_json(run) if as_json else show_verification(run)
            return
        if queries.resolve(connection, name) == "work":
            if version is not None:
                raise Refused(f"{name} is a work; only packages have versions")
            work = queries.work(connection, name)
            print_json(work) if as_json else show_work(work)
            return
        package = queries.artifact(connection, name, version)
        print_json(package) if as_json else show_package(package)
