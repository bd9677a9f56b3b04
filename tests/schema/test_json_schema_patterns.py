"""The exported JSON Schema refuses what the records refuse, for strings that carry a rule."""

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from schema.base import DecimalString, PackagePath

KINDS = {
    "decimal": TypeAdapter[str](DecimalString),
    "path": TypeAdapter[str](PackagePath),
}


def record_accepts(kind: str, text: str) -> bool:
    try:
        KINDS[kind].validate_python(text)
    except ValidationError:
        return False
    return True


def schema_accepts(kind: str, text: str) -> bool:
    return jsonschema.Draft202012Validator(KINDS[kind].json_schema()).is_valid(text)


@pytest.mark.parametrize("text", ["7.750821276", "1.000000", "-.5", "1e-9", "0", "+3."])
def test_decimals_that_both_accept(text: str) -> None:
    assert (record_accepts("decimal", text), schema_accepts("decimal", text)) == (True, True)


@pytest.mark.parametrize("text", ["NaN", "inf", "", "1,5", "0x10", "1e", ".", "1 "])
def test_decimals_that_both_refuse(text: str) -> None:
    assert (record_accepts("decimal", text), schema_accepts("decimal", text)) == (False, False)


@pytest.mark.parametrize("text", ["a.csv", "inputs/a.csv", "a/.hidden", "..a/b", "a b/ü.txt"])
def test_paths_that_both_accept(text: str) -> None:
    assert (record_accepts("path", text), schema_accepts("path", text)) == (True, True)


@pytest.mark.parametrize(
    "text", ["/etc/passwd", "../a", "a/../b", "a/..", "./a", "a//b", "a/", "C:/a", "a\\b", "a\nb", ""]
)
def test_paths_that_both_refuse(text: str) -> None:
    assert (record_accepts("path", text), schema_accepts("path", text)) == (False, False)


@given(st.text(alphabet="01.eE+-", max_size=8))
def test_decimals_agree(text: str) -> None:
    assert record_accepts("decimal", text) == schema_accepts("decimal", text)


@given(st.text(alphabet="a./\\C:\n", max_size=8))
def test_paths_agree(text: str) -> None:
    assert record_accepts("path", text) == schema_accepts("path", text)
