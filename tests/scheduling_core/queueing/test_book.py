"""The book: nothing is told of a simulation that the independent checker doesn't come to as well."""

from fractions import Fraction
from typing import Any

import pytest

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing import book as module
from scheduling_core.queueing.book import RejectedLog, book
from scheduling_core.queueing.cells import Cell
from scheduling_core.queueing.cluster import Cluster, Placement, homogeneous, parse_cluster
from scheduling_core.queueing.costs import ConstantCost, GangCost
from scheduling_core.queueing.deadlines import LOOSE, with_deadlines
from scheduling_core.queueing.decisions import Decisions
from scheduling_core.queueing.jobs import Job, Trace
from scheduling_core.queueing.metrics import metrics
from scheduling_core.queueing.policies import policy, registry
from scheduling_core.queueing.policies.base import Policy
from scheduling_core.queueing.simulator import simulate
from scheduling_core.queueing.synthetic import generate
from scheduling_core.queueing.views import Numbers, View

TRACE = with_deadlines(generate(40, 16, 1.1, seed=3), 0.5, *LOOSE, seed=3)
NAMES = ("fifo", "las2d", "edf", "srtf", "tias_like")


def cells(cluster: Cluster | None = None) -> list[Cell]:
    return [Cell(TRACE, cluster or homogeneous(16), name, {}, GangCost()) for name in NAMES]


def test_every_cell_in_its_order_with_the_metrics_of_its_simulation() -> None:
    entries = book(cells())
    assert [entry.cell.policy for entry in entries] == list(NAMES)
    for entry in entries:
        outcome = simulate(TRACE, homogeneous(16), policy(entry.cell.policy), GangCost(), decisions=True)
        assert entry.metrics == metrics(outcome)
        assert outcome.decisions is not None
        assert entry.log_sha256 == outcome.decisions.sha256([job.id for job in TRACE.jobs])


@pytest.mark.parametrize("placement", Placement)
def test_nodes_types_restarts_and_ticks_reach_the_checker(placement: Placement) -> None:
    """A checker that was told another cluster, cost or unit would find faults in a log that has none."""
    jobs = [
        Job(f"j{k}", 3 * k, 1 + k % 4, 7 + k, 60 + 5 * k if k % 2 else None, ("fast", "slow", None)[k % 3])
        for k in range(20)
    ]
    trace = Trace("typed", tuple(jobs), tick=Fraction(1, 4))
    cluster = parse_cluster("2x4:fast,1x4:slow", placement)
    for entry in book([Cell(trace, cluster, name, {}, ConstantCost(Fraction(1, 3))) for name in NAMES]):
        assert entry.error is None
        assert entry.metrics is not None


def test_processes_give_the_same_bytes_and_the_same_progress_at_the_end() -> None:
    told: list[tuple[int, int]] = []
    serial = book(cells())
    parallel = book(cells(), jobs=2, on_progress=lambda ended, total: told.append((ended, total)))
    assert [entry.log for entry in parallel] == [entry.log for entry in serial]
    assert [entry.metrics for entry in parallel] == [entry.metrics for entry in serial]
    assert told[-1] == (200, 200)


def test_progress_counts_the_jobs_of_all_cells() -> None:
    told: list[tuple[int, int]] = []
    book(cells()[:2], on_progress=lambda ended, total: told.append((ended, total)))
    assert told == sorted(told)
    assert (40, 80) in told
    assert told[-1] == (80, 80)


def test_jobs_that_no_gang_fits_are_refused_by_both_accounts() -> None:
    (entry,) = book([Cell(TRACE, homogeneous(3), "fifo")])
    assert entry.outcome is not None
    assert set(entry.outcome.refused) == {job.id for job in TRACE.jobs if job.gpus > 3} != set()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda log: log.replace("start", "end", 1), "job 00"),
        (lambda log: "\n".join(log.splitlines()[:-1]) + "\n", "never ends"),
        (lambda log: log.replace(",start,", ",start,0:99", 1), "gets 99 GPUs"),
    ],
)
def test_a_log_with_a_fault_is_never_told_of(monkeypatch: pytest.MonkeyPatch, change: Any, says: str) -> None:
    whole = Decisions.text
    monkeypatch.setattr(Decisions, "text", lambda self, ids: change(whole(self, ids)))
    with pytest.raises(RejectedLog, match="The checker rejects the log of decisions of fifo") as raised:
        book(cells())
    assert says in str(raised.value)


def test_a_figure_that_the_checker_does_not_come_to_is_never_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the simulator had counted wrongly, with a log that has no fault."""

    def miscounted(*given: Any, **more: Any) -> Any:
        outcome = simulate(*given, **more)
        outcome.executed[0] += 1
        return outcome

    monkeypatch.setattr(module, "simulate", miscounted)
    with pytest.raises(RejectedLog, match="other times of job 00 under fifo"):
        book(cells())


class Broken(Policy):
    name = "broken"
    source = "a test"

    def order(self, view: View) -> Numbers:
        return view.jobs[1 // 0 :]


class Idle(Policy):
    name = "idle"
    source = "a test"

    def order(self, view: View) -> Numbers:
        return view.jobs[:0]


def test_a_policy_that_fails_leaves_the_others_their_outcomes(monkeypatch: pytest.MonkeyPatch) -> None:
    real = registry.policy_class
    mine = {"broken": Broken, "idle": Idle}
    monkeypatch.setattr(registry, "policy_class", lambda name: mine.get(name) or real(name))
    broken, idle, fifo = book([Cell(TRACE, homogeneous(16), name) for name in ("broken", "idle", "fifo")])
    # The line of this file that divides: whoever writes a policy has to find it.
    assert broken.error is not None
    assert broken.error.startswith("broken failed: ZeroDivisionError: ")
    assert "test_book.py, line " in broken.error
    assert idle.error == "idle leaves 40 jobs waiting for ever, expected it to serve them."
    assert broken.metrics is idle.metrics is None
    assert fifo.error is None


def test_what_nobody_can_run_is_refused_before_anything_runs() -> None:
    with pytest.raises(SchedulingError, match="There is no policy 'fairy'"):
        book([Cell(TRACE, homogeneous(16), "fairy")])
