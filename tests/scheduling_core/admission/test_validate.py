"""The validator rejects every mutation of a valid schedule, and its code is its own."""

import ast
import copy
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from admission_cases import GIB, attempt, per_tick, workload

import scheduling_core.admission.validate
from scheduling_core.admission.attempts import Cause, TimeState
from scheduling_core.admission.schedule import Limits, Policy, schedule_of
from scheduling_core.admission.validate import Kind, Validation, validate, validate_attempts

# a: [0, 7), setup to 2, model to 6, tool.       b: [0, 6), setup to 1, model to 4, verifier.
# c: [6, 11), setup to 7, tool to 9, model.      d, released at 4: [7, 10), unknown, cut and unscored.
FOUR = workload(
    attempt("a", "setup 2 model 4 tool 1", score=1.0),
    attempt("b", "setup 1 model 3 verifier 2", cpu_milli=500, ram_kib=GIB, score=0.0),
    attempt("c", "setup 1 tool 2 model 2", image="j", image_kib=GIB),
    attempt(
        "d", "unknown 3", release=4, image="j", image_kib=GIB, time=TimeState.RIGHT_CENSORED,
        cause=Cause.AGENT_LIMIT, exception="AgentTimeoutError",
    ),
)  # fmt: skip
STARTS = [0, 0, 6, 7]
FIGURES = per_tick(FOUR, schedule_of(FOUR, STARTS, Policy.ACTIVE, Limits(9)))
LIMITS = Limits(
    slots=2, deadline=11, cpu_milli=FIGURES["cpu_peak"], ram_kib=FIGURES["ram_peak"],
    disk_kib=FIGURES["disk_peak"], parked_kib=FIGURES["parked_peak"], image_kib=FIGURES["images_peak_kib"],
    requests=FIGURES["service_peak_requests"],
)  # fmt: skip
LIMIT_OF = {
    "slots": Kind.SLOTS, "deadline": Kind.DEADLINE, "cpu_milli": Kind.CPU, "ram_kib": Kind.RAM,
    "disk_kib": Kind.DISK, "parked_kib": Kind.PARKED, "image_kib": Kind.IMAGES, "requests": Kind.REQUESTS,
}  # fmt: skip


def attempts() -> list[dict[str, Any]]:
    return [one.row() for one in FOUR.attempts]


def schedule(**fields: Any) -> dict[str, Any]:
    """The valid schedule, with fields changed and the hash left."""
    return copy.deepcopy(schedule_of(FOUR, STARTS, Policy.ACTIVE, LIMITS).row()) | fields


def sealed(**fields: Any) -> dict[str, Any]:
    """The same by one who knows how to write the hash."""
    row = schedule(**fields)
    hashed = {name: row[name] for name in ("workload_sha256", "policy", "limits", "images", "starts")}
    return row | {"sha256": hashlib.sha256(text(hashed).encode()).hexdigest()}


def text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def placements() -> list[dict[str, Any]]:
    rows = []
    for one, tick in zip(FOUR.attempts, STARTS, strict=True):
        for kind, ticks in one.segments:
            rows.append({"attempt": one.id, "kind": str(kind), "start": tick, "end": tick + ticks})
            tick += ticks
    return rows


def kinds(found: Validation) -> set[Kind]:
    assert found.ok is not bool(found.violations)
    return {violation.kind for violation in found.violations}


def test_the_valid_schedule_is_valid_with_limits_that_it_just_keeps() -> None:
    found = validate(attempts(), schedule(), FIGURES)
    assert found.violations == ()
    assert found.ok
    assert found.metrics == FIGURES
    assert validate(attempts(), sealed(), FIGURES, placements()) == found


