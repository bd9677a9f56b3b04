"""A schedule's row comes back, and its hash covers all that makes it another schedule."""

import json
from dataclasses import replace
from typing import Any

import pytest
from admission_cases import attempt, schedules, workload, workloads
from hypothesis import given
from hypothesis import strategies as st

from scheduling_core.admission.attempts import SegmentKind, canonical
from scheduling_core.admission.schedule import (
    ImageStore,
    Limits,
    Policy,
    Schedule,
    schedule_from_row,
    schedule_of,
)
from scheduling_core.errors import SchedulingError

ONE = Schedule("0" * 64, (0, 5), Policy.ACTIVE, Limits(slots=2, deadline=9), ImageStore(3, 8), {"seed": 1})


@given(st.data())
def test_a_row_comes_back_as_the_schedule(data: st.DataObject) -> None:
    made = data.draw(schedules(data.draw(workloads())))
    again = schedule_from_row(json.loads(canonical(made.row())), "line 1")
    assert again == made
    assert again.sha256 == made.sha256


@pytest.mark.parametrize(
    "other",
    [
        replace(ONE, workload_sha256="1" * 64),
        replace(ONE, starts=(5, 0)),
        replace(ONE, policy=Policy.WHOLE),
        *[
            replace(ONE, limits=replace(ONE.limits, **{name: 7}))
            for name in (
                "slots", "deadline", "cpu_milli", "ram_kib", "disk_kib", "parked_kib", "image_kib",
                "requests",
            )
        ],
        replace(ONE, images=ImageStore(None, 8)),
        replace(ONE, images=ImageStore(3, None)),
    ],
)  # fmt: skip
def test_the_hash_covers_what_makes_another_schedule(other: Schedule) -> None:
    assert other.sha256 != ONE.sha256


def test_who_made_it_makes_no_other_schedule() -> None:
    other = replace(ONE, made_by={"seed": 2})
    assert other.sha256 == ONE.sha256
    assert other == ONE


def row(**fields: Any) -> dict[str, Any]:
    return ONE.row() | fields


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({k: v for k, v in row().items() if k != "starts"}, "the field 'starts' is missing."),
        (row(starts=[0, 5.0]), "starts isn't a list of whole numbers."),
        (row(starts=[0, "5"]), "starts isn't a list of whole numbers."),
        (row(starts=[False, 5]), "starts isn't a list of whole numbers."),
        (row(policy="M"), "'M' is not a valid Policy."),
        (row(limits={"slots": 0}), "slots is 0, expected at least 1."),
        (row(limits={"slots": None}), "slots is None, expected a whole number from 0."),
        (row(limits={"slots": 2, "deadline": 9.0}), "deadline is 9.0, expected a whole number from 0."),
        (row(images={"cache_kib": -1}), "cache_kib is -1, expected a whole number from 0."),
        (row(images={"retention_ticks": -1}), "retention_ticks is -1, expected a whole number from 0."),
    ],
)
def test_what_is_no_schedule_is_refused(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SchedulingError) as caught:
        schedule_from_row(wrong, "line 2")
    assert str(caught.value) == f"line 2: this is no schedule: {sentence}"


@pytest.mark.parametrize("change", [{"starts": [0, 6]}, {"policy": "W"}, {"sha256": "0"}, {"sha256": None}])
def test_a_row_whose_hash_is_of_another_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(SchedulingError, match=r"^line 2: the schedule says hash "):
        schedule_from_row(row(**change), "line 2")


def test_each_attempt_has_one_start() -> None:
    with pytest.raises(SchedulingError, match=r"^1 starts for 2 attempts, expected one for each\.$"):
        schedule_of(workload(attempt("a", "setup 1"), attempt("b", "setup 1")), [0], Policy.WHOLE, Limits(1))


def test_cpu_and_ram_are_released_in_model_segments_under_a_and_nowhere_else() -> None:
    assert [kind for kind in SegmentKind if not Policy.ACTIVE.holds(kind)] == [SegmentKind.MODEL]
    assert all(Policy.WHOLE.holds(kind) for kind in SegmentKind)
