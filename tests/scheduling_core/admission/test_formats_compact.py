"""The compact form gives back what it was given, byte for byte; the supplied rows are read."""

import gzip
import importlib.util
import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling_core.admission.attempts import (
    TICKS_PER_HOUR,
    Attempt,
    Cause,
    Segment,
    SegmentKind,
    TimeState,
    Workload,
    canonical,
    ranked,
)
from scheduling_core.admission.formats import read_workload, write_workload
from scheduling_core.admission.formats.compact import lines, read
from scheduling_core.admission.formats.documents import documents
from scheduling_core.admission.formats.records import Collector, Import
from scheduling_core.admission.metrics import saved_share
from scheduling_core.admission.replay import fifo
from scheduling_core.admission.schedule import Limits
from scheduling_core.errors import SchedulingError

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8).filter(str.strip)
WHOLE = st.integers(0, (1 << 53) - 1)
SEGMENTS = st.lists(
    st.builds(Segment, st.sampled_from(SegmentKind), st.integers(1, (1 << 53) - 1)), min_size=1, max_size=4
).map(tuple)
ATTEMPTS = st.builds(
    Attempt, id=TEXTS, task=TEXTS, image=TEXTS, rank=st.just(0), release=WHOLE, segments=SEGMENTS,
    cpu_milli=WHOLE, ram_kib=WHOLE, disk_kib=WHOLE, image_kib=WHOLE,
    score=st.none() | st.integers(-3, 3) | st.floats(allow_nan=False, allow_infinity=False),
    time=st.sampled_from(TimeState), cause=st.sampled_from(Cause), exception=st.none() | TEXTS,
    started=st.none() | WHOLE, tenant=st.none() | TEXTS,
    assumed=st.lists(st.sampled_from(["cpu_milli", "ram_kib"])).map(tuple), synthetic=st.booleans(),
)  # fmt: skip


@st.composite
def workloads(draw: st.DrawFn) -> Workload:
    attempts = draw(st.lists(ATTEMPTS, max_size=4, unique_by=lambda attempt: attempt.id))
    sizes = {attempt.image: attempt.image_kib for attempt in attempts}
    return ranked(draw(TEXTS), [replace(a, image_kib=sizes[a.image]) for a in attempts])


def read_back(content: bytes) -> Import:
    return read(documents(content, "x.jsonl"), "x.jsonl", Collector())


@given(workloads())
def test_a_workload_comes_back_equal_and_its_bytes_the_same(workload: Workload) -> None:
    content = lines(workload)
    found = read_back(content)
    assert (found.workload, found.rejected, found.notes) == (workload, (), ())
    assert lines(found.workload) == content


@pytest.fixture
def small() -> Workload:
    base = Attempt(
        "a", "t", "i", 0, 0, (Segment(SegmentKind.SETUP, 3), Segment(SegmentKind.MODEL, 4)), 1000, 2, 3, 4
    )
    return ranked("small", [base, replace(base, id="b", score=1.0), replace(base, id="c", task="u")])


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz"])
def test_a_file_comes_back_and_is_written_alike_twice(tmp_path: Path, small: Workload, name: str) -> None:
    write_workload(small, tmp_path / name)
    first = (tmp_path / name).read_bytes()
    found = read_workload(tmp_path / name)
    assert (found.workload, found.rejected) == (small, ())
    write_workload(found.workload, tmp_path / name)
    assert (tmp_path / name).read_bytes() == first
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_each_line_is_canonical_and_the_header_says_what_follows(small: Workload) -> None:
    content = lines(small).decode().splitlines()
    assert json.loads(content[0]) == {
        "format": "admission-workload", "version": 1, "name": "small", "attempts": 3,
        "workload_sha256": small.sha256,
    }  # fmt: skip
    assert all(canonical(json.loads(line)) == line for line in content)


def test_another_ending_is_refused_and_writes_nothing(tmp_path: Path, small: Workload) -> None:
    with pytest.raises(SchedulingError, match=r"x\.csv: expected a name that ends in"):
        write_workload(small, tmp_path / "x.csv")
    assert not list(tmp_path.iterdir())


if importlib.util.find_spec("pyarrow"):

    def test_parquet_comes_back_and_is_written_alike_twice(tmp_path: Path, small: Workload) -> None:
        path = tmp_path / "x.parquet"
        write_workload(small, path)
        first = path.read_bytes()
        found = read_workload(path)
        assert (found.workload, found.rejected) == (small, ())
        write_workload(found.workload, path)
        assert path.read_bytes() == first

    def test_parquet_that_is_damaged_or_of_something_else_is_refused(tmp_path: Path, small: Workload) -> None:
        path = tmp_path / "x.parquet"
        write_workload(small, path)
        path.write_bytes(path.read_bytes()[:-9])
        with pytest.raises(SchedulingError, match="this is no Parquet file"):
            read_workload(path)


