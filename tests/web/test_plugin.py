"""The plugin is found by its entry point, whoever imports what first."""

import subprocess
import sys

import pytest

HOOKS = ["get_metadata", "menu_links", "register_routes", "render_cell"]


@pytest.mark.parametrize(
    "first", ["catalog.web", "catalog.web.routes", "catalog.web.charts", "datasette.app"]
)
def test_every_hook_is_there_in_any_order_of_imports(first: str) -> None:
    """Datasette registers all entry points when its plugins load: were ours half imported then, it would be
    there without a hook, and every page of ours a 404."""
    code = (
        f"import {first}\n"
        "from datasette.plugins import pm\n"
        "print(*sorted(h.name for h in pm.get_hookcallers(pm.get_plugin('proofshelf'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == HOOKS
