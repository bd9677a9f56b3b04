"""Every state, and the one place that decides it. Whoever shows a state asks here."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


class FileState(StrEnum):
    """What became of a file that a manifest lists, or that nobody listed."""

    MATCH = "match"
    MISMATCH = "mismatch"
    MISSING = "missing"
    UNLISTED = "unlisted"


class CheckOutcome(StrEnum):
    """What a recomputation says of a stored value."""

    IDENTICAL = "identical"
    EQUAL = "equal"
    WITHIN_TOLERANCE = "within_tolerance"
    DIFFERS = "differs"
    NOT_PRODUCED = "not_produced"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    REFUSED = "refused"
    NOT_RECOMPUTED = "not_recomputed"

    @property
    def confirms(self) -> bool:
        """True for the three outcomes that confirm a claim."""
        return self in (CheckOutcome.IDENTICAL, CheckOutcome.EQUAL, CheckOutcome.WITHIN_TOLERANCE)

    @property
    def denies(self) -> bool:
        """True where a computation ended and didn't give the value."""
        return self in (CheckOutcome.DIFFERS, CheckOutcome.NOT_PRODUCED)

    @property
    def could_not_run(self) -> bool:
        """True where no computation ended: neither for the claim nor against it."""
        return self in (CheckOutcome.CRASHED, CheckOutcome.TIMED_OUT, CheckOutcome.REFUSED)


class Depth(StrEnum):
    """What stands behind a claim, weakest first."""

    SAVED = "saved"
    HASH = "hash"
    REAGGREGATED = "reaggregated"
    RECOMPUTED = "recomputed"

    @property
    def rank(self) -> int:
        """0 for saved up to 3 for recomputed."""
        return list(Depth).index(self)


class ClaimKind(StrEnum):
    """Somebody's number, or one of ours that speaks of it."""

    PUBLISHED = "published"
    FINDING = "finding"


class RunOutcome(StrEnum):
    """The verdict on a whole run."""

    VERIFIED = "verified"
    FAILED = "failed"
    INCOMPLETE = "incomplete"

    @property
    def exit_code(self) -> int:
        """0 verified, 3 failed, 4 incomplete."""
        return {RunOutcome.VERIFIED: 0, RunOutcome.FAILED: 3, RunOutcome.INCOMPLETE: 4}[self]


class ScreeningState(StrEnum):
    """What a panel's votes say of one category of one work."""

    UNKNOWN = "unknown"
    UNSUPPORTED = "unsupported"
    AGREED_POSITIVE = "agreed_positive"
    AGREED_NEGATIVE = "agreed_negative"
    CONTESTED = "contested"
    SINGLE_SOURCE = "single_source"


class Call(StrEnum):
    """What a release's heads say of one category of one work, all sides together. Never a label."""

    UNKNOWN = "unknown"
    UNSUPPORTED = "unsupported"
    CONSENSUS = "consensus"
    CANDIDATE = "candidate"
    NO_CALL = "no_call"


class RowState(StrEnum):
    """Whether a student has something to score in a record, and if not, why. Never a score of 0."""

    SCORABLE = "scorable"
    NO_TEXT = "no_text"
    """Neither title nor abstract holds a word."""
    NO_KNOWN_TERMS = "no_known_terms"
    """It has words, but the model has seen none of them: its score would say nothing of it."""


class Status(StrEnum):
    """How far a row may be believed. Shipped verbatim with every row that it governs."""

    HUMAN_DIRECT = "human_direct"
    MACHINE_DIRECT = "machine_direct_unvalidated"
    MACHINE_PREDICTED = "machine_predicted_unvalidated"
    OUT_OF_FOLD = "out_of_fold_teacher_fidelity"
    SCORE_ONLY_IMMATURE = "score_only:v0-immature-baseline"
    SCORE_ONLY_MATURE = "score_only:mature"


