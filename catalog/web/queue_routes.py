"""Pages for people who screen and adjudicate: for raters who are signed in, and for nobody else."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from datasette.utils.asgi import Response

from catalog import screening_queries
from catalog.lookup import NotFound
from catalog.screening_pages import Contested, LastVote, QueueItem, QueuePage, RoundView
from catalog.web import headers, labels
from catalog.web.answers import Answers, BadAddress, as_sentence
from catalog.web.ballot_form import LARGEST, Filled, Posted, ballot_of, filled_from, read_form, when_asked
from catalog.web.raters import actor_id, token_holds, ways_in
from catalog.web.site import Site
from catalog.web.writing import NotWritten, Writer
from schema.study import RoundPlan, Study


class Closed(Exception):
    """Someone who may not come in; the message says why."""


@dataclass(frozen=True)
class Asked:
    """The round that an address names, as its study plans it."""

    study: Study
    plan: RoundPlan


@dataclass(frozen=True)
class Trouble:
    """Why what was sent is not recorded: the status of the answer, and a sentence for each reason."""

    status: int
    sentences: tuple[str, ...]

    @property
    def shown(self) -> list[str]:
        """The sentences as a reader reads them."""
        return [as_sentence(ValueError(text)) for text in self.sentences]


class QueueViews(Answers):
    """`/studies/SLUG/queue/ROUND` and `/studies/SLUG/adjudicate/ROUND`."""

    def __init__(self, site: Site) -> None:
        super().__init__(site)
        self.writer = Writer(site)

    # Rating ---------------------------------------------------------------------------------------

    async def queue(self, request: Any, datasette: Any) -> Response:
        """The next work to rate; a form sent to it becomes a vote."""
        asked = await self._asked(request, datasette)
        try:
            name = _member(request, asked.study, asked.plan.raters, "rater")
        except Closed as closed:
            return await self._closed(request, datasette, asked, str(closed))
        page = await self.ask(datasette, lambda db: screening_queries.queue_page(db, asked.plan.id, name))
        if request.method == "POST":
            return await self._rated(request, datasette, page)
        again = request.args.get("work")
        if again is None:
            return await self._show(request, datasette, page, page.item, None, Filled())
        if page.last is None or again != page.last.item.key:
            return _on_to(_address(datasette, page.study, page.round))
        filled = filled_from(page.last.ballot)
        return await self._show(request, datasette, page, page.last.item, page.last, filled)

    async def _asked(self, request: Any, datasette: Any) -> Asked:
        """The round of the address. Raises NotFound."""
        slug, round_ = unquote(request.url_vars["slug"]), unquote(request.url_vars["round"])
        study = await self.ask(datasette, lambda db: screening_queries.study_record(db, slug))
        try:
            return Asked(study, study.round(round_))
        except KeyError:
            have = ", ".join(plan.id for plan in study.rounds)
            raise NotFound(f"study {slug!r} has no round {round_!r}; it has {have}") from None

    async def _rated(self, request: Any, datasette: Any, page: QueuePage) -> Response:
        """Record what was sent, and go on; or show it again as it was, and why it isn't recorded."""
        posted = await _posted(request)
        item, before = _target(page, posted)
        filled = posted.filled
        if item is None:
            sentence = "the work that you saw was rated or put off in another window; nothing was recorded"
            trouble = Trouble(409, (sentence,))
            return await self._show(request, datasette, page, page.item, None, Filled(), trouble, filled)
        if not token_holds(request, posted.token):
            return await self._show(request, datasette, page, item, before, filled, _stale_form())
        if posted.before != ("" if before is None else before.vote):
            sentence = "you voted on this work in another window; to replace that vote by this, send it again"
            trouble = Trouble(409, (sentence,))
            return await self._show(request, datasette, page, item, before, filled, trouble)
        work = await self.ask(datasette, lambda db: screening_queries.queue_work(db, page.round, item.key))
        rater = page.rater.id
        try:
            if posted.action == "skip":
                await self.writer.write(datasette, lambda c: c.skip(page.round, rater, work, who=rater))
                return _on_to(_address(datasette, page.study, page.round))
            ballot = ballot_of(filled, page.rubric, work)
            if isinstance(ballot, tuple):
                trouble = Trouble(422, ballot)
                return await self._show(request, datasette, page, item, before, filled, trouble)
            await self.writer.write(datasette, lambda c: c.cast_vote(page.round, rater, ballot, who=rater))
        except NotWritten as problem:
            return await self._show(request, datasette, page, item, before, filled, _not_written(problem))
        return _on_to(_address(datasette, page.study, page.round))

    async def _show(
        self,
        request: Any,
        datasette: Any,
        page: QueuePage,
        item: QueueItem | None,
        before: LastVote | None,
        filled: Filled,
        trouble: Trouble | None = None,
        lost: Filled | None = None,
    ) -> Response:
        """The page of one work: to be rated, or with `before` to be rated anew.

        `lost` is what was filled in on a page whose work isn't shown any more.
        """
        context = {
            "page": page,
            "item": item,
            "before": before,
            "filled": filled,
            "lost": lost,
            "trouble": trouble,
            "rubric": page.rubric,
            "when": lambda asked: when_asked(asked, page.rubric),
            "address": _address(datasette, page.study, page.round),
        }
        html = await self.render(request, datasette, "queue", context)
        return _private(headers.page(html, trouble.status if trouble else 200))

    # Adjudicating ---------------------------------------------------------------------------------

    async def adjudicate(self, request: Any, datasette: Any) -> Response:
        """The next work on which votes differ; a form sent to it becomes an adjudication."""
        asked = await self._asked(request, datasette)
        try:
            name = _member(request, asked.study, asked.plan.adjudicators, "adjudicator")
        except Closed as closed:
            return await self._closed(request, datasette, asked, str(closed))
        round_ = asked.plan.id
        view = await self.ask(datasette, lambda db: screening_queries.round_view(db, round_))
        pending = await self.ask(datasette, lambda db: screening_queries.contested(db, round_, pending=True))
        first = next(iter(pending), None)

        async def show(item: Contested | None, filled: Filled, trouble: Trouble | None = None) -> Response:
            return await self._show_contested(
                request, datasette, asked, view, len(pending), item, filled, trouble
            )

        if request.method != "POST":
            return await show(first, Filled())
        posted = await _posted(request)
        item = next((c for c in pending if c.work == posted.work), None)
        if item is None:
            sentence = "the work that you saw was adjudicated in another window; nothing was recorded"
            return await show(first, Filled(), Trouble(409, (sentence,)))
        filled = posted.filled
        if not token_holds(request, posted.token):
            return await show(item, filled, _stale_form())
        if not filled.decision:
            return await show(item, filled, Trouble(422, ("choose a decision",)))
        chosen = filled.categories
        if filled.decision == "in_scope" and view.rubric is not None and len(view.rubric.topics) == 1:
            chosen = view.rubric.topics
        try:
            await self.writer.write(
                datasette,
                lambda c: c.adjudicate(
                    round_, name, item.work, filled.decision, chosen, filled.reason or None, who=name
                ),
            )
        except NotWritten as problem:
            return await show(item, filled, _not_written(problem))
        return _on_to(_address(datasette, asked.study.id, round_, "adjudicate"))

    async def _show_contested(
        self,
        request: Any,
        datasette: Any,
        asked: Asked,
        view: RoundView,
        left: int,
        item: Contested | None,
        filled: Filled,
        trouble: Trouble | None,
    ) -> Response:
        context = {
            "study": asked.study,
            "view": view,
            "item": item,
            "left": left,
            "filled": filled,
            "trouble": trouble,
            "rubric": view.rubric,
            "adjudicator": actor_id(request),
            "address": _address(datasette, asked.study.id, asked.plan.id, "adjudicate"),
        }
        html = await self.render(request, datasette, "adjudicate", context)
        return _private(headers.page(html, trouble.status if trouble else 200))

    # Everybody else -------------------------------------------------------------------------------

    async def _closed(self, request: Any, datasette: Any, asked: Asked, sentence: str) -> Response:
        """403, saying who may come in and how one signs in here."""
        rating = "/queue/" in request.path
        wanted = asked.plan.raters if rating else asked.plan.adjudicators
        context = {
            "study": asked.study,
            "plan": asked.plan,
            "people": [r for r in asked.study.raters if r.id in wanted and r.kind == labels.HUMAN],
            "sentence": as_sentence(ValueError(sentence)),
            "signed_in": actor_id(request),
            "ways": await ways_in(datasette, request),
            "rating": rating,
        }
        return _private(headers.page(await self.render(request, datasette, "closed", context), 403))


