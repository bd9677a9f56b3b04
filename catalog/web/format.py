"""How numbers, digits, dates, sizes and states are written for a reader. Text in, text out."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation, localcontext
from urllib.parse import quote, urlsplit

from schema.artifact import Claim, Tolerance
from schema.states import CheckOutcome, Depth, FileState, RunOutcome, ScreeningState, only_saved

MINUS = "−"
_SUPERSCRIPT = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True)
class Digits:
    """A number cut for print: what agrees with the stored one, what differs, what goes beyond it."""

    same: str = ""
    differing: str = ""
    beyond: str = ""


def digits(stored: str, computed: str, strict: bool = False) -> Digits:
    """Cut `computed` where it begins to differ from `stored`.

    A number that gives `stored` when rounded to its last printed place differs nowhere: its further
    digits are `beyond`. Else digits are compared place by place from the decimal point, and from the
    first that differs everything is `differing`. With `strict`, for a number that was found to
    differ, further digits differ too. Numbers of equal value, and equal texts, differ nowhere.
    """
    ours, theirs = _decimal(computed), _decimal(stored)
    if stored == computed or (ours is not None and ours == theirs):
        return Digits(same=computed)
    if ours is None or theirs is None:
        return Digits(differing=computed)
    if "e" in (stored + computed).lower():
        near = not strict and _rounds_to(ours, theirs)
        return Digits(beyond=computed) if near else Digits(differing=computed)
    start = len(computed) - len(computed.lstrip("+-"))
    here, there = computed[start:], stored.lstrip("+-")
    if not strict and len(_fraction(here)) > len(_fraction(there)) and _rounds_to(ours, theirs):
        cut = start + len(_whole(here)) + (len(_fraction(there)) + 1 if _fraction(there) else 0)
        return Digits(same=computed[:cut], beyond=computed[cut:])
    if ours.is_signed() != theirs.is_signed() or len(_whole(here)) != len(_whole(there)):
        return Digits(differing=computed)
    agreeing = next((n for n, pair in enumerate(zip(here, there, strict=False)) if pair[0] != pair[1]), None)
    # When every digit agrees, one number goes on: they part after the last place that both print.
    cut = start + (min(len(there), len(here) - 1) if agreeing is None else agreeing)
    return Digits(same=computed[:cut], differing=computed[cut:])


def _rounds_to(value: Decimal, printed: Decimal) -> bool:
    """Whether the value, rounded to the last place of the printed number, is that number."""
    step = Decimal(1).scaleb(int(printed.as_tuple().exponent))
    with localcontext() as context:
        context.prec = 200
        return abs(value - printed) <= step / 2


def _whole(text: str) -> str:
    return text.partition(".")[0]


def _fraction(text: str) -> str:
    return text.partition(".")[2]


def _decimal(text: str) -> Decimal | None:
    try:
        value = Decimal(text)
    except InvalidOperation:
        return None
    return value if value.is_finite() else None


def signed(difference: str | None) -> str:
    """A difference with its sign, short enough to read: +0.343137, −5.2 × 10⁻¹⁰, 0."""
    value = _decimal(difference) if difference is not None else None
    if value is None:
        return difference or ""
    if value == 0:
        return "0"
    sign = MINUS if value < 0 else "+"
    return sign + magnitude(abs(value))


def magnitude(value: Decimal) -> str:
    """A positive number with few digits; powers of ten once it is very small or large."""
    exponent = value.adjusted()
    if -4 <= exponent < 9:
        return format(_rounded(value, 6), ",f")
    mantissa = _rounded(value.scaleb(-exponent), 2)
    if mantissa >= 10:
        mantissa, exponent = mantissa / 10, exponent + 1
    power = str(exponent).translate(_SUPERSCRIPT)
    return f"{format(mantissa.normalize(), 'f')} × 10{power}"


def _rounded(value: Decimal, significant: int) -> Decimal:
    """To so many significant digits, but never to less than the whole number."""
    step = Decimal(1).scaleb(min(0, value.adjusted() - significant + 1))
    return value.quantize(step).normalize()


def gap(from_value: str, to_value: str) -> str:
    """How far one stored number lies from another, signed; empty when they aren't numbers."""
    start, end = _decimal(from_value), _decimal(to_value)
    return "" if start is None or end is None else signed(str(end - start))


def tolerance(allowed: Tolerance) -> str:
    """How far a recomputed number may lie from the stored one."""
    if allowed.kind == "exact":
        return "exact"
    if allowed.kind == "half_unit":
        return "half a unit"
    value = _decimal(allowed.value or "")
    size = magnitude(value) if value else (allowed.value or "0")
    return f"{size} {allowed.kind}"


def with_unit(claim: Claim) -> str:
    """The unit, set off from its number; empty without one."""
    return f" {claim.unit}" if claim.unit else ""


def count(number: int) -> str:
    """1,368"""
    return f"{number:,}"


def plural(number: int, one: str, many: str | None = None) -> str:
    """1 claim, 2 claims"""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def size(number: int) -> str:
    """Bytes as people read them; exact below a kilobyte."""
    if number < 1000:
        return plural(number, "byte")
    value = float(number)
    for unit in ("kB", "MB", "GB", "TB"):
        value /= 1000
        if value < 999.5 or unit == "TB":
            return f"{value:.3g} {unit}" if value < 999.5 else f"{value:,.0f} {unit}"
    raise AssertionError("unreachable")


def moment(timestamp: str) -> str:
    """29 Nov 2026, 14:02 UTC"""
    when = _when(timestamp)
    return f"{day(timestamp)}, {when:%H:%M} UTC" if when else timestamp


