"""`proofshelf schedule traces`: traces of GPU jobs, generated or read in their published forms."""

import click

from catalog.commands.lazy import LazyGroup

# Name -> module of this package, in the order of a first day.
COMMANDS = {"generate": "generate", "read": "read"}


@click.group(
    "traces", cls=LazyGroup, package="catalog.commands.schedule.traces", modules=COMMANDS,
    no_args_is_help=True,
)  # fmt: skip
def command() -> None:
    """Generate traces of GPU jobs, and look into published ones.

    `proofshelf schedule queue` runs them under policies. `docs/queueing.md` goes through a whole study.

    \b
    Examples:
      proofshelf schedule traces generate --jobs 60 --gpus 16 --to made.csv --force
      proofshelf schedule traces read made.csv --gpus 16
    """
