"""Numbers and dates as traces write them, exact: what can't be one is refused in a sentence."""

from __future__ import annotations

import re
from datetime import datetime
from fractions import Fraction

from scheduling_core.errors import SchedulingError

Number = int | Fraction
LARGEST = 10**15
"""Beyond any time or count in a trace, in any unit."""
DECIMALS = 12

_NUMBER = re.compile(r"[+-]?[0-9]{1,25}(?:\.[0-9]{0,40})?(?:[eE][+-]?[0-9]{1,2})?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}")
_ZERO = datetime(1970, 1, 1)


def shown(value: object) -> str:
    """A value as told in a sentence: short, and never a whole document."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def is_unicode(text: str) -> bool:
    """Whether a text can be written: half a surrogate pair passes JSON, but has no bytes."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def number_of(text: str, what: str, expected: str) -> Number:
    """A number, exact; NaN and infinity are none.

    Raises
    ------
    SchedulingError : for anything else, one beyond `LARGEST`, or with more than `DECIMALS` decimals.
    """
    if text.isascii() and text.isdigit() and len(text) <= 15:
        return int(text)
    if _NUMBER.fullmatch(text) is None:
        raise SchedulingError(f"{what} is {shown(text)}, expected {expected}.")
    found = Fraction(text)
    if abs(found) > LARGEST:
        raise SchedulingError(f"{what} is {shown(text)}, expected {expected}, at most {LARGEST:.0e}.")
    if 10**DECIMALS % found.denominator:
        raise SchedulingError(
            f"{what} is {shown(text)}, expected {expected} with at most {DECIMALS} decimals."
        )
    return found.numerator if found.denominator == 1 else found


def time_of(text: str, what: str, unit: str) -> Number:
    """A point in time, 0 or later."""
    expected = f"{unit} from 0"
    found = number_of(text, what, expected)
    if found < 0:
        raise SchedulingError(f"{what} is {shown(text)}, expected {expected}.")
    return found


def length_of(text: str, what: str, unit: str) -> Number:
    """A length of time, or another amount that is more than 0."""
    expected = f"{unit} above 0"
    found = number_of(text, what, expected)
    if found <= 0:
        raise SchedulingError(f"{what} is {shown(text)}, expected {expected}.")
    return found


def count_of(text: str, what: str, least: int = 1) -> int:
    """A whole number from `least`; "8.0" is one."""
    expected = f"a whole number from {least}"
    found = number_of(text, what, expected)
    if found < least or not isinstance(found, int):
        raise SchedulingError(f"{what} is {shown(text)}, expected {expected}.")
    return found


def date_of(text: object, what: str) -> int:
    """A date and time without a zone, as seconds since 1970 as if it were UTC."""
    if isinstance(text, str) and _DATE.fullmatch(text):
        try:
            return int((datetime.fromisoformat(text) - _ZERO).total_seconds())
        except ValueError:
            pass
    raise SchedulingError(f"{what} is {shown(text)}, expected a date such as 2017-10-07 01:11:39.")
