import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from artifacts.compare import NotProduced, compare, half_unit, observed_text, value_at
from schema.artifact import Claim, Tolerance
from schema.states import CheckOutcome

IDENTICAL, EQUAL = CheckOutcome.IDENTICAL, CheckOutcome.EQUAL
WITHIN, DIFFERS = CheckOutcome.WITHIN_TOLERANCE, CheckOutcome.DIFFERS


def claim(value: str, kind: str = "exact", size: str | None = None, type_: str = "number") -> Claim:
    tolerance = Tolerance(kind=kind, value=size, reason="a test")  # type: ignore[arg-type]
    return Claim(id="c", text="t", value=value, type=type_, tolerance=tolerance)  # type: ignore[arg-type]


NUMBERS: list[tuple[str, Any, CheckOutcome]] = [
    ("1", 1, IDENTICAL),
    ("1.0", 1.0, IDENTICAL),
    ("1.000000", 1.0, EQUAL),
    ("1", 1.0, EQUAL),
    ("1e0", 1, EQUAL),
    ("+1", 1, EQUAL),
    ("0.1", 0.1, IDENTICAL),
    ("0.10", 0.1, EQUAL),
    ("0", -0.0, EQUAL),
    ("0.1", 0.1 + 1e-18, IDENTICAL),
    ("0.3", 0.1 + 0.2, DIFFERS),
    ("0.987752", 0.9877520000000001, DIFFERS),
    ("9007199254740993", 9007199254740993, IDENTICAL),
    ("9007199254740993", 9007199254740992.0, DIFFERS),
    ("1e400", 10**400, EQUAL),
]


@pytest.mark.parametrize(("value", "observed", "outcome"), NUMBERS)
def test_exactly(value: str, observed: Any, outcome: CheckOutcome) -> None:
    """A float is the shortest decimal that gives it back; an integer is all of its digits."""
    assert compare(claim(value), observed).outcome is outcome


HALF_UNITS = [
    ("7.75", "0.005"),
    ("7.750821276", "0.0000000005"),
    ("7", "0.5"),
    ("700", "0.5"),
    ("100.", "0.5"),
    ("7.00", "0.005"),
    ("1.2e3", "50"),
    ("1e-3", "0.0005"),
    ("12E+2", "50"),
    (".5", "0.05"),
]


@pytest.mark.parametrize(("value", "half"), HALF_UNITS)
def test_half_a_unit_of_the_last_printed_digit(value: str, half: str) -> None:
    """1.2e3 prints its last digit in the hundreds, so half a unit is 50."""
    assert Decimal(half) == half_unit(value)


@pytest.mark.parametrize(
    ("value", "observed", "outcome"),
    [
        ("7.75", 7.754, WITHIN),
        ("7.75", 7.755, WITHIN),
        ("7.75", 7.745, WITHIN),
        ("7.75", 7.7551, DIFFERS),
        ("7.75", 7.7449, DIFFERS),
        ("7.750821276", 7.750821275476, DIFFERS),
        ("7.750821276", 7.7508212756, WITHIN),
        ("1.2e3", 1249, WITHIN),
        ("1.2e3", 1251, DIFFERS),
        ("-7.75", -7.755, WITHIN),
    ],
)
def test_half_unit_by_hand(value: str, observed: float, outcome: CheckOutcome) -> None:
    """Half a unit either way rounds to the claim; 7.750821275476 misses 7.750821276 by .524 of a unit."""
    assert compare(claim(value, "half_unit"), observed).outcome is outcome


decimals = st.decimals(min_value=-(10**6), max_value=10**6, places=6, allow_nan=False)
sizes = st.decimals(min_value=Decimal("1e-6"), max_value=10, places=6, allow_nan=False)


@given(decimals, sizes, st.sampled_from([1, -1]))
def test_absolute_tolerance_includes_its_boundary_and_nothing_more(
    value: Decimal, size: Decimal, sign: int
) -> None:
    """Decimals are exact, so the boundary is a point and not a neighbourhood."""
    tiny = Decimal("1e-9")
    stated = claim(str(value), "absolute", str(size))
    assert compare(stated, value + sign * size).outcome is WITHIN
    assert compare(stated, value + sign * (size + tiny)).outcome is DIFFERS
    assert compare(stated, value + sign * (size - tiny)).outcome is WITHIN


@given(decimals.filter(bool), sizes, st.sampled_from([1, -1]))
def test_relative_tolerance_is_a_part_of_the_claim(value: Decimal, size: Decimal, sign: int) -> None:
    stated = claim(str(value), "relative", str(size))
    tiny = Decimal("1e-15")
    edge = abs(value) * size
    assert compare(stated, value + sign * edge).outcome is WITHIN
    assert compare(stated, value + sign * (edge + tiny)).outcome is DIFFERS


