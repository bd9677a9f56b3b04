"""Every page says what the catalog holds, for everybody, and escapes what came from outside."""

import asyncio
import html
import json
import re
import shutil
import sqlite3
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pydantic_core import to_jsonable_python

from catalog import queries, store
from schema.states import CheckOutcome

PAGES = {
    "/": "/index.json",
    "/works": "/works.json",
    "/search?q=gpu": "/search.json?q=gpu",
    "/artifacts": "/artifacts.json",
    "/verifications": "/verifications.json",
    "/verifications?artifact=gavel": "/verifications.json?artifact=gavel",
    "/works/tias": "/works/tias.json",
    "/works/gavel-osdi20": "/works/gavel-osdi20.json",
    "/artifacts/gavel": "/artifacts/gavel.json",
    "/artifacts/gavel?version=1": "/artifacts/gavel.json?version=1",
    "/artifacts/tias-record": "/artifacts/tias-record.json",
    "/verifications/3": "/verifications/3.json",
}


def get(site: Any, path: str, **more: Any) -> Any:
    return asyncio.run(site.get(path, **more))


def text(answer: Any) -> str:
    """What a reader sees: no tags, one space between words."""
    body = answer.text[max(0, answer.text.find("<main")) :]
    body = re.sub(r"<(script|style)\b.*?</\1>", " ", body, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


def row(answer: Any, claim: str) -> str:
    """The line of one claim, as HTML."""
    found = re.search(rf'<tr id="claim-{claim}".*?</tr>', answer.text, re.DOTALL)
    assert found is not None
    return found.group()


@pytest.mark.parametrize("path", PAGES)
def test_every_page_answers_under_a_strict_policy(site: Any, path: str) -> None:
    answer = get(site, path)
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"]
    assert policy == (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'none'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    # What the policy would refuse isn't written in the first place.
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", answer.text)
    assert not re.search(r'(src|action)="(https?:)?//', answer.text)


@pytest.mark.parametrize("path", PAGES)
def test_html_is_well_formed(site: Any, path: str) -> None:
    from html.parser import HTMLParser

    void = {"meta", "link", "input", "img", "br"}
    stack: list[str] = []
    ids: list[str] = []

    class Checker(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            ids.extend(value or "" for name, value in attrs if name == "id")
            if tag not in void:
                stack.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert stack.pop() == tag

    Checker().feed(get(site, path).text)
    assert stack == []
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("twin", PAGES.values())
def test_the_json_twin_answers(site: Any, twin: str) -> None:
    answer = get(site, twin)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    json.loads(answer.text)


def test_the_json_twin_equals_the_facts(site: Any, database: Path) -> None:
    with store.open_catalog(database, writable=False) as catalog:
        facts = {
            "/works/tias.json": queries.work(catalog.connection, "tias"),
            "/artifacts/gavel.json": queries.artifact(catalog.connection, "gavel"),
            "/artifacts/gavel.json?version=1": queries.artifact(catalog.connection, "gavel", 1),
            "/verifications/3.json": queries.verification(catalog.connection, 3),
            "/index.json": queries.overview(catalog.connection),
        }
    for path, fact in facts.items():
        assert get(site, path).json() == to_jsonable_python(fact)


def test_front_page_counts_n_of_n(site: Any) -> None:
    seen = text(get(site, "/"))
    assert "2 of 2 " in seen
    assert "1 of 2 " in seen
    assert "11 in 2 packages" in seen
    assert "9 claims and 1 finding of ours, 6 files, version 2" in seen
    assert "Never verified Next: proofshelf verify tias-record" in seen
    assert "Failed: 2 claims are denied" in seen


def test_empty_catalog_says_what_to_do_next(open_site: Any, empty: Path) -> None:
    site = open_site(empty)
    assert "proofshelf add FOLDER" in text(get(site, "/"))
    assert "proofshelf import FILE" in text(get(site, "/works"))
    assert "proofshelf add FOLDER" in text(get(site, "/artifacts"))
    assert "proofshelf verify --all" in text(get(site, "/verifications"))


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/works/tia", "did you mean"),
        ("/works/gavel", "is a package here, not a work"),
        ("/artifacts/nothing-like-it", "There is no package 'nothing-like-it' here"),
        ("/artifacts/gavel?version=9", "version"),
        ("/verifications/999", "999"),
        ("/verifications/twelve", "named by its number, such as 12"),
        ("/verifications/9999999999999999999999", "named by its number"),
        ("/artifacts/gavel/file/none.csv", "lists no file 'none.csv'"),
        ("/artifacts/gavel/data/figures/other.svg.csv", "is no chart"),
    ],
)
def test_what_is_not_there_is_said_in_a_sentence(site: Any, path: str, sentence: str) -> None:
    answer = get(site, path)
    assert answer.status_code == 404
    assert sentence in text(answer)
    assert "content-security-policy" in answer.headers


def test_json_says_the_same_sentence(site: Any) -> None:
    answer = get(site, "/works/none-such.json")
    assert answer.status_code == 404
    assert answer.json()["ok"] is False
    assert "none-such" in answer.json()["error"]


@pytest.mark.parametrize(
    "path", ["/works?page=0", "/works?page=x", "/works?page=²", "/artifacts/gavel?version=-1"]
)
def test_a_senseless_number_is_refused(site: Any, path: str) -> None:
    assert get(site, path).status_code == 400


@pytest.mark.parametrize(
    "q", ['"', "(", "*", "a-b", "gpu-cluster", "AND", "NEAR(", "x:y", "''", "%", "🦉", "\x00", "-" * 600]
)
def test_no_search_fails(site: Any, q: str) -> None:
    assert get(site, "/search", params={"q": q}).status_code == 200


def test_search_finds_and_escapes(site: Any, example: ModuleType) -> None:
    assert "TIAS: Two-level" in text(get(site, "/search?q=information-agnostic"))
    answer = get(site, "/search", params={"q": example.HOSTILE})
    assert "<script>alert" not in answer.text
    assert html.escape(example.HOSTILE, quote=False)[:20] in answer.text.replace("&#34;", '"')
    assert "No paper matches" in text(get(site, "/search?q=zzzzz"))


def test_lists_are_paged(open_site: Any, tmp_path: Path, example: ModuleType) -> None:
    path = tmp_path / "many.db"
    with store.create(path) as catalog, catalog.write() as db:
        for n in range(120):
            db.execute("INSERT INTO slugs VALUES (?, 'work')", [f"w{n}"])
            db.execute(
                "INSERT INTO works (slug, title, created_at) VALUES (?, ?, ?)",
                [f"w{n}", f"Work {n}", example.FIRST],
            )
    site = open_site(path)
    first, last = get(site, "/works"), get(site, "/works?page=3")
    assert "1 to 50" in text(first)
    assert 'rel="next"' in first.text
    assert 'rel="prev"' not in first.text
    assert "101 to 120" in text(last)
    assert 'rel="next"' not in last.text
    assert "ends before page 4" in text(get(site, "/works?page=4"))
    # Nobody screened these, and that is no negative.
    assert "No label is not a negative." in text(get(site, "/works/w3"))
    assert "Classification" not in text(get(site, "/works/w3"))


# A package -----------------------------------------------------------------------------------------


def test_one_verdict_then_caveats_then_numbers(site: Any, example: ModuleType) -> None:
    answer = get(site, "/artifacts/gavel")
    seen = text(answer)
    order = [
        "Failed: 2 claims are denied",
        "29 Nov 2026, 14:09 UTC , by ada, from the stored package, version 2, at level recompute",
        "with proofshelf 0.1.0",
        example.CAVEAT,
        example.LIST_CAVEAT,
        example.CLAIM_CAVEAT,
        "7.750821276",
    ]
    assert [seen.index(part) for part in order] == sorted(seen.index(part) for part in order)
    assert answer.text.count('class="verdict') == 1


def test_a_claim_and_its_proof_on_one_line(site: Any, example: ModuleType) -> None:
    line = row(get(site, "/artifacts/gavel"), "mean-aware")
    assert ">7.750821276<" in line
    assert "7.75082127<u>5476</u>" in line
    assert "−5.2 × 10⁻¹⁰" in line
    assert "1 × 10⁻⁹ relative" in line
    assert example.SOLVER in line
    assert "depth d3" in line
    assert "recomputed" in line
    assert "within tolerance" in line
    assert "a finding of ours contradicts it" in line


def test_a_finding_stands_beneath_its_claim_with_its_reason(site: Any, example: ModuleType) -> None:
    answer = get(site, "/artifacts/gavel")
    line = row(answer, "exact-aware")
    assert answer.text.index("claim-mean-aware") < answer.text.index("claim-exact-aware")
    assert 'class="finding"' in line
    assert "Our finding: contradicts the published 7.750821276 by +0.343137" in line
    assert "diamond" in line
    assert "independently" in line
    assert f"Why two numbers. {example.WHY}" in text(answer)


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ("records", "identical"),
        ("best", "saved only"),
        ("moved", "differs"),
        ("crashed", "crashed"),
        ("slow", "timed out"),
        ("left", "not recomputed"),
        ("gone", "not produced"),
        ("written", "equal, written differently"),
    ],
)
def test_every_outcome_is_a_word(site: Any, claim: str, words: str) -> None:
    assert re.search(rf'class="outcome \w+">{words}<', row(get(site, "/artifacts/gavel"), claim))


