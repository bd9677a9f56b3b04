"""The catalog in a browser: a Datasette plugin of pages, their JSON twins, charts and downloads.

Every fact comes from `catalog.queries` and `catalog.screening_queries`; modules here lay it out, and
templates only print. Whoever is signed in as a rater votes by `catalog.store`, as a command does; nobody
else writes. No SQL, no state decided, and nothing fetched from anywhere but this machine lives here.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import datasette as plugin_api

from catalog.web.routes import routes_for
from catalog.web.site import site_of
from catalog.web.tables import cell_link, metadata

Hook = TypeVar("Hook", bound=Callable[..., Any])


def hookimpl(hook: Hook) -> Hook:
    """Datasette's decorator, with the type that it keeps."""
    marked: Hook = plugin_api.hookimpl(hook)
    return marked


@hookimpl
def register_routes(datasette: Any) -> list[tuple[str, Any]]:
    """Our pages, when a catalog is attached; else none, and Datasette keeps its own index."""
    site = site_of(datasette)
    return routes_for(site) if site else []


@hookimpl
def get_metadata(datasette: Any) -> dict[str, Any]:
    """Descriptions, facets and search of the catalog's tables."""
    site = site_of(datasette)
    return metadata(site.database) if site else {}


@hookimpl
def menu_links(datasette: Any) -> list[dict[str, str]]:
    """The way back from Datasette's own pages."""
    site = site_of(datasette)
    return [{"href": datasette.urls.instance(), "label": "Catalog"}] if site else []


@hookimpl
def render_cell(value: Any, column: str, table: str | None, database: str, datasette: Any) -> Any:
    """A slug in a table leads to its page."""
    site = site_of(datasette)
    if site is None or database != site.database or table is None:
        return None
    return cell_link(datasette, table, column, value)
