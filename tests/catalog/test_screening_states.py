"""One place decides every state: SQL views, pages, tables and exports all say what `schema.states` says."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catalog import queries as catalog_queries
from catalog import screening_queries as queries
from catalog.screening_pages import NOT_CAST
from catalog.store import Catalog
from schema.states import (
    ScreeningState,
    Status,
    category_vote,
    estimand,
    in_scope,
    screening_state,
    vote_status,
)
from schema.study import Study

CATEGORIES = ("metaresearch", "open-science", "unreadable")
RATERS = {"ann": "human", "ben": "human", "bot": "model"}
# Everything that a stored vote can be, whether a rubric would take it today or not.
CAST = st.sampled_from(
    [None]
    + [("out_of_scope", ()), ("unsure", ()), ("insufficient_payload", ())]
    + [("in_scope", chosen) for chosen in ((), ("metaresearch",), ("metaresearch", "open-science"))]
)
AVAILABILITY = st.sampled_from([None, "available", "unknown", "insufficient_support", "fold_degenerate"])


@pytest.fixture
def panel(catalog: Catalog, make_study: Callable[..., Study], tmp_path: Path) -> Catalog:
    """One work in one round, to which each example adds votes in a transaction that it takes back."""
    (tmp_path / "a.bib").write_text("@article{a, title={The work}, year={2001}}\n")
    catalog.import_file(tmp_path / "a.bib", "t")
    rounds = [make_study().rounds[0].model_dump() | {"sample": None}]
    catalog.add_study(make_study(rounds=rounds), "0" * 64, "t")
    catalog.write_manifest("screen", "t")
    return catalog


def write(db: sqlite3.Connection, votes: dict[str, Any], corrected: bool, support: dict[str, Any]) -> None:
    """Rows as the store would write them."""
    raters = dict(db.execute("SELECT slug, id FROM raters"))
    columns = "slug, round_id, work_id, rater_id, decision, categories, supersedes, source_sha256, recorded_at, recorded_by"  # fmt: skip # noqa: E501
    for rater, vote in votes.items():
        if vote is None:
            continue
        before = None
        if corrected:  # a vote that was superseded says nothing any more
            before = db.execute(
                f"INSERT INTO votes({columns}) VALUES (?, 1, 1, ?, 'in_scope', ?, NULL, 's', 't', 't')",
                [f"{rater}-before", raters[rater], '["open-science"]'],
            ).lastrowid
        db.execute(
            f"INSERT INTO votes({columns}) VALUES (?, 1, 1, ?, ?, ?, ?, 's', 't', 't')",
            [rater, raters[rater], vote[0], json.dumps(list(vote[1])), before],
        )
    if any(support.values()):
        db.execute(
            "INSERT INTO model_releases(slug, title, status, maturity, calibrated, decimals, source, study, "
            "source_sha256, recorded_at, recorded_by) "
            "VALUES ('m', 'M', 'score_only:v0', 'not_passed', 0, 3, 'it', 'tiny', 's', 't', 't')"
        )
        for category, availability in support.items():
            if availability is not None:
                db.execute(
                    "INSERT INTO heads(release_id, name, category, availability) VALUES (1, 'h', ?, ?)",
                    [category, availability],
                )


# The fixture is the same for every example, and each one takes back what it wrote.
@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    votes=st.fixed_dictionaries(dict.fromkeys(RATERS, CAST)),
    corrected=st.booleans(),
    support=st.fixed_dictionaries(dict.fromkeys(CATEGORIES, AVAILABILITY)),
)
def test_every_place_says_what_states_say(
    panel: Catalog, votes: dict[str, Any], corrected: bool, support: dict[str, Any]
) -> None:
    db = panel.connection
    db.execute("BEGIN")
    try:
        write(db, votes, corrected, support)
        agree(db, votes, support)
    finally:
        db.execute("ROLLBACK")


def agree(db: sqlite3.Connection, votes: dict[str, Any], support: dict[str, Any]) -> None:
    (work,) = db.execute("SELECT slug FROM works").fetchone()
    cast = {rater: vote for rater, vote in votes.items() if vote is not None}
    in_sql = {row[0]: row[1:] for row in db.execute(
        "SELECT category, cast_votes, usable, positives, state, status FROM category_states")}  # fmt: skip
    votes_in_sql = {
        (rater, category): (vote, status)
        for rater, category, vote, status in db.execute(
            "SELECT rater, category, vote, status FROM category_votes"
        )
    }
    on_page = {row.category: row for row in queries.category_states(db, work)}
    exported = {row.category: row for row in queries.label_rows(db, "tiny")}
    screens = catalog_queries.work(db, work).screens
    assert len(screens) == (1 if cast else 0)
    for category in CATEGORIES:
        said = {r: category_vote(v[0], v[1], category, "unreadable") for r, v in cast.items()}
        supported = {None: None, "available": True, "unknown": True}.get(support[category], False)
        state = screening_state(list(said.values()), supported)
        usable = [vote for vote in said.values() if vote is not None]
        basis = [r for r, vote in said.items() if vote is not None] or list(said)
        statuses = sorted({vote_status(RATERS[r]) for r in basis})

        assert in_sql[category] == (
            len(said), len(usable), sum(usable), state.value, " and ".join(statuses) or None,
        )  # fmt: skip
        for rater, vote in said.items():
            expected = None if vote is None else int(vote)
            assert votes_in_sql[rater, category] == (expected, vote_status(RATERS[rater]))

        row = on_page[category]
        assert (row.state, row.usable, row.positives) == (state, len(usable), sum(usable))
        assert {(v.rater, v.vote, v.status) for v in row.votes} == {
            (r, vote, vote_status(RATERS[r])) for r, vote in said.items()
        }
        assert list(row.statuses) == statuses
        for screen in screens:
            assert next(r for r in screen.categories if r.category == category) == row

        line = exported[category]
        assert (line.state, line.cast, line.usable) == (state, len(said), len(usable))
        assert list(line.statuses) == statuses
        for which in ("unanimous", "majority", "any"):
            # A panel answers when all of it has voted; until then what it will say isn't known.
            whole = list(said.values()) if len(said) == len(RATERS) else []
            assert getattr(line, which) == estimand(whole, which)

        table = queries.rating_table(db, "screen", category)
        assert table.votes == (tuple(said.get(r, NOT_CAST) for r in RATERS),)
        assert table.statuses == tuple(vote_status(kind) for kind in RATERS.values())

    scope = [in_scope(vote[0]) for vote in cast.values()]
    assert exported[None].state == screening_state(scope)
    view = queries.round_view(db, "screen")
    assert view.states[screening_state(scope)] == 1
    assert sum(view.states.values()) == 1
    table = queries.rating_table(db, "screen")
    assert table.votes == (tuple(in_scope(cast[r][0]) if r in cast else NOT_CAST for r in RATERS),)
    for screen in screens:
        assert screen.state == screening_state(scope)
        # A machine's vote is never shown as a person's.
        for seen in screen.votes:
            assert seen.status == vote_status(RATERS[seen.rater.id])


def test_the_precedence_in_sql_case_by_case(panel: Catalog) -> None:
    """The order of the states, by hand: a rarely voted category of a panel of three."""
    none, yes = ("insufficient_payload", ()), ("in_scope", ("metaresearch",))
    no = ("out_of_scope", ())
    lacking = {"metaresearch": "insufficient_support", "open-science": None, "unreadable": None}
    for votes, support, state in (
        ((None, None, None), {}, "unknown"),
        ((None, None, None), lacking, "unsupported"),
        ((none, None, None), lacking, "unknown"),  # a vote was cast, so a head isn't all that could speak
        ((none, none, none), {}, "unknown"),
        ((yes, None, None), lacking, "agreed_positive"),
        ((yes, none, yes), {}, "agreed_positive"),
        ((no, none, no), {}, "agreed_negative"),
        ((yes, yes, no), {}, "contested"),
        ((yes, no, no), {}, "single_source"),
        ((yes, no, none), {}, "single_source"),
    ):
        panel.connection.execute("BEGIN")
        write(panel.connection, dict(zip(RATERS, votes, strict=True)), False, support)
        found = panel.connection.execute(
            "SELECT state FROM category_states WHERE category = 'metaresearch'"
        ).fetchall()
        panel.connection.execute("ROLLBACK")
        assert found == [(state,)]


def test_a_vote_that_was_not_cast_is_never_a_negative(panel: Catalog) -> None:
    (row,) = queries.rating_table(panel.connection, "screen").votes
    assert row == (NOT_CAST, NOT_CAST, NOT_CAST)
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(row[0])
    assert row[0] not in (True, False, None)


def test_a_person_who_could_not_judge_lends_no_name_to_a_machine(panel: Catalog) -> None:
    """Of a person's "can't be screened" and a machine's "no", only the machine says no."""
    db = panel.connection
    db.execute("BEGIN")
    write(db, {"ann": ("insufficient_payload", ()), "bot": ("out_of_scope", ())}, False, {})
    (work,) = db.execute("SELECT slug FROM works").fetchone()
    row = queries.category_states(db, work)[0]
    scope = next(queries.label_rows(db, "tiny"))
    status = db.execute("SELECT status FROM category_states WHERE category = ?", [row.category]).fetchone()
    db.execute("ROLLBACK")
    assert row.state is ScreeningState.AGREED_NEGATIVE
    assert row.statuses == scope.statuses == (Status.MACHINE_DIRECT,)
    assert status == ("machine_direct_unvalidated",)
