"""What each metric is: its unit, what its denominator counts, and its formula in words."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from scheduling_core.queueing.summaries import STATISTICS

BOUND = Fraction(10)
"""Seconds: a job that runs for less counts as this long in the bounded slowdown."""
COUNTS = ("jobs", "times")
"""Units of what is counted: such values are whole."""


class Definition(NamedTuple):
    """unit : of the value. of : what is counted by its denominator. means : the formula in words."""

    unit: str
    of: str
    means: str


SUMMARISED: Mapping[str, Definition] = {
    "jct": Definition("s", "jobs", "job completion time, end - submission"),
    "deadline_jct": Definition("s", "deadline jobs", "end - submission of jobs with a deadline"),
    "non_deadline_jct": Definition("s", "non-deadline jobs", "end - submission of jobs without a deadline"),
    "queueing": Definition("s", "jobs", "time from submission to end in which the GPUs weren't held"),
    "first_wait": Definition("s", "jobs", "first start - submission"),
    "slowdown": Definition("ratio", "jobs", "JCT / duration"),
    "bounded_slowdown": Definition("ratio", "jobs", "the larger of 1 and JCT / max(duration, 10 s)"),
    "finish_time_rho": Definition(
        "ratio", "jobs", "finish-time fairness, JCT / (duration x max(1, GPUs x jobs present / all GPUs))"
    ),
}
SINGLE: Mapping[str, Definition] = {
    "makespan": Definition("s", "jobs", "last end - first submission"),
    "deadline_misses": Definition("jobs", "deadline jobs", "ended after the deadline; an end at it is met"),
    "deadline_miss_rate": Definition("ratio", "deadline jobs", "missed / jobs with a deadline"),
    "tardiness_total": Definition("s", "deadline jobs", "sum of end - deadline of those that missed it"),
    "tardiness_mean": Definition("s", "missed jobs", "mean of end - deadline of those that missed it"),
    "utilisation": Definition(
        "ratio", "GPU s", "GPU time held, restarts included / GPU time from first submission to last end"
    ),
    "fragmentation": Definition(
        "ratio", "GPU s", "free GPU time that the smallest pending gang couldn't use / all GPU time"
    ),
    "preemptions": Definition("times", "jobs", "from running to pending"),
    "restarts": Definition("times", "jobs", "starts after a preemption"),
    "restart_time": Definition("s", "jobs", "time for which GPUs were held by restarts, summed over jobs"),
    "jobs": Definition("jobs", "submitted jobs", "jobs that ran: what every other figure is told of"),
    "jobs_refused": Definition(
        "jobs", "submitted jobs", "jobs that the cluster can never hold, in no other figure"
    ),
}
DEFINITIONS: Mapping[str, Definition] = {
    **{
        f"{name}_{statistic}": Definition(d.unit, d.of, f"{d.means}: {words}")
        for name, d in SUMMARISED.items()
        for statistic, words in STATISTICS.items()
    },
    **SINGLE,
}
