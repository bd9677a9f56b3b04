"""Labels that are known already, as a pool to simulate a screening on.

A record whose label is unknown is left out and counted: it is not irrelevant. So is one without text, and
one that can't be read, each under its own cause.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from catalog import queries, screening_queries
from catalog.errors import CatalogError
from catalog.screening_pages import RatingTable
from catalog.screening_statistics import panel_answer
from classifiers.active.pool import LabelledPool, draw_priors
from classifiers.active.simulate import Progress, Simulation, Strategy, simulate
from classifiers.features import Document
from ingest.labels import read_labels
from ingest.readers import read
from ingest.readers.table import NO_TITLE, untitled
from ingest.sources import only_text, open_source
from schema.states import Estimand, Status
from schema.work import Rejected, Work

TOLD = ("wss_at_95", "wss_at_100", "recall_after_10", "erf_after_10", "atd", "atd_normalised", "ndcg")
"""What is told of a simulation, in the order in which it is told."""
_SHOWN = 5


@dataclass(frozen=True)
class LeftOut:
    """Records that are no part of a pool, each counted once, by the first cause that holds.

    `unknown` have no usable label, `without_text` a label and neither title nor abstract, `rejected` a row
    or a label that can't be taken (`problems` says why of the first few), and `repeated` are further rows
    of a record with the same label.
    """

    unknown: int = 0
    without_text: int = 0
    rejected: int = 0
    repeated: int = 0
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Labelled:
    """A pool with where its labels come from. `ids` and `labels` are in the order of the source.
    `statuses` are those of the votes; a file's labels have none."""

    source: str
    question: str
    labels_by: str
    statuses: tuple[Status, ...]
    ids: tuple[str, ...]
    labels: tuple[bool, ...]
    left_out: LeftOut
    pool: LabelledPool


@dataclass(frozen=True)
class Arm:
    """One strategy with one simulation for each seed."""

    strategy: Strategy
    simulations: tuple[Simulation, ...]

    def mean(self, measure: str) -> float | None:
        """The mean of a measure over the seeds; None where a simulation doesn't have it."""
        values = [simulation.discovery.summary()[measure] for simulation in self.simulations]
        known = [float(value) for value in values if value is not None]
        return fmean(known) if len(known) == len(values) else None


def labelled_round(
    db: sqlite3.Connection, round_: str, category: str | None, rater: str | None, which: Estimand
) -> Labelled:
    """The works of a round with the label that its votes give: one rater's, or the panel's estimand."""
    table = screening_queries.rating_table(db, round_, category)
    columns = _columns(table, rater)
    works: list[str] = []
    labels: list[bool] = []
    for work, row in zip(table.works, table.votes, strict=True):
        label = panel_answer([row[c] for c in columns], which)
        if label is not None:
            works.append(work)
            labels.append(label)
    by = rater if rater is not None else f"{which} of {', '.join(table.raters)}"
    if not works:
        raise CatalogError(
            f"round {round_}: no work has a label by {by}; a panel gives one where all of it has voted"
        )
    documents = [document(work, queries.bibliographic_record(db, work)) for work in works]
    statuses = tuple(dict.fromkeys(table.statuses[c] for c in columns))
    question = "in scope" if category is None else category
    left_out = LeftOut(unknown=len(table.works) - len(works))
    return _labelled(f"round {round_}", question, by, statuses, labels, left_out, documents)


