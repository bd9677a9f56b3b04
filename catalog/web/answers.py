"""What every page of ours needs: who may see it, one state of the database, a template, a sentence."""

import sqlite3
from collections.abc import Awaitable, Callable
from functools import lru_cache
from importlib.resources import files
from typing import Any, TypeVar
from urllib.parse import quote

from datasette.utils.asgi import Response
from pydantic_core import to_jsonable_python

from catalog.database import snapshot
from catalog.lookup import NotFound
from catalog.web import figures, format, headers, labels
from catalog.web.downloads import Unsound
from catalog.web.site import Site

Answer = TypeVar("Answer")
View = Callable[..., Awaitable[Any]]


class BadAddress(ValueError):
    """An address that asks for something that can't be; the message says what may stand there."""


class Answers:
    """How the pages of one catalog ask and answer."""

    def __init__(self, site: Site) -> None:
        self.site = site

    def guarded(self, view: View) -> View:
        """The view for whoever may see the database; what can't be answered becomes a sentence."""

        async def guarded_view(request: Any, datasette: Any) -> Any:
            await datasette.ensure_permissions(
                request.actor, [("view-database", self.site.database), "view-instance"]
            )
            try:
                return await view(request, datasette)
            except NotFound as problem:
                return await self.problem(request, datasette, 404, "Not found", as_sentence(problem))
            except BadAddress as problem:
                return await self.problem(request, datasette, 400, "Can't be shown", as_sentence(problem))
            except Unsound as problem:
                return await self.problem(request, datasette, 409, "Not as it was stored", str(problem))
            except sqlite3.Error as problem:
                sentence = f"The catalog couldn't be read ({problem}). Nothing was changed; try again."
                return await self.problem(request, datasette, 503, "Not now", sentence)

        return guarded_view

    async def ask(self, datasette: Any, question: Callable[[sqlite3.Connection], Answer]) -> Answer:
        """One answer from one state of the database, even while somebody writes."""

        def in_one_state(db: sqlite3.Connection) -> Answer:
            with snapshot(db):
                return question(db)

        answer: Answer = await datasette.get_database(self.site.database).execute_fn(in_one_state)
        return answer

    async def send(
        self, request: Any, datasette: Any, template: str, facts: Any, context: dict[str, Any]
    ) -> Response:
        """The page of a template, or its facts as JSON where the address asks for that."""
        if request.url_vars.get("json") or request.path.endswith("/index.json"):
            return headers.json_page(to_jsonable_python(facts), datasette)
        return headers.page(await self.render(request, datasette, template, context))

    async def render(self, request: Any, datasette: Any, template: str, context: dict[str, Any]) -> str:
        """A template of ours, with what every page has."""
        path = datasette.urls.path
        html: str = await datasette.render_template(
            f"proofshelf/{template}.html",
            {
                "f": format,
                "L": labels,
                "n": figures,
                "path": path,
                "at": lambda *parts: path("/" + "/".join(quote(part, safe="") for part in parts)),
                "tables_url": datasette.urls.database(self.site.database),
                "table_url": lambda name: datasette.urls.table(self.site.database, name),
                "permalink": datasette.absolute_url(request, request.path),
                "style_version": asset("style.css")[1],
                "script_version": asset("charts.js")[1],
                "version_of": lambda name: asset(name)[1],
                "catalog_file": self.site.path.name,
                "query": "",
                **context,
            },
            request=request,
        )
        return html

    async def problem(self, request: Any, datasette: Any, status: int, title: str, sentence: str) -> Response:
        """A page that says what can't be answered, and why."""
        if request.url_vars.get("json"):
            return headers.json_page({"ok": False, "error": sentence}, datasette, status)
        context = {"title": title, "sentence": sentence, "status": status}
        return headers.page(await self.render(request, datasette, "problem", context), status)


def as_sentence(problem: Exception) -> str:
    """An error's message as a reader reads it: a capital at its start, a full stop at its end."""
    text = str(problem)
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


@lru_cache(maxsize=8)
def asset(name: str) -> tuple[bytes, str]:
    """A stylesheet or script of ours, and its fingerprint."""
    body = (files("catalog.web") / "static" / name).read_bytes()
    return body, headers.digest(body)