def test_profiles_by_hand() -> None:
    """Times of the segments as above; what ends at a tick is free at that tick."""
    profiles = validate(attempts(), schedule()).profiles
    assert profiles == {
        "slots": [[0, 2], [10, 1], [11, 0]],
        "cpu": [[0, 1500], [1, 1000], [2, 0], [4, 500], [6, 2000], [9, 1000], [10, 0]],
        "ram": [[0, 3 * GIB], [1, 2 * GIB], [2, 0], [4, GIB], [6, 4 * GIB], [9, 2 * GIB], [10, 0]],
        "disk": [[0, 20 * GIB], [10, 10 * GIB], [11, 0]],
        "parked": [
            [1, GIB], [2, 3 * GIB], [4, 2 * GIB], [6, 0], [9, 2 * GIB], [11, 0],
        ],
        "images": [[0, 3 * GIB], [6, 4 * GIB], [7, GIB], [11, 0]],
        "requests": [[1, 1], [2, 2], [4, 1], [6, 0], [9, 1], [11, 0]],
    }  # fmt: skip


@pytest.mark.parametrize("limit", LIMIT_OF)
def test_each_limit_passed_by_one_is_a_violation_and_the_only_one(limit: str) -> None:
    limits = schedule()["limits"]
    tighter = sealed(limits=limits | {limit: limits[limit] - 1})
    found = validate(attempts(), tighter, FIGURES)
    assert kinds(found) == {LIMIT_OF[limit]}


def test_a_passed_capacity_says_when_how_much_and_what_was_expected() -> None:
    limits = schedule()["limits"] | {"ram_kib": 4 * GIB - 1}
    (violation,) = validate(attempts(), sealed(limits=limits)).violations
    sentence = f"At tick 6 {4 * GIB} KiB of RAM are reserved, expected no more than {4 * GIB - 1}."
    assert (violation.tick, violation.sentence) == (6, sentence)


def test_one_slot_too_many() -> None:
    """c at 5 runs beside a and b, to 6."""
    found = validate(attempts(), sealed(starts=[0, 0, 5, 7]))
    assert Kind.SLOTS in kinds(found)
    assert [v.tick for v in found.violations if v.kind is Kind.SLOTS] == [5]


def test_one_tick_late() -> None:
    (violation,) = validate(attempts(), sealed(starts=[0, 0, 7, 7])).violations
    assert (violation.kind, violation.attempt, violation.tick) == (Kind.DEADLINE, "c", 12)


def test_a_start_before_the_release() -> None:
    wide = schedule()["limits"] | {
        "slots": 4,
        "image_kib": None,
        "disk_kib": None,
        "ram_kib": None,
        "cpu_milli": None,
    }
    assert kinds(validate(attempts(), sealed(starts=[0, 0, 6, 4], limits=wide))) == set()
    (violation,) = validate(attempts(), sealed(starts=[0, 0, 6, 3], limits=wide)).violations
    assert (violation.kind, violation.attempt, violation.tick) == (Kind.RELEASE, "d", 3)
    assert Kind.RELEASE in kinds(validate(attempts(), sealed(starts=[0, -1, 6, 7], limits=wide)))


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (schedule(sha256="0" * 64), {Kind.SCHEDULE_HASH}),
        (sealed(workload_sha256="0" * 64), {Kind.WORKLOAD_HASH}),
        (schedule(starts=[0, 0, 6, 8]), {Kind.SCHEDULE_HASH}),
        (schedule(limits=schedule()["limits"] | {"slots": 3}), {Kind.SCHEDULE_HASH}),
        (schedule(images={"retention_ticks": 0, "cache_kib": 0}), {Kind.SCHEDULE_HASH}),
    ],
)
def test_a_hash_of_something_else(row: dict[str, Any], expected: set[Kind]) -> None:
    assert expected <= kinds(validate(attempts(), row))


def test_a_wrong_policy_is_found_by_the_hash_and_behind_a_right_hash_by_the_figures() -> None:
    assert Kind.SCHEDULE_HASH in kinds(validate(attempts(), schedule(policy="W"), FIGURES))
    found = validate(attempts(), sealed(policy="W"), FIGURES)
    assert Kind.CLAIM in kinds(found)
    assert {"cpu_area", "ram_area", "parked_area"} <= {
        violation.sentence.split()[3] for violation in found.violations if violation.kind is Kind.CLAIM
    }
    assert kinds(validate(attempts(), sealed(policy="M"))) == {Kind.FORM}


