"""What a student is trained with, and what its heads are called."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from classifiers.calibration import FEWEST_FOLDS
from classifiers.errors import ClassifierError
from classifiers.features import TEXT, Features, check_use
from classifiers.linear import LogisticRegression

Progress = Callable[[int, int, str], None]
"""Called as each piece of work ends, with how many are done, how many there are, and what it was."""


class HeadName(NamedTuple):
    """A head imitates one side (a rater) in one category."""

    side: str
    category: str

    def __str__(self) -> str:
        return f"{self.side}/{self.category}"


@dataclass(frozen=True)
class Parameters:
    """Everything that decides a training beside its data and its seed.

    features : what is read of a record, see `classifiers.features`.
    min_df : in how many training records a term must occur.
    C : the inverse of the penalty, for weights with a mean of 1. Of 0.3, 1, 3, 10, 30 and 100, the default
        is the least whose log loss out of fold, after calibration, is within 0.2 % of the base rate's
        of the best one's (mean of five public screening sets with 45 to 101 positives).
    balance : whether the classes weigh the same in the fit. Calibration undoes what it does to
        probabilities; on those sets it moved average precision by 0.001.
    folds : K, at least 3.
    replicates : bootstrap replicates of each interval.
    """

    features: tuple[str, ...] = TEXT
    min_df: int = 2
    C: float = 10.0
    balance: bool = False
    folds: int = 5
    replicates: int = 1000

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", check_use(self.features))
        object.__setattr__(self, "C", float(self.C))
        Features(self.features, self.min_df)
        LogisticRegression(self.C)
        if self.folds < FEWEST_FOLDS:
            raise ClassifierError(f"the folds are {self.folds}; expected {FEWEST_FOLDS} or more")
        if self.replicates < 1:
            raise ClassifierError(f"the replicates are {self.replicates}; expected 1 or more")

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self) | {"features": list(self.features)}
