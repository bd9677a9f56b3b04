"""The kernels of replay and evaluation, called on ordinary sequences and checked at the door.

Compiled where numba is installed, plain Python where not, with the same answers. Numbers that int64 might
not hold are refused in both forms, so that neither answers where the other can't:
every tick < 2**62 / (attempts, rounded up to a power of 2), every capacity < 2**62, and (sum of the
durations, or the number of attempts if that is more) x (largest amount) < 2**62.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from scheduling_core.admission.kernels import accounting, sgs
from scheduling_core.compiled import numbers
from scheduling_core.errors import SchedulingError

BOUND = 1 << 62
"""What no number of a kernel reaches."""
LONGEST_GRID = 1 << 27
"""Ticks of the longest difference grid: 3,728 hours, 1 GiB."""


def admission_starts(
    durations: Sequence[int],
    releases: Sequence[int],
    demands: Sequence[Sequence[int]],
    capacities: Sequence[int],
    order: Sequence[int],
) -> list[int]:
    """Starts (n,) of `replay.list_admission`, which says what is meant.

    Raises
    ------
    SchedulingError : as there, and for numbers below 0 or beyond the bound of this module.
    """
    jobs = _Jobs(durations, releases, demands, capacities, order)
    n, resources = len(jobs.durations), len(jobs.capacities)
    starts, free, heap = (_zeros(accounting, size) for size in (n, resources, n + 3))
    refused = accounting.admit(*[*jobs.given(accounting), jobs.bits, starts, free, heap])
    jobs.refuse(refused)
    return [int(start) for start in starts]


def serial_starts(
    durations: Sequence[int],
    releases: Sequence[int],
    demands: Sequence[Sequence[int]],
    capacities: Sequence[int],
    order: Sequence[int],
) -> list[int]:
    """Starts (n,) by serial schedule generation: in `order`, each at its earliest feasible start.

    demands (n, R) are held from start to end, half-open; no tick passes a capacity (R,). A job may start
    before one that stands before it, and before none of its release. Jobs of 0 ticks start at release.
    Source: Kolisch, EJOR 90 (1996), section 2.1, without precedence.

    Raises
    ------
    SchedulingError : as `admission_starts`.
    """
    jobs = _Jobs(durations, releases, demands, capacities, order)
    n, resources = len(jobs.durations), len(jobs.capacities)
    starts = _zeros(sgs, n)
    scratch = [_zeros(sgs, size) for size in sgs_scratch(n, resources)]
    jobs.refuse(sgs.schedule(*[*jobs.given(sgs), starts, *scratch]))
    return [int(start) for start in starts]


def sgs_scratch(n: int, resources: int) -> list[int]:
    """Lengths of the scratch that `sgs.schedule` takes after the starts, in its order."""
    return [(n + 1) * resources, n + 1, (2 * n + 1) * (sgs.FREE + resources)]


def whole_uses(
    starts: Sequence[int], durations: Sequence[int], demands: Sequence[Sequence[int]]
) -> list[tuple[int, int]]:
    """Peak and area (amount x ticks) of each of R demands (n, R) held from start to end, half-open.

    None where there is no job, whose row would tell R.

    Raises
    ------
    SchedulingError : for numbers below 0 or beyond the bound of this module.
    """
    first = _whole(starts, "starts")
    lengths = _whole(durations, "durations", len(first))
    n = len(first)
    if not n:
        return []
    table = _table(demands, n, None)
    bits = _bits(n)
    _check_ticks(_largest(first) + _largest(lengths), bits)
    _check_areas(lengths, table)
    resources = table.shape[1]
    peaks, areas, held = (_zeros(accounting, resources) for _ in range(3))
    scratch = [_zeros(accounting, size) for size in (n, n, n, accounting.BUCKETS)]
    given = [_form(accounting, values) for values in (first, lengths, table.ravel())]
    accounting.whole_use(*[*given, bits, peaks, areas, held, *scratch])
    return [(int(peak), int(area)) for peak, area in zip(peaks, areas, strict=True)]


def segment_use(
    starts: Sequence[int],
    runs: Sequence[Sequence[tuple[int, int]]],
    amounts: Sequence[int],
    horizon: int,
) -> tuple[int, int]:
    """Peak and area of a resource held in segments; arguments and errors as of `SegmentProfile`."""
    segments = _Segments(starts, runs, amounts, horizon)
    found = _zeros(accounting, 2)
    grid = _zeros(accounting, horizon + 1)
    accounting.segment_use(*[_form(accounting, segments.starts), *segments.given(), grid, found])
    return int(found[0]), int(found[1])


class SegmentProfile:
    """What a resource held in segments amounts to over time, while attempts are moved one by one.

    starts (n,); runs : for each attempt, (begin, end) in ticks after its start, ascending, not overlapping;
    amounts (n,) held in every run; horizon : last tick at which a run may end. `peak` is the highest
    amount at any time. The area depends on no start: `segment_use` tells it.

    Raises
    ------
    SchedulingError : for numbers below 0 or beyond the bound of this module, for runs out of order or past
    the horizon, and for a horizon beyond LONGEST_GRID.
    """

    def __init__(
        self,
        starts: Sequence[int],
        runs: Sequence[Sequence[tuple[int, int]]],
        amounts: Sequence[int],
        horizon: int,
    ) -> None:
        self._segments = _Segments(starts, runs, amounts, horizon)
        self._starts = _form(accounting, self._segments.starts)
        self._held = self._segments.given()
        self._grid = _zeros(accounting, horizon + 1)
        blocks = (horizon >> accounting.BLOCK_BITS) + 1
        self._sums, self._tops = _zeros(accounting, blocks), _zeros(accounting, blocks)
        for attempt, start in enumerate(self._starts):
            accounting.put(*[attempt, start, 1, *self._held, self._grid])
        accounting.sum_blocks(self._grid, 0, blocks - 1, self._sums, self._tops)
        self.peak = int(accounting.highest(self._sums, self._tops))

    @property
    def starts(self) -> list[int]:
        """The starts as they stand."""
        return [int(start) for start in self._starts]

    def move(self, attempt: int, start: int) -> int:
        """The peak after an attempt is moved to another start.

        Raises
        ------
        SchedulingError : for a start below 0, or a run past the horizon; nothing is moved then.
        """
        self._segments.check(attempt, start)
        held = [self._starts, *self._held, self._grid, self._sums, self._tops]
        self.peak = int(accounting.move(*[attempt, start, *held]))
        return self.peak


class _Segments:
    """Checked runs of attempts, as arrays."""

    def __init__(
        self,
        starts: Sequence[int],
        runs: Sequence[Sequence[tuple[int, int]]],
        amounts: Sequence[int],
        horizon: int,
    ) -> None:
        self.horizon = horizon
        self.starts = _whole(starts, "starts")
        n = len(self.starts)
        self.amounts = _whole(amounts, "amounts", n)
        if not 0 <= horizon <= LONGEST_GRID:
            raise SchedulingError(f"The horizon is {horizon} ticks, expected 0 to {LONGEST_GRID}.")
        if len(runs) != n or any(len(run) != 2 for of_one in runs for run in of_one):
            raise SchedulingError(f"The runs aren't {n} lists of (begin, end), one for each attempt.")
        counts = [len(of_one) for of_one in runs]
        edges = _whole([tick for of_one in runs for run in of_one for tick in run], "runs")
        self.pointers = np.cumsum([0, *counts])
        self.begins, self.ends = edges[::2], edges[1::2]
        owners = np.repeat(np.arange(n), counts)
        overlaps = (self.begins[1:] < self.ends[:-1]) & (owners[1:] == owners[:-1])
        if np.any(self.begins >= self.ends) or np.any(overlaps):
            raise SchedulingError("The runs of an attempt overlap, are empty or don't ascend.")
        self.last = [
            int(self.ends[p - 1]) if c else 0 for p, c in zip(self.pointers[1:], counts, strict=True)
        ]
        for attempt, start in enumerate(self.starts.tolist()):
            self.check(attempt, start)
        _check_areas(np.array(self.last, dtype=np.int64), self.amounts)

    def given(self) -> Any:
        """What the kernels of segments take after the starts."""
        return [_form(accounting, values) for values in (self.pointers, self.begins, self.ends, self.amounts)]

    def check(self, attempt: int, start: int) -> None:
        """Refuse an attempt that isn't there, and a start from which it leaves the grid."""
        if not 0 <= attempt < len(self.last):
            raise SchedulingError(f"There is no attempt {attempt}, expected 0 to {len(self.last) - 1}.")
        if start < 0 or start + self.last[attempt] > self.horizon:
            raise SchedulingError(
                f"Attempt {attempt} from tick {start} holds until {start + self.last[attempt]}, "
                f"expected within 0 to {self.horizon}."
            )


