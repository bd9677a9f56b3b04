"""Writing from a page: by `catalog.store` as every command writes, in a thread of its own."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from catalog import store
from catalog.errors import CatalogError
from catalog.web.site import Site

Made = TypeVar("Made")
BUSY_SECONDS = 5.0
"""How long a page waits for another writer before it says so: a person waits for the answer."""


class NotWritten(Exception):
    """What was asked for was not recorded; the message says why, `again` whether to try once more."""

    def __init__(self, sentence: str, again: bool) -> None:
        super().__init__(sentence)
        self.again = again


class Writer:
    """Writes into one catalog, one unit after the other; the server goes on answering meanwhile."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="proofshelf-writer")

    async def write(self, datasette: Any, unit: Callable[[store.Catalog], Made]) -> Made:
        """Do one unit of `catalog.store`. Raises NotWritten with a sentence."""
        if not datasette.get_database(self.site.database).is_mutable:
            raise NotWritten("this catalog is served as a file that never changes", again=False)

        def in_thread() -> Made:
            with store.open_catalog(self.site.path, writable=True, busy_seconds=BUSY_SECONDS) as catalog:
                return unit(catalog)

        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, in_thread)
        except CatalogError as error:
            raise NotWritten(str(error), again="is locked by another writer" in str(error)) from error
