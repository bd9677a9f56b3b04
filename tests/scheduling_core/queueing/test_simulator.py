"""The simulator on cases that are worked out by hand; every one says why its times are right."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pytest
from queueing_strategies import Ranked, checked, log_of

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.cluster import Cluster, Node, Placement, homogeneous, parse_cluster
from scheduling_core.queueing.costs import ConstantCost, RestartCost
from scheduling_core.queueing.jobs import Job, Trace
from scheduling_core.queueing.outcome import Outcome
from scheduling_core.queueing.policies import Policy, policy
from scheduling_core.queueing.simulator import simulate
from scheduling_core.queueing.views import InformationError, Numbers, View


def run(
    jobs: Sequence[Job], cluster: Cluster, policy: Policy, cost: RestartCost | None = None,
    tick: Fraction = Fraction(1),
) -> Outcome:  # fmt: skip
    trace = Trace("by hand", tuple(jobs), tick)
    outcome = simulate(trace, cluster, policy, cost, decisions=True, series=True)
    assert checked(trace, outcome, cost).findings == ()
    return outcome


def told(outcome: Outcome) -> list[str]:
    """The log, one line each as "time job action place"."""
    return [line.replace(",", " ").strip() for line in log_of(outcome).splitlines()[1:]]


def test_a_restart_is_charged_once_for_each_and_again_where_it_is_cut() -> None:
    """low has done 4 of 10 at 4; resumed at 6 it pays 2 of 3 until 8, in vain; at 9 all 3, and 6 are left."""
    jobs = [Job("low", 0, 1, 10), Job("h1", 4, 1, 2), Job("h2", 8, 1, 1)]
    outcome = run(jobs, homogeneous(1), Ranked({0: 9, 1: 1, 2: 2}), ConstantCost(Fraction(3)))
    assert told(outcome) == [
        "0 low start", "4 low preempt", "4 h1 start", "6 h1 end", "6 low resume", "8 low preempt",
        "8 h2 start", "9 h2 end", "9 low resume", "18 low end",
    ]  # fmt: skip
    assert outcome.paid.tolist() == [5, 0, 0]
    assert outcome.executed.tolist() == [15, 2, 1]
    assert (outcome.preemptions.tolist(), outcome.restarts.tolist()) == ([2, 0, 0], [2, 0, 0])


def test_restarts_cut_ticks_until_they_are_whole() -> None:
    """A third of a second: low ends at 3 + 1/3 with ticks of 1/3 s, and busy is 10 of them."""
    jobs = [Job("low", 0, 1, 2), Job("high", 1, 1, 1)]
    outcome = run(jobs, homogeneous(1), Ranked({0: 1, 1: 0}), ConstantCost(Fraction(1, 3)))
    assert outcome.unit == Fraction(1, 3)
    assert outcome.end.tolist() == [10, 6]
    assert outcome.busy_ticks == 10


def test_an_end_makes_room_for_an_arrival_at_the_same_time_in_one_decision() -> None:
    """x ends at 5 as y comes and z, which had waited, is served before it: 0, 5, 6, 8 are all events."""
    jobs = [Job("x", 0, 2, 5), Job("z", 0, 1, 1), Job("y", 5, 1, 3)]
    outcome = run(jobs, homogeneous(2), policy("fifo"))
    assert told(outcome) == ["0 x start", "5 x end", "5 z start", "5 y start", "6 z end", "8 y end"]
    assert outcome.events == 4


def test_fifo_blocks_at_the_head_and_first_fit_skips_it() -> None:
    """Of 2 GPUs x has one for 4; wide waits for both; small fits beside x, but stands behind wide."""
    jobs = [Job("x", 0, 1, 4), Job("wide", 1, 2, 2), Job("small", 2, 1, 1)]
    assert run(jobs, homogeneous(2), policy("fifo")).first_start.tolist() == [0, 4, 6]
    assert run(jobs, homogeneous(2), policy("fjf")).first_start.tolist() == [0, 4, 2]


@pytest.mark.parametrize(("limit", "start", "end"), [(5, 5, 13), (6, 6, 13)])
def test_a_job_sinks_when_its_service_reaches_the_limit(limit: int, start: int, end: int) -> None:
    """y comes at 5: x has reached a limit of 5 by then and makes room; at 6 it does one tick later."""
    jobs = [Job("x", 0, 1, 10), Job("y", 5, 1, 3)]
    outcome = run(jobs, homogeneous(1), policy("las2d", limits=(limit,)))
    assert outcome.first_start.tolist() == [0, start]
    assert outcome.end.tolist() == [end, start + 3]


def test_upstream_rounding_finds_a_gang_past_its_limit_late() -> None:
    """2 GPUs reach 5 GPU seconds at 2.5. The public simulator looks after floor(5 / 2) = 2 s, too early, and
    again after floor((5 - 2) / 2) = 1 s."""
    jobs = [Job("x", 0, 2, 10), Job("y", 1, 2, 1)]
    exact = run(jobs, homogeneous(2), policy("las2d", limits=(5,)))
    rounded = run(jobs, homogeneous(2), policy("las2d", limits=(5,), upstream_rounding=True))
    assert int(exact.first_start[1]) * exact.unit == Fraction(5, 2)
    assert int(rounded.first_start[1]) * rounded.unit == 3


def test_promotion_by_hand() -> None:
    """Turns of 2; who has waited twice what it ran since its last reset rises, as if it had never run.

    y, preempted at 4 after 2 ticks, rises at 8 and has a turn until 10. x, back at 10, does its last 4 ticks
    until 14: what it ran counts in whole (6), so that it would have had to wait 12 for a rise.
    """
    jobs = [Job("x", 0, 1, 10), Job("y", 0, 1, 6)]
    assert told(run(jobs, homogeneous(1), policy("las2d", limits=(2,), promote=2))) == [
        "0 x start", "2 x preempt", "2 y start", "4 y preempt", "4 x resume", "8 x preempt", "8 y resume",
        "10 y preempt", "10 x resume", "14 x end", "14 y resume", "16 y end",
    ]  # fmt: skip
    assert told(run(jobs, homogeneous(1), policy("las2d", limits=(2,)))) == [
        "0 x start", "2 x preempt", "2 y start", "4 y preempt", "4 x resume", "12 x end", "12 y resume",
        "16 y end",
    ]  # fmt: skip


def test_fragmentation_is_what_the_smallest_waiting_gang_cant_use() -> None:
    """Two nodes of 4 with 3 held on each: 2 free, one each. Consolidated, a gang of 2 waits and wastes both
    until 10. Counted, it runs beside them; a gang of 3 then waits while 2 are free, from 5 to 10."""
    jobs = [Job("x", 0, 3, 10), Job("y", 0, 3, 10), Job("z", 0, 2, 5), Job("w", 0, 3, 1)]
    packed = run(jobs[:3], homogeneous(8, 4, Placement.CONSOLIDATED), policy("fjf"))
    assert packed.first_start.tolist() == [0, 0, 10]
    assert packed.fragmented_ticks == 20
    assert packed.series is not None
    assert packed.series.fragmented == [2, 0, 0]
    counted = run(jobs, homogeneous(8, 4), policy("fjf"))
    assert counted.first_start.tolist() == [0, 0, 0, 10]
    assert counted.fragmented_ticks == 2 * 5


def test_typed_gpus_are_asked_in_the_order_of_the_nodes_and_never_mixed() -> None:
    """any takes the two of type a; needs_b has b at once; needs_a waits, though a GPU of b would be free."""
    cluster = parse_cluster("1x2:a,1x3:b")
    jobs = [
        Job("any", 0, 2, 4), Job("needs_a", 0, 1, 1, gpu_type="a"), Job("needs_b", 0, 2, 3, gpu_type="b"),
        Job("mixed", 0, 4, 1), Job("other", 0, 1, 1, gpu_type="c"),
    ]  # fmt: skip
    outcome = run(jobs, cluster, policy("fjf"))
    assert told(outcome) == [
        "0 any start 0:2", "0 needs_b start 1:2", "3 needs_b end", "4 any end", "4 needs_a start 0:1",
        "5 needs_a end",
    ]  # fmt: skip
    assert outcome.refused == {
        "mixed": "job mixed asks for 4 GPUs, of one type the cluster has 3",
        "other": "job other needs GPUs of type c, expected one of a, b",
    }


def test_a_lower_job_makes_room_on_its_node_and_others_stay() -> None:
    """l1 and l2 fill node 0, x node 1. high gets 2 GPUs of node 0, where l1, before l2 in line, stays."""
    jobs = [Job("l1", 0, 2, 9), Job("l2", 0, 2, 9), Job("x", 1, 4, 9), Job("high", 3, 2, 2)]
    outcome = run(jobs, homogeneous(8, 4, Placement.CONSOLIDATED), Ranked({3: 0, 2: 1, 0: 2, 1: 3}))
    assert told(outcome) == [
        "0 l1 start 0:2", "0 l2 start 0:2", "1 x start 1:4", "3 l2 preempt", "3 high start 0:2",
        "5 high end", "5 l2 resume 0:2", "9 l1 end", "10 x end", "11 l2 end",
    ]  # fmt: skip


def test_a_job_that_is_in_the_way_moves_and_pays_for_it() -> None:
    """Only node 0 holds 4 GPUs: low moves from it to node 1, where key was, with 5 of 10 done, and pays 1."""
    jobs = [Job("key", 0, 2, 3), Job("low", 0, 2, 10), Job("high", 5, 4, 2)]
    cluster = Cluster((Node(4), Node(2)), Placement.CONSOLIDATED)
    outcome = run(jobs, cluster, Ranked({0: 0, 2: 1, 1: 2}), ConstantCost(Fraction(1)))
    assert told(outcome) == [
        "0 key start 1:2", "0 low start 0:2", "3 key end", "5 low preempt", "5 high start 0:4",
        "5 low resume 1:2", "7 high end", "11 low end",
    ]  # fmt: skip
    assert outcome.preemptions.tolist() == [0, 1, 0]


def test_spread_takes_the_emptiest_nodes() -> None:
    """Each of two gangs of 2 has a node of its own; 6 are the third node and 2 more of the first."""
    jobs = [Job("x", 0, 2, 1), Job("y", 0, 2, 1), Job("z", 0, 6, 1)]
    outcome = run(jobs, homogeneous(12, 4, Placement.SPREAD), policy("fifo"))
    assert told(outcome)[:3] == ["0 x start 0:2", "0 y start 1:2", "0 z start 0:2 2:4"]


@pytest.mark.parametrize(
    ("cluster", "gpus", "reason"),
    [
        (homogeneous(4), 5, "job big asks for 5 GPUs, the cluster has 4"),
        (
            Cluster((Node(8), Node(4), Node(4)), Placement.CONSOLIDATED),
            13,
            "job big asks for 13 GPUs, consolidated it can have 12",
        ),
    ],
)
def test_a_job_that_can_never_run_is_named_and_the_others_run(
    cluster: Cluster, gpus: int, reason: str
) -> None:
    """13 GPUs on nodes of 8, 4 and 4 are a whole node and two more, which the consolidated rule hasn't."""
    jobs = [Job("small", 0, 4, 2), Job("big", 0, gpus, 1), Job("next", 1, 4, 1)]
    outcome = run(jobs, cluster, policy("fifo"))
    assert outcome.refused == {"big": reason}
    assert [job.id for job in outcome.trace.jobs] == ["small", "next"]
    assert run([replace(jobs[1], gpus=gpus - 1)], cluster, policy("fifo")).refused == {}


