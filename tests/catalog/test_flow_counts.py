"""The counts of a PRISMA 2020 flow: a case by hand, and boxes that add up whatever was voted."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catalog import screening_queries as queries
from catalog.screening_pages import FlowCounts, SourceCount
from catalog.store import Catalog
from schema.ballots import Ballot
from schema.study import Study


def adds_up(flow: FlowCounts) -> None:
    """Every box from those that it is made of."""
    assert flow.identified == sum(source.records for source in flow.sources)
    assert flow.identified == flow.duplicates + flow.unreadable + flow.works
    for stage in flow.stages:
        assert flow.works == stage.selected + stage.not_selected
        assert stage.selected == stage.screened + stage.awaiting
        assert stage.screened == stage.included + stage.excluded + stage.unresolved
        assert stage.adjudicated <= stage.screened
        if stage.reasons:
            assert stage.excluded == sum(count for _, count in stage.reasons)
        parts = (stage.selected, stage.not_selected, stage.screened, stage.awaiting, stage.included,
                 stage.excluded, stage.unresolved)  # fmt: skip
        assert min(parts) >= 0


@pytest.fixture
def reviewed(
    shelf: Catalog, make_study: Callable[..., Study], write_package: Callable[..., Path], tmp_path: Path
) -> Catalog:
    """Twenty works from one file; of a second file one is new, one was here, one is in it twice and one
    can't be read; and a package brings one more. Two people screen the ten works of the sample."""
    (tmp_path / "more.bib").write_text(
        "@article{new, title={Quite another thing}, year={1990}, doi={10.1000/new}}\n"
        "@article{known, title={Study of matter 3}, author={Doe, Jane}, doi={10.1000/w3}}\n"
        "@article{again, title={Quite another thing}, year={1990}, doi={10.1000/new}}\n"
        "@article{nameless, author={Doe, Jane}}\n"
    )
    rounds = [make_study().rounds[0].model_dump() | {"raters": ["ann", "ben"]}]
    shelf.add_study(make_study(rounds=rounds), "0" * 64, "t")
    shelf.draw_sample("tiny", "first", who="t")
    shelf.write_manifest("screen", "t")
    shelf.import_file(tmp_path / "more.bib", "t")
    shelf.add_package(write_package(), "t")
    return shelf


def yes(work: str) -> Ballot:
    return Ballot(
        work=work, decision="in_scope", categories=("metaresearch",), fields={"domain": ("health",)}
    )


def no(work: str, reason: str | None = None) -> Ballot:
    fields = {} if reason is None else {"exclusion_reason": (reason,)}
    return Ballot(work=work, decision="out_of_scope", fields=fields)


def test_a_flow_by_hand(reviewed: Catalog) -> None:
    works = [work for chunk in queries.manifest(reviewed.connection, "screen") for work in chunk.works]
    ballots: list[tuple[Ballot | None, Ballot | None]] = [
        (yes(works[0]), yes(works[0])),
        (no(works[1], "topic"), no(works[1], "topic")),
        (no(works[2], "topic"), no(works[2], "language")),
        (no(works[3]), no(works[3])),
        (yes(works[4]), no(works[4], "topic")),
        (yes(works[5]), no(works[5], "language")),
        (yes(works[6]), no(works[6])),
        (Ballot(work=works[7], decision="unsure"), Ballot(work=works[7], decision="unsure")),
        (yes(works[8]), None),
        (None, None),
    ]
    for ann, ben in ballots:
        for rater, ballot in (("ann", ann), ("ben", ben)):
            if ballot is not None:
                reviewed.cast_vote("screen", rater, ballot, rater)
    reviewed.adjudicate("screen", "judge", works[4], "in_scope", ["metaresearch"], who="judge")
    reviewed.adjudicate("screen", "judge", works[5], "out_of_scope", who="judge")
    flow = queries.flow_counts(reviewed.connection, "tiny")
    adds_up(flow)
    assert flow.sources == (
        SourceCount("twenty.bib", 20), SourceCount("more.bib", 4), SourceCount("packages of evidence", 1),
    )  # fmt: skip
    assert (flow.identified, flow.duplicates, flow.unreadable, flow.works) == (25, 2, 1, 22)
    assert flow.synthetic
    (stage,) = flow.stages
    assert (stage.selected, stage.not_selected) == (10, 12)
    assert (stage.screened, stage.awaiting) == (8, 2)
    # By majority: 0 in; 1, 2, 3 out; 6 tied and 7 unsure; the adjudicator decides 4 and 5.
    assert (stage.included, stage.excluded, stage.unresolved, stage.adjudicated) == (2, 4, 2, 2)
    assert stage.reasons == (
        ("language", 1), ("no reason given", 1), ("several reasons given", 1), ("topic", 1),
    )  # fmt: skip
    assert (stage.estimand, stage.votes, stage.statuses) == ("majority", "people", ("human_direct",))
    # Another question to the same votes: any vote in scope lets a work pass (0, 4, 6).
    (stage,) = queries.flow_counts(reviewed.connection, "tiny", "any").stages
    assert (stage.included, stage.excluded, stage.unresolved) == (3, 4, 1)
    (stage,) = queries.flow_counts(reviewed.connection, "tiny", "unanimous").stages
    assert (stage.included, stage.excluded, stage.unresolved) == (2, 5, 1)


