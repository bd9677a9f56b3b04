"""`proofshelf export`."""

import hashlib
import json
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

import click

from catalog import screening_queries
from catalog.commands.datasets import DATASETS, Row, claims_of
from catalog.commands.files import free, replacing
from catalog.commands.library import reading
from catalog.commands.options import database_option, json_option
from catalog.commands.output import print_json, say
from catalog.commands.study_datasets import STUDY_DATASETS
from catalog.commands.words import count
from catalog.spreadsheet import csv_writer, inert


@click.command("export")
@click.argument("name", metavar="ID|STUDY|works|claims|scores|votes|verifications")
@click.option("--what", type=click.Choice(list(STUDY_DATASETS)), help="Of a study: what to write.")
@click.option("--as", "form", type=click.Choice(["csv", "json"]), required=True, help="The format.")
@click.option(
    "--to", type=click.Path(path_type=Path, dir_okay=False), required=True, help="The file to write."
)
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
@database_option
@json_option
def command(name: str, what: str | None, form: str, to: Path, force: bool, db: Path, as_json: bool) -> None:
    """Write rows to a CSV or JSON file.

    Statuses and caveats travel with every row that they govern.

    ID is a package, or a work and so all its packages: their claims, with the newest verdict on each.
    With --what, it is a screening study: its labels (the state of every category of every work), votes,
    scores or calls.

    CSV is UTF-8 with LF line ends; lists are joined by " | ". A text that starts with =, +, -, @ or a
    control character gets an apostrophe before it, so that a spreadsheet shows it where it would run
    it; numbers are never touched, and JSON has every text as it is.

    \b
    Examples:
      proofshelf export gavel-allocation --as csv --to claims.csv
      proofshelf export scores --as csv --to scores.csv
      proofshelf export pilot --what labels --as csv --to pilot.csv
      proofshelf export verifications --as json --to runs.json --force
    """
    free(to, force)
    with reading(db) as connection:
        dataset, rows = _rows(connection, name, what)
        written = write(rows, dataset, form, to)
    facts: dict[str, Any] = {"path": to, "format": form, "dataset": dataset, **written}
    if as_json:
        print_json(facts)
        return
    say(f"Wrote {count(written['rows'], 'row')} of {dataset} to {to} ({written['bytes']:,} bytes, "
        f"sha256 {written['sha256']}).")  # fmt: skip


def _rows(db: sqlite3.Connection, name: str, what: str | None) -> tuple[str, Iterable[Row]]:
    if what is not None:
        return what, STUDY_DATASETS[what](db, screening_queries.study_page(db, name))
    if name in DATASETS:
        return name, DATASETS[name](db)
    return "claims", claims_of(db, name)


def write(rows: Iterable[Row], dataset: str, form: str, to: Path) -> dict[str, Any]:
    """Write the rows; the file appears whole or not at all. Returns rows, bytes and sha256."""
    with replacing(to) as stream:
        number = _write_csv(rows, stream) if form == "csv" else _write_json(rows, dataset, stream)
    data = to.read_bytes()
    return {"rows": number, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def _write_csv(rows: Iterable[Row], stream: IO[str]) -> int:
    writer = csv_writer(stream)
    number = 0
    for number, row in enumerate(rows, 1):
        if number == 1:
            writer.writerow(row)
        writer.writerow([_cell(value) for value in row.values()])
    return number


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return inert(" | ".join(value) if isinstance(value, list) else str(value))


def _write_json(rows: Iterable[Row], dataset: str, stream: IO[str]) -> int:
    stream.write(f'{{"dataset": {json.dumps(dataset)}, "rows": [')
    number = 0
    for number, row in enumerate(rows, 1):
        text = json.dumps(row, ensure_ascii=False, allow_nan=False)
        stream.write(f"{',' if number > 1 else ''}\n{text}")
    stream.write("\n]}\n" if number else "]}\n")
    return number
