"""Votes as tables for statistics and training, documents of the frame, and rows for export."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from catalog import queries as catalog_queries
from catalog import screening_queries as queries
from catalog.ballots import AnswerMeta, Published
from catalog.screening_pages import NOT_CAST
from catalog.store import Catalog
from schema.ballots import Ballot
from schema.study import Study


@pytest.fixture
def rated(studied: Catalog) -> Catalog:
    """The model rated all; ann the first work as metaresearch, the second as unreadable."""
    one, two, *_ = works(studied)
    for chunk in queries.manifest(studied.connection, "screen"):
        answers = [{"id": work, "decision": "out_of_scope"} for work in chunk.works]
        studied.record_answer("screen", chunk.position, "bot", AnswerMeta(raw="x"), answers, who="t")
    ballot = Ballot(
        work=one, decision="in_scope", categories=("metaresearch",), fields={"domain": ("health",)}
    )
    studied.cast_vote("screen", "ann", ballot, "ann")
    studied.cast_vote("screen", "ann", Ballot(work=two, decision="insufficient_payload"), "ann")
    return studied


def works(catalog: Catalog) -> list[str]:
    return [work for chunk in queries.manifest(catalog.connection, "screen") for work in chunk.works]


def test_a_rating_table_holds_every_work_of_the_manifest(rated: Catalog) -> None:
    table = queries.rating_table(rated.connection, "screen", "metaresearch")
    assert list(table.works) == works(rated)
    assert (table.raters, table.kinds) == (("ann", "ben", "bot"), ("human", "human", "model"))
    assert table.votes[0] == (True, NOT_CAST, False)
    assert table.votes[1] == (None, NOT_CAST, False)
    assert set(table.votes[2:]) == {(NOT_CAST, NOT_CAST, False)}
    other = queries.rating_table(rated.connection, "screen", "open-science")
    assert other.votes[0] == (False, NOT_CAST, False)
    unreadable = queries.rating_table(rated.connection, "screen", "unreadable")
    assert [row[0] for row in unreadable.votes[:2]] == [False, True]
    with pytest.raises(LookupError, match="there is no category of round screen 'sts' here"):
        queries.rating_table(rated.connection, "screen", "sts")
    # Weights are those of the strata: 10 / 6 for works of 2001 and 10 / 4 for those of 2011.
    years = dict(rated.connection.execute("SELECT slug, year FROM works"))
    assert table.weights is not None
    assert table.strata is not None
    for work, weight, stratum in zip(table.works, table.weights, table.strata, strict=True):
        assert (weight, stratum) == ((10 / 6, "old") if years[work] == 2001 else (10 / 4, "new"))


def test_a_table_of_published_votes_has_no_design(shelf: Catalog, tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("doi,label_included\n10.1000/w0,1\n10.1000/w1,0\n10.1000/w2,\n")
    published = Published(
        study="else", title="E", source="S", rater="r", name="R", kind="human", panel=1
    )  # fmt: skip
    shelf.import_votes(tmp_path / "l.csv", published=published, who="t")
    table = queries.rating_table(shelf.connection, "else", "include")
    assert table.votes == ((True,), (False,), (None,))
    assert (table.weights, table.strata) == (None, None)


def test_training_rows_hold_what_each_rater_said(rated: Catalog) -> None:
    rows = queries.training_rows(rated.connection, "tiny")
    assert rows.categories == ("metaresearch", "open-science", "unreadable")
    assert rows.cannot == "unreadable"
    assert list(rows.works) == sorted(works(rated))
    assert [document.id for document in rows.documents] == list(rows.works)
    document = rows.documents[0]
    assert document.title.startswith("Study of matter")
    assert document.abstract.startswith("Abstract ")
    assert document.year in (2001, 2011)
    # Ben has voted on nothing, so there is no column of him.
    assert [(column.round, column.rater.id, column.status) for column in rows.columns] == [
        ("screen", "ann", "human_direct"), ("screen", "bot", "machine_direct_unvalidated"),
    ]  # fmt: skip
    ann, bot = rows.columns
    one, two = (rows.works.index(work) for work in works(rated)[:2])
    assert ann.votes[one] == (True, False, False)
    assert ann.votes[two] == (None, None, True)
    assert (ann.scope[one], ann.scope[two]) == (True, None)
    assert ann.votes.count((NOT_CAST,) * 3) == 8
    assert set(bot.votes) == {(False, False, False)}
    assert ann.weights == bot.weights
    assert sorted(ann.weights or ()) == pytest.approx([10 / 6] * 6 + [2.5] * 4)


def test_rounds_with_other_rubrics_and_samples_stay_apart(
    rated: Catalog, make_study: Callable[..., Study]
) -> None:
    study = make_study()
    rubric = study.rubric.model_dump() | {"version": "2", "categories": [{"id": "sts", "label": "STS"}]}
    rubric["fields"] = []
    whole = study.rounds[0].model_dump() | {"id": "whole", "sample": None, "raters": ["ann"]}
    rounds = [study.rounds[0].model_dump(), whole]
    rated.add_study(make_study(rubric=rubric, rounds=rounds), "1" * 64, "t")
    rated.write_manifest("whole", "t")
    outside = sorted(
        {row[0] for row in rated.connection.execute("SELECT slug FROM works")} - set(works(rated))
    )
    rated.cast_vote("whole", "ann", Ballot(work=outside[0], decision="in_scope", categories=("sts",)), "ann")
    rows = queries.training_rows(rated.connection, "tiny")
    # The newest rubric's categories come first.
    assert rows.categories == ("sts", "metaresearch", "open-science", "unreadable")
    first, _, second = rows.columns
    at = rows.works.index(outside[0])
    assert len(rows.works) == 11
    assert second.votes[at] == (True, NOT_CAST, NOT_CAST, NOT_CAST)
    assert second.weights is None
    assert first.votes[at] == (NOT_CAST,) * 4
    assert first.weights is not None
    assert first.weights[at] is None


def test_documents_of_the_frame_come_some_at_a_time(shelf: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    import catalog.works

    monkeypatch.setattr(catalog.works, "_AT_ONCE", 3)
    frame = list(queries.frame_documents(shelf.connection))
    assert [row for row, _ in frame] == list(range(1, 21))
    assert frame[3][1].title == "Study of matter 3"
    assert [row for row, _ in queries.frame_documents(shelf.connection, after=17)] == [18, 19, 20]
    # Reading holds nothing open: others write meanwhile, in the same connection too.
    for _ in queries.frame_documents(shelf.connection):
        with shelf.write():
            shelf._event("backup", "t", "x")


def test_topics_and_field_are_read_stored_and_filled_in(catalog: Catalog, tmp_path: Path) -> None:
    def bring(name: str, *rows: str) -> None:
        header = "title,doi,topics,field,year"
        (tmp_path / name).write_text("\n".join([header, *rows]) + "\n")
        catalog.import_file(tmp_path / name, "t")

    bring(
        "a.csv",
        "A long enough title,10.1000/a,Sleep; Naps,Medicine,2001",
        "Another long title,10.1000/b,,,2002",
    )
    documents = {document.title: document for _, document in queries.frame_documents(catalog.connection)}
    one, two = documents["A long enough title"], documents["Another long title"]
    assert (one.topics, one.field) == (("Sleep", "Naps"), "Medicine")
    assert (two.topics, two.field) == ((), None)
    bring(
        "b.csv",
        "A long enough title,10.1000/a,Dreams,Arts,2001",
        "Another long title,10.1000/b,Dreams,Arts,2002",
    )
    # What was empty is filled in; what was there stays.
    one, two = (catalog_queries.work(catalog.connection, d.id).work for d in (one, two))
    assert (one.topics, one.field) == (("Sleep", "Naps"), "Medicine")
    assert (two.topics, two.field) == (("Dreams",), "Arts")
    assert catalog.connection.execute(
        "SELECT outcome FROM import_records ORDER BY import_id, position"
    ).fetchall() == [("added",), ("added",), ("duplicate",), ("updated",)]  # fmt: skip
    # The same record again is unchanged, topics and all.
    bring("c.csv", "A long enough title,10.1000/a,Sleep; Naps,Medicine,2001", "x,,,,")
    assert catalog.connection.execute(
        "SELECT outcome FROM import_records WHERE import_id = 3 AND position = 1"
    ).fetchone() == ("unchanged",)


def test_every_row_of_an_export_has_its_status(rated: Catalog) -> None:
    db = rated.connection
    labels = list(queries.label_rows(db, "tiny"))
    assert len(labels) == 10 * 4  # scope and three categories of each work in the manifest
    assert [row.category for row in labels[:4]] == [None, "metaresearch", "open-science", "unreadable"]
    assert all(row.statuses for row in labels)
    votes = list(queries.vote_rows(db, "tiny"))
    assert len(votes) == 12
    assert {row.status for row in votes if row.rater_kind == "model"} == {"machine_direct_unvalidated"}
    assert {row.status for row in votes if row.rater_kind == "human"} == {"human_direct"}
    with pytest.raises(LookupError, match="there is no study 'nope' here; there is tiny"):
        list(queries.label_rows(db, "nope"))
    with pytest.raises(LookupError, match="there is no round 'else' here; there is screen"):
        list(queries.label_rows(db, "tiny", "else"))
    for ask in (queries.score_rows, queries.call_rows):
        assert list(ask(db, "tiny")) == []
    with pytest.raises(LookupError, match="there is no release 'nope' here"):
        list(queries.score_rows(db, release="nope"))
    with pytest.raises(LookupError, match="there is no decision run 'nope' here"):
        list(queries.call_rows(db, run="nope"))


def test_summaries_tell_people_from_machines(rated: Catalog) -> None:
    (summary,) = queries.studies(rated.connection)
    assert (summary.works, summary.votes, summary.human_votes, summary.machine_votes) == (10, 12, 2, 10)
    assert (summary.synthetic, summary.version, summary.rounds) == (True, 1, 1)
    view = queries.round_view(rated.connection, "screen")
    ann, ben, bot = view.coverage
    assert (ann.voted, ann.remaining, ann.in_scope, ann.insufficient_payload, ann.chunks_done) == (
        2,
        8,
        1,
        1,
        0,
    )
    assert (ben.voted, ben.remaining) == (0, 10)
    assert (bot.voted, bot.chunks, bot.chunks_done, bot.accepted) == (10, 3, 3, 3)
    assert view.statuses == ("human_direct", "machine_direct_unvalidated")
    (sample,) = queries.study_page(rated.connection, "tiny").samples
    assert [stratum.rated for stratum in sample.strata] == [6, 4]


def test_costs_and_tokens_add_up(studied: Catalog) -> None:
    chunks = queries.manifest(studied.connection, "screen")
    for chunk, cost in zip(chunks, ("0.1", "0.2", None), strict=True):
        meta = AnswerMeta(raw="x", cost=cost, input_tokens=100, output_tokens=None)
        answers: list[Any] = [{"id": work, "decision": "unsure"} for work in chunk.works]
        studied.record_answer("screen", chunk.position, "bot", meta, answers, who="t")
    bot = queries.round_view(studied.connection, "screen").coverage[2]
    # As decimals: 0.1 + 0.2 is 0.3.
    assert (bot.cost, bot.input_tokens, bot.output_tokens, bot.unsure) == ("0.3", 300, None, 10)
