"""The raters' page: for raters only, blinded, and written by the store; what was typed is never lost."""

import asyncio
import html
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import pytest
from datasette import hookimpl
from datasette.plugins import pm

from catalog import screening_queries, store
from schema.screening import Decision

QUEUE = "/studies/pilot/queue/pilot-screen"
ADJUDICATE = "/studies/pilot/adjudicate/pilot-screen"
Screened = tuple[Path, tuple[str, ...]]


class Rater:
    """Somebody with a browser: keeps cookies, and sends forms as they were shown."""

    def __init__(self, site: Any, name: str | None) -> None:
        self.site = site
        self.cookies: dict[str, str] = {} if name is None else site.cookies(name)

    def get(self, path: str = QUEUE) -> Any:
        """One page."""
        answer = asyncio.run(self.site.get(path, cookies=self.cookies))
        self.cookies |= dict(answer.cookies)
        return answer

    def send(self, page: Any, path: str = QUEUE, **filled: Any) -> Any:
        """The form of a page, filled in and sent."""
        hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page.text))
        data = {"action": "send", **{name: html.unescape(value) for name, value in hidden.items()}, **filled}
        return asyncio.run(self.site.post(path, data=data, cookies=self.cookies))

    def rate(self, **filled: Any) -> Any:
        """Rate the work that comes next."""
        return self.send(self.get(), **filled)


@pytest.fixture
def rater(own_study: Screened, open_site: Any) -> Any:
    """A function from a name to somebody who is signed in by it."""
    site = open_site(own_study[0])
    return lambda name: Rater(site, name)


def text(answer: Any) -> str:
    """What a reader sees."""
    body = answer.text[max(0, answer.text.find("<main")) :]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


def votes(path: Path, rater: str) -> list[tuple[str, str, bool]]:
    """Every vote of a rater, oldest first: the work, the decision, and whether it corrects another."""
    with closing(sqlite3.connect(path)) as db:
        rows = db.execute(
            "SELECT w.slug, v.decision, v.supersedes IS NOT NULL FROM votes v "
            "JOIN works w ON w.id = v.work_id JOIN raters t ON t.id = v.rater_id "
            "WHERE t.slug = ? ORDER BY v.id",
            [rater],
        )
        return [(work, decision, bool(corrects)) for work, decision, corrects in rows]


NO = {"decision": "out_of_scope", "confidence": "low"}


# Who may come in -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (None, "This page is for the raters of the round, and you are not signed in."),
        ("eve", "You are signed in as 'eve', who is no rater of this round."),
        ("cara", "You are signed in as 'cara', who is no rater of this round."),
        ("rule", "You are signed in as 'rule', which is a model of the study; this page is for people."),
    ],
)
def test_nobody_but_a_person_of_the_panel_comes_in(rater: Any, name: str | None, sentence: str) -> None:
    visitor = rater(name)
    answer = visitor.get()
    assert answer.status_code == 403
    seen = text(answer)
    assert sentence in seen
    assert "Person Ada Lovelace, signed in as ada" in seen
    assert "pip install 'proofshelf[raters]'" in seen
    assert "Effects of treatment" not in seen
    assert visitor.send(answer, work="3-1", before="", csrftoken="", **NO).status_code == 403


def test_an_adjudicator_is_no_rater_and_a_rater_no_adjudicator(rater: Any) -> None:
    assert rater("cara").get(ADJUDICATE).status_code == 200
    refused = rater("ada").get(ADJUDICATE)
    assert refused.status_code == 403
    assert "who is no adjudicator of this round" in text(refused)
    model = rater("rule").get("/studies/pilot/adjudicate/pilot-fulltext")
    assert "which is a model of the study" in text(model)


def test_the_way_in_is_that_of_the_plugin(rater: Any) -> None:
    assert '<a class="button" href="/-/login">Log in</a>' in rater(None).get().text


def test_who_may_not_see_the_database_may_not_rate(own_study: Screened, open_site: Any) -> None:
    site = open_site(own_study[0], metadata={"databases": {"screening": {"allow": {"id": "root"}}}})
    assert Rater(site, "ada").get().status_code == 403


# Rating --------------------------------------------------------------------------------------------


