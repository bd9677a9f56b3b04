"""The `proofshelf` command itself: finds its subcommands and turns every error into one sentence."""

import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import metadata
from pathlib import Path
from typing import Any, NoReturn

import click
from click.exceptions import NoArgsIsHelpError

from catalog.commands.errors import PROGRAM, Stopped, explain
from catalog.commands.options import DATABASE_HELP
from catalog.commands.output import clean, prepare_streams

# Name -> module of this package, which has the command as `command`. In the order of a first day.
COMMANDS = {
    "init": "init",
    "demo": "demo",
    "add": "add",
    "import": "imports",
    "list": "lists",
    "show": "show",
    "search": "search",
    "verify": "verify",
    "rerun": "rerun",
    "audit": "audit",
    "backup": "backup",
    "export": "export",
    "browse": "browse",
    "seal": "seal",
    "schema": "schema",
}


class CommandGroup(click.Group):
    """A group that imports a command only when it is asked for. Commands return their exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order in which a newcomer meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now; None when there is no such name."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"catalog.commands.{COMMANDS[cmd_name]}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it, but an unknown name is answered with the close ones."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            close = get_close_matches(name, COMMANDS, n=3, cutoff=0.5)
            hint = f"did you mean {_either(close)}?" if close else f"`{PROGRAM} --help` lists them"
            raise click.UsageError(f"there is no command {name!r}; {hint}", ctx=None)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the subcommand; Ctrl-C becomes one line."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            # CPython remembers an interrupt that passed through exec() of a text, as imports use it, and
            # would end by signal instead of with our exit code; running any text makes it forget.
            exec("")
            raise Stopped from None
        except BrokenPipeError:
            _leave_quietly()

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any) -> NoReturn:  # type: ignore[override]
        """Run a command line and leave with its exit code."""
        prepare_streams()
        extra["standalone_mode"] = False
        try:
            code = super().main(args, prog_name or PROGRAM, **extra)
            sys.stdout.flush()
        except BrokenPipeError:
            _leave_quietly()
        except NoArgsIsHelpError as error:
            click.echo(error.format_message(), err=True)
            sys.exit(error.exit_code)
        except click.UsageError as error:
            _fail(_usage(error), error.exit_code)
        except click.ClickException as error:
            _fail(error.format_message(), error.exit_code)
        except (click.Abort, KeyboardInterrupt):
            _fail(Stopped().message, Stopped.exit_code)
        except Exception as error:  # noqa: BLE001 - the last line of defence: no traceback reaches a user
            _fail_with(error)
        sys.exit(code if isinstance(code, int) else 0)


def _usage(error: click.UsageError) -> str:
    message = error.format_message().strip().rstrip(".")
    message = message[:1].lower() + message[1:]
    if error.ctx is None:
        return message
    return f"{message}; `{error.ctx.command_path} --help` shows how"


def _fail_with(error: Exception) -> NoReturn:
    if os.environ.get("PROOFSHELF_DEBUG"):
        traceback.print_exception(error)
    sentence = explain(error)
    if sentence is None:
        kind, text = type(error).__name__, " ".join(str(error).split())
        sentence = (
            f"unexpected {kind}{': ' if text else ''}{text}; this is a bug of {PROGRAM}: please report it "
            "with what PROOFSHELF_DEBUG=1 shows when you run the command again"
        )
    _fail(sentence, 1)


def _fail(sentence: str, code: int) -> NoReturn:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _leave_quietly()
    except OSError:
        _drop_output()  # what couldn't be written is why we are here; it isn't tried again at exit
    try:
        print(f"{PROGRAM}: {clean(sentence)}", file=sys.stderr)
    except BrokenPipeError:
        _leave_quietly()
    sys.exit(code)


def _leave_quietly() -> NoReturn:
    """The reader of our output went away, as `| head` does: no message, the shell's code for it."""
    _drop_output()
    sys.exit(141)


def _drop_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _either(names: list[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"


def _version() -> str:
    try:
        return metadata.version("proofshelf")
    except metadata.PackageNotFoundError:
        return "unknown (not installed)"


@click.group(
    cls=CommandGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    no_args_is_help=True,
)
@click.option("--db", type=click.Path(path_type=Path), help=DATABASE_HELP)
@click.version_option(_version(), "--version", prog_name=PROGRAM)
def cli(db: Path | None) -> None:
    """A literature catalog in which every paper can prove its numbers.

    A package holds a paper's data and its claims; `verify` computes every claim again and says
    what stands behind it. The catalog is one SQLite file: --db, else $PROOFSHELF_DB, else
    ./proofshelf.db.

    \b
    Examples:
      proofshelf demo
      proofshelf init
      proofshelf add my-package
      proofshelf verify my-package

    Exit codes: 0 done or verified, 1 bad input or refused, 2 wrong usage, 3 verification failed,
    4 incomplete (nothing denies a number, and not everything could be recomputed), 130 stopped.
    """
