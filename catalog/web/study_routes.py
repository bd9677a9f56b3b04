"""Studies: what was asked of whom, how far it is, and what the votes say together.

The statistics are imported by the methods that need them, so that the server starts without them.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from datasette.utils.asgi import Response

from catalog import queries, screening_queries
from catalog.errors import CatalogError
from catalog.lookup import NotFound
from catalog.pages import WorkPage
from catalog.prisma import diagram
from catalog.screening_pages import FlowCounts, RatingTable, RoundView, SampleView, StudyPage, StudySummary
from catalog.web import headers
from catalog.web.answers import Answers
from catalog.web.raters import actor_id, queues_of
from catalog.web.site import Site
from catalog.web.statistics import SEED, Kept, computed
from classifiers.errors import ClassifierError

if TYPE_CHECKING:
    from catalog.screening_statistics import QuestionAgreement, QuestionPrevalence


@dataclass(frozen=True)
class Question:
    """One question of a round with what its votes say: scope (`category` None), or a category."""

    round: str
    category: str | None
    label: str
    agreement: "QuestionAgreement"
    prevalence: "QuestionPrevalence | None"
    no_prevalence: str | None


@dataclass(frozen=True)
class Studies:
    """Every study in a list."""

    studies: tuple[StudySummary, ...]


@dataclass(frozen=True)
class StudyFacts:
    """A study's page: the study, its flow, and for each round with votes every question in short: the whole
    panel, raw. Pairs, strata and weights stand on the page of the round."""

    study: StudyPage
    flow: FlowCounts | None
    questions: dict[str, tuple[Question, ...]]


@dataclass(frozen=True)
class RoundFacts:
    """The page of one question of one round, with everything that was computed from its votes."""

    study: str
    title: str
    synthetic: bool
    caveats: tuple[str, ...]
    round: RoundView
    sample: SampleView | None
    question: Question


class StudyViews(Answers):
    """`/studies` and what stands beneath it, for everybody."""

    def __init__(self, site: Site) -> None:
        super().__init__(site)
        self._kept: Kept[Question] = Kept()

    async def studies(self, request: Any, datasette: Any) -> Response:
        """`/studies`"""
        facts = Studies(await self.ask(datasette, screening_queries.studies))
        queues = await self.ask(datasette, lambda db: queues_of(db, actor_id(request)))
        return await self.send(request, datasette, "studies", facts, {"page": facts, "queues": queues})

    async def study(self, request: Any, datasette: Any) -> Response:
        """`/studies/SLUG`"""
        from catalog.web import study_layout

        slug = unquote(request.url_vars["slug"])
        page = await self.ask(datasette, lambda db: screening_queries.study_page(db, slug))
        flow = None
        if page.study is not None:
            flow = await self.ask(datasette, lambda db: screening_queries.flow_counts(db, slug))
        questions = {
            view.round.id: tuple(
                [
                    await self._question(datasette, page, view, category, by_stratum=False)
                    for category in (None, *view.round.categories)
                ]
            )
            for view in page.rounds
            if any(row.voted for row in view.coverage)
        }
        facts = StudyFacts(page, flow, questions)
        context = {
            "page": page,
            "facts": facts,
            "layout": study_layout,
            "rubrics": study_layout.rubrics(page),
            "readings": tuple(study_layout.readings(page)),
            "steps": study_layout.next_steps(page),
            "queues": await self.ask(datasette, lambda db: queues_of(db, actor_id(request), slug)),
        }
        return await self.send(request, datasette, "study", facts, context)

    async def round(self, request: Any, datasette: Any) -> Response:
        """`/studies/SLUG/rounds/ROUND`, on scope or on `?category=ID`"""
        from catalog.web import study_layout

        slug, name = unquote(request.url_vars["slug"]), unquote(request.url_vars["round"])
        page = await self.ask(datasette, lambda db: screening_queries.study_page(db, slug))
        view = next((view for view in page.rounds if view.round.id == name), None)
        if view is None:
            have = ", ".join(view.round.id for view in page.rounds)
            raise NotFound(f"study {slug!r} has no round {name!r}; it has {have}")
        category = request.args.get("category") or None
        if category is not None and category not in view.round.categories:
            have = ", ".join(view.round.categories)
            raise NotFound(f"round {name!r} asks of no category {category!r}; it has {have}")
        found = await self._question(datasette, page, view, category, by_stratum=True)
        facts = RoundFacts(
            page.slug, page.title, page.synthetic, page.caveats, view, _sample(page, view), found
        )
        context = {
            "facts": facts,
            "view": view,
            "question": found,
            "labels_of": _labels(view),
            "layout": study_layout,
        }
        return await self.send(request, datasette, "round", facts, context)

    async def _question(
        self, datasette: Any, page: StudyPage, view: RoundView, category: str | None, by_stratum: bool
    ) -> Question:
        """One question, computed once for the same votes and the same sample."""
        event = await self.ask(datasette, queries.last_event)

        async def make() -> Question:
            return await self._computed(datasette, page, view, category, by_stratum)

        return await self._kept.get((view.round.id, category, by_stratum, event), make)

    async def _computed(
        self, datasette: Any, page: StudyPage, view: RoundView, category: str | None, by_stratum: bool
    ) -> Question:
        from catalog.screening_statistics import agreement_of, prevalence_of
        from catalog.web import study_layout

        table: RatingTable = await self.ask(
            datasette, lambda db: screening_queries.rating_table(db, view.round.id, category)
        )
        found = await computed(lambda: agreement_of(table, SEED, by_stratum=by_stratum))
        label = "In scope" if category is None else _labels(view)[category]
        if not by_stratum and found.report is not None:
            panel = study_layout.panel_table(found)
            found = replace(found, report=replace(found.report, tables=() if panel is None else (panel,)))
        try:
            rates = prevalence_of(table, _sample(page, view))
        except (CatalogError, ClassifierError) as error:
            return Question(view.round.id, category, label, found, None, str(error))
        if not by_stratum:
            rates = study_layout.without_strata(rates)
        return Question(view.round.id, category, label, found, rates, None)

    async def flow(self, request: Any, datasette: Any) -> Response:
        """`/studies/SLUG/flow.svg`: the PRISMA 2020 diagram"""
        slug = unquote(request.url_vars["slug"])
        page = await self.ask(datasette, lambda db: screening_queries.study_page(db, slug))
        counts = await self.ask(datasette, lambda db: screening_queries.flow_counts(db, slug))
        return headers.picture(diagram(counts, page.title))


def made_up_studies(page: WorkPage) -> set[str]:
    """The synthetic studies among those whose models scored a work."""
    named = {view.release.study for view in page.releases if view.synthetic}
    return {study for study in named if study is not None}


def _sample(page: StudyPage, view: RoundView) -> SampleView | None:
    return next((s for s in page.samples if s.design.id == view.sample and s.strata), None)


def _labels(view: RoundView) -> dict[str, str]:
    """The label of each category of a round; where its rubric isn't known, the name itself."""
    labels = {} if view.rubric is None else {c.id: c.label for c in view.rubric.categories}
    return {category: labels.get(category, category) for category in view.round.categories}
