"""`proofshelf rerun`."""

import json
from pathlib import Path
from typing import Any

import click

from artifacts.rerun import RerunResult
from artifacts.rerun import rerun as run_again
from catalog import queries
from catalog.commands.claims import show_caveats
from catalog.commands.errors import Refused
from catalog.commands.options import database_option, json_option
from catalog.commands.output import Column, Table, heading, plain, print_json, say
from catalog.commands.words import count
from catalog.pages import ArtifactPage
from catalog.store import Catalog, open_catalog

LONG_TABLE = 40


@click.command("rerun")
@click.argument("name", metavar="ID")
@click.option("--param", "parameters", metavar="NAME=VALUE", multiple=True, help="A parameter; repeatable.")
@click.option("--analysis", metavar="NAME", help="Which analysis of the package; else its first builtin.")
@click.option(
    "--table",
    "wanted",
    metavar="NAME",
    multiple=True,
    help=f"Print only this table, whole; repeatable. Else those of at most {LONG_TABLE} rows.",
)
@database_option
@json_option
def command(
    name: str,
    parameters: tuple[str, ...],
    analysis: str | None,
    wanted: tuple[str, ...],
    db: Path,
    as_json: bool,
) -> None:
    """Run an analysis with other parameters.

    Prints the analysis's tables and records nothing. ID is a package, or a work with one package. A
    value is JSON of its parameter's type; text needs no quotes, and a list may be written 1,2,3.

    \b
    Examples:
      proofshelf rerun gavel-allocation --param START_STEP=49 --param JOB_ID=12
      proofshelf rerun gavel-allocation --param START_STEP=1 --param END_STEP=48 --json
    """
    overrides = _overrides(parameters)
    with open_catalog(db, writable=False) as catalog:
        page = _package(catalog, name)
        result = run_again(
            catalog.objects.root,
            page.manifest,
            overrides,
            analysis,
            resolve=lambda file: catalog.objects.path(file.sha256),
        )
    tables = _tables(result)
    if missing := [table for table in wanted if table not in tables]:
        raise Refused(
            f"{result.analysis} gives no table {missing[0]!r}; it gives {', '.join(tables) or 'none'}"
        )
    if as_json:
        chosen = {key: table for key, table in tables.items() if not wanted or key in wanted}
        print_json(
            {
                "package": page.manifest.id,
                "version": page.version,
                "recorded": False,
                **plain(result),
                "tables": chosen,
                "caveats": page.manifest.caveats,
            }
        )
        return
    _show(page, result, tables, wanted)


def _overrides(parameters: tuple[str, ...]) -> dict[str, str]:
    overrides: dict[str, str] = {}
    for text in parameters:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise click.UsageError(f"--param takes NAME=VALUE, not {text!r}", click.get_current_context())
        if key in overrides:
            raise click.UsageError(f"--param {key} is given twice", click.get_current_context())
        overrides[key] = value
    return overrides


def _package(catalog: Catalog, name: str) -> ArtifactPage:
    db = catalog.connection
    if queries.resolve(db, name) == "package":
        return queries.artifact(db, name)
    packages = [package.slug for package in queries.work(db, name).artifacts]
    if len(packages) != 1:
        raise Refused(
            f"{name} has {count(len(packages), 'package')}; name the one to run: {', '.join(packages)}"
        )
    return queries.artifact(db, packages[0])


def _tables(result: RerunResult) -> dict[str, dict[str, Any]]:
    """The analysis's tables; a query's one result stands as `result`."""
    if result.tables:
        return dict(result.tables)
    if isinstance(result.outputs, dict) and {"columns", "rows"} <= result.outputs.keys():
        return {"result": {"columns": result.outputs["columns"], "rows": result.outputs["rows"]}}
    return {}


def _show(
    page: ArtifactPage, result: RerunResult, tables: dict[str, dict[str, Any]], wanted: tuple[str, ...]
) -> None:
    by = f", by {result.implementation}" if result.implementation else ""
    say(f"{page.manifest.id}, version {page.version}: {result.analysis}{by}", style="bold")
    for key, value in result.parameters.items():
        changed = "  (changed)" if key in result.changed else ""
        say(f"{key} = {json.dumps(value, ensure_ascii=False)}{changed}", indent=2)
    left: list[str] = []
    for key, table in tables.items():
        rows = table["rows"]
        if wanted and key not in wanted:
            continue
        if not wanted and len(rows) > LONG_TABLE:
            left.append(f"{key} ({len(rows):,} rows)")
            continue
        heading(key.replace("_", " ").capitalize())
        _table(table).show()
    if not tables:
        heading("Outputs")
        say(json.dumps(result.outputs, indent=2, ensure_ascii=False))
    if left:
        say()
        say(f"Not printed, being long: {', '.join(left)}; --table NAME prints one, --json all.")
    show_caveats(page.manifest)
    say()
    say("Nothing was recorded. `proofshelf verify` computes with the package's own parameters.", style="dim")


def _table(table: dict[str, Any]) -> Table:
    rows = table["rows"]
    columns = [
        Column(str(name), align="decimal" if _numeric(row[i] for row in rows) else "left")
        for i, name in enumerate(table["columns"])
    ]
    made = Table(columns, indent=2)
    for row in rows:
        made.add(*(_cell(value) for value in row))
    return made


def _numeric(values: Any) -> bool:
    return any(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return repr(value) if isinstance(value, float) else str(value)
