"""Whatever JSON or bytes a log holds, a reader gives attempts, sets records aside, or says one sentence."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scheduling_core.admission.attempts import Attempt, Segment, SegmentKind, ranked
from scheduling_core.admission.census import census
from scheduling_core.admission.formats import Assumptions, Import, read_workload
from scheduling_core.admission.formats.compact import lines
from scheduling_core.admission.formats.tasks import task_of
from scheduling_core.errors import SchedulingError

TRIALS = Path(__file__).parent / "trials" / "trials.jsonl"
NUMBERS = st.sampled_from([0, -1, 10**40, 10**400, 1e308, -0.0, 0.05, True, False]) | st.floats()
SCALARS = (
    st.none() | NUMBERS | st.text(max_size=6) | st.sampled_from(["2026-01-01T00:00:00Z", "\ud800", "2G"])
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
)
ODD = (HealthCheck.function_scoped_fixture, HealthCheck.too_slow)
STARTS = st.sampled_from([b"", b"\x1f\x8b\x08", b"{", b"[", b"\xef\xbb\xbf"])
BYTES = st.binary(max_size=60)


def good() -> dict[str, Any]:
    """A record of each format that is read without fault."""
    packed = [json.loads(line) for line in TRIALS.read_text().splitlines()]
    attempt = Attempt("a", "t", "i", 0, 0, (Segment(SegmentKind.MODEL, 4),), 1, 2, 3, 4)
    return {
        "harbor": packed[0],
        "many steps": packed[10],
        "atif": {
            "schema_version": "ATIF-v1.4", "session_id": "s",
            "steps": [
                {"step_id": 1, "source": "user", "timestamp": "2026-01-01T00:00:01Z"},
                {"step_id": 2, "source": "agent", "timestamp": "2026-01-01T00:00:03Z"},
            ],
        },
        "mini": {
            "trajectory_format": "mini-swe-agent-1.1", "info": {"exit_status": "Submitted"},
            "messages": [
                {"role": "assistant", "extra": {"timestamp": 5.0}},
                {"role": "tool", "extra": {"timestamp": 6.0}},
            ],
        },
        "swe": {"trajectory": [{"execution_time": 1.0}], "info": {"exit_status": "submitted"}},
        "r2e": {
            "trajectory_steps": [{"llm_exec_time": 1.0, "env_exec_time": 1.0, "total_step_time": 2.5}],
            "docker_image": "i", "exit_reason": "agent", "reward": 1, "reward_calc_time": 3.0,
            "env_args": {"ds": {"instance_id": "x"}},
        },
        "deepswe": {
            "id": "d", "arrival": 0, "task": 3, "image": 7, "image_gib": 1.5, "cpu": 2, "ram_gib": 8,
            "disk_gib": 20, "status": "ok", "segments": [["model", 7]], "dur": 7, "synthetic": True,
        },
        "compact": json.loads(lines(ranked("w", [attempt])).splitlines()[1]),
    }  # fmt: skip


GOOD = good()
HEADER = lines(ranked("w", [])).splitlines()[0]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values inside a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


PLACES = [(name, path) for name, value in GOOD.items() for path in places(value)]


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


def is_sentence(said: str, name: str) -> None:
    assert said.startswith(name)
    assert said.endswith(".")
    assert "\n" not in said


def read(path: Path, content: bytes) -> Import | None:
    """What was read, checked for what holds of anything; None where it was refused in a sentence."""
    path.write_bytes(content)
    try:
        found = read_workload(path, Assumptions())
    except SchedulingError as error:
        is_sentence(str(error), path.name)
        return None
    for rejected in found.rejected:
        is_sentence(rejected.reason, path.name)
        json.dumps([rejected.where, rejected.reason, rejected.raw]).encode()
    for attempt in found.workload.attempts:
        assert attempt.ticks > 0
        assert all(segment.ticks > 0 for segment in attempt.segments)
        assert min(attempt.cpu_milli, attempt.ram_kib, attempt.disk_kib, attempt.image_kib) >= 0
    assert len(found.workload.sha256) == 64
    json.dumps(census(found).row(), allow_nan=False)
    return found


def written(name: str, value: Any) -> bytes:
    line = json.dumps(value).encode()
    return HEADER + b"\n" + line + b"\n" if name == "compact" else line + b"\n"


def test_every_good_record_is_read(tmp_path: Path) -> None:
    """Else the fuzzing below would only meet refusals."""
    for name, value in GOOD.items():
        found = read(tmp_path / "x.jsonl", written(name, value))
        assert found is not None
        assert len(found.workload) + len(found.unreplayable) == 1, name


@settings(max_examples=300, suppress_health_check=ODD)
@given(place=st.sampled_from(PLACES), value=JSON)
def test_any_json_in_any_place_is_read_or_set_aside(tmp_path: Path, place: Any, value: Any) -> None:
    """One record is one attempt, one rejected record, or a refusal: it is never lost."""
    name, path = place
    found = read(tmp_path / "x.jsonl", written(name, replaced(GOOD[name], path, value)))
    if found is not None:
        assert len(found.workload) + len(found.unreplayable) + len(found.rejected) >= 1


@settings(max_examples=100, suppress_health_check=ODD)
@given(value=JSON)
def test_any_json_for_a_record_among_good_ones_leaves_them(tmp_path: Path, value: Any) -> None:
    other = TRIALS.read_text().splitlines()[1].encode()
    found = read(tmp_path / "x.jsonl", json.dumps(value).encode() + b"\n" + other)
    assert found is not None
    assert [a.id for a in found.workload.attempts] == ["alpha__wrong"]
    assert len(found.rejected) == 1


@settings(suppress_health_check=ODD)
@given(content=BYTES, kind=STARTS)
def test_any_bytes_are_refused_in_a_sentence(tmp_path: Path, content: bytes, kind: bytes) -> None:
    assert read(tmp_path / "x.jsonl", kind + content) is None


@settings(suppress_health_check=ODD)
@given(content=BYTES | st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace")))
def test_any_bytes_for_a_task_file_are_refused_or_read(content: bytes) -> None:
    try:
        task_of(content, "t/task.toml")
    except SchedulingError as error:
        is_sentence(str(error), "t/task.toml")


@pytest.mark.parametrize("name", sorted(GOOD))
def test_each_missing_field_is_told_or_known_to_be_missing(tmp_path: Path, name: str) -> None:
    """No field can vanish with a traceback, whichever it is."""
    for field in GOOD[name]:
        rest = {key: value for key, value in GOOD[name].items() if key != field}
        read(tmp_path / "x.jsonl", written(name, rest))
