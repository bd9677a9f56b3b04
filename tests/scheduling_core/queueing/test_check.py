"""The checker accepts every log of the simulator and comes to the same figures; it shares no code with it."""

import ast
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from queueing_strategies import CASES, Case, checked, clusters, costs, traces

import scheduling_core.queueing.check
from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.check import Figures, JobTimes, Kind, Report, check
from scheduling_core.queueing.cluster import Cluster
from scheduling_core.queueing.costs import RestartCost
from scheduling_core.queueing.jobs import NEVER, Trace
from scheduling_core.queueing.outcome import Outcome
from scheduling_core.queueing.simulator import simulate

NODES = [(4, "a"), (4, "b")]
ROWS = [
    {"id": "a", "submit": 0, "gpus": 4, "duration": 10, "gpu_type": "a"},
    {"id": "b", "submit": 0, "gpus": 2, "duration": 6},
    {"id": "c", "submit": 2, "gpus": 2, "duration": 3, "deadline": 5},
    {"id": "d", "submit": 3, "gpus": 4, "duration": 4, "deadline": 8, "gpu_type": "a"},
    {"id": "e", "submit": 10, "gpus": 4, "duration": 2, "gpu_type": "a"},
]
LOG = """\
time,job,action,place
0,a,start,0:4
0,b,start,1:2
2,c,start,1:2
5,c,end,
5,a,preempt,
5,d,start,0:4
6,b,end,
9,d,end,
9,a,resume,0:4
10,a,preempt,
10,e,start,0:4
12,e,end,
12,a,resume,0:4
19,a,end,
"""
"""a has done 5 of its 10 ticks at 5. Resumed at 9 it pays 1 tick of its restart of 2, all in vain; resumed at
12 it pays 2 and does the 5 that are left: 19. c ends at its deadline, d one tick after its own."""
RESTARTS = {"a": 2}


def test_every_figure_of_a_log_by_hand() -> None:
    """Half a second to the tick. JCT 19, 6, 3, 6, 2: mean 36/5 ticks. First waits 0, 0, 0, 2, 0.

    a held its GPUs for 13 ticks (5, 1, 7), 3 of them for restarts; its other 6 it waited, as d did 2. GPU
    ticks: 52 + 12 + 6 + 16 + 8 = 94 of 8 x 19. Without a deadline: a, b, e, JCT 27/3 ticks.
    """
    report = check(LOG, ROWS, NODES, "consolidated", unit=Fraction(1, 2), restarts=RESTARTS)
    assert report.findings == ()
    assert report.ok
    assert report.jobs == (
        JobTimes("a", 0, 4, None, 0, 19, 13, 3, 2, 2),
        JobTimes("b", 0, 2, None, 0, 6, 6, 0, 0, 0),
        JobTimes("c", 2, 2, 5, 2, 5, 3, 0, 0, 0),
        JobTimes("d", 3, 4, 8, 5, 9, 4, 0, 0, 0),
        JobTimes("e", 10, 4, None, 10, 12, 2, 0, 0, 0),
    )
    assert report.figures == Figures(
        jobs=5, deadline_jobs=2, other_jobs=3, mean_jct=Fraction(18, 5), mean_first_wait=Fraction(1, 5),
        mean_queueing=Fraction(4, 5), other_mean_jct=Fraction(9, 2), misses=1, miss_rate=Fraction(1, 2),
        makespan=Fraction(19, 2), busy=Fraction(47), utilisation=Fraction(94, 152), paid=Fraction(3, 2),
        preemptions=2, restarts=2,
    )  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
@settings(max_examples=40)
@given(trace=traces(), cluster=clusters(), cost=costs)
def test_every_log_of_the_simulator_is_accepted_with_its_own_figures(
    case: Case, trace: Trace, cluster: Cluster, cost: RestartCost
) -> None:
    """Under every placement, with and without types and restarts; what is refused is refused by both."""
    for engine in case.engines(cluster):
        outcome = simulate(trace, cluster, case.policy(), cost, decisions=True, engine=engine)
        report = checked(trace, outcome, cost)
        assert report.findings == ()
        assert set(report.refused) == set(outcome.refused)
        compare_times(report, outcome)
        if len(outcome.trace):
            compare_figures(report.figures, outcome)


def compare_times(report: Report, outcome: Outcome) -> None:
    told = [
        (job.id, job.submit, job.start, job.end, job.executed, job.paid, job.preemptions, job.restarts)
        for job in report.jobs
    ]
    ids = [job.id for job in outcome.trace.jobs]
    arrays = (outcome.submit, outcome.first_start, outcome.end, outcome.executed, outcome.paid,
              outcome.preemptions, outcome.restarts)  # fmt: skip
    assert sorted(told) == sorted(zip(ids, *(array.tolist() for array in arrays), strict=True))


