"""No page shows a machine's word as a person's, a score as a label, or what is unknown as a negative.

Random panels vote, random scores and calls are recorded, all through the store; every mark of every page
is then compared with what `schema.states` says of the same votes, counted here from the draw itself.
"""

import asyncio
import html
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from catalog import store
from catalog.ballots import AnswerMeta
from catalog.web import labels
from schema.ballots import Ballot
from schema.scores import DecisionRun, Head, ModelRelease, Quota
from schema.states import (
    Call,
    ScreeningState,
    Status,
    call,
    category_vote,
    in_scope,
    screening_state,
    vote_status,
)
from schema.study import Study

TOPICS, CANNOT = ("alpha", "beta"), "cannot"
CATEGORIES = (*TOPICS, CANNOT)
WORKS = ("w1", "w2", "w3")
SHOWN = {"agreed_positive", "contested", "single_source"}


@dataclass(frozen=True)
class Drawn:
    """A panel (kinds of its raters), what each said of each work (None: nothing yet), what two heads gave:
    scores (None: none), support by category, and whose k holds which work."""

    kinds: tuple[str, ...]
    said: tuple[tuple[tuple[str, tuple[str, ...]] | None, ...], ...]
    scored: tuple[bool, ...] | None
    supported: tuple[bool, bool]
    among: tuple[tuple[bool, bool], ...]

    def votes(self, work: int) -> list[tuple[str, str, tuple[str, ...]]]:
        """Kind, decision and categories of every vote cast on a work."""
        row = [(kind, said[work]) for kind, said in zip(self.kinds, self.said, strict=True)]
        return [(kind, *given) for kind, given in row if given is not None]


SAID = st.one_of(
    st.tuples(st.just("in_scope"), st.sampled_from([("alpha",), ("beta",), ("alpha", "beta")])),
    st.tuples(st.sampled_from(["out_of_scope", "unsure", "insufficient_payload"]), st.just(())),
)


@st.composite
def drawn(draw: st.DrawFn) -> Drawn:
    """A small study with votes, scores and calls."""
    kinds = tuple(draw(st.lists(st.sampled_from(["human", "model"]), min_size=1, max_size=4)))
    said = tuple(tuple(draw(st.one_of(st.none(), SAID)) for _ in WORKS) for _ in kinds)
    scored = draw(st.one_of(st.none(), st.tuples(*[st.booleans()] * len(WORKS))))
    supported = draw(st.tuples(st.booleans(), st.booleans()))
    among = tuple(draw(st.tuples(st.booleans(), st.booleans())) for _ in WORKS)
    return Drawn(kinds, said, scored, supported, among)


