"""Charts compile and say what is so; what they are drawn from is exact, and made smaller only exactly."""

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
import vl_convert
from hypothesis import given
from hypothesis import strategies as st

import scheduling_core.queueing.charts.distributions as distributions
import scheduling_core.queueing.charts.gantt as gantt
import scheduling_core.queueing.charts.over_time as over_time
from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.charts import (
    TradeOff,
    gantt_chart,
    jct_chart,
    over_time_chart,
    trade_off,
    trade_off_chart,
    wait_chart,
)  # fmt: skip
from scheduling_core.queueing.charts.common import COLOURS, DASHES, exact
from scheduling_core.queueing.cluster import Placement, homogeneous
from scheduling_core.queueing.jobs import Job, Trace
from scheduling_core.queueing.lanes import Held, lane_names, lanes
from scheduling_core.queueing.metrics import metrics
from scheduling_core.queueing.outcome import Outcome
from scheduling_core.queueing.policies import policy
from scheduling_core.queueing.simulator import simulate
from scheduling_core.queueing.steps import distribution, reduced

# FIFO on 2 GPUs: a in [0, 4), b on both in [4, 7), c in [7, 27).
JOBS = (Job("a", 0, 1, 4, deadline=4), Job("b", 1, 2, 3, deadline=6), Job("c", 2, 1, 20))
CLUSTER = homogeneous(2, 1, Placement.CONSOLIDATED)


def run(name: str = "fifo", jobs: tuple[Job, ...] = JOBS, **options: Any) -> Outcome:
    cluster = options.pop("cluster", homogeneous(2))
    return simulate(Trace("a case", jobs), cluster, policy(name), decisions=True, series=True, **options)


def drawn(spec: dict[str, Any]) -> str:
    """The picture; the specification is plain JSON, says what it is, and names its version."""
    assert json.loads(json.dumps(spec, allow_nan=False)) == spec
    assert spec["$schema"].endswith("/v5.json")
    assert spec["description"].endswith(".")
    svg = str(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]))
    assert "<path" in svg
    return svg


def notes(spec: dict[str, Any]) -> str:
    return " | ".join(spec["title"]["subtitle"])


def test_distributions_by_hand() -> None:
    """JCT 4, 6, 25; queueing 0, 3, 5. The JCT's axis begins at 1, the power of ten below 4."""
    spec = jct_chart([run()])
    rows = spec["data"]["values"]
    assert [(row["seconds"], row["exact"], row["jobs"]) for row in rows] == [
        (1.0, "1", "0 of 3"), (4.0, "4", "1 of 3"), (6.0, "6", "2 of 3"), (25.0, "25", "3 of 3"),
    ]  # fmt: skip
    waits = wait_chart([run()])
    assert [(row["seconds"], row["jobs"]) for row in waits["data"]["values"]] == [
        (0.0, "1 of 3"), (3.0, "2 of 3"), (5.0, "3 of 3"),
    ]  # fmt: skip
    for one in (spec, waits):
        assert one["mark"]["interpolate"] == "step-after"
        assert notes(one) == "3 jobs on each curve"
        assert "fifo" in drawn(one)


def test_oracles_are_told_apart_in_every_legend() -> None:
    runs = [run("fifo"), run("srtf")]
    for spec in (jct_chart(runs), wait_chart({"one": runs[0], "two": runs[1]}), over_time_chart(runs)):
        text = drawn(spec)
        assert "(reads durations)" in text
        assert "fifo (reads durations)" not in text


def test_many_times_are_told_by_exact_quantiles_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """20 jobs one after the other: JCTs 1..20; ranks ceil(20 k / 4) = 5, 10, 15, 20."""
    monkeypatch.setattr(distributions, "POINTS", 4)
    spec = jct_chart([run(jobs=tuple(Job(f"j{k}", 0, 2, 1) for k in range(20)))])
    assert [row["jobs"] for row in spec["data"]["values"][1:]] == [
        "5 of 20", "10 of 20", "15 of 20", "20 of 20",
    ]  # fmt: skip
    assert "Exact quantiles in steps of 1/4" in notes(spec)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=40), st.integers(1, 12))
