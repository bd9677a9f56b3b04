"""`proofshelf schema`."""

from difflib import get_close_matches

import click

from catalog.commands.errors import Refused
from catalog.commands.options import json_option
from catalog.commands.output import Column, Table, print_json
from schema.export import RECORDS, json_schema


@click.command("schema")
@click.argument("name", required=False)
@json_option
def command(name: str | None, as_json: bool) -> None:
    """Print the JSON Schema of a kind of record.

    Without NAME, list the kinds. The schema is JSON with or without --json.

    \b
    Examples:
      proofshelf schema
      proofshelf schema manifest
    """
    if name is not None:
        if name not in RECORDS:
            close = get_close_matches(name, RECORDS, n=1)
            hint = f"did you mean {close[0]!r}?" if close else "`proofshelf schema` lists them"
            raise Refused(f"there is no record called {name!r}; {hint}")
        print_json(json_schema(name))
        return
    purposes = {key: (record.__doc__ or "").strip().splitlines()[0] for key, record in RECORDS.items()}
    if as_json:
        print_json({"records": [{"name": key, "purpose": text} for key, text in purposes.items()]})
        return
    table = Table((Column("record"), Column("what it is", prose=True)))
    for key, text in purposes.items():
        table.add(key, text)
    table.show()
