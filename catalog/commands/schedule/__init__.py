"""`proofshelf schedule`: what the scheduling core computes, each run in a folder of its own."""

import click

from catalog.commands.lazy import LazyGroup

COMMANDS = {"traces": "traces", "queue": "queue.command", "admission": "admission", "compare": "compare"}


@click.group(
    "schedule", cls=LazyGroup, package="catalog.commands.schedule", modules=COMMANDS, no_args_is_help=True
)
def command() -> None:
    """Simulate, replay and search schedules; compare whole runs.

    Every run writes a new folder below `runs/` with what was asked, of which bytes, by which code, and
    every complete schedule with its hash. No catalog is needed.

    \b
    Examples:
      proofshelf schedule queue made.csv --gpus 16 --policy fifo --policy las2d
      proofshelf schedule admission --help
      proofshelf schedule compare --help
    """
