"""Kernels against the general simulator, which asks the policy at every event: nothing may differ."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling_core.compiled import is_compiled, plain_form
from scheduling_core.errors import SchedulingError
from scheduling_core.queueing import fast
from scheduling_core.queueing.cluster import Placement, homogeneous, parse_cluster
from scheduling_core.queueing.costs import ConstantCost, GangCost, RestartCost
from scheduling_core.queueing.formats import read_trace
from scheduling_core.queueing.jobs import Job, Trace
from scheduling_core.queueing.kernels import remaining, standing
from scheduling_core.queueing.outcome import Outcome
from scheduling_core.queueing.policies import policy
from scheduling_core.queueing.policies.las import LeastAttainedService
from scheduling_core.queueing.simulator import simulate
from scheduling_core.queueing.synthetic import generate
from scheduling_core.queueing.views import Numbers, View

NAMES = ("fifo", "fjf", "sjf", "edf", "srtf", "srsf", "las2d")


@contextmanager
def plain() -> Iterator[None]:
    """Kernels as they are without numba."""
    with (
        mock.patch.object(fast, "standing", plain_form(standing)),
        mock.patch.object(fast, "remaining", plain_form(remaining)),
    ):
        yield


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """Many jobs at few times, so that arrivals, ends, sinkings and deadlines meet."""
    last, longest = draw(st.sampled_from((0, 8, 60))), draw(st.sampled_from((4, 30)))
    size = draw(st.sampled_from((2, 6, 15, 30)))
    job = st.tuples(
        st.integers(0, last), st.sampled_from((1, 1, 2, 3, 4, 8)), st.integers(1, longest),
        st.none() | st.integers(1, 80),
    )  # fmt: skip
    rows = draw(st.lists(job, min_size=size, max_size=size))
    jobs = [Job(f"{i}", s, g, d, w and s + w) for i, (s, g, d, w) in enumerate(rows)]
    return Trace("drawn", tuple(jobs), draw(st.sampled_from((Fraction(1), Fraction(1, 3), Fraction(2)))))


GPUS = st.sampled_from((1, 2, 3, 4, 4, 8, 8, 12))
OPTIONS = st.fixed_dictionaries(
    {
        "limits": st.sampled_from(((), (5,), (3, 10), (1, 2, 3, 4, 5), (10, 40))),
        "promote": st.sampled_from((0, 1, 2, 5)),
        "by_gpu": st.booleans(),
        "upstream_rounding": st.booleans(),
    }
)
COSTS = st.sampled_from((RestartCost(), ConstantCost(Fraction(1)), ConstantCost(Fraction(7, 2)), GangCost()))


def everything(outcome: Outcome) -> dict[str, Any]:
    """All that came of a run, in plain values."""
    arrays = {name: value.tolist() for name, value in vars(outcome).items() if isinstance(value, np.ndarray)}
    numbers = (outcome.unit, outcome.events, outcome.busy_ticks, outcome.fragmented_ticks, outcome.refused)
    log = None if outcome.decisions is None else list(outcome.decisions)
    return {**arrays, "numbers": numbers, "log": log, "series": outcome.series}


def run(engine: Any, trace: Trace, gpus: int, name: str, options: Any, cost: RestartCost) -> Any:
    """All that came of it, or the sentence that it was refused with."""
    try:
        outcome = simulate(
            trace,
            homogeneous(gpus),
            policy(name, **options),
            cost,
            engine=engine,
            decisions=True,
            series=True,
        )
    except SchedulingError as error:
        return str(error)
    return everything(outcome)


@given(traces(), GPUS, st.sampled_from(NAMES[:-1]), COSTS)
def test_lines_by_one_key(trace: Trace, gpus: int, name: str, cost: RestartCost) -> None:
    """Every decision in its order, all times, series and accounts; jobs that are too large are refused."""
    with plain():
        assert run("fast", trace, gpus, name, {}, cost) == run("general", trace, gpus, name, {}, cost)


@given(traces(), GPUS, OPTIONS, COSTS)
def test_queues_by_service(trace: Trace, gpus: int, options: dict[str, Any], cost: RestartCost) -> None:
    """The same for LAS; where restarts cost more than turns allow, both say so after as many starts."""
    with mock.patch("scheduling_core.queueing.simulator.IN_VAIN", 10), plain():
        found = run("fast", trace, gpus, "las2d", options, cost)
        assert found == run("general", trace, gpus, "las2d", options, cost)


@pytest.mark.parametrize("engine", ["general", "fast"])
def test_late_jobs_stand_as_submitted(engine: Any) -> None:
    """EDF on one GPU: b until its deadline 4, a until 9; both late, a was submitted first, so a, then b."""
    trace = Trace("late", (Job("a", 0, 1, 8, 9), Job("b", 0, 1, 8, 4)))
    with plain():
        outcome = simulate(trace, homogeneous(1), policy("edf"), engine=engine)
    assert outcome.end.tolist() == [12, 16]


@pytest.mark.parametrize("engine", ["general", "fast"])
def test_equal_keys_stand_as_they_stood(engine: Any) -> None:
    """SRTF on one GPU, restarts of 2: at 2, c interrupts a, which has 3 left, as many as the newcomer b.

    a was there before b, so it is first, pays from 3 on, and is interrupted by d before it has worked: again
    first at 5, it ends at 5 + 2 + 3, and b at 13.
    """
    trace = Trace("equal", (Job("a", 0, 1, 5), Job("b", 2, 1, 3), Job("c", 2, 1, 1), Job("d", 4, 1, 1)))
    with plain():
        outcome = simulate(trace, homogeneous(1), policy("srtf"), ConstantCost(Fraction(2)), engine=engine)
    assert outcome.end.tolist() == [10, 13, 3, 5]


@pytest.mark.parametrize("name", NAMES)
def test_compiled_kernels(name: str) -> None:
    """Hundreds of jobs under overload, where the line is long: compiled, plain and general are one."""
    assert is_compiled(standing)
    assert is_compiled(remaining)
    draw = random.Random(7)
    trace = generate(300, 16, 1.2, seed=3)
    due = {job.id: job.submit + draw.randint(1, 9) * job.duration for job in trace.jobs[::2]}
    trace = trace.with_deadlines(due)
    options = {"promote": 3} if name == "las2d" else {}
    arguments = (trace, 16, name, options, ConstantCost(Fraction(30)))
    compiled = run("fast", *arguments)
    assert compiled["preemptions"] != [0] * 300 or name in ("fifo", "fjf")
    assert compiled == run("general", *arguments)
    with plain():
        assert compiled == run("fast", *arguments)


def test_restarts_without_end() -> None:
    """Promoted after waiting as long as they ran, two jobs take turns of 1 s, of which a restart costs 2."""
    trace = Trace("two", (Job("a", 0, 1, 5), Job("b", 0, 1, 5)))
    arguments = (trace, 1, "las2d", {"limits": (1,), "promote": 1}, ConstantCost(Fraction(2)))
    found = run("fast", *arguments)
    assert "takes GPUs back before a restart is paid" in found
    assert found == run("general", *arguments)


@pytest.mark.parametrize(
    ("gpus", "limits", "promote", "mean"),
    [(8, (325, 720), 0, "760.033"), (8, (325, 720), 8, "734.383"), (16, (325, 720), 0, "213.000")],
)
def test_published_figures(shared: Path, gpus: int, limits: Any, promote: int, mean: str) -> None:
    """Of the public simulator of Tiresias, 60 jobs, as in `test_published_figures`."""
    trace = read_trace(shared / "data/traces/tiresias_60_job.csv").trace
    las = policy("las2d", limits=limits, promote=promote, upstream_rounding=True)
    outcome = simulate(trace, homogeneous(gpus, 4), las, engine="fast")
    assert f"{float((outcome.end - outcome.submit).mean() * outcome.unit):.3f}" == mean


def test_no_jobs() -> None:
    """Nothing happens at all."""
    for name in NAMES:
        outcome = simulate(Trace("none", ()), homogeneous(4), policy(name), engine="fast")
        assert (outcome.events, outcome.busy_ticks, len(outcome.end)) == (0, 0, 0)


class Asked(LeastAttainedService):
    """Derived from a policy that has a kernel, and counts how often it is asked."""

    asked = 0

    def order(self, view: View) -> Numbers:
        self.asked += 1
        return super().order(view)


def test_auto_takes_a_kernel_for_known_policies_only() -> None:
    """A derived class may order as it likes, so it is asked; its base is not, and both come to the same."""
    trace = generate(fast.FEW + 1, 64, 0.9, seed=1)
    own = Asked()
    outcome = simulate(trace, homogeneous(64), own)
    assert own.asked > len(trace)
    with mock.patch.object(LeastAttainedService, "order", side_effect=AssertionError("asked")):
        known = simulate(trace, homogeneous(64), LeastAttainedService())
    assert everything(known) == everything(outcome)


def test_few_jobs_are_simulated_without_kernels() -> None:
    """Loading a kernel takes longer than they do."""
    trace = generate(20, 8, 0.9, seed=1)
    with mock.patch("scheduling_core.queueing.simulator.FastRun", side_effect=AssertionError("a kernel")):
        assert simulate(trace, homogeneous(8), policy("las2d")).events > 20


@pytest.mark.parametrize(
    ("cluster", "name", "options", "muri_restart"),
    [
        (homogeneous(8, 4, Placement.CONSOLIDATED), "las2d", {}, False),
        (parse_cluster("1x4:a,1x4:b"), "las2d", {}, False),
        (homogeneous(8), "las2d", {}, True),
        (homogeneous(8), "gittins2d", {"samples": (3, 5)}, False),
    ],
)
def test_what_no_kernel_can_run(cluster: Any, name: str, options: Any, muri_restart: bool) -> None:
    """Asked for by name it is refused with what would do; by itself the general simulator takes it."""
    trace = Trace("two", (Job("a", 0, 1, 5), Job("b", 0, 4, 5)))

    def attempt(engine: Any) -> Outcome:
        return simulate(trace, cluster, policy(name, **options), muri_restart=muri_restart, engine=engine)

    with pytest.raises(SchedulingError, match=f"fast can't run {name} here, expected general or auto"):
        attempt("fast")
    outcome = attempt("auto")
    assert (outcome.end * outcome.unit).tolist() == [5, 5]


def test_progress() -> None:
    """Told between stretches of events, and at the end all have ended."""
    seen: list[tuple[int, int]] = []
    with mock.patch.object(fast, "AT_ONCE", 100):
        simulate(generate(300, 8, 1.0, seed=2), homogeneous(8), policy("las2d"), engine="fast", series=True,
                 decisions=True, on_progress=lambda *told: seen.append(told))  # fmt: skip
    assert len(seen) > 5
    assert seen == sorted(seen)
    assert seen[-1] == (300, 300)


@pytest.mark.parametrize("name", NAMES)
def test_cost_of_an_event(calls: Callable[[Callable[[], object]], int], name: str) -> None:
    """Calls of kernel functions in an event while m jobs wait: 16 times as many make it 16/8 as deep at most.

    A line walked as a whole would make it 16 times as many.
    """

    def per_event(waiting: int) -> float:
        draw = random.Random(5)
        jobs = tuple(
            Job(f"{i}", max(0, i - waiting), draw.choice((1, 2, 4)), draw.randint(300, 900), 5 * waiting + i)
            for i in range(waiting + 200)
        )
        with plain(), mock.patch.object(fast, "AT_ONCE", 64):
            kernel = fast.remaining if name in ("srtf", "srsf") else fast.standing
            original, found = kernel.run, []

            def counted(*arguments: Any) -> bool:
                found.append(calls(lambda: original(*arguments)))
                if len(found) == 4:
                    raise InterruptedError  # that is enough
                return False

            with mock.patch.object(kernel, "run", counted), pytest.raises(InterruptedError):
                simulate(Trace("queue", jobs), homogeneous(16), policy(name), engine="fast")
        return sum(found[1:]) / (3 * 64)  # the first stretch has the arrival of the queue

    few, many = per_event(256), per_event(4096)
    assert many < 2 * few
