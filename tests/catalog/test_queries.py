"""What pages are told: records as they were written, states as schema decides, searches that never fail."""

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog import queries
from catalog.store import Catalog, create
from catalog.wording import screen_sentence
from schema.states import CheckOutcome, Depth, FileState, RunOutcome, ScreeningState
from schema.verification import chain_hash

Write = Callable[..., Path]
Screening = Callable[..., dict[str, Any]]


def test_an_empty_catalog(catalog: Catalog) -> None:
    page = queries.overview(catalog.connection)
    assert (page.works, page.artifacts, page.verifications, page.rejected) == (0, 0, 0, 0)
    assert queries.search(catalog.connection, "anything") == (0, ())
    assert queries.works(catalog.connection) == queries.artifacts(catalog.connection) == ()


def test_the_overview_counts_what_is_there(full: Catalog) -> None:
    page = queries.overview(full.connection)
    # Two works (the package's and the imported one), one of them screened and scored; two packages of
    # two claims each; three votes; 2 heads x 2 categories; one import, one of its records rejected.
    assert (page.works, page.works_with_artifacts, page.works_with_votes, page.works_with_scores) == (
        2,
        2,
        1,
        1,
    )
    assert (page.artifacts, page.claims, page.verifications, page.votes, page.scores) == (2, 4, 1, 3, 4)
    assert (page.imports, page.rejected) == (1, 1)
    assert [a.slug for a in page.current_artifacts] == ["alpha-package", "demo-package"]
    assert [r.id for r in page.recent_runs] == [1]
    assert [w.title for w in page.recent_works] == ["Alpha and omega", "A demonstrated work"]


def test_a_work_reads_back_as_it_was_written(catalog: Catalog, write_package: Write) -> None:
    work = {
        "id": "demo",
        "title": "Über <i>Aufträge</i> & 公平",
        "authors": [
            {"name": "Zoë Ärm", "orcid": "0000-0002-1825-0097"},
            {"name": "Ann Bee", "orcid": None},
            {"name": "Ann Bee", "orcid": None},
        ],
        "year": 2020,
        "venue": "A venue",
        "type": "paper-conference",
        "language": "de",
        "abstract": {"text": "Text.", "source": "publisher", "note": "short"},
        "identifiers": [
            {"scheme": "url", "value": "https://example.org/"},
            {"scheme": "arxiv", "value": "2008.09213", "version": "v2"},
            {"scheme": "doi", "value": "10.1000/x"},
        ],
        "retraction": "retracted",
        "note": "a note",
    }
    catalog.add_package(write_package(work=work), "tester")
    read = queries.work(catalog.connection, "demo").work
    for field in work.keys() - {"identifiers"}:
        assert read.model_dump(mode="json")[field] == work[field]
    assert {(i.scheme, i.value, i.version) for i in read.identifiers} == {
        ("url", "https://example.org/", None),
        ("arxiv", "2008.09213", "v2"),
        ("doi", "10.1000/x", None),
    }


def test_a_connection_with_a_row_factory_gives_the_same(full: Catalog) -> None:
    # Datasette sets one on its connections.
    plain = sqlite3.connect(f"{full.path.as_uri()}?mode=ro", uri=True)
    plain.row_factory = sqlite3.Row
    ours = full.connection
    assert queries.overview(plain) == queries.overview(ours)
    assert queries.work(plain, "demo") == queries.work(ours, "demo")
    assert queries.artifact(plain, "demo-package") == queries.artifact(ours, "demo-package")
    assert queries.verification(plain, 1) == queries.verification(ours, 1)
    assert queries.search(plain, "alpha") == queries.search(ours, "alpha")


def test_none_of_three_is_agreed_negative(full: Catalog) -> None:
    # The TIAS record: three models, none finds it in scope; the publisher's own words stand beside.
    page = queries.work(full.connection, "demo")
    (screen,) = page.screens
    assert screen.state is ScreeningState.AGREED_NEGATIVE
    assert (screen.positives, screen.cast) == (0, 3)
    assert screen.sentence == "All three models called this out of scope."
    assert [v.vote.reason_wording for v in screen.votes] == ["paraphrased"] * 3
    assert page.statements[0].text == "a candidate call from one source"
    assert page.screening_caveats == ("Not ground truth.", "A score ranks and never asserts.")
    (release,) = page.releases
    assert release.release.status == "score_only:v0-immature-baseline"
    assert release.heads == ("Codex", "Gemma")
    # Three decimals as published, whatever the file wrote (.002).
    assert [(row.category, row.values) for row in release.rows] == [
        ("metaresearch", ("0.002", "0.004")),
        ("open_science", ("0.004", "0.000")),
    ]
    assert [(a.import_id, a.outcome) for a in queries.work(full.connection, "alpha").appearances] == [
        (1, "added"),
        (1, "updated"),
    ]