class Shelf:
    """One catalog for all examples, each a study of its own about works of its own."""

    def __init__(self, folder: Path, site: Any) -> None:
        self.path, self.number = folder / "random.db", 0
        self.folder = folder
        store.create(self.path, who="keeper").close()
        self.site = site(self.path)

    def study(self) -> str:
        """The name of the study that is being filled."""
        return f"random-{self.number}"

    def rater(self, n: int) -> str:
        """A rater's id, which says nothing of its kind."""
        return f"rater-{self.number}-{n}"

    def add(self, facts: Drawn) -> list[str]:
        """Write a study with its votes, scores and calls through the store; the slugs of its works."""
        self.number += 1
        with store.open_catalog(self.path, writable=True) as catalog:
            slugs = self._works(catalog)
            catalog.add_study(Study.model_validate(self._record(facts)), "a" * 64)
            catalog.draw_sample(self.study(), f"sample-{self.number}")
            chunks = catalog.write_manifest(f"round-{self.number}")
            self._vote(catalog, facts, slugs, {chunk.works[0]: chunk.position for chunk in chunks})
            if facts.scored is not None:
                score(catalog, facts, slugs, self.number)
        return slugs

    def _works(self, catalog: store.Catalog) -> list[str]:
        titles = [f"Title {self.number} of {work}" for work in WORKS]
        items = [
            {"id": t, "type": "book", "title": t, "issued": {"date-parts": [[1000 + self.number]]}}
            for t in titles
        ]
        source = self.folder / f"{self.number}.json"
        source.write_text(json.dumps(items), encoding="utf-8")
        catalog.import_file(source)
        known = dict(catalog.connection.execute("SELECT title, slug FROM works"))
        return [known[title] for title in titles]

    def _record(self, facts: Drawn) -> dict[str, Any]:
        raters = [
            {"id": self.rater(n), "kind": kind, "name": f"Name{n}"} for n, kind in enumerate(facts.kinds)
        ]
        categories = [{"id": c, "label": f"Label {c}", "cannot_be_screened": c == CANNOT} for c in CATEGORIES]
        sample = {
            "id": f"sample-{self.number}",
            "salt": "s",
            "frame": {"field": "year", "equals": 1000 + self.number},
            "strata": [{"id": "all", "where": {"otherwise": True}}],
        }
        return {
            "id": self.study(),
            "title": "Random",
            "synthetic": True,
            "rubric": {"id": "r", "version": "1", "title": "R", "asks_confidence": False}
            | {"categories": categories},
            "raters": raters,
            "samples": [sample],
            "rounds": [
                {
                    "id": f"round-{self.number}",
                    "title": "Round",
                    "instrument": "title",
                    "raters": [r["id"] for r in raters],
                    "sample": sample["id"],
                    "chunk_size": 1,
                }
            ],
        }

    def _vote(self, catalog: store.Catalog, facts: Drawn, slugs: list[str], position: dict[str, int]) -> None:
        for n, (kind, said) in enumerate(zip(facts.kinds, facts.said, strict=True)):
            for slug, vote in zip(slugs, said, strict=True):
                if vote is None:
                    continue
                answer = {"decision": vote[0], "categories": list(vote[1]), "reason": f"Reason{n}"}
                if kind == "human":
                    ballot = Ballot.model_validate({"work": slug, **answer})
                    catalog.cast_vote(f"round-{self.number}", self.rater(n), ballot)
                else:
                    outcome = catalog.record_answer(
                        f"round-{self.number}", position[slug], self.rater(n), AnswerMeta(raw="x"),
                        [{"id": slug, **answer}],
                    )  # fmt: skip
                    assert outcome.state == "accepted"


def score(catalog: store.Catalog, facts: Drawn, slugs: list[str], number: int) -> None:
    """A release of two heads for `alpha`, its scores and its calls."""
    heads = tuple(
        Head(
            name=side,
            categories=("alpha",),
            availability="available" if supported else "insufficient_support",
            positives=30 if supported else 3,
            ess_positives=20.0 if supported else 2.0,
        )
        for side, supported in zip(("left", "right"), facts.supported, strict=True)
    )
    release = ModelRelease(
        id=f"student-{number}",
        title="Student",
        status=Status.SCORE_ONLY_IMMATURE.value,
        maturity="not_passed",
        decimals=3,
        heads=heads,
        source="trained here",
        study=f"random-{number}",
    )
    assert facts.scored is not None
    catalog.record_release(release, {}, "a" * 64)
    covered = [slug for slug, yes in zip(slugs, facts.scored, strict=True) if yes]
    catalog.record_scores(f"student-{number}", [(slug, [0.9, 0.1]) for slug in covered])
    both = all(facts.supported)
    k = [sum(a[side] and c for a, c in zip(facts.among, facts.scored, strict=True)) for side in (0, 1)]
    run = DecisionRun(
        id=f"run-{number}",
        release=f"student-{number}",
        status=Status.MACHINE_PREDICTED.value,
        works=len(WORKS) * number,
        covered=len(covered),
        quotas=tuple(
            Quota(
                head=side,
                category="alpha",
                rate=k[n] / len(covered) if both and covered else None,
                covered=len(covered),
                k=k[n] if both and covered else None,
                positives=30 if facts.supported[n] else 3,
                ess_positives=20.0 if facts.supported[n] else 2.0,
                supported=facts.supported[n],
            )
            for n, side in enumerate(("left", "right"))
        ),
    )
    rows = [
        (slug, "alpha", [side for side, yes in zip(("left", "right"), among, strict=True) if yes])
        for slug, among, yes in zip(slugs, facts.among, facts.scored, strict=True)
        if both and yes and any(among)
    ]
    catalog.record_decisions(run, rows)


def expected_states(facts: Drawn, work: int) -> dict[str, ScreeningState]:
    """The state of each category, from the draw."""
    return {
        c: screening_state([category_vote(d, chosen, c, CANNOT) for _, d, chosen in facts.votes(work)])
        for c in CATEGORIES
    }


