"""Cutting what raters see into chunks, in an order that a stored seed fixes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from classifiers.errors import ClassifierError
from classifiers.sampling.order import presentation_order
from schema.ballots import ChunkManifest, chunk_sha256


def cut(ids: Sequence[str], size: int) -> list[tuple[str, ...]]:
    """Chunks of `size` ids in their order; the last may be smaller.

    Raises
    ------
    ClassifierError : for a size below 1.
    """
    if size < 1:
        raise ClassifierError(f"the chunk size is {size}, expected 1 or more")
    return [tuple(ids[start : start + size]) for start in range(0, len(ids), size)]


def chunk_manifests(round_: str, ids: Sequence[str], size: int, seed: int) -> tuple[ChunkManifest, ...]:
    """The chunks of a round in the order of presentation, numbered from 1, each with its hash.

    Raises
    ------
    ClassifierError : for an id that is there twice, or a size below 1.
    """
    twice = [name for name, times in Counter(ids).items() if times > 1]
    if twice:
        raise ClassifierError(f"record {twice[0]} is there twice; expected each id once")
    return tuple(
        ChunkManifest(
            round=round_, position=position, works=works, sha256=chunk_sha256(round_, position, works)
        )
        for position, works in enumerate(cut(presentation_order(ids, seed), size), start=1)
    )
