"""How states are spelt and drawn on a terminal. `schema.states` decides them; here they only get words."""

from catalog.commands.output import glyphs
from catalog.pages import ClaimView
from schema.artifact import Claim, Tolerance
from schema.states import CheckOutcome, ClaimKind, Depth, FileState, RunOutcome, ScreeningState, only_saved

DEPTH_WORDS = {
    Depth.SAVED: "saved",
    Depth.HASH: "hash",
    Depth.REAGGREGATED: "re-aggregated",
    Depth.RECOMPUTED: "recomputed",
}
RUN_STYLES = {
    RunOutcome.VERIFIED: "bold green",
    RunOutcome.FAILED: "bold red",
    RunOutcome.INCOMPLETE: "bold yellow",
}
FILE_STYLES = {
    FileState.MATCH: "green",
    FileState.MISMATCH: "red",
    FileState.MISSING: "red",
    FileState.UNLISTED: "red",
}


def depth(value: Depth) -> str:
    """Three bars and the word: `▮▮▯ re-aggregated`."""
    full, empty = ("▮", "▯") if glyphs() else ("#", "-")
    return f"{full * value.rank}{empty * (3 - value.rank)} {DEPTH_WORDS[value]}"


def independent(value: Depth | None) -> str:
    """A diamond and the depth that a second implementation confirmed, else nothing."""
    return "" if value is None else f"{'◆' if glyphs() else '*'} {DEPTH_WORDS[value]}"


def claim_outcome(view: ClaimView) -> str:
    """The outcome in words; a claim that nothing can compute is `saved only`."""
    outcome = view.standing.outcome
    if only_saved(outcome, bool(view.claim.evidence)):
        return "saved only"
    return outcome.value.replace("_", " ")


def outcome_style(outcome: CheckOutcome) -> str:
    """Green confirms, red denies, yellow says neither."""
    if outcome.confirms:
        return "green"
    return "red" if outcome.denies else "yellow"


def tolerance(value: Tolerance) -> str:
    """`exact`, `half unit`, `1e-9 relative`."""
    if value.value is None:
        return value.kind.replace("_", " ")
    return f"{value.value} {value.kind}"


def subject(claim: Claim) -> str:
    """A claim's id; a finding also says what it does to which claim."""
    if claim.kind is ClaimKind.FINDING and claim.relation is not None:
        return f"  finding, {claim.relation.kind}: {claim.id}"
    return claim.id


def screening(value: ScreeningState) -> str:
    """`agreed negative`."""
    return value.value.replace("_", " ")


def count(number: int, one: str, many: str | None = None) -> str:
    """`1 claim`, `2 claims`, `1,368 records`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def moment(timestamp: str) -> str:
    """`2026-11-29 14:02:11 UTC`, to the second."""
    return f"{timestamp[:10]} {timestamp[11:19]} UTC"


def short(number: str | None) -> str:
    """A difference with three digits, as `-5.24e-10`; zero and text stay as they are."""
    if not number:
        return ""
    from decimal import Decimal, InvalidOperation

    try:
        value = Decimal(number)
    except InvalidOperation:
        return number
    if value == 0:
        return "0"
    plain = format(value, "f")
    return (
        plain
        if len(plain.lstrip("-").replace(".", "").strip("0")) <= 3 and len(plain) <= 8
        else f"{value:.2e}"
    )