def test_every_outcome_of_the_schema_has_a_word() -> None:
    from catalog.web import format as f

    assert len({f.outcome(outcome) for outcome in CheckOutcome}) == len(CheckOutcome)


def test_a_saved_claim_shows_no_computed_value(site: Any) -> None:
    line = row(get(site, "/artifacts/gavel"), "best")
    assert "nothing to compute" in line
    assert "depth d0" in line


def test_a_claim_that_fails_is_not_called_saved(site: Any) -> None:
    line = row(get(site, "/artifacts/gavel"), "moved")
    assert "nothing confirms it" in line
    assert "saved only" not in line


def test_the_second_implementation_names_its_own_depth(site: Any) -> None:
    line = row(get(site, "/artifacts/gavel"), "records")
    assert "depth d3" in line
    assert "by a second implementation: re-aggregated from the package" in line


def test_files_show_hash_state_and_diagnosis(site: Any) -> None:
    seen = text(get(site, "/artifacts/gavel"))
    assert re.search(r"source/page\.html .* mismatch differs only in line endings", seen)
    assert re.search(r"stray\.txt — found ffffffffffff… f{64} not listed", seen)


def test_sources_history_and_provenance(site: Any) -> None:
    answer = get(site, "/artifacts/gavel")
    seen = text(answer)
    assert "recorded only the source is not in the package, so nothing here checks it" in seen
    assert "572f09dc5a6399e5f80254791f0acbc1744798ba" in seen
    assert "8 runs, newest first" in seen
    assert answer.text.count('<li><a class="failed"') + answer.text.count('<li><a class="verified"') == 8
    assert "Licence Apache-2.0" in seen


