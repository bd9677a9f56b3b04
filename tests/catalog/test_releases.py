"""Releases, scores and calls: scores show when all are in; calls are the k of each head, and no label."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import catalog.scorings
from catalog import queries as catalog_queries
from catalog import screening_queries as queries
from catalog.commands.datasets import scores
from catalog.store import Catalog, CatalogError, open_catalog
from schema.ballots import Ballot
from schema.scores import DecisionRun, Head, ModelRelease, Quota
from schema.states import Call
from schema.study import Study

RECORD = {"metrics": {"brier": 0.1}}


def release(**changes: Any) -> ModelRelease:
    """Two heads, each for two categories; the second has no support for one of them."""
    values: dict[str, Any] = {
        "id": "student",
        "title": "A student",
        "version": "f" * 64,
        "status": "score_only:v0-immature-baseline",
        "maturity": "not_passed",
        "decimals": 4,
        "heads": (
            Head(name="ann", imitates="ann", categories=("metaresearch", "open-science")),
            Head(name="bot", imitates="bot", categories=("metaresearch",), positives=30, ess_positives=21.5),
            Head(name="bot", categories=("open-science",), availability="insufficient_support"),
        ),
        "source": "trained here",
        "study": "tiny",
    }
    return ModelRelease(**values | changes)


@pytest.fixture
def trained(studied: Catalog) -> Catalog:
    """The tiny study with a release that has scored nothing yet."""
    assert studied.record_release(release(), RECORD, "1" * 64, {"weights.json": b"[1]", "x/y.npz": b"z"}, "t")
    return studied


def slugs(catalog: Catalog) -> list[str]:
    return [row[0] for row in catalog.connection.execute("SELECT slug FROM works ORDER BY id")]


def rows(catalog: Catalog) -> list[tuple[str, list[float | None]]]:
    """Twenty works; the second head can't score the second category."""
    return [(s, [n / 20, n / 40, 1 - n / 20, None]) for n, s in enumerate(slugs(catalog))]


# Releases --------------------------------------------------------------------------------------------


def test_a_release_reads_back_as_it_was_trained(trained: Catalog) -> None:
    page = queries.model_page(trained.connection, "student")
    assert page.release == release()
    assert (page.record, page.study, page.finished, page.scored, page.works) == (RECORD, "tiny", False, 0, 20)
    assert [(file.path, file.bytes) for file in page.files] == [("weights.json", 3), ("x/y.npz", 1)]
    assert trained.objects.path(page.files[0].sha256).read_bytes() == b"[1]"


def test_the_same_release_again_and_another_of_its_name(trained: Catalog) -> None:
    files = {"weights.json": b"[1]", "x/y.npz": b"z"}
    assert not trained.record_release(release(), RECORD, "1" * 64, files, "t")
    for changes in (
        (release(title="Other"), RECORD, "1" * 64, files),
        (release(), {"metrics": {}}, "1" * 64, files),
        (release(), RECORD, "2" * 64, files),
        (release(), RECORD, "1" * 64, {**files, "weights.json": b"[2]"}),
        (release(heads=release().heads[:2]), RECORD, "1" * 64, files),
    ):
        with pytest.raises(CatalogError, match="release student: is here already with another"):
            trained.record_release(*changes, who="t")
    # What the refused ones brought isn't left among the stored objects.
    assert trained.sweep().orphans == 0
    with pytest.raises(CatalogError, match="there is no study 'none' here"):
        trained.record_release(release(id="other", study="none"), RECORD, "1" * 64, {}, "t")
    twice = (Head(name="ann", categories=("a",)), Head(name="ann", categories=("a",)))
    with pytest.raises(CatalogError, match="head ann has category a 2 times"):
        trained.record_release(release(id="other", heads=twice), RECORD, "1" * 64, {}, "t")


def test_no_model_of_ours_is_called_more_than_it_is(scored: Catalog) -> None:
    """A release's status follows from its gate, and a run's calls are predictions, whatever is asked for."""
    for changes in (
        {"status": "human_direct"},
        {"status": "score_only:mature"},
        {"maturity": "passed"},
        {"status": "score_only:mature", "maturity": "unknown"},
    ):
        with pytest.raises(CatalogError, match="have the status 'score_only:"):
            scored.record_release(release(id="other", **changes), RECORD, "1" * 64, {}, "t")
    for status in ("human_direct", "machine_direct_unvalidated", "score_only:mature", "validated"):
        with pytest.raises(CatalogError, match="have the status 'machine_predicted_unvalidated'"):
            scored.record_decisions(run(status=status), called(scored), "t")
    mature = release(id="other", status="score_only:mature", maturity="passed")
    assert scored.record_release(mature, RECORD, "1" * 64, {}, "t")


