"""What a policy did to the jobs, in exact numbers, each with the number that it is over.

Peers' figures of the same name differ: Chronus prints a whole-number mean over all jobs; ElasticFlow divides
the deadlines that were met by all jobs, those without one too; Tiresias' "executed time" is wall time, in
which a job also waited, not the time for which it held GPUs. None of these is used here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.definitions import BOUND, COUNTS, DEFINITIONS, SUMMARISED, Definition
from scheduling_core.queueing.jobs import NEVER
from scheduling_core.queueing.outcome import Outcome
from scheduling_core.queueing.summaries import Ratio, contention, summary

NAMED = 10
"""Refused jobs that a row names; `Metrics.refused` has them all."""
Told = TypeVar("Told", Outcome, "Metrics", "Outcome | Metrics")


@dataclass(frozen=True)
class Figure:
    """One metric: its exact value, None where it is over nothing and so unknown, and its denominator."""

    name: str
    value: Fraction | None
    over: Fraction

    @property
    def definition(self) -> Definition:
        """Unit, what the denominator counts, and what the value means."""
        return DEFINITIONS[self.name]

    @property
    def plain(self) -> float | int | None:
        """To be printed: a whole number for a count, else the nearest float."""
        if self.value is None:
            return None
        return self.value.numerator if self.definition.unit in COUNTS else float(self.value)


@dataclass(frozen=True)
class Metrics:
    """All figures of one outcome, by name in the order of `DEFINITIONS`.

    refused : jobs that the cluster can never hold, with the reason; they are in no figure but their own.
    """

    policy: str
    oracle: bool
    gpus: int
    refused: Mapping[str, str] = field(default_factory=dict)
    figures: Mapping[str, Figure] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Figure:
        """Raises SchedulingError for a name that no metric has."""
        if name not in self.figures:
            raise SchedulingError(f"There is no metric {name!r}, expected one of {', '.join(DEFINITIONS)}.")
        return self.figures[name]

    def value(self, name: str) -> Fraction | None:
        """The exact value; times in seconds. Raises SchedulingError for an unknown name."""
        return self[name].value

    def rows(self) -> list[dict[str, Any]]:
        """One row for each figure: name, value, unit, over (the denominator), of (what it counts), means."""
        return [
            {
                "name": figure.name, "value": figure.plain, "unit": figure.definition.unit,
                "over": _plain(figure.over), "of": figure.definition.of, "means": self._means(figure),
            }
            for figure in self.figures.values()
        ]  # fmt: skip

    def exact(self) -> dict[str, Any]:
        """Plain values for JSON that lose nothing: fractions as "n/d"; `read_metrics` takes them back."""
        return {
            "policy": self.policy, "oracle": self.oracle, "gpus": self.gpus, "refused": dict(self.refused),
            "figures": {
                name: [None if figure.value is None else str(figure.value), str(figure.over)]
                for name, figure in self.figures.items()
            },
        }  # fmt: skip

    def _means(self, figure: Figure) -> str:
        means = figure.definition.means
        if figure.name != "jobs_refused" or not self.refused:
            return means
        more = len(self.refused) - NAMED
        return f"{means}: {', '.join([*self.refused][:NAMED])}" + (f" and {more} more" if more > 0 else "")


def read_metrics(plain: Mapping[str, Any]) -> Metrics:
    """What `Metrics.exact` wrote.

    Raises
    ------
    SchedulingError : for anything else.
    """
    try:
        figures = {
            name: Figure(name, None if value is None else Fraction(value), Fraction(over))
            for name, (value, over) in plain["figures"].items()
        }
        read = Metrics(plain["policy"], plain["oracle"], plain["gpus"], dict(plain["refused"]), figures)
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        raise SchedulingError(
            f"These are no metrics ({error!r}), expected what Metrics.exact gives."
        ) from error
    if list(figures) != list(DEFINITIONS):
        raise SchedulingError("These metrics have other names than this version's, expected the same.")
    return read


def metrics(outcome: Outcome) -> Metrics:
    """Every metric of one outcome; `DEFINITIONS` says what each means.

    Bounded slowdown is that of Feitelson and Rudolph, JSSPP 1998, with a bound of 10 s. Finish-time fairness
    is T_shared / T_isolated of Mahajan et al. (Themis), NSDI 2020, T_shared being the JCT. T_isolated is
    told for a job that has the n-th part of the cluster to itself, n being the mean number of jobs in the
    system from its submission to its end: duration x max(1, GPUs x n / all GPUs). So a gang larger than its
    part is slowed in proportion, and none is faster than with all its GPUs: that rule for gangs is ours.
    """
    n = len(outcome.trace)
    unit = outcome.unit
    submit, end = outcome.submit.tolist(), outcome.end.tolist()
    deadline, duration = outcome.deadline.tolist(), outcome.duration.tolist()
    jct = [e - s for s, e in zip(submit, end, strict=True)]
    late = [e - d for e, d in zip(end, deadline, strict=True) if NEVER > d < e]
    dated = sum(d < NEVER for d in deadline)
    makespan = max(end) - min(submit) if n else 0
    there = outcome.cluster.gpus * makespan
    found: dict[str, tuple[Fraction | int | None, Fraction | int]] = {}
    for name, ratios in _ratios(outcome, jct, deadline, duration).items():
        scale = unit if SUMMARISED[name].unit == "s" else Fraction(1)
        for statistic, value in summary(ratios, scale).items():
            found[f"{name}_{statistic}"] = (value, len(ratios))
    found |= {
        "makespan": (makespan * unit, n),
        "deadline_misses": (len(late), dated),
        "deadline_miss_rate": (Fraction(len(late), dated or 1), dated),
        "tardiness_total": (sum(late) * unit, dated),
        "tardiness_mean": (Fraction(sum(late), len(late) or 1) * unit, len(late)),
        "utilisation": (Fraction(outcome.busy_ticks, there or 1), there * unit),
        "fragmentation": (Fraction(outcome.fragmented_ticks, there or 1), there * unit),
        "preemptions": (sum(outcome.preemptions.tolist()), n),
        "restarts": (sum(outcome.restarts.tolist()), n),
        "restart_time": (sum(outcome.paid.tolist()) * unit, n),
        "jobs": (n, n + len(outcome.refused)),
        "jobs_refused": (len(outcome.refused), n + len(outcome.refused)),
    }
    figures = {name: _figure(name, *found[name]) for name in DEFINITIONS}
    policy = outcome.policy
    return Metrics(policy.name, policy.oracle, outcome.cluster.gpus, dict(outcome.refused), figures)


def comparison(
    outcomes: Iterable[Outcome | Metrics] | Mapping[str, Outcome | Metrics],
) -> list[dict[str, Any]]:
    """One row for each outcome: name, oracle, gpus, the denominators in jobs, and every figure by its name.

    outcomes : named, or each by its policy. oracle : True where the policy reads durations; such rows are
    told apart from the others. Unknown figures are None.
    """
    rows = []
    for name, of in labelled(outcomes).items():
        told = metrics(of) if isinstance(of, Outcome) else of
        rows.append({
            "name": name, "policy": told.policy, "oracle": told.oracle, "gpus": told.gpus,
            "deadline_jobs": _plain(told["deadline_misses"].over),
            "non_deadline_jobs": _plain(told["non_deadline_jct_mean"].over),
            **{figure.name: figure.plain for figure in told.figures.values()},
        })  # fmt: skip
    return rows


def labelled(outcomes: Iterable[Told] | Mapping[str, Told]) -> dict[str, Told]:
    """Outcomes by name: the given ones, or the policies', of which the second of a name is "name (2)"."""
    if isinstance(outcomes, Mapping):
        return dict(outcomes)
    found: dict[str, Told] = {}
    for of in outcomes:
        policy = of.policy if isinstance(of, Metrics) else of.policy.name
        count = 1 + sum(name.partition(" (")[0] == policy for name in found)
        found[policy if count == 1 else f"{policy} ({count})"] = of
    return found


