"""What comes of a check: findings, and times and figures as the log has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from scheduling_core.queueing.check.findings import Finding


@dataclass(frozen=True)
class JobTimes:
    """One job, in ticks of the log.

    start, end : None where it has none. executed : ticks in which it held its GPUs, restarts included.
    paid : the ticks of it that restarts took. preemptions, restarts : how often.
    """

    id: str
    submit: int
    gpus: int
    deadline: int | None
    start: int | None
    end: int | None
    executed: int
    paid: int
    preemptions: int
    restarts: int

    @property
    def jct(self) -> int | None:
        """From submission to end."""
        return None if self.end is None else self.end - self.submit

    @property
    def first_wait(self) -> int | None:
        """From submission to the first start."""
        return None if self.start is None else self.start - self.submit

    @property
    def queueing(self) -> int | None:
        """Of its JCT, the time in which it didn't hold its GPUs."""
        return None if self.jct is None else self.jct - self.executed

    @property
    def missed(self) -> bool:
        """Whether it ended after its deadline; an end at the deadline is in time."""
        return self.end is not None and self.deadline is not None and self.end > self.deadline


@dataclass(frozen=True)
class Figures:
    """Exact figures over the jobs that ended; times in seconds, None where no job counts.

    jobs, deadline_jobs, other_jobs : the denominators, of all figures, of miss_rate and of other_mean_jct.
    makespan : from the first submission to the last end. busy : GPU seconds held. utilisation : busy over all
    GPUs for the makespan.
    """

    jobs: int
    deadline_jobs: int
    other_jobs: int
    mean_jct: Fraction | None
    mean_first_wait: Fraction | None
    mean_queueing: Fraction | None
    other_mean_jct: Fraction | None
    misses: int
    miss_rate: Fraction | None
    makespan: Fraction | None
    busy: Fraction
    utilisation: Fraction | None
    paid: Fraction
    preemptions: int
    restarts: int


@dataclass(frozen=True)
class Report:
    """The outcome of a check. Figures are to be believed where `ok`.

    jobs : in the order of their rows. refused : jobs that the cluster can never hold and that the log doesn't
    name; they are no finding, and in no figure.
    """

    findings: tuple[Finding, ...]
    figures: Figures
    jobs: tuple[JobTimes, ...]
    refused: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings


def figures_of(jobs: Sequence[JobTimes], gpus: int, unit: Fraction) -> Figures:
    """Every figure, from the times of jobs alone; gpus of the cluster, unit seconds of a tick."""
    ended = [job for job in jobs if job.end is not None]
    timed = [job for job in ended if job.deadline is not None]
    others = [job for job in ended if job.deadline is None]
    last = max((job.end for job in ended if job.end is not None), default=None)
    span = None if last is None else last - min(job.submit for job in jobs)
    busy = sum(job.gpus * job.executed for job in jobs)
    misses = sum(job.missed for job in timed)
    return Figures(
        jobs=len(ended),
        deadline_jobs=len(timed),
        other_jobs=len(others),
        mean_jct=_mean([job.jct for job in ended], unit),
        mean_first_wait=_mean([job.first_wait for job in ended], unit),
        mean_queueing=_mean([job.queueing for job in ended], unit),
        other_mean_jct=_mean([job.jct for job in others], unit),
        misses=misses,
        miss_rate=Fraction(misses, len(timed)) if timed else None,
        makespan=None if span is None else span * unit,
        busy=busy * unit,
        utilisation=Fraction(busy, gpus * span) if span else None,
        paid=sum(job.paid for job in jobs) * unit,
        preemptions=sum(job.preemptions for job in jobs),
        restarts=sum(job.restarts for job in jobs),
    )


def _mean(ticks: Sequence[int | None], unit: Fraction) -> Fraction | None:
    known = [value for value in ticks if value is not None]
    return Fraction(sum(known), len(known)) * unit if known else None
