"""The trade-off between deadlines and completion times: what each policy spans, and who dominates more of it.

A study runs one trace under every policy and option. Points are (deadline miss rate, mean JCT of jobs without
a deadline). A group's front is told by its hypervolume in a box from (0, 0) to (1, what FIFO takes), so that
it is the share of the box that the front dominates: FIFO is the same whatever else is compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.cells import Cell, Result
from scheduling_core.queueing.cluster import Cluster
from scheduling_core.queueing.costs import RestartCost
from scheduling_core.queueing.front import Point, hypervolume
from scheduling_core.queueing.jobs import Trace
from scheduling_core.queueing.metrics import Metrics
from scheduling_core.queueing.policies.tias import DEEP

OURS, SKETCH, BASELINE, ORACLE = "tias_like", "tias_eta", "baseline", "oracle"
REFERENCE = "fifo"

MARGINS = ("0", "0.5", "0.75", "1", "1.25", "1.5", "2", "3", "inf")
ETAS = (0.0, 0.5, 1.0, 2.0, 4.0)


@dataclass(frozen=True)
class Entry:
    """One policy with its options, and the group whose front it is on."""

    name: str
    group: str
    policy: str
    options: Mapping[str, Any]


def entries(samples: Sequence[int] = (), oracles: Sequence[str] = ("srtf", "llf")) -> list[Entry]:
    """Who is compared: ours over its margins, the plain form over eta, the agnostic baselines, and oracles.

    samples : services in GPU seconds for the Gittins index; without them it isn't compared.
    """
    plain: list[tuple[str, str, Mapping[str, Any]]] = [
        (name, name, {}) for name in ("fifo", "fjf", "sjf", "gandiva", "edf")
    ]
    queued: list[tuple[str, Mapping[str, Any]]] = [("las2d", {}), ("edf_las", {})]
    if samples:
        queued.append(("gittins2d", {"samples": tuple(samples)}))
    # Whatever deeper queues give to ours, they give to everybody.
    deep = [(f"{name} deep", name, {**options, "limits": DEEP}) for name, options in queued]
    baselines = [*plain, *((name, name, options) for name, options in queued), *deep]
    return [
        *(
            Entry(f"tias_like {where} {margin}", OURS, "tias_like", {"margin": margin, "patient": where})
            for where in ("last", "queue")
            for margin in MARGINS
        ),
        *(Entry(f"tias_eta {eta:g}", SKETCH, "tias_eta", {"eta": eta}) for eta in ETAS),
        *(Entry(f"tias_eta {eta:g} deep", SKETCH, "tias_eta", {"eta": eta, "limits": DEEP}) for eta in ETAS),
        *(Entry(name, BASELINE, kind, options) for name, kind, options in baselines),
        *(Entry(name, ORACLE, name, {}) for name in oracles),
    ]


def reduced(margins: Sequence[str], etas: Sequence[str], tick: int) -> list[Entry]:
    """A few of `entries`, for a run of seconds: queues as deep as ours for everybody."""
    return [
        *(
            Entry(f"tias_like {where} {margin}", OURS, "tias_like", {"margin": margin, "patient": where})
            for where in ("last", "queue")
            for margin in margins
        ),
        *(
            Entry(f"tias_eta {eta}", SKETCH, "tias_eta", {"eta": float(eta), "limits": DEEP, "tick": tick})
            for eta in etas
        ),
        *(Entry(name, BASELINE, name, {}) for name in ("fifo", "fjf", "sjf", "edf")),
        *(Entry(name, BASELINE, name, {"limits": DEEP}) for name in ("las2d", "edf_las")),
        *(Entry(name, ORACLE, name, {}) for name in ("srtf",)),
    ]


def cells(
    trace: Trace, cluster: Cluster, compared: Sequence[Entry], seed: int | None = None,
    restart: RestartCost | None = None,
) -> list[Cell]:  # fmt: skip
    """A cell for each entry."""
    return [
        Cell(trace, cluster, entry.policy, entry.options, restart or RestartCost(), seed)
        for entry in compared
    ]


@dataclass(frozen=True)
class Comparison:
    """What one trace on one cluster showed.

    points : of every entry, in their order. reference : where the box ends. others : hypervolume of all
    information-agnostic baselines and the plain form together. preemptions : the most of any of ours, over
    those of the entry `las2d`, with the limits that it has there; None where that has none.
    """

    compared: tuple[Entry, ...]
    points: tuple[Point, ...]
    reference: Point
    own: Fraction
    others: Fraction
    oracles: Fraction
    preemptions: Fraction | None

    @property
    def gain(self) -> Fraction:
        """Share of the box that ours dominates more than all others that read no durations."""
        return self.own - self.others

    def group(self, *names: str) -> list[Point]:
        """The points of these groups."""
        return [p for entry, p in zip(self.compared, self.points, strict=True) if entry.group in names]


def comparison(compared: Sequence[Entry], results: Sequence[Result | None]) -> Comparison:
    """Fronts from the results of `cells`.

    Raises
    ------
    SchedulingError : where a cell failed, FIFO isn't among them, or no job is of one of the two kinds.
    """
    found: list[Metrics] = []
    for entry, result in zip(compared, results, strict=True):
        if result is None or result.metrics is None:
            raise SchedulingError(f"{entry.name}: {result.error if result else 'not run'}.")
        found.append(result.metrics)
    return compare(compared, found)


def compare(compared: Sequence[Entry], found: Sequence[Metrics]) -> Comparison:
    """Fronts from the metrics of every entry.

    Raises
    ------
    SchedulingError : where FIFO or las2d isn't among them, or no job is of one of the two kinds.
    """
    points = tuple(_point(entry, metrics) for entry, metrics in zip(compared, found, strict=True))
    by_name = {entry.name: (point, m) for entry, point, m in zip(compared, points, found, strict=True)}
    if REFERENCE not in by_name or "las2d" not in by_name:
        raise SchedulingError("A comparison needs fifo and las2d among its policies.")
    reference: Point = (Fraction(1), by_name[REFERENCE][0][1])
    groups = {
        group: [p for entry, p in zip(compared, points, strict=True) if entry.group in names]
        for group, names in {"own": (OURS,), "others": (BASELINE, SKETCH), "oracles": (ORACLE,)}.items()
    }
    box = Fraction(reference[1])
    volumes = {group: hypervolume(each, reference) / box for group, each in groups.items()}
    most = max((_value(m, "preemptions") for e, m in zip(compared, found, strict=True) if e.group == OURS))
    base = _value(by_name["las2d"][1], "preemptions")
    return Comparison(
        tuple(compared), points, reference, volumes["own"], volumes["others"], volumes["oracles"],
        most / base if base else None,
    )  # fmt: skip


def _point(entry: Entry, metrics: Metrics) -> Point:
    miss, jct = metrics.value("deadline_miss_rate"), metrics.value("non_deadline_jct_mean")
    if miss is None or jct is None:
        raise SchedulingError(f"{entry.name}: a trade-off needs jobs with a deadline and jobs without.")
    return miss, jct


def _value(metrics: Metrics, name: str) -> Fraction:
    value = metrics.value(name)
    assert value is not None
    return value
