"""One vote on one question, where a vote that wasn't cast is a state of its own."""

from enum import Enum
from typing import Final


class NotCast(Enum):
    """That a rater has not voted on a work: neither a positive, a negative, nor an unusable vote.

    It has no truth value, so that nobody can take it for a negative.
    """

    NOT_CAST = "not_cast"

    def __bool__(self) -> bool:
        raise TypeError("a vote that wasn't cast is neither true nor false")


NOT_CAST: Final = NotCast.NOT_CAST

Cell = bool | None | NotCast
"""One vote on one question: True, False, None where it isn't usable, NOT_CAST where there is none."""
