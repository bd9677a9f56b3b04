"""JSON in what a model said: found where it is certain, refused with a sentence where it isn't."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.answers import Unreadable, answers_in, strictly

A, B = {"id": "W1", "reason": "an [odd] {text} with ```json\n[1]\n```"}, {"id": "W2", "categories": ["a"]}
LIST = json.dumps([A, B])


@pytest.mark.parametrize(
    "said",
    [
        LIST,
        f"\n\ufeff{json.dumps([A, B], indent=2)}\n",
        json.dumps({"answers": [A, B]}),
        f"{json.dumps(A)}\n\n{json.dumps(B)}\n",
        f"```json\n{LIST}\n```",
        f"```\n{LIST}\n```\n",
        f"```JSON\n{LIST}",  # the fence isn't closed, the JSON is
        f"Here you are [1], for {{x}}:\n\n```json\n{LIST}\n```\nDone {{really}}.",
        f"Here you are [1]: {LIST} Done [2].",
        f"```python\nprint({{1}})\n```\n```json\n{LIST}\n```",
        f'An example is {{"id": "x"}}.\n```json\n{LIST}\n```',
        f"```json\n{json.dumps(A)}\n{json.dumps(B)}\n```",
    ],
)
def test_where_the_answers_are(said: str) -> None:
    assert answers_in(said) == (A, B)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("[]", ()),
        ('{"answers": []}', ()),
        ('{"id": "W1"}', ({"id": "W1"},)),
        ('{"categories": ["a"]}', ({"categories": ["a"]},)),  # an answer, and no list of them
        ("{}", ({},)),
        ('{"id": {"x": [{"y": 1}]}}', ({"id": {"x": [{"y": 1}]}},)),
    ],
)
def test_shapes(said: str, expected: tuple[object, ...]) -> None:
    assert expected == answers_in(said)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("", "the answer is empty; expected JSON"),
        (" \n\ufeff ", "the answer is empty; expected JSON"),
        ("I can't, sorry.", "there is no JSON with objects in the answer, which starts \"I can't, sorry.\""),
        ("[1, 2]", "item 1 of the JSON list is a number; expected an object for each work"),
        ('[{"id": 1}, "W2"]', "item 2 of the JSON list is a text; expected an object for each work"),
        ('{"answers": [{"id": 1}, null]}',
         "item 2 of the JSON list is null; expected an object for each work"),
        (LIST[:-1], "the JSON that begins in line 1 isn't finished when the answer ends"),
        (LIST[:30], "the JSON that begins in line 1 isn't finished when the answer ends"),
        ("[", "the JSON that begins in line 1 isn't finished when the answer ends"),
        ("Here:\n```json\n" + LIST[:-9],
         "the JSON that begins in line 3 isn't finished when the answer ends"),
        (f"Here:\n{LIST[:-9]}\n", "the JSON that begins in line 2 isn't finished when the answer ends"),
        # Whole objects of a broken list aren't picked out of it.
        ('[{"id": "W1"}, {"id": "W2" "x"}]',
         "the JSON that begins in line 1 has an error in line 1, column 28: Expecting ',' delimiter"),
        ('[{"id": "W1"},]',
         "the JSON that begins in line 1 has an error in line 1, column 15: Expecting value"),
        ("[{'id': 'W1'}]", "the JSON that begins in line 1 has an error in line 1, column 3: "
         "Expecting property name enclosed in double quotes"),
        (f"{LIST}\n\n{LIST}", "a second piece of JSON begins in line 3; expected one"),
        (f"{json.dumps(A)}, {json.dumps(B)}", "a second piece of JSON begins in line 1; expected one"),
        (f"First {LIST}\nbut then {json.dumps(B)}", "a second piece of JSON begins in line 2; expected one"),
        (f"```json\n{LIST}\n```\nor\n```json\n{LIST}\n```",
         "the answer has 2 pieces of JSON, in lines 2, 6; expected one"),
        (f"{LIST}\n```json\n{LIST}\n```", "a second piece of JSON begins in line 3; expected one"),
        ('{"id": "W1"}\n{"id": "W', "the JSON that begins in line 2 isn't finished when the answer ends"),
        ('[{"id": "a", "id": "b"}]',
         "the JSON that begins in line 1 can't be taken: the name 'id' comes twice in one object"),
        ('[{"id": "a", "n": NaN}]',
         "the JSON that begins in line 1 can't be taken: NaN is no number in JSON"),
        ('[{"n": -Infinity}]',
         "the JSON that begins in line 1 can't be taken: -Infinity is no number in JSON"),
        ('[{"id": "\\ud800"}]', "the JSON that begins in line 1 can't be taken: "
         "a text in it holds half a character (a lone surrogate)"),
        ('[{"id": ' + "[" * 100_000, "the JSON that begins in line 1 is nested too deeply"),
    ],
)  # fmt: skip
def test_what_is_refused_and_why(said: str, reason: str) -> None:
    assert answers_in(said) == Unreadable(reason)


def test_a_number_without_end() -> None:
    found = answers_in('[{"n": ' + "9" * 5000 + "}]")
    assert isinstance(found, Unreadable)
    assert found.reason.startswith("the JSON that begins in line 1 can't be taken: Exceeds the limit")


@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', "NaN", '"\\udfff"', "[" * 100_000, "{", ""])
def test_strictly(text: str) -> None:
    with pytest.raises(ValueError):
        strictly(text)
    assert strictly('{"a": [1, null, "x"]}') == {"a": [1, None, "x"]}


KEYS = st.text("abcid_", min_size=1, max_size=5)
SCALARS = st.none() | st.booleans() | st.integers(-99, 99) | st.text('ab {}[]"\\\n`é:,', max_size=12)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=2),
    max_leaves=6,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=3).map(lambda found: {"id": "W", "x": 1} | found)
PROSE = st.text("abc .,;:()'-\né[]{}1", max_size=30).filter(
    lambda text: "[{" not in text.replace("\n", "").replace(" ", "")
)


@settings(max_examples=200)
@given(
    st.lists(OBJECTS, min_size=1, max_size=4), st.sampled_from(["list", "wrapped", "lines", "indented"]),
    PROSE.filter(lambda text: text.strip()[-1:] != "["), PROSE, st.sampled_from(["plain", "fenced", "prose"]),
)  # fmt: skip
def test_what_is_written_is_found(
    objects: list[dict[str, object]], how: str, before: str, after: str, frame: str
) -> None:
    text = {
        "list": json.dumps(objects, ensure_ascii=False),
        "wrapped": json.dumps({"answers": objects}),
        "indented": json.dumps(objects, indent=2),
        "lines": "\n".join(json.dumps(each) for each in objects),
    }[how]
    if frame == "fenced":
        text = f"{before.replace('[', '').replace('{', '')}\n```json\n{text}\n```\n{after}"
    elif frame == "prose":
        text = f"Answer: {before}\n{text}\nend {after}"
    assert answers_in(text) == tuple(objects)


@settings(max_examples=200)
@given(st.lists(OBJECTS, min_size=1, max_size=3), st.data())
def test_half_an_answer_is_no_answer(objects: list[dict[str, object]], data: st.DataObject) -> None:
    text = json.dumps(objects)
    found = answers_in(text[: data.draw(st.integers(1, len(text) - 1))])
    assert isinstance(found, Unreadable)
    assert "isn't finished" in found.reason


@settings(max_examples=300)
@given(st.text('{}[]"\\:,` \n1eNa', max_size=40) | st.text(max_size=40))
def test_any_text_gets_answers_or_a_sentence(said: str) -> None:
    found = answers_in(said)
    if isinstance(found, Unreadable):
        assert found.reason[0].islower()
        assert "\n" not in found.reason
    else:
        assert all(isinstance(each, dict) for each in found)


def test_a_long_answer_ends_soon() -> None:
    for said in (
        '{"' * 50_000,
        "[{" * 50_000,
        "```\n" * 50_000,
        "```json\n{}\n" * 20_000,
        "[ " * 50_000,
        "{x} " * 50_000,
    ):
        answers_in(said)
