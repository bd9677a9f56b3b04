"""The shape of the database, one module for each change of it, applied in order and never edited.

A file made by a newer proofshelf is refused; an older one is copied before it is upgraded.
Only DDL lives here: what is written into the tables is the business of `catalog.store`. Triggers are
made again after the last step by `catalog.append_only`, since rebuilding a table drops its own.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from catalog.migrations import m0001_first, m0002_screening

if TYPE_CHECKING:
    from sqlite_utils import Database
    from sqlite_utils.migrations import Migrations

SET = "proofshelf"
STEPS: tuple[tuple[str, Callable[["Database"], None]], ...] = (
    ("m0001_first", m0001_first.apply),
    ("m0002_screening", m0002_screening.apply),
)


def migrations() -> "Migrations":
    """All steps, as sqlite-utils applies them."""
    from sqlite_utils.migrations import Migrations

    steps = Migrations(SET)
    for name, apply in STEPS:
        steps(name=name)(apply)
    return steps
