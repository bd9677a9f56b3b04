"""A reconstruction of TIAS from its abstract, in a plain form and in ours.

Yang, Lin, Ni, Song, "TIAS: Two-level Information-Agnostic Job Scheduling in GPU Clusters", INSAI 2021, DOI
10.1109/INSAI54028.2021.00041. Only its abstract is public: jobs with and without deadlines are scheduled
together without knowing how long they run; the first level uses another priority for each kind; the second, a
"queue urgency" told from three observations, sorts the deadline jobs inside one queue. Formulas, observations
and figures are not public: those here are ours, and no result of these classes is a result of that paper.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from fractions import Fraction

import numpy as np

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.jobs import NEVER
from scheduling_core.queueing.policies.deadlines import live, next_deadline
from scheduling_core.queueing.policies.las import LIMITS, LeastAttainedService
from scheduling_core.queueing.policies.reserve import PARTS, Reserves
from scheduling_core.queueing.views import Flags, Numbers, Reals, Setting, View

DEEP = (*LIMITS, 28_800, 115_200, 460_800, 1_843_200)
"""Tiresias' two limits in GPU seconds, and four more, each four times the last: for services over decades."""

RECONSTRUCTION = (
    "a reconstruction from the abstract of TIAS (Yang et al., INSAI 2021, "
    "DOI 10.1109/INSAI54028.2021.00041); the paper's formulas and figures are not public, these are ours"
)


class _Urgency:
    """Queue urgency U = alpha (t - s)/W + beta w/W + gamma log2(g)/8.

    What stands behind it: less of the window W is left; what was lost to waiting (w) can't be won back; large
    gangs are harder to place. t - s is the age, g the gang's GPUs.
    """

    def __init__(self, alpha: float, beta: float, gamma: float) -> None:
        if min(alpha, beta, gamma) < 0:
            raise SchedulingError("Weights of queue urgency below 0, expected 0 or more.")
        self.alpha, self.beta, self.gamma = alpha, beta, gamma

    def __call__(self, view: View) -> Reals:
        """Of every job (m,); jobs without a deadline get what is finite and means nothing."""
        window = view.deadline - view.submit
        age = self.alpha * (view.now - view.submit) + self.beta * view.waited
        urgency: Reals = age / window + self.gamma * np.log2(view.gpus) / 8
        return urgency


