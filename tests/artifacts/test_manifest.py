import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from artifacts.errors import PackageError
from artifacts.manifest import parse_manifest, parse_screening

SHA = "a" * 64


@pytest.fixture
def whole(draft: dict[str, Any]) -> dict[str, Any]:
    draft["files"] = [
        {"path": "inputs/jobs.csv", "role": "input", "bytes": 1, "sha256": SHA},
        {"path": "outputs/trace.json", "role": "output", "bytes": 1, "sha256": SHA},
    ]
    return draft


def sentence(data: bytes | dict[str, Any]) -> str:
    """The one sentence that bad input gets."""
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    with pytest.raises(PackageError) as caught:
        parse_manifest(raw)
    message = str(caught.value)
    assert "\n" not in message
    assert "Traceback" not in message
    return message


def test_a_good_manifest_survives_a_round_trip(whole: dict[str, Any]) -> None:
    manifest = parse_manifest(json.dumps(whole).encode())
    again = parse_manifest(manifest.model_dump_json().encode())
    assert manifest == again


MALFORMED = {
    b"": ": is empty; expected a JSON document",
    b"[]": ": holds a list; expected an object with the package's fields",
    b"null": ": holds null; expected an object with the package's fields",
    b'{\n  "id": "x",,\n}': " line 2 column 13: not JSON: expecting property name enclosed in double quotes",
    b'{"a": 1,\n "b": {\n  "c": 1, "c": 2}}': " line 2: the object that begins here has the key 'c' "
    "twice; each key may stand once",
    b'{"a": "NaN",\n "b": NaN}': " line 2: NaN is not a finite number; JSON has no NaN or infinity",
    b'{"a":\n -Infinity}': " line 2: -Infinity is not a finite number; JSON has no NaN or infinity",
    b'{"a": 1e999}': " line 1: 1e999 is not a finite number; JSON has no NaN or infinity",
    b"\xef\xbb\xbf{}": ": begins with a byte order mark (BOM); expected plain UTF-8 without one",
    b"\xff\xfe{\x00}\x00": ": is UTF-16; expected UTF-8",
    b'{"a":\n "\xe9"}': " line 2: byte 0xe9 isn't UTF-8; expected a UTF-8 file",
    b'{"a": "\\ud800"}': ": holds half a surrogate pair (\\ud800 to \\udfff), which is no character",
    b"[" * 100_000: ": is nested too deeply to be read",
    b'{"a": ' + b"1" * 5000 + b"}": ": holds an integer with too many digits to be read",
}


@pytest.mark.parametrize(("data", "expected"), MALFORMED.items(), ids=[str(i) for i in range(len(MALFORMED))])
def test_malformed(data: bytes, expected: str) -> None:
    assert sentence(data) == f"manifest.json{expected}"


def test_an_unknown_field_is_named_with_the_likely_one(whole: dict[str, Any]) -> None:
    whole["claims"][1]["tolerence"] = {}
    assert sentence(whole) == "manifest.json: claims[1].tolerence: no such field; did you mean 'tolerance'?"


def test_an_unknown_field_unlike_any_gets_the_list(whole: dict[str, Any]) -> None:
    whole["files"][0]["zzz"] = 1
    assert sentence(whole).startswith(
        "manifest.json: files[0].zzz: no such field; expected one of path, role, bytes"
    )


def test_a_missing_field_is_named(whole: dict[str, Any]) -> None:
    del whole["licence"]
    assert sentence(whole) == "manifest.json: licence: is missing"


def test_more_problems_are_counted(whole: dict[str, Any]) -> None:
    del whole["licence"], whole["title"]
    assert sentence(whole) == "manifest.json: title: is missing (and 1 more)"


def test_a_wrong_hash_is_named_by_its_field(whole: dict[str, Any]) -> None:
    whole["files"][0]["sha256"] = "ABC"
    assert sentence(whole) == (
        "manifest.json: files[0].sha256: 'ABC' isn't a SHA-256; expected 64 lower-case hexadecimal digits"
    )


