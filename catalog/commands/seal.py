"""`proofshelf seal`."""

from pathlib import Path

import click

from artifacts.manifest import MANIFEST_NAME
from artifacts.seal import Sealed
from artifacts.seal import seal as seal_folder
from catalog.commands.options import json_option
from catalog.commands.output import Column, Table, plain, print_json, say


@click.command("seal")
@click.argument("folder", type=click.Path(path_type=Path))
@json_option
def command(folder: Path, as_json: bool) -> None:
    """Fill in sizes and hashes in a package's draft manifest.json.

    Write id, title, work, licence, analyses and claims yourself; FOLDER's files that the draft doesn't
    list are added with a guessed role, which is printed: check it, since the role decides how deep a
    claim counts as computed. Nothing else is changed.

    \b
    Examples:
      proofshelf seal my-package
    """
    sealed = seal_folder(folder)
    steps = f"proofshelf verify {_as_folder(folder)}"
    if as_json:
        print_json({"folder": folder, "changed": sealed.changed, **plain(sealed), "next": steps})
        return
    if not sealed.changed:
        say(f"{folder / MANIFEST_NAME} was sealed already; nothing changed. Next: {steps}")
        return
    say(f"Sealed {folder / MANIFEST_NAME}. Next: {steps}")
    _files(sealed).show()


def _files(sealed: Sealed) -> Table:
    table = Table((Column("what"), Column("file", prose=True), Column("role")), indent=2)
    for path, role in sealed.added:
        table.add("added", path, f"{role} (guessed)")
    for path in sealed.filled:
        table.add("filled in", path, None)
    for path in sealed.corrected:
        table.add("corrected", path, None)
    return table


def _as_folder(folder: Path) -> str:
    return str(folder) if "/" in str(folder) else f"./{folder}"
