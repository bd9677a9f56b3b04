"""Studies as rows: versions, raters, rounds, samples as drawn, chunk manifests."""

from dataclasses import dataclass


@dataclass(frozen=True)
class AddedStudy:
    """A study as it is here now. `rounds` are those that this version brought."""

    slug: str
    version: int
    sha256: str
    new: bool
    rounds: tuple[str, ...]


@dataclass(frozen=True)
class DrawnStratum:
    """One stratum: `drawn` of `frame_size` works, each standing for `weight` (None: none was drawn)."""

    stratum: str
    frame_size: int
    drawn: int
    weight: float | None


@dataclass(frozen=True)
class DrawnSample:
    """A sample as it was drawn. `frame_sha256` covers the ids of the frame."""

    slug: str
    frame_size: int
    frame_sha256: str
    strata: tuple[DrawnStratum, ...]
    drawn: int
    new: bool