def test_a_distribution_lies_on_the_exact_one(values: list[int], most: int) -> None:
    """Every point is right, and from one to the next it rises by less than 1 / most of the jobs."""
    points = distribution(values, most)
    assert len(points) <= most or len(points) == len(set(values)) <= most
    n = len(values)
    assert points[-1] == (max(values), n)
    for value, count in points:
        assert count == sum(v <= value for v in values)
    for value in values:
        told = max((count for at, count in points if at <= value), default=0)
        assert (sum(v <= value for v in values) - told) * most < n


STEPS = st.lists(st.tuples(st.integers(1, 5), st.integers(0, 4)), min_size=1, max_size=30)


@given(STEPS, st.integers(0, 7), st.integers(1, 9))
def test_steps_are_merged_or_averaged_exactly(runs: list[tuple[int, int]], begin: int, most: int) -> None:
    """Against the value at every tick: merged steps are it, and means have the area of each stretch."""
    times, ticks = [], []
    for length, value in runs:
        times.append(begin + len(ticks))
        ticks += [value] * length
    end = begin + len(ticks)
    found = reduced(times, [value for _, value in runs], end, most)
    until = [step.time for step in found.steps[1:]] + [Fraction(end)]
    assert len(found.steps) <= most
    assert found.steps[0].time == begin
    for step, last in zip(found.steps, until, strict=True):
        area = sum(
            value * max(0, min(last, tick + 1) - max(step.time, tick))
            for tick, value in enumerate(ticks, begin)
        )
        assert step.value * (last - step.time) == area
        if found.stretches:
            assert last - step.time == Fraction(len(ticks), most)
        else:
            held = ticks[int(step.time) - begin : int(last) - begin]
            assert set(held) == {step.value}


def test_utilisation_and_fragmentation_by_hand() -> None:
    """1 GPU held in [0, 4), 2 in [4, 7), 1 to the end at 27; b can't use the free one in [1, 2)."""
    spec = over_time_chart([run()])
    held, fragmented = (panel["data"]["values"] for panel in spec["vconcat"])
    assert [(row["seconds"], row["exact"], row["share"]) for row in held] == [
        ("0", "1 of 2", 0.5), ("4", "2 of 2", 1.0), ("7", "1 of 2", 0.5), ("27", "0 of 2", 0.0),
        ("27", "0 of 2", 0.0),
    ]  # fmt: skip
    assert [(row["seconds"], row["exact"]) for row in fragmented] == [
        ("0", "0 of 2"), ("1", "1 of 2"), ("2", "0 of 2"), ("27", "0 of 2"),
    ]  # fmt: skip
    assert "means" not in notes(spec)
    drawn(spec)


def test_long_series_are_exact_means_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """27 s in 2 stretches: 4 x 1 + 3 x 2 + 6.5 x 1 over 13.5 s, then 1."""
    monkeypatch.setattr(over_time, "STEPS", 2)
    spec = over_time_chart([run()])
    assert [row["exact"] for row in spec["vconcat"][0]["data"]["values"]][:2] == [
        "1.222222 (11/9) of 2", "1 of 2",
    ]  # fmt: skip
    assert "exact means over 2 equal stretches" in notes(spec)


