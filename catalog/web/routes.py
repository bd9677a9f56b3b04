"""Addresses, and what answers each: ask the catalog, lay out, send."""

import json
import sqlite3
from collections.abc import Awaitable, Callable
from functools import lru_cache
from importlib.resources import files
from typing import Any, TypeVar
from urllib.parse import unquote

from datasette.utils.asgi import Response
from pydantic_core import to_jsonable_python

from catalog import queries
from catalog.database import snapshot
from catalog.pages import WorkSummary
from catalog.web import charts, format, headers, pages
from catalog.web.downloads import Unsound, download, sound_object
from catalog.web.site import Site
from schema.artifact import File

Answer = TypeVar("Answer")
View = Callable[..., Awaitable[Any]]
PER_PAGE = 50


class BadAddress(ValueError):
    """An address that asks for something that can't be; the message says what may stand there."""


def routes_for(site: Site) -> list[tuple[str, View]]:
    """Every route, before Datasette's own. `.json` gives the same facts as JSON."""
    views = _Views(site)
    return [
        (r"^/$", views.guarded(views.front)),
        (r"^/index\.json$", views.guarded(views.front)),
        (r"^/works(?P<json>\.json)?$", views.guarded(views.works)),
        (r"^/search(?P<json>\.json)?$", views.guarded(views.search)),
        (r"^/artifacts(?P<json>\.json)?$", views.guarded(views.artifacts)),
        (r"^/verifications(?P<json>\.json)?$", views.guarded(views.verifications)),
        (r"^/works/(?P<slug>[^/]+?)(?P<json>\.json)?$", views.guarded(views.work)),
        (r"^/artifacts/(?P<slug>[^/]+?)(?P<json>\.json)?$", views.guarded(views.artifact)),
        (r"^/artifacts/(?P<slug>[^/]+)/file/(?P<path>.+)$", views.guarded(views.file)),
        (r"^/artifacts/(?P<slug>[^/]+)/data/(?P<path>.+)\.csv$", views.guarded(views.chart_data)),
        (r"^/verifications/(?P<number>[^/]+?)(?P<json>\.json)?$", views.guarded(views.verification)),
        (r"^/-/proofshelf/(?P<name>style\.css|charts\.js)$", asset),
        (r"^/-/proofshelf/vega\.js$", vega),
    ]