def test_an_older_version_says_so(site: Any) -> None:
    seen = text(get(site, "/artifacts/gavel?version=1"))
    assert "This is version 1. Version 2 is the newest." in seen
    assert "Gavel allocation trace, first try" in seen


def test_a_package_without_a_run_claims_nothing(site: Any) -> None:
    answer = get(site, "/artifacts/tias-record")
    assert "Never verified" in text(answer)
    assert "Nothing has been compared yet" in text(answer)
    assert "confirmed" not in text(answer)


def test_what_came_from_outside_is_escaped(site: Any, example: ModuleType) -> None:
    for path in PAGES:
        body = get(site, path).text
        assert "<script>alert" not in body
        assert "<img src=x>" not in body
        assert "<b>and</b>" not in body
        assert not re.search(
            r'href="\s*(javascript|data):', body.replace('rel="icon" href="data:', ""), re.IGNORECASE
        )
    assert "javascript:alert(2)" in text(get(site, "/artifacts/gavel"))


def test_links_outward_send_no_referrer(site: Any) -> None:
    for path in PAGES:
        for link in re.findall(r'<a [^>]*href="https?://[^"]*"[^>]*>', get(site, path).text):
            assert 'rel="noreferrer"' in link or "http://localhost" in link


# A run ---------------------------------------------------------------------------------------------


def test_a_run_can_be_cited(site: Any, database: Path) -> None:
    with store.open_catalog(database, writable=False) as catalog:
        run = queries.verification(catalog.connection, 3)
    seen = text(get(site, "/verifications/3"))
    assert (
        "proofshelf verification 3 of gavel, version 2: failed, 29 Nov 2026. "
        f"http://localhost/verifications/3. SHA-256 {run.hash}." in seen
    )
    assert run.previous in seen
    assert run.run.manifest_sha256 in seen
    assert "Python 3.11.7" in seen
    assert "numpy 2.0" in seen


# A work --------------------------------------------------------------------------------------------


