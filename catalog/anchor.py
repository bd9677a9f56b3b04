"""The head of the chain, kept outside the database, so that the loss of the last run is seen.

The file beside the catalog is written after each commit, under the database's write lock, and never
goes backwards. Behind the database it means that somebody was interrupted; ahead of it, or beside
it, that a run was removed or rewritten.
"""

import json
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from catalog.database import sync_folder
from catalog.errors import CatalogError
from schema.base import canonical_json
from schema.verification import GENESIS


@dataclass(frozen=True)
class Head:
    """The last run: how many there are, its number (0: none), its hash."""

    runs: int
    last: int
    hash: str


EMPTY = Head(0, 0, GENESIS)


def read_head(path: Path) -> Head | None:
    """What the anchor file says, or None where there is none. CatalogError for one that isn't whole."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CatalogError(f"the anchor {path} can't be read: {(error.strerror or '').lower()}") from error
    except UnicodeDecodeError as error:
        raise CatalogError(f"the anchor {path} is damaged; it holds no head of a chain") from error
    try:
        value = json.loads(text)
        head = Head(value["runs"], value["last"], value["hash"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise CatalogError(f"the anchor {path} is damaged; it holds no head of a chain") from error
    counts = all(type(n) is int and 0 <= n < 2**63 for n in (head.runs, head.last))
    if not counts or not isinstance(head.hash, str) or not re.fullmatch(r"[0-9a-f]{64}", head.hash):
        raise CatalogError(f"the anchor {path} is damaged; it holds no head of a chain")
    return head


def write_head(path: Path, head: Head) -> None:
    """Replace the anchor file whole: written aside, made to last, then renamed."""
    data = canonical_json({"runs": head.runs, "last": head.last, "hash": head.hash}) + b"\n"
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(name, 0o644)
            os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise CatalogError(f"the anchor {path} can't be written: {error.strerror}") from error
    sync_folder(path.parent)
