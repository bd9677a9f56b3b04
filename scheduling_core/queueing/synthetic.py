"""Synthetic traces, labelled so: arrivals, heavy-tailed durations and gangs drawn with a seed, at a set load.

Nothing here was measured. Defaults are of published generators where one is named; the rest is assumed and
says so. Draws are of `random.Random` alone, which gives the same numbers in every version.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from statistics import NormalDist
from types import MappingProxyType

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.jobs import NEVER, Job, Trace

GANGS: Mapping[int, float] = MappingProxyType({1: 0.70, 2: 0.10, 4: 0.15, 8: 0.05})
"""GPUs of a job and their weights: Gavel's public generator, after Philly (Narayanan et al., OSDI 2020)."""


@dataclass(frozen=True)
class Lognormal:
    """Durations of which the logarithm is normal.

    median : seconds. sigma : standard deviation of the natural logarithm. By default mean and variance of the
    logarithm are those of Gavel's public generator (Narayanan et al., OSDI 2020): 10^U(1.5, 3) minutes for
    80 % of the jobs and 10^U(3, 4) for the rest, so the median is 10^2.5 minutes.
    """

    median: float = 60 * 10**2.5
    sigma: float = math.log(10) * math.sqrt(5 / 12)

    def __post_init__(self) -> None:
        if not (0 < self.median < math.inf and 0 <= self.sigma < math.inf):
            raise SchedulingError(f"{self.name}: expected a median above 0 and a sigma from 0.")

    @property
    def name(self) -> str:
        """With its parameters."""
        return f"lognormal(median {self.median:g} s, sigma {self.sigma:g})"

    def quantile(self, u: float) -> float:
        """Seconds that a share u of the jobs is shorter than, 0 < u < 1."""
        return min(float(NEVER), self.median * math.exp(min(700.0, self.sigma * NormalDist().inv_cdf(u))))


@dataclass(frozen=True)
class BoundedPareto:
    """Durations with a power-law tail, cut off.

    low, high : seconds, by default the range of Gavel's public generator (10^1.5 to 10^4 minutes). index : of
    the tail; about 1 was measured for Unix processes (Harchol-Balter and Downey, 1997), for training jobs it
    is assumed.
    """

    low: float = 60 * 10**1.5
    high: float = 60 * 10**4
    index: float = 1.0

    def __post_init__(self) -> None:
        if not (0 < self.low <= self.high < math.inf and 0 < self.index < math.inf):
            raise SchedulingError(f"{self.name}: expected 0 < low <= high and an index above 0.")

    @property
    def name(self) -> str:
        """With its parameters."""
        return f"Pareto({self.low:g} to {self.high:g} s, index {self.index:g})"

    def quantile(self, u: float) -> float:
        """Seconds that a share u of the jobs is shorter than, 0 < u < 1."""
        rest = 1 - u * (1 - (self.low / self.high) ** self.index)
        return min(self.high, self.low * float(rest ** (-1 / self.index)))


Durations = Lognormal | BoundedPareto


@dataclass(frozen=True)
class Arrivals:
    """Arrivals with independent gaps.

    variation : squared coefficient of variation of the gaps. At 1 they are exponential, a Poisson process;
    above, hyperexponential with two balanced phases: bursts, and long gaps between them.
    """

    variation: float = 1.0

    def __post_init__(self) -> None:
        if not 1 <= self.variation < math.inf:
            raise SchedulingError(f"The gaps' squared variation is {self.variation}, expected 1 or more.")

    @property
    def name(self) -> str:
        """With its parameter."""
        return "Poisson" if self.variation == 1 else f"bursty(variation {self.variation:g})"

    def gaps(self, draw: random.Random) -> Iterator[float]:
        """Gaps without end, of mean 1."""
        first = (1 + math.sqrt((self.variation - 1) / (self.variation + 1))) / 2
        while True:
            share = first if _uniform(draw) < first else 1 - first
            yield -math.log(_uniform(draw)) / (2 * share)


POISSON = Arrivals()
BURSTY = Arrivals(10.0)
"""Assumed: no source says how bursty a cluster's submissions are in this measure."""


