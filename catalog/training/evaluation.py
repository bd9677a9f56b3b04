"""A release against votes that it didn't learn from: what its scores are worth on other works."""

import sqlite3
from dataclasses import dataclass

import numpy as np

from catalog.errors import CatalogError
from catalog.screening_pages import NOT_CAST
from catalog.screening_queries import (
    model_page,
    rating_table,
    round_view,
    score_rows,
    training_rows,
    works_voted,
)
from classifiers.folds import venue_groups
from classifiers.metrics.sample import Support, probabilities, support
from classifiers.metrics.summary import CellState, Metrics, cell_state, measure
from schema.states import Status, vote_status


@dataclass(frozen=True)
class HeadEvaluation:
    """One head against one rater's votes on works that the release never learned from.

    `left_out`: works with a vote that it learned from; `unscored`: without a score; `unknown`: whose
    vote says nothing. None of them is a negative, and none is in a figure. Without enough positives and
    negatives there are counts and no `metrics`.
    """

    head: str
    category: str
    rater: str
    rater_kind: str
    status: Status
    support: Support
    state: CellState
    left_out: int
    unscored: int
    unknown: int
    metrics: Metrics | None


def evaluate(db: sqlite3.Connection, release: str, round_: str, rater: str | None, seed: int) -> tuple[
    HeadEvaluation, ...
]:  # fmt: skip
    """Compare every head of a release with the votes of a round (of one rater, or of each).

    The round may be another study's: heads for categories that it asks for are compared. Works that the
    release learned from are those with a vote, in a round that it learned from, when it was trained.
    Design weights of the round's sample count. Raises CatalogError where the release has no scores, or
    no vote of the round is on a work that it didn't learn from.
    """
    page = model_page(db, release)
    if page.record is None or page.study is None:
        raise CatalogError(f"release {release} wasn't trained here, so what it learned from isn't known")
    if not page.finished or not page.scored:
        raise CatalogError(
            f"release {release} has no scores yet; run `proofshelf classify score {release}` first"
        )
    round_record = round_view(db, round_).round
    learned = works_voted(db, page.record["rounds"], page.record.get("last_vote"))
    scores: dict[tuple[str, str], dict[str, float]] = {}
    for line in score_rows(db, release=release):
        scores.setdefault((line.head, line.category), {})[line.work] = float(line.value)
    shared = [(name, given) for name, given in scores.items() if name[1] in round_record.categories]
    if not shared:
        raise CatalogError(
            f"round {round_} asks for none of the categories that {release} scores; it asks for: "
            f"{', '.join(round_record.categories)}"
        )
    documents = _groups(db, round_record.study)
    found: list[HeadEvaluation] = []
    cast = 0
    for (head, category), given in shared:
        table = rating_table(db, round_, category)
        for column, (name, kind) in enumerate(zip(table.raters, table.kinds, strict=True)):
            if rater is not None and name != rater:
                continue
            rows, left_out, unscored, unknown = [], 0, 0, 0
            for i, (work, votes) in enumerate(zip(table.works, table.votes, strict=True)):
                vote = votes[column]
                if vote is NOT_CAST:
                    continue
                cast += 1
                if work in learned:
                    left_out += 1
                elif vote is None:
                    unknown += 1
                elif work not in given:
                    unscored += 1
                else:
                    weight = 1.0 if table.weights is None else table.weights[i]
                    rows.append((given[work], bool(vote), weight, documents[work]))
            counted = support(np.array([r[1] for r in rows], bool), np.array([r[2] for r in rows], float))
            state = cell_state(counted)
            metrics = None
            if state == "available":
                made = probabilities([r[0] for r in rows], [r[1] for r in rows], [r[2] for r in rows],
                                     [r[3] for r in rows])  # fmt: skip
                metrics = measure(made, seed=seed)
            found.append(
                HeadEvaluation(head, category, name, kind, vote_status(kind), counted, state, left_out,
                               unscored, unknown, metrics)
            )  # fmt: skip
    if rater is not None and not found:
        raise CatalogError(f"{rater!r} is no rater of round {round_}")
    if not cast:
        whose = "" if rater is None else f" of {rater}"
        raise CatalogError(f"round {round_} has no vote{whose} yet, so there is nothing to compare with")
    if not any(e.support.records or e.unknown or e.unscored for e in found):
        raise CatalogError(
            f"every vote of round {round_} is on a work that {release} learned from: that would be a test on "
            "its own lessons; `proofshelf classify report` has its out-of-fold figures"
        )
    return tuple(found)


def _groups(db: sqlite3.Connection, study: str) -> dict[str, str]:
    """Venue groups of the works with a vote in a study: of the round's, which may be another than the
    release's."""
    rows = training_rows(db, study)
    return dict(zip(rows.works, venue_groups(rows.documents), strict=True))
