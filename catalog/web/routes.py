"""Addresses, and what answers each: ask the catalog, lay out, send."""

import json
import sqlite3
from dataclasses import replace
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

from datasette.utils.asgi import Response

from catalog import queries
from catalog.lookup import NotFound
from catalog.pages import WorkSummary
from catalog.web import charts, format, headers, pages
from catalog.web.answers import Answers, BadAddress, View, asset
from catalog.web.downloads import Unsound, download, sound_object
from catalog.web.model_routes import ModelViews
from catalog.web.queue_routes import QueueViews
from catalog.web.raters import actor_id, queues_of, unseen_in
from catalog.web.site import Site
from catalog.web.study_routes import StudyViews, made_up_studies
from schema.artifact import File

PER_PAGE = 50


def routes_for(site: Site) -> list[tuple[str, View]]:
    """Every route, before Datasette's own. `.json` gives the same facts as JSON."""
    views, studies, models, rating = _Views(site), StudyViews(site), ModelViews(site), QueueViews(site)
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
        (r"^/studies(?P<json>\.json)?$", studies.guarded(studies.studies)),
        (r"^/studies/(?P<slug>[^/]+?)(?P<json>\.json)?$", studies.guarded(studies.study)),
        (r"^/studies/(?P<slug>[^/]+)/flow\.svg$", studies.guarded(studies.flow)),
        (
            r"^/studies/(?P<slug>[^/]+)/rounds/(?P<round>[^/]+?)(?P<json>\.json)?$",
            studies.guarded(studies.round),
        ),
        (r"^/studies/(?P<slug>[^/]+)/queue/(?P<round>[^/]+)$", rating.guarded(rating.queue)),
        (r"^/studies/(?P<slug>[^/]+)/adjudicate/(?P<round>[^/]+)$", rating.guarded(rating.adjudicate)),
        (r"^/models(?P<json>\.json)?$", models.guarded(models.models)),
        (r"^/models/(?P<slug>[^/]+?)(?P<json>\.json)?$", models.guarded(models.model)),
        (
            r"^/models/(?P<slug>[^/]+)/charts/(?P<head>[^/]+)/(?P<category>[^/]+)/"
            r"(?P<name>[^/]+?)\.(?P<ending>vl\.json|csv|svg)$",
            models.guarded(models.chart),
        ),
        (r"^/-/proofshelf/(?P<name>style\.css|screening\.css|charts\.js|queue\.js)$", static),
        (r"^/-/proofshelf/vega\.js$", vega),
    ]


class _Views(Answers):
    """The pages of papers, packages and runs."""

    async def front(self, request: Any, datasette: Any) -> Response:
        """`/`"""
        facts = await self.ask(datasette, queries.overview)
        queues = await self.ask(datasette, lambda db: queues_of(db, actor_id(request)))
        return await self.send(request, datasette, "front", facts, {"page": facts, "queues": queues})

    async def works(self, request: Any, datasette: Any) -> Response:
        """`/works`"""
        number, offset = _page_number(request)
        found = await self.ask(datasette, lambda db: queries.works(db, PER_PAGE + 1, offset))
        shown = found[:PER_PAGE]
        facts = {"page": number, "more": len(found) > PER_PAGE, "works": shown}
        return await self.send(
            request, datasette, "works", facts, {**facts, "first": offset + 1, "last": offset + len(shown)}
        )

    async def search(self, request: Any, datasette: Any) -> Response:
        """`/search?q=`"""
        text = (request.args.get("q") or "").strip()[:500]
        number, offset = _page_number(request)
        found: tuple[WorkSummary, ...] = ()
        total = 0
        if text:
            total, found = await self.ask(datasette, lambda db: queries.search(db, text, PER_PAGE, offset))
        facts = {"q": text, "total": total, "page": number, "works": found}
        context = {**facts, "query": text, "first": offset + 1, "last": offset + len(found)}
        return await self.send(request, datasette, "search", facts, context)

    async def artifacts(self, request: Any, datasette: Any) -> Response:
        """`/artifacts`"""
        facts = {"artifacts": await self.ask(datasette, queries.artifacts)}
        return await self.send(request, datasette, "artifacts", facts, facts)

    async def verifications(self, request: Any, datasette: Any) -> Response:
        """`/verifications`, of one package with `?artifact=SLUG`"""
        slug = request.args.get("artifact") or None
        facts = {"artifact": slug, "runs": await self.ask(datasette, lambda db: queries.runs(db, slug))}
        return await self.send(request, datasette, "verifications", facts, facts)

    async def work(self, request: Any, datasette: Any) -> Response:
        """`/works/SLUG`"""
        slug = unquote(request.url_vars["slug"])
        facts = await self.ask(datasette, lambda db: queries.work(db, slug))
        blinded = await self.ask(
            datasette, lambda db: unseen_in(db, actor_id(request), facts.work.id or slug)
        )
        if blinded:
            facts = replace(facts, screens=(), statements=(), releases=(), decisions=())
        shown = {screen.round.study for screen in facts.screens}
        context = {
            **pages.work_context(facts),
            "blinded": blinded,
            "synthetic": made_up_studies(facts) - shown,
        }
        return await self.send(request, datasette, "work", facts, context)

    async def artifact(self, request: Any, datasette: Any) -> Response:
        """`/artifacts/SLUG`, at `?version=N` or the newest"""
        slug, version = unquote(request.url_vars["slug"]), _version(request)
        facts = await self.ask(datasette, lambda db: queries.artifact(db, slug, version))
        context = pages.artifact_context(facts)
        if not request.url_vars.get("json"):
            context |= {"charts": await self._charts(datasette, facts), "can_draw": charts.can_draw()}
        return await self.send(request, datasette, "artifact", facts, context)

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
        facts = await self.ask(datasette, lambda db: queries.artifact(db, slug, version))
        for file in facts.manifest.files:
            if file.path == path:
                return file
        raise NotFound(
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
            raise NotFound(f"{file.path} is no chart, so it has no data table")
        spec = await self._spec(datasette, unquote(request.url_vars["slug"]), file)
        body = charts.as_csv(charts.table(spec if isinstance(spec, dict) else {}))
        name = file.path.removesuffix(charts.SUFFIX) + ".csv"
        return Response(body, 200, headers.file_headers(name), "text/csv; charset=utf-8")

    async def verification(self, request: Any, datasette: Any) -> Response:
        """`/verifications/N`"""
        text = request.url_vars["number"]
        if not (text.isascii() and text.isdigit() and len(text) < 19):
            raise NotFound(f"A verification is named by its number, such as 12, not {unquote(text)!r}.")
        facts = await self.ask(datasette, lambda db: queries.verification(db, int(text)))
        return await self.send(request, datasette, "verification", facts, pages.verification_context(facts))


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


async def static(request: Any) -> Response:
    """The stylesheet, the script that draws charts, and the one of the queue's keys."""
    name = request.url_vars["name"]
    kind = "text/css" if name.endswith(".css") else "text/javascript"
    body, tag = asset(name)
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