def test_the_trade_off_by_hand() -> None:
    """Oracles have another shape and are in no front; a point of which a figure is unknown is named."""
    points = [
        TradeOff("a", Fraction(1, 10), Fraction(100)), TradeOff("b", Fraction(2, 10), Fraction(50)),
        TradeOff("c", Fraction(3, 10), Fraction(60)),  # dominated by b
        TradeOff("best", Fraction(0), Fraction(1), oracle=True), TradeOff("none", None, Fraction(5)),
        TradeOff("own", Fraction(1, 3), Fraction(40), group="ours"),
    ]  # fmt: skip
    spec = trade_off_chart(points)
    first, second, dots, *names = spec["layer"]
    assert [(row["miss_rate"], row["jct"]) for row in first["data"]["values"]] == [(0.1, 100.0), (0.2, 50.0)]
    assert [row["series"] for row in second["data"]["values"]] == ["ours"]
    assert first["mark"]["interpolate"] == "step-after"
    rows = {row["name"]: row for row in dots["data"]["values"]}
    assert list(rows) == ["a", "b", "c", "best", "own"]
    assert [row["on_front"] for row in rows.values()] == ["yes", "yes", "no", "no", "yes"]
    assert [name for name, row in rows.items() if row["kind"].startswith("oracle")] == ["best"]
    assert rows["own"]["rate"] == "0.333333 (1/3)"
    assert {row["label"] for layer in names for row in layer["data"]["values"]} == set(rows)
    assert "over no jobs: none" in notes(spec)
    svg = drawn(spec)
    assert "oracle: reads durations" in svg
    assert ">ours<" in svg


def test_of_many_points_those_on_a_front_are_named() -> None:
    points = [TradeOff(f"p{k}", Fraction(k, 100), Fraction(100 + k)) for k in range(30)]
    spec = trade_off_chart(points)
    assert [row["label"] for layer in spec["layer"][2:] for row in layer["data"]["values"]] == ["p0"]
    assert "Named are the points on a front" in notes(spec)
    drawn(spec)
    drawn(trade_off_chart([]))


def test_a_point_of_an_outcome_has_its_denominators() -> None:
    """SRTF: c runs in [2, 4), gives way to b in [4, 7), and has 18 left: it ends at 25, 23 after it came."""
    point = trade_off("srtf", metrics(run("srtf")), "controls")
    assert point == TradeOff(
        "srtf", Fraction(1, 2), Fraction(23), True, "controls", "2 with a deadline, 1 without"
    )


def test_lanes_by_hand() -> None:
    """Under `count`: b takes both GPUs when a ended; c the lowest. Preempted gangs come back to what is free.

    SRTF on 2 GPUs: x on lane 0 in [0, 10); y on lane 1 in [0, 1); z needs both at 1 and takes 3 ticks, so x
    waits until 4.
    """
    assert lanes(run()) == [
        Held(0, 0, 4, (0,), True), Held(1, 4, 7, (0, 1), True), Held(2, 7, 27, (0,), True),
    ]  # fmt: skip
    jobs = (Job("x", 0, 1, 10), Job("y", 0, 1, 1), Job("z", 1, 2, 3))
    assert lanes(run("srtf", jobs)) == [
        Held(1, 0, 1, (0,), True), Held(0, 0, 1, (1,), False), Held(2, 1, 4, (0, 1), True),
        Held(0, 4, 13, (0,), True),
    ]  # fmt: skip


def test_lanes_are_on_the_nodes_that_the_log_names() -> None:
    """Two nodes of 2: a 2-gang on node 0, a 1-gang on node 1, a 3-gang later on a whole node and one more."""
    jobs = (Job("a", 0, 2, 5), Job("b", 0, 1, 9), Job("c", 1, 3, 4))
    cluster = homogeneous(4, 2, Placement.CONSOLIDATED)
    found = lanes(run("fifo", jobs, cluster=cluster))
    assert [(held.job, held.lanes) for held in found] == [(0, (0, 1)), (1, (2,)), (2, (0, 1, 3))]
    assert found[2].blocks == [(0, 2), (3, 1)]
    assert lane_names(cluster, placed=True) == ["0:0", "0:1", "1:0", "1:1"]
    assert lane_names(cluster, placed=False) == ["0", "1", "2", "3"]


TRACES = st.lists(
    st.tuples(st.integers(0, 12), st.sampled_from([1, 2, 3, 4]), st.integers(1, 9)), min_size=1, max_size=9
)


