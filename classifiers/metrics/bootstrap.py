"""Bootstrap of whole groups, with an explicit seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from classifiers.errors import ClassifierError
from classifiers.metrics.sample import Floats

LEVEL = 0.95
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Interval:
    """A figure and its 95 % interval; both ends are None where the replicates say nothing of one.

    So it is where too few could be computed, and where all have one value, as those of one group do.
    """

    value: float
    low: float | None
    high: float | None


def resampled(groups: int, replicates: int, seed: int) -> Iterator[Floats]:
    """Chunks (c, G) of how often each of G groups is drawn, `replicates` rows in all.

    G groups are drawn with replacement in each (PCG64 from the seed). The rows don't depend on how
    they are cut into chunks.
    """
    if replicates < 1:
        raise ClassifierError(f"there are {replicates} replicates, expected at least 1")
    rng = np.random.default_rng(seed)
    rows = max(1, _CHUNK // groups)
    for start in range(0, replicates, rows):
        count = min(rows, replicates - start)
        drawn = rng.integers(0, groups, size=(count, groups))
        drawn += np.arange(count)[:, None] * groups
        yield np.bincount(drawn.ravel(), minlength=count * groups).reshape(count, groups).astype(np.float64)


def percentile(value: float, replicates: Floats) -> Interval:
    """The middle 95 % of the replicates (Efron & Tibshirani 1993, section 13.3)."""
    ends = _ends(replicates)
    return Interval(value, None, None) if ends is None else Interval(value, *ends)


def basic(value: float, replicates: Floats, lowest: float, highest: float) -> Interval:
    """2 value - percentiles, within bounds (Davison & Hinkley 1997, section 5.2).

    For figures that chance alone raises, such as a calibration error: replicates are raised once more,
    and this turns that round. Where that takes both ends past the same bound there is no interval: the
    figure is smaller than chance makes it, and no error is known to be exactly 0.
    """
    ends = _ends(replicates)
    if ends is None:
        return Interval(value, None, None)
    low, high = (2 * value - end for end in reversed(ends))
    if high <= lowest or low >= highest:
        return Interval(value, None, None)
    return Interval(value, max(low, lowest), min(high, highest))


def _ends(replicates: Floats) -> tuple[float, float] | None:
    usable = replicates[np.isfinite(replicates)]
    if len(usable) < 0.9 * len(replicates) or len(usable) < 20:
        return None
    if np.ptp(usable) < 1e-12:
        return None
    low, high = np.quantile(usable, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