def test_a_vote_is_recorded_by_the_store_and_the_next_work_comes(rater: Any, own_study: Screened) -> None:
    path, order = own_study
    ada = rater("ada")
    page = ada.get()
    assert "no-store" in page.headers["cache-control"]
    assert "6 of 9 rated, 3 left" in text(page)
    answer = ada.send(
        page, decision="in_scope", category="trial", confidence="high", reason=" Assigned\r\nat random. ",
        **{"field.masking": "double", "field.topics": ["heart", "lung"]},
    )  # fmt: skip
    assert (answer.status_code, answer.headers["location"]) == (303, QUEUE)
    with store.open_catalog(path, writable=False) as catalog:
        last = screening_queries.queue_page(catalog.connection, "pilot-screen", "ada").last
        who = catalog.connection.execute("SELECT recorded_by FROM votes ORDER BY id DESC").fetchone()[0]
    assert last is not None
    assert last.ballot.categories == ("trial",)
    assert last.ballot.fields == {"masking": ("double",), "topics": ("heart", "lung")}
    assert last.ballot.reason == "Assigned\nat random."
    assert who == "ada"
    assert votes(path, "ada")[-1] == (order[6], "in_scope", False)
    assert "7 of 9 rated, 2 left" in text(ada.get())


def test_it_is_blinded(rater: Any, own_study: Screened, screening: ModuleType) -> None:
    _, order = own_study
    ada, page = rater("ada"), rater("ada").get()
    # Ben and two models said something of this work, and so does its address.
    assert "Effects of treatment 8" in text(page)
    for secret in (
        "Ben",
        'protocol" checked',
        "Read too fast",
        order[6],
        "Journal",
        "Author8",
        "2018",
        "rule",
    ):
        assert secret not in text(page), secret
    # The record page keeps it from her too, until her own vote is in.
    record = ada.get(f"/works/{order[6]}")
    assert "You rate this work in “First screen”." in text(record)
    assert "Ben" not in text(record)
    assert "Classification" not in text(record)
    assert ada.get(f"/works/{order[6]}.json").json()["screens"] == []
    assert "Ben" in text(rater("cara").get(f"/works/{order[6]}"))
    assert screening.SECRET_REASON in text(ada.get(f"/works/{order[0]}"))


def test_undo_supersedes_and_keeps(rater: Any, own_study: Screened) -> None:
    path, order = own_study
    ada = rater("ada")
    ada.rate(**NO, reason="Too fast.")
    undo = re.search(r'id="undo" href="([^"]+)"', ada.get().text)
    assert undo is not None
    again = ada.get(html.unescape(undo.group(1)))
    assert "Sending again replaces it; what it replaces is kept in the record." in text(again)
    assert 'value="out_of_scope" data-key="e" required checked' in again.text
    assert "Too fast." in again.text
    assert ada.send(again, decision="unsure", confidence="low").status_code == 303
    assert votes(path, "ada")[-2:] == [(order[6], "out_of_scope", False), (order[6], "unsure", True)]
    assert "Effects of treatment 4" in text(ada.get())


def test_the_same_again_changes_nothing(rater: Any, own_study: Screened) -> None:
    ada = rater("ada")
    ada.rate(**NO)
    before = votes(own_study[0], "ada")
    again = ada.get(html.unescape(re.search(r'id="undo" href="([^"]+)"', ada.get().text).group(1)))  # type: ignore[union-attr]
    assert ada.send(again, **NO).status_code == 303
    assert votes(own_study[0], "ada") == before


def test_skipped_works_come_last(rater: Any, own_study: Screened) -> None:
    ada = rater("ada")
    first = text(ada.get())
    assert "Effects of treatment 8" in first
    assert ada.send(ada.get(), action="skip").status_code == 303
    seen = text(ada.get())
    assert "Effects of treatment 4" in seen
    assert "3 left, 1 of them put off until the end" in seen
    for _ in range(2):
        ada.rate(**NO)
    last = text(ada.get())
    assert "Effects of treatment 8" in last
    assert "Put off before." in last
    ada.rate(**NO)
    done = text(ada.get())
    assert "All 9 works are rated" in done
    assert len(votes(own_study[0], "ada")) == 9


def test_a_round_without_a_manifest_says_what_it_waits_for(rater: Any) -> None:
    assert "proofshelf screen manifest pilot-fulltext" in text(
        rater("ada").get("/studies/pilot/queue/pilot-fulltext")
    )


