"""Bootstrap replicates of rated items, drawn as counts of cells and not item by item.

The rescaled bootstrap of J. N. K. Rao and C. F. J. Wu, J. Am. Stat. Assoc. 83 (1988) 231-241: in each
stratum n_h - 1 of its n_h items are drawn with replacement, and each draw counts n_h / (n_h - 1), so that
the variance of a stratum's mean is estimated without bias. A sample without strata is one stratum. No
finite population correction is made, so intervals err on the wide side. A stratum of one item stays as
it is in every replicate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from classifiers.agreement.ratings import Floats, Ratings
from classifiers.errors import ClassifierError

_CHUNK = 1 << 22  # numbers held at once
_MOST_UNDEFINED = 0.05


@dataclass(frozen=True)
class BootstrapInterval:
    """A percentile interval, or None at both ends with the reason.

    `se` is the standard deviation of the replicates. `undefined` replicates had no value and are left
    out; where they are more than 1 in 20, no interval is given.
    """

    low: float | None
    high: float | None
    se: float | None
    level: float
    replicates: int
    undefined: int
    reason: str | None = None


def check_bootstrap(replicates: int, level: float) -> None:
    """Refuse fewer than 100 replicates and a level outside (0, 1) with a sentence."""
    if replicates < 100:
        raise ClassifierError(f"{replicates} bootstrap replicates give no interval; expected 100 or more")
    if not 0 < level < 1:
        raise ClassifierError(f"the level is {level}, expected a number between 0 and 1 such as 0.95")


def replicate_totals(ratings: Ratings, replicates: int, seed: int) -> Iterator[tuple[Floats, Floats]]:
    """Rescaled numbers of items and total weights of every group, some replicates (x groups) at a time.

    Each stratum has a random stream of its own from the seed, so the numbers depend neither on how many
    are held at once nor on the other strata.
    """
    streams = np.random.SeedSequence(seed).spawn(len(ratings.strata))
    generators = [np.random.Generator(np.random.PCG64(s)) for s in streams]
    cells = [np.flatnonzero(ratings.stratum == h) for h in range(len(ratings.strata))]
    at_once = max(1, _CHUNK // len(ratings.counts))
    for start in range(0, replicates, at_once):
        size = min(at_once, replicates - start)
        drawn = np.empty((size, len(ratings.counts)))
        for generator, own in zip(generators, cells, strict=True):
            counts = ratings.counts[own]
            n = int(counts.sum())
            if n == 1:
                drawn[:, own] = counts
            else:
                drawn[:, own] = generator.multinomial(n - 1, counts / n, size=size) * (n / (n - 1))
        yield group_totals(ratings, drawn)


def group_totals(ratings: Ratings, counts: Floats) -> tuple[Floats, Floats]:
    """Numbers of items (replicates x cells) -> numbers and total weights (replicates x groups)."""
    starts = ratings.groups
    return np.add.reduceat(counts, starts, axis=1), np.add.reduceat(counts * ratings.weights, starts, axis=1)


def percentile_interval(values: Floats, level: float) -> BootstrapInterval:
    """The interval between the percentiles of the replicates (NaN where one is undefined)."""
    defined = values[~np.isnan(values)]
    undefined = len(values) - len(defined)
    common = (level, len(values), undefined)
    if undefined > _MOST_UNDEFINED * len(values):
        reason = f"{undefined} of {len(values)} replicates have no value"
        return BootstrapInterval(None, None, None, *common, reason)
    if np.ptp(defined) < 1e-12:
        reason = "every replicate has the same value, so resampling says nothing of the uncertainty"
        return BootstrapInterval(None, None, None, *common, reason)
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return BootstrapInterval(float(low), float(high), float(defined.std(ddof=1)), *common)
