"""Utilisation beside reservation: hand-written samples, what is wrong with them, and what stays unknown."""

import json
from pathlib import Path

import pytest
from admission_cases import GIB, attempt, workload
from hypothesis import given
from hypothesis import strategies as st

from scheduling_core.admission.attempts import Workload
from scheduling_core.admission.experiments.samples import Sample, Samples, read_samples
from scheduling_core.admission.experiments.utilisation import (
    Violation,
    _highest,
    measured_use,
    run,
    used_intervals,
    violations,
)
from scheduling_core.admission.formats.documents import Source
from scheduling_core.admission.metrics import Use
from scheduling_core.admission.schedule import Limits, Policy
from scheduling_core.errors import SchedulingError

HEADER = "attempt,second,cpu_cores,rss_bytes"
G = 1 << 30
# a runs for 2.5 s: set-up to 1.2, a call to 2.2, a tool to 2.5. b for 1 s. Quotas: 1 core, 2 GiB.
OF = workload(attempt("a", "setup 12 model 10 tool 3"), attempt("b", "tool 10"))
WHOLE = f"{HEADER}\na,0,0.5,{G}\na,1,0.25,{G}\na,2,1,{2 * G}\nb,0,0.75,{G // 2}\n"


def read(folder: Path, text: str | bytes, of: Workload = OF, name: str = "samples.csv") -> Samples:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_samples(path, of)


def test_peak_and_hours_of_a_schedule_by_hand(tmp_path: Path) -> None:
    """a from 0 to 25, b from 5 to 15, in ticks.

    CPU: .5, at 5 .5 + .75, at 10 .25 + .75, at 15 .25, at 20 1. Area: 10 x .5 + 10 x .25 + 5 x 1 + 10 x .75.
    RAM: 1 and 1 and 2 GiB of a, .5 of b: peak 2, area 10 + 10 + 10 + 5.
    """
    samples = read(tmp_path, WHOLE)
    cpu = measured_use(OF, [0, 5], samples, "cpu")
    ram = measured_use(OF, [0, 5], samples, "ram")
    assert cpu is not None
    assert ram is not None
    assert cpu.known == Use(1250, 5000 + 2500 + 5000 + 7500)
    assert ram.known == Use(2 * GIB, 35 * GIB)
    assert (cpu.complete, cpu.sampled_ticks, cpu.all_ticks) == (True, 35, 35)
    # One after the other: a to 25, then b. The peak is that of a's last half second.
    apart = measured_use(OF, [0, 25], samples, "cpu")
    assert apart is not None
    assert apart.known == Use(1000, 20_000)


def test_json_lines_say_the_same_as_csv(tmp_path: Path) -> None:
    rows = [line.split(",") for line in WHOLE.split()[1:]]
    lines = [
        json.dumps({"attempt": a, "second": int(s), "cpu_cores": float(c), "rss_bytes": int(r), "host": "x"})
        for a, s, c, r in rows
    ]
    assert read(tmp_path, "\n".join(lines)).of == read(tmp_path, WHOLE).of


def test_only_a_line_feed_ends_a_line(tmp_path: Path) -> None:
    of = workload(attempt("a\u2028b", "tool 25"))
    row = '{"attempt": "a\u2028b", "second": 0, "cpu_cores": 1, "rss_bytes": 1}'
    assert len(read(tmp_path, f"{row}\r\n", of).of["a\u2028b"]) == 1
    assert len(read(tmp_path, f"{HEADER}\r\na\u2028b,0,1,1\r\n", of).of["a\u2028b"]) == 1


def test_used_amounts_are_rounded_up_so_that_comparisons_stay(tmp_path: Path) -> None:
    samples = read(tmp_path, f"{HEADER}\nb,0,1.0000001,{2 * G + 1}\n")
    assert samples.of["b"][0].cpu_milli == 1001
    assert samples.of["b"][0].rss_kib == 2 * GIB + 1
    assert [(v.resource, v.policy) for v in violations(OF, samples)] == [
        ("cpu", Policy.WHOLE), ("ram", Policy.WHOLE), ("cpu", Policy.ACTIVE), ("ram", Policy.ACTIVE),
    ]  # fmt: skip
    assert not violations(OF, read(tmp_path, f"{HEADER}\nb,0,1.0,{2 * G}\n"))


def test_a_violation_is_listed_and_not_cut(tmp_path: Path) -> None:
    samples = read(tmp_path, f"{HEADER}\na,0,3.5,{G}\na,1,0,{5 * G}\n")
    assert violations(OF, samples) == [
        Violation("a", 0, "cpu", Policy.WHOLE, 3500, 1000),
        Violation("a", 0, "cpu", Policy.ACTIVE, 3500, 1000),
        Violation("a", 1, "ram", Policy.WHOLE, 5 * GIB, 2 * GIB),
        Violation("a", 1, "ram", Policy.ACTIVE, 5 * GIB, 2 * GIB),
    ]
    found = run(OF, Limits(2), samples)
    cpu, ram = (dict(zip(found.columns, row, strict=True)) for row in found.rows)
    assert (cpu["used_peak_at_least"], ram["used_peak_at_least"]) == (3.5, 5.0)
    assert (cpu["violations_W"], cpu["violations_A"], ram["violations_W"]) == (1, 1, 1)
    listed = found.charts["violations"]["data"]["values"]
    assert [(v["attempt"], v["second"], v["over"]) for v in listed[::2]] == [("a", 0, 2.5), ("a", 1, 3.0)]
    assert any("4 samples pass" in sentence for sentence in found.assumed)