def test_a_single_topic_is_named_by_including(
    own_study: Screened, open_site: Any, screening: ModuleType
) -> None:
    record = {
        "id": "simple",
        "title": "One question",
        "rubric": {
            "id": "r",
            "version": "1",
            "title": "One question",
            "asks_confidence": False,
            "categories": [{"id": "include", "label": "Include"}],
        },
        "raters": [{"id": "ada", "kind": "human", "name": "Ada Lovelace"}],
        "rounds": [{"id": "simple-screen", "title": "Titles", "instrument": "title", "raters": ["ada"]}],
    }
    with store.open_catalog(own_study[0], writable=True) as catalog:
        catalog.add_study(screening.Study.model_validate(record), screening.SOURCE)
        catalog.write_manifest("simple-screen")
    ada = Rater(open_site(own_study[0]), "ada")
    address = "/studies/simple/queue/simple-screen"
    page = ada.get(address)
    assert 'name="category"' not in page.text
    assert "insufficient_payload" not in page.text
    assert "at random" not in text(page), "the instrument shows titles only"
    assert ada.send(page, address, decision="in_scope").status_code == 303
    with store.open_catalog(own_study[0], writable=False) as catalog:
        last = screening_queries.queue_page(catalog.connection, "simple-screen", "ada").last
    assert last is not None
    assert last.ballot.categories == ("include",)


# What can't be recorded ----------------------------------------------------------------------------


def kept(answer: Any) -> bool:
    """Whether what `TYPED` fills in stands in the form that came back."""
    return (
        "<textarea" in answer.text
        and "My own words &amp; thoughts" in answer.text
        and 'value="low" data-key="l" required checked' in answer.text
    )


TYPED = {"confidence": "low", "reason": "My own words & thoughts"}


@pytest.mark.parametrize(
    ("filled", "sentence"),
    [
        ({}, "Choose a decision."),
        ({"decision": "in_scope"}, "In_scope, but no category is named."),
        ({"decision": "perhaps"}, "Decision is 'perhaps'"),
        ({"decision": "out_of_scope", "category": "trial"}, "Out_of_scope, but trial is named."),
        ({"decision": "in_scope", "category": "trial"}, "Masking is missing; it is required"),
        ({"decision": "in_scope", "category": ["protocol", "openness"]}, "Openness stands alone, but 2"),
        ({"decision": "in_scope", "category": "nonsense"}, "'nonsense' is no category of the rubric."),
        ({"decision": "out_of_scope", "field.design": "none"}, "Design is 'none'"),
        ({"decision": "out_of_scope", "reason": "x" * 401}, "Reason has 401 characters"),
    ],
)  # fmt: skip
def test_what_the_rubric_refuses_comes_back_as_it_was(
    rater: Any, own_study: Screened, filled: dict[str, Any], sentence: str
) -> None:
    before = votes(own_study[0], "ada")
    answer = rater("ada").rate(**{**TYPED, **filled})
    assert answer.status_code == 422
    assert sentence in text(answer)
    assert kept(answer) or "reason" in filled
    assert votes(own_study[0], "ada") == before


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Somebody else holds the write lock."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def test_a_locked_catalog_is_said_and_what_was_typed_is_kept(
    rater: Any, own_study: Screened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("catalog.web.writing.BUSY_SECONDS", 0.05)
    ada = rater("ada")
    with locked(own_study[0]):
        answer = ada.rate(**{**NO, **TYPED})
        skipped = ada.rate(action="skip")
    for refused in (answer, skipped):
        assert refused.status_code == 503
        assert "is locked by another writer; try again when it has finished; nothing was recorded." in text(
            refused
        )
    assert kept(answer)
    assert ada.send(answer, **NO, reason="x").status_code == 303


def test_an_immutable_catalog_is_for_reading(own_study: Screened, open_site: Any) -> None:
    with closing(sqlite3.connect(own_study[0])) as db:
        db.execute("PRAGMA journal_mode = DELETE")
    site = open_site(immutables=[str(own_study[0])])
    answer = Rater(site, "ada").rate(**{**NO, **TYPED})
    assert answer.status_code == 409
    assert "served as a file that never changes; nothing was recorded." in text(answer)
    assert kept(answer)


def test_another_window_is_noticed(rater: Any, own_study: Screened) -> None:
    one, other = rater("ada"), rater("ada")
    stale = one.get()
    other.rate(**NO)
    # The same work: the vote of the other window isn't replaced without saying so.
    answer = one.send(stale, **{**NO, **TYPED})
    assert answer.status_code == 409
    assert "You voted on this work in another window; to replace that vote by this, send it again." in text(
        answer
    )
    assert kept(answer)
    assert len(votes(own_study[0], "ada")) == 7
    assert one.send(answer, **{**NO, **TYPED}).status_code == 303
    assert votes(own_study[0], "ada")[-1][2] is True
    # Two works further on.
    other.rate(**NO)
    answer = one.send(stale, **{**NO, **TYPED})
    assert answer.status_code == 409
    assert "was rated or put off in another window; nothing was recorded." in text(answer)
    assert "My own words & thoughts" in text(answer)