def generate(
    jobs: int,
    gpus: int,
    load: float,
    seed: int,
    *,
    arrivals: Arrivals = POISSON,
    durations: Durations | None = None,
    gangs: Mapping[int, float] = GANGS,
) -> Trace:
    """A synthetic trace in whole seconds, of which the offered load on so many GPUs is `load`.

    Durations and gangs are independent of each other. The first job comes at 0, and the last when the GPU
    time that all ask for is `load` times what the GPUs give until then (to a second): gaps are scaled to it.
    For a Poisson process that is its law given the number of jobs and the span.

    durations : lognormal without. gangs : weights of numbers of GPUs.

    Raises
    ------
    SchedulingError : for less than two jobs, a load that isn't above 0, weights that are none, a gang larger
    than the cluster, or times that don't fit 64 bits.
    """
    durations = durations or Lognormal()
    _check(jobs, gpus, load, gangs)
    draw = random.Random(f"durations {seed}")
    lengths = [max(1, math.ceil(durations.quantile(_uniform(draw)))) for _ in range(jobs)]
    sizes = random.Random(f"gangs {seed}").choices(list(gangs), list(gangs.values()), k=jobs)
    asked = sum(size * length for size, length in zip(sizes, lengths, strict=True))
    span = max(1, round(asked / (gpus * Fraction(load))))
    if max(asked, span + sum(lengths)) >= NEVER:
        raise SchedulingError(
            f"Times up to {span + sum(lengths)} s don't fit 64 bits, expected shorter jobs."
        )
    submits = _submits(arrivals, random.Random(f"arrivals {seed}"), jobs, span)
    width = len(str(jobs - 1))
    made = tuple(
        Job(f"{number:0{width}d}", submit, size, length)
        for number, (submit, size, length) in enumerate(zip(submits, sizes, lengths, strict=True))
    )
    mix = " ".join(f"{size}:{weight:g}" for size, weight in gangs.items())
    return Trace(
        f"synthetic, seed {seed}: {jobs} jobs, load {load:g} on {gpus} GPUs, {arrivals.name} arrivals, "
        f"{durations.name}, gangs {mix}",
        made,
        duration_means="drawn: run time with all GPUs, without waiting and restarts",
        synthetic=True,
        notes=("Generated from distributions; nothing was measured.",),
    )


def thinned(trace: Trace, share: float, seed: int) -> Trace:
    """The trace with each job kept with probability `share`, so that the offered load falls about as much.

    `random.Random(seed)` draws once for each job, in the order of the trace; a larger share keeps what a
    smaller one does.

    Raises
    ------
    SchedulingError : for a share outside 0 to 1, or where no job is left.
    """
    if not 0 <= share <= 1:
        raise SchedulingError(f"The share of jobs to keep is {share}, expected 0 to 1.")
    draw = random.Random(seed)
    kept = tuple(job for job in trace.jobs if draw.random() < share)
    if not kept:
        raise SchedulingError(f"{trace.name}: none of {len(trace)} jobs is left at a share of {share}.")
    note = f"Thinned: {len(kept)} of {len(trace)} jobs are kept, share {share:g}, seed {seed}."
    name = f"{trace.name}, thinned to {share:g} with seed {seed}"
    return replace(trace, name=name, jobs=kept, notes=(*trace.notes, note))


def _check(jobs: int, gpus: int, load: float, gangs: Mapping[int, float]) -> None:
    if jobs < 2:
        raise SchedulingError(f"{jobs} jobs, expected at least 2: one alone has no load.")
    if not 0 < load < math.inf:
        raise SchedulingError(f"The load is {load}, expected more than 0.")
    if not gangs or any(size < 1 or not 0 <= weight < math.inf for size, weight in gangs.items()):
        raise SchedulingError(f"The gangs are {dict(gangs)}, expected weights from 0 of GPUs from 1.")
    if not sum(gangs.values()) > 0:
        raise SchedulingError(f"The gangs are {dict(gangs)}, expected a weight above 0.")
    largest = max(size for size, weight in gangs.items() if weight > 0)
    if largest > gpus:
        raise SchedulingError(f"A gang of {largest} is larger than the cluster of {gpus} GPUs.")


def _uniform(draw: random.Random) -> float:
    """A number above 0 and below 1, neither of which has a logarithm or quantile to use."""
    return (draw.getrandbits(52) + 0.5) / (1 << 52)


def _submits(arrivals: Arrivals, draw: random.Random, jobs: int, span: int) -> list[int]:
    """Whole seconds from 0 to the span, both included."""
    gaps = arrivals.gaps(draw)
    ends = [0.0, *accumulate(next(gaps) for _ in range(jobs - 1))]
    return [min(span, int(span * (end / ends[-1]))) for end in ends]