@pytest.mark.parametrize("name", sorted(FIGURES))
@pytest.mark.parametrize("change", [-1, 1])
def test_each_figure_claimed_wrong_by_one(name: str, change: int) -> None:
    (violation,) = validate(attempts(), schedule(), FIGURES | {name: FIGURES[name] + change}).violations
    assert violation.kind is Kind.CLAIM
    assert violation.sentence == f"The claim of {name} is {FIGURES[name] + change}, expected {FIGURES[name]}."


@pytest.mark.parametrize(
    "claim", [{"slots_peak": 2.0}, {"slots_peak": "2"}, {"images_loads": True}, {"slots": 2}]
)
def test_a_claim_is_a_whole_number_of_a_known_name(claim: dict[str, Any]) -> None:
    assert kinds(validate(attempts(), schedule(), claim)) == {Kind.CLAIM}


def test_claims_that_are_no_object_are_a_violation() -> None:
    claims: Any = [["slots_peak", 2]]
    assert kinds(validate(attempts(), schedule(), claims)) == {Kind.FORM}


def test_lost_doubled_and_changed_attempts_of_a_schedule() -> None:
    rows = attempts()
    assert kinds(validate(rows[:3], schedule())) == {Kind.WORKLOAD_HASH, Kind.STARTS}
    assert kinds(validate([*rows, rows[0]], schedule())) == {Kind.DUPLICATE}
    twin = rows[0] | {"id": "e", "rank": 4}
    assert kinds(validate([*rows, twin], schedule())) == {Kind.WORKLOAD_HASH, Kind.STARTS}
    assert kinds(validate([rows[1], rows[0], *rows[2:]], schedule())) >= {Kind.ORDER, Kind.WORKLOAD_HASH}
    shorter = rows[0] | {"segments": [["setup", 2], ["model", 4]]}
    assert kinds(validate([shorter, *rows[1:]], schedule(), FIGURES)) >= {Kind.WORKLOAD_HASH, Kind.CLAIM}
    scored = rows[3] | {"score": 0.0}
    assert kinds(validate([*rows[:3], scored], schedule(), FIGURES)) == {Kind.WORKLOAD_HASH}
    grown = rows[3] | {"image_kib": 2 * GIB}
    assert kinds(validate([*rows[:3], grown], schedule())) >= {Kind.IMAGE_SIZE}


@pytest.mark.parametrize(
    ("change", "kind", "sentence"),
    [
        ({"score": 0.0}, Kind.SCORE, "has score 0.0, the original none: a missing score is no number."),
        ({"score": 1.0}, Kind.SCORE, "has score 1.0, the original none: a missing score is no number."),
        (
            {"segments": [["unknown", 4]]},
            Kind.CHANGED,
            "has ['unknown', 4] as segment 0, the original ['unknown', 3].",
        ),
        (
            {"segments": [["tool", 3]]},
            Kind.CHANGED,
            "has ['tool', 3] as segment 0, the original ['unknown', 3].",
        ),
        ({"segments": [["unknown", 1], ["unknown", 2]]}, Kind.CHANGED, "has 2 segments, the original 1."),
        ({"cpu_milli": 999}, Kind.CHANGED, "has cpu_milli 999, the original 1000."),
        ({"ram_kib": 1}, Kind.CHANGED, f"has ram_kib 1, the original {2 * GIB}."),
        ({"disk_kib": 1}, Kind.CHANGED, f"has disk_kib 1, the original {10 * GIB}."),
        ({"image_kib": 1}, Kind.CHANGED, f"has image_kib 1, the original {GIB}."),
        ({"release": 0}, Kind.CHANGED, "has release 0, the original 4."),
        ({"time": "complete"}, Kind.CHANGED, "has time 'complete', the original 'right_censored'."),
        ({"cause": "model"}, Kind.CHANGED, "has cause 'model', the original 'agent_limit'."),
        ({"exception": None}, Kind.CHANGED, "has exception None, the original 'AgentTimeoutError'."),
        ({"synthetic": True}, Kind.CHANGED, "has synthetic True, the original False."),
    ],
)
def test_a_changed_attempt_is_told_from_the_original(
    change: dict[str, Any], kind: Kind, sentence: str
) -> None:
    rows = attempts()
    (violation,) = validate_attempts(attempts(), [*rows[:3], rows[3] | change])
    assert (violation.kind, violation.attempt) == (kind, "d")
    assert violation.sentence == f"Attempt d {sentence}"


