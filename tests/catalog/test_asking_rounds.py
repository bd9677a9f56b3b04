"""A round asked of models that answer well, badly, and not at all: real models of the `llm` library.

Nothing that can't be taken becomes a vote, and nothing that was said is lost.
"""

import json
import threading
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import llm
import pytest
from llm.plugins import pm

from catalog import screening_queries
from catalog.asking.costs import Prices
from catalog.asking.keywords import Keywords
from catalog.asking.models import Asker
from catalog.asking.rounds import AskReport, Pace, ask_round
from catalog.errors import CatalogError
from catalog.screening_pages import AnswerView, RoundView
from catalog.store import Catalog, create
from schema.rubric import Category, Rubric
from schema.screening import Rater
from schema.study import RoundPlan, Study

TITLES = {
    "a": "A randomised trial of tea", "b": "A survey of tea", "c": "Trial of coffee",
    "d": "Coffee and sleep", "e": "A trial without an abstract",
}  # fmt: skip
RUBRIC = Rubric(
    id="trials", version="1", title="Trials",
    categories=(
        Category(id="trial", label="Trial"),
        Category(id="cannot", label="Cannot be screened", cannot_be_screened=True),
    ),
)  # fmt: skip

Answers = list[dict[str, Any]]


class Local(Keywords):
    """The rule, spoiled: `spoil` makes of the right answers what is said at the n-th call (from 1)."""

    model_id = "test-local"

    def __init__(self, spoil: Callable[[Answers, int], str], by_schema: bool = True) -> None:
        self.spoil = spoil
        self.supports_schema = by_schema
        self.uncounted = 0  # answers, the first ones, whose output the provider doesn't count
        self.asked: list[tuple[str, str]] = []

    def execute(
        self, prompt: llm.Prompt, stream: bool, response: llm.Response, conversation: Any
    ) -> Iterator[str]:
        self.asked.append((prompt.system or "", prompt.prompt or ""))
        schema = prompt.schema or json.loads((prompt.system or "").split("JSON Schema:\n")[1])
        answers = self.answers(prompt.prompt or "", schema, {"trial": ["trial"], "cannot": []})
        counted = len(self.asked) > self.uncounted
        response.set_usage(input=1000, output=100 if counted else None)
        yield self.spoil(answers, len(self.asked))


def well(answers: Answers, call: int) -> str:
    return json.dumps({"answers": answers})


def refuse(answers: Answers, call: int) -> str:
    raise RuntimeError("the provider is down")


class Refused(RuntimeError):
    status_code = 401


def unauthorised(answers: Answers, call: int) -> str:
    raise Refused("no such key")


def hang(answers: Answers, call: int) -> str:
    threading.Event().wait(30)
    return ""


def altered(answers: Answers, call: int) -> str:
    first = answers[0]["id"]
    return well([{**answers[0], "id": first[:-1] + ("0" if first[-1] != "0" else "1")}, *answers[1:]], call)


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    """Five works in a round of three chunks (2, 2 and 1), with its manifest."""
    bib = "\n".join(f"@article{{{key}, title={{{title}}}, year={{2020}}}}" for key, title in TITLES.items())
    (tmp_path / "works.bib").write_text(bib, encoding="utf-8")
    study = Study(
        id="s", title="A study", rubric=RUBRIC,
        raters=(Rater(id="m", kind="model", name="M", model="test-local"),
                Rater(id="p", kind="human", name="P")),
        rounds=(RoundPlan(id="r", title="R", instrument="title+abstract", raters=("m", "p"), chunk_size=2),
                RoundPlan(id="full", title="F", instrument="full text", raters=("m",))),
    )  # fmt: skip
    with create(tmp_path / "proofshelf.db") as made:
        made.import_file(tmp_path / "works.bib")
        made.add_study(study, "0" * 64)
        made.write_manifest("r")
        made.write_manifest("full")
        yield made


Register = Callable[[Callable[[Answers, int], str]], Local]


@pytest.fixture
def register(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Local]]:
    """Registers a model with `llm`, as a plugin does."""
    monkeypatch.setenv("LLM_USER_PATH", str(tmp_path / "llm"))
    llm.get_models()  # loads the plugins that are installed, once
    names: list[str] = []

    def take(spoil: Callable[[Answers, int], str], by_schema: bool = True) -> Local:
        model = Local(spoil, by_schema)

        class Plugin:
            @llm.hookimpl
            def register_models(self, register: Any) -> None:
                register(model)

        while names:
            pm.unregister(name=names.pop())
        names.append("tests-rounds")
        pm.register(Plugin(), name=names[0])
        return model

    yield take
    while names:
        pm.unregister(name=names.pop())


