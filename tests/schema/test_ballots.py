"""An answer to a chunk is taken whole or not at all; the rules are those of the rubric, worked by hand."""

import hashlib
import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from schema.ballots import Ballot, answer_schema, chunk_sha256, judge, judge_one
from schema.rubric import Rubric
from schema.screening import Vote

CATEGORIES = [
    {"id": "metaresearch", "label": "Metaresearch"},
    {"id": "bibliometrics", "label": "Bibliometrics"},
    {"id": "protocol", "label": "A protocol", "stands_alone": True},
    {"id": "insufficient_payload", "label": "Can't be screened", "cannot_be_screened": True},
]
RUBRIC = Rubric.model_validate(
    {
        "id": "r",
        "version": "1",
        "title": "A rubric",
        "categories": CATEGORIES,
        "fields": [
            {"id": "genre", "label": "Genre", "values": ["empirical", "essay"], "required": "always"},
            {"id": "design", "label": "Design", "values": ["trial", "survey", "cohort"], "many": True},
            {
                "id": "domain",
                "label": "Domain",
                "values": ["methods", "reporting"],
                "required": "exactly_when",
                "when": "metaresearch",
            },
        ],
        "reason_max": 20,
    }
)
OUT = {"id": "W1", "decision": "out_of_scope", "categories": [], "genre": "essay", "confidence": "low"}
IN = {**OUT, "decision": "in_scope", "categories": ["metaresearch"], "domain": "methods"}


def problems(answer: dict[str, Any]) -> list[str]:
    judged = judge_one(RUBRIC, answer)
    return [] if isinstance(judged, Ballot) else judged


def test_what_can_be_taken() -> None:
    expected = Ballot(
        work="W1",
        decision="in_scope",
        categories=("metaresearch",),
        fields={"genre": ("essay",), "domain": ("methods",)},
        confidence="low",
    )
    assert judge_one(RUBRIC, IN) == expected
    assert problems(OUT) == []
    assert problems({**OUT, "decision": "unsure"}) == []
    assert problems({**OUT, "decision": "insufficient_payload"}) == []
    assert problems({**OUT, "decision": "insufficient_payload", "categories": ["insufficient_payload"]}) == []
    assert (
        problems({**IN, "categories": ["metaresearch", "bibliometrics"], "design": ["trial", "survey"]}) == []
    )
    assert problems({**OUT, "design": "trial", "reason": "x" * 20}) == []
    assert problems({**OUT, "design": [], "reason": None, "domain": None}) == []


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"decision": "yes"}, "decision is 'yes'; expected one of in_scope, out_of_scope"),
        ({"decision": None}, "decision is None"),
        ({"decision": ["in_scope"]}, "decision is ['in_scope']"),
        ({"categories": "metaresearch"}, "expected a list of names"),
        ({"categories": [1]}, "expected a list of names"),
        ({"categories": ["sociology"]}, "'sociology' is no category of the rubric"),
        ({"categories": ["Metaresearch"]}, "'Metaresearch' is no category"),  # never coerced, not even case
        ({"categories": []}, "in_scope, but no category is named"),
        ({"categories": ["metaresearch", "metaresearch"]}, "a category is named twice"),
        ({"categories": ["protocol", "metaresearch"]}, "protocol stands alone"),
        ({"categories": ["metaresearch", "insufficient_payload"]}, "insufficient_payload stands alone"),
        ({"categories": ["insufficient_payload"], "domain": None}, "in_scope, but no category is named"),
        ({"decision": "out_of_scope"}, "out_of_scope, but metaresearch is named"),
        ({"decision": "unsure"}, "unsure, but metaresearch is named"),
        (
            {"decision": "insufficient_payload"},
            "insufficient_payload stands alone, but metaresearch is named",
        ),
        ({"domain": None}, "domain is missing; it is required exactly when metaresearch is chosen"),
        ({"categories": ["bibliometrics"]}, "domain is given, but metaresearch isn't chosen"),
        ({"domain": "physics"}, "domain is 'physics'; expected one of methods, reporting"),
        ({"domain": ["methods", "reporting"]}, "domain has 2 values; expected each once, and only one"),
        ({"design": ["trial", "trial"]}, "design has 2 values; expected each once"),
        ({"design": 3}, "design is 3; expected a list of its values"),
        ({"genre": None}, "genre is missing"),
        ({"confidence": "certain"}, "confidence is 'certain'; expected high, medium or low"),
        ({"confidence": None}, "confidence is missing"),
        ({"reason": "x" * 21}, "reason has 21 characters; at most 20 are allowed"),
        ({"reason": ["x"]}, "reason is ['x']; expected text"),
        ({"mood": "good"}, "'mood' isn't asked for"),
    ],
)
def test_what_can_not(changed: dict[str, Any], said: str) -> None:
    found = problems({**IN, **changed})
    assert any(said in sentence and sentence.startswith("'W1'") for sentence in found), found


