"""Deadlines for traces that have none, generated: d = s + ceil(D x U(low, high)) for a share of the jobs."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.jobs import Job, Trace

LOOSE = (1.5, 5.0)
TIGHT = (1.1, 2.0)
"""Named kinds: the least and largest factor of a job's duration."""

NOTE = "Deadlines are generated"


def with_deadlines(trace: Trace, share: float, low: float, high: float, seed: int) -> Trace:
    """The trace with other deadlines: a random share of its jobs has one, the rest none.

    share : the probability that a job has one, 0 to 1. low, high : between these factors of the job's
    duration, uniformly, is the time from submission to deadline; `*LOOSE` and `*TIGHT` are named. That time
    is rounded up to whole seconds where the trace's tick divides a second, to whole ticks where it doesn't.
    The deadlines therefore read durations, and the trace's notes say so.

    In the order of the trace `random.Random(seed)` draws for each job whether it has a deadline, and for one
    that has the factor.

    Raises
    ------
    SchedulingError : for a share outside 0 to 1, or factors that aren't 0 < low <= high.
    """
    if not 0 <= share <= 1:
        raise SchedulingError(f"The share of jobs with deadlines is {share}, expected 0 to 1.")
    if not 0 < low <= high < float("inf"):
        raise SchedulingError(f"Deadline factors are {low} and {high}, expected 0 < low <= high.")
    draw = random.Random(seed)
    grain = grain_of(trace.tick)
    deadlines = {  # the condition draws first
        job.id: _deadline(job, draw.uniform(low, high), grain) for job in trace.jobs if draw.random() < share
    }
    note = (
        f"{NOTE} from durations: share {share:g}, submission + duration x U({low:g}, {high:g}), seed {seed}; "
        f"{len(deadlines)} of {len(trace)} jobs have one."
    )
    others = tuple(line for line in trace.notes if not line.startswith(NOTE))
    return replace(trace.with_deadlines(deadlines), notes=(*others, note))


def grain_of(tick: Fraction) -> int:
    """The ticks that times are rounded up to: a second where the tick divides it, else one."""
    return tick.denominator if tick.numerator == 1 else 1


def _deadline(job: Job, factor: float, grain: int) -> int:
    over, under = factor.as_integer_ratio()
    return job.submit - (-job.duration * over // (under * grain)) * grain