def test_an_id_that_is_no_slug(whole: dict[str, Any]) -> None:
    whole["id"] = "My Package"
    assert sentence(whole).startswith(
        "manifest.json: id: 'My Package' isn't an id; expected lower-case letters"
    )


@pytest.mark.parametrize(
    "value", ["NaN", "Infinity", "-inf", "1,5", "0x10", "", "1e99999", "seven", "\u0663"]
)
def test_a_number_that_is_no_finite_decimal(whole: dict[str, Any], value: str) -> None:
    """A claimed score of NaN or infinity can never be compared, so it can't be claimed."""
    whole["claims"][0]["value"] = value
    message = sentence(whole)
    assert message.startswith("manifest.json: claims[0]")
    assert "finite decimal number" in message or "empty text" in message


def test_a_number_that_should_be_text(whole: dict[str, Any]) -> None:
    """Values are decimal text, so that '1.000000' keeps its digits."""
    whole["claims"][0]["value"] = 20
    assert sentence(whole) == "manifest.json: claims[0].value: expected text, not the number 20"


PATHS = {
    "../secret": "leads outside the package",
    "inputs/../../secret": "leads outside the package",
    "/etc/passwd": "is an absolute path",
    "C:/windows": "is an absolute path",
    "inputs\\jobs.csv": "holds a backslash or a control character",
    "inputs/a\rb": "holds a backslash or a control character",
    "./inputs/a": "has an empty or '.' part",
    "inputs//a": "has an empty or '.' part",
    "inputs/a\u0000": "holds a backslash or a control character",
}


@pytest.mark.parametrize(("path", "expected"), PATHS.items())
def test_paths_that_leave_the_package(whole: dict[str, Any], path: str, expected: str) -> None:
    whole["files"][0]["path"] = path
    message = sentence(whole)
    assert message.startswith("manifest.json: files[0].path: ")
    assert expected in message


def test_an_id_given_twice(whole: dict[str, Any]) -> None:
    whole["claims"][1]["id"] = "mean-steps"
    assert sentence(whole) == "manifest.json: claim 'mean-steps' is there twice; each may stand once"


def test_names_that_clash_where_case_is_ignored(whole: dict[str, Any]) -> None:
    whole["files"].append({**whole["files"][0], "path": "inputs/JOBS.csv"})
    assert "is there twice" in sentence(whole)


def test_a_file_that_is_also_a_folder(whole: dict[str, Any]) -> None:
    whole["files"].append({**whole["files"][0], "path": "inputs/jobs.csv/part"})
    assert sentence(whole) == (
        "manifest.json: file 'inputs/jobs.csv' can't also be the folder of 'inputs/jobs.csv/part'"
    )


def test_a_claim_that_points_nowhere(whole: dict[str, Any]) -> None:
    whole["claims"][0]["evidence"][0]["analysis"] = "nothing"
    assert (
        sentence(whole) == "manifest.json: claim mean-steps: points to analysis 'nothing', which isn't there"
    )


@pytest.mark.parametrize("pointer", ["rows/0/0", "/rows~", "/rows~2", "#/rows"])
def test_a_pointer_that_is_no_json_pointer(whole: dict[str, Any], pointer: str) -> None:
    """RFC 6901: each part begins with a slash, and a tilde stands only in ~0 and ~1."""
    whole["claims"][0]["evidence"][0]["pointer"] = pointer
    assert sentence(whole) == (
        f"manifest.json: claims[0].evidence[0].pointer: {pointer!r} isn't a JSON Pointer; "
        "expected something like '/rows/0/0'"
    )


def test_an_input_that_is_not_among_the_files(whole: dict[str, Any]) -> None:
    whole["analyses"][0]["inputs"]["jobs"] = "inputs/others.csv"
    assert "analysis from-jobs: input 'jobs' is 'inputs/others.csv', not among `files`" in sentence(whole)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda c: st.lists(c, max_size=4) | st.dictionaries(st.text(max_size=8), c, max_size=4),
        max_leaves=15,
    )
)
@settings(max_examples=100, deadline=None)
def test_no_json_at_all_gets_anything_but_a_sentence(value: Any) -> None:
    with pytest.raises(PackageError, match=r"\Amanifest\.json[^\n]*\Z"):
        parse_manifest(json.dumps(value).encode())


