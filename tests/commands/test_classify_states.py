"""No output of the command line shows a machine's word as a person's, a score as a label, or what is
unknown as a negative: random votes, scores and calls against what `schema.states` says of the draw."""

import csv
import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from catalog.ballots import AnswerMeta
from catalog.commands.group import cli
from catalog.store import create, open_catalog
from schema.ballots import Ballot
from schema.scores import DecisionRun, Head, ModelRelease, Quota
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

CATEGORIES = ("alpha", "beta", "cannot")
WORKS = 3
SAID = st.one_of(
    st.none(),
    st.tuples(st.just("in_scope"), st.sampled_from([("alpha",), ("beta",), ("alpha", "beta")])),
    st.tuples(st.sampled_from(["out_of_scope", "unsure", "insufficient_payload"]), st.just(())),
)
KINDS = st.lists(st.sampled_from(["human", "model"]), min_size=1, max_size=3)
VALUE = {None: "unknown", True: "positive", False: "negative"}
NUMBERS = count(1)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One catalog for all examples; each is a study of its own about works of its own."""
    path = tmp_path_factory.mktemp("states") / "shelf.db"
    create(path, who="tester").close()
    return path


def study(number: int, kinds: list[str]) -> Study:
    raters = [{"id": f"r{number}-{i}", "kind": kind, "name": f"Rater {i}"} for i, kind in enumerate(kinds)]
    return Study.model_validate({
        "id": f"s{number}", "title": "Drawn", "caveats": ["Drawn by lot."],
        "frame": {"field": "year", "equals": 1000 + number},
        "rubric": {"id": "r", "version": "1", "title": "R", "asks_confidence": False, "categories": [
            {"id": c, "label": c, "cannot_be_screened": c == "cannot"} for c in CATEGORIES]},
        "raters": raters,
        "rounds": [{"id": f"round{number}", "title": "Round", "instrument": "title",
                    "raters": [r["id"] for r in raters], "chunk_size": 1}],
    })  # fmt: skip


def fill(
    path: Path, number: int, kinds: list[str], said: list[list[Any]], scored: list[bool], supported: bool
) -> list[str]:
    """Write a study through the store; the slugs of its works."""
    source = path.parent / f"{number}.json"
    source.write_text(json.dumps([
        {"id": f"{number}-{w}", "type": "book", "title": f"Title {number} {w}",
         "issued": {"date-parts": [[1000 + number]]}} for w in range(WORKS)
    ]))  # fmt: skip
    with open_catalog(path, writable=True) as catalog:
        catalog.import_file(source, "t")
        known = dict(catalog.connection.execute("SELECT title, slug FROM works"))
        slugs = [known[f"Title {number} {w}"] for w in range(WORKS)]
        catalog.add_study(study(number, kinds), "0" * 64, "t")
        chunk = {c.works[0]: c.position for c in catalog.write_manifest(f"round{number}", "t")}
        for r, kind in enumerate(kinds):
            for w, slug in enumerate(slugs):
                if said[r][w] is None:
                    continue
                answer = {"decision": said[r][w][0], "categories": list(said[r][w][1])}
                if kind == "human":
                    ballot = Ballot.model_validate({"work": slug, **answer})
                    catalog.cast_vote(f"round{number}", f"r{number}-{r}", ballot, "t")
                else:
                    rows = [{"id": slug, **answer}]
                    catalog.record_answer(
                        f"round{number}", chunk[slug], f"r{number}-{r}", AnswerMeta(raw="x"), rows, None, "t"
                    )
        support = {"positives": 20 if supported else 2, "ess_positives": 10.0 if supported else 2.0}
        head = Head(name="student", categories=("alpha",), calibration=None,
                    availability="available" if supported else "insufficient_support", **support)  # fmt: skip
        release = ModelRelease(
            id=f"m{number}", title="M", status=Status.SCORE_ONLY_IMMATURE.value, maturity="not_passed",
            decimals=3, heads=(head,), source="trained here", study=f"s{number}",
        )  # fmt: skip
        catalog.record_release(release, {}, "1" * 64, {}, "t")
        covered = [slug for slug, yes in zip(slugs, scored, strict=True) if yes]
        catalog.record_scores(f"m{number}", [(slug, [0.875]) for slug in covered], "t")
        k = 1 if supported and covered else 0
        quota = Quota(head="student", category="alpha", covered=len(covered),
                      k=k if supported else None, supported=supported, **support)  # fmt: skip
        run = DecisionRun(
            id=f"run{number}", release=f"m{number}", status=Status.MACHINE_PREDICTED.value, works=WORKS,
            covered=len(covered), quotas=(quota,),
        )  # fmt: skip
        catalog.record_decisions(run, [(slug, "alpha", ["student"]) for slug in covered[:k]], "t")
    return slugs


def command(path: Path, *arguments: str | Path) -> str:
    result = CliRunner().invoke(cli, ["--db", str(path), *map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.stdout


def exported(path: Path, number: int, what: str) -> list[dict[str, str]]:
    """The rows of an export, the same as CSV and as JSON."""
    read: dict[str, list[dict[str, str]]] = {}
    for form in ("csv", "json"):
        to = path.parent / f"{number}-{what}.{form}"
        command(path, "export", f"s{number}", "--what", what, "--as", form, "--to", to)
        if form == "csv":
            with to.open(newline="") as file:
                read[form] = list(csv.DictReader(file))
        else:
            read[form] = [{k: flat(v) for k, v in row.items()} for row in json.loads(to.read_text())["rows"]]
    assert read["csv"] == read["json"]
    return read["csv"]


def flat(value: Any) -> str:
    """A JSON value as the CSV has it."""
    if isinstance(value, list):
        return " | ".join(map(flat, value))
    return "" if value is None else str(value)


def dicts(value: Any) -> Iterator[dict[str, Any]]:
    """Every object inside a JSON value."""
    if isinstance(value, dict):
        yield value
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from dicts(inner)


@settings(max_examples=8, phases=(Phase.explicit, Phase.reuse, Phase.generate))  # shrinking takes minutes
@given(
    kinds=KINDS, said=st.lists(st.lists(SAID, min_size=WORKS, max_size=WORKS), min_size=3, max_size=3),
    scored=st.lists(st.booleans(), min_size=WORKS, max_size=WORKS), supported=st.booleans(),
)  # fmt: skip
def test_every_output_keeps_votes_scores_and_calls_apart(
    shelf: Path, kinds: list[str], said: list[list[Any]], scored: list[bool], supported: bool
) -> None:
    number = next(NUMBERS)
    slugs = fill(shelf, number, kinds, said, scored, supported)
    cast = {
        slug: [(kind, said[r][w]) for r, kind in enumerate(kinds) if said[r][w] is not None]
        for w, slug in enumerate(slugs)
    }
    check_labels(exported(shelf, number, "labels"), cast, supported)
    votes = exported(shelf, number, "votes")
    assert len(votes) == sum(map(len, cast.values()))
    for row in votes:
        assert row["status"] == vote_status(row["rater_kind"]).value
        assert row["rater_kind"] == kinds[int(row["rater"].split("-")[1])]
    covered = [slug for slug, yes in zip(slugs, scored, strict=True) if yes]
    scores = exported(shelf, number, "scores")
    assert sorted(row["work"] for row in scores) == sorted(covered)
    for row in scores:
        assert (row["rater_kind"], row["status"]) == ("model", Status.SCORE_ONLY_IMMATURE.value)
        assert float(row["score"]) == 0.875
        assert not {"label", "state", "decision", "call"} & set(row)
    calls = exported(shelf, number, "calls")
    assert [row["work"] for row in calls] == (covered[:1] if supported else [])
    for row in calls:
        assert (row["rater_kind"], row["status"]) == ("model", Status.MACHINE_PREDICTED.value)
        assert row["call"] == "candidate"  # one side alone agrees with nobody
    for slug in slugs:
        check_page(shelf, slug, cast[slug], slug in covered, supported)


def check_labels(rows: list[dict[str, str]], cast: dict[str, list[Any]], supported: bool) -> None:
    assert rows
    seen = set()
    for row in rows:
        given = cast[row["work"]]
        category = row["category"] or None
        seen.add((row["work"], category))
        if category in CATEGORIES:
            said = [(kind, category_vote(d, chosen, category, "cannot")) for kind, (d, chosen) in given]
        else:
            said = [(kind, in_scope(d)) for kind, (d, _) in given]
        lacking = False if category == "alpha" and not supported else None
        assert row["state"] == screening_state([vote for _, vote in said], lacking).value
        for which in ("unanimous", "majority", "any"):
            # A panel answers when all of it has voted; until then what it will say isn't known.
            whole = [vote for _, vote in said] if len(said) == int(row["panel"]) else []
            assert row[which] == VALUE[estimand(whole, which)]
        usable = {kind for kind, vote in said if vote is not None}
        behind = usable or {kind for kind, _ in said}
        assert set(filter(None, row["status"].split(" | "))) == {vote_status(k).value for k in behind}
        if not usable:
            assert "negative" not in (row["unanimous"], row["majority"], row["any"])
    assert {(work, c) for work in cast for c in CATEGORIES} <= seen


def check_page(path: Path, slug: str, given: list[Any], covered: bool, supported: bool) -> None:
    """A work's page on the terminal and as JSON."""
    text = " ".join(command(path, "show", slug).split())
    page = json.loads(command(path, "show", slug, "--json"))
    kinds = {kind for kind, _ in given}
    content = json.dumps(page)
    # The terminal marks who votes; the JSON has the status itself.
    for status, mark, there in (
        (Status.HUMAN_DIRECT, "[person]", "human" in kinds),
        (Status.MACHINE_DIRECT, "[machine]", "model" in kinds),
    ):
        assert (mark in text) == there
        assert (status.value in content) == there
    assert not covered or Status.SCORE_ONLY_IMMATURE.value in text
    assert ("0.875" in text) == covered
    for found in dicts(page):
        rater = found.get("rater")
        kind = rater.get("kind") if isinstance(rater, dict) else found.get("rater_kind")
        if kind is not None and "status" in found:
            assert found["status"] == vote_status(kind).value
    states = {
        screening_state([category_vote(d, chosen, c, "cannot") for _, (d, chosen) in given],
                        False if c == "alpha" and not supported else None)
        for c in CATEGORIES
    } | {screening_state([in_scope(d) for _, (d, _) in given])}  # fmt: skip
    if given:
        shown = {found["state"] for found in dicts(page) if found.get("state") in list(ScreeningState)}
        assert shown <= {state.value for state in states}
    else:
        assert "agreed_" not in json.dumps(page)
        assert "agreed" not in text
