"""Which of the attached databases is the catalog, and where its objects lie."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from artifacts.objects import ObjectStore
from catalog.database import is_catalog, objects_path

_REMEMBERED = "_proofshelf_site"


@dataclass(frozen=True)
class Site:
    """One catalog, served: its name among Datasette's databases, and its files."""

    database: str
    path: Path

    def objects(self) -> ObjectStore:
        """Its stored files: a store for each asker, since requests are answered in several threads."""
        return ObjectStore(objects_path(self.path))


def site_of(datasette: Any) -> Site | None:
    """The first attached database that is a catalog; None when there is none.

    A catalog that was found stays found: Datasette asks for routes once, before it serves.
    """
    remembered: Site | None = getattr(datasette, _REMEMBERED, None)
    if remembered is not None:
        return remembered
    for name, database in getattr(datasette, "databases", {}).items():
        if database.path is not None and is_catalog(Path(database.path)):
            site = Site(name, Path(database.path))
            setattr(datasette, _REMEMBERED, site)
            return site
    return None
