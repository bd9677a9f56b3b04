"""Agreement of a panel and of its pairs: overall and by stratum, raw and design-weighted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, Literal, TypeAlias

import numpy as np
from threadpoolctl import threadpool_limits

from classifiers.agreement.coefficients import COHEN, Patterns, coefficients, why_undefined
from classifiers.agreement.ratings import UNUSABLE, Floats, Ints, Label, Ratings
from classifiers.agreement.resampling import (
    BootstrapInterval,
    check_bootstrap,
    group_totals,
    percentile_interval,
    replicate_totals,
)
from classifiers.agreement.standard_errors import StandardError, standard_errors

Weighting = Literal["raw", "design"]


@dataclass(frozen=True)
class Coefficient:
    """One coefficient: its value, or None and why; its standard error and its bootstrap interval."""

    name: str
    value: float | None
    undefined: str | None
    standard_error: StandardError
    interval: BootstrapInterval | None


@dataclass(frozen=True)
class Counts:
    """What a table of agreement rests on: numbers of items, or their total weights where weighted.

    `usable` and `positives` are by rater, None where nobody knows who rated what. `crosstab` is there
    for a pair: rows the first rater's categories, columns the second's. `by_positives` has an entry
    (usable ratings, positives among them, items) for each combination that occurs. Positives are None
    and empty where no category is the positive one.
    """

    items: float
    compared: float
    one_rating: float
    no_rating: float
    usable: tuple[float, ...] | None
    positives: tuple[float, ...] | None
    crosstab: tuple[tuple[float, ...], ...] | None
    by_positives: tuple[tuple[int, int, float], ...]


@dataclass(frozen=True)
class AgreementTable:
    """Agreement of some raters on the items of one stratum, or of all (`stratum` is None then)."""

    stratum: str | None
    weighting: Weighting
    raters: tuple[str, ...] | None
    counts: Counts
    weighted_counts: Counts | None
    coefficients: tuple[Coefficient, ...]

    def __getitem__(self, name: str) -> Coefficient:
        """The coefficient of this name. Raises KeyError where it isn't one of the table's."""
        for coefficient in self.coefficients:
            if coefficient.name == name:
                return coefficient
        raise KeyError(name)


@dataclass(frozen=True)
class AgreementReport:
    """Every table: the whole panel first, then each pair; overall first, then each stratum."""

    categories: tuple[Label, ...]
    positive: Label | None
    raters: tuple[str, ...] | None
    strata: tuple[str, ...]
    seed: int
    tables: tuple[AgreementTable, ...]
    notes: tuple[str, ...]

    def table(self, *raters: str, stratum: str | None = None, weighting: Weighting = "raw") -> AgreementTable:
        """The table of these raters (none named: the panel). Raises KeyError where there is none."""
        wanted = raters or self.raters
        for table in self.tables:
            if (table.raters, table.stratum, table.weighting) == (wanted, stratum, weighting):
                return table
        raise KeyError((wanted, stratum, weighting))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON: no NaN, None where there is no value."""
        plain: dict[str, Any] = asdict(self)
        return plain


def agreement(ratings: Ratings, *, seed: int, replicates: int = 2000, level: float = 0.95) -> AgreementReport:
    """Agreement with counts, published standard errors and bootstrap intervals.

    A pair's table compares the items that both rated. Design-weighted tables are there where weights
    were given; their weights are scaled to mean 1 over the items of the stratum or sample. The same
    replicates serve every table.

    Raises
    ------
    ClassifierError : for fewer than 100 replicates or a level outside (0, 1).
    """
    check_bootstrap(replicates, level)
    with threadpool_limits(limits=1):  # so that the last bits repeat
        views = list(_views(ratings))
        drawn: list[dict[str, list[Floats]]] = [{} for _ in views]
        for groups in replicate_totals(ratings, replicates, seed):
            for view, found in zip(views, drawn, strict=True):
                for name, values in coefficients(view.patterns, view.scaled(groups)).items():
                    found.setdefault(name, []).append(values)
        sample = group_totals(ratings, ratings.counts[None, :].astype(np.float64))
        tables = tuple(
            _table(view, sample, {name: np.concatenate(parts) for name, parts in found.items()}, level)
            for view, found in zip(views, drawn, strict=True)
        )
    return AgreementReport(
        ratings.categories,
        ratings.positive,
        ratings.raters,
        ratings.strata if ratings.stratified else (),
        seed,
        tables,
        _notes(ratings),
    )


def _notes(ratings: Ratings) -> tuple[str, ...]:
    notes = []
    sizes = np.bincount(ratings.stratum, weights=ratings.counts, minlength=len(ratings.strata))
    alone = [name for name, size in zip(ratings.strata, sizes, strict=True) if size == 1]
    if ratings.stratified and alone:
        notes.append(f"strata of one item add nothing to the bootstrap's spread: {', '.join(alone)}")
    if ratings.stratified or ratings.weighted:
        notes.append("published standard errors take the items as a simple random sample; raw tables only")
    if ratings.raters is None:
        notes.append("the counts don't say who rated what, so nothing is given by rater or by pair")
    return tuple(notes)


Groups: TypeAlias = tuple[Floats, Floats]


