"""What it costs to put an attempt's RAM aside and to take it back, and to load an image. In whole ticks."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from scheduling_core.admission.attempts import TICKS_PER_SECOND
from scheduling_core.errors import SchedulingError


def _check(holder: object, *names: str, least: int = 0) -> None:
    for name in names:
        value = getattr(holder, name)
        if type(value) is not int or value < least:
            raise SchedulingError(f"{name} is {value!r}, expected a whole number from {least}.")


class Cost(Protocol):
    """The cost of one suspended call, by the RAM that is put aside."""

    @property
    def name(self) -> str:
        """What a table calls it."""

    @property
    def assumption(self) -> str:
        """A sentence on where the figures come from."""

    def ticks(self, kib: int) -> tuple[int, int]:
        """Ticks of offloading and of restoring `kib`.

        Raises
        ------
        SchedulingError : where the cost of that size isn't known.
        """


@dataclass(frozen=True)
class Constant:
    """The same ticks for each suspended call, whatever it holds.

    Raises
    ------
    SchedulingError : for ticks that aren't whole numbers from 0.
    """

    offload: int
    restore: int

    def __post_init__(self) -> None:
        _check(self, "offload", "restore")

    @property
    def name(self) -> str:
        """Seconds of both together."""
        return f"{(self.offload + self.restore) / TICKS_PER_SECOND:g} s a call"

    @property
    def assumption(self) -> str:
        """Where the figures come from."""
        return (
            f"Assumed, not measured: offloading takes {self.offload / TICKS_PER_SECOND:g} s and restoring "
            f"{self.restore / TICKS_PER_SECOND:g} s for each suspended call, whatever it holds."
        )

    def ticks(self, kib: int) -> tuple[int, int]:
        """The constants."""
        return self.offload, self.restore


@dataclass(frozen=True)
class Bandwidth:
    """A fixed part in ticks, and KiB over the bandwidth of one channel, rounded up to whole ticks.

    out_kib_s, in_kib_s : KiB a second to and from the destination.

    Raises
    ------
    SchedulingError : for a bandwidth that isn't a whole number from 1, or ticks below 0.
    """

    out_kib_s: int
    in_kib_s: int
    fixed_offload: int = 0
    fixed_restore: int = 0

    def __post_init__(self) -> None:
        _check(self, "fixed_offload", "fixed_restore")
        _check(self, "out_kib_s", "in_kib_s", least=1)

    @property
    def name(self) -> str:
        """MiB a second to and from the destination."""
        return f"{self.out_kib_s / 1024:g} MiB/s out, {self.in_kib_s / 1024:g} MiB/s in"

    @property
    def assumption(self) -> str:
        """Where the figures come from."""
        return (
            f"Assumed, not measured: a channel moves {self.name}, after {self.fixed_offload} and "
            f"{self.fixed_restore} ticks of 0.1 s; the whole RAM quota is moved each time."
        )

    def ticks(self, kib: int) -> tuple[int, int]:
        """Ticks of moving `kib` out and in."""
        return (
            self.fixed_offload + transfer_ticks(kib, self.out_kib_s),
            self.fixed_restore + transfer_ticks(kib, self.in_kib_s),
        )


@dataclass(frozen=True)
class Loading:
    """The time that an image takes to come: fixed ticks, and its size over a bandwidth (None: at once).

    Raises
    ------
    SchedulingError : for ticks below 0, or a bandwidth that isn't a whole number from 1.
    """

    fixed: int = 0
    kib_s: int | None = None

    def __post_init__(self) -> None:
        _check(self, "fixed")
        if self.kib_s is not None:
            _check(self, "kib_s", least=1)

    def ticks(self, kib: int) -> int:
        """Ticks of bringing in an image of that size."""
        return self.fixed + (0 if self.kib_s is None else transfer_ticks(kib, self.kib_s))


AT_ONCE = Loading()
"""An image is there when it is wanted."""


def transfer_ticks(kib: int, kib_s: int) -> int:
    """Whole ticks of moving `kib` at `kib_s` a second, rounded up."""
    return -(-kib * TICKS_PER_SECOND // kib_s)


def constant_of(seconds: float | str) -> Constant:
    """Seconds of a suspended call, half for each way; an odd tick goes to the restore.

    Raises
    ------
    SchedulingError : for seconds below 0, or that aren't whole ticks of 0.1 s.
    """
    try:
        ticks = Fraction(str(seconds)) * TICKS_PER_SECOND
    except (ValueError, ZeroDivisionError):
        ticks = Fraction(-1)
    if ticks < 0 or ticks.denominator != 1:
        raise SchedulingError(f"The cost is {seconds!r} s, expected whole tenths of a second from 0.")
    return Constant(int(ticks) // 2, int(ticks) - int(ticks) // 2)
