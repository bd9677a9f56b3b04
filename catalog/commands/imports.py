"""`proofshelf import`."""

from pathlib import Path
from typing import Any

import click

from catalog.commands.library import each, who, writing
from catalog.commands.options import database_option, json_option
from catalog.commands.output import clean, plain, print_json, progress, say
from catalog.commands.words import count
from catalog.imports import OUTCOMES, ImportReport
from catalog.store import Catalog

SHOWN = 10
RAW_SHOWN = 60


@click.command("import")
@click.argument("paths", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@database_option
@json_option
def command(paths: tuple[Path, ...], db: Path, as_json: bool) -> int:
    """Read bibliographic records from files.

    FILE is BibTeX or CSL-JSON, recognised by its content. Every record is accounted for: added,
    updated, unchanged, a duplicate, or rejected with its reason and kept as it came. A file is taken
    whole or not at all; one that is refused stops no other, and makes the exit code 1.

    \b
    Examples:
      proofshelf import library.bib
      proofshelf import library.bib zotero.json --json
    """
    with writing(db) as catalog:

        def take(path: Path) -> dict[str, Any]:
            report = import_file(catalog, path)
            if not as_json:
                _show(report)
            facts: dict[str, Any] = plain(report)
            return facts

        done, refused = each(paths, take)
    if as_json:
        print_json({"imports": done, "refused": refused})
    return 1 if refused else 0


def import_file(catalog: Catalog, path: Path) -> ImportReport:
    """Import one file, with its progress on a terminal."""
    with progress(f"Importing {path.name}") as step:
        told = None if step is None else lambda read: step(f"{read:,} records")
        return catalog.import_file(path, who=who(), progress=told)


def _show(report: ImportReport) -> None:
    counts = report.counts
    parts = [f"{getattr(counts, outcome):,} {outcome}" for outcome in OUTCOMES if getattr(counts, outcome)]
    became = ", ".join(parts) or "none"
    read = count(counts.read, "record")
    say(f"{counts.filename} ({counts.format}): {read} read: {became}. Import {report.id}.")
    for text in report.notes:
        say(f"note: {text}", indent=2)
    for record in report.rejected[:SHOWN]:
        where = f"line {record.line}: " if record.line else ""
        say(f"rejected, {where}{record.reason}", style="yellow", indent=2)
        raw = clean(record.raw.strip())
        say(raw if len(raw) <= RAW_SHOWN else f"{raw[:RAW_SHOWN]}…", style="dim", indent=4)
    more = counts.rejected - min(len(report.rejected), SHOWN)
    if more:
        say(f"and {more:,} more: proofshelf list rejected --import {report.id}", indent=2)