@dataclass(frozen=True, eq=False)
class _View:
    """The groups of one table, and how they add up to patterns of the ratings that it compares."""

    ratings: Ratings
    columns: tuple[int, ...]
    stratum: int | None
    weighting: Weighting
    own: Ints  # groups in this table, those of a pattern side by side
    starts: Ints  # where in `own` each pattern begins
    patterns: Patterns
    scale: float  # makes the mean weight 1

    @property
    def is_pair(self) -> bool:
        return len(self.columns) == 2 and self.ratings.raters is not None

    def counts(self, groups: Groups) -> Floats:
        """Numbers of items, replicates x patterns."""
        totals: Floats = np.add.reduceat(groups[0][:, self.own], self.starts, axis=1)
        return totals

    def weights(self, groups: Groups) -> Floats:
        """Total design weights, replicates x patterns."""
        totals: Floats = np.add.reduceat(groups[1][:, self.own], self.starts, axis=1)
        return totals

    def scaled(self, groups: Groups) -> Floats:
        """What the coefficients count, replicates x patterns: items, or their weights with mean 1."""
        return self.counts(groups) if self.weighting == "raw" else self.weights(groups) * self.scale


def _views(ratings: Ratings) -> Iterator[_View]:
    everyone = tuple(range(ratings.panel))
    groups = [everyone]
    if ratings.raters is not None and ratings.panel > 2:
        groups += list(combinations(everyone, 2))
    scopes: list[int | None] = [None, *range(len(ratings.strata))] if ratings.stratified else [None]
    weightings: tuple[Weighting, ...] = ("raw", "design") if ratings.weighted else ("raw",)
    for columns in groups:
        for stratum in scopes:
            for weighting in weightings:
                yield _view(ratings, columns, stratum, weighting)


def _view(ratings: Ratings, columns: tuple[int, ...], stratum: int | None, weighting: Weighting) -> _View:
    firsts = ratings.groups
    inside = np.ones(len(firsts), dtype=bool) if stratum is None else ratings.stratum[firsts] == stratum
    own = np.flatnonzero(inside)
    rows = ratings.codes[firsts[own]][:, list(columns)]
    codes, pattern = np.unique(rows, axis=0, return_inverse=True)
    order = np.argsort(pattern.reshape(-1), kind="stable")
    starts = np.searchsorted(pattern.reshape(-1)[order], np.arange(len(codes)))
    cells = np.ones(len(ratings.counts), dtype=bool) if stratum is None else ratings.stratum == stratum
    scale = ratings.counts[cells].sum() / (ratings.counts[cells] @ ratings.weights[cells])
    patterns = Patterns.of(codes, ratings.categories, ratings.positive)
    return _View(ratings, columns, stratum, weighting, own[order], starts, patterns, float(scale))


def _table(view: _View, sample: Groups, replicates: dict[str, Floats], level: float) -> AgreementTable:
    ratings = view.ratings
    counts = view.counts(sample)[0]
    found = {name: float(v[0]) for name, v in coefficients(view.patterns, view.scaled(sample)).items()}
    if not view.is_pair:
        found.pop(COHEN, None)
    defined = {name: value for name, value in found.items() if not np.isnan(value)}
    errors = standard_errors(view.patterns, counts, defined) if view.weighting == "raw" else {}
    none = StandardError(None, "no published formula is used; the bootstrap interval stands for it")
    rows = tuple(
        Coefficient(
            name,
            defined.get(name),
            None if name in defined else why_undefined(name, view.patterns),
            errors.get(name, none),
            percentile_interval(replicates[name], level) if name in defined else None,
        )
        for name in found
    )
    weighted = None if view.weighting == "raw" else _counts(view, view.weights(sample)[0])
    return AgreementTable(
        None if view.stratum is None else ratings.strata[view.stratum],
        view.weighting,
        None if ratings.raters is None else tuple(ratings.raters[c] for c in view.columns),
        _counts(view, counts, whole=True),
        weighted,
        rows,
    )


def _counts(view: _View, counts: Floats, *, whole: bool = False) -> Counts:
    def number(value: Any) -> float:
        return int(value) if whole else float(value)

    patterns, codes = view.patterns, view.patterns.codes
    usable = patterns.usable
    by_rater = positives = None
    by_positives: list[tuple[int, int, float]] = []
    if view.ratings.raters is not None:
        by_rater = tuple(number(counts @ (codes[:, r] != UNUSABLE)) for r in range(codes.shape[1]))
    if patterns.positive is not None:
        if view.ratings.raters is not None:
            positives = tuple(
                number(counts @ (codes[:, r] == patterns.positive)) for r in range(codes.shape[1])
            )
        positive = patterns.given[:, patterns.positive]
        for m, k in sorted({(int(m), int(k)) for m, k in zip(usable, positive, strict=True)}):
            by_positives.append((m, k, number(counts[(usable == m) & (positive == k)].sum())))
    crosstab = None
    if view.is_pair:
        q = range(len(patterns.categories))
        crosstab = tuple(
            tuple(number(counts[(codes[:, 0] == i) & (codes[:, 1] == j)].sum()) for j in q) for i in q
        )
    return Counts(
        number(counts.sum()),
        number(counts[usable >= 2].sum()),
        number(counts[usable == 1].sum()),
        number(counts[usable == 0].sum()),
        by_rater,
        positives,
        crosstab,
        tuple(by_positives),
    )
