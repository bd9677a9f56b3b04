"""Adjudications: beside the votes, which stay; unresolved is a result and is never imputed."""

import hashlib
import sqlite3

import pytest

from catalog import queries as catalog_queries
from catalog import screening_queries as queries
from catalog.store import Catalog, CatalogError
from schema.ballots import Ballot
from schema.base import canonical_json
from schema.states import ScreeningState


@pytest.fixture
def split(studied: Catalog) -> str:
    """The slug of a work of which two people and a model say different things."""
    work = queries.manifest(studied.connection, "screen")[0].works[0]
    fields = {"domain": ("health",)}
    yes = Ballot(work=work, decision="in_scope", categories=("metaresearch",), fields=fields)
    studied.cast_vote("screen", "ann", yes, "ann")
    studied.cast_vote("screen", "ben", Ballot(work=work, decision="out_of_scope"), "ben")
    return work


def bot_votes(catalog: Catalog) -> None:
    from catalog.ballots import AnswerMeta

    chunk = queries.manifest(catalog.connection, "screen")[0]
    answers = [{"id": work, "decision": "out_of_scope"} for work in chunk.works]
    catalog.record_answer("screen", 1, "bot", AnswerMeta(raw="x"), answers, who="t")


def test_a_work_is_contested_when_the_whole_panel_has_voted(studied: Catalog, split: str) -> None:
    db = studied.connection
    assert queries.contested(db, "screen") == ()
    bot_votes(studied)
    (found,) = queries.contested(db, "screen", pending=True)
    assert (found.work, found.scope) == (split, ScreeningState.SINGLE_SOURCE)
    assert [(vote.rater.id, vote.status) for vote in found.votes] == [
        ("ann", "human_direct"), ("ben", "human_direct"), ("bot", "machine_direct_unvalidated"),
    ]  # fmt: skip
    view = queries.round_view(db, "screen")
    assert (view.rated, view.contested, view.adjudicated) == (1, 1, 0)


def test_an_adjudication_stands_beside_the_votes(studied: Catalog, split: str) -> None:
    bot_votes(studied)
    db = studied.connection
    before = db.execute("SELECT * FROM votes").fetchall()
    name = studied.adjudicate("screen", "judge", split, "in_scope", ["metaresearch"], "It is.", "judge")
    assert name == "a" + hashlib.sha256(canonical_json(["screen", split, 1])).hexdigest()[:24]
    assert db.execute("SELECT * FROM votes").fetchall() == before
    assert queries.contested(db, "screen", pending=True) == ()
    (found,) = queries.contested(db, "screen")
    assert found.adjudication is not None
    assert (found.adjudication.status, found.adjudication.adjudication.reason) == ("human_direct", "It is.")
    by_category = {row.category: row for row in queries.category_states(db, split, "screen")}
    # The state is still what the votes say; what was decided is said beside it.
    assert by_category["metaresearch"].state is ScreeningState.SINGLE_SOURCE
    assert by_category["metaresearch"].adjudicated is True
    assert by_category["open-science"].adjudicated is False
    (screen,) = catalog_queries.work(db, split).screens
    assert screen.adjudication == found.adjudication
    assert screen.state is ScreeningState.SINGLE_SOURCE
    assert (screen.stratum, screen.synthetic) in {("old", True), ("new", True)}
    assert queries.round_view(db, "screen").adjudicated == 1


def test_unresolved_stays_so(studied: Catalog, split: str) -> None:
    studied.adjudicate("screen", "judge", split, "unresolved", who="judge")
    rows = [row for row in queries.label_rows(studied.connection, "tiny") if row.work == split]
    assert {row.adjudicated for row in rows} == {None}
    assert {row.adjudicated_status for row in rows} == {"human_direct"}


def test_a_later_one_supersedes(studied: Catalog, split: str) -> None:
    first = studied.adjudicate("screen", "judge", split, "unresolved", who="judge")
    assert studied.adjudicate("screen", "judge", split, "unresolved", who="judge") == first
    second = studied.adjudicate("screen", "judge", split, "out_of_scope", reason="No.", who="judge")
    (screen,) = catalog_queries.work(studied.connection, split).screens
    assert screen.adjudication is not None
    assert screen.adjudication.adjudication.id == second
    assert [a.id for a in screen.adjudication.superseded] == [first]
    with pytest.raises(sqlite3.IntegrityError, match="can supersede only one on the same work"):
        studied.connection.execute(
            "INSERT INTO adjudications(slug, round_id, work_id, rater_id, decision, categories, supersedes, "
            "recorded_at, recorded_by) SELECT 'x', round_id, work_id + 1, rater_id, decision, '[]', id, "
            "'t', 't' FROM adjudications WHERE id = 2"
        )


def test_what_no_adjudication_can_be(studied: Catalog, split: str) -> None:
    other = queries.manifest(studied.connection, "screen")[1].works[0]
    for rater, work, decision, categories, sentence in (
        ("ann", split, "unresolved", [], "'ann' is no adjudicator of round screen; its adjudicators: judge"),
        ("judge", other, "unresolved", [], "nobody has voted on"),
        ("judge", "nobody", "unresolved", [], "is no work of round screen's manifest"),
        ("judge", split, "perhaps", [], "decision"),
        ("judge", split, "in_scope", [], "in_scope, but no category is named"),
        ("judge", split, "in_scope", ["sts"], "'sts' is no category of the rubric"),
        ("judge", split, "out_of_scope", ["metaresearch"], "stands alone, but categories are named"),
        ("judge", split, "unresolved", [], "at most 400 characters"),
    ):
        reason = "x" * 401 if "400" in sentence else None
        with pytest.raises(CatalogError, match=sentence):
            studied.adjudicate("screen", rater, work, decision, categories, reason, "t")
    assert studied.connection.execute("SELECT count(*) FROM adjudications").fetchone() == (0,)


def test_votes_of_people_that_agree_are_not_overturned(studied: Catalog) -> None:
    """An adjudication resolves a difference; who thinks that two people erred asks them to vote again."""
    work = queries.manifest(studied.connection, "screen")[0].works[0]
    for rater in ("ann", "ben"):
        studied.cast_vote("screen", rater, Ballot(work=work, decision="out_of_scope"), rater)
    with pytest.raises(CatalogError, match="agree: an adjudication resolves votes that differ"):
        studied.adjudicate("screen", "judge", work, "in_scope", ["open-science"], who="judge")
    studied.cast_vote(
        "screen", "ben", Ballot(work=work, decision="in_scope", categories=("open-science",)), "ben"
    )
    assert studied.adjudicate("screen", "judge", work, "in_scope", ["open-science"], who="judge")
