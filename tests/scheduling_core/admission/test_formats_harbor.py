"""Harbor trials: hand-made ones of every kind, worked out by hand; the published figures on real ones."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from scheduling_core.admission.attempts import KIB_PER_GIB, Attempt, Cause, SegmentKind, TimeState
from scheduling_core.admission.formats import Assumptions, Import, read_workload
from scheduling_core.admission.formats.outcomes import is_valid_after
from scheduling_core.admission.metrics import metrics, saved_share
from scheduling_core.admission.replay import fifo
from scheduling_core.admission.schedule import Limits, Policy
from scheduling_core.errors import SchedulingError

TRIALS = Path(__file__).parent / "trials" / "trials.jsonl"
COMPLETE, CENSORED = TimeState.COMPLETE, TimeState.RIGHT_CENSORED


def rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in TRIALS.read_text().splitlines()]


def by_id() -> dict[str, Attempt]:
    return {a.id: a for a in read_workload(TRIALS, Assumptions()).workload.attempts}


def written(path: Path, *trials: Any) -> Path:
    path.write_text("".join(json.dumps(trial) + "\n" for trial in trials))
    return path


def tree(folder: Path, trials: list[dict[str, Any]]) -> Path:
    for trial in trials:
        place = folder / "job" / trial["result"]["trial_name"]
        (place / "agent").mkdir(parents=True)
        (place / "result.json").write_text(json.dumps(trial["result"], indent=1))
        if trial["timing"] is not None:
            (place / "agent" / "timing.json").write_text(json.dumps(trial["timing"]))
    return folder


def read_changed(tmp_path: Path, change: Any, name: str = "alpha__solved") -> Import:
    """Two trials, the first changed by `change(result, row)`."""
    first = next(row for row in rows() if row["result"]["trial_name"] == name)
    change(first["result"], first)
    return read_workload(written(tmp_path / "x.jsonl", first, rows()[1]), Assumptions())


def test_a_trial_is_setup_steps_rest_and_verifier() -> None:
    """20 s: set-up 2 + 1; 3.0 + 2.0, 1.0, 0.5 + 0.04 logged; verifier 4; so 20 - 3 - 6.54 - 4 = 6.46 rest.

    In ticks 6.46 s is 65, and 0.04 s is none and left out; the step with a format error has no tool.
    """
    expected = [
        ("setup", 30), ("model", 30), ("tool", 20), ("model", 10), ("model", 5), ("unknown", 65),
        ("verifier", 40),
    ]  # fmt: skip
    assert expected == [tuple(segment) for segment in by_id()["alpha__solved"].segments]


@pytest.mark.parametrize(
    ("name", "score", "time", "cause", "exception"),
    [
        ("alpha__solved", 1.0, COMPLETE, Cause.MODEL, None),
        ("alpha__wrong", 0.0, COMPLETE, Cause.MODEL, None),
        ("alpha__timeout-scored", 1.0, CENSORED, Cause.AGENT_LIMIT, "AgentTimeoutError"),
        ("alpha__timeout", None, CENSORED, Cause.AGENT_LIMIT, "AgentTimeoutError"),
        ("beta__neither", None, CENSORED, Cause.UNKNOWN, None),
        ("beta__cancelled", None, CENSORED, Cause.INFRASTRUCTURE, "CancelledError"),
        ("beta__verifier-timeout", None, CENSORED, Cause.INFRASTRUCTURE, "VerifierTimeoutError"),
        ("beta__sandbox", None, CENSORED, Cause.INFRASTRUCTURE, "DaytonaError"),
        ("gamma__exit", 1.0, COMPLETE, Cause.MODEL, "NonZeroAgentExitCodeError"),
        ("gamma__context", 0.0, CENSORED, Cause.AGENT_LIMIT, "ContextWindowExceededError"),
        ("gamma__many-steps", 0.5, CENSORED, Cause.AGENT_LIMIT, "AgentTimeoutError"),
        ("delta__odd-error", None, CENSORED, Cause.UNKNOWN, "ZeroDivisionError"),
        ("delta__unverified", None, COMPLETE, Cause.MODEL, None),
        ("delta__no-reward-file", None, COMPLETE, Cause.INFRASTRUCTURE, "RewardFileNotFoundError"),
    ],
)
def test_three_labels_say_how_a_trial_ended(
    name: str, score: float | None, time: TimeState, cause: Cause, exception: str | None
) -> None:
    found = by_id()[name]
    assert (score, time, cause, exception) == (found.score, found.time, found.cause, found.exception)


def test_a_reward_that_its_exception_makes_invalid_is_kept_aside() -> None:
    assert dict(read_workload(TRIALS).withheld) == {"beta__cancelled": 1.0, "delta__odd-error": 1.0}


@pytest.mark.parametrize(
    ("exception", "valid"),
    [
        ("AgentTimeoutError", True), ("NonZeroAgentExitCodeError", True),
        ("ContextWindowExceededError", True), ("litellm.exceptions.ContextWindowExceededError", True),
        ("ContextLengthExceededError", True), ("EnvironmentStartTimeoutError", False),
        ("SandboxError", False), ("DaytonaError", False), ("APIConnectionError", False),
        ("ApiRateLimitError", False), ("VerifierTimeoutError", False), ("RewardFileEmptyError", False),
        ("RewardFileNotFoundError", False), ("CancelledError", False), ("AgentSetupTimeoutError", False),
        ("SomethingNew", False), (None, True),
    ],
)  # fmt: skip
def test_whether_a_reward_is_valid_follows_the_exceptions_type(exception: str | None, valid: bool) -> None:
    assert valid == is_valid_after(exception)


def test_an_invalidating_exception_of_a_step_goes_before_a_harmless_one(tmp_path: Path) -> None:
    def change(result: dict[str, Any], row: dict[str, Any]) -> None:
        result["step_results"][0]["exception_info"] = {"exception_type": "AgentTimeoutError"}
        result["step_results"][1]["exception_info"] = {"exception_type": "EnvironmentError"}

    found = read_changed(tmp_path, change, "gamma__many-steps")
    steps = next(a for a in found.workload.attempts if a.task == "gamma")
    assert (steps.exception, steps.score) == ("EnvironmentError", None)


def test_a_trial_of_many_steps_has_the_phases_of_each() -> None:
    """Set-up 3; agent 4, verifier 1; agent 6, then 20 - 3 - 4 - 1 - 6 - 2 = 4 unexplained, verifier 2."""
    expected = [
        ("setup", 30), ("unknown", 40), ("verifier", 10), ("unknown", 60), ("unknown", 40), ("verifier", 20),
    ]  # fmt: skip
    assert expected == [tuple(segment) for segment in by_id()["gamma__many-steps"].segments]


def test_what_no_log_explains_is_unknown_and_not_model_time() -> None:
    found = by_id()
    assert found["delta__no-log"].time_in(SegmentKind.MODEL, SegmentKind.TOOL) == 0
    assert found["delta__no-log"].time_in(SegmentKind.UNKNOWN) == 130
    assert found["alpha__timeout"].time_in(SegmentKind.UNKNOWN) == 105
    assert found["beta__sandbox"].ticks == 200


def test_a_trial_without_finish_is_counted_and_not_replayed() -> None:
    found = read_workload(TRIALS, Assumptions())
    assert [aside.id for aside in found.unreplayable] == ["gamma__no-finish"]
    (aside,) = found.unreplayable
    assert aside.reason == "trials.jsonl, line 12: finished_at is missing, so how long it took isn't known."
    assert aside.time_in(SegmentKind.MODEL, SegmentKind.TOOL) == 65
    assert aside.id not in {a.id for a in found.workload.attempts}
    assert len(rows()) == len(found.workload) + len(found.unreplayable)


def test_trials_stand_in_the_order_of_their_starts() -> None:
    """Written backwards; the first begins at tick 0, the next 30 s later."""
    attempts = read_workload(TRIALS, Assumptions()).workload.attempts
    assert list(range(16)) == [a.rank for a in attempts]
    assert [a.started for a in attempts[:3]] == [0, 300, 600]


def test_a_folder_of_trials_gives_what_the_packed_file_gives(tmp_path: Path) -> None:
    found = read_workload(tree(tmp_path, rows()), Assumptions())
    assert read_workload(TRIALS, Assumptions()).workload.sha256 == found.workload.sha256
    assert found.rejected == ()


def test_a_jobs_own_result_is_no_trial(tmp_path: Path) -> None:
    """Its times are local and have no zone; read as a trial it would be refused."""
    folder = tree(tmp_path, rows()[:1])
    (folder / "job" / "result.json").write_text('{"started_at": "2026-01-01T10:00:00", "n_total_trials": 1}')
    found = read_workload(folder, Assumptions())
    assert (len(found.workload), found.rejected) == (1, ())
    assert any("summary of a job" in note for note in found.notes)


def test_a_trial_folder_without_result_is_told(tmp_path: Path) -> None:
    folder = tree(tmp_path, rows()[:2])
    (folder / "job" / "alpha__wrong" / "result.json").unlink()
    found = read_workload(folder, Assumptions())
    assert [rejected.where for rejected in found.rejected] == ["job/alpha__wrong"]
    assert "no result.json" in found.rejected[0].reason


def test_a_trial_that_stands_twice_counts_once(tmp_path: Path) -> None:
    first = rows()[0]
    found = read_workload(written(tmp_path / "x.jsonl", first, first, rows()[1]), Assumptions())
    assert len(found.workload) == 2
    assert [rejected.where for rejected in found.rejected] == ["x.jsonl, line 2"]
    assert "alpha__solved stands in x.jsonl, line 1 too" in found.rejected[0].reason


def drop(name: str) -> Any:
    return lambda result, row: result.pop(name)


def put(value: Any, *path: str) -> Any:
    def change(result: dict[str, Any], row: dict[str, Any]) -> None:
        place = result
        for name in path[:-1]:
            place = place[name]
        place[path[-1]] = value

    return change


NAIVE = {"started_at": "2026-01-01T00:00:16", "finished_at": "2026-01-01T00:00:20"}
BACKWARDS = {"started_at": "2026-01-01T00:00:19Z", "finished_at": "2026-01-01T00:00:18Z"}
LATE = {"started_at": "2026-01-01T00:00:16Z", "finished_at": "2026-01-01T00:00:21Z"}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (drop("trial_name"), "the field 'trial_name' is missing"),
        (put(7, "task_name"), "task_name is 7, expected a text"),
        (put("2025-12-31T23:00:00Z", "finished_at"), "finished_at is earlier than started_at"),
        (put("2026-01-01T00:00:00", "started_at"), "without a time zone"),
        (put("yesterday", "started_at"), "expected a time as ISO 8601"),
        (put(NAIVE, "verifier"), "verifier: started_at is '2026-01-01T00:00:16', without a time zone"),
        (put(BACKWARDS, "verifier"), "verifier: finished_at is earlier than started_at"),
        (put(LATE, "verifier"), "verifier is outside the trial"),
        (put(True, "verifier_result", "rewards", "reward"), "reward is True, expected a number"),
        (put("1.0", "verifier_result", "rewards", "reward"), "reward is '1.0', expected a number"),
        (put(10**400, "verifier_result", "rewards", "reward"), "expected a number"),
        (put([], "verifier_result"), "verifier_result: this is a list, expected an object"),
        (put({}, "exception_info"), "the field 'exception_type' is missing"),
        (put(-1, "config", "environment", "override_cpus"), "override_cpus is -1, expected a number from 0"),
        (put(0, "config", "environment", "override_cpus"), "override_cpus is 0, expected more than 0"),
        (put(True, "config", "environment", "override_memory_mb"), "override_memory_mb is True"),
        (put("half\ud800", "trial_name"), "expected a text"),
    ],
)
def test_a_bad_trial_is_set_aside_with_a_sentence_and_the_rest_is_kept(
    tmp_path: Path, change: Any, says: str
) -> None:
    found = read_changed(tmp_path, change)
    assert [a.id for a in found.workload.attempts] == ["alpha__wrong"]
    (rejected,) = found.rejected
    assert rejected.where == "x.jsonl, line 1"
    assert rejected.reason.startswith("x.jsonl, line 1")
    assert says in rejected.reason
    assert rejected.reason.endswith(".")
    assert "\n" not in rejected.reason
    assert json.loads(rejected.raw)["result"]


@pytest.mark.parametrize(
    ("log", "says"),
    [
        ({"step": 1}, "expected a list of steps"),
        ([7], "step 1: this is 7, expected a step"),
        ([{"step": 1, "bash_s": 1}], "the field 'llm_s' is missing"),
        ([{"step": 1, "llm_s": 1}], "the field 'bash_s' is missing"),
        ([{"step": 1, "llm_s": -0.1, "bash_s": 1}], "llm_s is -0.1, expected seconds"),
        ([{"step": 1, "llm_s": True, "bash_s": 1}], "llm_s is True"),
        ([{"step": 1, "llm_s": "1", "bash_s": 1}], "llm_s is '1'"),
        (
            [{"step": 2, "llm_s": 1, "bash_s": 1}, {"step": 2, "llm_s": 1, "bash_s": 1}],
            "step is 2, expected more",
        ),
        ([{"step": 1, "llm_s": 9.0, "bash_s": 9.0}], "its steps last 18.0 s, more than the 13.0 s"),
    ],
)
def test_a_bad_step_log_is_set_aside_and_its_time_is_unknown(tmp_path: Path, log: Any, says: str) -> None:
    """20 s - 3 of set-up - 4 of the verifier = 13 s, all of them unknown."""
    found = read_changed(tmp_path, lambda result, row: row.update(timing=log))
    assert len(found.workload) == 2
    first = found.workload.attempts[0]
    assert first.time_in(SegmentKind.UNKNOWN) == 130
    assert first.time_in(SegmentKind.MODEL, SegmentKind.TOOL) == 0
    assert found.missing[first.id] == ("step log",)
    (rejected,) = found.rejected
    assert rejected.where == "x.jsonl, line 1, timing"
    assert says in rejected.reason


def test_steps_may_pass_the_room_by_their_rounding(tmp_path: Path) -> None:
    """13 s of room; 13.1 s logged in four times rounded to 0.1 s may be 12.9 to 13.3 s."""
    log = [{"step": 1, "llm_s": 6.1, "bash_s": 3.0}, {"step": 2, "llm_s": 3.0, "bash_s": 1.0}]
    found = read_changed(tmp_path, lambda result, row: row.update(timing=log))
    assert found.rejected == ()
    assert found.workload.attempts[0].time_in(SegmentKind.UNKNOWN) == 0


def test_missing_phases_are_named_and_their_time_is_unknown(tmp_path: Path) -> None:
    found = read_changed(tmp_path, put(None, "environment_setup"))
    first = found.workload.attempts[0]
    assert found.missing[first.id] == ("environment_setup",)
    assert (first.time_in(SegmentKind.SETUP), first.time_in(SegmentKind.UNKNOWN)) == (10, 85)


def test_without_assumptions_nothing_is_assumed() -> None:
    """One trial has its own core, memory and disk quotas, but no file says how large an image is."""
    found = read_workload(TRIALS)
    assert len(found.workload) == 0
    assert len(rows()) == len(found.unreplayable)
    reasons = {aside.id: aside.reason for aside in found.unreplayable}
    assert reasons["alpha__solved"].endswith(
        "no file gives cpu_milli, ram_kib, disk_kib, image_kib, and nothing is assumed for it."
    )
    assert "no file gives image_kib, and" in reasons["delta__override"]


def test_a_runs_override_goes_before_what_is_assumed() -> None:
    found = by_id()
    own = found["delta__override"]
    expected = (4000, 3 * KIB_PER_GIB, 5 * KIB_PER_GIB)
    assert expected == (own.cpu_milli, own.ram_kib, own.disk_kib)
    assert own.assumed == ("image_kib",)
    assert found["alpha__solved"].assumed == ("cpu_milli", "ram_kib", "disk_kib", "image_kib")


@pytest.mark.parametrize("value", [True, -1, 1.5, "2", 1 << 53])
def test_an_assumption_is_a_whole_number(value: Any) -> None:
    with pytest.raises(SchedulingError, match="expected a whole number from 0"):
        Assumptions(cpu_milli=value)


def test_a_cut_archive_keeps_what_stands_before_the_cut(tmp_path: Path) -> None:
    """The lines are padded by noise, so that they fill several blocks of the archive."""
    noise = [{**row, "noise": str(hash_of(place))} for place, row in enumerate(rows())]
    content = gzip.compress("".join(json.dumps(row) + "\n" for row in noise).encode(), mtime=0)
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(content[: len(content) * 2 // 3])
    found = read_workload(path, Assumptions())
    assert 0 < len(found.workload) < 16
    assert "the gzip archive is cut here" in found.rejected[-1].reason
    path.write_bytes(content[:-4] + b"xxxx")
    assert "the gzip archive is damaged here" in read_workload(path, Assumptions()).rejected[-1].reason


def hash_of(place: int) -> list[int]:
    """Digits without a pattern that compression would find."""
    return [pow(3, 1000 * place + power, 1_000_003) for power in range(2000)]


def test_lines_that_are_no_json_are_set_aside(tmp_path: Path) -> None:
    good = json.dumps(rows()[0])
    bad = [b"{", b"\xff\xfe", b'{"result": NaN}', b"[" * 5000, b'{"result": {}, "result": {}}', b"7"]
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"\n".join([good.encode(), *bad]) + b"\n\n")
    found = read_workload(path, Assumptions())
    assert len(found.workload) == 1
    assert [f"x.jsonl, line {line}" for line in range(2, 8)] == [r.where for r in found.rejected]
    says = ["no JSON", "no UTF-8", "NaN", "too deeply", "stands twice", "this is 7"]
    assert all(word in r.reason for word, r in zip(says, found.rejected, strict=True))


def test_real_trials_give_the_published_figures(shared: Path) -> None:
    """The table of the TMax subset: D 3.349 h with 16 slots, 32 GiB, 132.3 GiB-h, -44.0 %."""
    found = read_workload(shared / "data/tmax/tmax-9b.trials.jsonl.gz", Assumptions())
    assert (len(found.workload), found.rejected, found.unreplayable) == (445, (), ())
    subset = found.workload.first_of_each_task(3)
    figures = metrics(subset, fifo(subset, Limits(16), Policy.ACTIVE)).table()
    assert (len(subset), round(figures["makespan_h"], 3)) == (267, 3.349)
    assert (figures["ram_peak_gib"], round(figures["image_gib_hours"], 1)) == (32.0, 132.3)
    assert round(float(saved_share(subset)), 3) == 0.440


def test_the_clean_stratum_has_the_published_savings_by_offload_cost(shared: Path) -> None:
    """Share of whole-admission time in model calls longer than the cost, less that cost for each."""
    found = read_workload(shared / "data/tmax/tmax-9b.trials.jsonl.gz", Assumptions()).workload
    clean = [a for a in found.attempts if a.clean]
    whole = sum(a.ticks for a in clean)
    calls = [s.ticks for a in clean for s in a.segments if s.kind is SegmentKind.MODEL]
    published = {
        0: 0.546,
        2: 0.532,
        5: 0.511,
        10: 0.478,
        20: 0.422,
        50: 0.310,
        100: 0.206,
        200: 0.107,
        600: 0.023,
    }
    saved = {cost: round(sum(c - cost for c in calls if c > cost) / whole, 3) for cost in published}
    assert published == saved


def test_harbors_own_layout_of_real_trials_is_read(shared: Path) -> None:
    packed = read_workload(shared / "data/tmax/tmax-9b.trials.jsonl.gz", Assumptions()).workload
    found = read_workload(shared / "data/tmax/trials", Assumptions())
    assert (len(found.workload), found.rejected) == (23, ())
    segments = {a.id: (a.segments, a.score, a.time, a.cause) for a in packed.attempts}
    assert all(segments[a.id] == (a.segments, a.score, a.time, a.cause) for a in found.workload.attempts)
