"""The compact form: it round-trips, and each field that can be wrong is named."""

import json
from dataclasses import replace
from typing import Any

import pytest
from admission_cases import attempt, workload, workloads
from hypothesis import given

from scheduling_core.admission.attempts import (
    Attempt,
    Cause,
    ScoreState,
    SegmentKind,
    Stratum,
    TimeState,
    attempt_from_row,
    canonical,
)
from scheduling_core.errors import SchedulingError


def row(**fields: Any) -> dict[str, Any]:
    return attempt("a", "setup 3 model 5").row() | fields


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in row().items() if key != name}


@given(workloads(least=1))
def test_a_row_comes_back_as_the_attempt(of: Any) -> None:
    for one in of.attempts:
        again = attempt_from_row(json.loads(canonical(one.row())), "line 1")
        assert again == one
        assert canonical(again.row()) == canonical(one.row())


def test_a_full_row_comes_back_too() -> None:
    one = attempt(
        "é", "unknown 2 mixed 1", score=0.0, time=TimeState.RIGHT_CENSORED, cause=Cause.AGENT_LIMIT,
        exception="AgentTimeoutError", started=7, tenant="x", assumed=("ram_kib",), synthetic=True,
    )  # fmt: skip
    assert attempt_from_row(json.loads(canonical(one.row())), "line 1") == one


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (5, "line 3: 5, expected an object with the fields of an attempt."),
        (row(colour=1), "line 3: there is no field 'colour', expected those of the compact form."),
        *[
            (without(name), f"line 3: the field '{name}' is missing.")
            for name in ("id", "task", "image", "rank", "release", "segments")
        ],
        *[
            (row(**{name: value}), f"line 3: {name} is {value!r}, expected a text.")
            for name, value in [
                ("id", ""), ("id", 5), ("task", None), ("image", []), ("exception", ""), ("tenant", 0),
                ("id", "\ud800"),
            ]
        ],
        *[
            (row(**{name: value}), f"line 3: {name} is {value!r}, expected a whole number from 0.")
            for name, value in [
                ("rank", -1), ("release", 0.5), ("cpu_milli", True), ("ram_kib", "2"), ("disk_kib", None),
                ("image_kib", 1 << 53), ("started", -3),
            ]
        ],
        *[
            (row(score=value), f"line 3: score is {value!r}, expected a number or null.")
            for value in ("1", True, float("nan"), float("inf"), 10**400)
        ],
        (row(time="done"), "line 3: time is 'done', expected one of complete, right_censored."),
        (row(time=None), "line 3: time is None, expected one of complete, right_censored."),
        (
            row(cause=["model"]),
            "line 3: cause is ['model'], expected one of model, agent_limit, infrastructure, unknown.",
        ),
        (row(assumed="ram"), "line 3: assumed is 'ram', expected a list of names."),
        (row(assumed=[1]), "line 3: assumed is [1], expected a list of names."),
        (row(synthetic=1), "line 3: synthetic is 1, expected true or false."),
        (row(segments=[]), "line 3: segments is [], expected a list of [kind, ticks]."),
        (row(segments="x"), "line 3: segments is 'x', expected a list of [kind, ticks]."),
        (row(segments=[["setup"]]), "line 3, segment 0: ['setup'], expected [kind, ticks]."),
        *[
            (
                row(segments=[["setup", 1], [kind, 1]]),
                f"line 3, segment 1: kind {kind!r}, expected one of {', '.join(SegmentKind)}.",
            )
            for kind in ("sleep", ["setup"], None)
        ],
        *[
            (
                row(segments=[["setup", ticks]]),
                f"line 3, segment 0: length {ticks!r}, expected a whole number of ticks above 0.",
            )
            for ticks in (0, -1, 1.0, True, "3", 1 << 53)
        ],
    ],
)  # fmt: skip
def test_each_fault_of_a_row_is_one_sentence(wrong: Any, sentence: str) -> None:
    with pytest.raises(SchedulingError) as caught:
        attempt_from_row(wrong, "line 3")
    assert str(caught.value) == sentence


def test_a_missing_score_is_missing_and_a_score_of_0_is_valued() -> None:
    assert attempt("a", "setup 1").score_state is ScoreState.MISSING
    assert attempt("a", "setup 1", score=0.0).score_state is ScoreState.VALUED


def test_an_id_stands_once_and_an_image_has_one_size() -> None:
    with pytest.raises(SchedulingError, match=r"^Attempt a stands twice, expected each id once\.$"):
        workload(attempt("a", "setup 1"), attempt("a", "setup 1"))
    with pytest.raises(SchedulingError, match=r"^Attempt b: image i has 2 KiB here and 1 KiB before"):
        workload(attempt("a", "setup 1", image_kib=1), attempt("b", "setup 1", image_kib=2))


@pytest.mark.parametrize(
    "change",
    [
        {"id": "b"}, {"task": "u"}, {"image": "j"}, {"release": 1}, {"cpu_milli": 1}, {"ram_kib": 1},
        {"disk_kib": 1}, {"image_kib": 1}, {"score": 0.0}, {"time": TimeState.RIGHT_CENSORED},
        {"cause": Cause.UNKNOWN}, {"exception": "E"}, {"started": 0}, {"tenant": "x"},
        {"assumed": ("ram_kib",)}, {"synthetic": True},
    ],
)  # fmt: skip
def test_the_hash_of_a_workload_covers_every_field(change: dict[str, Any]) -> None:
    one = attempt("a", "setup 3")
    assert workload(one).sha256 != workload(replace(one, **change)).sha256


def test_the_hash_of_a_workload_covers_segments_and_order() -> None:
    a, b = attempt("a", "setup 3"), attempt("b", "setup 3")
    hashes = {
        workload(a, b).sha256, workload(b, a).sha256, workload(a).sha256,
        workload(a, attempt("b", "setup 2 setup 1")).sha256, workload(a, attempt("b", "tool 3")).sha256,
    }  # fmt: skip
    assert len(hashes) == 5


def test_the_clean_stratum_keeps_wrong_answers_and_leaves_out_what_was_cut() -> None:
    """A wrong answer is the model's own doing; a timeout with a score isn't clean, scored or not."""

    def names(attempts: tuple[Attempt, ...]) -> list[tuple[str, int]]:
        return [(a.id, a.rank) for a in attempts]

    of = workload(
        attempt("timeout", "setup 1", score=1.0, time=TimeState.RIGHT_CENSORED, cause=Cause.AGENT_LIMIT),
        attempt("wrong", "setup 1", score=0.0),
        attempt("sandbox", "setup 1", cause=Cause.INFRASTRUCTURE),
        attempt("unscored", "setup 1"),
    )
    assert names(of.stratum(Stratum.CLEAN).attempts) == [("wrong", 0), ("unscored", 1)]
    assert of.stratum(Stratum.AS_LOGGED) is of


def test_the_first_of_each_task_are_the_first_to_arrive() -> None:
    of = workload(*(attempt(str(n), "setup 1", task=task) for n, task in enumerate("xyxxy")))
    assert [a.id for a in of.first_of_each_task(2).attempts] == ["0", "1", "2", "4"]
