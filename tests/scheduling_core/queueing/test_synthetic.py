"""Synthetic traces: the distributions asked for, the load asked for, and the same bytes for the same seed."""

import math
import time
from statistics import fmean, median, stdev, variance
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.jobs import Job, Trace
from scheduling_core.queueing.synthetic import (
    BURSTY,
    GANGS,
    POISSON,
    Arrivals,
    BoundedPareto,
    Durations,
    Lognormal,
    generate,
    thinned,
)

MANY = 20_000


def gaps(trace: Trace) -> list[int]:
    return [after.submit - before.submit for before, after in zip(trace.jobs, trace.jobs[1:], strict=False)]


@given(
    jobs=st.integers(2, 60), gpus=st.integers(8, 3000), load=st.floats(0.01, 3), seed=st.integers(0, 99),
    arrivals=st.sampled_from([POISSON, BURSTY]), durations=st.sampled_from([Lognormal(), BoundedPareto()]),
)  # fmt: skip
def test_the_load_asked_for(
    jobs: int, gpus: int, load: float, seed: int, arrivals: Arrivals, durations: Durations
) -> None:
    """Exact but for the span's rounding to a second: at most half a second of it."""
    trace = generate(jobs, gpus, load, seed, arrivals=arrivals, durations=durations)
    span = trace.gpu_ticks / (gpus * load)
    assert len(trace) == jobs
    assert trace.jobs[0].submit == 0
    assert abs(trace.span - span) <= 0.5 + 1e-9 * span or trace.span == 1
    assert trace.tick == 1
    assert trace.synthetic


def test_the_same_seed_gives_the_same_trace() -> None:
    """And another seed another; the name says seed and parameters."""
    trace = generate(50, 16, 0.9, 7)
    assert trace == generate(50, 16, 0.9, 7)
    assert trace.sha256 != generate(50, 16, 0.9, 8).sha256
    assert "seed 7" in trace.name
    assert "50 jobs, load 0.9 on 16 GPUs, Poisson arrivals, lognormal(median 18973.7 s" in trace.name


def test_arrivals_at_another_load_are_the_same_but_for_scale() -> None:
    """Durations and gangs have streams of their own: only the gaps are stretched."""
    busy, idle = generate(100, 16, 1.0, 3), generate(100, 16, 0.5, 3)
    assert [(j.gpus, j.duration) for j in busy.jobs] == [(j.gpus, j.duration) for j in idle.jobs]
    assert all(abs(2 * a.submit - b.submit) <= 3 for a, b in zip(busy.jobs, idle.jobs, strict=True))


def test_poisson_arrivals() -> None:
    """Gaps are exponential: squared variation 1, and a share 1 - 1/e below the mean."""
    found = gaps(generate(MANY, 64, 0.9, 1))
    mean = fmean(found)
    assert variance(found) / mean**2 == pytest.approx(1, abs=0.06)
    assert sum(gap < mean for gap in found) / len(found) == pytest.approx(1 - 1 / math.e, abs=0.02)


def test_bursty_arrivals() -> None:
    """Squared variation 10 as asked (its own standard error is about 0.5 here), at the same mean gap."""
    trace = generate(MANY, 64, 0.9, 1, arrivals=BURSTY)
    found = gaps(trace)
    assert variance(found) / fmean(found) ** 2 == pytest.approx(10, abs=1.5)
    assert fmean(found) == pytest.approx(fmean(gaps(generate(MANY, 64, 0.9, 1))), rel=1e-6)


def test_lognormal_durations() -> None:
    """The logarithm's mean and deviation are those of Gavel's generator, from its two ranges."""
    pieces = [(0.8, 1.5, 3.0), (0.2, 3.0, 4.0)]
    mean = sum(w * (low + high) / 2 for w, low, high in pieces)
    second = sum(w * (low**2 + low * high + high**2) / 3 for w, low, high in pieces)
    minutes = [math.log10(job.duration / 60) for job in generate(MANY, 64, 0.9, 1).jobs]
    assert fmean(minutes) == pytest.approx(mean, abs=0.02)
    assert stdev(minutes) == pytest.approx(math.sqrt(second - mean**2), abs=0.02)


