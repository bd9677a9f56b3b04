"""Manifests as the catalog keeps them: their own bytes, which nobody may have changed."""

import hashlib
import json

from catalog.errors import CatalogError
from schema.artifact import Manifest


def is_as_added(content: str, sha256: str) -> bool:
    """Whether a stored manifest still has the SHA-256 that it was added under."""
    return hashlib.sha256(content.encode()).hexdigest() == sha256


def stored_manifest(content: str, sha256: str, slug: str) -> Manifest:
    """A stored manifest as a record. CatalogError when it was edited since: then its claims are nobody's."""
    if not is_as_added(content, sha256):
        raise CatalogError(
            f"the stored manifest of {slug} was edited since it was added: nothing is said of it; "
            "`proofshelf audit` says more, and a backup has it as it was"
        )
    return as_record(content)


def as_record(content: str) -> Manifest:
    """A manifest's text as a record, by the reader that took it in: another one nests less deep."""
    return Manifest.model_validate(json.loads(content))
