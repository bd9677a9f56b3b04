"""What votes, panels and heads come to, worked by hand from the vocabulary of the screening design."""

from itertools import product

import pytest

from schema.states import (
    Call,
    Estimand,
    ScreeningState,
    Status,
    call,
    category_vote,
    estimand,
    score_status,
    screening_state,
    vote_status,
)

CANNOT = "insufficient_payload"


@pytest.mark.parametrize(
    ("decision", "categories", "category", "expected"),
    [
        ("in_scope", ["sts"], "sts", True),
        ("in_scope", ["sts"], "open_science", False),
        ("in_scope", ["sts"], CANNOT, False),
        # A rater who found it in scope and wasn't asked, or didn't say, for what: nothing is known.
        ("in_scope", [], "sts", None),
        ("in_scope", [], CANNOT, False),
        ("out_of_scope", [], "sts", False),
        ("out_of_scope", [], CANNOT, False),
        # "Can't be screened" is counted, and every other category stays unknown: never negative.
        ("insufficient_payload", [], CANNOT, True),
        ("insufficient_payload", [], "sts", None),
        ("unsure", [], "sts", None),
        ("unsure", [], CANNOT, None),
    ],
)
def test_one_vote_on_one_category(
    decision: str, categories: list[str], category: str, expected: bool | None
) -> None:
    assert category_vote(decision, categories, category, CANNOT) is expected


def test_without_such_a_category_a_work_that_cant_be_screened_is_unknown_everywhere() -> None:
    assert category_vote("insufficient_payload", [], "sts", None) is None


@pytest.mark.parametrize(
    ("votes", "unanimous", "majority", "any_"),
    [
        ([], None, None, None),
        ([None, None], None, None, None),
        ([True], True, True, True),
        ([False, False, False], False, False, False),
        ([True, False, False], False, False, True),
        ([True, True, False], False, True, True),
        ([True, True, True], True, True, True),
        ([True, False], False, None, True),  # a tie has no majority
        ([True, None, False], False, None, True),
        ([True, None, None], True, True, True),
    ],
)
def test_named_estimands(
    votes: list[bool | None], unanimous: bool | None, majority: bool | None, any_: bool | None
) -> None:
    which: list[Estimand] = ["unanimous", "majority", "any"]
    assert [estimand(votes, w) for w in which] == [unanimous, majority, any_]


@pytest.mark.parametrize("votes", list(product([True, False, None], repeat=3)))
def test_an_unknown_vote_never_counts_as_a_negative(votes: tuple[bool | None, ...]) -> None:
    usable = [v for v in votes if v is not None]
    for which in ("unanimous", "majority", "any"):
        assert estimand(votes, which) == estimand(usable, which)
    if usable:
        assert screening_state(votes) is screening_state(usable)
    else:
        assert screening_state(votes) is ScreeningState.UNKNOWN


@pytest.mark.parametrize(
    ("sides", "covered", "expected"),
    [
        ([True, True], True, Call.CONSENSUS),
        ([True, False], True, Call.CANDIDATE),
        ([False, False], True, Call.NO_CALL),
        ([True, None], True, Call.UNSUPPORTED),  # a category makes calls only with support on every side
        ([None, None], True, Call.UNSUPPORTED),
        ([True, True], False, Call.UNKNOWN),  # a work without scores is unknown, whatever the heads
        ([None, None], False, Call.UNKNOWN),
        ([], True, Call.UNKNOWN),
        ([True], True, Call.CANDIDATE),  # one side agrees with nobody
        ([False], True, Call.NO_CALL),
    ],
)
def test_calls(sides: list[bool | None], covered: bool, expected: Call) -> None:
    assert call(sides, covered) is expected


def test_statuses_are_the_studys_own_words() -> None:
    assert [s.value for s in Status] == [
        "human_direct",
        "machine_direct_unvalidated",
        "machine_predicted_unvalidated",
        "out_of_fold_teacher_fidelity",
        "score_only:v0-immature-baseline",
        "score_only:mature",
    ]


def test_a_machines_vote_is_never_a_persons() -> None:
    assert vote_status("human") is Status.HUMAN_DIRECT
    assert vote_status("model") is Status.MACHINE_DIRECT
    with pytest.raises(ValueError, match="no kind of rater"):
        vote_status("")


def test_only_a_gate_that_passed_makes_a_score_mature() -> None:
    assert score_status("passed") is Status.SCORE_ONLY_MATURE
    for maturity in ("not_passed", "unknown", ""):
        assert score_status(maturity) is Status.SCORE_ONLY_IMMATURE
