"""Releases trained here, as rows: their files, scores streamed in, calls."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Scored:
    """What a scoring wrote. `works` and `scores` are new; `known` works had these scores already."""

    release: str
    works: int
    scores: int
    known: int
