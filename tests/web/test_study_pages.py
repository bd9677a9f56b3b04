"""Pages of studies, rounds and models: what was asked of whom, how far it is, what it comes to."""

import asyncio
import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pydantic_core import to_jsonable_python

from catalog import screening_queries, store
from catalog.lookup import NotFound
from catalog.web.model_routes import drawn
from schema.states import Status

ROUND = "/studies/pilot/rounds/pilot-screen"
PAGES = {
    "/studies": "/studies.json",
    "/studies/pilot": "/studies/pilot.json",
    f"{ROUND}": f"{ROUND}.json",
    f"{ROUND}?category=trial": f"{ROUND}.json?category=trial",
    "/models": "/models.json",
    "/models/student-1": "/models/student-1.json",
    "/models/student-1?head=rule&category=protocol": "/models/student-1.json",
}
Screened = tuple[Path, tuple[str, ...]]


@pytest.fixture(scope="module")
def site(screened: Screened, open_site: Any) -> Any:
    """The study, served."""
    return open_site(screened[0])


def get(site: Any, path: str, **more: Any) -> Any:
    return asyncio.run(site.get(path, **more))


def text(answer: Any) -> str:
    """What a reader sees: no tags, one space between words."""
    body = answer.text[max(0, answer.text.find("<main")) :]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


def block(answer: Any, start: str, end: str) -> str:
    """The HTML between two marks."""
    found = re.search(rf"{start}.*?{end}", answer.text, re.DOTALL)
    assert found is not None
    return found.group()