@given(decimals, decimals, sizes)
def test_absolute_tolerance_is_symmetric(a: Decimal, b: Decimal, size: Decimal) -> None:
    """Which of two numbers is the claim can't matter, except for the sign of the difference."""
    there = compare(claim(str(a), "absolute", str(size)), b)
    back = compare(claim(str(b), "absolute", str(size)), a)
    assert there.outcome.confirms == back.outcome.confirms
    assert there.difference is not None
    assert back.difference is not None
    assert Decimal(there.difference) == -Decimal(back.difference)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_confirms_its_own_text(value: float) -> None:
    assert compare(claim(repr(value)), value).outcome is IDENTICAL


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
def test_the_difference_is_exact(a: float, b: float) -> None:
    """Observed minus claimed in decimals, also where doubles would lose it."""
    compared = compare(claim(repr(a)), b)
    with_all_digits = Decimal(repr(b)).as_integer_ratio()
    theirs = Decimal(repr(a)).as_integer_ratio()
    assert compared.difference is not None
    difference = Decimal(compared.difference).as_integer_ratio()
    left = with_all_digits[0] * theirs[1] - theirs[0] * with_all_digits[1]
    assert left * difference[1] == difference[0] * with_all_digits[1] * theirs[1]


def test_a_claim_of_nothing_has_no_relative_room() -> None:
    assert compare(claim("0", "relative", "0.5"), 1e-300).outcome is DIFFERS


NOT_NUMBERS: list[tuple[Any, str, str]] = [
    (math.nan, "NaN", "NaN came out, which is no finite number"),
    (math.inf, "Infinity", "Infinity came out, which is no finite number"),
    (-math.inf, "-Infinity", "-Infinity came out, which is no finite number"),
    (None, "null", "null came out where a number is claimed"),
    (True, "true", "true came out where a number is claimed"),
    ("1", "1", "a text came out where a number is claimed"),
    ([1], "[1]", "a list came out where a number is claimed"),
    ({"a": 1}, '{"a":1}', "an object came out where a number is claimed"),
]


@pytest.mark.parametrize(("observed", "text", "detail"), NOT_NUMBERS)
def test_what_is_no_number_never_confirms_one(observed: Any, text: str, detail: str) -> None:
    compared = compare(claim("1", "absolute", "1e9"), observed)
    assert (DIFFERS, text, None, detail) == (
        compared.outcome,
        compared.observed,
        compared.difference,
        compared.detail,
    )


@pytest.mark.parametrize(
    ("value", "type_", "observed", "outcome"),
    [
        ("Fair", "text", "Fair", IDENTICAL),
        ("Fair", "text", "fair", DIFFERS),
        ("Fair", "text", "Fair ", DIFFERS),
        ("1", "text", 1, DIFFERS),
        ("true", "boolean", True, IDENTICAL),
        ("true", "boolean", False, DIFFERS),
        ("true", "boolean", 1, DIFFERS),
        ("true", "boolean", "true", DIFFERS),
        ("true", "text", True, DIFFERS),
    ],
)
def test_texts_and_booleans(value: str, type_: str, observed: Any, outcome: CheckOutcome) -> None:
    assert compare(claim(value, type_=type_), observed).outcome is outcome


OUTPUTS = {"a": [1, {"b/c": 2, "~": 3}], "": 4, "text": "abc"}


@pytest.mark.parametrize(
    ("pointer", "expected"),
    [("/a/0", 1), ("/a/1/b~1c", 2), ("/a/1/~0", 3), ("/", 4), ("", OUTPUTS)],
)
def test_pointers(pointer: str, expected: Any) -> None:
    """The escapes of RFC 6901: ~1 is a slash, ~0 a tilde, and the empty pointer is all of it."""
    assert expected == value_at(OUTPUTS, pointer)


@pytest.mark.parametrize(
    ("pointer", "expected"),
    [
        ("/tex", "the analysis gives no 'tex' at the top; did you mean 'text'?"),
        ("/zzz", "the analysis gives no 'zzz' at the top; it gives , a, text"),
        ("/a/2", "the list at '/a' ends before 2; its length is 2"),
        ("/a/-", "'-' is no position in the list at '/a'"),
        ("/a/01", "'01' is no position in the list at '/a'"),
        ("/a/-1", "'-1' is no position in the list at '/a'"),
        ("/text/0", "a text stands at '/text', so nothing is below it at '0'"),
        ("/a/0/x", "a number stands at '/a/0', so nothing is below it at 'x'"),
        ("/a~2", "'/a~2' is not a JSON Pointer"),
    ],
)
def test_pointers_that_lead_nowhere(pointer: str, expected: str) -> None:
    with pytest.raises(NotProduced) as caught:
        value_at(OUTPUTS, pointer)
    assert expected == str(caught.value)


def test_a_long_container_is_cut() -> None:
    assert len(observed_text(list(range(1000)))) == 200


@pytest.mark.parametrize("kind", ["text", "number"])
def test_a_giant_text_that_differs_is_recorded_by_its_beginning(kind: Any) -> None:
    value = "1" if kind == "number" else "x"
    claim = Claim(id="c", text="c", value=value, type=kind)
    observed = compare(claim, "y" * 60_000_000).observed
    assert observed == "y" * 10_000 + "... (60000000 characters)"


def test_a_giant_text_that_is_claimed_is_identical_all_the_same() -> None:
    giant = "y" * 1_000_000
    assert compare(Claim(id="c", text="c", value=giant, type="text"), giant).outcome is CheckOutcome.IDENTICAL