def depth_of(roles: Iterable[str]) -> Depth:
    """How deep an analysis reaches that reads files with these roles.

    Only primary inputs (and code) make a recomputation; anything saved (an output, figure, notebook
    or source page) among them makes it a re-aggregation. Reading nothing at all recomputes nothing.
    """
    seen = set(roles)
    if "input" not in seen and not seen & {"output", "figure", "notebook", "source"}:
        return Depth.SAVED
    return Depth.RECOMPUTED if seen <= {"input", "code"} else Depth.REAGGREGATED


@dataclass(frozen=True)
class EvidenceResult:
    """One evidence of one claim after a run: outcome, depth it could reach, who computed it."""

    outcome: CheckOutcome
    depth: Depth
    implementation: str | None


@dataclass(frozen=True)
class Standing:
    """What a run lets us say of a claim.

    `independent` is the depth that a second implementation confirmed by itself, or None: it stands
    beside `depth` and is never above it.
    """

    outcome: CheckOutcome
    depth: Depth
    independent: Depth | None


_WORST_FIRST = (
    CheckOutcome.DIFFERS,
    CheckOutcome.NOT_PRODUCED,
    CheckOutcome.CRASHED,
    CheckOutcome.TIMED_OUT,
    CheckOutcome.REFUSED,
    CheckOutcome.NOT_RECOMPUTED,
)


def standing(evidence: Sequence[EvidenceResult], files_match: bool) -> Standing:
    """Decide one claim from all its evidence.

    Any evidence that denies the claim decides it; then any that couldn't run. A claim is confirmed
    by those that ran, none of them against it, at the deepest depth reached; evidence left out by
    the level of the run takes nothing away. Nothing recomputed leaves `hash` where the claim has
    evidence and the package's bytes match, else `saved`.
    """
    confirmed = [e for e in evidence if e.outcome.confirms]
    for outcome in _WORST_FIRST[:-1]:
        if any(e.outcome is outcome for e in evidence):
            return Standing(outcome, _unconfirmed(evidence, files_match), None)
    if not confirmed:
        return Standing(CheckOutcome.NOT_RECOMPUTED, _unconfirmed(evidence, files_match), None)
    main = max(confirmed, key=lambda e: e.depth.rank)
    others = [e.depth for e in confirmed if _another(e, main)]
    second = max(others, key=lambda d: d.rank) if others else None
    return Standing(main.outcome, main.depth, second)


def _another(one: EvidenceResult, other: EvidenceResult) -> bool:
    """Two known implementations that differ; an unknown one is never taken for another."""
    return None not in (one.implementation, other.implementation) and (
        one.implementation != other.implementation
    )


def _unconfirmed(evidence: Sequence[EvidenceResult], files_match: bool) -> Depth:
    return Depth.HASH if evidence and files_match else Depth.SAVED


def run_outcome(
    file_states: Iterable[FileState],
    source_outcomes: Iterable[CheckOutcome],
    claims: Iterable[Standing],
) -> RunOutcome:
    """The verdict: failed beats incomplete beats verified.

    failed: a file doesn't match, an extraction differs, or a computation that ended denies a claim.
    incomplete: something couldn't be run, or nothing was re-aggregated or recomputed.
    """
    states, sources, standings = list(file_states), list(source_outcomes), list(claims)
    if any(s is not FileState.MATCH for s in states):
        return RunOutcome.FAILED
    if any(o.denies for o in sources) or any(s.outcome.denies for s in standings):
        return RunOutcome.FAILED
    if any(o.could_not_run for o in sources) or any(s.outcome.could_not_run for s in standings):
        return RunOutcome.INCOMPLETE
    if not any(s.outcome.confirms for s in standings):
        return RunOutcome.INCOMPLETE
    return RunOutcome.VERIFIED


def worst_outcome(outcomes: Iterable[RunOutcome]) -> RunOutcome:
    """The verdict on several runs: failed over incomplete over verified; no run at all is incomplete."""
    order = (RunOutcome.FAILED, RunOutcome.INCOMPLETE, RunOutcome.VERIFIED)
    return min(outcomes, key=order.index, default=RunOutcome.INCOMPLETE)