def _member(request: Any, study: Study, panel: tuple[str, ...], what: str) -> str:
    """The id of whoever asks, who is one of the panel's people. Raises Closed."""
    name = actor_id(request)
    if name is None:
        raise Closed(f"this page is for the {what}s of the round, and you are not signed in")
    if name not in panel:
        raise Closed(f"you are signed in as {name!r}, who is no {what} of this round")
    if {rater.id: rater.kind for rater in study.raters}[name] != labels.HUMAN:
        raise Closed(f"you are signed in as {name!r}, which is a model of the study; this page is for people")
    return name


def _address(datasette: Any, study: str, round_: str, what: str = "queue") -> str:
    address: str = datasette.urls.path(f"/studies/{quote(study, safe='')}/{what}/{quote(round_, safe='')}")
    return address


async def _posted(request: Any) -> Posted:
    body = await request.post_body()
    if len(body) > LARGEST:
        raise BadAddress(f"a form has at most {LARGEST:,} bytes here, and this one has {len(body):,}")
    return read_form(body)


def _target(page: QueuePage, posted: Posted) -> tuple[QueueItem | None, LastVote | None]:
    """The work that a form speaks of, with this rater's vote on it: the last voted, or the queue's next."""
    if page.last is not None and posted.work == page.last.item.key:
        return page.last.item, page.last
    if page.item is not None and posted.work == page.item.key:
        return page.item, None
    return None, None


def _stale_form() -> Trouble:
    sentence = "this form is not from a page of this server, or its page is too old"
    return Trouble(403, (f"{sentence}; nothing was recorded; send it again from here",))


def _not_written(problem: NotWritten) -> Trouble:
    return Trouble(503 if problem.again else 409, (f"{problem}; nothing was recorded",))


def _on_to(address: str) -> Response:
    """The next page, asked for anew: going back and forth sends nothing twice."""
    return _private(Response.redirect(address, status=303))


def _private(response: Response) -> Response:
    """Nobody keeps a rater's page."""
    response.headers["cache-control"] = "no-store"
    return response
