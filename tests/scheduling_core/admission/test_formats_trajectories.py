"""ATIF, mini-swe-agent, SWE-agent and R2E-Gym: what each log tells, alone and beside a trial."""

import json
from pathlib import Path
from typing import Any

import pytest

from scheduling_core.admission.attempts import Cause, SegmentKind, TimeState
from scheduling_core.admission.formats import Assumptions, Import, read_workload
from scheduling_core.errors import SchedulingError

TRIALS = Path(__file__).parent / "trials" / "trials.jsonl"
START = 1_767_225_600
"""2026-01-01T00:00:00Z, when the first hand-made trial begins; its agent begins 3 s later."""


def read(tmp_path: Path, value: Any, name: str = "x.json") -> Import:
    (tmp_path / name).write_text(json.dumps(value))
    return read_workload(tmp_path / name, Assumptions())


def beside(tmp_path: Path, log: Any) -> Import:
    """The first hand-made trial in Harbor's layout, with a trajectory in place of its timing."""
    row = json.loads(TRIALS.read_text().splitlines()[0])
    (tmp_path / "t" / "agent").mkdir(parents=True)
    (tmp_path / "t" / "result.json").write_text(json.dumps(row["result"]))
    (tmp_path / "t" / "agent" / "trajectory.json").write_text(json.dumps(log))
    return read_workload(tmp_path, Assumptions())


def segments(found: Import) -> list[tuple[str, int]]:
    (attempt,) = found.workload.attempts
    return [(str(kind), ticks) for kind, ticks in attempt.segments]


def atif(*steps: tuple[str, str | None], **more: Any) -> dict[str, Any]:
    made = [
        {"step_id": n, "source": source, "message": "", **({"timestamp": at} if at else {})}
        for n, (source, at) in enumerate(steps, 1)
    ]
    return {"schema_version": "ATIF-v1.4", "session_id": "s", "agent": {}, "steps": made, **more}


def at(second: float) -> str:
    return f"2026-01-01T00:00:{second:04.1f}Z"


def test_atif_steps_are_mixed_and_never_split(tmp_path: Path) -> None:
    """The agent begins at 3 s; its steps are stamped 6.0 and 9.5 s: 3.0 and 3.5 s, model and tool in one.

    The task was given before the start and takes no time; 20 - 3 - 6.5 - 4 = 6.5 s are unexplained.
    """
    found = beside(tmp_path, atif(("user", at(1.0)), ("agent", at(6.0)), ("agent", at(9.5))))
    expected = [("setup", 30), ("mixed", 30), ("mixed", 35), ("unknown", 65), ("verifier", 40)]
    assert segments(found) == expected
    assert found.rejected == ()


def test_an_atif_step_without_time_is_no_boundary(tmp_path: Path) -> None:
    log = atif(("agent", None), ("agent", at(9.5)), ("agent", None))
    assert segments(beside(tmp_path, log))[1] == ("mixed", 65)


def test_copied_steps_took_no_time_here(tmp_path: Path) -> None:
    log = atif(("agent", "2025-12-31T00:00:00Z"), ("agent", at(9.5)))
    log["steps"][0]["is_copied_context"] = True
    assert segments(beside(tmp_path, log))[1] == ("mixed", 65)


def test_atif_alone_lasts_from_its_first_stamp_to_its_last(tmp_path: Path) -> None:
    """Whether it went on, and how it was scored, isn't in it."""
    found = read(tmp_path, atif(("user", at(1.0)), ("agent", at(4.0)), ("agent", at(6.0))))
    (attempt,) = found.workload.attempts
    assert segments(found) == [("mixed", 30), ("mixed", 20)]
    assert (attempt.score, attempt.time, attempt.cause) == (None, TimeState.RIGHT_CENSORED, Cause.UNKNOWN)


def test_atif_alone_that_hides_its_first_call_cannot_be_replayed(tmp_path: Path) -> None:
    found = read(tmp_path, atif(("user", None), ("agent", at(4.0)), ("agent", at(6.0))))
    assert len(found.workload) == 0
    assert "the first model call isn't stamped" in found.unreplayable[0].reason
    assert found.unreplayable[0].time_in(SegmentKind.MIXED) == 20


@pytest.mark.parametrize(
    ("log", "says"),
    [
        (atif(("agent", at(9.0)), ("agent", at(8.0))), "earlier than what comes before it"),
        (atif(("agent", "2026-01-01T00:00:09")), "without a time zone"),
        (atif(("robot", at(9.0))), "source is 'robot', expected user, agent, system"),
        (atif(("agent", at(19.0))), "its steps last 16.0 s, more than the 13.0 s"),
        ({**atif(), "schema_version": "ATIF-v2.0"}, "schema_version is 'ATIF-v2.0', expected ATIF-v1.x"),
        ({**atif(), "steps": 3}, "steps is 3, expected a list"),
    ],
)
def test_a_bad_atif_log_is_set_aside_and_the_trial_kept(tmp_path: Path, log: Any, says: str) -> None:
    found = beside(tmp_path, log)
    assert segments(found) == [("setup", 30), ("unknown", 130), ("verifier", 40)]
    (rejected,) = found.rejected
    assert rejected.where == "t/agent/trajectory.json"
    assert says in rejected.reason


