"""Figures of votes, computed once for the same votes, in a thread beside the server's."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

Made = TypeVar("Made")
SEED = 0
"""Of the bootstrap, as in `proofshelf screen agreement`: a page and the command say the same."""
KEPT = 400


class Kept(Generic[Made]):
    """The newest results by what they were made from; the one longest unasked for goes first."""

    def __init__(self) -> None:
        self._results: OrderedDict[Hashable, Made] = OrderedDict()

    async def get(self, key: Hashable, make: Callable[[], Awaitable[Made]]) -> Made:
        """The result of this key, made if it isn't here."""
        if key not in self._results:
            self._results[key] = await make()
            while len(self._results) > KEPT:
                self._results.popitem(last=False)
        self._results.move_to_end(key)
        return self._results[key]


async def computed(work: Callable[[], Made]) -> Made:
    """What a computation gives, while the server goes on answering."""
    return await asyncio.get_running_loop().run_in_executor(None, work)
