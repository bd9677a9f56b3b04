"""Studies, samples and manifests: decided before the first rater runs, and never changed after."""

import hashlib
import sqlite3
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from catalog import screening_queries as queries
from catalog.store import Catalog, CatalogError
from schema.ballots import chunk_sha256
from schema.study import Study

Make = Callable[..., Study]


def plan(study: Study, **changes: Any) -> dict[str, Any]:
    """The study's first round, changed."""
    return study.rounds[0].model_dump() | changes


def test_a_study_reads_back_as_it_was_designed(catalog: Catalog, make_study: Make) -> None:
    study = make_study()
    added = catalog.add_study(study, "a" * 64, "tester")
    assert (added.version, added.new, added.rounds) == (1, True, ("screen",))
    assert added.sha256 == study.sha256
    db = catalog.connection
    assert queries.study_record(db, "tiny") == study
    page = queries.study_page(db, "tiny")
    assert (page.synthetic, page.caveats) == (True, ("A synthetic study.",))
    (view,) = page.rounds
    assert view.round.origin == "harness"
    assert view.round.study_sha256 == study.sha256
    assert view.round.rubric_sha256 == study.rubric.sha256
    assert view.round.panel == 3
    assert [row.rater.id for row in view.coverage] == ["ann", "ben", "bot"]
    assert [rater.id for rater in view.adjudicators] == ["judge"]
    assert not view.has_manifest
    (event,) = db.execute("SELECT who, subject FROM events WHERE action = 'design'").fetchall()
    assert event == ("tester", "tiny")


def test_the_same_study_again_changes_nothing(catalog: Catalog, make_study: Make) -> None:
    catalog.add_study(make_study(), "a" * 64, "tester")
    rows = catalog.connection.execute("SELECT count(*) FROM events").fetchone()
    again = catalog.add_study(make_study(), "b" * 64, "somebody else")
    assert (again.version, again.new, again.rounds) == (1, False, ())
    assert catalog.connection.execute("SELECT count(*) FROM events").fetchone() == rows


def test_a_new_version_adds_and_old_rounds_keep_their_rubric(catalog: Catalog, make_study: Make) -> None:
    first = make_study()
    catalog.add_study(first, "a" * 64, "tester")
    rubric = first.rubric.model_dump() | {"version": "2", "title": "Asked otherwise"}
    raters = [*(r.model_dump() for r in first.raters), {"id": "eve", "kind": "human", "name": "Eve"}]
    rounds = [plan(first), plan(first, id="second", raters=["eve"], adjudicators=[])]
    second = make_study(rubric=rubric, raters=raters, rounds=rounds)
    added = catalog.add_study(second, "b" * 64, "tester")
    assert (added.version, added.new, added.rounds) == (2, True, ("second",))
    page = queries.study_page(catalog.connection, "tiny")
    assert [version.version for version in page.versions] == [2, 1]
    # What raters of the first round are asked is what they were asked when it was made.
    assert [view.rubric.version for view in page.rounds if view.rubric] == ["1", "2"]
    assert [view.round.study_sha256 for view in page.rounds] == [first.sha256, second.sha256]
    assert queries.study_record(catalog.connection, "tiny", 1) == first


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (lambda s: {"rounds": [plan(s, seed=8)]}, "round screen is here already with another seed"),
        (lambda s: {"rounds": [plan(s, id="other")]}, "round screen is missing; a new version only adds"),
        (
            lambda s: {"raters": [s.raters[0].model_dump() | {"name": "Anna"}, *s.raters[1:]]},
            "rater ann: is here already with another name",
        ),
        (
            lambda s: {"rubric": s.rubric.model_dump() | {"title": "Asked otherwise"}},
            "rubric rubric version 1 is here in other words; give the changed rubric another version",
        ),
        (
            lambda s: {"samples": [s.samples[0].model_dump() | {"salt": "t"}]},
            "sample first was drawn already by another design",
        ),
    ],
)
def test_what_is_decided_stays(
    studied: Catalog,
    make_study: Make,
    changes: Callable[[Study], dict[str, Any]],
    sentence: str,
) -> None:
    before = studied.connection.execute("SELECT count(*) FROM studies").fetchone()
    with pytest.raises(CatalogError, match=sentence):
        studied.add_study(make_study(**changes(make_study())), "b" * 64, "tester")
    assert studied.connection.execute("SELECT count(*) FROM studies").fetchone() == before


