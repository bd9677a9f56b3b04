"""Predicted lengths with noise in them: how far each discipline that predicts degrades."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

from scheduling_core.admission.attempts import Segment, SegmentKind, Workload
from scheduling_core.admission.experiments.baselines import assumed, check_limits
from scheduling_core.admission.experiments.disciplines import (
    Aging,
    InOrder,
    LongestPredicted,
    ShortestPredicted,
)
from scheduling_core.admission.experiments.outcome import Cell, Outcome
from scheduling_core.admission.experiments.predictors import (
    identity,
    noisy,
    other_attempts,
    shuffled,
    task_mean,
)
from scheduling_core.admission.experiments.reactive import Discipline, Predictor, admit, oracle
from scheduling_core.admission.metrics import metrics
from scheduling_core.admission.schedule import Limits, Policy, Schedule
from scheduling_core.charts import SCHEMA
from scheduling_core.errors import SchedulingError

SIGMAS = (0.0, 0.25, 0.5, 1.0)

FIGURES = {
    "makespan_h": "Makespan (h)",
    "wait_mean_s": "Mean wait (s)",
    "image_gib_hours": "Image store over time (GiB-hours)",
}
"""What is told of each: figures of `Metrics.table` that depend on the starts and whole lengths alone."""


def run(
    workload: Workload,
    limits: Limits,
    *,
    seed: int,
    runs: int = 10,
    sigmas: Sequence[float] = SIGMAS,
    policy: Policy = Policy.ACTIVE,
    aging: int = 100,
) -> Outcome:
    """Each predictive discipline under each kind of prediction; what is random is drawn `runs` times.

    A change is that of the median against the same discipline with exact lengths. An interval is that of the
    median, see `median_interval`.

    Raises
    ------
    SchedulingError : for fewer than 1 run, a wrong sigma, or a limit that an admission doesn't look at.
    """
    check_limits(limits)
    if type(runs) is not int or runs < 1:
        raise SchedulingError(f"runs is {runs!r}, expected a whole number from 1.")
    plain = _whole(workload)
    kinds = _kinds(workload, sigmas, seed, runs)
    schedules: dict[str, Schedule] = {}

    def one(name: str, discipline: Discipline, predictor: Predictor) -> Mapping[str, float]:
        schedules[name] = admit(workload, limits, discipline, predictor, policy)
        return metrics(plain, schedules[name]).table()

    rows: list[list[Cell]] = []
    points: list[dict[str, Any]] = []

    def add(
        discipline: str, kind: str, tables: list[Mapping[str, float]], exact: Mapping[str, float]
    ) -> None:
        row: list[Cell] = [discipline, kind, len(tables)]
        for figure in FIGURES:
            middle, low, high = median_interval([table[figure] for table in tables])
            row += [middle, low, high, 100 * (middle / exact[figure] - 1) if exact[figure] else None]
            points.append(
                {"discipline": discipline, "predictions": kind, "figure": figure, "median": middle,
                 "low": low, "high": high}
            )  # fmt: skip
        rows.append(row)

    first = one("fifo", InOrder(), oracle(workload))
    add("fifo", "none", [first], first)
    for discipline in (ShortestPredicted(), LongestPredicted(), Aging(aging)):
        exact = one(f"{discipline.name}, exact", discipline, oracle(workload))
        add(discipline.name, "exact", [exact], exact)
        for kind, predictors in kinds.items():
            several = len(predictors) > 1
            tables = [
                one(f"{discipline.name}, {kind}" + (f", draw {k}" if several else ""), discipline, predictor)
                for k, predictor in enumerate(predictors)
            ]
            add(discipline.name, kind, tables, exact)
    return Outcome(
        "predictions",
        f"{workload.name}: disciplines under noisy predictions",
        {
            "slots": limits.slots, "policy": str(policy), "seed": seed, "runs": runs,
            "sigmas": [float(sigma) for sigma in sigmas], "aging": aging,
        },
        ["discipline", "predictions", "runs",
         *(name for figure in FIGURES for name in (figure, f"{figure} low", f"{figure} high",
                                                   f"{figure} change, %"))],
        rows,
        {figure: _chart(figure, points, ["none", "exact", *kinds]) for figure in FIGURES},
        schedules,
        [*assumed(workload, aging), *_stated(workload)],
    )  # fmt: skip


def median_interval(values: Sequence[float]) -> tuple[float, float | None, float | None]:
    """The median, and an interval for that of the distribution at 95 % confidence or more.

    It reaches from the k-th lowest to the k-th highest value with the largest k for which the binomial
    probability of k - 1 or fewer of n on one side is at most 2.5 % (W. J. Conover, Practical Nonparametric
    Statistics, section 3.2). None with fewer than 6 values, which give no such interval.
    """
    n, ordered = len(values), sorted(values)
    below, k = 0, 0
    while k < n and 40 * (below + math.comb(n, k)) <= 2**n:
        below += math.comb(n, k)
        k += 1
    if k == 0:
        return median(ordered), None, None
    return median(ordered), ordered[k - 1], ordered[n - k]


def _kinds(
    workload: Workload, sigmas: Sequence[float], seed: int, runs: int
) -> dict[str, Sequence[Predictor]]:
    """Predictors by the name of their kind, one for each draw."""
    found: dict[str, Sequence[Predictor]] = {}
    for sigma in sigmas:
        draws = runs if sigma else 1
        found[f"sigma {float(sigma):g}"] = [noisy(workload, sigma, (seed, k, 0)) for k in range(draws)]
    found["rank shuffle"] = [shuffled(workload, (seed, k, 1)) for k in range(runs)]
    found["task mean so far"] = [task_mean]
    found["mean of the task's others"] = [other_attempts(workload)]
    return found


def _stated(workload: Workload) -> list[str]:
    found = identity(workload)
    here = "Of this workload's log-lengths the task explains an unknown share"
    if found.share is not None and found.sigma is not None:
        here = (
            f"Of the variance of this workload's log-lengths the task explains {100 * found.share:.1f} %, "
            f"and the rest has sigma {found.sigma:.2f}"
        )
    return [
        "Noise is lognormal, has median 1 and is independent between attempts.",
        "The mean of a task's others looks at attempts that haven't run yet, which no admission can.",
        "Published for all models: model and task explain 72 % of the variance of log-length, and the rest "
        "has sigma about 0.42.",
        f"{here} ({found.attempts} attempts, {found.tasks} tasks).",
    ]


def _chart(figure: str, points: Sequence[Mapping[str, Any]], order: Sequence[str]) -> dict[str, Any]:
    axis = FIGURES[figure]
    x = {"field": "predictions", "type": "nominal", "sort": list(order), "title": "Predicted lengths",
         "axis": {"labelAngle": -30}}  # fmt: skip
    color = {"field": "discipline", "type": "nominal", "sort": None, "title": "Discipline"}
    offset = {"field": "discipline", "type": "nominal", "sort": None}
    tooltip = [
        {"field": name, "type": kind, "title": title}
        for name, kind, title in (
            ("discipline", "nominal", "Discipline"), ("predictions", "nominal", "Predicted lengths"),
            ("median", "quantitative", axis), ("low", "quantitative", "Interval from"),
            ("high", "quantitative", "Interval to"),
        )
    ]  # fmt: skip
    return {
        "$schema": SCHEMA,
        "title": {"text": f"{axis} by kind of prediction",
                  "subtitle": "Median over draws; lines are its interval at 95 % confidence"},
        "width": 560,
        "height": 320,
        "data": {"values": [{k: v for k, v in p.items() if k != "figure"} for p in points
                            if p["figure"] == figure]},
        "layer": [
            {
                "mark": {"type": "rule", "strokeWidth": 2},
                "transform": [{"filter": "isValid(datum.low)"}],
                "encoding": {"x": x, "xOffset": offset, "color": color,
                             "y": {"field": "low", "type": "quantitative", "scale": {"zero": False}},
                             "y2": {"field": "high"}},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 60},
                "encoding": {"x": x, "xOffset": offset, "color": color, "tooltip": tooltip,
                             "y": {"field": "median", "type": "quantitative", "title": axis,
                                   "scale": {"zero": False}}},
            },
        ],
    }  # fmt: skip


def _whole(workload: Workload) -> Workload:
    """The same attempts as one segment each, for figures that don't depend on segments."""
    return Workload(
        workload.name,
        tuple(replace(a, segments=(Segment(SegmentKind.UNKNOWN, a.ticks),)) for a in workload.attempts),
    )
