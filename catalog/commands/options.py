"""Options that commands share, so that they are spelt and explained in one way."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

DEFAULT_DATABASE = "proofshelf.db"
DATABASE_HELP = f"The catalog's file; else $PROOFSHELF_DB, else ./{DEFAULT_DATABASE}."


class Whole(click.IntRange):
    """A whole number; one beyond what SQLite counts to means as much as there is."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return min(super().convert(value, param, ctx), 2**62)


def database_option(function: F) -> F:
    """`--db PATH`, before or after the command's name, as the parameter `db`."""
    return click.option(
        "--db", type=click.Path(path_type=Path), callback=_resolve_database, help=DATABASE_HELP
    )(function)


def _resolve_database(ctx: click.Context, parameter: click.Parameter, value: Path | None) -> Path:
    given = value or ctx.find_root().params.get("db") or os.environ.get("PROOFSHELF_DB") or DEFAULT_DATABASE
    return Path(given)


def json_option(function: F) -> F:
    """`--json`, as the parameter `as_json`."""
    return click.option(
        "--json", "as_json", is_flag=True, help="Print JSON on standard output, and nothing else there."
    )(function)
