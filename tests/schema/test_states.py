"""Truth tables of every state, worked by hand from the rules, not from the code."""

from itertools import product
from typing import get_args

import pytest

from schema.screening import Decision
from schema.states import (
    CheckOutcome,
    Depth,
    EvidenceResult,
    FileState,
    RunOutcome,
    ScreeningState,
    Standing,
    depth_of,
    in_scope,
    only_saved,
    run_outcome,
    screening_state,
    standing,
    worst_outcome,
)

C, D, F, R, S = CheckOutcome, Depth, FileState, RunOutcome, ScreeningState
CONFIRMS = [C.IDENTICAL, C.EQUAL, C.WITHIN_TOLERANCE]
DENIES = [C.DIFFERS, C.NOT_PRODUCED]
COULD_NOT_RUN = [C.CRASHED, C.TIMED_OUT, C.REFUSED]


def test_each_outcome_is_of_exactly_one_kind() -> None:
    for outcome in C:
        kinds = (outcome in CONFIRMS, outcome in DENIES, outcome in COULD_NOT_RUN)
        assert (outcome.confirms, outcome.denies, outcome.could_not_run) == kinds
        assert sum(kinds) == (outcome is not C.NOT_RECOMPUTED)


def test_depths_from_weakest_to_strongest() -> None:
    assert [d.rank for d in (D.SAVED, D.HASH, D.REAGGREGATED, D.RECOMPUTED)] == [0, 1, 2, 3]


def test_exit_codes() -> None:
    assert {o: o.exit_code for o in R} == {R.VERIFIED: 0, R.FAILED: 3, R.INCOMPLETE: 4}


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        ([], D.SAVED),
        (["code"], D.SAVED),  # code alone reads no data
        (["input"], D.RECOMPUTED),
        (["input", "code"], D.RECOMPUTED),
        (["output"], D.REAGGREGATED),
        (["figure"], D.REAGGREGATED),
        (["notebook"], D.REAGGREGATED),
        (["source"], D.REAGGREGATED),
        (["input", "output"], D.REAGGREGATED),  # anything saved among them
        (["input", "code", "source"], D.REAGGREGATED),
        (["code", "output"], D.REAGGREGATED),
    ],
)
def test_depth_of(roles: list[str], expected: Depth) -> None:
    assert depth_of(roles) is expected


def ev(outcome: CheckOutcome, depth: Depth = D.RECOMPUTED, by: str | None = "a") -> EvidenceResult:
    return EvidenceResult(outcome, depth, by)


@pytest.mark.parametrize("files_match", [True, False])
@pytest.mark.parametrize("outcome", list(C))
def test_standing_of_one_evidence(outcome: CheckOutcome, files_match: bool) -> None:
    fallback = D.HASH if files_match else D.SAVED
    expected = Standing(outcome, D.RECOMPUTED if outcome in CONFIRMS else fallback, None)
    assert standing([ev(outcome)], files_match) == expected


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        ([], Standing(C.NOT_RECOMPUTED, D.SAVED, None)),  # no evidence is named: saved, though bytes match
        # the deepest confirms, and by whom decides what is independent
        ([ev(C.EQUAL, D.REAGGREGATED), ev(C.IDENTICAL)], Standing(C.IDENTICAL, D.RECOMPUTED, None)),
        ([ev(C.IDENTICAL), ev(C.EQUAL, by="b")], Standing(C.IDENTICAL, D.RECOMPUTED, D.RECOMPUTED)),
        (
            [ev(C.IDENTICAL), ev(C.EQUAL, D.REAGGREGATED, "b")],
            Standing(C.IDENTICAL, D.RECOMPUTED, D.REAGGREGATED),
        ),
        # left out by the level of the run takes nothing away
        ([ev(C.EQUAL, D.REAGGREGATED), ev(C.NOT_RECOMPUTED)], Standing(C.EQUAL, D.REAGGREGATED, None)),
        # what denies decides, then what couldn't run; the first listed outcome of its kind is shown
        ([ev(C.IDENTICAL), ev(C.DIFFERS, by="b")], Standing(C.DIFFERS, D.HASH, None)),
        ([ev(C.CRASHED), ev(C.NOT_PRODUCED, by="b")], Standing(C.NOT_PRODUCED, D.HASH, None)),
        ([ev(C.IDENTICAL), ev(C.TIMED_OUT, by="b")], Standing(C.TIMED_OUT, D.HASH, None)),
        ([ev(C.REFUSED), ev(C.CRASHED)], Standing(C.CRASHED, D.HASH, None)),
        ([ev(C.NOT_PRODUCED), ev(C.DIFFERS)], Standing(C.DIFFERS, D.HASH, None)),
    ],
)
def test_standing_of_several(evidence: list[EvidenceResult], expected: Standing) -> None:
    assert standing(evidence, files_match=True) == expected


def test_order_of_evidence_never_matters_for_the_outcome() -> None:
    for a, b in product(C, C):
        assert (
            standing([ev(a), ev(b)], True).outcome.confirms == standing([ev(b), ev(a)], True).outcome.confirms
        )
        assert standing([ev(a), ev(b)], True).depth is standing([ev(b), ev(a)], True).depth


def st(outcome: CheckOutcome) -> Standing:
    return Standing(outcome, D.HASH, None)


