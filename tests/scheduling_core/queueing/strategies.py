"""Small traces, clusters and costs, and every registered policy with options that small traces reach."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from hypothesis import strategies as st

from scheduling_core.queueing.check import Report, check
from scheduling_core.queueing.cluster import Cluster, Node, Placement
from scheduling_core.queueing.costs import ConstantCost, GangCost, RestartCost, TableCost
from scheduling_core.queueing.fast import can_run_fast
from scheduling_core.queueing.jobs import Job, Trace
from scheduling_core.queueing.outcome import Outcome
from scheduling_core.queueing.policies import Policy, policy, policy_names
from scheduling_core.queueing.policies.base import KeyPolicy
from scheduling_core.queueing.views import Numbers, View

TIMES = ("limits", "samples", "delta", "lease", "slot", "quantum", "tick")
"""Options of policies that are times in seconds, or services: what scales with the trace."""

ROUNDED = ("upstream", "upstream_rounding")
"""Options by which a policy rounds to whole seconds as a public simulator does: it can't be scaled."""

SAMPLES = (2, 3, 5, 9, 14, 30, 41)

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "las2d": [
        {"limits": (6, 20)},
        {"limits": (24, 60), "promote": 2},
        {"limits": (6, 20), "by_gpu": False},
        {"limits": (24, 60), "promote": 1, "upstream_rounding": True},
    ],
    "gittins2d": [
        {"samples": SAMPLES, "delta": 6, "limits": (6, 20)},
        {"samples": SAMPLES, "delta": 6, "limits": (6, 20), "upstream": True},
    ],
    "edf_las": [{"limits": (6, 20)}],
    "llf": [{"quantum": 6}],
    "ftf": [{"lease": 8}],
    "gandiva": [{"quantum": 6}],
    "chronus_like": [{"lease": 12, "slot": 6}],
    "tias_eta": [{"limits": (6, 20), "tick": 5}],
    "tias_like": [{"limits": (6, 20)}, {"limits": (6, 20), "margin": 3, "gamma": 1.0, "hysteresis": 0}],
}
"""A policy that isn't named here runs with its defaults. One that has times of its own belongs here, so that
it meets them on traces of some tens of seconds; those times belong to `TIMES`. Turns that are repeated are
longer than the restarts below (5 s; by GPU time 3 s x 6 GPUs, 5 s x 2), else no job would get on."""


Engine = Literal["general", "fast"]


@dataclass(frozen=True)
class Case:
    """A policy with options."""

    name: str
    options: dict[str, Any] = field(default_factory=dict)

    def policy(self, c: int = 1) -> Policy:
        """A new one, its times c times as long."""
        options = {
            name: (tuple(c * x for x in value) if isinstance(value, tuple) else c * value)
            if name in TIMES
            else value
            for name, value in self.options.items()
        }
        return policy(self.name, **options)

    @property
    def oracle(self) -> bool:
        return self.policy().oracle

    def engines(self, cluster: Cluster) -> list[Engine]:
        """What can run it there."""
        return ["general", "fast"] if can_run_fast(cluster, self.policy()) else ["general"]

    @property
    def rounds(self) -> bool:
        return any(self.options.get(name) for name in ROUNDED)

    def __str__(self) -> str:
        told = (f"{name}={value}" for name, value in self.options.items() if name != "samples")
        return "-".join([self.name, *told]).replace(" ", "")


CASES = [Case(name, options) for name in policy_names() for options in OPTIONS.get(name, [{}])]
AGNOSTIC = [case for case in CASES if not case.oracle]
ORACLES = [case for case in CASES if case.oracle]

TYPES = ("a", "b")
TICKS = (Fraction(1), Fraction(1, 2), Fraction(7))
COSTS: list[RestartCost] = [
    RestartCost(), ConstantCost(Fraction(2)), ConstantCost(Fraction(1, 3)), GangCost(Fraction(1, 2)),
    TableCost({("m", 1): Fraction(1), ("m", 2): Fraction(5)}, Fraction(3)),
]  # fmt: skip


@st.composite
def jobs(draw: st.DrawFn, number: int, types: tuple[str | None, ...] = (None, *TYPES)) -> Job:
    """A job of some ticks; of any GPUs, too many for some clusters."""
    submit = draw(st.integers(0, 12))
    deadline = draw(st.none() | st.integers(submit + 1, submit + 30))
    return Job(
        f"j{number}", submit, draw(st.integers(1, 6)), draw(st.integers(1, 15)), deadline,
        draw(st.sampled_from(types)), draw(st.sampled_from((None, "m"))),
    )  # fmt: skip


@st.composite
def traces(
    draw: st.DrawFn, least: int = 1, most: int = 7, types: tuple[str | None, ...] = (None, *TYPES)
) -> Trace:
    """A trace in one of a few ticks."""
    n = draw(st.integers(least, most))
    return Trace("drawn", tuple(draw(jobs(i, types)) for i in range(n)), draw(st.sampled_from(TICKS)))


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    """A few nodes of one or two types."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    types = draw(st.sampled_from([("a",), TYPES]))
    nodes = tuple(Node(size, draw(st.sampled_from(types))) for size in sizes)
    return Cluster(nodes, draw(st.sampled_from(list(Placement))))


costs = st.sampled_from(COSTS)


class Ranked(KeyPolicy):
    """Jobs by the rank that their number has, smallest first: for cases by hand."""

    name = "ranked"
    source = "a test"

    def __init__(self, ranks: Mapping[int, int]) -> None:
        self.ranks = ranks

    def key(self, view: View) -> Numbers:
        return np.array([self.ranks[job] for job in view.jobs.tolist()])


def scaled(trace: Trace, c: int) -> Trace:
    """All times c times as long, in the same ticks."""
    return replace(trace, jobs=tuple(with_times(job, lambda ticks: c * ticks) for job in trace.jobs))


def with_times(job: Job, change: Callable[[int], int]) -> Job:
    deadline = None if job.deadline is None else change(job.deadline)
    return replace(job, submit=change(job.submit), duration=change(job.duration), deadline=deadline)


def checked(
    trace: Trace, outcome: Outcome, cost: RestartCost | None = None, log: str | None = None
) -> Report:
    """The verdict of the checker on a log, its own by default; it is told of the rest in plain rows only."""
    parts = trace.tick / outcome.unit
    rows = [with_times(job, lambda ticks: int(ticks * parts)).row for job in trace.jobs]
    restarts = {job.id: int((cost or RestartCost()).seconds(job) / outcome.unit) for job in trace.jobs}
    nodes = [(node.gpus, node.gpu_type) for node in outcome.cluster.nodes]
    text = log_of(outcome) if log is None else log
    return check(text, rows, nodes, outcome.cluster.placement.value, unit=outcome.unit, restarts=restarts)


def log_of(outcome: Outcome) -> str:
    """Its log, as written."""
    assert outcome.decisions is not None
    return outcome.decisions.text([job.id for job in outcome.trace.jobs])
