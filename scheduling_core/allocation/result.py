"""What water filling gives: an allocation, the rounds that led to it, and the proof of an exact one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from scheduling_core.allocation.problem import Floats

Mode = Literal["exact", "published", "first"]


@dataclass(frozen=True, eq=False)
class Proof:
    """What proves one filling round."""

    increment: float  # c
    saturated: tuple[int, ...]  # jobs that join the saturated set, in ascending order
    job_prices: Floats  # y (m,)
    type_prices: Floats  # pi (n,)


@dataclass(frozen=True, eq=False)
class Round:
    """One filling round: its increment c, weights w (m,), and the jobs it saturated."""

    increment: float
    weights: Floats
    saturated: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Allocation:
    """What a policy gives to each job, in one of the modes of `water_filling`.

    levels : (m,) guaranteed normalised progress at the end.
    x : (m, n) fractions of time on each type.
    scores : (m,) normalised effective throughput, 1 = an even share of the cluster's time.
    rounds : what happened, in order.
    certificate : the proof of an exact allocation, one part for each round (see `certificate`), else None.
    """

    mode: Mode
    levels: Floats
    x: Floats
    scores: Floats
    rounds: tuple[Round, ...]
    certificate: tuple[Proof, ...] | None = None
