"""docs/commands.md, written from the help texts: `python -m catalog.commands.reference docs/commands.md`."""

import sys
from pathlib import Path

import click

from catalog.commands.errors import PROGRAM
from catalog.commands.group import COMMANDS, cli

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
    root = _context(cli, PROGRAM, None)
    parts = [_TOP, _section(PROGRAM, root)]
    for name in COMMANDS:
        command = cli.get_command(root, name)
        assert command is not None
        parts.append(_section(f"{PROGRAM} {name}", _context(command, name, root)))
    return "\n".join(parts)


def _context(command: click.Command, name: str, parent: click.Context | None) -> click.Context:
    return click.Context(
        command,
        info_name=name,
        parent=parent,
        terminal_width=WIDTH,
        max_content_width=WIDTH,
        help_option_names=cli.context_settings["help_option_names"],
    )


def _section(title: str, context: click.Context) -> str:
    return f"## {title}\n\n```text\n{context.get_help().rstrip()}\n```\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(reference(), encoding="utf-8")