def day(timestamp: str) -> str:
    """29 Nov 2026"""
    when = _when(timestamp)
    return f"{when.day} {_MONTHS[when.month - 1]} {when.year}" if when else timestamp


def _when(timestamp: str) -> datetime | None:
    try:
        return datetime.fromisoformat(timestamp.replace("Z", "+00:00"))
    except ValueError:
        return None


def names(people: tuple[str, ...], most: int = 3) -> str:
    """A, B and C; a long list ends with how many more there are."""
    if len(people) > most + 1:
        return f"{', '.join(people[:most])} and {len(people) - most} more"
    if len(people) < 2:
        return "".join(people)
    return f"{', '.join(people[:-1])} and {people[-1]}"


def words(identifier: str) -> str:
    """A vocabulary's identifier as words: metaepi_narrow -> metaepi narrow."""
    return identifier.replace("_", " ")


def web_link(url: str | None) -> str | None:
    """The address, if following it can only mean opening a web page; else None."""
    try:
        parts = urlsplit(url or "")
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.netloc else None


def identifier_link(scheme: str, value: str) -> str | None:
    """Where an identifier resolves, or None."""
    prefix = {
        "doi": "https://doi.org/",
        "arxiv": "https://arxiv.org/abs/",
        "pmid": "https://pubmed.ncbi.nlm.nih.gov/",
        "openalex": "https://openalex.org/",
    }.get(scheme)
    if prefix:
        return prefix + quote(value, safe="/.:()-_;")
    return web_link(value) if scheme == "url" else None


IDENTIFIER_NAMES = {
    "doi": "DOI",
    "arxiv": "arXiv",
    "pmid": "PubMed",
    "openalex": "OpenAlex",
    "isbn": "ISBN",
    "url": "URL",
    "other": "Other",
}

# Outcome: a word that says it, and a tone that only repeats it -------------------------------------

DEPTH_WORDS = {
    Depth.SAVED: "saved only",
    Depth.HASH: "bytes unchanged",
    Depth.REAGGREGATED: "re-aggregated",
    Depth.RECOMPUTED: "recomputed",
}
DEPTH_SENTENCES = {
    Depth.SAVED: "saved only: nothing stands behind it yet",
    Depth.HASH: "hash: the package's bytes are unchanged",
    Depth.REAGGREGATED: "re-aggregated from the package's saved outputs",
    Depth.RECOMPUTED: "recomputed from primary inputs",
}
# A run's depth is that of the least of its confirmed claims.
RUN_DEPTH_WORDS = {
    Depth.SAVED: "nothing confirmed",
    Depth.HASH: "bytes unchanged",
    Depth.REAGGREGATED: "at least re-aggregated",
    Depth.RECOMPUTED: "recomputed",
}
RUN_WORDS = {
    RunOutcome.VERIFIED: "Verified",
    RunOutcome.FAILED: "Failed",
    RunOutcome.INCOMPLETE: "Incomplete",
}
RUN_TONES = {RunOutcome.VERIFIED: "ok", RunOutcome.FAILED: "bad", RunOutcome.INCOMPLETE: "saved"}
FILE_WORDS = {
    FileState.MATCH: "match",
    FileState.MISMATCH: "mismatch",
    FileState.MISSING: "missing",
    FileState.UNLISTED: "not listed",
}
_OUTCOME_WORDS = {
    CheckOutcome.IDENTICAL: "identical",
    CheckOutcome.EQUAL: "equal, written differently",
    CheckOutcome.WITHIN_TOLERANCE: "within tolerance",
    CheckOutcome.DIFFERS: "differs",
    CheckOutcome.NOT_PRODUCED: "not produced",
    CheckOutcome.CRASHED: "crashed",
    CheckOutcome.TIMED_OUT: "timed out",
    CheckOutcome.REFUSED: "refused",
    CheckOutcome.NOT_RECOMPUTED: "not recomputed",
}
STATE_SENTENCES = {
    ScreeningState.UNKNOWN: "no usable vote",
    ScreeningState.UNSUPPORTED: "a model head without enough support, and no direct vote",
    ScreeningState.AGREED_POSITIVE: "every usable vote found it in scope",
    ScreeningState.AGREED_NEGATIVE: "every usable vote found it out of scope",
    ScreeningState.CONTESTED: "votes differ, two or more for it",
    ScreeningState.SINGLE_SOURCE: "exactly one vote for it",
}


def outcome(result: CheckOutcome, has_evidence: bool = True) -> str:
    """The outcome as a word. A claim that names no evidence is saved only."""
    if only_saved(result, has_evidence):
        return "saved only"
    return _OUTCOME_WORDS[result]


def source_outcome(result: CheckOutcome) -> str:
    """The same for a source: one that no file stands for is only recorded."""
    return "recorded only" if result is CheckOutcome.NOT_RECOMPUTED else _OUTCOME_WORDS[result]


def outcome_tone(result: CheckOutcome) -> str:
    """ok, bad, or saved for what was neither confirmed nor denied."""
    if result.confirms:
        return "ok"
    return "bad" if result.denies else "saved"


def status_tone(status: str) -> str:
    """score for a status that lets a number rank only, model for any other word of a machine."""
    return "score" if status.startswith("score_only") else "model"


def file_tone(state: FileState | None) -> str:
    """ok, bad, or saved for a file not checked yet."""
    if state is None:
        return "saved"
    return "ok" if state is FileState.MATCH else "bad"