def test_parquet_without_pyarrow_says_what_it_needs(
    tmp_path: Path, small: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(SchedulingError, match=r"Parquet needs the package pyarrow"):
        write_workload(small, tmp_path / "x.parquet")
    (tmp_path / "y.parquet").write_bytes(b"PAR1")
    with pytest.raises(SchedulingError, match=r"Parquet needs the package pyarrow"):
        read_workload(tmp_path / "y.parquet")


def edited(workload: Workload, change: Callable[[list[dict[str, Any]]], None]) -> bytes:
    rows = [json.loads(line) for line in lines(workload).splitlines()]
    change(rows)
    return "".join(canonical(row) + "\n" for row in rows).encode()


@pytest.mark.parametrize(
    ("change", "kept", "says"),
    [
        (lambda rows: rows[2].update(cpu_milli=-1), ["a", "c"], "cpu_milli is -1"),
        (lambda rows: rows[2].update(segments=[["model", 0]]), ["a", "c"], "length 0"),
        (lambda rows: rows[2].update(segments=[[["model"], 1]]), ["a", "c"], "kind"),
        (lambda rows: rows[2].update(score=True), ["a", "c"], "score is True"),
        (lambda rows: rows[2].update(colour="red"), ["a", "c"], "no field 'colour'"),
        (lambda rows: rows[2].pop("task"), ["a", "c"], "'task' is missing"),
        (lambda rows: rows[2].update(id="a"), ["a", "c"], "attempt 'a' stands above"),
        (lambda rows: rows[2].update(rank=0), ["a", "c"], "rank is 0, expected more than 0"),
        (lambda rows: rows[2].update(image_kib=5), ["a", "c"], "image 'i' has 5 KiB here and 4"),
        (lambda rows: rows.__setitem__(2, 7), ["a", "c"], "this is 7, expected an object"),
    ],
)
def test_a_bad_line_is_set_aside_and_the_header_notices(
    small: Workload, change: Any, kept: list[str], says: str
) -> None:
    found = read_back(edited(small, change))
    assert [a.id for a in found.workload.attempts] == kept
    assert [a.rank for a in found.workload.attempts] == [0, 1]
    assert says in found.rejected[0].reason
    assert found.rejected[0].reason.startswith("x.jsonl, line 3")
    assert "lines are lost or changed" in found.rejected[-1].reason


def test_a_lost_or_changed_line_is_noticed_by_the_header(small: Workload) -> None:
    for change in (lambda rows: rows.pop(), lambda rows: rows[3].update(task="other")):
        (rejected,) = read_back(edited(small, change)).rejected
        assert "the header speaks of 3 attempts with another hash" in rejected.reason


@pytest.mark.parametrize("version", [0, 2, None, True, "1"])
def test_another_version_is_refused(small: Workload, version: Any) -> None:
    with pytest.raises(SchedulingError, match=r"version is .*, expected 1"):
        read_back(edited(small, lambda rows: rows[0].update(version=version)))


def test_a_file_whose_first_line_is_no_header_is_refused(tmp_path: Path, small: Workload) -> None:
    first, *rest = lines(small).splitlines(keepends=True)
    (tmp_path / "x.jsonl").write_bytes(b"".join([*rest, first]))
    with pytest.raises(SchedulingError, match="the first line is no header"):
        read_workload(tmp_path / "x.jsonl")


ROW = {
    "id": "d-0", "arrival": 0, "task": 3, "image": 7, "image_gib": 1.5, "cpu": 2, "ram_gib": 8,
    "disk_gib": 20, "status": "ok", "segments": [["setup", 5], ["model", 7]], "dur": 12, "synthetic": True,
}  # fmt: skip


def rows(tmp_path: Path, *given: dict[str, Any]) -> Import:
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in given).encode()))
    return read_workload(path)


def test_a_supplied_row_is_an_attempt_without_score(tmp_path: Path) -> None:
    (attempt,) = rows(tmp_path, ROW).workload.attempts
    assert (attempt.task, attempt.image, attempt.image_kib) == ("3", "7", 3 << 19)
    assert (attempt.cpu_milli, attempt.ram_kib, attempt.disk_kib) == (2000, 8 << 20, 20 << 20)
    assert (attempt.ticks, attempt.score, attempt.synthetic, attempt.clean) == (12, None, True, True)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"dur": 13}, "dur is 13, expected the"),
        ({"cpu": True}, "cpu is True, expected a number"),
        ({"image_gib": None}, "image_gib is None, expected a number"),
        ({"arrival": -1}, "rank is -1"),
        ({"segments": []}, "segments is []"),
        ({"task": True}, "task is True, expected a text"),
        ({"synthetic": "yes"}, "synthetic is 'yes', expected true or false"),
    ],
)
def test_a_bad_row_is_set_aside(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    found = rows(tmp_path, {**ROW, **change}, {**ROW, "id": "d-1", "arrival": 1})
    assert [a.id for a in found.workload.attempts] == ["d-1"]
    assert says in found.rejected[0].reason


def test_a_row_with_another_status_is_censored_of_an_unknown_cause(tmp_path: Path) -> None:
    (attempt,) = rows(tmp_path, {**ROW, "status": "killed"}).workload.attempts
    assert (attempt.time, attempt.cause) == (TimeState.RIGHT_CENSORED, Cause.UNKNOWN)
    assert attempt.exception == "killed"


@pytest.mark.parametrize(
    ("status", "cause"),
    [("infra_error", Cause.INFRASTRUCTURE), ("agent_timeout_censored", Cause.AGENT_LIMIT)],
)
def test_a_status_that_names_the_cause_is_taken_at_its_word(
    tmp_path: Path, status: str, cause: Cause
) -> None:
    (attempt,) = rows(tmp_path, {**ROW, "status": status}).workload.attempts
    assert (attempt.time, attempt.cause, attempt.exception) == (TimeState.RIGHT_CENSORED, cause, status)


def test_the_supplied_instance_gives_the_published_figures(shared: Path) -> None:
    """The table of the DeepSWE-like instance: D 7.900 h with 64 slots, and -78.2 % from W to A."""
    found = read_workload(shared / "data/deepswe_like/attempts.jsonl.gz")
    assert (len(found.workload), found.rejected, found.workload.synthetic) == (2000, (), True)
    starts = fifo(found.workload, Limits(64)).starts
    ends = [start + attempt.ticks for start, attempt in zip(starts, found.workload.attempts, strict=True)]
    assert round(max(ends) / TICKS_PER_HOUR, 3) == 7.9
    assert round(saved_share(found.workload), 3) == Fraction(782, 1000)
