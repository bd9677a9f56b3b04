"""The command line: thin commands over the library, one module each.

Each command asks `catalog.store` or `catalog.queries`, lays the answer out (or prints it as JSON)
and returns its exit code. `group` turns every error into one sentence; `output` owns the layout.
"""

from catalog.commands.group import main

__all__ = ["main"]