@pytest.mark.parametrize("path", PAGES)
def test_every_page_answers_under_the_strict_policy_and_is_well_formed(site: Any, path: str) -> None:
    answer = get(site, path)
    assert answer.status_code == 200
    assert answer.headers["content-security-policy"].startswith(
        "default-src 'none'; script-src 'self'; style"
    )
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)|<script>alert", answer.text)
    assert "<b>Bold</b>" not in answer.text
    stack: list[str] = []
    ids: list[str] = []
    inside_p = {"p", "div", "table", "dl", "ul", "ol", "details", "section", "h1", "h2", "h3", "h4", "form"}

    class Checker(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            ids.extend(value or "" for name, value in attrs if name == "id")
            assert not (stack and stack[-1] == "p" and tag in inside_p), f"{tag} would end its paragraph"
            if tag not in {"meta", "link", "input", "img", "br"}:
                stack.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert stack.pop() == tag

    Checker().feed(answer.text)
    assert stack == []
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("twin", sorted(set(PAGES.values())))
def test_the_json_twin_answers(site: Any, twin: str) -> None:
    answer = get(site, twin)
    assert answer.status_code == 200
    json.loads(answer.text)


def test_the_json_twins_hold_what_the_catalog_answers(site: Any, screened: Screened) -> None:
    with store.open_catalog(screened[0], writable=False) as catalog:
        db = catalog.connection
        study, model = (
            screening_queries.study_page(db, "pilot"),
            screening_queries.model_page(db, "student-1"),
        )
    assert get(site, "/studies/pilot.json").json()["study"] == to_jsonable_python(study)
    assert get(site, "/models/student-1.json").json() == to_jsonable_python(model)


def test_caveats_and_synthetic_come_before_any_number(site: Any, screening: ModuleType) -> None:
    for path in PAGES:
        if path in ("/studies", "/models"):
            continue
        seen = text(get(site, path))
        first_number = re.search(r"\d+ of \d+", seen)
        assert first_number is not None
        assert seen.index("Synthetic. Everything in this study was made up") < first_number.start()
        assert seen.index("Read this before any number") < first_number.start()
    assert screening.CAVEAT in text(get(site, "/studies/pilot"))
    assert "synthetic: made up" in text(get(site, "/studies"))


def test_coverage_counts_by_hand(site: Any) -> None:
    # Ada: two for, two against, one can't be judged, one unsure; three of nine works await her.
    table = text_of(block(get(site, "/studies/pilot"), '<table class="coverage">', "</table>"))
    assert "Person Ada Lovelace ada human_direct 6 of 9 3 2 2 1 1 2 of 3 0 0" in table
    # The rule answered its third chunk twice: nonsense first, which was quarantined.
    # What it read was counted, what it wrote wasn't: that is unknown and not 0.
    rule = "Model A keyword rule 1 rule machine_direct_unvalidated 300 tokens in, unknown out"
    assert f"{rule} 9 of 9 0 3 4 1 1 3 of 3 1 0" in table


def text_of(fragment: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", fragment)).split())


def test_strata_show_their_weights(site: Any) -> None:
    # 8 works of 2015 or later of which 6 were drawn, 4 earlier ones of which 3: both 4/3.
    table = text_of(block(get(site, "/studies/pilot"), '<table class="strata">', "</table>"))
    assert "recent 8 6 0.75 1.333333333 6 of 6 older 4 3 0.75 1.333333333 3 of 3 All 12 9 9 of 9" in table


def test_votes_and_agreement_by_hand(site: Any) -> None:
    # On `trial`: ada yes, no, yes, no; rule yes, no, yes, no, no, no, no (two works say nothing).
    answer = get(site, "/studies/pilot/rounds/pilot-screen?category=trial")
    votes = text_of(block(answer, 'aria-label="Votes of each rater"', "</table>"))
    assert "Person ada human_direct 2 2 2 3" in votes
    assert "Model rule machine_direct_unvalidated 2 5 2 0" in votes
    # The four works that both judged: they agree on all of them.
    pair = block(answer, "<h3>ada and rule</h3>", "</section>")
    assert "4 of 9" in text_of(pair)
    assert "100.0 %" in text_of(pair)
    assert "no 2 0 yes 0 2" in text_of(
        block(answer, '<h3>ada and rule</h3>.*?<table class="crosstab">', "</table>")
    )


def test_prevalence_names_its_estimator_and_what_is_unknown(site: Any) -> None:
    answer = get(site, "/studies/pilot/rounds/pilot-screen?category=trial")
    seen = text(answer)
    assert "Stratified estimator with finite population correction (Cochran 1977, section 5A.2)." in seen
    assert "the frame of sample pilot-sample, 12 works" in seen
    assert "2 of 4 5 unknown" in text_of(block(answer, '<table class="prevalence">', "</table>"))


def test_every_scope_state_is_counted_in_words(site: Any) -> None:
    # 0 and 7 agreed for, 1 and 8 against, 2 contested, 3 and 6 one of them, 4 and 5 nobody knows.
    tally = block(get(site, "/studies/pilot"), '<ul class="tally"', "</ul>")
    found = re.findall(r'data-state="(\w+)">([^<]+)</span> <b>(\d+)</b>', tally)
    assert {state: int(number) for state, _, number in found} == {
        "unknown": 2,
        "unsupported": 0,
        "agreed_positive": 2,
        "agreed_negative": 2,
        "contested": 1,
        "single_source": 2,
    }
    assert all(words == state.replace("_", " ") for state, words, _ in found)


def test_empty_states_say_what_to_do_next(
    open_site: Any, empty: Path, screening: ModuleType, tmp_path: Path
) -> None:
    site = open_site(empty)
    assert "proofshelf screen design FILE" in text(get(site, "/studies"))
    assert "proofshelf classify train STUDY" in text(get(site, "/models"))
    path = tmp_path / "new.db"
    with store.create(path) as catalog:
        catalog.add_study(screening.Study.model_validate(screening.STUDY_RECORD), screening.SOURCE)
    seen = text(get(open_site(path), "/studies/pilot"))
    assert "Sample pilot-sample is not drawn yet: proofshelf screen sample pilot pilot-sample" in seen
    assert "proofshelf screen manifest pilot-screen" in seen
    assert "proofshelf classify train pilot" in seen


def test_next_steps_name_the_command(site: Any) -> None:
    seen = text(get(site, "/studies/pilot"))
    assert (
        "3 works of round pilot-screen await Ada Lovelace: proofshelf screen queue pilot-screen --rater ada"
        in seen
    )
    assert (
        "3 works of round pilot-screen await Another rule: proofshelf screen run pilot-screen --rater oracle"
        in seen
    )
    assert "proofshelf screen adjudicate pilot-screen --rater cara" in seen


def test_the_flow_is_a_picture_with_its_numbers_beside(site: Any) -> None:
    picture = get(site, "/studies/pilot/flow.svg")
    assert picture.headers["content-type"] == "image/svg+xml; charset=utf-8"
    assert "sandbox" in picture.headers["content-security-policy"]
    assert "Synthetic" in picture.text
    numbers = text_of(block(get(site, "/studies/pilot"), '<table class="flow-counts">', "</table>"))
    assert numbers.startswith("Synthetic: made up.")
    # Nine of twelve are selected, six have every vote; cara's decision is one of the two included.
    assert "Selected 9 3 not selected" in numbers
    assert "Screened 6 3 await votes; 1 adjudicated Included 2 Excluded 2 Unresolved 2" in numbers


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/studies/pilots", "pilot"),
        ("/studies/pilot/rounds/none", "has no round 'none'; it has pilot-screen, pilot-fulltext"),
        ("/studies/pilot/rounds/pilot-screen?category=x", "asks of no category 'x'; it has trial"),
        ("/studies/pilot/queue/none", "has no round 'none'"),
        ("/studies/none/flow.svg", "none"),
        ("/models/student-2", "student-1"),
        ("/models/student-1?head=rule&category=none", "reports on no head 'rule' for category 'none'"),
        ("/models/student-1/charts/rule/trial/none.csv", "has no chart 'none'"),
    ],
)
def test_what_is_not_there_is_said_in_a_sentence(site: Any, path: str, sentence: str) -> None:
    answer = get(site, path)
    assert answer.status_code == 404
    assert sentence in text(answer)


