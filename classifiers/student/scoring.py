"""Scoring a frame: batch by batch, on as many cores as there are, in memory that doesn't grow."""

from collections.abc import Iterable, Iterator
from itertools import islice

from joblib import Parallel, delayed, effective_n_jobs

from classifiers.features import Coverage, Document, batches, check_served
from classifiers.student.model import Model, Scores
from classifiers.student.packing import Packed, pack, unpack
from schema.screening import Instrument

BATCH = 1000
IN_FLIGHT = 8
"""Batches that each process has before it while results are read: more would only take memory."""


def score_frame(
    model: Model,
    documents: Iterable[Document],
    coverage: Coverage,
    instrument: Instrument = "unknown",
    *,
    jobs: int = 1,
    size: int = BATCH,
) -> Iterator[Scores]:
    """Score a frame of any length, in order, `size` records at a time.

    `coverage` says which features the frame has; counting it takes one pass, which a database does
    faster than we. With several `jobs` processes the bytes are the same as with one.

    Raises ClassifierError, before anything is scored, for a feature that the frame can't serve.
    """
    check_served(model.linear.features.use, coverage, instrument)
    return _scored(model, batches(documents, size), jobs)


def _scored(model: Model, parts: Iterator[list[Document]], jobs: int) -> Iterator[Scores]:
    if jobs == 1:
        yield from map(model.score, parts)
        return
    packed = pack(model)
    length = effective_n_jobs(jobs) * IN_FLIGHT
    with Parallel(n_jobs=jobs, return_as="generator", batch_size=1, pre_dispatch="all") as parallel:
        wave = list(islice(parts, length))
        while wave:
            results = parallel(delayed(_score)(packed, part) for part in wave)
            wave = list(islice(parts, length))  # read on while the processes work
            yield from results


def _score(packed: Packed, part: list[Document]) -> Scores:
    return unpack(packed).score(part)