class _Jobs:
    """Checked jobs of a list, as arrays."""

    def __init__(
        self,
        durations: Sequence[int],
        releases: Sequence[int],
        demands: Sequence[Sequence[int]],
        capacities: Sequence[int],
        order: Sequence[int],
    ) -> None:
        self.durations = _whole(durations, "durations")
        n = len(self.durations)
        if sorted(order) != list(range(n)):
            raise SchedulingError(f"The order doesn't hold each of the {n} jobs once.")
        self.order = np.array(list(order), dtype=np.int64)
        self.releases = _whole(releases, "releases", n)
        self.capacities = _whole(capacities, "capacities")
        self.demands = _table(demands, n, len(self.capacities))
        self.bits = _bits(n)
        _check_ticks(_largest(self.releases) + sum(self.durations.tolist()), self.bits)

    def given(self, module: ModuleType) -> Any:
        """What both kernels take first."""
        return [
            _form(module, values)
            for values in (self.durations, self.releases, self.demands.ravel(), self.capacities, self.order)
        ]

    def refuse(self, job: int) -> None:
        """The sentence of `replay.list_admission` for a job that never fits; -1: there is none."""
        if job >= 0:
            raise SchedulingError(
                f"Job {job} wants {self.demands[job].tolist()}, more than there is: "
                f"{self.capacities.tolist()}."
            )