def test_a_required_reason_is_no_blank() -> None:
    strict = RUBRIC.model_copy(update={"reason": "required"})
    assert judge_one(strict, {**OUT, "reason": "  "}) == ["'W1': reason is missing"]


def test_a_rubric_that_cant_say_it_cant_be_screened() -> None:
    plain = RUBRIC.model_copy(update={"categories": RUBRIC.categories[:2]})
    found = judge_one(plain, {**OUT, "decision": "insufficient_payload"})
    assert found == ["'W1': insufficient_payload, but the rubric has no category for it"]


def answers(*ids: str) -> list[dict[str, Any]]:
    return [{**OUT, "id": name} for name in ids]


def test_ids_must_be_the_chunks_own_and_come_back_in_its_order() -> None:
    judged = judge(RUBRIC, ["W1", "W2", "W3"], answers("W3", "W1", "W2"))
    assert [b.work for b in judged.ballots] == ["W1", "W2", "W3"]
    assert judged.accepted


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["W1", "W2"], ["no answer for 'W3'"]),
        # As many answers as works, and one id altered: counting would have taken it.
        (["W1", "W2", "W33"], ["no answer for 'W3'", "an answer for an id that isn't in the chunk: 'W33'"]),
        (["W1", "W2", "W3", "W2"], ["more than one answer for 'W2'"]),
        (["W1", "W2", "w3"], ["no answer for 'W3'", "an answer for an id that isn't in the chunk: 'w3'"]),
        ([], ["no answer for 'W1', 'W2', 'W3'"]),
    ],
)
def test_another_id_set_is_refused_whole(given: list[str], said: list[str]) -> None:
    judged = judge(RUBRIC, ["W1", "W2", "W3"], answers(*given))
    assert (judged.ballots, judged.problems) == ((), tuple(said))


def test_one_bad_answer_keeps_the_whole_chunk_out() -> None:
    judged = judge(RUBRIC, ["W1", "W2"], [OUT, {**OUT, "id": "W2", "genre": "poem"}])
    assert judged.ballots == ()
    assert judged.problems == ("'W2': genre is 'poem'; expected one of empirical, essay",)


@pytest.mark.parametrize("nonsense", ["yes", None, 3, [], {"decision": "unsure"}, {"id": 4}])
def test_an_answer_that_is_none(nonsense: object) -> None:
    judged = judge(RUBRIC, ["W1"], [nonsense])
    assert judged.problems == ("no answer for 'W1'", "answer 1 is no object with an `id`")


def test_a_long_report_is_cut_short_and_counted() -> None:
    works = [f"W{n}" for n in range(20)]
    judged = judge(RUBRIC, works, [{**OUT, "id": w, "genre": "poem"} for w in works])
    assert len(judged.problems) == 6
    assert judged.problems[-1] == "and 15 more problems"
    assert judge(RUBRIC, works, []).problems == ("no answer for 'W0', 'W1', 'W2', 'W3', 'W4' and 15 more",)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["W1", "metaresearch"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(list(IN)), inner, max_size=6),
    max_leaves=12,
)


@given(JSON, st.dictionaries(st.sampled_from([*IN, "design", "reason"]), JSON, max_size=4))
def test_whatever_comes_is_a_ballot_in_the_vocabulary_or_a_report(
    anything: object, changed: dict[str, Any]
) -> None:
    for answer in (anything, {**IN, **changed}):
        judged = judge(RUBRIC, ["W1"], [answer])
        assert judged.accepted == (len(judged.ballots) == 1)
        for ballot in judged.ballots:
            assert ballot.work == "W1"
            assert set(ballot.categories) <= {c.id for c in RUBRIC.categories}
            for field in RUBRIC.fields:
                assert set(ballot.fields.get(field.id, ())) <= set(field.values)
            # What is taken can be stored as a vote as it is.
            Vote(id="v", round="r", work="w", rater="x", decision=ballot.decision,
                 categories=() if ballot.decision != "in_scope" else ballot.categories)  # fmt: skip


