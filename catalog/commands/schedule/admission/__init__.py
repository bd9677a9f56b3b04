"""`proofshelf schedule admission`: agent attempts, from their logs to complete schedules."""

import click

from catalog.commands.lazy import LazyGroup

# Name -> module of this package, in the order of a first day.
COMMANDS = {
    "generate": "generate",
    "census": "census",
    "import": "imports",
    "replay": "replay",
    "search": "search",
    "resume": "resume",
    "refine": "refine",
    "front": "front",
    "experiment": "experiment",
    "validate": "validate",
}


@click.group(
    "admission", cls=LazyGroup, package="catalog.commands.schedule.admission", modules=COMMANDS,
    no_args_is_help=True,
)  # fmt: skip
def command() -> None:
    """Admit agent attempts: replay, search, prove, compare.

    Attempts have fixed durations; only their starts are decided. Reservations are quotas held, not what
    was really used. `docs/admission.md` explains the model and goes through a whole study.

    \b
    Examples:
      proofshelf schedule admission generate tmax-like --attempts 30 --to attempts.jsonl --force
      proofshelf schedule admission census attempts.jsonl
      proofshelf schedule admission replay attempts.jsonl --slots 4
    """
