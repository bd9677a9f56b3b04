"""The `proofshelf` command itself: finds its subcommands and turns every error into one sentence."""

import os
import sys
import traceback
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, NoReturn

import click
from click.exceptions import NoArgsIsHelpError

from catalog.commands.errors import PROGRAM, Stopped, explain
from catalog.commands.lazy import LazyGroup
from catalog.commands.options import DATABASE_HELP
from catalog.commands.output import clean, prepare_streams

# Name -> module of this package, or a package of its own for a group. In the order of a first day.
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
    "screen": "screen",
    "classify": "classify",
    "schedule": "schedule",
    "seal": "seal",
    "schema": "schema",
}


class CommandGroup(LazyGroup):
    """The command at the root. Commands return their exit code."""

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


def _version() -> str:
    try:
        return metadata.version("proofshelf")
    except metadata.PackageNotFoundError:
        return "unknown (not installed)"


@click.group(
    cls=CommandGroup,
    package="catalog.commands",
    modules=COMMANDS,
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
