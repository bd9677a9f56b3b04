"""Agreement of a question's votes, computed once for the same votes, in a thread beside the server's."""

import asyncio
from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

from catalog.screening_pages import RatingTable
from catalog.screening_statistics import QuestionAgreement, agreement_of

Made = TypeVar("Made")
SEED = 0
"""Of the bootstrap, as in `proofshelf screen agreement`: a page and the command say the same."""


@lru_cache(maxsize=512)
def agreed(table: RatingTable, by_stratum: bool) -> QuestionAgreement:
    """Agreement of votes as they are; other votes are another table."""
    return agreement_of(table, SEED, by_stratum=by_stratum)


async def computed(work: Callable[[], Made]) -> Made:
    """What a computation gives, while the server goes on answering."""
    return await asyncio.get_running_loop().run_in_executor(None, work)
