"""The allocation trace: jobs arrive step by step, every step is allocated anew, scores are kept.

The experiment is an allocation-only simulation: a step's scores follow from the set of jobs that
have arrived, so each distinct set is solved once and reused.  Nothing is trained or scheduled.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, get_args

import numpy as np

from scheduling_core.allocation.problem import Problem, agnostic
from scheduling_core.allocation.result import Allocation, Mode
from scheduling_core.allocation.water_filling import water_fill
from scheduling_core.errors import SchedulingError

Policy = Literal["aware", "agnostic"]
POLICIES: tuple[Policy, ...] = get_args(Policy)


class Record(NamedTuple):
    """Score of one active job at one step (1-based) under one policy."""

    policy: str
    step: int
    job_id: int
    score: float


class Summary(NamedTuple):
    """Statistics over so many steps, each of equal weight."""

    steps: int
    mean: float
    min: float
    max: float


def summarise(values: Sequence[float]) -> Summary:
    """Mean, minimum and maximum of a non-empty sequence."""
    return Summary(len(values), math.fsum(values) / len(values), min(values), max(values))


def percent_above(value: float, reference: float) -> float:
    """By how many percent ``value`` exceeds ``reference``; negative when it falls short."""
    if reference == 0:
        raise SchedulingError("A percentage of 0 was asked for, expected another reference.")
    return 100.0 * (value / reference - 1.0)


@dataclass(frozen=True, eq=False)
class JobSequence:
    """Jobs with arrival steps (1-based); ``problem`` holds all of them, in the same order."""

    problem: Problem
    job_ids: tuple[int, ...]
    arrivals: tuple[int, ...]

    def __post_init__(self) -> None:
        if not len(self.job_ids) == len(self.arrivals) == self.problem.jobs:
            raise SchedulingError(
                f"There are {len(self.job_ids)} job ids and {len(self.arrivals)} arrivals, "
                f"expected {self.problem.jobs} of each."
            )
        if len(set(self.job_ids)) < len(self.job_ids):
            twice = next(i for i in self.job_ids if self.job_ids.count(i) > 1)
            raise SchedulingError(f"Job {twice} is listed twice, expected each id once.")
        early = [i for i, step in zip(self.job_ids, self.arrivals, strict=True) if step < 1]
        if early:
            raise SchedulingError(f"Job {early[0]} arrives before step 1, expected 1 or later.")

    def active(self, step: int) -> tuple[int, ...]:
        """Positions of the jobs that have arrived by this step."""
        return tuple(i for i, arrival in enumerate(self.arrivals) if arrival <= step)


class Simulation(NamedTuple):
    """A trace and the allocations behind it, by the positions of the active jobs."""

    trace: Trace
    allocations: Mapping[tuple[int, ...], Allocation]


def simulate(sequence: JobSequence, policy: Policy, mode: Mode, steps: int) -> Simulation:
    """Scores of all active jobs at steps 1 to ``steps`` under one policy."""
    if policy not in POLICIES:
        raise SchedulingError(f"policy is {policy!r}, expected 'aware' or 'agnostic'.")
    problem = agnostic(sequence.problem) if policy == "agnostic" else sequence.problem
    allocations: dict[tuple[int, ...], Allocation] = {}
    records = []
    for step in range(1, steps + 1):
        active = sequence.active(step)
        if not active:
            continue
        if active not in allocations:
            allocations[active] = water_fill(problem.subset(active), mode)
        scores = allocations[active].scores.tolist()
        records += [
            Record(policy, step, sequence.job_ids[i], score) for i, score in zip(active, scores, strict=True)
        ]
    arrivals = dict(zip(sequence.job_ids, sequence.arrivals, strict=True))
    return Simulation(Trace(tuple(records), steps, arrivals), allocations)


@dataclass(frozen=True, eq=False)
class Trace:
    """Scores of jobs by policy and step.

    Parameters
    ----------
    records : one for each policy, step and active job, in any order.
    steps : the trace covers steps 1 to this one, whether jobs are active or not.
    arrivals : arrival step of each job.

    Raises
    ------
    SchedulingError : for an empty trace, a pair of job and step that occurs twice, a score that
        is no finite number, or a step outside the trace.
    """

    records: tuple[Record, ...]
    steps: int
    arrivals: Mapping[int, int]

    def __post_init__(self) -> None:
        if not self.records:
            raise SchedulingError("The trace holds no records, expected at least one.")
        seen = set()
        for policy, step, job_id, score in self.records:
            if (policy, step, job_id) in seen:
                raise SchedulingError(f"Job {job_id} has two scores at step {step} ({policy}), expected one.")
            seen.add((policy, step, job_id))
            if not math.isfinite(score):
                raise SchedulingError(
                    f"The score of job {job_id} at step {step} ({policy}) is {score}, "
                    "expected a finite number."
                )
            if not 1 <= step <= self.steps:
                raise SchedulingError(f"A record is at step {step}, expected a step from 1 to {self.steps}.")

    @classmethod
    def of(cls, records: Iterable[Record], steps: int | None = None) -> Trace:
        """A trace from saved records: a job arrives with its first one."""
        kept = tuple(records)
        arrivals: dict[int, int] = {}
        for record in kept:
            arrivals[record.job_id] = min(record.step, arrivals.get(record.job_id, record.step))
        last = max((record.step for record in kept), default=0)
        return cls(kept, last if steps is None else steps, arrivals)

    def joined(self, other: Trace) -> Trace:
        """Both traces as one: the same experiment under other policies."""
        return Trace(
            self.records + other.records,
            max(self.steps, other.steps),
            {**self.arrivals, **other.arrivals},
        )

    @cached_property
    def policies(self) -> tuple[str, ...]:
        """Names of the policies, in order of appearance."""
        return tuple(dict.fromkeys(record.policy for record in self.records))

    @cached_property
    def _scores(self) -> Mapping[str, Mapping[int, Mapping[int, float]]]:
        scores: dict[str, dict[int, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
        for policy, step, job_id, score in self.records:
            scores[policy][step][job_id] = score
        return scores

    def totals(self, policy: str, start: int = 1, end: int | None = None) -> tuple[float, ...]:
        """Sum of the active jobs' scores at each step; 0 while none has arrived."""
        scores = self._of(policy)
        return tuple(math.fsum(scores.get(t, {}).values()) for t in self._interval(start, end))

    def summary(self, policy: str, start: int = 1, end: int | None = None) -> Summary:
        """Statistics of the steps' totals: every step counts alike, however many jobs it has."""
        return summarise(self.totals(policy, start, end))

    def job(self, policy: str, job_id: int, start: int = 1, end: int | None = None) -> Summary | None:
        """Statistics of one job's score over the chosen steps after its arrival.

        None if it has not arrived by then: an absent job is not one that makes no progress.
        """
        if job_id not in self.arrivals:
            known = sorted(self.arrivals)
            raise SchedulingError(f"There is no job {job_id}, expected one of {known[0]} to {known[-1]}.")
        scores = self._of(policy)
        chosen = [scores[t][job_id] for t in self._interval(start, end) if job_id in scores.get(t, {})]
        return summarise(chosen) if chosen else None

    def totals_by_jobs(self, policy: str) -> dict[int, float]:
        """Number of active jobs -> total, the mean over the steps with so many jobs."""
        groups: dict[int, list[float]] = defaultdict(list)
        for _, scores in sorted(self._of(policy).items()):
            groups[len(scores)].append(math.fsum(scores.values()))
        return {jobs: math.fsum(group) / len(group) for jobs, group in sorted(groups.items())}

    def checks(self) -> dict[str, bool]:
        """What a reader may rely on, as booleans."""
        pairs = {record[:3] for record in self.records}
        expected = {
            (policy, step, job_id)
            for policy in self.policies
            for job_id, arrival in self.arrivals.items()
            for step in range(arrival, self.steps + 1)
        }
        return {
            "unique_job_step_pairs": len(pairs) == len(self.records),
            "all_arrivals": {record.job_id for record in self.records} == set(self.arrivals),
            "every_step_after_arrival": pairs == expected,
            "both_policies": set(self.policies) == set(POLICIES),
            "finite_and_non_negative": bool(
                np.all([math.isfinite(r.score) and r.score >= 0 for r in self.records])
            ),
        }

    def _of(self, policy: str) -> Mapping[int, Mapping[int, float]]:
        if policy not in self.policies:
            raise SchedulingError(
                f"The trace holds no policy {policy!r}, expected one of "
                f"{', '.join(map(repr, self.policies))}."
            )
        return self._scores[policy]

    def _interval(self, start: int, end: int | None) -> range:
        last = self.steps if end is None else end
        if not 1 <= start <= last <= self.steps:
            raise SchedulingError(
                f"The interval is steps {start} to {last}, expected two steps in order from "
                f"1 to {self.steps}."
            )
        return range(start, last + 1)
