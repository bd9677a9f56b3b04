"""Agreement and prevalence of a round: its votes as `classifiers` takes them, with what they leave out.

A vote that wasn't cast, and one that isn't usable, is never a negative: both are missing, and counted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from catalog.errors import CatalogError
from catalog.screening_pages import NOT_CAST, Cell, RatingTable, SampleView
from classifiers.agreement import AgreementReport, agreement, ratings_from_matrix
from classifiers.prevalence import PrevalenceReport, Validation, counts_from_ratings, prevalence
from schema.states import Estimand, Status, estimand

RARE = 10
"""Positives below which one vote more or less moves kappa and percent agreement apart."""

ESTIMANDS: tuple[Estimand, ...] = ("unanimous", "majority", "any")
WHOLE = "all works"


@dataclass(frozen=True)
class RaterVotes:
    """One rater's votes on one question, counted: works = positive + negative + unusable + not_cast."""

    rater: str
    kind: str
    status: Status
    works: int
    positive: int
    negative: int
    unusable: int
    not_cast: int


@dataclass(frozen=True)
class QuestionAgreement:
    """Agreement on one question (`category` None: scope). Without a report, `undefined` says why."""

    round: str
    category: str | None
    works: int
    rated: int
    """Works with a vote of anyone."""
    raters: tuple[RaterVotes, ...]
    report: AgreementReport | None
    undefined: str | None
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class QuestionPrevalence:
    """Prevalence of one question by each rater, and by the panel's named estimands over works that the
    whole panel voted on. `frame` says what the share is of."""

    round: str
    category: str | None
    frame: str
    raters: tuple[RaterVotes, ...]
    reports: tuple[PrevalenceReport, ...]
    panel: tuple[PrevalenceReport, ...]
    warnings: tuple[str, ...]


def rater_votes(table: RatingTable) -> tuple[RaterVotes, ...]:
    """What each rater's votes come to."""
    return tuple(
        RaterVotes(
            rater, table.kinds[r], table.statuses[r], len(column),
            sum(cell is True for cell in column), sum(cell is False for cell in column),
            sum(cell is None for cell in column), sum(cell is NOT_CAST for cell in column),
        )
        for r, (rater, column) in enumerate(zip(table.raters, _columns(table), strict=True))
    )  # fmt: skip


def agreement_of(
    table: RatingTable, seed: int, replicates: int = 2000, by_stratum: bool = True
) -> QuestionAgreement:
    """Agreement on the works that anyone voted on, raw and (where the round has a sample) weighted."""
    counted = rater_votes(table)
    kept = [w for w, row in enumerate(table.votes) if any(cell is not NOT_CAST for cell in row)]
    warnings = _rare(counted)
    if table.weights is not None and any(cell is NOT_CAST for row in table.votes for cell in row):
        warnings += ("not every rater has voted on every work, so the weights don't add up to the frame yet",)
    undefined = None
    if len(table.raters) < 2:
        undefined = f"{len(table.raters)} rater; agreement needs two or more"
    elif not kept:
        undefined = "no vote yet"
    report = None
    if undefined is None:
        ratings = ratings_from_matrix(
            [[_usable(cell) for cell in table.votes[w]] for w in kept],
            table.raters,
            weights=None if table.weights is None else [table.weights[w] for w in kept],
            strata=None if table.strata is None or not by_stratum else [table.strata[w] for w in kept],
            ids=[table.works[w] for w in kept],
        )
        report = agreement(ratings, seed=seed, replicates=replicates)
    return QuestionAgreement(
        table.round, table.category, len(table.works), len(kept), counted, report, undefined, warnings
    )