@given(TRACES, st.sampled_from(list(Placement)), st.sampled_from(["fifo", "srtf", "sjf", "srsf"]))
def test_no_lane_holds_two_jobs_and_none_is_lost(
    rows: list[tuple[int, int, int]], rule: Placement, name: str
) -> None:
    jobs = tuple(Job(f"j{k}", *row) for k, row in enumerate(rows))
    outcome = run(name, jobs, cluster=homogeneous(4, 2, rule))
    found = lanes(outcome)
    busy = [(lane, tick) for held in found for lane in held.lanes for tick in range(held.start, held.end)]
    assert len(busy) == len(set(busy)) == outcome.busy_ticks
    for number in range(len(jobs)):
        own = [held for held in found if held.job == number]
        assert sum(held.end - held.start for held in own) == outcome.executed[number]
        assert {len(held.lanes) for held in own} == {outcome.gpus[number]}
        assert [held.ended for held in own] == [False] * (len(own) - 1) + [True]


@pytest.mark.parametrize("cluster", [homogeneous(2), CLUSTER])
def test_gantt_by_hand(cluster: Any) -> None:
    spec = gantt_chart(run(cluster=cluster))
    bars, names = spec["layer"]
    placed = cluster is CLUSTER
    assert [
        (row["job"], row["kind"], row["start"], row["end"], row["lanes"]) for row in bars["data"]["values"]
    ] == [
        ("a", "in time", "0", "4", "0:0" if placed else "0"),
        ("b", "late", "4", "7", "0:0 to 1:0" if placed else "0 to 1"),
        ("c", "no deadline", "7", "27", "0:0" if placed else "0"),
    ]
    assert len(names["data"]["values"]) == 3
    assert "drawn, not measured" in notes(spec)
    assert ("node" in notes(spec)) is placed
    svg = drawn(spec)
    assert (">1:0<" if placed else ">1<") in svg


def test_too_many_bars_are_drawn_as_exact_shares_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two GPUs as one row and 27 s in 2 stretches, as in the series: 11/9 of 2, then 1 of 2."""
    for name, value in {"BARS": 2, "ROWS": 1, "STRETCHES": 2}.items():
        monkeypatch.setattr(gantt, name, value)
    spec = gantt_chart(run())
    (cells,) = spec["layer"]
    assert [(row["gpus"], row["start"], row["end"]) for row in cells["data"]["values"]] == [
        ("1.222222 (11/9) of 2", "0", "13.5"), ("1 of 2", "13.5", "27"),
    ]  # fmt: skip
    assert "3 bars are too many" in notes(spec)
    drawn(spec)


def test_a_large_run_makes_small_charts() -> None:
    """3,100 jobs and bars, over 400 steps and different times: no chart takes more than 1 MB of a page."""
    jobs = tuple(Job(f"j{k}", k, 1 + 2 * (k % 2), 100 + 13 * (k % 97)) for k in range(3_100))
    outcome = run("fifo", jobs, cluster=homogeneous(100))
    specs = (jct_chart([outcome]), wait_chart([outcome]), over_time_chart([outcome]), gantt_chart(outcome))
    for spec, word in zip(specs, ("quantiles", "quantiles", "stretches", "too many"), strict=True):
        assert word in notes(spec)
        assert len(json.dumps(spec)) < 1_000_000
        drawn(spec)


@pytest.mark.parametrize("draw", [lambda o: gantt_chart(o), lambda o: over_time_chart([o])])
def test_what_was_not_kept_cannot_be_drawn(draw: Callable[[Outcome], Any]) -> None:
    with pytest.raises(SchedulingError, match=r"expected simulate\(\.\.\., (decisions|series)=True\)"):
        draw(replace(run(), decisions=None, series=None))
    with pytest.raises(SchedulingError, match="no jobs"):
        draw(run(jobs=()))


def test_exact_values_as_text() -> None:
    told = [exact(Fraction(text)) for text in ("1234567", "5/2", "0", "10729/15", "-1/3")]
    assert told == ["1,234,567", "2.5", "0", "715.266667 (10729/15)", "-0.333333 (-1/3)"]


def test_series_differ_in_colour_or_dash() -> None:
    many = len(COLOURS) * len(DASHES)
    assert len({(k % len(COLOURS), k % len(DASHES)) for k in range(many)}) == many
