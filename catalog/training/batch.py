"""The next works to rate: where a release's sides differ, where its calls are unsure, and by chance."""

import hashlib
import sqlite3
from dataclasses import dataclass

import numpy as np

from catalog.errors import CatalogError
from catalog.frames import frame_fields, newest_study
from catalog.screening_queries import manifest, model_page, score_rows, study_page, training_rows
from classifiers.active.batches import Batch, BatchSizes, draw_batch, spread
from classifiers.decisions import threshold_uncertainty
from schema.base import canonical_json


@dataclass(frozen=True)
class NextBatch:
    """A batch, with all that it follows from: whoever has the same pool and scores draws the same.

    `pool` works of the frame are scored and neither rated nor in a round's manifest; `pool_sha256` is of
    their names in order. `thresholds` are those of the decision run `run`; None: it had none.
    """

    release: str
    version: str | None
    run: str
    pool: int
    pool_sha256: str
    batch: Batch


def next_batch(db: sqlite3.Connection, release: str, seed: int, size: int) -> NextBatch:
    """Draw the next batch for a release's study, in the published mix of 50 spread, 30 unsure, 20 by chance.

    With one side there is no spread: those places stay short, and the batch says so. Raises CatalogError
    where the release has scored nothing or called nothing yet, since uncertainty is about a call.
    """
    page = model_page(db, release)
    if page.study is None:
        raise CatalogError(f"release {release} wasn't trained here, so it has no study to draw a batch for")
    if not page.finished or not page.scored:
        raise CatalogError(
            f"release {release} has no scores yet; run `proofshelf classify score {release}` first"
        )
    if not page.runs:
        raise CatalogError(
            f"release {release} has called nothing yet, and uncertainty is about a call; "
            f"run `proofshelf classify decide {release}` first"
        )
    run = page.runs[0]
    taken = set(training_rows(db, page.study).works)
    for view in study_page(db, page.study).rounds:
        if view.has_manifest:
            taken |= {work for chunk in manifest(db, view.round.id) for work in chunk.works}
    sides = tuple(dict.fromkeys(head.name for head in page.heads))
    categories = tuple(dict.fromkeys(c for head in page.heads for c in head.categories))
    scores: dict[str, dict[tuple[str, str], float]] = {}
    for line in score_rows(db, release=release):
        if line.work not in taken:
            scores.setdefault(line.work, {})[line.head, line.category] = float(line.value)
    frame = {slug for _, slug, _ in frame_fields(db, newest_study(db, page.study))}
    pool = sorted(work for work in scores if work in frame)
    if not pool:
        raise CatalogError(
            f"every work that {release} scored is rated, or waits in a round: there is no pool"
        )
    cube = np.array(
        [[[scores[w].get((s, c), np.nan) for w in pool] for c in categories] for s in sides], dtype=np.float64
    )
    limits = np.array(
        [[run.thresholds.get(s, {}).get(c, np.nan) for c in categories] for s in sides], dtype=np.float64
    )
    unsure = threshold_uncertainty(cube.reshape(-1, len(pool)).T, limits.reshape(-1))
    batch = draw_batch(pool, spread(cube), unsure, seed=seed, sizes=BatchSizes().scaled(size))
    digest = hashlib.sha256(canonical_json(pool)).hexdigest()
    return NextBatch(release, page.release.version, run.run.id, len(pool), digest, batch)
