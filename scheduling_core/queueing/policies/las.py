"""Least attained service in a few queues: Tiresias-L, and with the Gittins index inside: Tiresias-G."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Sequence
from fractions import Fraction

import numpy as np

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.jobs import NEVER
from scheduling_core.queueing.policies.base import Policy, whole_parts
from scheduling_core.queueing.views import Flags, Numbers, Reals, Setting, View

LIMITS = (3250, 7200)
"""GPU seconds at which a job sinks from the first queue and from the second: Tiresias' public simulator."""


class Queues:
    """K queues; a job enters the first, sinks one queue at each limit, and may be promoted to the first.

    Inside a queue jobs stand as they entered it; after every decision those that wait are put behind those
    that run, both in the order in which they stood. Source: Gu et al., NSDI 2019, section 3.3, and the order
    inside queues of the public simulator.
    """

    def __init__(self, setting: Setting, limits: Sequence[int], promote: int, by_gpu: bool, rounded: bool):
        self.limits = np.array([setting.ticks(limit) for limit in limits] + [NEVER], dtype=np.int64)
        self.promote, self.by_gpu, self.rounded = promote, by_gpu, rounded
        self.one = setting.ticks(1) if rounded else 1
        self.level = np.zeros(setting.jobs, dtype=np.int64)
        self.place = np.zeros(setting.jobs, dtype=np.int64)
        self.since = np.zeros(setting.jobs, dtype=np.int64)  # `executed` when its service was last reset
        self.waited = np.zeros(setting.jobs, dtype=np.int64)  # what it had waited when last reset or begun
        self.counter = self.arrived = 0

    def attained(self, view: View) -> Numbers:
        """What a job is measured by since its last promotion: GPU ticks, or ticks."""
        time = view.executed - self.since[view.jobs]
        return view.gpus * time if self.by_gpu else time

    def update(self, view: View) -> None:
        """Let newcomers in, sink running jobs that passed a limit, promote those that waited enough."""
        jobs, running, level = view.jobs, view.running, self.level[view.jobs]
        fresh = jobs[jobs >= self.arrived]  # numbers rise with submission
        self.place[fresh] = self.counter + np.arange(len(fresh))
        self.arrived += len(fresh)
        self.counter += len(fresh)
        sinks = running & (self.attained(view) >= self.limits[level])
        rises = self._promoted(view, running, level) if self.promote else np.zeros(len(jobs), dtype=np.bool_)
        for i in np.flatnonzero(sinks | rises).tolist():
            job = jobs[i]
            if sinks[i]:
                self.level[job] += 1
            else:
                self.level[job] = 0
                self.since[job] = view.executed[i]
                self.waited[job] = view.waited[i]
            self.place[job] = self.counter
            self.counter += 1

    def settle(self, view: View) -> None:
        """Put those that wait behind those that run."""
        jobs, running = view.jobs, view.running
        line = jobs[np.lexsort((self.place[jobs], ~running, self.level[jobs]))]
        self.place[line] = self.counter + np.arange(len(line))
        self.counter += len(line)

    def next_change(self, view: View) -> int:
        """When the next running job passes its limit or the next waiting one is promoted."""
        jobs, running, level = view.jobs, view.running, self.level[view.jobs]
        when = NEVER
        sinking = running & (level < len(self.limits) - 1)
        if sinking.any():
            gpus = view.gpus[sinking] if self.by_gpu else 1
            limit = self.limits[level[sinking]]
            if self.rounded:
                time = view.executed[sinking] - self.since[jobs[sinking]]
                left = np.maximum((limit - time) // self.one // gpus, 1) * self.one
            else:
                left = -((self.attained(view)[sinking] - limit) // gpus)
            when = view.now + int(left.min())
        if self.promote:
            when = min(when, self._next_promotion(view, running, level))
        return when

    def _due(self, view: View) -> Numbers:
        """Ticks that a job must still wait for its promotion."""
        time = view.executed - self.since[view.jobs]
        needed = self.promote * time
        return needed - (view.waited - self.waited[view.jobs])

    def _promoted(self, view: View, running: Flags, level: Numbers) -> Flags:
        time = view.executed - self.since[view.jobs]
        fresh = time == 0  # what it waits before it runs again doesn't count
        self.waited[view.jobs[fresh]] = view.waited[fresh]
        found: Flags = ~running & (level > 0) & (time > 0) & (self._due(view) <= 0)
        return found

    def _next_promotion(self, view: View, running: Flags, level: Numbers) -> int:
        time = view.executed - self.since[view.jobs]
        waiting = ~running & (level > 0) & (time > 0)
        due = self._due(view)[waiting]
        due = due[due > 0]
        return view.now + int(due.min()) if len(due) else NEVER


class LeastAttainedService(Policy):
    """Least attained service in queues (2D-LAS): the queue decides, and inside it who came first.

    limits : GPU seconds (seconds with by_gpu=False) at which a job sinks a queue. promote : a job that has
    waited `promote` times what it ran since its last reset goes back to the first queue; 0 for never.
    upstream_rounding : the next sinking is looked for after floor((limit - time) / GPUs) seconds, as the
    public simulator does, which is late for gangs; without it, when the service reaches the limit.
    """

    name = "las2d"
    source = "Tiresias-L: Gu et al., NSDI 2019, section 3.3; order inside queues from the public simulator"

    def __init__(
        self, limits: Sequence[int] = LIMITS, promote: int = 0, by_gpu: bool = True,
        upstream_rounding: bool = False,
    ) -> None:  # fmt: skip
        if any(limit <= 0 for limit in limits) or list(limits) != sorted(set(limits)):
            raise SchedulingError(f"Limits {', '.join(map(str, limits))}: expected rising numbers above 0.")
        if promote < 0:
            raise SchedulingError(f"Promotion after {promote} times the run time, expected 0 or more.")
        self.limits, self.promote, self.by_gpu = tuple(limits), promote, by_gpu
        self.upstream_rounding = upstream_rounding

    def resolution(self, tick: Fraction, gangs: Collection[int]) -> int:
        """Every gang reaches every limit at a whole tick."""
        sizes = {1, *gangs} if self.by_gpu else {1}  # 1: a trace may be empty
        times = [Fraction(limit) / tick / gpus for limit in self.limits for gpus in sizes]
        return whole_parts([*times, 1 / tick] if self.upstream_rounding else times)

    def begin(self, setting: Setting) -> None:
        """All queues are empty."""
        self.queues = Queues(setting, self.limits, self.promote, self.by_gpu, self.upstream_rounding)

    def order(self, view: View) -> Numbers:
        """Queue by queue."""
        self.queues.update(view)
        jobs = view.jobs
        return jobs[np.lexsort((self.queues.place[jobs], self.queues.level[jobs]))]

    def wake(self, view: View) -> int:
        """When a job next changes its queue."""
        self.queues.settle(view)
        return self.queues.next_change(view)


class Gittins(LeastAttainedService):
    """The queues of LAS, and inside them the Gittins index, highest first; then who was submitted first.

    samples : services of earlier jobs in GPU seconds, from which the index is told. delta : GPU seconds of
    the quantum. upstream : the index as the public simulator tables it, with the whole-number division of the
    Python 2 that it was written for. Source: Gu et al., NSDI 2019, section 3.2; Aalto et al., Queueing
    Systems 63 (2009).
    """

    name = "gittins2d"
    source = "Tiresias-G: Gu et al., NSDI 2019, section 3.2"

    def __init__(
        self, samples: Sequence[int], delta: int = 3250, limits: Sequence[int] = LIMITS,
        upstream: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(limits, upstream_rounding=upstream)
        if len(samples) < 2 or min(samples) <= 0 or delta <= 0:
            raise SchedulingError("The Gittins index needs at least 2 services and a quantum, all above 0.")
        self.samples, self.delta, self.upstream = sorted(samples), delta, upstream
        self.sums = np.concatenate(([0], np.cumsum(np.array(self.samples, dtype=np.int64))))
        if upstream:
            self.table = np.array([self._published(x - 1) for x in self.samples])

    def order(self, view: View) -> Numbers:
        """Queue by queue, inside by index."""
        self.queues.update(view)
        jobs = view.jobs
        index = self.index(self.queues.attained(view) * self._tick.numerator / self._tick.denominator)
        return jobs[np.lexsort((view.submit, -index, self.queues.level[jobs]))]

    def begin(self, setting: Setting) -> None:
        """All queues are empty."""
        super().begin(setting)
        # Seconds of a tick; a product of whole numbers divided once is a whole service where there is one.
        self._tick = Fraction(self.limits[0], setting.ticks(self.limits[0]))

    def index(self, service: Reals) -> Reals:
        """P / E at attained services (m,) in GPU seconds; 0 beyond the largest sample."""
        samples, n = np.array(self.samples), len(self.samples)
        if self.upstream:
            row = np.minimum(np.searchsorted(samples, service, "right"), n - 1)
            found: Reals = np.where(service > samples[-2], 0.0, self.table[row])
            return found
        i = np.searchsorted(samples, service, "right")
        k = np.searchsorted(samples, service + self.delta, "right")
        known = i < n
        ends = (k - i)[known]
        until = self.sums[k[known]] - self.sums[i[known]] - ends * service[known]
        until = until + self.delta * (n - k[known])
        index = np.zeros(len(service))
        index[known] = ends / until
        return index

    def _published(self, service: int) -> float:
        """P / E as the public simulator has it: sums of samples, rounded, the last sample never passed."""
        samples, n, last = self.samples, len(self.samples), self.samples[-1] - 1
        if service > last:
            return 0.0
        i = bisect_right(samples, service)
        k = n - 1 if service + self.delta > last else bisect_right(samples, service + self.delta)
        p = round((k - i) / (n - i), 5)
        e = (sum(samples[i:k]) + self.delta * (n - k)) // (n - i)
        return round(p * 1_000_000 / e, 4)