def test_segments_in_another_order_are_changed() -> None:
    rows = attempts()
    turned = rows[2] | {"segments": [["tool", 2], ["setup", 1], ["model", 2]]}
    assert [v.kind for v in validate_attempts(rows, [*rows[:2], turned, rows[3]])] == [Kind.CHANGED] * 2


def test_a_score_that_was_there_stays_as_it_was() -> None:
    rows = attempts()
    for position, score in [(0, None), (0, 0.0), (1, None), (1, 1.0)]:
        changed = [row | {"score": score} if k == position else row for k, row in enumerate(rows)]
        (violation,) = validate_attempts(rows, changed)
        assert violation.kind is Kind.SCORE


def test_lost_doubled_added_and_reordered_attempts_are_told_from_the_original() -> None:
    rows = attempts()
    assert validate_attempts(rows, attempts()) == ()
    for k in range(4):
        (violation,) = validate_attempts(rows, rows[:k] + rows[k + 1 :])
        assert (violation.kind, violation.attempt) == (Kind.LOST, rows[k]["id"])
        (violation,) = validate_attempts(rows, [*rows, rows[k]])
        assert (violation.kind, violation.attempt) == (Kind.DUPLICATE, rows[k]["id"])
    (violation,) = validate_attempts(rows, [*rows, rows[0] | {"id": "e", "rank": 4}])
    assert (violation.kind, violation.attempt) == (Kind.ADDED, "e")
    (violation,) = validate_attempts(rows, [rows[1], rows[0], *rows[2:]])
    assert (violation.kind, violation.attempt) == (Kind.ORDER, "a")
    assert {v.kind for v in validate_attempts(rows, [{**rows[0], "score": "0"}, *rows[1:]])} == {
        Kind.FORM,
        Kind.LOST,
    }


def test_attempts_ranked_anew_among_themselves_are_the_originals_that_they_were() -> None:
    kept = [attempts()[0], attempts()[2]]
    assert validate_attempts(kept, [row | {"rank": rank} for rank, row in enumerate(kept)]) == ()


def moved(position: int, start: int, end: int) -> list[dict[str, Any]]:
    rows = placements()
    rows[position] |= {"start": rows[position]["start"] + start, "end": rows[position]["end"] + end}
    return rows


ONLY = {"attempt": "a", "kind": "tool", "start": 6, "end": 7}


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        # a's model call is in [2, 6): begun a tick early; moved a tick early; moved a tick late.
        (moved(1, -1, 0), {Kind.OVERLAP, Kind.SEGMENTS}),
        (moved(1, -1, -1), {Kind.OVERLAP, Kind.GAP}),
        (moved(1, 1, 1), {Kind.GAP, Kind.OVERLAP}),
        (moved(1, 0, -1), {Kind.GAP, Kind.SEGMENTS}),
        # c's last segment, a tick late: a gap, and beyond the deadline.
        (moved(8, 1, 1), {Kind.GAP, Kind.DEADLINE}),
        # d, of one segment, a tick late: not where its start is.
        (moved(9, 1, 1), {Kind.STARTS}),
        ([row for row in placements() if row != ONLY], {Kind.SEGMENTS}),
        ([*placements(), ONLY], {Kind.SEGMENTS, Kind.OVERLAP}),
        ([row for row in placements() if row["attempt"] != "d"], {Kind.LOST}),
        ([*placements(), ONLY | {"attempt": "e"}], {Kind.ADDED}),
        ([row if row != ONLY else row | {"kind": "verifier"} for row in placements()], {Kind.SEGMENTS}),
        ([row if row != ONLY else row | {"end": 6} for row in placements()], {Kind.FORM, Kind.SEGMENTS}),
        ([row if row != ONLY else row | {"kind": "nap"} for row in placements()], {Kind.FORM, Kind.SEGMENTS}),
        ([*placements(), 5], {Kind.FORM}),
    ],
)  # fmt: skip
def test_segments_that_are_placed_elsewhere(rows: list[dict[str, Any]], expected: set[Kind]) -> None:
    assert kinds(validate(attempts(), schedule(), placements=rows)) >= expected