class _Views:
    """The pages of one catalog."""

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
            except queries.NotFound as problem:
                return await self._problem(request, datasette, 404, "Not found", _sentence(problem))
            except BadAddress as problem:
                return await self._problem(request, datasette, 400, "Can't be shown", _sentence(problem))
            except Unsound as problem:
                return await self._problem(request, datasette, 409, "Not as it was stored", str(problem))
            except sqlite3.Error as problem:
                sentence = f"The catalog couldn't be read ({problem}). Nothing was changed; try again."
                return await self._problem(request, datasette, 503, "Not now", sentence)

        return guarded_view

    async def _ask(self, datasette: Any, question: Callable[[sqlite3.Connection], Answer]) -> Answer:
        """One answer from one state of the database, even while somebody writes."""

        def in_one_state(db: sqlite3.Connection) -> Answer:
            with snapshot(db):
                return question(db)

        answer: Answer = await datasette.get_database(self.site.database).execute_fn(in_one_state)
        return answer

    async def _send(
        self, request: Any, datasette: Any, template: str, facts: Any, context: dict[str, Any]
    ) -> Response:
        if request.url_vars.get("json") or request.path.endswith("/index.json"):
            return headers.json_page(to_jsonable_python(facts), datasette)
        return headers.page(await self._render(request, datasette, template, context))

    async def _render(self, request: Any, datasette: Any, template: str, context: dict[str, Any]) -> str:
        path = datasette.urls.path
        html: str = await datasette.render_template(
            f"proofshelf/{template}.html",
            {
                "f": format,
                "path": path,
                "tables_url": datasette.urls.database(self.site.database),
                "table_url": lambda name: datasette.urls.table(self.site.database, name),
                "permalink": datasette.absolute_url(request, request.path),
                "style_version": _asset("style.css")[1],
                "script_version": _asset("charts.js")[1],
                "query": "",
                **context,
            },
            request=request,
        )
        return html

    async def _problem(
        self, request: Any, datasette: Any, status: int, title: str, sentence: str
    ) -> Response:
        if request.url_vars.get("json"):
            return headers.json_page({"ok": False, "error": sentence}, datasette, status)
        context = {"title": title, "sentence": sentence, "status": status}
        return headers.page(await self._render(request, datasette, "problem", context), status)

    async def front(self, request: Any, datasette: Any) -> Response:
        """`/`"""
        facts = await self._ask(datasette, queries.overview)
        return await self._send(request, datasette, "front", facts, {"page": facts})

    async def works(self, request: Any, datasette: Any) -> Response:
        """`/works`"""
        number, offset = _page_number(request)
        found = await self._ask(datasette, lambda db: queries.works(db, PER_PAGE + 1, offset))
        shown = found[:PER_PAGE]
        facts = {"page": number, "more": len(found) > PER_PAGE, "works": shown}
        return await self._send(
            request, datasette, "works", facts, {**facts, "first": offset + 1, "last": offset + len(shown)}
        )

    async def search(self, request: Any, datasette: Any) -> Response:
        """`/search?q=`"""
        text = (request.args.get("q") or "").strip()[:500]
        number, offset = _page_number(request)
        found: tuple[WorkSummary, ...] = ()
        total = 0
        if text:
            total, found = await self._ask(datasette, lambda db: queries.search(db, text, PER_PAGE, offset))
        facts = {"q": text, "total": total, "page": number, "works": found}
        context = {**facts, "query": text, "first": offset + 1, "last": offset + len(found)}
        return await self._send(request, datasette, "search", facts, context)

    async def artifacts(self, request: Any, datasette: Any) -> Response:
        """`/artifacts`"""
        facts = {"artifacts": await self._ask(datasette, queries.artifacts)}
        return await self._send(request, datasette, "artifacts", facts, facts)

    async def verifications(self, request: Any, datasette: Any) -> Response:
        """`/verifications`, of one package with `?artifact=SLUG`"""
        slug = request.args.get("artifact") or None
        facts = {"artifact": slug, "runs": await self._ask(datasette, lambda db: queries.runs(db, slug))}
        return await self._send(request, datasette, "verifications", facts, facts)

    async def work(self, request: Any, datasette: Any) -> Response:
        """`/works/SLUG`"""
        slug = unquote(request.url_vars["slug"])
        facts = await self._ask(datasette, lambda db: queries.work(db, slug))
        return await self._send(request, datasette, "work", facts, pages.work_context(facts))

    async def artifact(self, request: Any, datasette: Any) -> Response:
        """`/artifacts/SLUG`, at `?version=N` or the newest"""
        slug, version = unquote(request.url_vars["slug"]), _version(request)
        facts = await self._ask(datasette, lambda db: queries.artifact(db, slug, version))
        context = pages.artifact_context(facts)
        if not request.url_vars.get("json"):
            context |= {"charts": await self._charts(datasette, facts), "can_draw": charts.can_draw()}
        return await self._send(request, datasette, "artifact", facts, context)

    async def _charts(self, datasette: Any, page: Any) -> list[charts.Chart]:
        """The package's charts that can be read; a broken one is left to the list of files."""
        listed = page.manifest.files
        drawn = []
        for file in filter(charts.is_chart, listed):
            try:
                drawn.append(charts.chart(file, await self._spec(datasette, page.manifest.id, file), listed))
            except (Unsound, BadAddress):
                continue
        return drawn

    async def _spec(self, datasette: Any, slug: str, file: File) -> Any:
        """A chart's specification, from the object store."""
        if file.bytes > charts.LARGEST_SPEC:
            raise BadAddress(f"{file.path} is too large to be drawn ({format.size(file.bytes)}).")

        def read(_: sqlite3.Connection) -> Any:
            try:
                return json.loads(sound_object(self.site, file.sha256, slug).read_bytes())
            except (ValueError, RecursionError):
                raise BadAddress(f"{file.path} isn't JSON, so it can't be drawn.") from None

        return await datasette.get_database(self.site.database).execute_fn(read)

    async def _listed(self, request: Any, datasette: Any) -> File:
        """The file that the address names, if the package lists it."""
        slug, path = unquote(request.url_vars["slug"]), unquote(request.url_vars["path"])
        version = _version(request)
        facts = await self._ask(datasette, lambda db: queries.artifact(db, slug, version))
        for file in facts.manifest.files:
            if file.path == path:
                return file
        raise queries.NotFound(
            f"package {slug}, version {facts.version}, lists no file {path!r}; its page shows them all"
        )

    async def file(self, request: Any, datasette: Any) -> Any:
        """`/artifacts/SLUG/file/PATH`: the stored bytes, read and found unchanged"""
        file, slug = await self._listed(request, datasette), unquote(request.url_vars["slug"])
        stored = await datasette.get_database(self.site.database).execute_fn(
            lambda _: sound_object(self.site, file.sha256, slug)
        )
        return download(stored, file.path)

    async def chart_data(self, request: Any, datasette: Any) -> Response:
        """`/artifacts/SLUG/data/PATH.csv`: the data inside a chart's specification"""
        file = await self._listed(request, datasette)
        if not charts.is_chart(file):
            raise queries.NotFound(f"{file.path} is no chart, so it has no data table")
        spec = await self._spec(datasette, unquote(request.url_vars["slug"]), file)
        body = charts.as_csv(charts.table(spec if isinstance(spec, dict) else {}))
        name = file.path.removesuffix(charts.SUFFIX) + ".csv"
        return Response(body, 200, headers.file_headers(name), "text/csv; charset=utf-8")

    async def verification(self, request: Any, datasette: Any) -> Response:
        """`/verifications/N`"""
        text = request.url_vars["number"]
        if not (text.isascii() and text.isdigit() and len(text) < 19):
            raise queries.NotFound(
                f"A verification is named by its number, such as 12, not {unquote(text)!r}."
            )
        facts = await self._ask(datasette, lambda db: queries.verification(db, int(text)))
        return await self._send(request, datasette, "verification", facts, pages.verification_context(facts))