def test_a_form_from_elsewhere_is_refused(rater: Any, own_study: Screened) -> None:
    ada = rater("ada")
    before = votes(own_study[0], "ada")
    assert ada.send(ada.get(), csrftoken="wrong", **NO).status_code == 403
    assert votes(own_study[0], "ada") == before


class KnownWithoutACookie:
    """A plugin as HTTP's own dialog makes one: the browser sends a name with whatever it asks for."""

    @hookimpl
    def actor_from_request(self) -> dict[str, str]:
        """Always Ada."""
        return {"id": "ada"}


@pytest.mark.parametrize("token", ["", "wrong", "é"])
def test_so_is_one_without_a_cookie(own_study: Screened, open_site: Any, token: str) -> None:
    """Datasette looks for its token only where a request has a cookie; the page looks for it always."""
    site, plugin = open_site(own_study[0]), KnownWithoutACookie()
    before = votes(own_study[0], "ada")
    pm.register(plugin, "known")
    try:
        page = asyncio.run(site.get(QUEUE))
        key = re.search(r'name="work" value="([^"]+)"', page.text)
        assert key is not None
        data = {"action": "send", "work": key.group(1), "before": "", "csrftoken": token, **NO, **TYPED}
        answer = asyncio.run(site.post(QUEUE, data=data))
    finally:
        pm.unregister(plugin)
    assert answer.status_code == 403
    assert "This form is not from a page of this server" in text(answer)
    assert kept(answer)
    assert votes(own_study[0], "ada") == before


def test_a_giant_form_is_refused(rater: Any) -> None:
    ada = rater("ada")
    answer = ada.send(ada.get(), **NO, **{"field.design": "x" * 70_000})
    assert answer.status_code == 400
    assert "at most 64,000 bytes" in text(answer)


@pytest.mark.parametrize("key", ["", "9-9", "0-0", "1-1' OR 1", "author8-2018-effects", "1" * 500])
def test_a_work_that_is_not_at_hand_is_not_rated(rater: Any, own_study: Screened, key: str) -> None:
    before = votes(own_study[0], "ada")
    ada = rater("ada")
    assert ada.send(ada.get(), work=key, **NO).status_code == 409
    assert votes(own_study[0], "ada") == before


def test_every_decision_of_the_schema_can_be_made_here(rater: Any) -> None:
    page = rater("ada").get().text
    assert set(re.findall(r'name="decision" value="(\w+)"', page)) == set(get_args(Decision))


# Adjudicating --------------------------------------------------------------------------------------


def test_an_adjudication_stands_beside_the_votes(rater: Any, own_study: Screened) -> None:
    path, order = own_study
    cara = rater("cara")
    page = cara.get(ADJUDICATE)
    seen = text(page)
    assert "1 of 4 works on which votes differ are adjudicated, 3 left" in seen
    assert "Person Ada Lovelace" in seen
    assert "Model A keyword rule" in seen
    assert cara.send(page, ADJUDICATE).status_code == 422
    wrong = cara.send(page, ADJUDICATE, decision="in_scope", reason="Why & how")
    assert wrong.status_code == 409
    assert "Why &amp; how" in wrong.text
    assert cara.send(page, ADJUDICATE, decision="unresolved", csrftoken="x").status_code == 403
    assert cara.send(page, ADJUDICATE, decision="unresolved", reason="Both may be right.").status_code == 303
    stale = cara.send(page, ADJUDICATE, decision="out_of_scope")
    assert stale.status_code == 409
    assert "was adjudicated in another window" in text(stale)
    with store.open_catalog(path, writable=False) as catalog:
        rows = catalog.connection.execute(
            "SELECT work, decision, rater FROM adjudications_current"
        ).fetchall()
        states = screening_queries.category_states(catalog.connection, order[3])
    assert (order[3], "unresolved", "cara") in rows
    # Nothing is put in the place of an unresolved one, and the votes' states are what they were.
    assert {row.adjudicated for row in states} == {None}
    assert {row.category: row.state.value for row in states}["protocol"] == "single_source"