def test_pareto_durations() -> None:
    """Between the bounds; with index 1 the median is 2 low high / (low + high)."""
    law = BoundedPareto()
    found = [job.duration for job in generate(MANY, 64, 0.9, 1, durations=law).jobs]
    assert law.low <= min(found) <= max(found) <= math.ceil(law.high)
    assert median(found) == pytest.approx(2 * law.low * law.high / (law.low + law.high), rel=0.03)
    assert max(found) > 100 * median(found)


def test_gangs_in_the_weights_asked_for() -> None:
    sizes = [job.gpus for job in generate(MANY, 64, 0.9, 1).jobs]
    for size, weight in GANGS.items():
        assert sizes.count(size) / MANY == pytest.approx(weight, abs=0.015)
    assert {job.gpus for job in generate(50, 3, 0.9, 1, gangs={3: 1, 64: 0}).jobs} == {3}


def test_a_hundred_thousand_jobs() -> None:
    """About a second; the limit leaves room for a busy machine."""
    start = time.process_time()
    trace = generate(100_000, 2000, 0.95, 1)
    assert time.process_time() - start < 10
    assert float(trace.offered_load(2000)) == pytest.approx(0.95, abs=1e-5)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"jobs": 1}, "1 jobs, expected at least 2"),
        ({"load": 0.0}, "The load is 0.0, expected more than 0"),
        ({"load": math.nan}, "The load is nan"),
        ({"gpus": 4}, "A gang of 8 is larger than the cluster of 4 GPUs"),
        ({"gangs": {}}, "expected weights"),
        ({"gangs": {0: 1.0}}, "expected weights"),
        ({"gangs": {1: 0.0}}, "expected a weight above 0"),
        ({"gangs": {1: math.nan}}, "expected weights"),
        ({"durations": Lognormal(1e300, 5)}, "don't fit 64 bits"),
        ({"load": 1e-300}, "don't fit 64 bits"),
    ],
)
def test_parameters_that_are_none(changes: dict[str, Any], words: str) -> None:
    given_ = {"jobs": 10, "gpus": 64, "load": 0.9, "seed": 1, **changes}
    with pytest.raises(SchedulingError, match=r"expected|larger") as refused:
        generate(**given_)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    "law",
    [
        lambda: Lognormal(-1), lambda: Lognormal(1, math.nan), lambda: BoundedPareto(5, 4),
        lambda: BoundedPareto(1, 2, 0), lambda: Arrivals(0.5), lambda: Arrivals(math.inf),
    ],
)  # fmt: skip
def test_distributions_that_are_none(law: Any) -> None:
    with pytest.raises(SchedulingError, match="expected"):
        law()


def test_thinned_traces_are_nested() -> None:
    """Each job has one draw, so a larger share keeps all that a smaller one does; about as many as asked."""
    trace = generate(4000, 64, 0.9, 1)
    some, more = thinned(trace, 0.3, 5), thinned(trace, 0.6, 5)
    assert set(some.jobs) < set(more.jobs) < set(trace.jobs)
    assert len(some) == pytest.approx(1200, abs=120)
    assert thinned(trace, 1, 5).jobs == trace.jobs
    assert some.synthetic
    assert f"Thinned: {len(some)} of 4000 jobs are kept, share 0.3, seed 5." in some.notes


def test_thinning_to_nothing() -> None:
    trace = Trace("t", (Job("a", 0, 1, 1),))
    with pytest.raises(SchedulingError, match="none of 1 jobs is left"):
        thinned(trace, 0, 1)
    with pytest.raises(SchedulingError, match="expected 0 to 1"):
        thinned(trace, 1.5, 1)