def test_cpu_in_a_second_of_calls_alone_is_not_reserved_under_a(tmp_path: Path) -> None:
    """The call is from 1.2 to 3.5 s: of its seconds only second 2 lies in it altogether."""
    of = workload(attempt("a", "setup 12 model 23 tool 5"))
    text = "\n".join([HEADER, *(f"a,{second},0.1,{G}" for second in range(4))])
    assert violations(of, read(tmp_path, text, of)) == [Violation("a", 2, "cpu", Policy.ACTIVE, 100, 0)]


def test_what_was_not_sampled_is_unknown_and_not_0(tmp_path: Path) -> None:
    samples = read(tmp_path, f"{HEADER}\na,0,0.5,{G}\n")
    found = run(OF, Limits(2), samples)
    cpu, ram = (dict(zip(found.columns, row, strict=True)) for row in found.rows)
    for row in (cpu, ram):
        assert row["used_peak"] is None
        assert row["used_hours"] is None
        assert row["sampled_share"] == 10 / 35
        assert row["attempts_without_samples"] == 1
    assert (cpu["used_peak_at_least"], cpu["used_hours_at_least"]) == (0.5, 0.5 * 10 / 36_000)
    nothing = Samples(samples.source, {}, ())
    assert measured_use(OF, [0, 0], nothing, "cpu") is None
    for cells in run(OF, Limits(2), nothing).rows:
        row = dict(zip(found.columns, cells, strict=True))
        used = [row[name] for name in found.columns if name.startswith("used_")]
        assert used == [None] * 4
        assert row["sampled_share"] == 0
    used = [v for v in found.charts["fifo_cpu"]["data"]["values"] if v["series"] == "used"]
    assert [v["amount"] for v in used[:10]] == [None] * 10  # b runs too, and wasn't sampled
    assert all(v["amount"] is None for v in used[10:])


def test_reserved_and_used_stand_beside_each_other(tmp_path: Path) -> None:
    found = run(OF, Limits(2), read(tmp_path, WHOLE), schedules={"apart": [0, 25]})
    rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    assert [(r["schedule"], r["resource"]) for r in rows] == [
        ("fifo", "cpu"), ("fifo", "ram"), ("apart", "cpu"), ("apart", "ram"),
    ]  # fmt: skip
    fifo_cpu, _, apart_cpu, apart_ram = rows
    # FIFO starts both at 0: 2 cores reserved, .5 + .75 used; the hours are those of 35 and of 25 ticks.
    assert (fifo_cpu["reserved_peak_W"], fifo_cpu["reserved_peak_A"], fifo_cpu["used_peak"]) == (2, 2, 1.25)
    assert (apart_cpu["reserved_peak_W"], apart_cpu["used_peak"]) == (1, 1)
    assert apart_cpu["used_hours"] == fifo_cpu["used_hours"] == 20 / 36_000
    assert (apart_cpu["reserved_hours_W"], apart_cpu["reserved_hours_A"]) == (35 / 36_000, 25 / 36_000)
    assert (apart_ram["used_peak"], apart_ram["used_hours"]) == (2, 35 / 36_000)
    assert set(found.schedules) == {"fifo", "apart"}
    assert set(found.charts) == {"fifo_cpu", "fifo_ram", "apart_cpu", "apart_ram", "violations"}
    values = found.charts["fifo_cpu"]["data"]["values"]
    assert {v["series"] for v in values} == {"reserved, W", "reserved, A", "used"}
    assert [v["amount"] for v in values if v["series"] == "used"] == [1.25] * 10 + [0.25] * 10 + [1.0] * 5
    assert found.charts["fifo_cpu"]["encoding"]["y"]["title"] == "CPU (cores)"
    assert found.charts["fifo_ram"]["encoding"]["y"]["title"] == "RAM (GiB)"


BAD: list[tuple[str, str]] = [
    (f"c,0,1,{G}", "there is no attempt 'c'"),
    (f"a,3,1,{G}", "second 3 is after the end of attempt 'a', which lasts 2.5 s"),
    (f"a,0,1,{G}", "second 0 of attempt 'a' stands above too"),
    (f"a,x,1,{G}", "second is 'x', expected a number from 0"),
    (f"a,0.5,1,{G}", "second is '0.5', expected a whole number"),
    (f"a,1,-1,{G}", "cpu_cores is '-1', expected a number from 0"),
    (f"a,1,nan,{G}", "cpu_cores is 'nan'"),
    ("a,1,1,inf", "rss_bytes is 'inf'"),
    ("a,1,1,", "rss_bytes is missing, so what was used isn't known"),
    (f"a,1,,{G}", "cpu_cores is missing"),
    ("a,1,1", "there are 3 cells, expected 4"),
    (f"a,1,9999999,{G}", "more than a machine has"),
    ("a,1," + "9" * 140_000 + ",1", "characters, expected a row of numbers"),
]


