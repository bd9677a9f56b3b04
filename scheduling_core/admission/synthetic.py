"""Workloads generated from published statistics; every attempt is marked synthetic, nothing was measured.

TMax-like: steps, seconds of model and tool calls, set-up and verifier are lognormal with the parameters of
407 clean trials (hamishivi/tmax at 1cce58a2, Apache-2.0); the fit is only fair, so this is no calibrated
model of them. DeepSWE-like: total seconds of 113 trials
(RayhanHaqi/composer-deepswe-trials, MIT), quotas of the task files of datacurve-ai/deep-swe (Apache-2.0); the
share of model time is assumed. Image sizes: 158 recorded runs (arXiv 2602.09345).
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable

from scheduling_core.admission.attempts import (
    KIB_PER_GIB,
    KIB_PER_MIB,
    MILLICORES,
    TICKS_PER_SECOND,
    Attempt,
    Segment,
    SegmentKind,
    Workload,
    ranked,
)
from scheduling_core.errors import SchedulingError

TMAX_TASKS, DEEPSWE_TASKS = 89, 113
MODEL_SHARE = 0.85
"""Mean share of model time in a DeepSWE-like attempt: assumed."""


def generate(kind: str, attempts: int, seed: int) -> Workload:
    """`attempts` attempts of kind "tmax-like" or "deepswe-like", tasks in turn; the same seed gives the same.

    Raises
    ------
    SchedulingError : for another kind, or fewer than one attempt.
    """
    if kind not in KINDS:
        raise SchedulingError(f"There is no kind {kind!r}, expected one of {', '.join(KINDS)}.")
    if attempts < 1:
        raise SchedulingError(f"{attempts} attempts, expected at least 1.")
    tasks, make = KINDS[kind]
    # The task's share of the noise is 72 % of the variance, so that repeats of a task are alike.
    images = [
        round(_lognormal(_random(kind, seed, "image", t), 8.297, 0.292) * KIB_PER_MIB) for t in range(tasks)
    ]
    shifts = [_random(kind, seed, "task", t).gauss(0.0, 1.0) for t in range(tasks)]
    made = []
    for number in range(attempts):
        task = number % tasks
        segments, cpu, ram, disk = make(_random(kind, seed, "attempt", number), shifts[task])
        made.append(
            Attempt(
                id=f"{kind}-{number:04d}", task=f"task-{task:03d}", image=f"image-{task:03d}", rank=number,
                release=0, segments=tuple(segments), cpu_milli=cpu * MILLICORES, ram_kib=ram * KIB_PER_GIB,
                disk_kib=disk * KIB_PER_GIB, image_kib=images[task], synthetic=True,
            )
        )  # fmt: skip
    return ranked(f"synthetic {kind}, seed {seed}", made)


Made = tuple[list[Segment], int, int, int]


def _tmax(draw: random.Random, shift: float) -> Made:
    scale = math.exp(0.36 * shift)  # 0.36^2 + 0.22^2 is about the variance of log-duration between attempts
    own = math.exp(draw.gauss(0.0, 0.22))
    segments = [Segment(SegmentKind.SETUP, _ticks(_lognormal(draw, 1.176, 0.844)))]
    for _ in range(min(64, max(1, round(_lognormal(draw, 3.375, 0.491))))):
        segments.append(Segment(SegmentKind.MODEL, _ticks(_lognormal(draw, 1.423, 1.094) * scale * own)))
        tool = 121.0 if draw.random() < 0.01 else max(0.3, _lognormal(draw, 0.368, 1.334))
        segments.append(Segment(SegmentKind.TOOL, _ticks(tool)))
    segments.append(Segment(SegmentKind.VERIFIER, _ticks(_lognormal(draw, 2.858, 0.935))))
    return segments, 1, 2, 10


def _deepswe(draw: random.Random, shift: float) -> Made:
    total = math.exp(6.592 + 0.515 * (math.sqrt(0.72) * shift + math.sqrt(0.28) * draw.gauss(0.0, 1.0)))
    setup, verifier = _lognormal(draw, 2.7, 0.5), _lognormal(draw, 3.6, 0.7)
    share = draw.betavariate(17, 3)  # mean MODEL_SHARE
    steps = min(400, max(2, round(_lognormal(draw, math.log(66), 0.5))))
    weights = [(draw.lognormvariate(0.0, 1.094), draw.lognormvariate(0.0, 1.334)) for _ in range(steps)]
    left = max(60.0, total - setup - verifier)
    model, tool = (sum(w[k] for w in weights) for k in (0, 1))
    segments = [Segment(SegmentKind.SETUP, _ticks(setup))]
    for m, t in weights:
        segments.append(Segment(SegmentKind.MODEL, _ticks(left * share * m / model)))
        segments.append(Segment(SegmentKind.TOOL, _ticks(left * (1 - share) * t / tool)))
    segments.append(Segment(SegmentKind.VERIFIER, _ticks(verifier)))
    return segments, 2, 8, 20


KINDS: dict[str, tuple[int, Callable[[random.Random, float], Made]]] = {
    "tmax-like": (TMAX_TASKS, _tmax),
    "deepswe-like": (DEEPSWE_TASKS, _deepswe),
}


def _random(kind: str, seed: int, *what: object) -> random.Random:
    """A generator of its own for each thing drawn, so that more attempts leave the first ones as they are."""
    return random.Random(f"{kind} {seed} {' '.join(map(str, what))}")


def _lognormal(draw: random.Random, mu: float, sigma: float) -> float:
    return draw.lognormvariate(mu, sigma)


def _ticks(seconds: float) -> int:
    return max(1, round(seconds * TICKS_PER_SECOND))