# Models --------------------------------------------------------------------------------------------


def test_a_release_says_how_far_it_may_be_believed(site: Any) -> None:
    answer = get(site, "/models/student-1")
    seen = text(answer)
    assert "A score ranks; it never asserts a category." in seen
    assert Status.SCORE_ONLY_IMMATURE.value in seen
    assert "d" * 64 in seen
    assert "8 of 12 works have a score of it" in seen
    # The rule's head for protocols has 4 positives and isn't calibrated; the release's word is of the others.
    assert "Calibration 3 of 4 heads calibrated" in seen
    assert "Scores of 3 of 4 heads are calibrated, out of fold," in seen
    assert "Those of the others order works, and are no probabilities." in seen
    assert "Maturity gate not passed after 3 training rounds, 3 of 4 heads calibrated" in text(
        get(site, "/models")
    )
    assert "Of the raters imitated, models are: rule. Validation by people is pending." in seen
    assert "Published rule: not passed" in seen
    assert "failed churn 0.3, to be below 0.05" in seen
    assert "not known, which isn’t passed 3 rounds; 6 are needed" in seen
    assert "Rounds of rule/trial, the first of 2 heads that the gate judges" in seen
    heads = text_of(block(answer, '<table class="heads">', "</table>"))
    assert "rule protocol insufficient support: makes no call 4 3.20 not calibrated none" in heads
    assert "ben trial available 60 48 sigmoid 0.5" in heads


def test_figures_stand_before_and_after_calibration(site: Any) -> None:
    figures = text_of(
        block(
            get(site, "/models/student-1?head=rule&category=trial"), 'aria-label="Figures before', "</table>"
        )
    )
    assert "Brier score 0.21000 0.13000" in figures
    assert "Calibration slope (1 is right) 0.600 0.500 to 0.700 1.010 0.910 to 1.110" in figures
    without = text(get(site, "/models/student-1?head=rule&category=protocol"))
    assert "Not calibrated: 4 positives, and 20 are needed." in without
    assert "too few positives for figures" in text(get(site, "/models/student-1?head=rule&category=trial"))


def test_quotas_and_calls_are_counted_and_unsupported_has_no_k(site: Any) -> None:
    answer = get(site, "/models/student-1")
    quotas = text_of(block(answer, '<table class="quotas">', "</table>"))
    # k of the rule is 2 of 8 covered works, so its rate 25 %; the second score from above is 0.8.
    assert "trial rule 25.0000 % 10.000 to 40.000 % 2 0 to 3 8 60 48 0.8" in quotas
    assert "trial ben 12.5000 % no interval 1 8 60 48 0.8" in quotas
    assert "protocol rule none unsupported 8 4 3.20 none" in quotas
    assert "trial 1 1" in text_of(block(answer, '<table class="calls">', "</table>"))


def test_charts_come_with_table_csv_and_picture(site: Any) -> None:
    page = get(site, "/models/student-1?head=rule&category=trial")
    assert page.text.count('class="chart"') == 3
    base = "/models/student-1/charts/rule/trial/reliability"
    assert get(site, f"{base}.vl.json").json()["title"] == "Reliability of rule"
    assert get(site, f"{base}.csv").text.splitlines() == [
        "observed,predicted",
        "0.08,0.1",
        "0.55,0.5",
        "0.88,0.9",
    ]
    picture = get(site, f"{base}.svg")
    assert picture.text.startswith("<svg")
    assert 'src="/models/student-1/charts/rule/trial/reliability.svg"' in page.text


