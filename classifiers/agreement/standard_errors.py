"""Published large-sample standard errors, for items drawn as a simple random sample.

None of them is a null-hypothesis error: each belongs to an interval around the estimate. Sampling
fractions are taken as negligible. Gwet's errors, as published, let an item with one usable rating add to
the spread, so that they lie a little above the bootstrap's where there are many.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from classifiers.agreement.coefficients import AC1, COHEN, FLEISS, PABAK, PERCENT, Patterns, entering
from classifiers.agreement.ratings import Floats

SOURCES = {
    PERCENT: "standard error of a mean over items",
    COHEN: "Fleiss, Cohen and Everitt, Psychol. Bull. 72 (1969) 323-327",
    FLEISS: "Gwet, Educ. Psychol. Meas. 81 (2021) 781-790",
    AC1: "Gwet, Br. J. Math. Stat. Psychol. 61 (2008) 29-48",
    PABAK: "Byrt, Bishop and Carlin, J. Clin. Epidemiol. 46 (1993) 423-429: linear in percent agreement",
}


ALIKE = "the items agree alike, and the published formula gives 0, which says nothing of the uncertainty"


@dataclass(frozen=True)
class StandardError:
    """A standard error with its source, or None with the reason."""

    value: float | None
    source: str


def standard_errors(patterns: Patterns, counts: Floats, values: dict[str, float]) -> dict[str, StandardError]:
    """The standard error of every coefficient that has a value and a published formula.

    `counts` (patterns) are numbers of items, `values` the coefficients that are defined. Where the
    items agree alike a formula gives 0, which says nothing of the uncertainty: None then.
    """
    compared = patterns.compared
    counts = counts * entering(patterns)
    alike = bool((patterns.agreement[compared] == 1).all())
    found: dict[str, StandardError] = {}
    for name, source in SOURCES.items():
        if name not in values:
            continue
        if counts[compared].sum() < 2:
            found[name] = StandardError(None, "one compared item has no standard error")
            continue
        error = 0.0 if alike else _value(name, patterns, counts, values)
        # A variance of 0 comes out as some 1e-17, and its root as some 1e-9.
        found[name] = StandardError(error, source) if error > 1e-8 else StandardError(None, ALIKE)
    return found


def _value(name: str, patterns: Patterns, counts: Floats, values: dict[str, float]) -> float:
    if name == COHEN:
        return _cohen(patterns, counts, values[COHEN])
    if name in (FLEISS, AC1):
        return _linearised(patterns, counts, values, name)
    mean = _mean_error(patterns.agreement[patterns.compared], counts[patterns.compared])
    q = len(patterns.categories)
    return mean * q / (q - 1) if name == PABAK else mean


def _mean_error(per_item: Floats, counts: Floats) -> float:
    n = counts.sum()
    mean = counts @ per_item / n
    return float(np.sqrt(counts @ (per_item - mean) ** 2 / (n * (n - 1))))


def _cohen(patterns: Patterns, counts: Floats, kappa: float) -> float:
    """Their equation for the variance of an unweighted kappa that need not be 0."""
    both = patterns.compared
    codes, n = patterns.codes[both], counts[both].sum()
    q = len(patterns.categories)
    table = np.zeros((q, q))
    np.add.at(table, (codes[:, 0], codes[:, 1]), counts[both] / n)
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    chance = rows @ columns
    sums = rows[None, :] + columns[:, None]  # p_.i + p_j. at i, j
    diagonal = np.diag(table) @ (1 - np.diag(sums) * (1 - kappa)) ** 2
    apart = (1 - kappa) ** 2 * ((table * sums**2).sum() - np.diag(table) @ np.diag(sums) ** 2)
    variance = (diagonal + apart - (kappa - chance * (1 - kappa)) ** 2) / (n * (1 - chance) ** 2)
    return float(np.sqrt(max(variance, 0.0)))


def _linearised(patterns: Patterns, counts: Floats, values: dict[str, float], name: str) -> float:
    """Gwet's linearisation: the coefficient's share in each item, and the variance of its mean."""
    rated = patterns.usable > 0
    counts = counts[rated]
    agreement, shares = patterns.agreement[rated], patterns.shares[rated]
    compared = patterns.compared[rated].astype(np.float64)
    n, q = counts.sum(), len(patterns.categories)
    pi = counts @ shares / n
    if name == FLEISS:
        chance, chance_of_item = pi @ pi, shares @ pi
    else:
        chance, chance_of_item = pi @ (1 - pi) / (q - 1), shares @ (1 - pi) / (q - 1)
    value = values[name]
    of_item = (n / (counts @ compared)) * compared * (agreement - chance) / (1 - chance)
    of_item = of_item - 2 * (1 - value) * (chance_of_item - chance) / (1 - chance)
    return float(np.sqrt(counts @ (of_item - value) ** 2 / (n * (n - 1))))
