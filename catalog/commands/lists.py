"""`proofshelf list`."""

import sqlite3
from pathlib import Path
from typing import Any

import click

from catalog import queries
from catalog.commands.library import reading
from catalog.commands.options import Whole, database_option, json_option
from catalog.commands.output import Column, Table, clean, print_json, say
from catalog.commands.tables import artifacts_table, runs_table, works_table
from catalog.commands.words import count, moment
from catalog.pages import ImportSummary, Overview, RejectedRecord

KINDS = ("works", "artifacts", "verifications", "imports", "rejected")
EMPTY = {
    "works": "No works yet: proofshelf add PACKAGE, or proofshelf import FILE.",
    "artifacts": "No packages yet: proofshelf add PACKAGE.",
    "verifications": "Nothing was verified yet: proofshelf verify ID.",
    "imports": "Nothing was imported yet: proofshelf import FILE.",
    "rejected": "No record was rejected.",
}


@click.command("list")
@click.argument("kind", metavar="[works|artifacts|verifications|imports|rejected]",
                type=click.Choice(KINDS), required=False)  # fmt: skip
@click.option("--limit", type=Whole(1), default=50, show_default=True, help="How many to show.")
@click.option("--offset", type=Whole(0), default=0, help="How many to skip.")
@click.option("--import", "number", type=Whole(1), metavar="N", help="Of `rejected`: those of import N.")
@database_option
@json_option
def command(kind: str | None, limit: int, offset: int, number: int | None, db: Path, as_json: bool) -> None:
    """List what is in the catalog.

    Newest first, packages by name. Without a kind: how much there is of what.

    \b
    Examples:
      proofshelf list
      proofshelf list works --limit 10
      proofshelf list verifications --json
      proofshelf list rejected --import 1
    """
    if number is not None and kind != "rejected":
        raise click.UsageError("--import goes with `rejected` only", click.get_current_context())
    with reading(db) as connection:
        overview = queries.overview(connection)
        if kind is None:
            print_json(overview) if as_json else _show_overview(overview)
            return
        rows = _rows(connection, kind, limit, offset, number)
    total = _total(overview, kind) if number is None else None
    if as_json:
        print_json({"kind": kind, "total": total, "offset": offset, "rows": rows})
        return
    if not rows:
        say(EMPTY[kind] if not offset else f"Nothing after the first {offset:,}.")
        return
    _table(kind, rows).show()
    if total is not None and offset + len(rows) < total:
        say()
        say(f"{len(rows):,} of {total:,}; --offset {offset + len(rows)} goes on.")


def _rows(db: sqlite3.Connection, kind: str, limit: int, offset: int, number: int | None) -> list[Any]:
    if kind == "works":
        return list(queries.works(db, limit, offset))
    if kind == "artifacts":
        return list(queries.artifacts(db)[offset : offset + limit])
    if kind == "verifications":
        return list(queries.runs(db, limit=offset + limit)[offset:])
    if kind == "imports":
        return list(queries.imports(db, limit, offset))
    return list(queries.rejected(db, number, limit, offset))


def _total(overview: Overview, kind: str) -> int:
    total: int = getattr(overview, kind)
    return total


def _table(kind: str, rows: list[Any]) -> Table:
    if kind == "works":
        return works_table(rows)
    if kind == "artifacts":
        return artifacts_table(rows)
    if kind == "verifications":
        return runs_table(rows)
    return _imports_table(rows) if kind == "imports" else _rejected_table(rows)


def _imports_table(rows: list[ImportSummary]) -> Table:
    numbers = ("read", "added", "updated", "unchanged", "duplicate", "rejected")
    columns = [Column("import", "right"), Column("file", prose=True), Column("format")]
    table = Table([*columns, *(Column(name, "right") for name in numbers), Column("finished"), Column("by")])
    for row in rows:
        counts = (f"{getattr(row, name):,}" for name in numbers)
        table.add(str(row.id), row.filename, row.format, *counts, moment(row.finished_at), row.who)
    return table


def _rejected_table(rows: list[RejectedRecord]) -> Table:
    table = Table(
        (Column("import", "right"), Column("file"), Column("line", "right"), Column("reason", prose=True))
    )
    for row in rows:
        line = "" if row.line is None else str(row.line)
        table.add(str(row.import_id), row.filename, line, row.reason, notes=[clean(row.raw.strip())])
    return table


def _show_overview(overview: Overview) -> None:
    works, packages = count(overview.works, "work"), count(overview.artifacts, "package")
    has = {"packages": overview.works_with_artifacts, "votes": overview.works_with_votes,
           "scores": overview.works_with_scores}  # fmt: skip
    say(f"{works}: {', '.join(f'{number:,} with {what}' for what, number in has.items())}.")
    say(
        f"{packages} with {count(overview.claims, 'claim')}; {count(overview.verifications, 'verification')}."
    )
    say(f"{count(overview.votes, 'vote')}, {count(overview.scores, 'score')}.")
    say(f"{count(overview.imports, 'import')}, {count(overview.rejected, 'rejected record')}.")
    if overview.current_artifacts:
        say()
        artifacts_table(overview.current_artifacts).show()
    else:
        say(EMPTY["works"] if not overview.works else EMPTY["artifacts"])