def _form(module: ModuleType, values: Any) -> Any:
    return numbers(module, values)


def _zeros(module: ModuleType, size: int) -> Any:
    return _form(module, np.zeros(size, dtype=np.int64))


def _whole(values: Sequence[Any], name: str, count: int | None = None) -> Any:
    """Whole numbers 0..BOUND - 1 as an int64 array of the shape they have."""
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        raise SchedulingError(f"The rows of {name} differ in length, expected one number for each.") from None
    if array.size and (array.dtype.kind not in "iu" or array.min() < 0 or int(array.max()) >= BOUND):
        raise SchedulingError(f"Something in {name} isn't a whole number from 0 to 2**62 - 1.")
    if count is not None and len(array) != count:
        raise SchedulingError(f"There are {len(array)} {name}, expected {count}.")
    return array.astype(np.int64)


def _table(demands: Sequence[Sequence[int]], n: int, resources: int | None) -> Any:
    table = _whole(demands, "demands", n)
    if not n:
        return table.reshape(0, resources or 0)
    if table.ndim != 2 or resources not in (None, table.shape[1]):
        raise SchedulingError(f"The demands have shape {table.shape}, expected {(n, resources)}.")
    return table


def _bits(n: int) -> int:
    """Bits that tell n attempts apart."""
    return max(1, (n - 1).bit_length())


def _largest(values: Any) -> int:
    return int(values.max()) if values.size else 0


def _check_ticks(last: int, bits: int) -> None:
    if last << bits >= BOUND:
        raise SchedulingError(
            f"The schedule may last until tick {last}, expected less than {BOUND >> bits} for so many jobs."
        )


def _check_areas(durations: Any, amounts: Any) -> None:
    ticks, largest = max(sum(durations.tolist()), len(durations)), _largest(amounts)
    if ticks * largest >= BOUND:
        raise SchedulingError(
            f"{ticks} ticks of amounts up to {largest} may pass 2**62, which the accounts don't hold."
        )