class Clock:
    """Time that passes only when somebody waits."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waits: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    def pace(self, rate: float | None = None) -> Pace:
        return Pace(rate, self.sleep, lambda: self.now)


def run(catalog: Catalog, clock: Clock | None = None, seconds: float = 30, **more: Any) -> AskReport:
    options = more.pop("options", {})

    def asker(view: RoundView) -> Asker:
        return Asker(view.coverage[0].rater, options, None, seconds)

    pace = (clock or Clock()).pace(more.pop("rate", None))
    return ask_round(catalog, more.pop("round_", "r"), "m", asker, pace=pace, **more)


def answers(catalog: Catalog, state: str | None = None) -> list[AnswerView]:
    return list(screening_queries.answers(catalog.connection, "r", "m", state))


def votes(catalog: Catalog) -> dict[str, tuple[str, tuple[str, ...]]]:
    rows = screening_queries.vote_rows(catalog.connection, "s", "r")
    return {row.work: (row.decision, row.categories) for row in rows}


EXPECTED = {  # a title has the word "trial", or it hasn't: read off by hand
    "a": ("in_scope", ("trial",)), "b": ("out_of_scope", ()), "c": ("in_scope", ("trial",)),
    "d": ("out_of_scope", ()), "e": ("in_scope", ("trial",)),
}  # fmt: skip


@pytest.mark.parametrize("by_schema", [True, False])
def test_every_work_gets_its_vote_and_the_answer_is_kept(
    catalog: Catalog, register: Callable[..., Local], by_schema: bool
) -> None:
    model = register(well, by_schema)
    prices = Prices(Decimal("2"), Decimal("8"))
    report = run(catalog, options={"words": "{}"}, prices=prices)
    assert (report.chunks, report.accepted, report.left, report.votes) == (3, 3, 0, 5)
    assert votes(catalog) == {slug(catalog, key): vote for key, vote in EXPECTED.items()}
    kept = answers(catalog)
    assert [(a.chunk, a.attempt, a.state) for a in kept] == [(n, 1, "accepted") for n in (1, 2, 3)]
    assert all(json.loads(a.raw or "")["answers"] for a in kept)
    assert len({a.prompt_sha256 for a in kept}) == 1
    assert len({a.input_sha256 for a in kept}) == 3
    assert all((a.rater_version or "").startswith('test-local words="{}" (llm ') for a in kept)
    # 1,000 tokens at 2 and 100 at 8 a million: 0.002 + 0.0008 for each of three answers.
    assert {(a.input_tokens, a.output_tokens, a.cost) for a in kept} == {(1000, 100, "0.0028")}
    assert (report.input_tokens, report.output_tokens, report.cost) == (3000, 300, "0.0084")
    assert len(model.asked) == 3


def test_an_answer_without_a_count_of_tokens_costs_something_unknown(
    catalog: Catalog, register: Callable[..., Local]
) -> None:
    """The sums are of the two that were counted, and the third isn't taken for one that cost nothing."""
    register(well).uncounted = 1
    report = run(catalog, prices=Prices(Decimal("2"), Decimal("8")))
    assert (report.accepted, report.uncounted) == (3, 1)
    assert (report.output_tokens, report.cost) == (200, "0.0056")
    assert [a.cost for a in answers(catalog)] == [None, "0.0028", "0.0028"]


def slug(catalog: Catalog, key: str) -> str:
    """The slug of the work with this title."""
    row = catalog.connection.execute("SELECT slug FROM works WHERE title = ?", [TITLES[key]]).fetchone()
    return str(row[0])