def behind(facts: Drawn, work: int, category: str) -> set[str]:
    """Whose votes a state rests on: those that say something of it, or where none does, all."""
    votes = facts.votes(work)
    usable = {kind for kind, d, chosen in votes if category_vote(d, chosen, category, CANNOT) is not None}
    return {vote_status(kind).value for kind in usable or {kind for kind, _, _ in votes}}


def expected_call(facts: Drawn, work: int) -> Call:
    """The call of `alpha`, from the draw. A category calls only where every side has support."""
    assert facts.scored is not None
    sides: list[bool | None] = [
        among if supported else None
        for among, supported in zip(facts.among[work], facts.supported, strict=True)
    ]
    return call(sides, facts.scored[work])


def text(fragment: str) -> str:
    """What a reader sees."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", fragment)).split())


def check_marks(body: str) -> None:
    """Every mark of a status looks and reads as that status, whatever the page."""
    for classes, status, words in re.findall(
        r'<(?:span|code) class="([^"]*)" data-status="([^"]*)"[^>]*>([^<]*)<', body
    ):
        person = status == Status.HUMAN_DIRECT.value
        only_score = status.startswith("score_only") or status == Status.OUT_OF_FOLD.value
        mark = labels.HUMAN if person else labels.SCORE if only_score else labels.MODEL
        assert mark in classes.split()
        assert {labels.HUMAN, labels.MODEL, labels.SCORE} & set(classes.split()) == {mark}
        if words != status:
            assert ("person" in words) == person
            assert ("model" in words) == (mark == labels.MODEL)
    for classes, state, words in re.findall(r'<span class="([^"]*)" data-state="(\w+)">([^<]*)<', body):
        assert state in classes.split()
        assert words.startswith(state.replace("_", " "))
    for classes, found, words in re.findall(r'<span class="([^"]*)" data-call="(\w+)">([^<]*)<', body):
        assert {"call", found} <= set(classes.split())
        assert words == found.replace("_", " ")


def check_record(body: str, facts: Drawn, work: int, number: int) -> None:
    """A record page."""
    check_marks(body)
    votes = facts.votes(work)
    cards = re.findall(r'<li class="vote (\w+)">(.*?)</li>', body, re.DOTALL)
    assert sorted(kind for kind, _ in cards) == sorted(kind for kind, _, _ in votes)
    for kind, card in cards:
        assert re.findall(r'data-status="([^"]*)"', card) == [vote_status(kind).value]
        assert text(card).startswith({"human": "Person", "model": "Model"}[kind])
    rows = re.findall(r'<tr data-category="(\w+)" data-round="round-\d+">(.*?)</tr>', body, re.DOTALL)
    states = {category: re.search(r'data-state="(\w+)"', row)[1] for category, row in rows}  # type: ignore[index]
    wanted = expected_states(facts, work)
    assert states == ({c: s.value for c, s in wanted.items()} if rows else {})
    assert bool(rows) or not votes
    for category, row in rows:
        assert set(re.findall(r'data-status="([^"]*)"', row)) == behind(facts, work, category)
    classified = body.partition("<h2>Classification</h2>")[2].partition("</ul>")[0]
    named = re.findall(r'data-state="(\w+)">[^<]*: ([^<]*)<', classified)
    assert sorted(named) == sorted((s.value, f"Label {c}") for c, s in wanted.items() if s.value in SHOWN)
    check_calls(body, classified, facts, work, number)


def check_calls(body: str, classified: str, facts: Drawn, work: int, number: int) -> None:
    """Calls and scores of a record page: a model's, and never among the states of votes."""
    found = re.findall(r'<tr data-category="(\w+)" data-run="run-\d+">(.*?)</tr>', body, re.DOTALL)
    uncovered = re.findall(r'<p [^>]*data-run="run-(\d+)">.*?data-call="(\w+)"', body)
    assert {called for _, called in uncovered} <= {Call.UNKNOWN.value}
    if facts.scored is None:
        assert found == []
        return
    wanted = expected_call(facts, work)
    if wanted is Call.UNKNOWN:
        assert found == []
        assert (str(number), "unknown") in uncovered
    else:
        assert [(c, re.findall(r'data-call="(\w+)"', row)) for c, row in found] == [("alpha", [wanted.value])]
    assert "data-state" not in "".join(row for _, row in found)
    assert re.findall(r'data-call="(\w+)"', classified) == (
        [wanted.value] if wanted in (Call.CONSENSUS, Call.CANDIDATE) else []
    )
    scores = re.findall(r'<table class="scores">.*?</table>', body, re.DOTALL)
    assert len(scores) == facts.scored[work]
    for table in scores:
        assert "data-state" not in table
        assert "positive" not in text(table)
        assert "negative" not in text(table)
    if scores:
        assert "A score ranks; it never asserts a category." in text(body)