def test_a_trace_of_which_nothing_can_run_has_an_empty_outcome() -> None:
    """Whatever the tick: the limits of las2d aren't whole in ticks of 7 s."""
    outcome = run([Job("big", 0, 2, 1)], homogeneous(1), policy("las2d"), tick=Fraction(7))
    assert (outcome.events, len(outcome.end), list(outcome.refused)) == (0, 0, ["big"])


class Idle(Policy):
    """Serves nobody."""

    name, source = "idle", "a test"

    def order(self, view: View) -> Numbers:
        return view.jobs[:0]


class Past(Policy):
    """Wants to be asked again at once."""

    name, source = "past", "a test"

    def order(self, view: View) -> Numbers:
        return view.jobs

    def wake(self, view: View) -> int:
        return view.now


class Curious(Policy):
    """Reads what it may not."""

    name, source = "curious", "a test"

    def __init__(self, attribute: str) -> None:
        self.attribute = attribute

    def order(self, view: View) -> Numbers:
        found: Numbers = getattr(view, self.attribute)
        return found


def test_policies_that_are_at_fault_are_told_so() -> None:
    jobs = [Job("x", 2, 1, 3)]
    with pytest.raises(SchedulingError, match=r"^idle leaves 1 jobs waiting for ever, expected it to serve"):
        run(jobs, homogeneous(1), Idle())
    with pytest.raises(SchedulingError, match=r"^past wants to wake at 2, expected after 2"):
        run(jobs, homogeneous(1), Past())
    for attribute in ("duration", "remaining"):
        with pytest.raises(InformationError, match="asked for durations"):
            run(jobs, homogeneous(1), Curious(attribute))