def test_the_record_page_keeps_its_order(site: Any, example: ModuleType) -> None:
    seen = text(get(site, "/works/tias"))
    order = [
        "doi:10.1000/tias(2022)",
        "TIAS: Two-level",
        "2022 · article · en",
        "Bibliographic record",
        example.ABSTRACT_NOTE,
        "How this classification was reached",
        example.SCREENING_CAVEATS[0],
        "All three models called this out of scope.",
        "What the publisher says, and what the votes say",
        "A score ranks; it never asserts a category.",
        "Classification agreed negative · 0 of 3",
        "Artifacts and verification",
        "Cite",
    ]
    assert [seen.index(part) for part in order] == sorted(seen.index(part) for part in order)


def test_statuses_caveats_and_scores_are_verbatim(site: Any, example: ModuleType) -> None:
    answer = get(site, "/works/tias")
    seen = text(answer)
    for caveat in example.SCREENING_CAVEATS:
        assert caveat in seen
    assert f"Status, verbatim {example.STATUS}" in seen
    assert "not passed after 7 training rounds" in seen
    assert "5,600 works screened of 4,255,410" in seen
    table = re.search(r'<table class="scores">.*?</table>', answer.text, re.DOTALL)
    assert table is not None
    values = re.findall(r'<td class="n">([^<]+)</td>', table.group())
    expected = [v for pair in zip(*example.SCORES.values(), strict=True) for v in pair]
    assert values == expected


def test_the_publishers_words_stand_beside_our_state(site: Any) -> None:
    body = get(site, "/works/tias").text
    theirs = re.search(r'<div class="theirs">.*?</div>', body, re.DOTALL)
    ours = re.search(r'<div class="ours">.*?</div>', body, re.DOTALL)
    assert theirs is not None
    assert ours is not None
    assert "machine_predicted_unvalidated" in theirs.group()
    assert "agreed negative" not in theirs.group()
    assert "agreed negative" in ours.group()
    assert "machine_predicted_unvalidated" not in ours.group()


def test_a_machine_is_never_shown_as_a_person(site: Any) -> None:
    body = get(site, "/works/tias").text
    assert body.count('class="vote model"') == 3
    assert 'class="vote human"' not in body
    assert "Person" not in body
    assert "human votes" not in body
    assert "paraphrased" in body


def test_people_look_like_people_and_corrections_keep_what_they_replace(site: Any) -> None:
    answer = get(site, "/works/gavel-osdi20")
    seen = text(answer)
    assert answer.text.count('class="vote human"') == 2
    assert answer.text.count('class="vote model"') == 1
    assert "Person Ada" in seen
    assert "Person Ben" in seen
    assert "Replaces 1 earlier vote out of scope: Read too fast." in seen
    assert "contested · 2 of 3" in seen
    assert "human votes" in seen
    assert "machine votes" in seen


def test_a_retraction_stands_before_everything_but_the_header(site: Any) -> None:
    seen = text(get(site, "/works/gavel-osdi20"))
    notice = seen.index("Retracted. Invented for this example: withdrawn <b>and</b> restored.")
    assert notice < seen.index("Bibliographic record")


# Files ---------------------------------------------------------------------------------------------


def test_a_listed_file_is_sent_to_be_kept(site: Any) -> None:
    answer = get(site, "/artifacts/gavel/file/source/page.html")
    assert answer.content == b"<script>alert('page')</script>"
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith('attachment; filename="page.html"')
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"].startswith("default-src 'none'; sandbox")


def test_names_with_spaces_and_accents(site: Any) -> None:
    page = get(site, "/artifacts/gavel").text
    link = re.search(r'href="([^"]*spaces[^"]*)"', page)
    assert link is not None
    answer = get(site, html.unescape(link.group(1)))
    assert answer.content == b"x\n1\n"
    assert (
        "filename*=UTF-8''a%20name%20with%20spaces%20%26%20%C3%BCn%C3%AFcode.csv"
        in answer.headers["content-disposition"]
    )


@pytest.mark.parametrize(
    "path",
    ["manifest.json", "../example.db", "..%2Fexample.db", "/etc/passwd", "%2Fetc%2Fpasswd", "inputs", "%00"],
)
def test_only_listed_paths_are_sent(site: Any, path: str) -> None:
    assert get(site, "/artifacts/gavel/file/" + path).status_code == 404


