"""`proofshelf demo`."""

import os
import shutil
import sys
from contextlib import ExitStack
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import click

from catalog.commands.add import add_package, sentence
from catalog.commands.init import ensure
from catalog.commands.library import writing
from catalog.commands.options import json_option
from catalog.commands.output import heading, print_json, say
from catalog.commands.show_package import verdict
from catalog.commands.verify import verify_stored
from schema.states import RunOutcome

# The bundled packages, and what an honest run says of each.
PACKAGES = {"gavel-allocation": RunOutcome.VERIFIED, "tias-record": RunOutcome.INCOMPLETE}

INCOMPLETE = (
    "Incomplete is the honest word: these numbers are kept as they were published, and nothing here can "
    "compute them again, so none is confirmed and none is denied."
)


@click.command("demo")
@click.option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default="proofshelf-demo",
    show_default=True,
    help="Where the catalog goes.",
)
@json_option
def command(folder: Path, as_json: bool) -> int:
    """Make a catalog with the two bundled papers, and verify both.

    It is always DIR/proofshelf.db, whatever --db and $PROOFSHELF_DB say, so that no catalog of yours is
    touched. Running it again adds nothing twice and records two more runs.

    Exit code 0 when the runs come out as they should: the first verified, the second incomplete,
    because nothing can recompute the numbers of a screening record.

    \b
    Examples:
      proofshelf demo
      proofshelf demo --dir shelf
    """
    folder.mkdir(parents=True, exist_ok=True)
    db = folder / "proofshelf.db"
    created = ensure(db)
    done: list[dict[str, Any]] = []
    pages = []
    if not as_json:
        say(f"{'Created' if created else 'Using'} the catalog {db}.")
    with ExitStack() as stack:
        catalog = stack.enter_context(writing(db))
        for name in PACKAGES:
            facts = add_package(catalog, stack.enter_context(as_file(files("artifacts.packages") / name)))
            facts.pop("path")
            if not as_json:
                say(sentence(facts))
            page = verify_stored(catalog, name, "recompute")
            pages.append(page)
            done.append({**facts, "verification": page.id, "run": page.run})
    unexpected = [page.run.outcome for page in pages if page.run.outcome is not PACKAGES[page.run.artifact]]
    if as_json:
        print_json(
            {
                "database": db,
                "created": created,
                "as_expected": not unexpected,
                "packages": done,
                "next": _next(db),
            }
        )
    else:
        for page in pages:
            heading(page.manifest.title)
            verdict(page.run, page.id)
            if page.run.outcome is RunOutcome.INCOMPLETE:
                say(INCOMPLETE)
        heading("Next")
        for line in _next(db):
            say(line, indent=2)
    if not unexpected:
        return 0
    return RunOutcome.INCOMPLETE.exit_code if set(unexpected) == {RunOutcome.INCOMPLETE} else 3


def _next(db: Path) -> list[str]:
    program = _program()
    return [
        f"{program} --db {db} verify gavel-allocation",
        f"{program} --db {db} show tias",
        f"{program} --db {db} browse",
    ]


def _program() -> str:
    """The command as this shell finds it: by name where it is on the PATH, else by its path."""
    called = Path(sys.argv[0])
    found = shutil.which("proofshelf")
    if called.name != "proofshelf" or (found is not None and called.resolve() == Path(found).resolve()):
        return "proofshelf"
    return os.path.relpath(called)