def test_stored_files_of_a_release_are_kept_copied_and_audited(trained: Catalog, tmp_path: Path) -> None:
    page = queries.model_page(trained.connection, "student")
    assert trained.sweep().orphans == 0
    assert trained.objects.has(page.files[0].sha256)
    trained.backup(tmp_path / "copy", "t")
    with open_catalog(tmp_path / "copy" / trained.path.name, writable=False) as copy:
        assert copy.objects.path(page.files[1].sha256).read_bytes() == b"z"
        assert copy.audit(objects=True).problems == ()
    path = trained.objects.path(page.files[0].sha256)
    path.chmod(0o644)
    path.write_bytes(b"[2]")
    (problem,) = trained.audit(objects=True).problems
    assert problem.sentence == f"the stored file {page.files[0].sha256} (weights.json) was changed"
    # The same release again brings the lost bytes back.
    trained.record_release(release(), RECORD, "1" * 64, {"weights.json": b"[1]", "x/y.npz": b"z"}, "t")
    assert trained.audit(objects=True).problems == ()


# Scores ----------------------------------------------------------------------------------------------


def shown(catalog: Catalog) -> list[int]:
    """How many scores each way of looking shows."""
    db = catalog.connection
    return [
        db.execute("SELECT count(*) FROM scores_readable").fetchone()[0],
        len(list(queries.score_rows(db, "tiny"))),
        catalog_queries.overview(db).scores,
        sum(work.scores for work in catalog_queries.works(db)),
        sum(
            value is not None
            for slug in slugs(catalog)
            for view in catalog_queries.work(db, slug).releases
            for row in view.rows
            for value in row.values
        ),
    ]


