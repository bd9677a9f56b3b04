"""One chain of moves: from starts that keep the deadline to ever lower ones, in slices that can be saved.

What a chain does next follows from its state alone, so a chain that is stopped, saved and gone on with ends
as one that was never stopped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from scheduling_core.admission.kernels import moves
from scheduling_core.admission.metrics import use_of
from scheduling_core.admission.search.problem import Measure, Problem, Resource
from scheduling_core.compiled import numbers
from scheduling_core.errors import SchedulingError

SLICE = 2_000_000
"""Candidates between two looks at the clock and the checkpoint."""
WINDOW = 8_192
"""Ticks to either side of a centre in which a start is looked for: this, a quarter or a sixteenth of it."""
NO_CAP = 1 << 40


@dataclass(frozen=True)
class Best:
    """The lowest value that a chain has reached with every cap kept, and how.

    In units of the goal's profile, or MiB x ticks.
    """

    value: int
    candidates: int
    starts: tuple[int, ...]


class Chain:
    """The state of one chain. `kernels` is the module of moves, in the form that is to run."""

    def __init__(
        self, problem: Problem, starts: Sequence[int], seed: int, kernels: ModuleType = moves
    ) -> None:
        self.problem = problem
        self.kernels = kernels
        self._pack()
        self._random = numbers(kernels, _seeds(seed))
        self._counters = numbers(kernels, [0, 0, 0, 0])
        self.curve: list[tuple[int, int]] = []
        self._set(starts)
        self.best: Best | None = None
        self._keep_if_better()

    @property
    def candidates(self) -> int:
        """Candidate starts looked at so far; each stands for one complete schedule."""
        return int(self._counters[0])

    @property
    def moves(self) -> int:
        """Moves made so far."""
        return int(self._counters[2])

    def advance(self, enough: int) -> None:
        """Look at about `enough` more candidates, and remember what is better and keeps every cap."""
        if self._price == 0 and self._counters[1] == 0:
            self._lower()
        self.kernels.improve(
            self._use, self._over, self._slots, self._gain, self._covered, self._out, self._counters,
            self._random, self._starts, self._n, self._profiles, self._horizon, self._blocks,
            self.problem.limits.slots, self._price, WINDOW, enough, self._cap, self._scale, *self._arrays,
        )  # fmt: skip
        self._keep_if_better()

    def state(self) -> dict[str, Any]:
        """All that `resume` needs, as plain JSON."""
        return {
            "starts": [int(s) for s in self._starts], "random": [int(s) for s in self._random],
            "counters": [int(c) for c in self._counters], "caps": [int(c) for c in self._cap],
            "best": None if self.best is None else [self.best.value, self.best.candidates, self.best.starts],
            "curve": self.curve,
        }  # fmt: skip

    def resume(self, state: dict[str, Any]) -> None:
        """Go on from what `state` gave. Raises SchedulingError where it is of another problem's size."""
        if len(state["starts"]) != self._n or len(state["caps"]) != self._profiles + 1:
            raise SchedulingError("The checkpoint is of another problem than this one.")
        for r, cap in enumerate(state["caps"]):
            self._cap[r] = cap
        self._set(state["starts"])
        for k, value in enumerate(state["random"]):
            self._random[k] = value
        self._counters[0], self._counters[2] = state["counters"][0], state["counters"][2]
        self.best = None
        if state["best"] is not None:
            value, candidates, starts = state["best"]
            self.best = Best(value, candidates, tuple(starts))
        self.curve = [(a, b) for a, b in state["curve"]]

    def _lower(self) -> None:
        """Every cap is kept: ask for less than the best."""
        assert self.best is not None
        self._cap[self._goal] = self.best.value - 1
        self._counters[1] = self.kernels.recount(
            self._use, self._over, self._profiles, self._horizon, self._blocks, self._cap, self._scale
        )

    def _keep_if_better(self) -> None:
        if self._counters[1] > 0:
            return
        value = self._value()
        if self.best is None or value < self.best.value:
            self.best = Best(value, self.candidates, tuple(int(s) for s in self._starts))
            self.curve.append((self.candidates, value))

    def _value(self) -> int:
        if self._price:
            return int(self._counters[3])
        begin = self._goal * self._horizon
        return int(max(self._use[begin : begin + self._horizon]))

    def _pack(self) -> None:
        problem, made = self.problem, self.kernels
        attempts = problem.workload.attempts
        self._n, self._horizon = len(attempts), problem.deadline
        self._profiles = len(problem.profiles)
        self._blocks = -(-self._horizon // moves.BLOCK)
        hours = problem.goal.measure is Measure.HOURS
        self._price = 1 if hours else 0
        images = problem.goal.resource is Resource.IMAGES
        self._goal = self._profiles if images else self._index(problem.goal.resource)
        pointer, off, length, weight = [0], [], [], []
        for profile in problem.profiles:
            for spans, amount in zip(profile.spans, profile.amounts, strict=True):
                for begin, ticks in spans:
                    off.append(begin)
                    length.append(ticks)
                pointer.append(len(off))
                weight.append(amount)
        users: list[list[int]] = [[] for _ in problem.image_sizes]
        for i, m in enumerate(problem.image_of):
            users[m].append(i)
        user_pointer = [0]
        for own in users:
            user_pointer.append(user_pointer[-1] + len(own))
        self._arrays = [
            numbers(made, values)
            for values in (
                [a.ticks for a in attempts], [a.release for a in attempts], pointer, off, length, weight,
                problem.image_of, problem.image_sizes, user_pointer, [i for own in users for i in own],
            )
        ]  # fmt: skip
        # An excess weighs more than what an attempt's place can add to the image store's area.
        dear = max(problem.image_sizes) * 64 if hours else 1
        image_cap = problem.limits.image_kib
        caps = [NO_CAP if p.cap is None else p.cap for p in problem.profiles]
        caps.append(NO_CAP if image_cap is None else image_cap >> 10)
        store = images or image_cap is not None
        self._cap = numbers(made, caps)
        self._scale = numbers(made, [dear] * self._profiles + [dear if store else 0])
        self._over = numbers(made, [0] * ((self._profiles + 1) * self._blocks))
        self._use = numbers(made, [0] * ((self._profiles + 1) * self._horizon))
        self._slots = numbers(made, [0] * self._horizon)
        self._gain = numbers(made, [0] * ((self._profiles + 1) * (self._horizon + 1)))
        self._covered = numbers(made, [0] * (self._horizon + 1))
        self._out = numbers(made, [0, 0, 0])
        self._starts = numbers(made, [-1] * self._n)

    def _set(self, starts: Sequence[int]) -> None:
        """Let every attempt hold what it takes at these starts, on an empty grid.

        Raises SchedulingError for a start outside the grid, which compiled code would not notice, and for
        more attempts at once than there are slots, which no move would mend.
        """
        attempts = self.problem.workload.attempts
        for attempt, start in zip(attempts, starts, strict=True):
            if not attempt.release <= start <= self._horizon - attempt.ticks:
                raise SchedulingError(
                    f"Attempt {attempt.id} can't start at tick {start}: it is released at {attempt.release}, "
                    f"lasts {attempt.ticks} and has to end by {self._horizon}."
                )
        running = use_of((s, s + a.ticks, 1) for a, s in zip(attempts, starts, strict=True)).peak
        if running > self.problem.limits.slots:
            raise SchedulingError(
                f"{running} attempts run at once on {self.problem.limits.slots} slots, expected no more."
            )
        for values in (self._use, self._over, self._slots):
            for k in range(len(values)):
                values[k] = 0
        for i in range(self._n):
            self._starts[i] = -1
        self._counters[1] = self._counters[3] = 0
        duration, _, *rest = self._arrays
        for i, start in enumerate(starts):
            self.kernels.place(
                i, int(start), 1, self._use, self._over, self._slots, self._covered, self._starts, self._n,
                self._profiles, self._horizon, self._blocks, self._price, self._cap, self._scale, duration,
                *rest, self._counters,
            )  # fmt: skip

    def _index(self, resource: Resource) -> int:
        return next(k for k, p in enumerate(self.problem.profiles) if p.resource is resource)


def _seeds(seed: int) -> list[int]:
    """Two seeds of the kernel's generator from one, far apart for neighbouring ones (SplitMix64)."""
    found = []
    for k, modulus in enumerate((2147483562, 2147483398)):
        z = (seed * 2 + k + 1) * 0x9E3779B97F4A7C15 % (1 << 64)
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % (1 << 64)
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % (1 << 64)
        found.append((z ^ (z >> 31)) % modulus + 1)
    return found
