"""Queue disciplines for admission. The first by its order that doesn't fit holds up the rest, as in FIFO."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

from scheduling_core.admission.attempts import Workload
from scheduling_core.admission.experiments.reactive import Candidate, Discipline, View
from scheduling_core.errors import SchedulingError


@dataclass(frozen=True)
class InOrder:
    """A fixed order: whoever is next in it and isn't there yet, or doesn't fit, holds up the rest.

    order : numbers (n,); None: the order of arrival, which is FIFO.
    """

    order: tuple[int, ...] | None = None

    @property
    def name(self) -> str:
        return "fifo" if self.order is None else "planned"

    def choose(self, view: View) -> Candidate | None:
        place = len(view.started)
        number = place if self.order is None else self.order[place]
        return _if_fits(view, view.find(number))


@dataclass(frozen=True)
class ShortestPredicted:
    """The shortest predicted length first; equal ones in the order of arrival."""

    name = "shortest"

    def choose(self, view: View) -> Candidate | None:
        return _first(view, view.predicted)


@dataclass(frozen=True)
class LongestPredicted:
    """The longest predicted length first (LPT: R. L. Graham, SIAM J. Appl. Math. 17, 1969)."""

    name = "longest"

    def choose(self, view: View) -> Candidate | None:
        return _first(view, lambda c: -view.predicted(c))


@dataclass(frozen=True)
class Aging:
    """The shortest predicted first, less `ticks` for each later arrival that started before it.

    Age is counted in overtakings: the time waited is equal for all that are released together, and would
    change nothing there. With 0 ticks it is the shortest first; with more than any length, whoever was
    overtaken most often goes first, and length decides between equals.
    """

    ticks: int

    name = "aging"

    def choose(self, view: View) -> Candidate | None:
        return _first(view, lambda c: view.predicted(c) - self.ticks * view.overtaken(c))


class Shares(StrEnum):
    """Between whom shares are fair."""

    TENANT = "tenant"
    TASK = "task"


@dataclass(frozen=True)
class FairShare:
    """Dominant resource fairness: next is the first of whoever has the lowest dominant share now.

    A dominant share is the largest share of a limited resource that the running attempts of a tenant hold;
    with slots alone it is max-min fairness. A. Ghodsi et al., "Dominant Resource Fairness", NSDI 2011,
    section 4 and algorithm 1. Attempts without a tenant share one.
    """

    between: Shares = Shares.TENANT

    name = "fair share"

    def choose(self, view: View) -> Candidate | None:
        used: dict[str | None, list[int]] = {}
        for running in view.running:
            held = used.setdefault(self._of(running.attempt), [0] * len(view.capacities))
            for r, demand in enumerate(running.attempt.demands):
                held[r] += demand
        share = {
            who: max(Fraction(u, c) for u, c in zip(held, view.capacities, strict=True) if c)
            for who, held in used.items()
        }
        rank = {value: k for k, value in enumerate(sorted({Fraction(0), *share.values()}))}
        place = {who: rank[value] for who, value in share.items()}
        return _first(view, lambda c: place.get(self._of(c), 0))

    def _of(self, candidate: Candidate) -> str | None:
        return candidate.task if self.between is Shares.TASK else candidate.tenant


@dataclass(frozen=True)
class ImageAffinity:
    """The first whose image is in use now; one that `skips` later arrivals overtook goes before it.

    The bound is that of delay scheduling (M. Zaharia et al., EuroSys 2010, algorithm 1), counted for each
    attempt; None: no bound. Where no image in use is wanted, the first in line starts.
    """

    skips: int | None

    @property
    def name(self) -> str:
        bound = "no bound" if self.skips is None else f"{self.skips} skips"
        return f"image affinity, {bound}"

    def choose(self, view: View) -> Candidate | None:
        head = view.waiting[0]  # nobody in line was overtaken more often
        if self.skips is not None and view.overtaken(head) >= self.skips:
            return _if_fits(view, head)
        in_use = {running.attempt.image for running in view.running}
        return _if_fits(view, next((c for c in view.waiting if c.image in in_use), head))


def baselines(workload: Workload, aging: int, skips: int) -> tuple[Discipline, ...]:
    """All disciplines that a search has to beat; see `shares_of` for whom the fair share is between.

    Image affinity is there twice, with the bound and without one: a tight bound is easy to beat.

    Raises
    ------
    SchedulingError : for an `aging` or `skips` below 0.
    """
    for name, value in (("aging", aging), ("skips", skips)):
        if type(value) is not int or value < 0:
            raise SchedulingError(f"{name} is {value!r}, expected a whole number from 0.")
    return (
        InOrder(), ShortestPredicted(), LongestPredicted(), Aging(aging), FairShare(shares_of(workload)),
        ImageAffinity(skips), ImageAffinity(None),
    )  # fmt: skip


def shares_of(workload: Workload) -> Shares:
    """Tenants where any attempt names one, and else tasks: one tenant alone has no share to compare."""
    named = any(a.tenant is not None for a in workload.attempts)
    return Shares.TENANT if named else Shares.TASK


def _first(view: View, key: Callable[[Candidate], Any]) -> Candidate | None:
    """The lowest key, at equal ones the order of arrival, if it fits."""
    return _if_fits(view, min(view.waiting, key=key))


def _if_fits(view: View, candidate: Candidate | None) -> Candidate | None:
    return candidate if candidate is not None and view.fits(candidate) else None