@pytest.mark.parametrize(
    "spec", [{"mark": "bar", "data": {"url": "http://example.invalid/a.csv"}}, {"mark": 7}]
)
def test_a_chart_fetches_nothing_when_it_is_drawn(spec: dict[str, Any]) -> None:
    with pytest.raises(NotFound, match="no sound specification, or its data lie elsewhere"):
        drawn(json.dumps(spec))


# The record page -----------------------------------------------------------------------------------


def test_the_record_page_shows_states_votes_and_calls_in_their_order(site: Any, screened: Screened) -> None:
    answer = get(site, f"/works/{screened[1][2]}")
    seen = text(answer)
    order = [
        "How this classification was reached",
        "Synthetic.",
        "Two of four raters called this in scope, two out of scope.",
        "Stratum",
        "Person Ada Lovelace",
        "Adjudication, beside the votes Person Cara: in scope : trial. “Ada is right.”",
        "Each category, from these votes alone",
        "Calls of student-1",
        "A call is a model’s, never a label.",
        "A score ranks; it never asserts a category.",
        "Classification contested · 2 of 4",
    ]
    assert [seen.index(part) for part in order] == sorted(seen.index(part) for part in order)
    assert (
        "weight 1.333333333: the vote stands for so many works where a share of the frame is estimated"
        in seen
    )
    rows = {
        category: (state, text_of(rest))
        for category, state, rest in re.findall(
            r'<tr data-category="(\w+)" data-round="pilot-screen">.*?data-state="(\w+)"(.*?)</tr>',
            answer.text,
            re.DOTALL,
        )
    }
    assert rows["trial"][0] == "contested"
    assert "2 of 4 usable" in rows["trial"][1]
    assert rows["protocol"][0] == "single_source"
    assert rows["openness"][0] == "agreed_negative"


def test_what_nobody_could_judge_is_unknown_and_no_negative(site: Any, screened: Screened) -> None:
    order = screened[1]
    for work in (order[4], order[5]):
        body = get(site, f"/works/{work}").text
        states = dict(
            re.findall(r'<tr data-category="(\w+)" data-round="[^"]+">.*?data-state="(\w+)"', body, re.DOTALL)
        )
        assert {states[c] for c in ("trial", "protocol", "openness")} == {"unknown"}
        assert "agreed negative" not in body.split("<h2>Classification</h2>")[1]
    # All four said that it can't be judged: of that category, and of no other, they say something.
    assert states["cannot"] == "unknown"
    body = get(site, f"/works/{order[4]}").text
    assert re.search(r'data-category="cannot".*?data-state="agreed_positive"', body, re.DOTALL)


def test_calls_name_the_model_and_its_status(site: Any, screened: Screened) -> None:
    both, one, uncovered = (get(site, f"/works/{screened[1][n]}") for n in (0, 1, 8))
    assert 'data-call="consensus">consensus<' in both.text
    assert 'data-call="candidate">candidate<' in one.text
    assert "called by student-1" in text(both)
    assert "rule: among its k; ben: not among its k" in text(one)
    assert 'data-call="unsupported">unsupported<' in both.text
    assert "this work has no score of the release, which is no negative" in text(uncovered)


def test_a_made_up_study_s_release_is_marked_wherever_it_is_shown(site: Any, screened: Screened) -> None:
    scored, uncovered = (text(get(site, f"/works/{screened[1][n]}")) for n in (0, 8))
    assert "Calls of student-1 synthetic: made up A call is" in scored
    assert "Student of a rule and of Ben synthetic: made up A score ranks" in scored
    assert "called by student-1 synthetic: made up" in scored
    assert "Calls of student-1 synthetic: made up : this work has no score" in uncovered
    assert "Student of a rule and of Ben synthetic: made up" in text(get(site, "/models"))
    facts = get(site, f"/works/{screened[1][0]}.json").json()
    assert [view["synthetic"] for view in facts["releases"] + facts["decisions"]] == [True, True]


def test_readers_find_studies_from_the_tables(site: Any) -> None:
    table = get(site, "/screening/category_states.json?_shape=array&_facet=state")
    assert table.status_code == 200
    assert 'href="/studies/pilot"' in get(site, "/screening/studies").text
    assert 'href="/models/student-1"' in get(site, "/screening/model_releases").text