def test_the_order_of_placements_says_nothing() -> None:
    assert validate(attempts(), schedule(), FIGURES, placements()[::-1]) == validate(attempts(), schedule())


def test_an_overlap_counts_twice_in_the_accounts() -> None:
    """Accounts are made of what is placed: d's copy at another time is a request of RAM of its own."""
    rows = [*placements(), {"attempt": "d", "kind": "unknown", "start": 8, "end": 11}]
    found = validate(attempts(), schedule(), placements=rows)
    assert found.metrics["ram_area"] == FIGURES["ram_area"] + 3 * 2 * GIB


def test_an_attempt_ends_with_the_last_of_its_segments_to_end() -> None:
    """a's set-up is placed over all that follows it, to tick 20."""
    rows = [row if row != placements()[0] else row | {"end": 20} for row in placements()]
    found = validate(attempts(), schedule(), placements=rows)
    assert found.metrics["makespan"] == 20
    assert ("a", 20) in {(v.attempt, v.tick) for v in found.violations if v.kind is Kind.DEADLINE}


@pytest.mark.parametrize(("n", "expected"), [(1, 0), (17, 16), (20, 18), (21, 19), (100, 94)])
def test_p95_is_the_nearest_rank(n: int, expected: int) -> None:
    """Waits 0..n-1: the ceil(0.95 n)-th of them, counted from 1: 1, 17, 19, 20, 95."""
    of = workload(*(attempt(f"a{k}", "setup 1") for k in range(n)))
    made = schedule_of(of, list(reversed(range(n))), Policy.WHOLE, Limits(n))
    assert validate([one.row() for one in of.attempts], made.row()).metrics["wait_p95"] == expected


@pytest.mark.parametrize(
    ("rows", "row", "sentence"),
    [
        ([5, *attempts()[1:]], schedule(), "Attempt 0: 5, expected an object."),
        (
            [attempts()[0] | {"segments": [["setup", 0]]}, *attempts()[1:]],
            schedule(),
            "Attempt 0: segments is [['setup', 0]], expected a list of [kind, ticks], ticks above 0.",
        ),
        (attempts(), 5, "The schedule: 5, expected an object."),
        (attempts(), schedule(colour=1), "The schedule: there is no field 'colour'."),
        (attempts(), schedule(limits={}), "The limits: the field 'slots' is missing."),
        (
            attempts(),
            schedule(images={"retention_ticks": -1, "cache_kib": None}),
            "The image store: retention_ticks is -1, expected a whole number from 0, or null.",
        ),
        (
            attempts(),
            schedule(starts=[0, 0, 6, 7.0]),
            "The schedule: starts is [0, 0, 6, 7.0], expected a list of whole numbers.",
        ),
    ],
)  # fmt: skip
def test_damaged_data_are_a_violation_and_no_account_is_made(rows: Any, row: Any, sentence: str) -> None:
    found = validate(rows, row, FIGURES)
    assert (found.violations[0].kind, found.violations[0].sentence) == (Kind.FORM, sentence)
    assert (found.ok, found.metrics, found.profiles) == (False, {}, {})


def test_it_imports_nothing_of_ours_but_the_errors() -> None:
    """Independence is a property of the code, so look at the code."""
    files = sorted(Path(scheduling_core.admission.validate.__file__).parent.glob("*.py"))
    assert files
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0
                names = [node.module or ""]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                continue
            for name in names:
                own = name.startswith(("scheduling_core.admission.validate.", "scheduling_core.errors"))
                assert own or not name.startswith("scheduling_core"), f"{file.name} imports {name}"