def test_a_changed_object_is_not_sent(open_site: Any, database: Path, tmp_path: Path) -> None:
    copy = tmp_path / "example.db"
    shutil.copytree(database.with_name("example.db.objects"), tmp_path / "example.db.objects")
    with sqlite3.connect(database) as source, sqlite3.connect(copy) as target:
        source.backup(target)
    site = open_site(copy)
    facts = get(site, "/artifacts/gavel.json").json()["manifest"]["files"]
    listed = {file["path"]: file["sha256"] for file in facts}

    def stored(path: str) -> Path:
        return copy.with_name("example.db.objects") / listed[path][:2] / listed[path]

    csv, chart = stored("inputs/throughputs.csv"), stored("figures/totals.vl.json")
    csv.chmod(0o644)
    csv.write_bytes(b"changed")
    chart.unlink()
    for path, sentence in (
        ("/artifacts/gavel/file/inputs/throughputs.csv", "has changed since it was added"),
        ("/artifacts/gavel/file/figures/totals.vl.json", "can't be read"),
    ):
        answer = get(site, path)
        assert answer.status_code == 409
        assert sentence in text(answer)
        assert "proofshelf verify gavel" in text(answer)
    assert get(site, "/artifacts/gavel").status_code == 200


def test_the_data_of_a_chart_as_csv(site: Any, example: ModuleType) -> None:
    answer = get(site, "/artifacts/gavel/data/figures/totals.vl.json.csv")
    assert answer.text.splitlines()[:3] == [
        "step,total,value",
        "1,1.719601,1.719601",
        "2,3.0406281234567,3.0406281234567",
    ]
    assert "The 5 rows behind the chart" in text(get(site, "/artifacts/gavel"))


def test_assets_are_asked_for_again_only_to_hear_nothing_changed(site: Any) -> None:
    for path in ("/-/proofshelf/style.css", "/-/proofshelf/charts.js", "/-/proofshelf/vega.js"):
        first = get(site, path)
        assert first.status_code == 200
        again = get(site, path, headers={"if-none-match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


def test_without_the_drawing_library_the_table_stands(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("catalog.web.charts.can_draw", lambda: False)
    answer = get(site, "/artifacts/gavel")
    assert "vl-convert-python is missing" in text(answer)
    assert "The 5 rows behind the chart" in text(answer)
    assert "<script" not in answer.text


# Datasette beneath ---------------------------------------------------------------------------------


def test_tables_facets_json_and_csv_stay(site: Any) -> None:
    table = get(site, "/example/works?_search=agnostic")
    assert table.status_code == 200
    assert "Bibliographic records." in table.text
    assert 'href="/works/tias"' in table.text
    assert "gavel-osdi20" not in text(table).split("Suggested facets")[0]
    assert get(site, "/example/claims.json?_shape=array&_facet=kind").status_code == 200
    assert get(site, "/example/claims.csv").text.startswith("id,")
    assert 'href="/example"' in get(site, "/").text


def test_without_a_catalog_datasette_is_left_alone(open_site: Any, tmp_path: Path) -> None:
    other = tmp_path / "works.db"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE t (x)")
    site = open_site(other)
    assert "proofshelf" not in get(site, "/").text
    assert get(site, "/works").status_code == 200
    assert get(site, "/artifacts").status_code == 404


def test_the_catalog_is_found_among_other_databases(open_site: Any, tmp_path: Path, database: Path) -> None:
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE t (x)")
    site = open_site(other, database)
    assert "2 of 2" in text(get(site, "/"))
    assert get(site, "/other/t").status_code == 200


def test_links_hold_under_a_base_url(open_site: Any, database: Path) -> None:
    site = open_site(database, settings={"base_url": "/lab/"})
    body = get(site, "/artifacts/gavel").text
    local = list(re.findall(r'(?:href|src|action|data-spec)="(/[^"]*)"', body))
    assert local
    assert all(u.startswith("/lab/") for u in local)


def test_who_may_not_see_the_database_sees_no_page(open_site: Any, database: Path) -> None:
    site = open_site(database, metadata={"databases": {"example": {"allow": {"id": "root"}}}})
    for path in (*PAGES, *PAGES.values(), "/artifacts/gavel/file/inputs/throughputs.csv"):
        assert get(site, path).status_code == 403


def test_pages_are_read_only(site: Any, database: Path) -> None:
    before = database.read_bytes()
    for path in PAGES:
        get(site, path)
    assert database.read_bytes() == before