class TiasEta(LeastAttainedService):
    """The plain form: a deadline job's service shrinks with its window, and it goes first inside its queue.

    Level 1: jobs without a deadline, and late ones, are in the queue of their service a; a live deadline job
    in that of a ((d - t)/W)^eta. Level 2: inside a queue live deadline jobs first, by urgency; then the
    others, those that run first. Asked again every `tick` seconds while a deadline job is live. It has no
    hysteresis and preempts much.
    """

    name = "tias_eta"
    source = RECONSTRUCTION

    def __init__(
        self, eta: float = 0.5, alpha: float = 1.0, beta: float = 1.0, gamma: float = 0.0,
        limits: Sequence[int] = LIMITS, tick: int = 30,
    ) -> None:  # fmt: skip
        super().__init__(limits)
        if eta < 0 or tick < 1:
            raise SchedulingError(f"eta {eta} and a tick of {tick} s, expected 0 or more, and at least 1.")
        self.eta, self.tick, self.urgency = eta, tick, _Urgency(alpha, beta, gamma)

    def resolution(self, tick: Fraction, gangs: Collection[int]) -> int:
        """Limits and ticks are whole."""
        return math.lcm(super().resolution(tick, gangs), (self.tick / tick).denominator)

    def begin(self, setting: Setting) -> None:
        """All queues are empty."""
        super().begin(setting)
        self._tick = setting.ticks(self.tick)

    def order(self, view: View) -> Numbers:
        """Queue by queue."""
        alive = live(view)
        left = np.where(alive, (view.deadline - view.now) / (view.deadline - view.submit), 1.0)
        level = np.searchsorted(self.queues.limits, view.service * left**self.eta, "right")
        urgency = np.where(alive, -self.urgency(view), ~view.running)
        return view.jobs[np.lexsort((view.submit, urgency, ~alive, level))]

    def wake(self, view: View) -> int:
        """At the next limit of a running job, and at the next tick while a deadline job is live."""
        level = np.searchsorted(self.queues.limits, view.service, "right")
        sinking = view.running & (level < len(self.limits))
        limit, service = self.queues.limits[level[sinking]], view.service[sinking]
        when = NEVER
        if sinking.any():
            when = view.now + int((-((service - limit) // view.gpus[sinking])).min())
        return min(when, view.now + self._tick) if live(view).any() else when


class TiasLike(LeastAttainedService):
    """Deadline jobs wait behind the others while their window allows it, and go before them once it doesn't.

    Level 1: jobs without a deadline, and late ones, are in the queue of their attained service. For a live
    deadline job a part of its window is kept in reserve, learned from the deadline jobs that have ended
    (`Reserves`). Until the reserve begins the job is patient: behind all others that wait in the last queue
    (patient="last"), or in that of its service (patient="queue"). From then on, and until its deadline, it is
    urgent: before all queues.
    Level 2 sorts urgent jobs, and patient ones among themselves, by queue urgency,
    U = (1 + beta w/W) (1 + gamma log2(g)/8) / (d - t): little of the window W is left; what was lost to
    waiting (w) can't be won back; large gangs are harder to place. Without weights this is EDF.
    Hysteresis: U of a running job counts 1 + hysteresis times, an urgent job stays urgent, and a patient one
    that runs isn't preempted by those that wait in the last queue.

    margin : how many times the learned reserve is kept. 0: nobody becomes urgent, the others' JCT is least;
    large: all deadline jobs are urgent at once, misses are fewest. `inf` is large.
    patient : "last" favours the others most, "queue" misses fewer deadlines where windows are tight.
    """

    name = "tias_like"
    source = RECONSTRUCTION

    def __init__(
        self, margin: float | str | Fraction = 1.5, patient: str = "last", beta: float = 1.0,
        gamma: float = 0.0, hysteresis: float = 0.2, limits: Sequence[int] = DEEP,
    ) -> None:  # fmt: skip
        super().__init__(limits)
        if patient not in ("last", "queue"):
            raise SchedulingError(f"patient {patient!r}, expected last or queue.")
        self.margin, self.last = _margin(margin), patient == "last"
        if min(beta, gamma, hysteresis) < 0:
            raise SchedulingError("beta, gamma and hysteresis of tias_like: expected 0 or more.")
        self.beta, self.gamma, self.hysteresis = beta, gamma, hysteresis

    def resolution(self, tick: Fraction, gangs: Collection[int]) -> int:
        """Limits are reached, and reserves begin, at whole ticks."""
        return math.lcm(super().resolution(tick, gangs), PARTS)

    def begin(self, setting: Setting) -> None:
        """All queues are empty and nothing is learned."""
        super().begin(setting)
        self.reserves = Reserves(setting.jobs, self.margin)
        self.urgent = np.zeros(setting.jobs, dtype=np.bool_)
        self.late = np.zeros(setting.jobs, dtype=np.bool_)

    def ended(self, view: View, jobs: Numbers) -> None:
        """Learn which share of their windows deadline jobs ran."""
        self.reserves.learn(view.held_by(jobs), *view.window_of(jobs))

    def order(self, view: View) -> Numbers:
        """Urgent jobs, then queue by queue; those that can wait for their deadline are behind in theirs."""
        self.queues.update(view)
        jobs, alive = view.jobs, live(view)
        self.begins = self.reserves.begins(view, alive & ~self.urgent[jobs])
        self.urgent[jobs] = alive & (self.urgent[jobs] | (self.begins <= view.now))
        urgent = self.urgent[jobs]
        patient = alive & ~urgent
        if self.last:
            self._put_last(view, patient)
            self._put_back(view, ~alive & (view.deadline < NEVER))
        level = np.where(urgent, -1, self.queues.level[jobs])
        waits = patient & ~view.running
        urgency = np.where(urgent | (waits & self.last), -self._urgency(view, alive), 0.0)
        return jobs[np.lexsort((self.queues.place[jobs], urgency, waits, level))]

    def _urgency(self, view: View, alive: Flags) -> Reals:
        window = np.where(alive, view.deadline - view.submit, 1)
        left = np.where(alive, view.deadline - view.now, 1)
        lost = 1 + self.beta * view.waited / window
        gang = 1 + self.gamma * np.log2(view.gpus) / 8
        urgency: Reals = lost * gang * (1 + self.hysteresis * view.running) / left
        return urgency

    def _put_last(self, view: View, patient: Flags) -> None:
        """Deadline jobs that can wait are in the last queue from the start."""
        self.queues.level[view.jobs[patient]] = len(self.limits)

    def _put_back(self, view: View, late: Flags) -> None:
        """A job that has become late enters the queue of its service, at the end."""
        new = late & ~self.late[view.jobs]
        jobs = view.jobs[new]
        self.late[jobs] = True
        self.queues.level[jobs] = np.searchsorted(self.queues.limits, view.service[new], "right")
        self.queues.place[jobs] = self.queues.counter + np.arange(len(jobs))
        self.queues.counter += len(jobs)

    def wake(self, view: View) -> int:
        """When a job sinks, the reserve of a waiting job begins, or a deadline passes."""
        begins = self.begins[~view.running & (self.begins > view.now)]
        return min(super().wake(view), next_deadline(view), int(begins.min()) if len(begins) else NEVER)


LARGE = Fraction(1 << 20)
"""A margin beyond any window."""


def _margin(given: float | str | Fraction) -> Fraction:
    if str(given) == "inf":
        return LARGE
    try:
        margin = Fraction(str(given))
    except ValueError:
        margin = Fraction(-1)
    if not 0 <= margin <= LARGE:
        raise SchedulingError(f"margin {given}: expected a number from 0 on, or inf.")
    return margin