@given(st.data())
def test_what_the_json_schema_admits_is_judged_only_by_rules_between_fields(data: st.DataObject) -> None:
    """Structured output binds each value to the vocabulary; `judge` adds what a schema can't say."""
    schema = answer_schema(RUBRIC, ["W1"])
    jsonschema.Draft202012Validator.check_schema(schema)
    answer = {
        "id": "W1",
        "decision": data.draw(
            st.sampled_from(["in_scope", "out_of_scope", "unsure", "insufficient_payload"])
        ),
        "categories": data.draw(st.lists(st.sampled_from([c.id for c in RUBRIC.categories]), max_size=2)),
        "genre": data.draw(st.sampled_from(["empirical", "essay"])),
        "design": data.draw(st.lists(st.sampled_from(["trial", "survey"]), max_size=2)),
        "domain": data.draw(st.lists(st.sampled_from(["methods", "reporting"]), max_size=1)),
        "confidence": "low",
        "reason": data.draw(st.text(max_size=20)),
    }
    jsonschema.validate({"answers": [answer]}, schema)
    for sentence in problems(answer):
        assert "expected one of" not in sentence
        assert "no category of the rubric" not in sentence


def test_the_json_schema_refuses_what_is_outside_the_vocabulary() -> None:
    schema = answer_schema(RUBRIC, ["W1", "W2"])
    good = {**OUT, "categories": [], "design": [], "domain": [], "reason": ""}
    jsonschema.validate({"answers": [good, {**good, "id": "W2"}]}, schema)
    for bad in ({"id": "W3"}, {"genre": "poem"}, {"categories": ["x"]}, {"confidence": "sure"}, {"extra": 1}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"answers": [good, {**good, "id": "W2", **bad}]}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"answers": [good]}, schema)


def test_a_chunks_hash_is_of_its_round_place_and_ids_in_order() -> None:
    text = '{"position":2,"round":"r1","works":["W2","W1"]}'
    assert chunk_sha256("r1", 2, ["W2", "W1"]) == hashlib.sha256(text.encode()).hexdigest()
    assert chunk_sha256("r1", 2, ["W1", "W2"]) != chunk_sha256("r1", 2, ["W2", "W1"])


def test_a_rubric_is_hashed_with_all_that_it_says() -> None:
    told = json.loads(RUBRIC.model_dump_json())
    assert Rubric.model_validate(told).sha256 == RUBRIC.sha256
    for change in (
        {"version": "2"},
        {"instructions": "Read."},
        {"categories": CATEGORIES[::-1]},
        {"reason_max": 21},
    ):
        assert Rubric.model_validate({**told, **change}).sha256 != RUBRIC.sha256


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"categories": [CATEGORIES[3]]}, "needs a category besides"),
        ({"categories": [*CATEGORIES, {**CATEGORIES[3], "id": "other"}]}, "at most one category"),
        ({"categories": [CATEGORIES[0], CATEGORIES[0]]}, "is there twice"),
        ({"fields": [{"id": "reason", "label": "R", "values": ["a"]}]}, "belongs to every answer"),
        ({"fields": [{"id": "f", "label": "F", "values": ["a", "a"]}]}, "is there twice"),
        (
            {"fields": [{"id": "f", "label": "F", "values": ["a"], "when": "metaresearch"}]},
            "goes with required",
        ),
        (
            {"fields": [{"id": "f", "label": "F", "values": ["a"], "required": "exactly_when"}]},
            "goes with required",
        ),
        (
            {
                "fields": [
                    {"id": "f", "label": "F", "values": ["a"], "required": "exactly_when", "when": "physics"}
                ]
            },
            "no category of the rubric",
        ),
    ],
)
def test_a_rubric_that_doesnt_hold_together(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Rubric.model_validate({**json.loads(RUBRIC.model_dump_json()), **change})
