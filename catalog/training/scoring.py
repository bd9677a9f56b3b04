"""Scoring the catalog with a release: its stored model, streamed over every work."""

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from catalog import screening_queries
from catalog.errors import CatalogError
from catalog.screening_pages import ModelPage
from catalog.training.package import MODEL
from classifiers.features.documents import Coverage
from classifiers.release import load
from classifiers.student import Model, Scores, score_frame
from schema.states import FileState, RowState

if TYPE_CHECKING:
    from catalog.store import Catalog


@dataclass(frozen=True)
class ScoredCatalog:
    """What became of every work: works = scored + no_text + no_known_terms; scored = new + known.

    `known` works had the same scores already. The others have none, which is unknown and not zero.
    """

    release: str
    status: str
    works: int
    scored: int
    new: int
    known: int
    no_text: int
    no_known_terms: int


def load_model(catalog: "Catalog", page: ModelPage) -> Model:
    """The model of a release from its stored files, each checked against its hash.

    Raises CatalogError where a file is missing or changed, ClassifierError where the model isn't one of
    this version.
    """
    files = [file for file in page.files if file.path.startswith(f"{MODEL}/")]
    if not files:
        raise CatalogError(
            f"release {page.release.id} has no model here, so it can't score; its scores came with a package"
        )
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            if catalog.objects.verify(file.sha256) is not FileState.MATCH:
                raise CatalogError(
                    f"the stored file {file.path} of release {page.release.id} is missing or was changed; "
                    "nothing is scored with it (`proofshelf audit` says more)"
                )
            shutil.copyfile(catalog.objects.path(file.sha256), Path(folder, Path(file.path).name))
        return load(Path(folder), page.release.version).model


def score_catalog(
    catalog: "Catalog", release: str, who: str, jobs: int, progress: Callable[..., None] | None = None
) -> ScoredCatalog:
    """Score every work and record the scores, batch by batch; they show when all are in."""
    connection = catalog.connection
    page = screening_queries.model_page(connection, release)
    model = load_model(catalog, page)
    instruments = [
        screening_queries.round_view(connection, r).round.instrument
        for r in (page.record or {}).get("rounds", ())
    ]
    coverage = Coverage.of(
        document for _, document in screening_queries.frame_documents(connection, page.study)
    )
    instrument: Any = instruments[0] if len(set(instruments)) == 1 else "unknown"
    documents = (document for _, document in screening_queries.frame_documents(connection, page.study))
    states: Counter[RowState] = Counter()

    def rows() -> Iterator[tuple[str, list[float | None]]]:
        columns = _columns(page, model)
        done = 0
        for batch in score_frame(model, documents, coverage, instrument, jobs=jobs):
            states.update(batch.states)
            values = _values(model, batch, page.release.decimals)
            for work, state, row in zip(batch.ids, batch.states, values, strict=True):
                if state is RowState.SCORABLE:
                    yield work, [None if c is None else row[c] for c in columns]
            done += len(batch.ids)
            if progress is not None:
                progress(f"{done:,} works", done, coverage.records)

    result = catalog.record_scores(release, rows(), who)
    return ScoredCatalog(
        release=release, status=page.release.status, works=coverage.records,
        scored=states[RowState.SCORABLE], new=result.works, known=result.known,
        no_text=states[RowState.NO_TEXT], no_known_terms=states[RowState.NO_KNOWN_TERMS],
    )  # fmt: skip


def _columns(page: ModelPage, model: Model) -> list[int | None]:
    """For each head and category of the release, its column of the model; None where it makes no scores."""
    at = {(head.side, head.category): column for column, head in enumerate(model.heads)}
    return [at.get((head.name, category)) for head in page.heads for category in head.categories]


def _values(model: Model, batch: Scores, decimals: int) -> list[list[float]]:
    """Calibrated probabilities, or plain logistic scores of heads without evidence, as they are stored."""
    calibrated = np.array([c is not None for c in model.calibrators])
    rounded = np.round(np.where(calibrated, batch.probability, batch.score), decimals)
    values: list[list[float]] = rounded.tolist()
    return values