def prevalence_of(table: RatingTable, sample: SampleView | None) -> QuestionPrevalence:
    """The share of positives in the frame of the round's sample; without a sample, among its own works.

    Works without a usable vote are unknown: the bounds say what they could change.
    """
    if not table.works:
        raise CatalogError(f"round {table.round} has no works yet: proofshelf screen manifest {table.round}")
    if sample is None or table.strata is None:
        strata: Sequence[str] = [WHOLE] * len(table.works)
        sizes: Mapping[str, int] = {WHOLE: len(table.works)}
        own = f"the {len(table.works):,} works of the round itself"
        frame = f"{own}: without a sample, nothing follows for others"
    else:
        strata = table.strata
        sizes = {row.stratum: row.frame_size for row in sample.strata}
        frame = f"the frame of sample {sample.design.id}, {sample.frame_size:,} works"
    rows = [[_usable(cell) for cell in row] for row in table.votes]
    counts = counts_from_ratings(rows, table.raters, strata, sizes)
    reports = tuple(prevalence(own, rater=rater) for rater, own in counts.items())
    panel: tuple[PrevalenceReport, ...] = ()
    if len(table.raters) > 1:
        names = [f"panel, {which}" for which in ESTIMANDS]
        merged = [[panel_answer(row, which) for which in ESTIMANDS] for row in table.votes]
        panel = tuple(
            prevalence(own, rater=rater)
            for rater, own in counts_from_ratings(merged, names, strata, sizes).items()
        )
    counted = rater_votes(table)
    return QuestionPrevalence(table.round, table.category, frame, counted, reports, panel, _rare(counted))


def validation_of(
    calls: RatingTable, rater: str, truth: RatingTable, which: Estimand = "majority"
) -> Validation:
    """How one rater's votes stand against those of the people in another round, on works in both.

    The people's usable votes are taken together by the named estimand. Raises CatalogError where no person
    voted there, ClassifierError where the works in both hold no positive or no negative.
    """
    people = [r for r, kind in enumerate(truth.kinds) if kind == "human"]
    if not people:
        raise CatalogError(f"round {truth.round}: no person votes in it, so it can't say what is true")
    column = calls.raters.index(rater)
    said = {work: _usable(row[column]) for work, row in zip(calls.works, calls.votes, strict=True)}
    tally = {(True, True): 0, (True, False): 0, (False, False): 0, (False, True): 0}
    for work, row in zip(truth.works, truth.votes, strict=True):
        known, called = estimand([_usable(row[r]) for r in people], which), said.get(work)
        if known is not None and called is not None:
            tally[known, called] += 1
    return Validation(tally[True, True], tally[True, False], tally[False, False], tally[False, True])


def validation_warnings(calls: RatingTable, truth: RatingTable) -> tuple[str, ...]:
    """What a correction by another round's votes takes for granted and these two rounds don't give."""
    said = []
    if set(calls.works) <= set(truth.works):
        said.append(
            f"round {truth.round} validates the very works that the share is of, and the error takes the two "
            "as drawn apart"
        )
    if truth.weights is not None and len(set(truth.weights)) > 1:
        said.append(
            f"the works of round {truth.round} were drawn with unequal weights, and sensitivity and "
            "specificity count each of them alike"
        )
    return tuple(said)


def _columns(table: RatingTable) -> list[tuple[Cell, ...]]:
    return [tuple(row[r] for row in table.votes) for r in range(len(table.raters))]


def _usable(cell: Cell) -> bool | None:
    return None if cell is NOT_CAST or cell is None else bool(cell)


def panel_answer(row: Sequence[Cell], which: Estimand) -> bool | None:
    """The estimand of a panel that has a cell for each rater; None while someone hasn't voted."""
    return estimand([_usable(cell) for cell in row if cell is not NOT_CAST], which, panel=len(row))


def _rare(counted: Sequence[RaterVotes]) -> tuple[str, ...]:
    few = [c for c in counted if c.positive < RARE and c.positive + c.negative]
    if not few:
        return ()
    said = ", ".join(f"{c.rater} {c.positive} of {c.positive + c.negative:,}" for c in few)
    return (
        f"rare: fewer than {RARE} positives ({said}); kappa and percent agreement mislead here, so read the "
        "counts",
    )
