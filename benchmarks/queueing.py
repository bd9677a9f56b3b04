"""Queueing: whole simulations in kernels against a plain loop, at cluster scale, and by length of the queue.

    python benchmarks/queueing.py [--data ../shared/data/traces] [--plain] [--json]

1. Events in a CPU second against a straightforward port of the loop of Tiresias' public simulator: at each
   event it walks all jobs that are here, sorts or partitions its lists, and scans them. Times and accounts of
   every job have to be equal. Muri's trace 3 in whole seconds and 10,000 synthetic jobs, on 64 GPUs. Whole
   calls: with all that a simulation is before its first event and after its last.
2. 100,000 synthetic jobs on 2,000 GPUs under las2d, in a process of its own: seconds and peak memory.
3. Microseconds of an event under las2d and srtf while about 1,000, 10,000 and 100,000 jobs wait.

--plain adds the kernels without numba to 2. Compiling, once in an installation, isn't counted.
"""

import argparse
import json
import math
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

from scheduling_core.compiled import is_compiled, plain_form
from scheduling_core.queueing import fast
from scheduling_core.queueing.cluster import homogeneous
from scheduling_core.queueing.costs import RestartCost
from scheduling_core.queueing.formats import read_trace
from scheduling_core.queueing.jobs import Job, Trace
from scheduling_core.queueing.kernels import standing
from scheduling_core.queueing.outcome import Outcome, Series
from scheduling_core.queueing.policies import Policy, policy
from scheduling_core.queueing.simulator import IN_VAIN, resolution, simulate
from scheduling_core.queueing.state import state_of, whole
from scheduling_core.queueing.synthetic import generate

ROOT = Path(__file__).resolve().parent.parent
GPUS, SCALE, QUEUE_GPUS = 64, (100_000, 2_000), 256
LIMITS = (3250, 7200)
OURS: dict[str, dict[str, Any]] = {
    "fifo": {}, "fjf": {}, "sjf": {}, "srtf": {}, "srsf": {}, "las2d": {"upstream_rounding": True},
}  # fmt: skip


class Walked:
    """A job of the plain loop; times in whole seconds."""

    def __init__(self, job: Job) -> None:
        self.id, self.submit, self.gpus, self.duration = job.id, job.submit, job.gpus, job.duration
        self.executed = self.waited = self.preemptions = 0
        self.seen = job.submit
        self.running = False
        self.start = self.end = -1
        self.queue = 0


class PlainLoop:
    """What the loops of the public simulator have in common, under one way to order the jobs that are here.

    Source: the semantics of SymbioticLab/Tiresias, `simulator/`, count placement; no code of it.
    """

    def __init__(self, trace: Trace, gpus: int) -> None:
        self.coming = [Walked(job) for job in trace.jobs]
        self.gpus = gpus
        self.here: list[Walked] = []
        self.events = self.busy = self.fragmented = 0
        self.jump: int | None = None

    def run(self) -> None:
        """From event to event."""
        arrived = before = 0
        while arrived < len(self.coming) or self.here:
            ends = [job.seen + job.duration - job.executed for job in self.here if job.running]
            times = [*ends, *([] if self.jump is None else [self.jump])]
            if arrived < len(self.coming):
                times.append(self.coming[arrived].submit)
            now = min(times)
            self.account(now - before)
            before = now
            for job in self.here:
                if job.running:
                    job.executed += now - job.seen
                else:
                    job.waited += now - job.seen
                job.seen = now
            for job in [job for job in self.here if job.executed == job.duration]:
                job.end = now
                self.here.remove(job)
                self.left(job)
            while arrived < len(self.coming) and self.coming[arrived].submit == now:
                self.here.append(self.coming[arrived])
                self.came(self.coming[arrived])
                arrived += 1
            self.scan(now)
            self.events += 1

    def account(self, ticks: int) -> None:
        """GPU time that was held, and that the smallest gang in wait couldn't use."""
        held = sum(job.gpus for job in self.here if job.running)
        self.busy += held * ticks
        waiting = [job.gpus for job in self.here if not job.running]
        if waiting:
            self.fragmented += (self.gpus - held) % min(waiting) * ticks

    def results(self) -> tuple[Any, ...]:
        """Of every job start, end, time in wait and preemptions; GPU times; events."""
        jobs = [(job.start, job.end, job.waited, job.preemptions) for job in self.coming]
        return jobs, self.busy, self.fragmented, self.events

    def came(self, job: Walked) -> None:
        """A job was submitted."""

    def left(self, job: Walked) -> None:
        """A job ended."""

    def line(self) -> list[Walked]:
        """Jobs that are here, first served first."""
        raise NotImplementedError

    def scan(self, now: int) -> None:
        """Serve those that fit, in order; the others wait."""
        free = self.gpus
        for job in self.line():
            was, job.running = job.running, job.gpus <= free
            job.preemptions += was and not job.running
            if job.running:
                free -= job.gpus
                if job.start < 0:
                    job.start = now