def check_study(body: str, facts: Drawn) -> None:
    """The study's page: whose votes, and how many works in which state of scope."""
    check_marks(body)
    rows = re.findall(
        r'<th scope="row"><span class="chip (\w+)">(\w+)</span> Name(\d)(.*?)</tr>', body, re.DOTALL
    )
    coverage = [(kind, word, int(n), rest) for kind, word, n, rest in rows if "of 3" in text(rest)]
    assert [(kind, word) for kind, word, _, _ in coverage] == [
        (kind, {"human": "Person", "model": "Model"}[kind]) for kind in facts.kinds
    ]
    for kind, _, n, rest in coverage:
        assert set(re.findall(r'data-status="([^"]*)"', rest)) == {vote_status(kind).value}
        assert f"{sum(v is not None for v in facts.said[n])} of 3" in text(rest)
    tally = dict(re.findall(r'data-state="(\w+)">[^<]+</span> <b>(\d+)</b>', body))
    states = [screening_state([in_scope(d) for _, d, _ in facts.votes(w)]) for w in range(len(WORKS))]
    assert {s: int(n) for s, n in tally.items()} == {s.value: states.count(s) for s in ScreeningState}
    machines_only = {kind for w in range(len(WORKS)) for kind, _, _ in facts.votes(w)} == {"model"}
    assert ("No person has voted in this study." in text(body)) == machines_only


def check_queue(body: str, facts: Drawn, rater: int) -> None:
    """A rater's queue: nothing of anybody else, of a model, or of a state."""
    seen = text(body)
    for other in range(len(facts.kinds)):
        if other != rater:
            assert f"Name{other}" not in seen
            assert f"Reason{other}" not in seen
    for mark in ("data-status", "data-state", "data-call", "agreed", "student"):
        assert mark not in body


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory, open_site: Any) -> Shelf:
    """The catalog that all examples share."""
    return Shelf(tmp_path_factory.mktemp("random"), open_site)


OUT, IN = ("out_of_scope", ()), ("in_scope", ("alpha",))
EVERY_CALL = Drawn(
    kinds=("model", "human"),
    said=((IN, OUT, None), (OUT, None, ("insufficient_payload", ()))),
    scored=(True, True, True),
    supported=(True, True),
    among=((True, True), (False, True), (False, False)),
)
NO_SUPPORT = Drawn(
    kinds=("human", "model", "model"),
    said=((IN, ("unsure", ()), None), (IN, None, None), (OUT, ("unsure", ()), None)),
    scored=(True, True, False),
    supported=(True, False),
    among=((True, False), (False, False), (False, False)),
)


# A failing case is small as it is, and each costs several pages: it isn't made smaller.
@example(facts=EVERY_CALL)
@example(facts=NO_SUPPORT)
@settings(max_examples=8, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(facts=drawn())
def test_every_mark_is_what_the_states_say(shelf: Shelf, facts: Drawn) -> None:
    slugs, site = shelf.add(facts), shelf.site
    study = f"/studies/{shelf.study()}"
    round_ = f"round-{shelf.number}"
    for work, slug in enumerate(slugs):
        check_record(asyncio.run(site.get(f"/works/{slug}")).text, facts, work, shelf.number)
    check_study(asyncio.run(site.get(study)).text, facts)
    check_marks(asyncio.run(site.get(f"{study}/rounds/{round_}")).text)
    for n, kind in enumerate(facts.kinds):
        if kind == "human":
            cookies = site.cookies(shelf.rater(n))
            answer = asyncio.run(site.get(f"{study}/queue/{round_}", cookies=cookies))
            assert answer.status_code == 200
            check_queue(answer.text, facts, n)