def test_a_round_has_one_study(catalog: Catalog, make_study: Make) -> None:
    catalog.add_study(make_study(), "a" * 64, "tester")
    with pytest.raises(CatalogError, match="round screen is a round of study 'tiny' here"):
        catalog.add_study(make_study(id="other"), "a" * 64, "tester")


def test_a_sample_is_the_first_of_each_stratum_by_hash(studied: Catalog) -> None:
    """Computed here with hashlib alone: SHA-256(id || salt), the first n of each stratum."""
    db = studied.connection
    works = db.execute("SELECT slug, year FROM works").fetchall()
    expected = {}
    for stratum, wanted, n in (("old", 2001, 6), ("new", 2011, 4)):
        ids = [slug for slug, year in works if year == wanted]
        ids.sort(key=lambda slug: hashlib.sha256(f"{slug}s".encode()).hexdigest())
        expected |= {slug: (stratum, rank, 10 / n, n / 10) for rank, slug in enumerate(ids[:n], start=1)}
    stored = db.execute(
        "SELECT w.slug, h.stratum, m.rank, m.weight, m.inclusion_probability FROM sample_works m "
        "JOIN works w ON w.id = m.work_id "
        "JOIN sample_strata h ON h.sample_id = m.sample_id AND h.position = m.stratum"
    ).fetchall()
    assert {slug: row for slug, *row in stored} == {slug: list(row) for slug, row in expected.items()}
    (sample,) = queries.study_page(db, "tiny").samples
    assert (sample.frame_size, sample.drawn) == (20, 10)
    assert [(s.stratum, s.frame_size, s.drawn, s.weight) for s in sample.strata] == [
        ("old", 10, 6, float(Fraction(10, 6))),
        ("new", 10, 4, 2.5),
    ]


def test_the_same_draw_again_changes_nothing_and_another_frame_is_refused(
    studied: Catalog, tmp_path: Any
) -> None:
    again = studied.draw_sample("tiny", "first", who="tester")
    assert not again.new
    assert again.drawn == 10
    later = tmp_path / "later.bib"
    later.write_text("@article{z, title={One more matter}, year={2001}, doi={10.1000/z}}\n")
    studied.import_file(later, "tester")
    with pytest.raises(CatalogError, match=r"drawn already, from 20 works .* than the 21 now; it stays"):
        studied.draw_sample("tiny", "first", who="tester")


def test_strata_from_a_table(shelf: Catalog, make_study: Make) -> None:
    strata = [{"id": "a", "draw": 1}, {"id": "b", "draw": None}]
    shelf.add_study(make_study(samples=[{"id": "first", "salt": "s", "strata": strata}]), "a" * 64, "tester")
    slugs = [row[0] for row in shelf.connection.execute("SELECT slug FROM works ORDER BY id")]
    table = {slug: "a" if n < 15 else "b" for n, slug in enumerate(slugs)}
    for wrong, sentence in (
        (None, "stratum a has no rule; give a table"),
        ({k: v for k, v in table.items() if k != slugs[3]}, f"doesn't name work '{slugs[3]}'"),
        (table | {"nobody": "a"}, "names 'nobody'; the catalog has no such work"),
        (table | {slugs[3]: "c"}, "is of stratum 'c'; expected one of a, b"),
    ):
        with pytest.raises(CatalogError, match=sentence):
            shelf.draw_sample("tiny", "first", wrong, "tester")
    drawn = shelf.draw_sample("tiny", "first", table, "tester")
    # A census of its stratum stands for itself.
    assert [(s.stratum, s.frame_size, s.drawn, s.weight) for s in drawn.strata] == [
        ("a", 15, 1, 15.0),
        ("b", 5, 5, 1.0),
    ]