def only_saved(outcome: CheckOutcome, has_evidence: bool) -> bool:
    """Whether nothing can ever recompute a claim: it names no evidence, so no level of a run reaches it."""
    return outcome is CheckOutcome.NOT_RECOMPUTED and not has_evidence


def in_scope(decision: str) -> bool | None:
    """A rater's decision as a vote on whether the work is in scope; None where it isn't usable."""
    return {"in_scope": True, "out_of_scope": False}.get(decision)


def screening_state(votes: Sequence[bool | None], head_supported: bool | None = None) -> ScreeningState:
    """The state of one category of one work in one instrument.

    `votes` has one entry for each vote cast: True positive, False negative, None not usable (the
    rater couldn't judge). `head_supported` is False where a model head without support is all that
    could have spoken. Order of precedence as listed in `ScreeningState`: votes cast of which none
    is usable are unknown, also where a head lacks support.
    """
    usable = [v for v in votes if v is not None]
    if not usable:
        if votes or head_supported is not False:
            return ScreeningState.UNKNOWN
        return ScreeningState.UNSUPPORTED
    if all(usable):
        return ScreeningState.AGREED_POSITIVE
    if not any(usable):
        return ScreeningState.AGREED_NEGATIVE
    return ScreeningState.CONTESTED if sum(usable) >= 2 else ScreeningState.SINGLE_SOURCE


def vote_status(rater_kind: str) -> Status:
    """The status of a vote: a person's or a model's, and never the one for the other.

    Raises ValueError for a kind of rater that there isn't.
    """
    known = {"human": Status.HUMAN_DIRECT, "model": Status.MACHINE_DIRECT}
    if rater_kind not in known:
        raise ValueError(f"{rater_kind!r} is no kind of rater; expected human or model")
    return known[rater_kind]


def score_status(maturity: str) -> Status:
    """The status of a score of ours: mature only past the gate; one that was not run isn't passed."""
    return Status.SCORE_ONLY_MATURE if maturity == "passed" else Status.SCORE_ONLY_IMMATURE


def category_vote(decision: str, categories: Sequence[str], category: str, cannot: str | None) -> bool | None:
    """One vote on one category: True, False, or None where it says nothing of it.

    `cannot` is the category that means "cannot be screened": chosen, it leaves every other unknown.
    An unsure vote says nothing; nor does one that finds a work in scope and names no category.
    """
    if decision == "insufficient_payload":
        return True if category == cannot else None
    if decision == "in_scope":
        if category == cannot:
            return False
        return category in categories if categories else None
    return False if decision == "out_of_scope" else None


Estimand = Literal["unanimous", "majority", "any"]


def estimand(votes: Sequence[bool | None], which: Estimand, panel: int | None = None) -> bool | None:
    """A panel's votes as one answer to a named question; None where they don't give one.

    Over usable votes. A tie has no majority, and a panel of which nobody could judge has no answer. Nor
    has one of `panel` raters of whom fewer voted: what the others will say isn't known.
    """
    usable = [v for v in votes if v is not None]
    if not usable or (panel is not None and len(votes) < panel):
        return None
    positive = sum(usable)
    if which == "unanimous":
        return positive == len(usable)
    if which == "any":
        return positive > 0
    return None if 2 * positive == len(usable) else 2 * positive > len(usable)


def call(sides: Sequence[bool | None], covered: bool) -> Call:
    """What the sides' calls come to for one category of one work.

    `sides` has one entry for each head: True among its k, False not, None where it has no support. A
    category makes a call only where every side is supported; a work without scores is unknown. One side
    alone agrees with nobody: its calls are candidates.
    """
    if not covered or not sides:
        return Call.UNKNOWN
    if any(side is None for side in sides):
        return Call.UNSUPPORTED
    if all(sides) and len(sides) > 1:
        return Call.CONSENSUS
    return Call.CANDIDATE if any(sides) else Call.NO_CALL