def labelled_file(path: Path, column: str | None) -> Labelled:
    """The records of a table that has a column of labels beside them, such as ASReview's data sets.

    A record without a title is read by its abstract.
    """
    texts: dict[int, Document] = {}
    refused: dict[int, str] = {}
    for record in read(path).records:
        if record.line is None:
            continue
        if isinstance(record, Rejected):
            refused[record.line] = record.reason
        else:
            texts[record.line] = document(record.key or f"line-{record.line}", record.work)
    texts |= _untitled(path, {text.id for text in texts.values()})
    found = read_labels(path, column)
    chosen: list[tuple[Document, bool]] = []
    problems = [(row.line, row.reason) for row in found.rejected]
    unknown = without_text = 0
    for row in found.rows:
        if row.value == "unknown":
            unknown += 1
        elif row.line in texts:
            chosen.append((texts[row.line], row.value == "included"))
        elif refused.get(row.line, "").startswith(NO_TITLE):
            without_text += 1
        else:
            problems.append((row.line, refused.get(row.line, "no record starts in this line")))
    if not chosen:
        raise CatalogError(f"{path.name}: no row has both a record and a label; expected a table with both")
    problems.sort(key=lambda problem: (problem[0] is None, problem[0] or 0))
    left_out = LeftOut(
        unknown, without_text, sum(line is not None for line, _ in problems), len(found.repeated),
        tuple(f"{path.name}{'' if n is None else f' line {n}'}: {why}" for n, why in problems[:_SHOWN]),
    )  # fmt: skip
    documents, labels = [text for text, _ in chosen], [label for _, label in chosen]
    return _labelled(path.name, found.column, "the file", (), labels, left_out, documents)


def _untitled(path: Path, taken: set[str]) -> dict[int, Document]:
    """Line -> the record of a row that has an abstract and no title."""
    found = {}
    with open_source(path).members() as members, only_text(members, path.name)[0].text() as text:
        for row in untitled(text):
            key = row.key if row.key and row.key not in taken else f"line-{row.line}"
            taken.add(key)
            found[row.line] = Document(
                id=key, abstract=row.abstract, venue=row.venue, topics=row.topics, field=row.field,
                language=row.language, type=row.type, year=row.year,
            )  # fmt: skip
    return found


def document(key: str, work: Work) -> Document:
    """A work as a classifier reads it."""
    return Document(
        id=key, title=work.title, abstract=work.abstract.text, venue=work.venue, topics=work.topics,
        field=work.field, language=work.language, type=work.type, year=work.year,
    )  # fmt: skip


def run_arm(
    labelled: Labelled, strategy: Strategy, seeds: Sequence[int], batch: int, progress: Progress | None = None
) -> Arm:
    """One simulation for each seed, from one relevant and one irrelevant record drawn by the seed."""
    done = []
    for seed in seeds:
        priors = draw_priors(labelled.ids, labelled.labels, seed)
        done.append(
            simulate(labelled.pool, priors, strategy=strategy, batch=batch, seed=seed, progress=progress)
        )
    return Arm(strategy, tuple(done))


def recall_chart(labelled: Labelled, arms: Sequence[Arm]) -> dict[str, Any]:
    """Recall against records read, one line for each arm and seed, as Vega-Lite; the values are inside."""
    values = [
        {
            "order": arm.strategy.value,
            "seed": simulation.seed,
            "records read": screened,
            "recall": found / simulation.discovery.relevant if simulation.discovery.relevant else None,
        }
        for arm in arms
        for simulation in arm.simulations
        for screened, found in simulation.discovery.curve()
    ]
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": f"Simulated screening of {labelled.source}: {labelled.question}",
        "description": "Share of the relevant records found, by the number of records read.",
        "width": 480,
        "height": 320,
        "data": {"values": values},
        "mark": {"type": "line", "interpolate": "step-after"},
        "encoding": {
            "x": {"field": "records read", "type": "quantitative", "title": "Records read, priors left out"},
            "y": {"field": "recall", "type": "quantitative", "title": "Recall", "scale": {"domain": [0, 1]}},
            "color": {"field": "order", "type": "nominal", "title": "Order"},
            "strokeDash": {"field": "order", "type": "nominal", "title": "Order"},
            "detail": {"field": "seed"},
        },
    }


def _columns(table: RatingTable, rater: str | None) -> list[int]:
    if rater is None:
        return list(range(len(table.raters)))
    if rater not in table.raters:
        raise CatalogError(
            f"{rater!r} is no rater of round {table.round}; expected one of {', '.join(table.raters)}"
        )
    return [table.raters.index(rater)]


def _labelled(
    source: str, question: str, by: str, statuses: tuple[Status, ...], labels: list[bool], left_out: LeftOut,
    documents: list[Document],
) -> Labelled:  # fmt: skip
    pool = LabelledPool.of(documents, labels)
    ids = tuple(document.id for document in documents)
    return Labelled(source, question, by, statuses, ids, tuple(labels), left_out, pool)