@pytest.mark.parametrize(
    ("files", "sources", "claims", "expected"),
    [
        ([F.MATCH], [], [C.IDENTICAL], R.VERIFIED),
        (
            [F.MATCH],
            [C.IDENTICAL],
            [C.WITHIN_TOLERANCE, C.NOT_RECOMPUTED],
            R.VERIFIED,
        ),  # what stays saved is counted
        ([], [], [C.EQUAL], R.VERIFIED),
        ([F.MATCH], [], [], R.INCOMPLETE),  # nothing could be recomputed
        ([F.MATCH], [], [C.NOT_RECOMPUTED], R.INCOMPLETE),
        ([F.MATCH], [C.IDENTICAL], [C.NOT_RECOMPUTED], R.INCOMPLETE),  # an extraction recomputes no claim
        ([F.MATCH], [C.REFUSED], [C.IDENTICAL], R.INCOMPLETE),
        *[([F.MATCH], [], [C.IDENTICAL, o], R.INCOMPLETE) for o in COULD_NOT_RUN],
        *[([F.MATCH], [], [C.IDENTICAL, o], R.FAILED) for o in DENIES],
        *[([F.MATCH], [], [o, C.CRASHED], R.FAILED) for o in DENIES],  # failed beats incomplete
        *[([F.MATCH], [o], [C.IDENTICAL], R.FAILED) for o in DENIES],
        *[([F.MATCH, f], [], [C.IDENTICAL], R.FAILED) for f in (F.MISMATCH, F.MISSING, F.UNLISTED)],
        ([F.MISSING], [], [C.CRASHED], R.FAILED),
        ([F.MISSING], [], [], R.FAILED),
    ],
)
def test_run_outcome(
    files: list[FileState], sources: list[CheckOutcome], claims: list[CheckOutcome], expected: RunOutcome
) -> None:
    assert run_outcome(files, sources, map(st, claims)) is expected


Y, N, U = True, False, None


@pytest.mark.parametrize(
    ("votes", "head_supported", "expected"),
    [
        # unknown: no usable vote
        ([], None, S.UNKNOWN),
        ([], True, S.UNKNOWN),
        ([U], None, S.UNKNOWN),
        ([U, U], True, S.UNKNOWN),
        ([U], False, S.UNKNOWN),  # unknown comes before unsupported: a vote was cast
        # unsupported: a head without support, no direct vote
        ([], False, S.UNSUPPORTED),
        # agreed: all usable votes, one is enough
        ([Y], None, S.AGREED_POSITIVE),
        ([Y, Y, U], None, S.AGREED_POSITIVE),
        ([Y], False, S.AGREED_POSITIVE),  # a direct vote speaks, whatever the head
        ([N], None, S.AGREED_NEGATIVE),
        ([N, U, N], None, S.AGREED_NEGATIVE),
        # votes differ
        ([Y, Y, N], None, S.CONTESTED),
        ([Y, N, Y, N, U], False, S.CONTESTED),
        ([Y, N], None, S.SINGLE_SOURCE),
        ([N, N, Y, U], None, S.SINGLE_SOURCE),
    ],
)
def test_screening_state(
    votes: list[bool | None], head_supported: bool | None, expected: ScreeningState
) -> None:
    assert screening_state(votes, head_supported) is expected


def test_screening_state_of_every_panel_of_three() -> None:
    """Each rule written again as a sentence, over all 27 panels and 3 kinds of support."""
    for votes in product((Y, N, U), repeat=3):
        for support in (None, True, False):
            positive, negative = votes.count(True), votes.count(False)
            if positive + negative == 0:
                expected = S.UNKNOWN
            elif negative == 0:
                expected = S.AGREED_POSITIVE
            elif positive == 0:
                expected = S.AGREED_NEGATIVE
            elif positive == 1:
                expected = S.SINGLE_SOURCE
            else:
                expected = S.CONTESTED
            assert screening_state(votes, support) is expected


def test_order_of_votes_never_matters() -> None:
    for votes in product((Y, N, U), repeat=4):
        assert screening_state(votes) is screening_state(votes[::-1])


def test_the_worst_of_several_runs() -> None:
    assert worst_outcome([]) is RunOutcome.INCOMPLETE
    assert worst_outcome([RunOutcome.VERIFIED, RunOutcome.VERIFIED]) is RunOutcome.VERIFIED
    assert worst_outcome([RunOutcome.VERIFIED, RunOutcome.INCOMPLETE]) is RunOutcome.INCOMPLETE
    assert worst_outcome([RunOutcome.INCOMPLETE, RunOutcome.FAILED]) is RunOutcome.FAILED


def test_every_decision_is_a_vote_or_none() -> None:
    votes = {decision: in_scope(decision) for decision in get_args(Decision)}
    assert votes == {"in_scope": True, "out_of_scope": False, "insufficient_payload": None, "unsure": None}


def test_only_saved_is_what_no_run_can_reach() -> None:
    assert only_saved(CheckOutcome.NOT_RECOMPUTED, has_evidence=False)
    assert not only_saved(CheckOutcome.NOT_RECOMPUTED, has_evidence=True)
    assert not any(only_saved(o, False) for o in CheckOutcome if o is not CheckOutcome.NOT_RECOMPUTED)