class InOrder(PlainLoop):
    """First in, first out; with `skip` those that don't fit are passed over."""

    skip = False

    def scan(self, now: int) -> None:
        free = self.gpus - sum(job.gpus for job in self.here if job.running)
        for job in self.here:
            if job.running:
                continue
            if job.gpus <= free:
                free -= job.gpus
                job.running, job.start = True, now
            elif not self.skip:
                break


class FirstFit(InOrder):
    skip = True


class ByKey(PlainLoop):
    """Sorted at each event."""

    def __init__(self, trace: Trace, gpus: int, key: Callable[[Walked], int]) -> None:
        super().__init__(trace, gpus)
        self.key = key

    def line(self) -> list[Walked]:
        self.here.sort(key=self.key)
        return self.here


class ByService(PlainLoop):
    """Queues by GPU time; in each, those that run are put before those that wait after each scan."""

    def __init__(self, trace: Trace, gpus: int) -> None:
        super().__init__(trace, gpus)
        self.queues: list[list[Walked]] = [[] for _ in range(len(LIMITS) + 1)]

    def came(self, job: Walked) -> None:
        self.queues[0].append(job)

    def left(self, job: Walked) -> None:
        self.queues[job.queue].remove(job)

    def line(self) -> list[Walked]:
        return [job for queue in self.queues for job in queue]

    def scan(self, now: int) -> None:
        for job in self.here:
            if job.running and job.queue < len(LIMITS) and job.executed * job.gpus >= LIMITS[job.queue]:
                self.queues[job.queue].remove(job)
                job.queue += 1
                self.queues[job.queue].append(job)
        super().scan(now)
        self.queues = [
            [job for job in queue if job.running] + [job for job in queue if not job.running]
            for queue in self.queues
        ]
        self.jump = None
        for job in self.here:
            if job.running and job.queue < len(LIMITS):
                then = now + max(1, (LIMITS[job.queue] - job.executed) // job.gpus)
                self.jump = then if self.jump is None else min(self.jump, then)


PLAIN_LOOPS: dict[str, Callable[[Trace, int], PlainLoop]] = {
    "fifo": InOrder,
    "fjf": FirstFit,
    "sjf": lambda trace, gpus: ByKey(trace, gpus, lambda job: job.gpus),
    "srtf": lambda trace, gpus: ByKey(trace, gpus, lambda job: job.duration - job.executed),
    "srsf": lambda trace, gpus: ByKey(trace, gpus, lambda job: (job.duration - job.executed) * job.gpus),
    "las2d": ByService,
}


def in_seconds(trace: Trace) -> Trace:
    """Submissions rounded down and durations up: the loop knows whole seconds only."""
    jobs = [
        Job(job.id, math.floor(job.submit * trace.tick), job.gpus, math.ceil(job.duration * trace.tick))
        for job in trace.jobs
    ]
    return Trace(trace.name, tuple(jobs))


def ours(trace: Trace, gpus: int, name: str) -> Outcome:
    """A whole simulation in a kernel."""
    return simulate(trace, homogeneous(gpus), policy(name, **OURS[name]), engine="fast")


def results(outcome: Outcome) -> tuple[Any, ...]:
    """The same as those of the loop; times in seconds."""
    waited = outcome.end - outcome.submit - outcome.executed
    times = [(column * outcome.unit).tolist() for column in (outcome.first_start, outcome.end, waited)]
    jobs = list(zip(*times, outcome.preemptions.tolist(), strict=True))
    return jobs, outcome.busy_ticks * outcome.unit, outcome.fragmented_ticks * outcome.unit, outcome.events


def kernel_run(
    trace: Trace, gpus: int, one: Policy, series: Series | None = None
) -> tuple[float, fast.FastRun]:
    """CPU seconds of the events alone: tables are made before, results taken after."""
    parts = resolution(trace, one, RestartCost())
    state = state_of(trace, parts, RestartCost())
    run = fast.FastRun(
        state, gpus, one, lambda seconds: whole(Fraction(seconds) * parts), IN_VAIN, None, series
    )
    begin = time.process_time()
    run.all()
    return time.process_time() - begin, run


def against_loop(trace: Trace, name: str) -> dict[str, Any]:
    """CPU seconds of both, results compared; ours is the best of five, since it is so short."""
    begin = time.process_time()
    loop = PLAIN_LOOPS[name](trace, GPUS)
    made = time.process_time()
    loop.run()
    ended = time.process_time()
    whole_calls = []
    for _ in range(5):
        start = time.process_time()
        outcome = ours(trace, GPUS, name)
        whole_calls.append(time.process_time() - start)
    if results(outcome) != loop.results():
        sys.exit(f"{trace.name}, {name}: the loop and ours differ, which is a defect")
    events = min(kernel_run(trace, GPUS, policy(name, **OURS[name]))[0] for _ in range(5))
    return {
        "trace": trace.name, "load": float(trace.offered_load(GPUS)), "policy": name, "events": loop.events,
        "ours_events_per_s": round(loop.events / events),
        "loop_events_per_s": round(loop.events / (ended - made)),
        "ratio": round((ended - made) / events, 1),
        "ratio_of_whole_calls": round((ended - begin) / min(whole_calls), 1),
    }  # fmt: skip


def at_scale(plain: bool) -> dict[str, Any]:
    """Seconds of one whole simulation, and the peak of its process with the trace and all that is loaded."""
    trace = generate(*SCALE, 1.0, seed=1)
    if plain:
        fast.standing = plain_form(standing)
    simulate(generate(100, 64, 1.0, seed=1), homogeneous(64), policy("las2d"), engine="fast")  # loads kernels
    wall, cpu = time.perf_counter(), time.process_time()
    outcome = simulate(trace, homogeneous(SCALE[1]), policy("las2d"), engine="fast")
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return {
        "form": "plain" if plain else "compiled", "jobs": SCALE[0], "gpus": SCALE[1],
        "events": outcome.events, "wall_s": round(wall, 2), "cpu_s": round(cpu, 2), "peak_mb": peak,
    }  # fmt: skip


def in_a_child(plain: bool) -> dict[str, Any]:
    """`at_scale` in a process of its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(at_scale, plain).result()


def by_queue(name: str, jobs: int) -> dict[str, Any]:
    """CPU microseconds of an event: a job comes each second, which is far too fast for 256 GPUs, so that
    about half of all wait at an event."""
    drawn = generate(jobs, QUEUE_GPUS, 1.0, seed=3)
    trace = Trace("queue", tuple(Job(job.id, i, job.gpus, job.duration) for i, job in enumerate(drawn.jobs)))
    series = Series()
    _, run = kernel_run(trace, QUEUE_GPUS, policy(name), series)
    repeats = max(2, 60_000 // jobs)
    seconds = min(kernel_run(trace, QUEUE_GPUS, policy(name))[0] for _ in range(repeats))
    return {
        "policy": name, "mean_waiting": round(sum(series.pending) / run.events), "events": run.events,
        "us_per_event": round(1e6 * seconds / run.events, 2),
    }  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data/traces")
    parser.add_argument("--plain", action="store_true", help="kernels without numba at cluster scale, too")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    traces = [generate(10_000, GPUS, load, seed=1) for load in (0.95, 1.1)]
    if (options.data / "muri_trace3.csv").is_file():
        traces.insert(0, in_seconds(read_trace(options.data / "muri_trace3.csv").trace))
    for name in OURS:
        ours(generate(100, GPUS, 1.0, seed=1), GPUS, name)  # compiles or loads
    results = {
        "compiled": is_compiled(standing),
        "against_loop": [against_loop(trace, name) for trace in traces for name in OURS],
        "at_scale": [in_a_child(plain) for plain in ([False, True] if options.plain else [False])],
        "by_queue": [by_queue(name, jobs) for name in ("las2d", "srtf") for jobs in (2_000, 20_000, 200_000)],
    }
    print(json.dumps(results, indent=2) if options.json else text(results))


def text(results: dict[str, Any]) -> str:
    """One line for each measurement."""
    lines = [f"Kernels: {'compiled' if results['compiled'] else 'plain'}"]
    for row in results["against_loop"]:
        lines.append(
            f"{row['trace'].split(',')[0]:>30.30} {row['load']:.2f} {row['policy']:>5}: {row['events']:>7,} "
            f"events, {row['ours_events_per_s']:>9,} per CPU s against {row['loop_events_per_s']:>6,}: "
            f"{row['ratio']} times, whole calls {row['ratio_of_whole_calls']}"
        )
    for row in results["at_scale"]:
        lines.append(
            f"{row['jobs']:,} jobs on {row['gpus']:,} GPUs, las2d, {row['form']}: {row['events']:,} events "
            f"in {row['wall_s']} s ({row['cpu_s']} CPU), peak {row['peak_mb']} MB"
        )
    for row in results["by_queue"]:
        lines.append(
            f"{row['policy']:>5}, {row['mean_waiting']:>7,} jobs waiting: {row['us_per_event']} us an event"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