def test_bad_samples_are_set_aside_with_their_reason_and_good_ones_kept(tmp_path: Path) -> None:
    text = "\n".join([HEADER, f"a,0,0.5,{G}", *(line for line, _ in BAD), f"b,0,0.5,{G}"])
    found = read(tmp_path, text)
    assert {name: len(taken) for name, taken in found.of.items()} == {"a": 1, "b": 1}
    assert [r.raw for r in found.rejected] == [line for line, _ in BAD]
    for number, (rejected, (_, sentence)) in enumerate(zip(found.rejected, BAD, strict=True), 3):
        assert rejected.where == f"samples.csv, line {number}"
        assert rejected.reason.startswith(f"{rejected.where}: ")
        assert sentence in rejected.reason


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('{"attempt": "a", "second": 1, "cpu_cores": null, "rss_bytes": 1}', "cpu_cores is missing"),
        ('{"attempt": "a", "second": true, "cpu_cores": 1, "rss_bytes": 1}', "second is True"),
        ('{"attempt": ["a"], "second": 1, "cpu_cores": 1, "rss_bytes": 1}', "attempt is a list"),
        ('{"attempt": "a", "second": 1, "cpu_cores": NaN, "rss_bytes": 1}', "it holds NaN"),
        ('{"attempt": "a", "second": 1e999, "cpu_cores": 1, "rss_bytes": 1}', "second is inf"),
        ('{"attempt": "a", "second"', "this is no JSON"),
        ("[1, 2]", "this is no object"),
        ('{"attempt": "a", "second": 1, "cpu_cores": {}, "rss_bytes": 1}', "cpu_cores is an object"),
    ],
)
def test_bad_json_lines_are_set_aside(tmp_path: Path, line: str, sentence: str) -> None:
    good = '{"attempt": "a", "second": 0, "cpu_cores": 1, "rss_bytes": 1}'
    found = read(tmp_path, f"{good}\n\n{line}\n")
    assert list(found.of) == ["a"]
    (rejected,) = found.rejected
    assert rejected.where == "samples.csv, line 3"
    assert sentence in rejected.reason


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "samples.csv: there is no sample in it"),
        (HEADER, "samples.csv: there is no sample in it"),
        ("attempt,second,cpu_cores\na,0,1\n", "samples.csv, line 1: the column rss_bytes is missing"),
        (f"{HEADER}\nc,0,1,1\n", "samples.csv, line 2: there is no attempt 'c'"),
        (b"\x00\xff\x00\n", "samples.csv, line 1: the column attempt is missing"),
    ],
)
def test_a_file_without_a_sample_is_refused(tmp_path: Path, text: str | bytes, sentence: str) -> None:
    with pytest.raises(SchedulingError) as refused:
        read(tmp_path, text)
    assert str(refused.value).startswith(sentence)


SAMPLES = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9), st.integers(0, 4)), max_size=6)


@given(SAMPLES, st.integers(1, 7), st.integers(0, 24))
def test_the_highest_in_each_stretch_is_the_highest_of_its_ticks(
    rows: list[tuple[int, int, int]], width: int, last: int
) -> None:
    intervals = [(start, start + length, amount) for start, length, amount in rows]
    held = [sum(a for s, e, a in intervals if s <= tick < e) for tick in range(last)]
    expected = [max(held[k : k + width]) for k in range(0, last, width)]
    assert _highest(intervals, width, last) == expected


@given(st.data())
def test_used_at_each_tick_is_the_sum_of_the_samples_there(data: st.DataObject) -> None:
    seconds = {name: data.draw(st.lists(st.integers(0, 1000), min_size=3, max_size=3)) for name in "ab"}
    of = workload(attempt("a", "tool 25"), attempt("b", "tool 21"))
    taken = {n: tuple(Sample(s, c, c) for s, c in enumerate(used)) for n, used in seconds.items()}
    samples = Samples(Source("samples.csv", ""), taken, ())
    starts = [data.draw(st.integers(0, 9)) for _ in range(2)]
    found = measured_use(of, starts, samples, "cpu")
    used = [
        sum(
            seconds[name][(tick - start) // 10]
            for name, start, length in (("a", starts[0], 25), ("b", starts[1], 21))
            if start <= tick < start + length
        )
        for tick in range(40)
    ]
    assert found is not None
    assert found.known == Use(max(used), sum(used))
    assert found.complete
    ram = sum((e - s) * amount for s, e, amount in used_intervals(of, starts, samples, "ram"))
    assert ram == sum(used)