def test_scores_show_when_all_are_in(trained: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog.scorings, "SCORES_AT_A_TIME", 12)  # three works of four scores
    seen = []

    def coming() -> Iterator[tuple[str, list[float | None]]]:
        for row in rows(trained):
            with open_catalog(trained.path, writable=False) as reader:
                written = reader.connection.execute("SELECT count(*) FROM scores").fetchone()[0]
                seen.append((written, shown(reader)))
            yield row

    done = trained.record_scores("student", coming(), "t")
    assert (done.works, done.scores, done.known) == (20, 60, 0)
    # Batches were written and committed meanwhile, and nobody saw any of them.
    assert [written for written, _ in seen] == [9 * (n // 3) for n in range(20)]
    assert {n for _, counts in seen for n in counts} == {0}
    assert shown(trained) == [60] * 5
    page = queries.model_page(trained.connection, "student")
    assert (page.finished, page.scored) == (True, 20)
    line = next(queries.score_rows(trained.connection, "tiny"))
    assert (line.value, line.status) == ("0.0000", "score_only:v0-immature-baseline")
    (view,) = catalog_queries.work(trained.connection, slugs(trained)[1]).releases
    assert view.rows[1].values == ("0.0250", None)
    assert view.rows[1].availability == ("unknown", "insufficient_support")


def test_a_scoring_that_was_stopped_is_gone_on_with(
    trained: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog.scorings, "SCORES_AT_A_TIME", 12)

    def stopping() -> Iterator[tuple[str, list[float | None]]]:
        yield from rows(trained)[:10]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trained.record_scores("student", stopping(), "t")
    assert trained.connection.execute("SELECT count(*) FROM scores").fetchone() == (27,)
    assert shown(trained) == [0] * 5
    assert not queries.model_page(trained.connection, "student").finished
    # In another order, to show that where it stopped doesn't matter.
    done = trained.record_scores("student", reversed(rows(trained)), "t")
    assert (done.works, done.known) == (11, 9)
    assert shown(trained) == [60] * 5
    assert queries.model_page(trained.connection, "student").scored == 20
    assert trained.audit().problems == ()


def test_the_same_scores_again_change_nothing_and_others_are_refused(trained: Catalog) -> None:
    trained.record_scores("student", rows(trained), "t")
    before = trained.connection.execute("SELECT * FROM scores").fetchall()
    again = trained.record_scores("student", rows(trained), "t")
    assert (again.works, again.scores, again.known) == (0, 0, 20)
    changed = rows(trained)
    changed[3] = (changed[3][0], [0.5, *changed[3][1][1:]])
    with pytest.raises(
        CatalogError, match=r"by ann for metaresearch: is 0\.15 here already, not 0\.5; another"
    ):
        trained.record_scores("student", changed, "t")
    changed[3] = (changed[3][0], [None, *rows(trained)[3][1][1:]])
    with pytest.raises(CatalogError, match="not no score"):
        trained.record_scores("student", changed, "t")
    assert trained.connection.execute("SELECT * FROM scores").fetchall() == before
    assert len(trained.connection.execute("SELECT * FROM scorings").fetchall()) == 1


def test_works_that_came_later_are_a_scoring_of_their_own(
    trained: Catalog, bibliography: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained.record_scores("student", rows(trained), "t")
    (tmp_path / "later.bib").write_text(bibliography(5, 20))
    trained.import_file(tmp_path / "later.bib", "t")
    later = [(slug, [0.5, 0.5, 0.5, None]) for slug in slugs(trained)[20:]]

    def stopping() -> Iterator[tuple[str, list[float | None]]]:
        yield later[0]
        raise KeyboardInterrupt

    monkeypatch.setattr(catalog.scorings, "SCORES_AT_A_TIME", 1)
    with pytest.raises(KeyboardInterrupt):
        trained.record_scores("student", stopping(), "t")
    assert queries.model_page(trained.connection, "student").scored == 20
    assert shown(trained)[0] == 60
    trained.record_scores("student", later, "t")
    assert queries.model_page(trained.connection, "student").scored == 25
    assert shown(trained) == [75] * 5
    assert trained.audit().problems == ()


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        (("nobody", [0.1, 0.1, 0.1, None]), "score of 'nobody': the catalog has no such work"),
        ((None, [0.1]), "there are 1; expected 4, one for each head and category of release student"),
        ((None, [float("nan"), 0.1, 0.1, None]), "by ann for metaresearch: nan is no finite number"),
        ((None, [0.1, float("inf"), 0.1, None]), "by ann for open-science: inf is no finite number"),
    ],
)
def test_what_is_no_score(trained: Catalog, row: Any, sentence: str) -> None:
    wrong = (row[0] or slugs(trained)[7], row[1])
    with pytest.raises(CatalogError, match=sentence):
        trained.record_scores("student", [*rows(trained)[:7], wrong], "t")
    assert shown(trained) == [0] * 5


def test_only_a_release_of_ours_is_scored_here(
    trained: Catalog, write_package: Callable[..., Path], screening: Callable[..., dict[str, Any]]
) -> None:
    with pytest.raises(CatalogError, match="there is no release 'none' here"):
        trained.record_scores("none", [], "t")
    trained.add_package(write_package(screened=screening()), "t")
    with pytest.raises(CatalogError, match="'student-v0' came with a package, which alone brings its scores"):
        trained.record_scores("student-v0", [], "t")
    # The package's scores show at once, and are counted.
    assert queries.model_page(trained.connection, "student-v0").scored == 1
    assert catalog_queries.overview(trained.connection).scores == 4


def test_two_scorings_at_once_end_in_one_that_is_whole(
    trained: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process scores the same release meanwhile, and is the first to end."""
    monkeypatch.setattr(catalog.scorings, "SCORES_AT_A_TIME", 12)

    def overtaken() -> Iterator[tuple[str, list[float | None]]]:
        yield from rows(trained)[:6]
        with open_catalog(trained.path, writable=True) as other:
            assert other.record_scores("student", rows(trained), "o").works == 14
        yield from rows(trained)[6:]

    with pytest.raises(
        CatalogError, match="another scoring of release student has ended meanwhile; run this"
    ):
        trained.record_scores("student", overtaken(), "t")
    assert shown(trained) == [60] * 5
    assert queries.model_page(trained.connection, "student").scored == 20
    assert trained.record_scores("student", rows(trained), "t").known == 20
    assert trained.audit().problems == ()


def test_a_package_brings_nothing_into_what_is_made_here(
    trained: Catalog, write_package: Callable[..., Path], screening: Callable[..., dict[str, Any]]
) -> None:
    heads = [{"name": h, "categories": ["metaresearch"]} for h in ("Codex", "Gemma")]
    own = ModelRelease.model_validate(
        screening()["releases"][0] | {"id": "ours", "heads": heads, "study": "tiny"}
    )
    trained.record_release(own, RECORD, trained.connection.execute(
        "SELECT source_sha256 FROM studies").fetchone()[0], {}, "t")  # fmt: skip
    record = screening(releases=[own.model_dump(mode="json")])
    record["scores"] = [{"work": "demo", "release": "ours", "head": "Codex", "category": "metaresearch",
                         "value": "0.5"}]  # fmt: skip
    with pytest.raises(CatalogError, match="release ours: was trained here, so no package brings scores"):
        trained.add_package(write_package(screened=record), "t")
    record = screening()
    record["rounds"][0] |= {"origin": "harness", "study_sha256": "0" * 64}
    with pytest.raises(CatalogError, match="a package brings votes from elsewhere, so its origin"):
        trained.add_package(write_package(screened=record), "t")


def test_a_work_without_a_score_is_not_covered(trained: Catalog) -> None:
    none = [(slug, [None] * 4) for slug in slugs(trained)]
    done = trained.record_scores("student", none, "t")
    assert (done.works, done.scores) == (0, 0)
    page = queries.model_page(trained.connection, "student")
    assert (page.finished, page.scored) == (True, 0)


# Calls -----------------------------------------------------------------------------------------------


def run(**changes: Any) -> DecisionRun:
    """Two works for each head of the first category; the second makes no call."""
    plain: dict[str, Any] = {"covered": 20, "positives": 30, "ess_positives": 20.0, "supported": True}
    quotas = (
        Quota(head="ann", category="metaresearch", rate=0.1, k=2, **plain),
        Quota(head="bot", category="metaresearch", rate=0.1, k=2, **plain),
        Quota(head="ann", category="open-science", rate=0.1, **plain),
        Quota(head="bot", category="open-science", **plain | {"supported": False, "positives": 3}),
    )
    values: dict[str, Any] = {
        "id": "run", "release": "student", "status": "machine_predicted_unvalidated", "works": 20,
        "covered": 20, "quotas": quotas,
    }  # fmt: skip
    return DecisionRun(**values | changes)


def called(catalog: Catalog) -> list[tuple[str, str, tuple[str, ...]]]:
    """Works 18 and 19 by ann (highest scores), 19 and 0 by bot: made up so that one is called by both."""
    names = slugs(catalog)
    return [
        (names[18], "metaresearch", ("ann",)),
        (names[19], "metaresearch", ("bot", "ann")),
        (names[0], "metaresearch", ("bot",)),
    ]


@pytest.fixture
def scored(trained: Catalog) -> Catalog:
    """Every work scored, but for the last head's second category."""
    trained.record_scores("student", rows(trained), "t")
    return trained


def test_calls_read_back_and_say_what_they_are(scored: Catalog) -> None:
    assert scored.record_decisions(run(), called(scored), "t")
    assert not scored.record_decisions(run(), reversed(called(scored)), "t")
    db = scored.connection
    names = slugs(scored)
    lines = list(queries.call_rows(db, "tiny"))
    assert [(line.work, line.call, line.sides) for line in lines] == [
        (names[0], Call.CANDIDATE, ("bot",)),
        (names[18], Call.CANDIDATE, ("ann",)),
        (names[19], Call.CONSENSUS, ("ann", "bot")),
    ]
    assert {line.status for line in lines} == {"machine_predicted_unvalidated"}
    (view,) = queries.model_page(db, "student").runs
    assert view.counts == {"metaresearch": (1, 2)}
    # candidate + consensus = positives of A + positives of B, where candidate is the union.
    consensus, candidate = view.counts["metaresearch"]
    assert (consensus + candidate) + consensus == 2 + 2
    assert view.thresholds == {"ann": {"metaresearch": 0.9}, "bot": {"metaresearch": pytest.approx(0.05)}}


def test_a_work_says_what_each_category_was_called(scored: Catalog) -> None:
    scored.record_decisions(run(), called(scored), "t")
    names = slugs(scored)
    made = {
        n: {row.category: row for row in queries.work_decisions(scored.connection, names[n])[0].calls}
        for n in (5, 18, 19)
    }
    assert [made[n]["metaresearch"].call for n in (5, 18, 19)] == [
        Call.NO_CALL, Call.CANDIDATE, Call.CONSENSUS,
    ]  # fmt: skip
    assert {made[n]["open-science"].call for n in made} == {Call.UNSUPPORTED}
    assert made[18]["metaresearch"].sides == {"ann": True, "bot": False}
    # max over heads of clip(1 - |s - t| / room): ann 0.9 is at its threshold.
    assert made[18]["metaresearch"].uncertainty == pytest.approx(1.0)
    # work 5: ann .25, t .9, room .9: 1 - .65/.9; bot .75, t .05, room .95: 1 - .7/.95.
    assert made[5]["metaresearch"].uncertainty == pytest.approx(max(1 - 0.65 / 0.9, 1 - 0.7 / 0.95))
    assert made[5]["metaresearch"].disagreement is None  # nobody voted: unknown, not agreement
    (page,) = catalog_queries.work(scored.connection, names[18]).decisions
    assert (page.status, page.covered, page.works_covered, page.works) == (
        "machine_predicted_unvalidated", True, 20, 20,
    )  # fmt: skip


def test_disagreement_is_with_the_vote_of_the_rater_imitated(scored: Catalog) -> None:
    scored.record_decisions(run(), called(scored), "t")
    work = queries.manifest(scored.connection, "screen")[0].works[0]
    score = slugs(scored).index(work) / 20
    yes = Ballot(work=work, decision="in_scope", categories=("metaresearch",), fields={"domain": ("health",)})
    scored.cast_vote("screen", "ann", yes, "ann")
    (view,) = queries.work_decisions(scored.connection, work)
    by_category = {row.category: row for row in view.calls}
    assert by_category["metaresearch"].disagreement == pytest.approx(1 - score)
    assert by_category["open-science"].disagreement == pytest.approx(score / 2)
    scored.cast_vote("screen", "ann", Ballot(work=work, decision="unsure"), "ann")
    (view,) = queries.work_decisions(scored.connection, work)
    assert {row.disagreement for row in view.calls} == {None}


def test_an_exported_score_says_what_its_own_head_is(studied: Catalog) -> None:
    """Heads of one name differ from category to category: each row has the words of its own, not the last."""
    heads = (
        Head(name="bot", categories=("metaresearch",), availability="available", calibration="sigmoid"),
        Head(name="bot", categories=("open-science",), availability="insufficient_support"),
    )
    studied.record_release(
        release(heads=heads, calibrated=True), RECORD, "1" * 64, {"weights.json": b"[1]"}, "t"
    )
    studied.record_scores("student", [(slug, [0.5, 0.25]) for slug in slugs(studied)[:1]], "t")
    said = {row["category"]: (row["availability"], row["calibrated"]) for row in scores(studied.connection)}
    assert said == {"metaresearch": ("available", "true"), "open-science": ("insufficient_support", "false")}


def test_whom_a_head_imitates_may_be_said_in_words(studied: Catalog) -> None:
    """A training names its heads by the raters' ids and says in words what they are, which is no id."""
    heads = tuple(h.model_copy(update={"imitates": f"{h.name.title()} (person)"}) for h in release().heads)
    studied.record_release(release(heads=heads), RECORD, "1" * 64, {"weights.json": b"[1]"}, "t")
    studied.record_scores("student", rows(studied), "t")
    studied.record_decisions(run(), called(studied), "t")
    work = queries.manifest(studied.connection, "screen")[0].works[0]
    no = Ballot(work=work, decision="out_of_scope")
    studied.cast_vote("screen", "ann", no, "ann")
    (view,) = queries.work_decisions(studied.connection, work)
    place = slugs(studied).index(work)
    assert view.calls[0].disagreement == pytest.approx(place / 20)


def test_what_a_run_did_not_see_has_no_call_of_it(
    scored: Catalog, bibliography: Callable[..., str], tmp_path: Path
) -> None:
    scored.record_decisions(run(), called(scored), "t")
    (tmp_path / "later.bib").write_text(bibliography(1, 20))
    scored.import_file(tmp_path / "later.bib", "t")
    (later,) = slugs(scored)[20:]
    scored.record_scores("student", [(later, [0.99, 0.99, 0.99, None])], "t")
    (view,) = queries.work_decisions(scored.connection, later)
    assert not view.covered
    assert {row.call for row in view.calls} == {Call.UNKNOWN}


def test_a_work_outside_the_frame_has_nothing_said_of_it(
    shelf: Catalog, make_study: Callable[..., Study]
) -> None:
    """The frame is ten of twenty works. One inside it without a score is unknown; of one outside, `unknown`
    would say that it was to be called."""
    unsampled = make_study().rounds[0].model_copy(update={"sample": None})
    frame = {"field": "year", "equals": 2011}
    shelf.add_study(make_study(frame=frame, rounds=[unsampled], synthetic=True), "0" * 64, "t")
    shelf.record_release(release(), RECORD, "1" * 64, {"weights.json": b"[1]"}, "t")
    inside, outside = slugs(shelf)[1::2], slugs(shelf)[::2]  # odd works are of 2011
    shelf.record_scores("student", [(slug, [0.5, 0.5, 0.5, None]) for slug in inside[:9]], "t")
    none = tuple(q.model_copy(update={"k": None, "covered": 9}) for q in run().quotas)
    shelf.record_decisions(run(works=10, covered=9, quotas=none), [], "t")
    said = {slug: catalog_queries.work(shelf.connection, slug).decisions for slug in slugs(shelf)}
    assert [[view.covered for view in said[slug]] for slug in inside] == [[True]] * 9 + [[False]]
    assert [said[slug] for slug in outside] == [()] * 10
    assert {view.synthetic for slug in inside for view in said[slug]} == {True}
    assert {view.synthetic for view in catalog_queries.work(shelf.connection, inside[0]).releases} == {True}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda r, names: (run(), r[:2]), "bot calls 1 works for metaresearch; its quota is 2"),
        (lambda r, names: (run(), [*r, (names[1], "open-science", ("ann",))]), "the category makes no call"),
        (lambda r, names: (run(), [*r, (names[1], "sts", ("ann",))]), "has no such category"),
        (lambda r, names: (run(), [*r, (names[1], "metaresearch", ())]), "expected some of ann, bot"),
        (lambda r, names: (run(), [*r, (names[1], "metaresearch", ("eve",))]), "expected some of ann, bot"),
        (lambda r, names: (run(), [*r, r[0]]), "comes twice"),
        (lambda r, names: (run(), [("nobody", *r[0][1:]), *r[1:]]), "the catalog has no such work"),
        (lambda r, names: (run(covered=19), r), "counts 19 of 20 works as covered; the catalog has 20 of 20"),
        (lambda r, names: (run(works=21), r), "counts 20 of 21 works as covered; the catalog has 20 of 20"),
        (lambda r, names: (run(release="none"), r), "there is no release 'none' here"),
        (lambda r, names: (run(quotas=(*run().quotas, run().quotas[0])), r), "two quotas for one category"),
    ],
)
def test_what_no_run_can_be(scored: Catalog, change: Callable[..., Any], sentence: str) -> None:
    decision, wrong = change(called(scored), slugs(scored))
    with pytest.raises(CatalogError, match=sentence):
        scored.record_decisions(decision, wrong, "t")
    assert scored.connection.execute("SELECT count(*) FROM decisions").fetchone() == (0,)
    assert scored.connection.execute("SELECT count(*) FROM decision_runs").fetchone() == (0,)


def test_a_run_of_the_same_name_with_other_calls_is_refused(scored: Catalog) -> None:
    scored.record_decisions(run(), called(scored), "t")
    names = slugs(scored)
    other = [(names[17], "metaresearch", ("ann",)), *called(scored)[1:]]
    with pytest.raises(CatalogError, match="decision run run: is here already with other calls"):
        scored.record_decisions(run(), other, "t")


def test_calls_come_after_scores(trained: Catalog) -> None:
    with pytest.raises(CatalogError, match="ann has no score of it, so it isn't covered"):
        trained.record_decisions(run(), called(trained), "t")
