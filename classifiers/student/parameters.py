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
    C : the inverse of the penalty, for weights with a mean of 1. The default had the best log loss
        after calibration, or within 0.002 of it, on five public screening sets; larger ones cost time
        and gain nothing.
    balance : whether the classes weigh the same in the fit. Calibration undoes what it does to
        probabilities; on those sets it changed ranking by less than 0.002 of average precision.
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
