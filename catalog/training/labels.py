"""A study's votes as labels: one side for each rater, one head for each side and category."""

from collections.abc import Sequence
from dataclasses import dataclass

from catalog.errors import CatalogError
from catalog.screening_pages import NOT_CAST, Cell, TrainingRows, VoteColumn
from classifiers.features import Document
from classifiers.student import HeadName
from schema.screening import Rater
from schema.states import Status, vote_status


@dataclass(frozen=True)
class StudyLabels:
    """What a student learns from: for each work a document, a weight, a stratum and labels.

    `labels` has for each head one of 1, 0 or None (unknown) for each work. `sampled` says of each work
    whether its weight comes from a sample; one picked in another way stands for itself alone, with 1.
    """

    study: str
    rounds: tuple[str, ...]
    works: tuple[str, ...]
    documents: tuple[Document, ...]
    labels: dict[HeadName, list[int | None]]
    weights: list[float]
    sampled: list[bool]
    strata: dict[str, str]
    sides: tuple[Rater, ...]
    categories: tuple[str, ...]
    instruments: tuple[str, ...]

    @property
    def statuses(self) -> tuple[Status, ...]:
        """What the labels of each side are: a person's or a machine's."""
        return tuple(vote_status(side.kind) for side in self.sides)

    @property
    def panel(self) -> str:
        """The raters with their versions: the gate begins anew when it changes."""
        return "; ".join(f"{side.id} {side.version or ''}".strip() for side in self.sides)


def study_labels(
    rows: TrainingRows, rounds: Sequence[str] = (), raters: Sequence[str] = (), categories: Sequence[str] = ()
) -> StudyLabels:
    """The labels of the rounds and raters named, or of all of a study.

    Where a rater voted on a work in several rounds, the last round's usable vote counts. Raises
    CatalogError for names that the study doesn't have, and where nobody has voted.
    """
    columns = [c for c in rows.columns if not rounds or c.round in rounds]
    columns = [c for c in columns if not raters or c.rater.id in raters]
    _known("round", rounds, [c.round for c in rows.columns])
    _known("rater", raters, [c.rater.id for c in rows.columns])
    _known("category", categories, rows.categories)
    if not columns:
        raise CatalogError(
            f"nobody has voted in {rows.study} yet, so there is nothing to learn from; "
            "`proofshelf screen status` shows who is asked"
        )
    sides = {c.rater.id: c.rater for c in columns}
    wanted = [c for c in rows.categories if not categories or c in categories]
    labels = {
        HeadName(side, category): _labels(rows, [c for c in columns if c.rater.id == side], category)
        for side in sides
        for category in wanted
    }
    voted = [
        i for i in range(len(rows.works)) if any(column[i] is not None for column in labels.values())
        or any(c.scope[i] is not NOT_CAST for c in columns)
    ]  # fmt: skip
    weights = [_weight(columns, i) for i in voted]
    strata = {rows.works[i]: s for i in voted if (s := _stratum(columns, i)) is not None}
    return StudyLabels(
        study=rows.study,
        rounds=tuple(dict.fromkeys(c.round for c in columns)),
        works=tuple(rows.works[i] for i in voted),
        documents=tuple(rows.documents[i] for i in voted),
        labels={head: [values[i] for i in voted] for head, values in labels.items()},
        weights=[1.0 if w is None else w for w in weights],
        sampled=[w is not None for w in weights],
        strata=strata,
        sides=tuple(sides[name] for name in sides),
        categories=tuple(wanted),
        instruments=tuple(dict.fromkeys(c.instrument for c in columns)),
    )


def _labels(rows: TrainingRows, columns: Sequence[VoteColumn], category: str) -> list[int | None]:
    at = rows.categories.index(category)
    found: list[int | None] = [None] * len(rows.works)
    for column in columns:
        for i, votes in enumerate(column.votes):
            cell: Cell = votes[at]
            if cell is not NOT_CAST and cell is not None:
                found[i] = int(bool(cell))
    return found


def _weight(columns: Sequence[VoteColumn], work: int) -> float | None:
    weights = [c.weights[work] for c in columns if c.weights is not None]
    return next((w for w in reversed(weights) if w is not None), None)


def _stratum(columns: Sequence[VoteColumn], work: int) -> str | None:
    strata = [c.strata[work] for c in columns if c.strata is not None]
    return next((s for s in reversed(strata) if s is not None), None)


def _known(what: str, asked: Sequence[str], there: Sequence[str]) -> None:
    for name in asked:
        if name not in there:
            voted = ", ".join(dict.fromkeys(there)) or "none"
            raise CatalogError(f"{name!r} is no {what} with votes in the study; there are: {voted}")
