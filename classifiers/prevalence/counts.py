"""What a sample found in each stratum: counts that were published, or counted from ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from classifiers.errors import ClassifierError


@dataclass(frozen=True)
class StratumCounts:
    """One stratum: records in the frame and sampled, and of these the positive and the unusable ones.

    `unknown` records were sampled and couldn't be judged: they are neither positive nor negative.

    Raises
    ------
    ClassifierError : where a count is no whole number or more than it is a part of.
    """

    name: str
    frame: int
    sampled: int
    positive: int
    unknown: int = 0

    def __post_init__(self) -> None:
        """Refuse counts that can't be."""
        for what in ("frame", "sampled", "positive", "unknown"):
            value = getattr(self, what)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
                raise ClassifierError(
                    f"stratum {self.name}: {what} is {value!r}, expected a whole number of 0 or more"
                )
            object.__setattr__(self, what, int(value))
        if self.frame == 0:
            raise ClassifierError(
                f"stratum {self.name}: there is no record in its frame; expected at least one"
            )
        if self.sampled > self.frame:
            raise ClassifierError(
                f"stratum {self.name}: {self.sampled} records sampled of the {self.frame} in its frame"
            )
        if self.positive + self.unknown > self.sampled:
            raise ClassifierError(
                f"stratum {self.name}: {self.positive} positive and {self.unknown} unknown records "
                f"among {self.sampled} sampled"
            )

    @property
    def usable(self) -> int:
        """Records that could be judged."""
        return self.sampled - self.unknown


def counts_from_ratings(
    values: Sequence[Sequence[bool | None]],
    raters: Sequence[str],
    strata: Sequence[str],
    frame: Mapping[str, int],
) -> dict[str, tuple[StratumCounts, ...]]:
    """Counts for each rater, from ratings (records x raters), None where a record couldn't be judged.

    `strata` names the stratum of each record, `frame` the number of records in each stratum's frame, in
    the order in which strata are to stand.

    Raises
    ------
    ClassifierError : for a rating that is no bool or None, a row of another length, or a stratum that the
        frame doesn't have.
    """
    if len(set(raters)) != len(raters) or not raters:
        raise ClassifierError(f"the raters are {list(raters)}, expected one or more, each once")
    if len(strata) != len(values):
        raise ClassifierError(
            f"there are {len(strata)} strata for {len(values)} records; expected one for each"
        )
    tally = {name: np.zeros((3, len(raters)), dtype=np.int64) for name in frame}
    columns = np.arange(len(raters))
    place = {False: 0, True: 1, None: 2}
    for number, (row, stratum) in enumerate(zip(values, strata, strict=True), start=1):
        if stratum not in tally:
            raise ClassifierError(f"record {number} is of stratum {stratum!r}, which the frame doesn't have")
        if len(row) != len(raters):
            raise ClassifierError(f"record {number} has {len(row)} ratings, expected {len(raters)}")
        for rater, value in zip(raters, row, strict=True):
            if value is not None and not isinstance(value, bool | np.bool_):
                raise ClassifierError(
                    f"record {number}: rater {rater} says {value!r}, expected True, False, "
                    "or None for an unusable rating"
                )
        tally[stratum][[place[None if v is None else bool(v)] for v in row], columns] += 1
    return {
        rater: tuple(
            StratumCounts(name, frame[name], int(t[:, r].sum()), int(t[1, r]), int(t[2, r]))
            for name, t in tally.items()
        )
        for r, rater in enumerate(raters)
    }
