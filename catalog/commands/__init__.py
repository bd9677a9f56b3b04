"""The command line: thin commands over the library, one module each.

Each command asks `catalog.store` or `catalog.queries`, lays the answer out (or prints it as JSON)
and returns its exit code. `group` turns every error into one sentence; `output` owns the layout.
"""

import sys


def main() -> None:
    """The console script. The rest is imported here, so that Ctrl-C is one line from the first moment."""
    try:
        from catalog.commands.group import cli

        cli.main()
    except KeyboardInterrupt:
        sys.stderr.write("proofshelf: stopped before it began\n")
        sys.exit(130)