@pytest.mark.parametrize(
    ("decisions", "state", "counts"),
    [
        ("in in in", ScreeningState.AGREED_POSITIVE, (3, 3)),
        ("in in out", ScreeningState.CONTESTED, (2, 3)),
        ("in out out", ScreeningState.SINGLE_SOURCE, (1, 3)),
        ("insufficient unsure insufficient", ScreeningState.UNKNOWN, (0, 0)),
        ("insufficient out out", ScreeningState.AGREED_NEGATIVE, (0, 2)),
    ],
)
def test_votes_decide_the_state(
    catalog: Catalog,
    write_package: Write,
    screening: Screening,
    decisions: str,
    state: ScreeningState,
    counts: tuple[int, int],
) -> None:
    words = {
        "in": "in_scope",
        "out": "out_of_scope",
        "insufficient": "insufficient_payload",
        "unsure": "unsure",
    }
    record = screening()
    for vote, decision in zip(record["votes"], decisions.split(), strict=True):
        vote["decision"] = words[decision]
    catalog.add_package(write_package(screened=record), "tester")
    (screen,) = queries.work(catalog.connection, "demo").screens
    assert (screen.state, (screen.positives, screen.cast)) == (state, counts)


def test_a_superseded_vote_is_shown_beneath_and_not_counted(
    catalog: Catalog, write_package: Write, screening: Screening
) -> None:
    record = screening()
    second = record["votes"][0] | {"id": "vote-1b", "decision": "unsure", "supersedes": "vote-1"}
    third = record["votes"][0] | {"id": "vote-1c", "decision": "in_scope", "supersedes": "vote-1b"}
    record["votes"] += [second, third]
    catalog.add_package(write_package(screened=record), "tester")
    (screen,) = queries.work(catalog.connection, "demo").screens
    assert [v.vote.id for v in screen.votes] == ["vote-1c", "vote-2", "vote-3"]
    assert [v.id for v in screen.votes[0].superseded] == ["vote-1b", "vote-1"]
    assert screen.state is ScreeningState.SINGLE_SOURCE
    assert queries.works(catalog.connection)[0].votes == 3


Y, N, U = True, False, None


@pytest.mark.parametrize(
    ("votes", "kinds", "panel", "sentence"),
    [
        ([N, N, N], "mmm", 3, "All three models called this out of scope."),
        ([Y, Y, Y], "mmm", 3, "All three models called this in scope."),
        ([N, N], "hh", 2, "Both people called this out of scope."),
        ([Y], "h", 1, "One person called this in scope."),
        ([Y, N, N], "mmm", 3, "One of three models called this in scope, two out of scope."),
        ([Y, Y, N], "mmh", 3, "Two of three raters called this in scope, one out of scope."),
        ([N, N, U], "mmm", 3, "Two of three models called this out of scope, one could not judge it."),
        (
            [Y, N, U],
            "mmm",
            3,
            "One of three models called this in scope, one out of scope, one could not judge it.",
        ),
        ([U, U, U], "mmm", 3, "All three models could not judge this."),
        # Half a panel never says "all".
        ([N, N], "mm", 3, "Two of a panel of three have voted: two models called this out of scope."),
        ([N], "m", 3, "One of a panel of three has voted: one model called this out of scope."),
        ([N] * 12, "m" * 12, 12, "All 12 models called this out of scope."),
    ],
)
def test_the_sentence_says_no_more_than_the_votes(
    votes: list[bool | None], kinds: str, panel: int, sentence: str
) -> None:
    names = ["model" if k == "m" else "human" for k in kinds]
    assert screen_sentence(votes, names, panel) == sentence


