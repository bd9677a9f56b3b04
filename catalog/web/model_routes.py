"""Models: what a release was made from, how far it may be believed, what it scored and called."""

import sqlite3
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import quote, unquote

from datasette.utils.asgi import Response

from catalog import screening_queries
from catalog.lookup import NotFound
from catalog.model_figures import calibrated_heads
from catalog.screening_pages import ModelPage, ReleaseSummary
from catalog.web import charts, headers, labels, model_report
from catalog.web.answers import Answers
from catalog.web.model_report import HeadReport
from catalog.web.statistics import computed
from schema.base import canonical_json
from schema.study import Study


@dataclass(frozen=True)
class Models:
    """Every release in a list."""

    releases: tuple[ReleaseSummary, ...]


class ModelViews(Answers):
    """`/models` and what stands beneath it."""

    async def models(self, request: Any, datasette: Any) -> Response:
        """`/models`"""
        facts = Models(await self.ask(datasette, screening_queries.releases))
        return await self.send(request, datasette, "models", facts, {"page": facts})

    async def model(self, request: Any, datasette: Any) -> Response:
        """`/models/RELEASE`, with the charts of `?head=NAME&category=ID`, or of most positives"""
        page = await self._page(request, datasette)
        reports = model_report.head_reports(page.record)
        shown = _shown(reports, request)
        study = await self.ask(datasette, lambda db: _study(db, page.study))
        context = {
            "page": page,
            "release": page.release,
            "study": study,
            "readings": readings(page, study),
            "reports": reports,
            "shown": shown,
            "rounds": model_report.gate_rounds(page.record),
            "verdicts": model_report.verdicts(page.record),
            "report": model_report,
            "charts": [] if shown is None else _charts(shown),
            "can_draw": charts.can_draw(),
            "chart_address": lambda name, ending: _chart_address(datasette, page, shown, name, ending),
        }
        return await self.send(request, datasette, "model", page, context)

    async def chart(self, request: Any, datasette: Any) -> Response:
        """`/models/RELEASE/charts/HEAD/CATEGORY/NAME` as .vl.json, .csv or .svg"""
        page = await self._page(request, datasette)
        head, category, name = (unquote(request.url_vars[part]) for part in ("head", "category", "name"))
        found = next(
            (
                r.charts[name]
                for r in model_report.head_reports(page.record)
                if (r.head, r.category) == (head, category) and name in r.charts
            ),
            None,
        )
        if found is None:
            raise NotFound(f"release {page.release.id!r} has no chart {name!r} of {head}, {category}")
        ending = request.url_vars["ending"]
        if ending == "vl.json":
            return headers.json_page(found, datasette)
        if ending == "csv":
            body = charts.as_csv(charts.table(found))
            return Response(body, 200, headers.file_headers(f"{name}.csv"), "text/csv; charset=utf-8")
        if not charts.can_draw():
            raise NotFound("the picture needs the Python package vl-convert-python")
        text = canonical_json(found).decode("utf-8")
        return headers.picture(await computed(lambda: drawn(text)))

    async def _page(self, request: Any, datasette: Any) -> ModelPage:
        slug = unquote(request.url_vars["slug"])
        return await self.ask(datasette, lambda db: screening_queries.model_page(db, slug))


def _study(db: sqlite3.Connection, slug: str | None) -> Study | None:
    try:
        return None if slug is None else screening_queries.study_record(db, slug)
    except NotFound:
        return None


def readings(page: ModelPage, study: Study | None) -> list[str]:
    """What must be read before any number of a release: true of it, and said each time."""
    release = page.release
    sides = list(dict.fromkeys(head.imitates or head.name for head in page.heads))
    some, every = calibrated_heads(release)
    to_whom = "calibrated, out of fold, to the votes of the rater that a side imitates: to nothing else."
    said = [
        f"Imitation only: each side learned to vote as one rater does ({', '.join(sides)}). "
        "That is fidelity to a rater, not to the truth.",
        "Scores are not calibrated: they order works, and are no probabilities."
        if not some
        else f"Scores are {to_whom}"
        if some == every
        else f"Scores of {some} of {every} heads are {to_whom} Those of the others order works, and are no "
        "probabilities.",
    ]
    if machines := _machines(page, study):
        said.append(
            f"Of the raters imitated, models are: {', '.join(machines)}. Validation by people is pending."
        )
    said.append("A head without support makes no call. No score and no call are no negatives.")
    if release.maturity == "not_passed":
        said.append("The release has not passed the maturity gate, so its scores rank and nothing more.")
    elif release.maturity == "unknown":
        said.append("No maturity gate is known to be passed, so its scores rank and nothing more.")
    return said


def _machines(page: ModelPage, study: Study | None) -> list[str]:
    """The sides that imitate a model, so far as that is known: by the study's raters, or by their words."""
    kinds = {} if study is None else {rater.id: rater.kind for rater in study.raters}
    names = dict.fromkeys((head.name, head.imitates or "") for head in page.heads)
    return [
        name
        for name, imitates in names
        if kinds.get(name, kinds.get(imitates)) == labels.MODEL or imitates.endswith("(machine)")
    ]


def _shown(reports: tuple[HeadReport, ...], request: Any) -> HeadReport | None:
    """The head and category whose figures the page shows."""
    head, category = request.args.get("head"), request.args.get("category")
    if head is not None or category is not None:
        for report in reports:
            if (report.head, report.category) == (head, category):
                return report
        raise NotFound(f"the release reports on no head {head!r} for category {category!r}")
    return max(reports, key=lambda r: (bool(r.figures), r.positives or 0), default=None)


def _charts(shown: HeadReport) -> list[charts.Chart]:
    return [charts.chart_of(name, spec) for name, spec in shown.charts.items()]


def _chart_address(datasette: Any, page: ModelPage, shown: HeadReport | None, name: str, ending: str) -> str:
    assert shown is not None
    parts = (page.release.id, "charts", shown.head, shown.category, f"{name}.{ending}")
    address: str = datasette.urls.path("/models/" + "/".join(quote(part, safe="") for part in parts))
    return address


@lru_cache(maxsize=64)
def drawn(spec: str) -> str:
    """A specification as a picture. Nothing is fetched for it: a chart shows the data that it holds."""
    import vl_convert

    try:
        return str(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]))
    except ValueError:
        raise NotFound(
            "the chart can't be drawn: it is no sound specification, or its data lie elsewhere"
        ) from None
