"""Which of the attached databases is the catalog, and where its objects lie."""

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from catalog.database import objects_path

TABLES_OF_A_CATALOG = frozenset({"slugs", "works", "artifacts", "verifications", "checks"})
_REMEMBERED = "_proofshelf_site"


@dataclass(frozen=True)
class Site:
    """One catalog, served: its name among Datasette's databases, and its files."""

    database: str
    path: Path

    @property
    def objects(self) -> Path:
        """The folder of stored files, named by their SHA-256."""
        return objects_path(self.path)

    def object(self, sha256: str) -> Path:
        """Where one stored file lies."""
        return self.objects / sha256[:2] / sha256


def site_of(datasette: Any) -> Site | None:
    """The first attached database that has a catalog's tables; None when there is none.

    A catalog that was found stays found: Datasette asks for routes once, before it serves.
    """
    remembered: Site | None = getattr(datasette, _REMEMBERED, None)
    if remembered is not None:
        return remembered
    for name, database in getattr(datasette, "databases", {}).items():
        if database.path is not None and _is_catalog(Path(database.path)):
            site = Site(name, Path(database.path))
            setattr(datasette, _REMEMBERED, site)
            return site
    return None


def _is_catalog(path: Path) -> bool:
    """True when the file can be read and holds a catalog's tables."""
    try:
        db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        try:
            names = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        finally:
            db.close()
    except sqlite3.Error:
        return False
    return names >= TABLES_OF_A_CATALOG
