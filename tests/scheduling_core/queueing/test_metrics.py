"""Metrics worked by hand, statistics against brute force, and what is unknown."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.check import check
from scheduling_core.queueing.cluster import homogeneous
from scheduling_core.queueing.costs import ConstantCost
from scheduling_core.queueing.definitions import DEFINITIONS
from scheduling_core.queueing.jobs import Job, Trace
from scheduling_core.queueing.metrics import comparison, metrics, read_metrics
from scheduling_core.queueing.outcome import Outcome
from scheduling_core.queueing.policies import policy
from scheduling_core.queueing.simulator import simulate
from scheduling_core.queueing.summaries import contention, in_order, mean, summary

# FIFO on 2 GPUs: a holds one in [0, 4); b needs both and holds up c; b runs in [4, 7), c in [7, 27).
JOBS = (Job("a", 0, 1, 4, deadline=4), Job("b", 1, 2, 3, deadline=6), Job("c", 2, 1, 20))


def fifo(*jobs: Job, tick: Fraction | int = 1) -> Outcome:
    return simulate(Trace("a case", jobs, tick=Fraction(tick)), homogeneous(2), policy("fifo"))


HAND = {  # value, and what it is over
    # JCT 4, 6, 25: the middle one, and rank ceil(0.95 x 3) = 3.
    "jct_mean": ("35/3", 3), "jct_median": ("6", 3), "jct_p95": ("25", 3), "jct_p99": ("25", 3),
    "jct_max": ("25", 3),
    # 4 and 6; of two the median is the mean.
    "deadline_jct_mean": ("5", 2), "deadline_jct_median": ("5", 2), "deadline_jct_p95": ("6", 2),
    "non_deadline_jct_mean": ("25", 1), "non_deadline_jct_max": ("25", 1),
    # Nobody is preempted, so both are 0, 3, 5.
    "queueing_mean": ("8/3", 3), "queueing_median": ("3", 3), "first_wait_mean": ("8/3", 3),
    "makespan": ("27", 3),
    # a ends at its deadline, which is met; b ends at 7, one late.
    "deadline_misses": ("1", 2), "deadline_miss_rate": ("1/2", 2), "tardiness_total": ("1", 2),
    "tardiness_mean": ("1", 1),
    # 4/4, 6/3, 25/20; bounded by 10 s: 4/10 and 6/10 count as 1.
    "slowdown_mean": ("17/12", 3), "slowdown_median": ("5/4", 3), "slowdown_max": ("2", 3),
    "bounded_slowdown_mean": ("13/12", 3), "bounded_slowdown_max": ("5/4", 3),
    # Jobs present: a 9 job ticks in 4 (9/4), so its part is 8/9 of a GPU: 4.5 isolated, 4 / 4.5.
    # b 14 in 6 (7/3), part 6/7 of its 2 GPUs' 2: 3 x 2 x (7/3) / 2 = 7 isolated, 6 / 7.
    # c 32 in 25, part 25/16 of a GPU, more than it can use: 20 isolated, 25 / 20.
    "finish_time_rho_mean": ("755/756", 3), "finish_time_rho_median": ("8/9", 3),
    "finish_time_rho_max": ("5/4", 3),
    # 4 + 2 x 3 + 20 of 2 x 27 GPU seconds; b alone pends in [1, 2) and can't use the one free GPU.
    "utilisation": ("30/54", 54), "fragmentation": ("1/54", 54),
    "preemptions": ("0", 3), "restarts": ("0", 3), "restart_time": ("0", 3),
    "jobs": ("3", 3), "jobs_refused": ("0", 3),
}  # fmt: skip


@pytest.mark.parametrize("name", HAND)
def test_three_jobs_by_hand(name: str) -> None:
    value, over = HAND[name]
    figure = metrics(fifo(*JOBS))[name]
    assert (figure.value, figure.over) == (Fraction(value), over)


def test_seconds_are_ticks_times_the_tick() -> None:
    """At 1/3 s a tick every time is a third, ratios of times stay, and the bound of 10 s is 30 ticks."""
    whole, third = metrics(fifo(*JOBS)), metrics(fifo(*JOBS, tick=Fraction(1, 3)))
    for name, definition in DEFINITIONS.items():
        if not name.startswith("bounded"):
            scale = Fraction(1, 3) if definition.unit == "s" else 1
            known = whole.value(name)
            assert known is not None
            assert third.value(name) == known * scale, name
    assert third.value("bounded_slowdown_max") == 1


def test_restarts_are_held_time_and_not_waiting() -> None:
    """1 GPU, SRTF, half a second a tick, 1 s for a restart.

    x runs in [0, 1), y in [1, 3), x pays 2 ticks in [3, 5) and has 4 left: it ends at 9. It waited 2 ticks
    and held the GPU for 7.
    """
    trace = Trace("two", (Job("x", 0, 1, 5), Job("y", 1, 1, 2)), tick=Fraction(1, 2))
    found = metrics(simulate(trace, homogeneous(1), policy("srtf"), ConstantCost(Fraction(1))))
    names = ("preemptions", "restarts", "restart_time", "makespan", "queueing_max", "first_wait_max")
    assert [found.value(name) for name in names] == [1, 1, 1, Fraction(9, 2), 1, 0]
    assert found.value("utilisation") == 1
    assert found.oracle


def test_what_is_over_nothing_is_unknown_and_never_zero() -> None:
    without = metrics(fifo(Job("c", 0, 1, 5)))
    unknown = {name for name in DEFINITIONS if without.value(name) is None}
    assert unknown == {name for name in DEFINITIONS if name.startswith(("deadline", "tardiness"))}
    assert {without[name].over for name in unknown} == {0}
    met = metrics(fifo(Job("c", 0, 1, 5, deadline=5)))
    assert (met.value("deadline_miss_rate"), met.value("tardiness_total")) == (0, 0)
    assert met.value("tardiness_mean") is None  # the mean of none
    assert met.value("non_deadline_jct_mean") is None
    nothing = metrics(fifo())
    assert {name for name in DEFINITIONS if nothing.value(name) is not None} == {"jobs", "jobs_refused"}


def test_refused_jobs_are_named_and_in_no_denominator() -> None:
    """d asks for 3 of 2 GPUs and has a deadline: the figures of the others stay as they were."""
    found = metrics(fifo(*JOBS, Job("d", 0, 3, 9, deadline=1000)))
    rest = metrics(fifo(*JOBS))
    changed = {name for name in DEFINITIONS if found[name] != rest[name]}
    assert changed == {"jobs", "jobs_refused"}
    assert (found.value("jobs"), found.value("jobs_refused"), found["jobs"].over) == (3, 1, 4)
    assert found.refused == {"d": "job d asks for 3 GPUs, the cluster has 2"}
    row = next(row for row in found.rows() if row["name"] == "jobs_refused")
    assert row["means"].endswith(": d")
    many = replace(found, refused={f"j{k}": "too large" for k in range(12)}).rows()[-1]["means"]
    assert many.endswith("j9 and 2 more")


def test_rows_and_exact_values_are_plain() -> None:
    found = metrics(fifo(*JOBS))
    rows = found.rows()
    assert [row["name"] for row in rows] == list(DEFINITIONS)
    assert rows[0] == {
        "name": "jct_mean", "value": 35 / 3, "unit": "s", "over": 3, "of": "jobs",
        "means": "job completion time, end - submission: mean",
    }  # fmt: skip
    assert isinstance(next(row["value"] for row in rows if row["name"] == "preemptions"), int)
    assert json.loads(json.dumps(rows)) == rows
    assert read_metrics(json.loads(json.dumps(found.exact()))) == found
    with pytest.raises(SchedulingError, match=r"^There is no metric 'jct', expected one of jct_mean"):
        found["jct"]


@pytest.mark.parametrize(
    "damage",
    [{"figures": None}, {"figures": {}}, {"figures": {"jct_mean": ["1/0", "1"]}}, {"refused": 3}],
)
def test_exact_values_of_another_form_are_refused(damage: dict[str, object]) -> None:
    with pytest.raises(SchedulingError, match="expected"):
        read_metrics(metrics(fifo(*JOBS)).exact() | damage)


def test_a_comparison_marks_oracles_and_has_the_denominators() -> None:
    trace, cluster = Trace("a case", JOBS), homogeneous(2)
    runs = [simulate(trace, cluster, policy(name)) for name in ("fifo", "srtf", "fifo")]
    rows = comparison(runs)
    assert [(row["name"], row["oracle"]) for row in rows] == [
        ("fifo", False), ("srtf", True), ("fifo (2)", False),
    ]  # fmt: skip
    assert (rows[0]["jobs"], rows[0]["deadline_jobs"], rows[0]["non_deadline_jobs"]) == (3, 2, 1)
    assert rows[0]["jct_mean"] == 35 / 3
    named = comparison({"one": runs[0], "another": metrics(runs[1])})
    assert [(row["name"], row["policy"]) for row in named] == [("one", "fifo"), ("another", "srtf")]


RATIOS = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 12)), min_size=1, max_size=30)


@given(RATIOS)
def test_statistics_are_those_of_sorted_fractions(ratios: list[tuple[int, int]]) -> None:
    """lcm(1..12) is small, so the mean is exact too; a nearest rank k has at least 95 % at or below it."""
    values = sorted(Fraction(*ratio) for ratio in ratios)
    n = len(values)
    found = summary(ratios, Fraction(1, 7))
    assert found["mean"] == sum(values) / n / 7
    assert found["median"] == (values[n // 2] + values[(n - 1) // 2]) / 14
    assert found["max"] == values[-1] / 7
    for name, share in (("p95", Fraction(95, 100)), ("p99", Fraction(99, 100))):
        least = min(value for value in values if sum(v <= value for v in values) >= share * n)
        assert found[name] == least / 7
    assert [Fraction(*ratio) for ratio in in_order(ratios)] == values


def test_a_mean_without_a_small_denominator_is_cut_after_30_decimals() -> None:
    ratios = [(1, 10**9 + k) for k in range(1, 60)]
    exact = sum(Fraction(*ratio) for ratio in ratios) / len(ratios)
    found = mean(ratios)
    assert 0 < exact - found < Fraction(1, 10**30)
    assert found.denominator <= 59 * 10**30


def test_ratios_that_floats_cannot_tell_apart_are_in_order() -> None:
    near = [(10**17 + 1, 10**17), (10**17 + 2, 10**17 + 1), (1, 1)]
    assert in_order(near) == [(1, 1), (10**17 + 2, 10**17 + 1), (10**17 + 1, 10**17)]


@given(st.lists(st.tuples(st.integers(0, 15), st.integers(1, 9)), max_size=10))
def test_contention_is_a_count_at_every_tick(spans: list[tuple[int, int]]) -> None:
    submit, end = [s for s, _ in spans], [s + length for s, length in spans]
    counted = [
        sum(sum(s <= tick < e for s, e in zip(submit, end, strict=True)) for tick in range(first, last))
        for first, last in zip(submit, end, strict=True)
    ]
    assert contention(submit, end) == counted


ROWS = st.lists(
    st.tuples(st.integers(0, 12), st.integers(1, 4), st.integers(1, 9), st.none() | st.integers(1, 20)),
    min_size=1, max_size=8,
)  # fmt: skip
SAME = {  # by the names of the checker
    "jobs": "jobs", "mean_jct": "jct_mean", "mean_first_wait": "first_wait_mean",
    "mean_queueing": "queueing_mean", "other_mean_jct": "non_deadline_jct_mean",
    "miss_rate": "deadline_miss_rate", "makespan": "makespan", "utilisation": "utilisation",
    "paid": "restart_time", "preemptions": "preemptions", "restarts": "restarts",
}  # fmt: skip


@given(
    ROWS, st.sampled_from(["fifo", "srtf", "sjf", "las2d"]), st.sampled_from([Fraction(1), Fraction(1, 2)])
)
def test_the_checker_comes_to_the_same_figures_from_the_log_alone(
    rows: list[tuple[int, int, int, int | None]], name: str, tick: Fraction
) -> None:
    """It shares no code with the simulator; its jobs are rows, its costs ticks."""
    jobs = [Job(f"j{k}", s, g, d, None if w is None else s + w) for k, (s, g, d, w) in enumerate(rows)]
    outcome = simulate(
        Trace("drawn", tuple(jobs), tick),
        homogeneous(4),
        policy(name),
        ConstantCost(Fraction(2)),
        decisions=True,
    )
    assert outcome.decisions is not None
    parts = tick / outcome.unit
    plain = [
        job.row
        | {name: int(job.row[name] * parts) for name in ("submit", "duration", "deadline") if name in job.row}
        for job in jobs
    ]
    restarts = {job.id: int(2 / outcome.unit) for job in jobs}
    log = outcome.decisions.text([job.id for job in outcome.trace.jobs])
    report = check(log, plain, [(4, "gpu")], unit=outcome.unit, restarts=restarts)
    assert report.ok
    found = metrics(outcome)
    for theirs, ours in SAME.items():
        assert found.value(ours) == getattr(report.figures, theirs), ours
    assert (found.value("deadline_misses") or 0) == report.figures.misses
