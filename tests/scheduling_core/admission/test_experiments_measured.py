"""Measured tables of suspend and resume: read as they are, between sizes as stated, beyond them refused."""

from fractions import Fraction
from pathlib import Path

import pytest
from admission_cases import GIB, attempt, workload
from hypothesis import given
from hypothesis import strategies as st

from scheduling_core.admission.experiments.costs import Constant
from scheduling_core.admission.experiments.machine import suspended_replay
from scheduling_core.admission.experiments.measured import Between, Measured, read_measurements, run
from scheduling_core.admission.experiments.states import Conditions
from scheduling_core.admission.formats.documents import Source
from scheduling_core.admission.schedule import Limits
from scheduling_core.errors import SchedulingError

BYTES = 1 << 30
TABLE = f"""bytes,offload_s,restore_s,host
{BYTES},0.5,0.25,a
{3 * BYTES},1.5,0.45,a

{BYTES},0.7,0.20,b
{BYTES},0.6,0.99,b
"""
"""1 GiB: medians .6 and .25. 3 GiB: 1.5 and .45."""


def written(folder: Path, text: str | bytes, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def cost(folder: Path, between: Between = Between.LINEAR) -> Measured:
    return read_measurements(written(folder, TABLE), between).cost


@pytest.mark.parametrize(
    ("gib", "between", "expected"),
    [
        (1, Between.LINEAR, (6, 3)),  # .6 and .25 s: 6 and 2.5 ticks, rounded up
        (3, Between.LINEAR, (15, 5)),  # 1.5 and .45
        (2, Between.LINEAR, (11, 4)),  # halfway: 1.05 and .35, rounded up
        (1.25, Between.LINEAR, (8, 3)),  # an eighth: .7125 and .275
        (1.25, Between.NEAREST, (6, 3)),
        (1.75, Between.NEAREST, (6, 3)),
        (2, Between.NEAREST, (15, 5)),  # halfway: the larger
        (2.75, Between.NEAREST, (15, 5)),
    ],
)
def test_between_sizes(tmp_path: Path, gib: float, between: Between, expected: tuple[int, int]) -> None:
    assert cost(tmp_path, between).ticks(int(gib * GIB)) == expected


@pytest.mark.parametrize("kib", [0, GIB - 1, 3 * GIB + 1, 8 * GIB])
@pytest.mark.parametrize("between", list(Between))
def test_nothing_is_extrapolated(tmp_path: Path, kib: int, between: Between) -> None:
    table = cost(tmp_path, between)
    with pytest.raises(
        SchedulingError, match=f"{kib << 10} bytes were not measured, only {BYTES} to {3 * BYTES}"
    ):
        table.ticks(kib)
    of = workload(attempt("a", "model 90 tool 5", ram_kib=kib))
    with pytest.raises(SchedulingError, match="nothing is extrapolated"):
        suspended_replay(of, Limits(1), Conditions(table))


@given(st.integers(GIB, 3 * GIB), st.integers(GIB, 3 * GIB))
def test_a_line_between_rising_times_rises(first: int, second: int) -> None:
    points = ((BYTES, Fraction(6, 10), Fraction(1, 4)), (3 * BYTES, Fraction(3, 2), Fraction(9, 20)))
    table = Measured(Source("table.csv", ""), points, Between.LINEAR, 4)
    low, high = sorted((first, second))
    assert all(a <= b for a, b in zip(table.ticks(low), table.ticks(high), strict=True))


def test_a_table_that_says_a_constant_saves_what_the_constant_saves(tmp_path: Path) -> None:
    path = written(tmp_path, f"bytes,offload_s,restore_s\n{BYTES},0.2,0.3\n{4 * BYTES},0.2,0.3\n")
    of = workload(attempt("a", "setup 4 model 10 tool 6"), attempt("b", "model 6 tool 4", ram_kib=3 * GIB))
    measured = suspended_replay(of, Limits(1), Conditions(read_measurements(path).cost))
    assumed = suspended_replay(of, Limits(1), Conditions(Constant(2, 3)))
    assert measured.stays == assumed.stays


def test_bad_lines_are_set_aside_and_good_ones_kept(tmp_path: Path) -> None:
    lines = [
        "1.5,1,1",
        "-1,1,1",
        f"{BYTES},x,1",
        f"{BYTES},1,",
        f"{BYTES},1",
        f"{BYTES},nan,1",
        f"{BYTES},1,1e-99999",
    ]
    path = written(tmp_path, "\n".join(["bytes,offload_s,restore_s", *lines, f" {BYTES} ,0.1,0.1", ""]))
    found = read_measurements(path)
    assert found.cost.ticks(GIB) == (1, 1)
    assert [r.where for r in found.rejected] == [f"table.csv, line {k}" for k in range(2, 9)]
    assert [r.raw for r in found.rejected] == lines
    for rejected, word in zip(
        found.rejected,
        (
            "whole number", "from 0", "offload_s is 'x'", "restore_s is ''", "2 cells, expected 3", "'nan'",
            "from 0",
        ),
        strict=True,
    ):  # fmt: skip
        assert word in rejected.reason
        assert rejected.reason.startswith(rejected.where)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "table.csv: there is no measurement in it"),
        ("bytes,offload_s\n1,2\n", "table.csv, line 1: the column restore_s is missing"),
        ("bytes,offload_s,restore_s\n", "table.csv: there is no measurement in it"),
        ("bytes,offload_s,restore_s\nx,1,1\n", "table.csv, line 2: bytes is 'x'"),
        (b"\xff\xfe\x00\x01", "table.csv, line 1: the column bytes is missing"),
        ("bytes,offload_s,restore_s\n" + "9" * 200_000 + ",1,1\n", "table.csv, line 2: the line has 200,004"),
    ],
)  # fmt: skip
def test_a_file_without_a_measurement_is_refused(tmp_path: Path, text: str | bytes, sentence: str) -> None:
    with pytest.raises(SchedulingError) as refused:
        read_measurements(written(tmp_path, text))
    assert str(refused.value).startswith(sentence)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SchedulingError, match=r"none.csv: the file can't be read"):
        read_measurements(tmp_path / "none.csv")


def test_bytes_before_the_header_do_not_matter(tmp_path: Path) -> None:
    plain = read_measurements(written(tmp_path, TABLE)).cost
    marked = read_measurements(written(tmp_path, b"\xef\xbb\xbf" + TABLE.replace("\n", "\r\n").encode())).cost
    assert marked.points == plain.points


def test_the_outcome_sets_measured_beside_assumed_costs(tmp_path: Path) -> None:
    of = workload(attempt("a", "setup 4 model 30 tool 6"))  # 2 GiB: 11 and 4 ticks
    found = run(of, Limits(1), cost(tmp_path), seconds=(0, 1))
    rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    named = [r["cost of a suspended call"] for r in rows]
    assert named == ["0 s a call"] * 2 + ["1 s a call"] * 2 + ["table.csv, linear"] * 2
    assert [r["saved share of RAM-hours"] for r in rows[::2]] == [30 / 40, 20 / 40, 15 / 40]
    assert found.parameters["table_sha256"] == cost(tmp_path).source.sha256
    assert any("4 measurements of 2 sizes" in sentence for sentence in found.assumed)
    values = found.charts["measurements"]["data"]["values"]
    assert {"size": 2.0, "seconds": 1.1, "way": "offload", "what": "used"} in values
    assert len(values) == 6