BAD: dict[str, tuple[Callable[[Answers, int], str], str]] = {
    "nonsense": (lambda a, n: "They all look fine to me.", "there is no JSON with objects in the answer"),
    "half": (lambda a, n: well(a, n)[: len(well(a, n)) // 2], "the answer"),
    "nothing": (lambda a, n: "", "the answer is empty; expected JSON"),
    "altered id": (altered, "an answer for an id that isn't in the chunk: "),
    "doubled id": (lambda a, n: well([a[0], *a], n), "more than one answer for "),
    "missing id": (lambda a, n: well(a[:-1], n), "no answer for "),
    "vocabulary": (lambda a, n: well([{**x, "decision": "maybe"} for x in a], n), "decision is 'maybe'"),
    "a field too many": (lambda a, n: well([{**x, "mood": "good"} for x in a], n), "'mood' isn't asked for"),
    "not a number": (lambda a, n: well(a, n).replace('"low"', "NaN"), "NaN"),
    "in scope of nothing": (
        lambda a, n: well([{**x, "decision": "in_scope", "categories": []} for x in a], n),
        "in_scope, but no category is named",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_answer_is_quarantined_whole_and_asked_again(
    catalog: Catalog, register: Callable[..., Local], case: str
) -> None:
    spoil, sentence = BAD[case]
    model = register(spoil)
    clock = Clock()
    report = run(catalog, clock, chunks=1)
    # Asked three times in the same words, and no vote comes of it, not even of the answers that were right.
    assert len(model.asked) == 3
    assert len(set(model.asked)) == 1
    assert (report.accepted, report.votes, report.left, report.quarantined_attempts) == (0, 0, 3, 3)
    assert votes(catalog) == {}
    kept = answers(catalog)
    assert [(a.state, a.attempt, a.chunk) for a in kept] == [("quarantined", n, 1) for n in (1, 2, 3)]
    assert all(any(sentence in text for text in a.report) for a in kept), kept[0].report
    assert all(a.raw == model.spoil(_right(catalog, model), 1) for a in kept)
    assert clock.waits == []  # the provider isn't at fault, so nobody waits


def _right(catalog: Catalog, model: Local) -> Answers:
    """The right answers to the first chunk, as the model makes them before it spoils them."""
    from schema.ballots import answer_schema

    text = model.asked[0][1]
    keys = [json.loads(line)["id"] for line in text.split("\n") if line.startswith("{")]
    return model.answers(text, answer_schema(RUBRIC, keys), {"trial": ["trial"], "cannot": []})


def test_an_answer_that_comes_right_at_last_is_taken(
    catalog: Catalog, register: Callable[..., Local]
) -> None:
    register(lambda a, n: well(a, n) if n % 3 == 0 else "no")
    report = run(catalog)
    assert (report.accepted, report.left, report.quarantined_attempts) == (3, 0, 6)
    assert [(a.chunk, a.attempt) for a in answers(catalog, "accepted")] == [(1, 3), (2, 3), (3, 3)]
    assert len(votes(catalog)) == 5


def test_no_answer_is_failed_and_never_a_vote(catalog: Catalog, register: Callable[..., Local]) -> None:
    model = register(refuse)
    clock = Clock()
    report = run(catalog, clock)
    # Three attempts at each of three chunks, then it stops; 2 s, then 4 s between attempts.
    assert len(model.asked) == 9
    assert clock.waits == [2.0, 4.0] * 3
    assert (report.failed_attempts, report.quarantined_attempts, report.left) == (9, 0, 3)
    assert "no answer came to 3 chunks in a row" in (report.stopped or "")
    kept = answers(catalog)
    assert {(a.state, a.raw, a.report) for a in kept} == {
        ("failed", None, ("RuntimeError: the provider is down",))
    }
    assert votes(catalog) == {}


def test_what_would_be_refused_again_is_asked_once(catalog: Catalog, register: Callable[..., Local]) -> None:
    model = register(unauthorised)
    clock = Clock()
    run(catalog, clock)
    assert (len(model.asked), clock.waits) == (3, [])


def test_a_silent_provider_is_given_up_in_time(catalog: Catalog, register: Callable[..., Local]) -> None:
    register(hang)
    report = run(catalog, seconds=0.05, chunks=1, max_attempts=1)
    assert report.failed_attempts == 1
    assert [a.report for a in answers(catalog, "failed")] == [("no answer came within 0.05 s",)]


def test_it_goes_on_where_it_stopped(catalog: Catalog, register: Callable[..., Local]) -> None:
    def stop(answers: Answers, call: int) -> str:
        if call == 2:
            raise KeyboardInterrupt
        return well(answers, call)

    model = register(stop)

    def pressed(name: str, done: int, total: int) -> None:
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(catalog, progress=pressed)
    # The first chunk is whole, the others untouched.
    assert [a.chunk for a in answers(catalog, "accepted")] == [1]
    assert len(votes(catalog)) == 2
    again = register(well)
    report = run(catalog)
    assert (report.already, report.accepted, report.left) == (1, 2, 0)
    assert len(again.asked) == 2
    assert not {q for _, q in model.asked} & {q for _, q in again.asked}
    assert run(catalog).accepted == 0
    assert len(again.asked) == 2


def test_rate_spaces_requests(catalog: Catalog, register: Callable[..., Local]) -> None:
    register(well)
    clock = Clock()
    run(catalog, clock, rate=30)
    # 30 a minute are 2 s apart: the first goes at once, and nothing else takes time here.
    assert clock.waits == [2.0, 2.0]


def test_a_longer_wait_that_a_provider_asks_for_is_kept(
    catalog: Catalog, register: Callable[..., Local]
) -> None:
    class Busy(RuntimeError):
        status_code = 429
        response = type("R", (), {"headers": {"retry-after": "30"}, "status_code": 429})()

    def busy(answers: Answers, call: int) -> str:
        if call == 1:
            raise Busy("slow down")
        return well(answers, call)

    register(busy)
    clock = Clock()
    assert run(catalog, clock, chunks=1).accepted == 1
    assert clock.waits == [30.0]


def test_what_cannot_be_asked_at_all(catalog: Catalog, register: Callable[..., Local]) -> None:
    register(well)
    with pytest.raises(CatalogError) as caught:
        run(catalog, round_="full")
    assert str(caught.value).startswith("round full: its instrument is 'full text', but a model can be shown")
    assert answers(catalog) == []
