"""What can be wrong with a log of decisions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What is wrong."""

    FORM = "form"
    """A line that can't be read: columns, time or place."""
    UNKNOWN_ACTION = "unknown_action"
    UNKNOWN_JOB = "unknown_job"
    BACKWARDS = "backwards"
    """A time before that of the line above."""
    ORDER = "order"
    """At one time: ends, preemptions, starts, resumptions."""
    CAPACITY = "capacity"
    """More GPUs are held than there are."""
    NODE = "node"
    """More GPUs of a node are held than it has, or there is no such node."""
    GANG = "gang"
    """Not all GPUs of a job, or more."""
    TYPE = "type"
    """GPUs of another type than the job's, or of several types."""
    CONSOLIDATED = "consolidated"
    """Spread over more nodes than the rule allows."""
    EARLY_START = "early_start"
    """Before its submission."""
    STARTED_TWICE = "started_twice"
    NOT_PREEMPTED = "not_preempted"
    """Resumed without a preemption before."""
    NOT_RUNNING = "not_running"
    """Ended or preempted without holding GPUs."""
    ENDED_EARLY = "ended_early"
    ENDED_LATE = "ended_late"
    LOST = "lost"
    """Never ended."""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong: the job and the tick that it concerns, where there is one."""

    kind: Kind
    job: str | None
    time: int | None
    sentence: str
