"""The queue: in the manifest's order, blinded, and no more than the instrument shows."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest

from catalog import screening_queries as queries
from catalog.ballots import AnswerMeta
from catalog.store import Catalog
from schema.ballots import Ballot
from schema.study import Study


def works(catalog: Catalog, round_: str = "screen") -> list[str]:
    return [work for chunk in queries.manifest(catalog.connection, round_) for work in chunk.works]


def following(catalog: Catalog, rater: str = "ann") -> str | None:
    item = queries.queue_page(catalog.connection, "screen", rater).item
    return None if item is None else queries.queue_work(catalog.connection, "screen", item.key)


def test_works_come_in_the_order_of_the_manifest_and_skipped_ones_last(studied: Catalog) -> None:
    order = works(studied)
    seen = []
    skipped = [order[1], order[3]]
    while (work := following(studied)) is not None:
        page = queries.queue_page(studied.connection, "screen", "ann")
        assert page.total == 10
        assert page.done == len([w for w in seen if w not in skipped])
        if work in skipped and work not in seen:
            studied.skip("screen", "ann", work, "ann")
            seen.append(work)
            continue
        if work in skipped:
            break
        studied.cast_vote("screen", "ann", Ballot(work=work, decision="out_of_scope"), "ann")
        seen.append(work)
    assert seen == order
    # Only the two that were put off are left, the one that waits longest first.
    page = queries.queue_page(studied.connection, "screen", "ann")
    assert (page.done, page.skipped) == (8, 2)
    assert page.item is not None
    assert page.item.skipped
    assert following(studied) == order[1]
    studied.skip("screen", "ann", order[1], "ann")
    assert following(studied) == order[3]
    for work in (order[3], order[1]):
        assert following(studied) == work
        studied.cast_vote("screen", "ann", Ballot(work=work, decision="unsure"), "ann")
    page = queries.queue_page(studied.connection, "screen", "ann")
    assert (page.item, page.done, page.skipped) == (None, 10, 0)
    assert queries.rater_rounds(studied.connection, "ann") == (("screen", "The screen", 10, 10),)


def test_nothing_of_anybody_else_is_in_it(studied: Catalog) -> None:
    """The page of one rater is the same whatever the others, the model and the adjudicator have done."""
    before = asdict(queries.queue_page(studied.connection, "screen", "ann"))
    first = works(studied)[0]
    ballot = Ballot(
        work=first, decision="in_scope", categories=("metaresearch",), fields={"domain": ("health",)},
        reason="REASON OF ANOTHER",
    )  # fmt: skip
    studied.cast_vote("screen", "ben", ballot, "ben")
    studied.skip("screen", "ben", works(studied)[1], "ben")
    for chunk in queries.manifest(studied.connection, "screen"):
        answers = [{"id": work, "decision": "out_of_scope"} for work in chunk.works]
        studied.record_answer("screen", chunk.position, "bot", AnswerMeta(raw="x"), answers, who="t")
    studied.adjudicate("screen", "judge", first, "unresolved", reason="OF THE JUDGE", who="judge")
    assert asdict(queries.queue_page(studied.connection, "screen", "ann")) == before


@pytest.mark.parametrize(
    ("instrument", "shown"),
    [
        ("title", {"title"}),
        ("title+abstract", {"title", "abstract"}),
        ("full text", {"title", "abstract", "authors", "year", "venue", "identifiers"}),
    ],
)
def test_only_what_the_instrument_shows(
    shelf: Catalog, make_study: Callable[..., Study], instrument: str, shown: set[str]
) -> None:
    study = make_study()
    rounds: list[dict[str, Any]] = [
        study.rounds[0].model_dump() | {"instrument": instrument, "sample": None, "chunk_size": 3}
    ]
    shelf.add_study(make_study(rounds=rounds), "a" * 64, "t")
    shelf.write_manifest("screen", "t")
    page = queries.queue_page(shelf.connection, "screen", "ann")
    assert page.item is not None
    has = {name for name, value in asdict(page.item).items() if value and name not in ("key", "skipped")}
    assert has == shown
    # A slug may hold author and year: the key says where the work stands, and nothing of it.
    assert page.item.key == "1-1"
    slug = works(shelf)[0]
    if instrument == "title":
        assert slug not in str(page)
        assert "2001" not in str(page.item)
        assert "2011" not in str(page.item)
    shelf.cast_vote("screen", "ann", Ballot(work=slug, decision="unsure"), "ann")
    page = queries.queue_page(shelf.connection, "screen", "ann")
    assert page.last is not None
    assert page.last.item.key == "1-1"
    if instrument == "title":
        assert slug not in str(page)


def test_the_last_vote_is_the_raters_own(studied: Catalog) -> None:
    one, two = works(studied)[:2]
    assert queries.queue_page(studied.connection, "screen", "ann").last is None
    studied.cast_vote("screen", "ben", Ballot(work=two, decision="unsure"), "ben")
    first = studied.cast_vote("screen", "ann", Ballot(work=one, decision="unsure", reason="Hm."), "ann")
    last = queries.queue_page(studied.connection, "screen", "ann").last
    assert last is not None
    assert (last.vote, last.ballot.decision, last.ballot.reason) == (first, "unsure", "Hm.")
    assert queries.queue_work(studied.connection, "screen", last.item.key) == one
    # Undone by another vote on the same work, which is then the last one.
    second = studied.cast_vote("screen", "ann", Ballot(work=one, decision="out_of_scope"), "ann")
    last = queries.queue_page(studied.connection, "screen", "ann").last
    assert last is not None
    assert last.vote == second


@pytest.mark.parametrize("key", ["", "1", "0-1", "1-0", "9-9", "1-1-1", "a-b", "１-1", "1-1\n"])
def test_a_key_that_is_none(studied: Catalog, key: str) -> None:
    with pytest.raises(LookupError, match="has no work"):
        queries.queue_work(studied.connection, "screen", key)


def test_who_has_no_queue(studied: Catalog) -> None:
    for rater, sentence in (("bot", "bot' is a model"), ("judge", "is no rater"), ("nobody", "is no rater")):
        with pytest.raises(LookupError, match=sentence):
            queries.queue_page(studied.connection, "screen", rater)
    assert queries.rater_rounds(studied.connection, "bot") == ()
    assert queries.rater_rounds(studied.connection, "ben") == (("screen", "The screen", 0, 10),)
