"""Orders that need no random numbers: by SHA-256 of an id and a stored salt or seed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from classifiers.errors import ClassifierError

Key = tuple[str, str]


def hash_order(ids: Iterable[str], salt: str) -> list[str]:
    """Ids in the order of the hexadecimal SHA-256 of id || salt (UTF-8); equal hashes by id.

    Raises
    ------
    ClassifierError : for an id that is no valid Unicode text.
    """
    return [name for _, name in sorted(hash_keys(ids, salt))]


def presentation_order(ids: Iterable[str], seed: int) -> list[str]:
    """Ids in the order of the hexadecimal SHA-256 of seed || id, the seed in decimal digits.

    Raises
    ------
    ClassifierError : for an id that is no valid Unicode text.
    """
    return [name for _, name in sorted((_hash(f"{seed}{name}", name), name) for name in ids)]


def hash_keys(ids: Iterable[str], salt: str) -> Iterator[Key]:
    """What `hash_order` sorts by, one for each id."""
    for name in ids:
        yield _hash(name + salt, name), name


def _hash(text: str, name: str) -> str:
    try:
        return hashlib.sha256(text.encode("utf-8")).hexdigest()
    except UnicodeEncodeError:
        raise ClassifierError(f"record {name!r}: its id isn't valid Unicode text") from None