def test_a_package_before_and_after_its_first_run(catalog: Catalog, write_package: Write) -> None:
    catalog.add_package(write_package(), "tester")
    page = queries.artifact(catalog.connection, "demo-package")
    assert page.latest is None
    assert [c.outcome for c in page.claims] == [CheckOutcome.NOT_RECOMPUTED] * 2
    assert [c.standing.depth for c in page.claims] == [Depth.SAVED] * 2
    assert page.files[0].state is None
    _, run = catalog.verify_artifact("demo-package", who="tester")
    page = queries.artifact(catalog.connection, "demo-package")
    assert page.latest_run == run
    assert page.latest is not None
    assert page.latest.outcome is RunOutcome.VERIFIED
    confirmed, told = page.claims
    assert (confirmed.outcome, confirmed.standing.depth) == (CheckOutcome.IDENTICAL, Depth.RECOMPUTED)
    assert confirmed.observed == "3"
    # A claim that names no evidence stays saved, whatever else is verified.
    assert (told.outcome, told.standing.depth) == (CheckOutcome.NOT_RECOMPUTED, Depth.SAVED)
    assert page.files[0].state is FileState.MATCH
    cited = queries.verification(catalog.connection, 1)
    assert cited.run == run
    assert cited.hash == chain_hash(cited.previous, run)
    assert cited.claims == page.claims


def test_findings_stand_beneath_the_claim_they_speak_of(catalog: Catalog, write_package: Write) -> None:
    evidence = [{"analysis": "total", "pointer": "/rows/0/0"}]
    claims = [
        {
            "id": "ours",
            "text": "it is 3 exactly",
            "value": "3",
            "kind": "finding",
            "relation": {"kind": "contradicts", "claim": "theirs", "reason": "computed exactly"},
            "evidence": evidence,
        },
        {"id": "theirs", "text": "it is 4", "value": "4", "evidence": evidence},
    ]
    catalog.add_package(write_package(claims=claims), "tester")
    catalog.verify_artifact("demo-package", who="tester")
    (claim,) = queries.artifact(catalog.connection, "demo-package").claims
    assert (claim.claim.id, claim.outcome, claim.observed, claim.difference) == (
        "theirs", CheckOutcome.DIFFERS, "3", "-1",
    )  # fmt: skip
    assert [(f.claim.id, f.outcome) for f in claim.findings] == [("ours", CheckOutcome.IDENTICAL)]
    (summary,) = queries.artifacts(catalog.connection)
    assert (summary.claims, summary.findings) == (2, 1)


def test_each_version_has_its_own_history(catalog: Catalog, write_package: Write) -> None:
    catalog.add_package(write_package(), "tester")
    catalog.verify_artifact("demo-package", who="tester")
    catalog.add_package(write_package(title="Again"), "tester")
    newest = queries.artifact(catalog.connection, "demo-package")
    assert (newest.version, newest.versions, newest.history) == (2, (2, 1), ())
    old = queries.artifact(catalog.connection, "demo-package", version=1)
    assert [r.id for r in old.history] == [1]
    assert [r.version for r in queries.runs(catalog.connection, "demo-package")] == [1]
    (summary,) = queries.artifacts(catalog.connection)
    assert (summary.version, summary.latest) == (2, None)
    assert queries.works(catalog.connection)[0].artifacts == 1


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda db: queries.work(db, "demmo"), "there is no work 'demmo' here; did you mean demo"),
        (lambda db: queries.work(db, "demo-package"), "'demo-package' is a package here, not a work"),
        (lambda db: queries.artifact(db, "demo"), "'demo' is a work here, not a package"),
        (lambda db: queries.artifact(db, "demo-package", 7), "has no version 7 here; it has 1"),
        (lambda db: queries.runs(db, "zzz"), "there is no package 'zzz' here; `proofshelf list`"),
        (lambda db: queries.resolve(db, "\ud800"), "there is no work or package"),
        (lambda db: queries.verification(db, 9), "there is no verification 9 here; the last one is 1"),
        (lambda db: queries.verification(db, 10**30), "there is no verification"),
    ],
)
def test_what_isnt_there(full: Catalog, ask: Callable[[sqlite3.Connection], Any], sentence: str) -> None:
    with pytest.raises(queries.NotFound, match=sentence):
        ask(full.connection)