def test_restarts_that_take_every_turn_are_told_instead_of_a_run_without_end() -> None:
    """A turn of 2 s and a restart of 2 s: both jobs are promoted in turn, and neither ever works again."""
    jobs = [Job("x", 0, 1, 9), Job("y", 0, 1, 9)]
    rising = policy("las2d", limits=(2,), promote=1)
    with pytest.raises(SchedulingError, match=r"^las2d takes GPUs back before a restart is paid, 2001 times"):
        run(jobs, homogeneous(1), rising, ConstantCost(Fraction(2)))
    assert run(jobs, homogeneous(1), rising, ConstantCost(Fraction(1))).end.max() > 18


def test_a_restart_that_costs_less_than_nothing_is_refused() -> None:
    with pytest.raises(SchedulingError, match="A restart costs less than 0 s"):
        run([Job("x", 0, 1, 1)], homogeneous(1), policy("fifo"), ConstantCost(Fraction(-1)))


def test_the_gittins_index_is_told_at_the_service_itself() -> None:
    """Ticks of 25/7 s: x has 25 GPU s at 7 of them, and 7 / 0.28 in floating point is a little less.

    Of the services 25 and 9000 the first is passed then: nobody ends in the next 300 s, x has index 0, and y,
    which is new, goes first. A little before, x would be as good as done, and would stay.
    """
    jobs = [Job("x", 0, 1, 10), Job("y", 1, 7, 2)]
    outcome = run(jobs, homogeneous(7), policy("gittins2d", samples=(25, 9000), delta=300), tick=Fraction(25))
    assert (outcome.unit, 7 / 0.28 < 25) == (Fraction(25, 7), True)
    assert (outcome.end * outcome.unit / 25).tolist() == [12, 3]
