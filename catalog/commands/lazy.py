"""Groups of commands that import one only when it is asked for."""

import importlib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

import click

from catalog.commands.errors import PROGRAM


class LazyGroup(click.Group):
    """A group of commands, each in a module that has it as `command`. In the order of a first day.

    `package` is where the modules are; `modules` gives each command's.
    """

    def __init__(self, *arguments: Any, package: str, modules: Mapping[str, str], **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.package = package
        self.modules = modules

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order in which a newcomer meets them."""
        return list(self.modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now; None when there is no such name."""
        if cmd_name not in self.modules:
            return None
        module = importlib.import_module(f"{self.package}.{self.modules[cmd_name]}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it, but an unknown name is answered with the close ones."""
        name = args[0]
        if name not in self.modules and not name.startswith("-"):
            path = [PROGRAM, *ctx.command_path.split()[1:]]
            close = get_close_matches(name, self.modules, n=3, cutoff=0.5)
            hint = f"did you mean {_either(close)}?" if close else f"`{' '.join(path)} --help` lists them"
            raise click.UsageError(f"there is no command {' '.join([*path[1:], name])!r}; {hint}", ctx=None)
        return super().resolve_command(ctx, args)


def walk(
    command: click.Command, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command beneath, each with the names that lead to it, groups before what is in them."""
    if path:
        yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=path[-1] if path else PROGRAM)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            if found is not None:
                yield from walk(found, (*path, name))


def _either(names: list[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"