def _ratios(
    outcome: Outcome, jct: list[int], deadline: list[int], duration: list[int]
) -> dict[str, list[Ratio]]:
    """Of each job that a summary is over, its ticks over 1, or its ratio."""
    gpus, all_gpus = outcome.gpus.tolist(), outcome.cluster.gpus
    bound, parts = (BOUND / outcome.unit).as_integer_ratio()
    present = contention(outcome.submit.tolist(), outcome.end.tolist())
    dated = [d < NEVER for d in deadline]
    return {
        "jct": _whole(jct),
        "deadline_jct": _whole(c for c, has in zip(jct, dated, strict=True) if has),
        "non_deadline_jct": _whole(c for c, has in zip(jct, dated, strict=True) if not has),
        "queueing": _whole((outcome.end - outcome.submit - outcome.executed).tolist()),
        "first_wait": _whole((outcome.first_start - outcome.submit).tolist()),
        "slowdown": list(zip(jct, duration, strict=True)),
        "bounded_slowdown": [
            (max(c * parts, base), base)
            for c, base in ((c, max(d * parts, bound)) for c, d in zip(jct, duration, strict=True))
        ],
        "finish_time_rho": [
            # c / (d x g area / (N c)) where the gang is larger than its part of the cluster, else c / d
            (all_gpus * c * c, d * g * area) if g * area > all_gpus * c else (c, d)
            for c, d, g, area in zip(jct, duration, gpus, present, strict=True)
        ],
    }


def _whole(ticks: Iterable[int]) -> list[Ratio]:
    return [(time, 1) for time in ticks]


def _figure(name: str, value: Fraction | int | None, over: Fraction | int) -> Figure:
    """Unknown where it is over nothing; only how many jobs there are is known even then."""
    known = value is not None and (over > 0 or name in ("jobs", "jobs_refused"))
    return Figure(name, Fraction(value) if known and value is not None else None, Fraction(over))


def _plain(value: Fraction) -> float | int:
    return value.numerator if value.denominator == 1 else float(value)