def test_a_cut_trajectory_beside_a_trial_is_told(tmp_path: Path) -> None:
    beside(tmp_path, atif())
    (tmp_path / "t" / "agent" / "trajectory.json").write_text('{"schema_version": "ATIF-v1.4", "st')
    found = read_workload(tmp_path, Assumptions())
    assert segments(found) == [("setup", 30), ("unknown", 130), ("verifier", 40)]
    assert [rejected.where for rejected in found.rejected] == ["t/agent/trajectory.json"]


def mini(*messages: tuple[str, float | None], **info: Any) -> dict[str, Any]:
    made: list[dict[str, Any]] = [{"role": "system"}, {"role": "user", "extra": {}}]
    for role, second in messages:
        extra = {} if second is None else {"timestamp": START + second}
        made.append({"role": role, "content": "", "extra": extra})
    return {"trajectory_format": "mini-swe-agent-1.1", "info": info, "messages": made}


def test_mini_swe_agent_separates_model_and_tool(tmp_path: Path) -> None:
    """The agent begins at 3 s; reply 5.0, done 5.5, reply 7.0, done 9.0: 2.0, 0.5, 1.5, 2.0 s.

    20 - 3 - 6.0 - 4 = 7 s are left.
    """
    log = mini(("assistant", 5.0), ("tool", 5.5), ("assistant", 7.0), ("user", 9.0), ("exit", None))
    expected = [
        ("setup", 30), ("model", 20), ("tool", 5), ("model", 15), ("tool", 20), ("unknown", 70),
        ("verifier", 40),
    ]  # fmt: skip
    assert segments(beside(tmp_path, log)) == expected


def test_several_observations_of_one_reply_are_tool_time(tmp_path: Path) -> None:
    log = mini(("assistant", 5.0), ("tool", 5.5), ("tool", 6.5))
    assert segments(beside(tmp_path, log))[1:4] == [("model", 20), ("tool", 5), ("tool", 10)]


def test_replies_of_the_responses_interface_are_known_by_their_kind(tmp_path: Path) -> None:
    log = mini()
    log["messages"] += [
        {"object": "response", "extra": {"timestamp": START + 5.0}},
        {"type": "function_call_output", "extra": {"timestamp": START + 5.5}},
    ]
    assert segments(beside(tmp_path, log))[1:3] == [("model", 20), ("tool", 5)]


def test_a_gap_with_an_unstamped_message_is_mixed(tmp_path: Path) -> None:
    log = mini(("assistant", 5.0), ("tool", None), ("assistant", 9.0))
    assert segments(beside(tmp_path, log))[1:3] == [("model", 20), ("mixed", 40)]


def test_mini_swe_agent_alone_lacks_its_first_call(tmp_path: Path) -> None:
    log = mini(("assistant", 5.0), ("tool", 5.5), ("assistant", 7.0), exit_status="Submitted")
    found = read(tmp_path, log, "django-1.traj.json")
    (aside,) = found.unreplayable
    assert "the first model call began at the trial's start" in aside.reason
    assert (aside.task, aside.cause, aside.score) == ("django-1", Cause.MODEL, None)
    assert [tuple(s) for s in aside.segments] == [("tool", 5), ("model", 15)]


@pytest.mark.parametrize(
    ("status", "time", "cause"),
    [
        ("Submitted", TimeState.COMPLETE, Cause.MODEL),
        ("LimitsExceeded", TimeState.RIGHT_CENSORED, Cause.AGENT_LIMIT),
        ("RateLimitError", TimeState.RIGHT_CENSORED, Cause.INFRASTRUCTURE),
        ("Whatever", TimeState.RIGHT_CENSORED, Cause.UNKNOWN),
        ("", TimeState.RIGHT_CENSORED, Cause.UNKNOWN),
    ],
)
def test_why_mini_swe_agent_stopped(tmp_path: Path, status: str, time: TimeState, cause: Cause) -> None:
    (aside,) = read(tmp_path, mini(exit_status=status)).unreplayable
    assert (aside.time, aside.cause) == (time, cause)


@pytest.mark.parametrize(
    ("log", "says"),
    [
        (mini(("assistant", 5.0), ("tool", 4.0)), "earlier than what comes before it"),
        (mini(("assistant", 2.0)), "earlier than what comes before it"),
        ({**mini(), "trajectory_format": "mini-swe-agent-1"}, "expected 'mini-swe-agent-1.1'"),
    ],
)
def test_a_bad_mini_swe_agent_log_is_set_aside(tmp_path: Path, log: Any, says: str) -> None:
    (rejected,) = beside(tmp_path, log).rejected
    assert says in rejected.reason