def test_a_larger_sample_holds_the_smaller_one(shelf: Catalog, make_study: Make) -> None:
    def design(name: str, n: int, **more: Any) -> dict[str, Any]:
        return {"id": name, "salt": "s", "strata": [{"id": "all", "draw": n}], **more}

    samples = [design("first", 5), design("more", 9, extends="first"), design("else", 9, extends="first")]
    samples[2]["salt"] = "t"
    shelf.add_study(make_study(samples=samples), "a" * 64, "tester")
    with pytest.raises(CatalogError, match="extends first, which isn't drawn yet; draw it first"):
        shelf.draw_sample("tiny", "more", who="tester")
    shelf.draw_sample("tiny", "first", who="tester")
    shelf.draw_sample("tiny", "more", who="tester")
    with pytest.raises(CatalogError, match="sample else: "):
        shelf.draw_sample("tiny", "else", who="tester")
    drawn = {
        slug: {row[0] for row in shelf.connection.execute(
            "SELECT m.work_id FROM sample_works m JOIN samples s ON s.id = m.sample_id WHERE s.slug = ?",
            [slug],
        )}
        for slug in ("first", "more")
    }  # fmt: skip
    assert len(drawn["first"]) == 5
    assert drawn["first"] < drawn["more"]


@pytest.mark.parametrize(
    ("strata", "sentence"),
    [
        ([{"id": "old", "where": {"field": "year", "at_most": 2009}}], "fits no stratum"),
        (
            [
                {"id": "old", "where": {"field": "year", "at_most": 2009}},
                {"id": "any", "where": {"field": "title", "contains": "matter"}},
            ],
            "fits the strata old and any",
        ),
        ([{"id": "a", "where": {"field": "title", "contains": "matter"}, "draw": 21}], "has 20 records"),
    ],
)
def test_strata_that_do_not_part_the_frame(
    shelf: Catalog, make_study: Make, strata: list[dict[str, Any]], sentence: str
) -> None:
    shelf.add_study(make_study(samples=[{"id": "first", "salt": "s", "strata": strata}]), "a" * 64, "tester")
    with pytest.raises(CatalogError, match=f"sample first: .*{sentence}"):
        shelf.draw_sample("tiny", "first", who="tester")
    assert shelf.connection.execute("SELECT count(*) FROM samples").fetchone() == (0,)


def test_a_manifest_is_the_sample_in_the_order_of_its_seed(studied: Catalog) -> None:
    db = studied.connection
    drawn = [row[0] for row in db.execute(
        "SELECT w.slug FROM sample_works m JOIN works w ON w.id = m.work_id")]  # fmt: skip
    order = sorted(drawn, key=lambda slug: hashlib.sha256(f"7{slug}".encode()).hexdigest())
    chunks = queries.manifest(db, "screen")
    assert [chunk.works for chunk in chunks] == [tuple(order[:4]), tuple(order[4:8]), tuple(order[8:])]
    for chunk in chunks:
        assert chunk.sha256 == chunk_sha256("screen", chunk.position, chunk.works)
    assert studied.write_manifest("screen", "tester") == chunks
    assert len(db.execute("SELECT * FROM events WHERE action = 'manifest'").fetchall()) == 1