@given(st.sampled_from(["files", "claims", "analyses", "work", "id", "sources", "created"]), st.data())
@settings(max_examples=100, deadline=None)
def test_no_wrong_field_gets_anything_but_a_sentence(field: str, data: st.DataObject) -> None:
    value = data.draw(
        st.none()
        | st.integers()
        | st.text(max_size=5)
        | st.lists(st.none() | st.dictionaries(st.text(), st.none()))
    )
    manifest = {
        "manifest_version": 1,
        "id": "a",
        "title": "t",
        "licence": "l",
        "work": {"id": "w", "title": "t"},
    }
    with pytest.raises(PackageError, match=r"^manifest\.json: "):
        parse_manifest(json.dumps({**manifest, field: value}).encode())


@given(st.binary(max_size=200))
@settings(max_examples=200, deadline=None)
def test_no_bytes_at_all_get_anything_but_a_sentence(data: bytes) -> None:
    with pytest.raises(PackageError, match=r"^manifest\.json"):
        parse_manifest(data)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"votes": 3}', "s.json: votes: expected a list, not the number 3"),
        (
            b'{"raters": [{"id": "a", "nmae": "x"}]}',
            "s.json: raters[0].nmae: no such field; did you mean 'name'?",
        ),
        (
            b'{"votes": [], "votes": []}',
            "s.json line 1: the object that begins here has the key 'votes' twice",
        ),
        (b"[]", "s.json: holds a list; expected an object with rounds, raters, votes"),
        (b"\xff", "s.json line 1: byte 0xff isn't UTF-8"),
    ],
)
def test_a_screening_file_is_read_as_strictly(data: bytes, expected: str) -> None:
    with pytest.raises(PackageError) as refused:
        parse_screening(data, "s.json")
    assert str(refused.value).startswith(expected)


@pytest.mark.parametrize(("value", "confirmed"), [("20", True), ("20.4", True), ("20.6", False)])
def test_a_finding_contradicts_only_from_outside_the_tolerance(
    whole: dict[str, Any], value: str, confirmed: bool
) -> None:
    """The claim says 20 with half a unit: 20.4 rounds to it and contradicts nothing, 20.6 doesn't."""
    whole["claims"][0]["tolerance"] = {"kind": "half_unit", "reason": "as printed"}
    finding = {**whole["claims"][0], "id": "ours", "value": value, "kind": "finding"}
    finding["relation"] = {"kind": "contradicts", "claim": "mean-steps", "reason": "counted again"}
    whole["claims"].append(finding)
    if confirmed:
        assert sentence(whole) == (
            f"manifest.json: claim ours: its value {value} lies within the tolerance of mean-steps (20), "
            "so it doesn't contradict it; 'extends' would fit"
        )
    else:
        assert len(parse_manifest(json.dumps(whole).encode()).claims) == 4


def test_a_draft_that_is_not_sealed_yet(whole: dict[str, Any]) -> None:
    """Sizes and hashes are for a machine to fill in; what a person has to mend comes first."""
    whole["files"] = [{"path": "jobs.csv", "role": "input"}]
    assert sentence(whole).endswith("`proofshelf seal FOLDER` fills in sizes and hashes")
    whole["claims"][0]["value"] = "1,500"
    assert "'1,500' is not a finite decimal number" in sentence(whole)


@pytest.mark.parametrize(
    "change",
    [
        {"id": "X" * 100_000},
        {"analyses": [{"id": "a", "kind": "x" * 100_000}]},
        {"claims": [{"id": "c", "text": "t", "value": "x" * 100_000}]},
        {"files": [{"path": "../" * 100_000, "role": "input", "bytes": 1, "sha256": SHA}]},
        {"y" * 100_000: 1},
    ],
)
def test_a_giant_value_leaves_the_sentence_readable(whole: dict[str, Any], change: dict[str, Any]) -> None:
    said = sentence(whole | change)
    assert len(said) < 600
    assert said.startswith("manifest.json: ")