def test_swe_agent_tells_tool_time_only(tmp_path: Path) -> None:
    """0.5 s and 1.25 s of tools; halves go to even, so 12.5 ticks are 12."""
    steps = [{"execution_time": 0.5}, {"execution_time": 1.25}]
    log = {"trajectory": steps, "info": {"exit_status": "submitted (exit_cost)"}}
    found = read(tmp_path, log, "django__django-1.traj")
    (aside,) = found.unreplayable
    assert [tuple(s) for s in aside.segments] == [("tool", 5), ("tool", 12)]
    assert "only tool time is logged" in aside.reason
    assert (aside.task, aside.cause, aside.score) == ("django__django-1", Cause.AGENT_LIMIT, None)
    assert "model time" in found.missing[aside.id]


def test_a_negative_execution_time_is_refused(tmp_path: Path) -> None:
    found = read(tmp_path, {"trajectory": [{"execution_time": -1}], "info": {}})
    assert "step 1: execution_time is -1, expected seconds" in found.rejected[0].reason


def r2e(*steps: tuple[float, float, float | None], **more: Any) -> dict[str, Any]:
    names = ("llm_exec_time", "env_exec_time", "total_step_time")
    made = [dict(zip(names, step, strict=True)) for step in steps]
    return {"trajectory_steps": made, "docker_image": "repo:1", "exit_reason": "agent", **more}


def test_r2e_gym_tells_each_steps_times(tmp_path: Path) -> None:
    """Step 1 takes 4.0 s in all: 3.0 of the model, 0.5 of the tool, 0.5 unexplained; the verifier 6 s."""
    log = r2e((3.0, 0.5, 4.0), (1.0, 2.0, 3.0), reward=1, reward_calc_time=6.0)
    found = read(tmp_path, log)
    expected = [("model", 30), ("tool", 5), ("unknown", 5), ("model", 10), ("tool", 20), ("verifier", 60)]
    assert segments(found) == expected
    (attempt,) = found.workload.attempts
    assert (attempt.score, attempt.cause, attempt.image) == (1.0, Cause.MODEL, "repo:1")
    assert found.missing[attempt.id] == ("setup",)


def test_r2e_gym_lines_are_attempts_of_their_own(tmp_path: Path) -> None:
    lines = [r2e((1.0, 1.0, None), reward=0), r2e((1.0, 1.0, None), exit_reason="llm_query_error", reward=0)]
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    first, second = read_workload(tmp_path / "x.jsonl", Assumptions()).workload.attempts
    assert (first.score, second.score) == (0.0, None)
    assert (first.cause, second.cause) == (Cause.MODEL, Cause.INFRASTRUCTURE)


@pytest.mark.parametrize(
    ("log", "says"),
    [
        (r2e((3.0, 2.0, 4.0)), "step 1: model and tool take longer than total_step_time"),
        (r2e((float(10**10), 2.0, None)), "expected seconds from 0 to 1e+09"),
        ({**r2e(), "trajectory_steps": [{"llm_exec_time": 1}]}, "env_exec_time is missing"),
        ({"trajectory_steps": []}, "the field 'docker_image' is missing"),
        (r2e(reward=True), "reward is True, expected a number"),
    ],
)
def test_a_bad_r2e_gym_log_is_set_aside(tmp_path: Path, log: Any, says: str) -> None:
    found = read(tmp_path, log)
    assert says in found.rejected[0].reason
    assert len(found.workload) == len(found.unreplayable) == 0


def test_a_folder_of_trajectories_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one.traj").write_text(json.dumps({"trajectory": [], "info": {}}))
    (tmp_path / "two.json").write_text(json.dumps(r2e((1.0, 1.0, None))))
    (tmp_path / "notes.txt").write_text("not an attempt")
    found = read_workload(tmp_path, Assumptions())
    assert (len(found.workload), len(found.unreplayable)) == (1, 1)
    assert [source.path for source in found.sources] == ["a/one.traj", "two.json"]
    assert any("notes.txt" in note for note in found.notes)


@pytest.mark.parametrize("content", ["", "   \n", "5", "[]", "{}", "no JSON", '{"schema_version": 3}'])
def test_what_no_reader_knows_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(SchedulingError, match=r"^x\.json: .*\.$"):
        read_workload(tmp_path / "x.json")


def test_a_missing_path_and_an_empty_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SchedulingError, match="there is no such file or folder"):
        read_workload(tmp_path / "nowhere")
    with pytest.raises(SchedulingError, match="no file below the folder is one of"):
        read_workload(tmp_path)
    with pytest.raises(SchedulingError, match="there is no such folder"):
        read_workload(TRIALS, tasks=tmp_path / "nowhere")
