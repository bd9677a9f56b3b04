"""A claim against what an analysis gave: numbers as numbers, within the claim's own tolerance."""

import difflib
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, DivisionByZero, InvalidOperation, Overflow
from typing import Any

from jsonpointer import JsonPointer, JsonPointerException

from schema.artifact import Claim, Tolerance
from schema.base import canonical_json
from schema.states import CheckOutcome

_SHOWN = 200
_KEPT = 10_000
# Enough for a difference of any two doubles or claims to be exact; see `_exact`.
_EXPONENT_SPAN = 21_000


@dataclass(frozen=True)
class Comparison:
    """Outcome, what was observed as text, and observed minus claimed for two numbers."""

    outcome: CheckOutcome
    observed: str
    difference: str | None = None
    detail: str | None = None


class NotProduced(LookupError):
    """An analysis gives nothing where a claim points; the message says how far the pointer leads."""


def compare(claim: Claim, observed: Any) -> Comparison:
    """Compare one claim with one JSON value.

    A number is taken exactly: an integer by its digits, a float by the shortest decimal that gives
    it back. *identical* is the same text, *equal* the same number written in another way. What isn't
    of the claim's type (a NaN, null, text for a number, true for 1) differs, and says so.
    """
    text = observed_text(observed)
    if claim.type == "number":
        return _compare_number(claim, observed, text)
    wanted = "true or false" if claim.type == "boolean" else "text"
    if isinstance(observed, bool if claim.type == "boolean" else str):
        if text == claim.value:
            return Comparison(CheckOutcome.IDENTICAL, text)
        return Comparison(CheckOutcome.DIFFERS, _kept(text))
    return Comparison(
        CheckOutcome.DIFFERS, _kept(text), None, f"{_kind(observed)} came out where {wanted} is claimed"
    )


def observed_text(observed: Any) -> str:
    """A JSON value as the text that a person compares; a container as canonical JSON, cut when long."""
    if isinstance(observed, bool):
        return "true" if observed else "false"
    if observed is None:
        return "null"
    if isinstance(observed, str):
        return observed
    if isinstance(observed, (int, float, Decimal)):
        return _number_text(observed)
    text = canonical_json(observed).decode("utf-8")
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def value_at(outputs: Any, pointer: str) -> Any:
    """The value at a JSON Pointer (RFC 6901). Raises NotProduced with where it leads nowhere."""
    try:
        parts = JsonPointer(pointer).parts
    except JsonPointerException as error:
        raise NotProduced(f"{pointer!r} is not a JSON Pointer") from error
    value, walked = outputs, ""
    for part in parts:
        here = f"{walked!r}" if walked else "the top"
        if isinstance(value, dict):
            if part not in value:
                close = difflib.get_close_matches(part, [k for k in value if isinstance(k, str)], n=1)
                hint = f"; did you mean {close[0]!r}?" if close else _names_of(value)
                raise NotProduced(f"the analysis gives no {part!r} at {here}{hint}")
            value = value[part]
        elif isinstance(value, list):
            if not (part.isascii() and part.isdigit()) or (len(part) > 1 and part[0] == "0"):
                raise NotProduced(f"{part!r} is no position in the list at {here}")
            if len(part) > 15 or int(part) >= len(value):
                raise NotProduced(f"the list at {here} ends before {part}; its length is {len(value)}")
            value = value[int(part)]
        else:
            raise NotProduced(f"{_kind(value)} stands at {here}, so nothing is below it at {part!r}")
        walked += "/" + part
    return value


def half_unit(value: str) -> Decimal:
    """Half a unit of the last digit that a decimal text prints: 0.005 for '7.75', 50 for '1.2e3'."""
    exponent = Decimal(value).as_tuple().exponent
    assert isinstance(exponent, int)
    return Decimal((0, (5,), exponent - 1))


def _compare_number(claim: Claim, observed: Any, text: str) -> Comparison:
    if isinstance(observed, bool) or not isinstance(observed, (int, float, Decimal)):
        detail = f"{_kind(observed)} came out where a number is claimed"
        return Comparison(CheckOutcome.DIFFERS, _kept(text), None, detail)
    number = Decimal(text)
    if not number.is_finite():
        return Comparison(CheckOutcome.DIFFERS, text, None, f"{text} came out, which is no finite number")
    if text == claim.value:
        return Comparison(CheckOutcome.IDENTICAL, text, "0")
    claimed = Decimal(claim.value)
    exact = _exact(claim.value, text)
    difference = exact.subtract(number, claimed)
    if not difference:
        return Comparison(CheckOutcome.EQUAL, text, "0")
    allowed = _allowed(claim.tolerance, claim.value, exact)
    within = exact.compare(exact.abs(difference), allowed) <= 0
    outcome = CheckOutcome.WITHIN_TOLERANCE if within else CheckOutcome.DIFFERS
    return Comparison(outcome, text, _difference_text(difference, exact))


def _allowed(tolerance: Tolerance, claimed: str, exact: Context) -> Decimal:
    if tolerance.kind == "half_unit":
        return half_unit(claimed)
    if tolerance.value is None:
        return Decimal(0)
    if tolerance.kind == "relative":
        return exact.multiply(Decimal(tolerance.value), exact.abs(Decimal(claimed)))
    return Decimal(tolerance.value)


def _exact(*numbers: str) -> Context:
    """A context in which sums of these numbers aren't rounded (nor products with a tolerance)."""
    digits = _EXPONENT_SPAN + 2 * sum(len(n) for n in numbers)
    return Context(
        prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[InvalidOperation, DivisionByZero, Overflow]
    )


def _number_text(number: int | float | Decimal) -> str:
    if isinstance(number, float):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(repr(number), repr(number))
    if isinstance(number, int):
        return str(Decimal(number))  # exact, and without the interpreter's limit on digits
    return str(number)


def _difference_text(difference: Decimal, exact: Context) -> str:
    plain = exact.create_decimal(difference).normalize(exact)
    if -7 <= plain.adjusted() <= 20:
        return f"{plain:f}"
    return str(plain)


def _kept(text: str) -> str:
    """A text that differs, as it is recorded: its beginning where it is longer than anybody reads."""
    return text if len(text) <= _KEPT else f"{text[:_KEPT]}... ({len(text)} characters)"


def _names_of(value: dict[str, Any]) -> str:
    names = sorted(value)[:8]
    return f"; it gives {', '.join(names)}" if names else "; it gives nothing"


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "a text"
    if isinstance(value, (int, float, Decimal)):
        return "a number"
    return "a list" if isinstance(value, list) else "an object"