def test_before_anybody_rates(reviewed: Catalog, make_study: Callable[..., Study]) -> None:
    flow = queries.flow_counts(reviewed.connection, "tiny")
    adds_up(flow)
    (stage,) = flow.stages
    assert (stage.votes, stage.statuses, stage.awaiting, stage.screened) == ("none", (), 10, 0)
    assert stage.reasons == ()


def test_machines_are_named(studied: Catalog, make_study: Callable[..., Study]) -> None:
    from catalog.ballots import AnswerMeta

    rounds = [*(r.model_dump() for r in make_study().rounds)]
    rounds.append(rounds[0] | {"id": "machine", "raters": ["bot"], "adjudicators": ["judge"]})
    studied.add_study(make_study(rounds=rounds), "1" * 64, "t")
    for chunk in studied.write_manifest("machine", "t"):
        answers = [{"id": work, "decision": "out_of_scope"} for work in chunk.works]
        studied.record_answer("machine", chunk.position, "bot", AnswerMeta(raw="x"), answers, who="t")
    (stage,) = queries.flow_counts(studied.connection, "tiny", rounds=["machine"]).stages
    assert (stage.votes, stage.statuses) == ("machine", ("machine_direct_unvalidated",))
    assert stage.excluded == 10
    studied.adjudicate("machine", "judge", chunk.works[0], "unresolved", who="judge")
    (stage,) = queries.flow_counts(studied.connection, "tiny", rounds=["machine"]).stages
    assert (stage.votes, stage.unresolved) == ("people and machine", 1)
    both = queries.flow_counts(studied.connection, "tiny")
    adds_up(both)
    assert [stage.round for stage in both.stages] == ["screen", "machine"]
    with pytest.raises(LookupError, match="there is no round 'nope' here"):
        queries.flow_counts(studied.connection, "tiny", rounds=["nope"])
    with pytest.raises(LookupError, match="there is no study 'nope' here"):
        queries.flow_counts(studied.connection, "nope")


SAID = st.sampled_from(["in_scope", "out_of_scope", "insufficient_payload", "unsure", None])


# The fixture is the same for every example, and each one takes back what it wrote.
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    votes=st.lists(st.tuples(SAID, SAID), min_size=10, max_size=10),
    settled=st.lists(
        st.sampled_from(["in_scope", "out_of_scope", "unresolved", None]), min_size=10, max_size=10
    ),
    which=st.sampled_from(["unanimous", "majority", "any"]),
)
def test_boxes_add_up_whatever_was_voted(
    reviewed: Catalog, votes: list[Any], settled: list[Any], which: Any
) -> None:
    db = reviewed.connection
    raters = dict(db.execute("SELECT slug, id FROM raters"))
    works = [row[0] for row in db.execute("SELECT work_id FROM chunk_works ORDER BY chunk_id, position")]
    db.execute("BEGIN")
    try:
        for n, (work, pair, decision) in enumerate(zip(works, votes, settled, strict=True)):
            for rater, said in zip(("ann", "ben"), pair, strict=True):
                if said is not None:
                    db.execute(
                        "INSERT INTO votes(slug, round_id, work_id, rater_id, decision, categories, "
                        "source_sha256, recorded_at, recorded_by) "
                        "VALUES (?, 1, ?, ?, ?, '[]', 's', 't', 't')",
                        [f"{rater}{n}", work, raters[rater], said],
                    )
            if decision is not None and any(pair):
                db.execute(
                    "INSERT INTO adjudications(slug, round_id, work_id, rater_id, decision, categories, "
                    "recorded_at, recorded_by) VALUES (?, 1, ?, ?, ?, '[]', 't', 't')",
                    [f"a{n}", work, raters["judge"], decision],
                )
        flow = queries.flow_counts(db, "tiny", which)
    finally:
        db.execute("ROLLBACK")
    adds_up(flow)
    (stage,) = flow.stages
    # What can be told without knowing how votes are counted.
    decided = [d if any(pair) else None for d, pair in zip(settled, votes, strict=True)]
    complete = sum(d is not None or None not in pair for d, pair in zip(decided, votes, strict=True))
    assert stage.screened == complete
    assert stage.adjudicated == sum(d is not None for d in decided)
    assert stage.included >= sum(d == "in_scope" for d in decided)