def compare_figures(figures: Figures, outcome: Outcome) -> None:
    n, unit = len(outcome.trace), outcome.unit
    jct, wait = outcome.end - outcome.submit, outcome.first_start - outcome.submit
    timed = outcome.deadline < NEVER
    span = int(outcome.end.max() - outcome.submit.min())
    assert figures.mean_jct == Fraction(int(jct.sum()), n) * unit
    assert figures.mean_queueing == Fraction(int((jct - outcome.executed).sum()), n) * unit
    assert figures.mean_first_wait == Fraction(int(wait.sum()), n) * unit
    assert figures.misses == int(np.sum(outcome.end[timed] > outcome.deadline[timed]))
    assert (figures.jobs, figures.deadline_jobs) == (n, int(timed.sum()))
    if not timed.all():
        assert figures.other_mean_jct == Fraction(int(jct[~timed].sum()), int((~timed).sum())) * unit
    assert figures.makespan == span * unit
    assert figures.busy == outcome.busy_ticks * unit
    assert figures.utilisation == Fraction(outcome.busy_ticks, outcome.cluster.gpus * span)
    assert figures.preemptions == int(outcome.preemptions.sum())
    assert figures.restarts == int(outcome.restarts.sum())


def test_where_gpus_are_alike_a_log_needs_no_places() -> None:
    """Two of three GPUs, then the third; a place that is given is checked all the same."""
    rows = [
        {"id": "x", "submit": 0, "gpus": 2, "duration": 1},
        {"id": "y", "submit": 0, "gpus": 1, "duration": 1},
    ]
    log = "time,job,action,place\n0,x,start,{}\n0,y,start,\n1,x,end,\n1,y,end,\n"
    assert check(log.format(""), rows, [(3, "gpu")]).ok
    assert check(log.format("0:2"), rows, [(3, "gpu")]).ok
    assert not check(log.format("0:1"), rows, [(3, "gpu")]).ok
    assert not check(log.format(""), rows, [(3, "gpu")], "spread").ok
    assert not check(log.format(""), [{**rows[0], "gpu_type": "k80"}, rows[1]], [(3, "gpu")]).ok


@pytest.mark.parametrize(
    ("gpus", "rule", "refused"),
    [(8, "consolidated", False), (12, "consolidated", False), (13, "consolidated", True),
     (16, "consolidated", True), (16, "spread", False), (17, "count", True)],
)  # fmt: skip
def test_a_job_that_never_fits_is_refused_and_one_that_fits_is_lost(
    gpus: int, rule: str, refused: bool
) -> None:
    """Nodes of 8, 4 and 4, by the rule: 12 GPUs are a whole node and 4 on one more, 13 need two."""
    rows = [{"id": "x", "submit": 0, "gpus": gpus, "duration": 1}]
    report = check("time,job,action,place\n", rows, [(8, "g"), (4, "g"), (4, "g")], rule)
    assert report.refused == (("x",) if refused else ())
    assert [(f.kind, f.job) for f in report.findings] == ([] if refused else [(Kind.LOST, "x")])
    assert report.figures.mean_jct is None
    assert report.figures.utilisation is None


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"id": 3}, "Row 1: id is 3, expected a text."),
        ({"submit": -1}, "Row 1, job x: submit is -1, expected a whole number from 0."),
        ({"gpus": 0}, "Row 1, job x: gpus is 0, expected a whole number from 1."),
        ({"duration": 1.5}, "Row 1, job x: duration is 1.5, expected a whole number from 1."),
        ({"duration": True}, "Row 1, job x: duration is True, expected a whole number from 1."),
        ({"deadline": "soon"}, "Row 1, job x: deadline is 'soon', expected a whole number."),
        ({"gpu_type": 8}, "Row 1, job x: gpu_type is 8, expected a text."),
    ],
)
def test_rows_that_are_no_jobs_are_refused(changed: dict[str, Any], message: str) -> None:
    row = {"id": "x", "submit": 0, "gpus": 1, "duration": 1} | changed
    with pytest.raises(SchedulingError) as refusal:
        check("", [row], [(1, "g")])
    assert str(refusal.value) == message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"placement": "packed"},
            "There is no placement 'packed', expected one of count, spread, consolidated.",
        ),
        ({"nodes": []}, "A cluster needs at least one node."),
        ({"nodes": [(0, "g")]}, "Node 0 is (0, 'g'), expected (GPUs above 0, type)."),
        ({"nodes": [4]}, "Node 0 is 4, expected (GPUs above 0, type)."),
        ({"unit": Fraction(0)}, "A tick of 0 s, expected more than 0."),
        ({"restarts": {"z": 1}}, "There is a restart cost for 'z', which is no job."),
        ({"restarts": {"a": -1}}, "Job a: a restart costs -1, expected a whole number of ticks."),
        ({"jobs": [ROWS[0], ROWS[0]]}, "Row 2: there is a job 'a' above, expected ids once."),
    ],
)  # fmt: skip
def test_descriptions_that_describe_nothing_are_refused(arguments: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"jobs": ROWS, "nodes": NODES} | arguments
    with pytest.raises(SchedulingError) as refusal:
        check(LOG, **given)
    assert str(refusal.value) == message


def test_its_code_is_its_own() -> None:
    """Nothing but the standard library, the errors and its own modules is imported anywhere in it."""
    own = "scheduling_core.queueing.check"
    folder = Path(scheduling_core.queueing.check.__file__).parent
    names = set()
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0
                names.add(node.module or "")
    foreign = {name for name in names if name.split(".")[0] not in sys.stdlib_module_names}
    assert {name for name in foreign if not name.startswith(own)} == {"scheduling_core.errors"}
