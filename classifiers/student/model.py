"""A model that can score: linear heads, their names and their calibrators."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from classifiers.calibrators import Calibrator
from classifiers.features import Document
from classifiers.linear import Floats
from classifiers.student.crossfit import LinearHeads
from classifiers.student.parameters import HeadName
from schema.states import RowState


@dataclass(frozen=True)
class Scores:
    """What a model says of some records. A score ranks; it asserts no label.

    states (n,) : a record that isn't scorable has NaN throughout, never zero. log_odds (n, heads).
    probability (n, heads) : calibrated; NaN for a head without a calibrator.
    """

    ids: tuple[str, ...]
    states: tuple[RowState, ...]
    log_odds: Floats
    probability: Floats

    @property
    def score(self) -> Floats:
        """(n, heads) in 0 to 1: the logistic function of the log-odds, which is not a probability."""
        return np.asarray(expit(self.log_odds))


@dataclass(frozen=True)
class Model:
    """What scoring needs: linear heads with their names and, where there is evidence, calibrators."""

    heads: tuple[HeadName, ...]
    linear: LinearHeads
    calibrators: tuple[Calibrator | None, ...]

    def score(self, documents: Sequence[Document]) -> Scores:
        """Scores of n records. A record's numbers don't depend on the others."""
        batch = self.linear.features.batch(documents)
        log_odds = self.linear.log_odds(batch.matrix)
        usable = batch.scorable
        log_odds[~usable] = np.nan
        probability = np.full_like(log_odds, np.nan)
        for column, calibrator in enumerate(self.calibrators):
            if calibrator is not None and usable.any():
                probability[usable, column] = calibrator.predict(log_odds[usable, column])
        return Scores(batch.ids, batch.states, log_odds, probability)
