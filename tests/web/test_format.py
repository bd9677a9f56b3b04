"""How numbers, digits, dates and links are written."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.web import format as f
from schema.artifact import Tolerance

DIGITS = [
    # stored, computed, same, differing, beyond
    ("7.750821276", "7.750821275476", "7.75082127", "5476", ""),
    ("6.441239771", "6.441239769850", "6.4412397", "69850", ""),
    ("7.750821", "7.750821275476", "7.750821", "", "275476"),
    ("6.441240", "6.441239770256", "6.441239", "", "770256"),
    ("1.000000", "0.9999999996", "0.999999", "", "9996"),
    ("9.000000", "9.0000000001", "9.000000", "", "0001"),
    ("9", "9.25", "9", "", ".25"),
    ("0.987752", "0.987761", "0.9877", "61", ""),
    ("8.1", "8.15", "8.1", "", "5"),
    ("8.1", "8.16", "8.1", "6", ""),
    ("7.5", "8.093958", "", "8.093958", ""),
    ("1368", "1369", "136", "9", ""),
    ("1368", "1368", "1368", "", ""),
    ("1.000000", "1", "1", "", ""),
    ("1.25", "1.2", "1.", "2", ""),
    ("10.5", "9.5", "", "9.5", ""),
    ("-1.5", "1.5", "", "1.5", ""),
    ("-1.5", "-1.6", "-1.", "6", ""),
    ("0", "1.7763568394002505e-15", "", "", "1.7763568394002505e-15"),
    ("1e-9", "1.1e-8", "", "1.1e-8", ""),
    ("true", "false", "", "false", ""),
    ("abc", "abc", "abc", "", ""),
    ("5", "NaN", "", "NaN", ""),
]


@pytest.mark.parametrize(("stored", "computed", "same", "differing", "beyond"), DIGITS)
def test_digits_are_cut_where_they_differ(
    stored: str, computed: str, same: str, differing: str, beyond: str
) -> None:
    assert f.digits(stored, computed) == f.Digits(same, differing, beyond)


def test_further_digits_of_a_number_that_differs_are_underlined() -> None:
    assert f.digits("1368", "1368.2", strict=True) == f.Digits("1368", ".2")
    assert f.digits("0", "1e-15", strict=True) == f.Digits("", "1e-15")


numbers = st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-1000, max_value=1000)


@given(numbers, numbers, st.booleans())
def test_no_digit_is_lost_or_made_up(one: Decimal, other: Decimal, strict: bool) -> None:
    cut = f.digits(str(one), str(other), strict)
    assert cut.same + cut.differing + cut.beyond == str(other)
    assert bool(cut.differing) == (one != other)


@pytest.mark.parametrize(
    ("difference", "written"),
    [
        ("0.343137401602", "+0.343137"),
        ("-5.24E-10", "−5.2 × 10⁻¹⁰"),
        ("9.99e-10", "+1 × 10⁻⁹"),
        ("0", "0"),
        ("0E-9", "0"),
        ("-1234567.8", "−1,234,568"),
        ("12345678901", "+1.2 × 10¹⁰"),
        ("not a number", "not a number"),
        (None, ""),
    ],
)
def test_a_difference_is_short_and_signed(difference: str | None, written: str) -> None:
    assert f.signed(difference) == written


def test_tolerances_say_their_size_and_kind() -> None:
    assert f.tolerance(Tolerance()) == "exact"
    assert f.tolerance(Tolerance(kind="half_unit", reason="printed")) == "half a unit"
    assert f.tolerance(Tolerance(kind="relative", value="1e-9", reason="solver")) == "1 × 10⁻⁹ relative"
    assert f.tolerance(Tolerance(kind="absolute", value="0", reason="none")) == "0 absolute"


@pytest.mark.parametrize(
    ("bytes_", "written"),
    [(0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (1500, "1.5 kB"), (999_999, "1 MB"), (10**9, "1 GB")],
)
def test_sizes(bytes_: int, written: str) -> None:
    assert f.size(bytes_) == written


def test_times() -> None:
    assert f.moment("2026-11-29T14:02:31.5Z") == "29 Nov 2026, 14:02 UTC"
    assert f.day("2026-11-02T09:00:00Z") == "2 Nov 2026"
    assert f.day("once upon a time") == "once upon a time"


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "JAVASCRIPT:x", "data:text/html,x", "//x.org", "http:", "http://[", "", None],
)
def test_only_web_addresses_become_links(url: str | None) -> None:
    assert f.web_link(url) is None


def test_identifiers_resolve_without_leaving_their_place() -> None:
    assert f.identifier_link("doi", "10.1000/a<b>?#x") == "https://doi.org/10.1000/a%3Cb%3E%3F%23x"
    assert f.identifier_link("url", "https://x.org/a") == "https://x.org/a"
    assert f.identifier_link("other", "https://x.org/a") is None


def test_names_end_with_how_many_more() -> None:
    assert f.names(("A",)) == "A"
    assert f.names(("A", "B", "C", "D")) == "A, B, C and D"
    assert f.names(("A", "B", "C", "D", "E")) == "A, B, C and 2 more"