def _sentence(problem: Exception) -> str:
    text = str(problem)
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


def _page_number(request: Any) -> tuple[int, int]:
    text = request.args.get("page") or "1"
    if not (text.isascii() and text.isdigit() and len(text) <= 9 and int(text) >= 1):
        raise BadAddress(f"`page` is a number from 1, not {text!r}.")
    return int(text), (int(text) - 1) * PER_PAGE


def _version(request: Any) -> int | None:
    text = request.args.get("version")
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise BadAddress(f"`version` is a number from 1, not {text!r}.")
    return int(text)


@lru_cache(maxsize=8)
def _asset(name: str) -> tuple[bytes, str]:
    body = (files("catalog.web") / "static" / name).read_bytes()
    return body, headers.digest(body)


async def asset(request: Any) -> Response:
    """The stylesheet and the script that draws charts."""
    name = request.url_vars["name"]
    kind = "text/css" if name.endswith(".css") else "text/javascript"
    body, tag = _asset(name)
    return headers.asset(request, body, f"{kind}; charset=utf-8", tag)


async def vega(request: Any, datasette: Any) -> Response:
    """The drawing library, made on this machine at the first request."""
    database = next(iter(datasette.databases.values()))
    body, tag = await database.execute_fn(lambda _: _vega())
    if body is None:
        return Response.text("vl-convert-python isn't installed, so charts can't be drawn.", status=404)
    return headers.asset(request, body, "text/javascript; charset=utf-8", tag)


@lru_cache(maxsize=1)
def _vega() -> tuple[bytes | None, str]:
    body = charts.bundle()
    return body, headers.digest(body or b"")
