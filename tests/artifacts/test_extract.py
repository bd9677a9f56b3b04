import pytest

from artifacts.errors import PackageError
from artifacts.extract import compare_extraction, extract, json_difference
from schema.states import CheckOutcome

PAGE = (
    b"<html><body><p>Text &amp; more</p>"
    b'<script id="gavel-data" type="application/json">{"a": "&lt;b>", "n": 1}</script></body></html>'
)


def test_a_script_is_taken_as_it_stands() -> None:
    """Inside a script nothing is markup and nothing is an entity, so nothing may be decoded."""
    assert extract(PAGE, "script#gavel-data", "p.html") == '{"a": "&lt;b>", "n": 1}'


def test_in_a_paragraph_entities_are_text() -> None:
    assert extract(PAGE, "p", "p.html") == "Text & more"


@pytest.mark.parametrize(
    ("page", "selector", "expected"),
    [
        (PAGE, "script#other", "p.html: 'script#other' names no element; expected exactly one"),
        (b"<p>1</p><p>2</p>", "p", "p.html: 'p' names 2 elements; expected exactly one"),
        (PAGE, "p[", "'p[' is not a CSS selector"),
        (b"<p>\xff</p>", "p", "p.html line 1: byte 0xff isn't UTF-8; expected a UTF-8 file"),
    ],
)
def test_what_cannot_be_extracted(page: bytes, selector: str, expected: str) -> None:
    with pytest.raises(PackageError) as caught:
        extract(page, selector, "p.html")
    assert expected == str(caught.value)


SAME = [
    ('{"a":1}', b'{"a":1}', CheckOutcome.IDENTICAL),
    ('{"a":1}', b'{ "a" : 1.0 }\n', CheckOutcome.EQUAL),
    ('{"a":1,"b":2}', b'{"b":2,"a":1}', CheckOutcome.EQUAL),
    ("[0.1]", b"[1e-1]", CheckOutcome.EQUAL),
    ("[100000000000000000001]", b"[100000000000000000001.0]", CheckOutcome.EQUAL),
]


@pytest.mark.parametrize(("text", "data", "outcome"), SAME)
def test_same(text: str, data: bytes, outcome: CheckOutcome) -> None:
    assert compare_extraction(text, data, "f").outcome is outcome


DIFFERENT = [
    ('{"a":1}', b'{"a":true}', "differs from f at /a: 1 in the page, true in the file"),
    ('{"a":1}', b'{"a":"1"}', "differs from f at /a: 1 in the page, 1 in the file"),
    ('{"a":[1,2]}', b'{"a":[1]}', "differs from f at /a: 2 entries in the page, 1 in the file"),
    ('{"a":[1,{"b":2}]}', b'{"a":[1,{"b":3}]}', "differs from f at /a/1/b: 2 in the page, 3 in the file"),
    ('{"x/y":1}', b'{"a":1}', "differs from f at /a: only the file has it"),
    (
        "[0.1]",
        b"[0.10000000000000001]",
        "differs from f at /0: 0.1 in the page, 0.10000000000000001 in the file",
    ),
    ("a b\n", b"a  b", "differs from f in white space only"),
    ("a\nbc", b"a\nbd", "differs from f from byte 3 on (line 2 of the file)"),
    (
        "{",
        b"{}",
        "f is JSON, but the extracted text line 1 column 2: not JSON: expecting property name enclosed in "
        "double quotes",
    ),
]


@pytest.mark.parametrize(("text", "data", "detail"), DIFFERENT)
def test_different(text: str, data: bytes, detail: str) -> None:
    """Numbers are compared with all their digits, so what a double would swallow is still seen."""
    extraction = compare_extraction(text, data, "f")
    assert (CheckOutcome.DIFFERS, detail) == (extraction.outcome, extraction.detail)


def test_an_exponent_beyond_every_number_is_a_difference() -> None:
    giant = "1e999999999999999999999"
    assert compare_extraction("[1]", giant.encode(), "f").outcome is CheckOutcome.DIFFERS
    assert compare_extraction(giant, b"1", "f").detail == (
        f"f is JSON, but the extracted text line 1: {giant} is not a finite number; "
        "JSON has no NaN or infinity"
    )


def test_null_equals_null_only() -> None:
    assert json_difference(None, None) is None
    assert json_difference(None, False) is not None