@pytest.mark.parametrize(
    "text",
    [
        "alpha", "doe-2001-alpha", "10.1000/alpha", "https://doi.org/10.1000/ALPHA", "doi:10.1000/alpha",
        "alpha-package", "Alpha OMEGA", "ome", "alpha-and", '"alpha" (omega)', "ALPHA*", "Döe",
    ],
)  # fmt: skip
def test_a_work_is_found_by_name_identifier_and_words(full: Catalog, text: str) -> None:
    slug = queries.works(full.connection)[0].slug
    text = slug if text == "doe-2001-alpha" else text
    found, page = queries.search(full.connection, text)
    assert (found, [w.slug for w in page]) == (1, [slug])


def test_named_works_come_first_and_pages_fit_together(catalog: Catalog, write_package: Write) -> None:
    for n in range(7):
        work = {"id": f"w{n}", "title": f"About w3 and more, number {n}"}
        catalog.add_package(write_package(f"p{n}", work=work), "tester")
    total, everything = queries.search(catalog.connection, "w3")
    assert (total, len(everything), everything[0].slug) == (7, 7, "w3")
    paged = [
        w for n in range(0, 8, 2) for w in queries.search(catalog.connection, "w3", limit=2, offset=n)[1]
    ]
    assert paged == list(everything)
    assert queries.search(catalog.connection, "w3", limit=0)[0] == 7
    snippet = queries.search(catalog.connection, "numb")[1][0].snippet
    assert snippet is not None
    assert "number" in snippet


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    folder = tmp_path_factory.mktemp("searched")
    (folder / "some.bib").write_text(
        '@article{a, title={Alpha -- omega: the C++ (and F#) "story"}, author={O\'Neil, Jane}}',
        encoding="utf-8",
    )
    with create(folder / "shelf.db") as catalog:
        catalog.import_file(folder / "some.bib", "tester")
        yield catalog.connection


SYNTAX = st.sampled_from(
    [
        '"',
        "'",
        "*",
        "(",
        ")",
        "-",
        "+",
        "^",
        ":",
        "{",
        "}",
        "AND",
        "OR",
        "NOT",
        "NEAR(",
        "title:",
        ",",
        "\0",
        "%",
        "_",
    ]
)


@settings(max_examples=400)
@given(
    text=st.one_of(
        st.text(), st.text(st.characters()), st.lists(st.one_of(SYNTAX, st.text(max_size=3))).map(" ".join)
    )
)
def test_no_text_makes_a_search_fail(searched: sqlite3.Connection, text: str) -> None:
    total, page = queries.search(searched, text)
    assert len(page) == total <= 1


def test_a_long_text_and_a_lone_surrogate(searched: sqlite3.Connection) -> None:
    assert queries.search(searched, "alpha " * 5000)[0] == 1
    assert queries.search(searched, "(" * 10_000 + "alpha")[0] == 1
    assert queries.search(searched, "\ud800")[0] == 0
    assert queries.search(searched, "C++ F#")[0] == 1
    assert queries.search(searched, "o'neil")[0] == 1


def test_no_question_reads_a_whole_large_table(full: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    # Every statement that a page asks is explained; what may be read whole is small or counted.
    asked: list[str] = []
    full.connection.set_trace_callback(asked.append)
    queries.work(full.connection, "demo")
    queries.artifact(full.connection, "demo-package")
    queries.verification(full.connection, 1)
    queries.search(full.connection, "alpha omega")
    queries.works(full.connection, limit=5, offset=1)
    queries.runs(full.connection, "demo-package")
    full.connection.set_trace_callback(None)
    large = (
        "works",
        "w",
        "identifiers",
        "i",
        "import_records",
        "r",
        "votes",
        "v",
        "scores",
        "s",
        "checks",
        "files",
        "f",
    )
    scans = set()
    for sql in asked:
        if not sql.lstrip().upper().startswith("SELECT") or sql.lstrip().startswith("--"):
            continue
        for row in full.connection.execute("EXPLAIN QUERY PLAN " + sql).fetchall():
            detail = row[3]
            if (
                detail.startswith("SCAN ")
                and detail.split()[1] in large
                and "ORDER BY id DESC LIMIT" not in sql
            ):
                scans.add((detail, " ".join(sql.split())[:100]))
    assert {s for s in scans if "ORDER BY v.id DESC" not in s[1]} == set()