def test_a_manifest_needs_its_sample_and_is_written_once(
    shelf: Catalog, make_study: Make, tmp_path: Any
) -> None:
    study = make_study()
    whole = plan(study, id="whole", sample=None, chunk_size=1000)
    shelf.add_study(make_study(rounds=[plan(study), whole]), "a" * 64, "tester")
    with pytest.raises(CatalogError, match="its sample first isn't drawn yet; draw it first"):
        shelf.write_manifest("screen", "tester")
    (chunk,) = shelf.write_manifest("whole", "tester")
    assert len(chunk.works) == 20
    later = tmp_path / "later.bib"
    later.write_text("@article{z, title={One more matter}, year={2001}, doi={10.1000/z}}\n")
    shelf.import_file(later, "tester")
    with pytest.raises(CatalogError, match="written already, with 20 works, and would hold 21 now"):
        shelf.write_manifest("whole", "tester")


def test_no_chunk_is_added_once_somebody_rates(studied: Catalog) -> None:
    from catalog.ballots import AnswerMeta

    studied.record_answer("screen", 1, "bot", AnswerMeta(raw=None), None, "no answer", "tester")
    with pytest.raises(sqlite3.IntegrityError, match="a chunk is written before anybody rates"):
        studied.connection.execute(
            "INSERT INTO chunks(round_id, position, works, sha256, recorded_at, recorded_by) "
            "VALUES (1, 4, 1, 'x', 't', 'tester')"
        )


def test_unknown_names_get_a_sentence(catalog: Catalog, make_study: Make) -> None:
    with pytest.raises(CatalogError, match="there is no study 'tiny' here; `proofshelf screen design`"):
        catalog.draw_sample("tiny", "first", who="tester")
    with pytest.raises(CatalogError, match="there is no round 'screen' here"):
        catalog.write_manifest("screen", "tester")
    catalog.add_study(make_study(), "a" * 64, "tester")
    with pytest.raises(CatalogError, match="study tiny has no sample 'second'; its samples: first"):
        catalog.draw_sample("tiny", "second", who="tester")
    for ask in (queries.study_page, queries.study_record):
        with pytest.raises(LookupError, match="did you mean tiny"):
            ask(catalog.connection, "tinny")
    with pytest.raises(LookupError, match="there is no round 'zzz' here; there is screen"):
        queries.round_view(catalog.connection, "zzz")


def test_a_round_may_name_its_works(shelf: Catalog, make_study: Make) -> None:
    """Works picked in another way than by a sample, such as a batch: no weight stands beside them."""
    slugs = [row[0] for row in shelf.connection.execute("SELECT slug FROM works ORDER BY id")]
    picked = [slugs[7], slugs[2], slugs[11]]
    first = make_study()
    shelf.add_study(make_study(rounds=[plan(first, sample=None, works=picked)]), "a" * 64, "tester")
    chunks = shelf.write_manifest("screen", "tester")
    assert sorted(work for chunk in chunks for work in chunk.works) == sorted(picked)
    assert queries.rating_table(shelf.connection, "screen").weights is None
    unknown = plan(first, id="other", sample=None, works=["nobody", slugs[0]])
    shelf.add_study(make_study(rounds=[plan(first, sample=None, works=picked), unknown]), "b" * 64, "tester")
    with pytest.raises(
        CatalogError, match="round other: names 'nobody', which is no work of the study's frame"
    ):
        shelf.write_manifest("other", "tester")
    with pytest.raises(ValueError, match="has a sample and names works"):
        make_study(rounds=[plan(first, works=picked)])


def test_works_outside_the_frame_are_in_no_manifest_and_no_sample(shelf: Catalog, make_study: Make) -> None:
    """The frame is the study's own: ten of the twenty works are of 2011."""
    first = make_study()
    new = make_study(frame={"field": "year", "equals": 2011}, rounds=[plan(first, sample=None)])
    shelf.add_study(new, "a" * 64, "tester")
    works = {work for chunk in shelf.write_manifest("screen", "tester") for work in chunk.works}
    years = dict(shelf.connection.execute("SELECT slug, year FROM works").fetchall())
    assert works == {slug for slug, year in years.items() if year == 2011}
    assert {d.id for _, d in queries.frame_documents(shelf.connection, "tiny")} == works
