"""docs/commands.md, written from the help texts: `python -m catalog.commands.reference docs/commands.md`."""

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from catalog.commands.errors import PROGRAM
from catalog.commands.group import cli

WIDTH = 100

_TOP = """# Commands

Generated from the help texts by `make docs`; a test compares. Every command takes `--json`: one JSON
document on standard output, with everything that the command would print; messages go to standard error.

The database is `--db` (before or after the command's name), else `$PROOFSHELF_DB`, else `./proofshelf.db`.
`$PROOFSHELF_WHO` names who did it in the journal, else the account does. `$NO_COLOR` is honoured; without a
terminal nothing is coloured, folded or cut. `$PROOFSHELF_DEBUG` adds the traceback to an error.

| exit code | means |
|---|---|
| 0 | done, or verified |
| 1 | bad input, or refused: one sentence on standard error says what and what to do |
| 2 | wrong usage |
| 3 | verification failed, or the chain isn't sound |
| 4 | incomplete: nothing denies a number, and not everything could be recomputed |
| 130 | stopped with Ctrl-C; what was finished is kept, nothing is half-written |

"""


def reference() -> str:
    """The whole page."""
    return "\n".join([_TOP, *_sections(cli, PROGRAM, None)])


def _sections(command: click.Command, title: str, parent: click.Context | None) -> Iterator[str]:
    """A command's own section, then those of what is in it."""
    context = click.Context(
        command,
        info_name=title.rpartition(" ")[2],
        parent=parent,
        terminal_width=WIDTH,
        max_content_width=WIDTH,
        help_option_names=cli.context_settings["help_option_names"],
    )
    yield _section(title, context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from _sections(inner, f"{title} {name}", context)


def _section(title: str, context: click.Context) -> str:
    return f"## {title}\n\n```text\n{context.get_help().rstrip()}\n```\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(reference(), encoding="utf-8")
