"""Whose front dominates more: by hand on two policies, and the analysis that a package calls."""

from fractions import Fraction
from pathlib import Path

import pytest

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.analysis import run
from scheduling_core.queueing.check.analysis import run as check
from scheduling_core.queueing.cluster import homogeneous
from scheduling_core.queueing.formats import write_trace
from scheduling_core.queueing.jobs import Job, Trace
from scheduling_core.queueing.sweeps import sweep
from scheduling_core.queueing.trade_offs import BASELINE, OURS, Entry, cells, comparison, entries

TRACE = Trace(
    "made",
    (
        Job("long", 0, 1, 100),
        Job("timed", 0, 1, 10, deadline=40),
        Job("short", 5, 1, 5),
    ),
)
"""One GPU. FIFO: long 0-100, timed 100-110 (late), short 110-115: JCT (100 + 110) / 2 = 105, all missed."""


def test_the_gain_is_the_difference_of_two_areas_by_hand() -> None:
    """Box: misses to 1, JCT to FIFO's 105.

    edf serves timed 0-10, then long 10-110 and short 110-115: no miss, JCT (110 + 110) / 2 = 110, which is
    beyond FIFO's and dominates nothing. sjf (all of one GPU: by arrival) is FIFO. las2d with default limits
    is FIFO too. tias_like with margin 0 lets timed wait behind all others: long 0-100, short 100-105, timed
    last: JCT (100 + 100) / 2 = 100, all missed: nothing is dominated either, since a miss rate of 1 is the
    edge. With margin inf it is edf. So both volumes are 0 and the gain is 0.
    """
    compared = [
        Entry("ours 0", OURS, "tias_like", {"margin": "0"}),
        Entry("ours inf", OURS, "tias_like", {"margin": "inf"}),
        *(Entry(name, BASELINE, name, {}) for name in ("fifo", "las2d", "edf")),
    ]
    found = comparison(compared, sweep(cells(TRACE, homogeneous(1), compared)).results)
    assert found.points == ((1, 100), (0, 110), (1, 105), (1, 105), (0, 110))
    assert (found.own, found.others, found.gain) == (0, 0, 0)
    assert found.reference == (1, 105)


def test_a_front_that_dominates_more_by_hand() -> None:
    """Two GPUs. FIFO and las2d: long 0-100, timed 0-10 (met), short waits, 10-15: JCT (100 + 10) / 2 = 55.

    tias_like with margin 1: timed can wait until 20 (half its window before its deadline), so short takes its
    GPU at 5, 5-10, and timed goes on 10-15 (met): JCT (100 + 5) / 2 = 52.5. Of the box up to FIFO's 55 that
    dominates 2.5 / 55 = 1/22, the others nothing.
    """
    compared = [
        Entry("ours 1", OURS, "tias_like", {"margin": "1"}),
        *(Entry(name, BASELINE, name, {}) for name in ("fifo", "las2d")),
    ]
    found = comparison(compared, sweep(cells(TRACE, homogeneous(2), compared)).results)
    assert found.points == ((0, Fraction(105, 2)), (0, 55), (0, 55))
    assert (found.own, found.others, found.gain) == (Fraction(1, 22), 0, Fraction(1, 22))
    assert found.preemptions is None  # las2d has none to compare with


def test_a_comparison_needs_both_kinds_of_jobs_and_its_references() -> None:
    compared = entries()
    plain = Trace("plain", (Job("a", 0, 1, 10),))
    with pytest.raises(SchedulingError, match="jobs with a deadline and jobs without"):
        comparison(compared, sweep(cells(plain, homogeneous(1), compared)).results)
    with pytest.raises(SchedulingError, match="needs fifo and las2d"):
        comparison(compared[:2], sweep(cells(TRACE, homogeneous(1), compared[:2])).results)


def test_the_package_s_analysis_and_the_checker_agree(tmp_path: Path) -> None:
    """Two accounts of the same five logs: one by the simulator, one by the checker from saved rows."""
    trace = tmp_path / "trace.csv"
    trace.write_text(write_trace(TRACE), encoding="utf-8")
    logs = "fifo,las2d,edf,tias_like last 1,srtf"
    result = run({"trace": trace}, {"GPUS": 1, "MARGINS": "0,1,inf", "TICK": 5, "LOGS": logs})
    rows = result["tables"]["decisions"]
    decisions = tmp_path / "decisions.csv"
    lines = [",".join(map(str, row)) + "\n" for row in (rows["columns"], *rows["rows"])]
    decisions.write_text("".join(lines), encoding="utf-8")
    judged = check({"trace": trace, "decisions": decisions}, {"GPUS": 1})["outputs"]
    assert (judged["logs"], judged["hold"], judged["rejected"]) == (5, 5, 0)
    for name in logs.split(","):
        for figure in ("deadline_misses", "deadline_miss_rate", "non_deadline_jct_mean", "makespan"):
            assert judged["policies"][name][figure] == result["outputs"]["policies"][name][figure]
    assert result["outputs"]["policies"]["fifo"]["deadline_misses"] == 1
    assert set(result["charts"]) == {"trade-off"}


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [({"GPUS": 0}, "expected GPUS"), ({"GPU": 4}, "expected GPUS"), ({"GPUS": "many"}, "expected GPUS")],
)
def test_parameters_of_the_check_that_make_no_sense(
    tmp_path: Path, parameters: dict[str, object], sentence: str
) -> None:
    with pytest.raises(SchedulingError, match=sentence):
        check({}, parameters)


def test_inputs_that_are_none_of_the_check_s(tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("job_id,num_gpu\n1,2\n", encoding="utf-8")
    with pytest.raises(SchedulingError, match="our own form"):
        check({"trace": other, "decisions": other}, {})
    with pytest.raises(SchedulingError, match="input named trace"):
        check({}, {})
