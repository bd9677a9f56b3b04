"""Coefficients of agreement, for many sets of weights at once, and why one has no value.

An item's ratings are a pattern; a coefficient depends only on the total weight of each pattern. So one
call computes it for a sample (one row of totals) and for every bootstrap replicate (many rows).

Sources: percent agreement, Fleiss' kappa and AC1 for any and for varying numbers of raters: K. L. Gwet,
"Computing inter-rater reliability and its variance in the presence of high agreement", Br. J. Math.
Stat. Psychol. 61 (2008) 29-48, and Handbook of Inter-Rater Reliability, 4th ed. (2014), ch. 2 to 5; with
as many raters for each item, Fleiss' kappa is that of J. L. Fleiss, Psychol. Bull. 76 (1971) 378-382.
Cohen's kappa: J. Cohen, Educ. Psychol. Meas. 20 (1960) 37-46. Alpha: K. Krippendorff, Content Analysis,
3rd ed. (2013), ch. 12. PABAK: T. Byrt, J. Bishop and J. B. Carlin, J. Clin. Epidemiol. 46 (1993)
423-429; for more than two categories it is the coefficient of R. L. Brennan and D. J. Prediger, Educ.
Psychol. Meas. 41 (1981) 687-699.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from classifiers.agreement.ratings import UNUSABLE, Floats, Ints, Label

PERCENT, COHEN, FLEISS, ALPHA, AC1, PABAK, JACCARD = (
    "percent_agreement",
    "cohen_kappa",
    "fleiss_kappa",
    "krippendorff_alpha",
    "gwet_ac1",
    "pabak",
    "jaccard",
)


@dataclass(frozen=True, eq=False)
class Patterns:
    """Distinct rows of ratings: `codes` is patterns x raters, `given` (patterns x categories) counts them."""

    categories: tuple[Label, ...]
    positive: int | None
    codes: Ints
    given: Floats

    @classmethod
    def of(cls, codes: Ints, categories: Sequence[Label], positive: Label | None) -> Patterns:
        """The patterns of these rows, which are distinct already."""
        labels = tuple(categories)
        given = np.stack([(codes == k).sum(axis=1) for k in range(len(labels))], axis=1).astype(np.float64)
        return cls(labels, None if positive is None else labels.index(positive), codes, given)

    @property
    def usable(self) -> Floats:
        """Number of usable ratings of each pattern."""
        total: Floats = self.given.sum(axis=1)
        return total

    @property
    def compared(self) -> NDArray[np.bool_]:
        """Whether a pattern has two usable ratings or more."""
        return self.usable >= 2

    @property
    def agreement(self) -> Floats:
        """Share of the pairs of usable ratings that agree, 0 where there is no pair."""
        m = self.usable
        agreeing: Floats = (self.given * (self.given - 1)).sum(axis=1) / np.where(m >= 2, m * (m - 1), 1)
        return agreeing

    @property
    def shares(self) -> Floats:
        """Share of each category among the usable ratings (patterns x categories), 0 where there is none."""
        return self.given / np.maximum(self.usable, 1)[:, None]


def coefficients(patterns: Patterns, totals: Floats) -> dict[str, Floats]:
    """Every coefficient that the patterns allow, NaN where it is undefined.

    `totals` is replicates x patterns: the weight of each pattern, scaled so that an item counts 1 on
    average (alpha's small-sample correction needs a number of items). Each value has one entry for each
    replicate. Two raters are compared on the items that both rated, so that their cross table gives every
    value. With more, an item with one usable rating has no pair but counts in the shares of Fleiss' kappa
    and AC1, as in Gwet (2014).
    """
    q = len(patterns.categories)
    totals = totals * entering(patterns)
    with np.errstate(divide="ignore", invalid="ignore"):
        pairs = totals @ patterns.compared.astype(np.float64)
        observed = _ratio(totals @ patterns.agreement, pairs)
        shares = _ratio(
            totals @ patterns.shares, (totals @ (patterns.usable > 0).astype(np.float64))[:, None]
        )
        by_fleiss = _one_category(shares, (shares**2).sum(axis=1))
        by_gwet = (shares * (1 - shares)).sum(axis=1) / (q - 1)
        values = {PERCENT: observed}
        if patterns.codes.shape[1] == 2:
            values[COHEN] = _chance_corrected(observed, _cohen_chance(patterns, totals))
        values[FLEISS] = _chance_corrected(observed, by_fleiss)
        values[ALPHA] = _alpha(patterns, totals)
        values[AC1] = _chance_corrected(observed, by_gwet)
        values[PABAK] = _chance_corrected(observed, np.full_like(observed, 1 / q))
        if patterns.positive is not None:
            any_positive, all_positive = positive_sets(patterns)
            values[JACCARD] = _ratio(totals @ all_positive, totals @ any_positive)
    return values


def entering(patterns: Patterns) -> NDArray[np.bool_]:
    """Whether the items of a pattern enter a coefficient at all."""
    return patterns.compared if patterns.codes.shape[1] == 2 else patterns.usable > 0


def positive_sets(patterns: Patterns) -> tuple[Floats, Floats]:
    """For each pattern with a rating by everyone, 1.0 where any and where all are positive, else 0.0."""
    complete = (patterns.codes != UNUSABLE).all(axis=1)
    positive = patterns.codes == patterns.positive
    return (
        (complete & positive.any(axis=1)).astype(np.float64),
        (complete & positive.all(axis=1)).astype(np.float64),
    )


def why_undefined(name: str, patterns: Patterns) -> str:
    """Why a coefficient has no value for items with these patterns, which all occur."""
    if name == JACCARD:
        if not (patterns.codes != UNUSABLE).all(axis=1).any():
            return "no item has a usable rating by every rater"
        return "no item is positive for any rater, so there are no sets to compare"
    if not patterns.compared.any():
        return "no item has two usable ratings"
    rows = patterns.compared if name == ALPHA else entering(patterns)
    used = [c for c, n in zip(patterns.categories, patterns.given[rows].sum(axis=0), strict=True) if n]
    return f"every usable rating is {used[0]!r}: with one category in use, agreement by chance is certain"


def _ratio(above: Floats, below: Floats) -> Floats:
    return np.where(below > 0, above / np.where(below > 0, below, 1), np.nan)


def _one_category(shares: Floats, chance: Floats) -> Floats:
    # Rounding must not leave 1 - chance a hair above 0 where only one category is in use.
    return np.where((shares > 0).sum(axis=-1) == 1, 1.0, chance)


def _chance_corrected(observed: Floats, chance: Floats) -> Floats:
    return np.where(chance < 1, (observed - chance) / np.where(chance < 1, 1 - chance, 1), np.nan)


def _cohen_chance(patterns: Patterns, totals: Floats) -> Floats:
    q = len(patterns.categories)
    first, second = (
        _ratio(totals @ np.eye(q)[np.maximum(patterns.codes[:, r], 0)], totals.sum(axis=1)[:, None])
        for r in (0, 1)
    )
    return _one_category(first + second, (first * second).sum(axis=1))


def _alpha(patterns: Patterns, totals: Floats) -> Floats:
    m = patterns.usable
    given = patterns.given * patterns.compared[:, None]
    values = totals @ given  # replicates x categories: values that can be paired
    n = values.sum(axis=1)
    agreeing = totals @ ((given * (given - 1)).sum(axis=1) / np.maximum(m - 1, 1))
    expected = n**2 - (values**2).sum(axis=1)
    several = (values > 0).sum(axis=1) > 1
    return np.where(several, 1 - (n - 1) * (n - agreeing) / np.where(several, expected, 1), np.nan)
