"""Drawing from a frame: the first n_h of each stratum in the order of SHA-256(id || salt).

The order needs no random numbers and is fixed for good, so a larger sample contains a smaller one, and
anyone can draw it again. Each record of a stratum has the inclusion probability n_h / N_h and the weight
N_h / n_h, kept as exact fractions.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from classifiers.errors import ClassifierError
from classifiers.sampling.frame import Frame
from classifiers.sampling.order import hash_keys
from schema.study import SamplingDesign


@dataclass(frozen=True)
class DrawnStratum:
    """One stratum of a sample: records in the frame and drawn. None drawn is allowed, and has no weight."""

    name: str
    frame_size: int
    drawn: int

    @property
    def inclusion(self) -> Fraction:
        """Inclusion probability of each of its records, n_h / N_h."""
        return Fraction(self.drawn, self.frame_size)

    @property
    def weight(self) -> Fraction | None:
        """Design weight of each record drawn, N_h / n_h."""
        return Fraction(self.frame_size, self.drawn) if self.drawn else None


@dataclass(frozen=True)
class DrawnRecord:
    """One record of a sample. `position` counts from 1 in the order of its stratum."""

    id: str
    stratum: str
    position: int
    inclusion: Fraction
    weight: Fraction


@dataclass(frozen=True)
class Sample:
    """A sample as drawn: strata in the design's order, and their records, stratum by stratum."""

    salt: str
    frame_sha256: str
    strata: tuple[DrawnStratum, ...]
    records: tuple[DrawnRecord, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON; weights exact as "N/n" and as a number."""
        return {
            "salt": self.salt,
            "frame_sha256": self.frame_sha256,
            "strata": [
                {"name": s.name, "frame_size": s.frame_size, "drawn": s.drawn} | _weight(s.weight)
                for s in self.strata
            ],
            "records": [
                {"id": r.id, "stratum": r.stratum, "position": r.position, "inclusion": float(r.inclusion)}
                | _weight(r.weight)
                for r in self.records
            ],
        }


def draw(frame: Frame, design: SamplingDesign) -> Sample:
    """Draw what a design asks for: `draw` records of each stratum, all of it where that is None.

    Raises
    ------
    ClassifierError : where the frame's strata aren't the design's, or a stratum has fewer records than asked.
    """
    if frame.strata != tuple(s.id for s in design.strata):
        raise ClassifierError(
            f"the frame has the strata {', '.join(frame.strata)}, "
            f"expected those of {design.id}: {', '.join(s.id for s in design.strata)}"
        )
    members: list[list[str]] = [[] for _ in frame.strata]
    for name, own in zip(frame.ids, frame.stratum, strict=True):
        members[own].append(name)
    strata: list[DrawnStratum] = []
    records: list[DrawnRecord] = []
    for asked, own_ids in zip(design.strata, members, strict=True):
        n = len(own_ids) if asked.draw is None else asked.draw
        if n > len(own_ids):
            raise ClassifierError(
                f"stratum {asked.id} has {len(own_ids)} records, fewer than the {n} to draw; "
                "ask for fewer, or leave `draw` out to take all"
            )
        stratum = DrawnStratum(asked.id, len(own_ids), n)
        strata.append(stratum)
        first = heapq.nsmallest(n, hash_keys(own_ids, design.salt))
        records += [
            DrawnRecord(name, asked.id, position, stratum.inclusion, Fraction(len(own_ids), n))
            for position, (_, name) in enumerate(first, start=1)
        ]
    return Sample(design.salt, frame.sha256, tuple(strata), tuple(records))


def check_extension(before: Sample, after: Sample) -> None:
    """Refuse an extension that lost a record of the sample it extends.

    Raises
    ------
    ClassifierError : with the first id that is missing or in another stratum, and how many there are.
    """
    now = {r.id: r.stratum for r in after.records}
    lost = [r for r in before.records if now.get(r.id) != r.stratum]
    if lost:
        more = f" (and {len(lost) - 1} more)" if len(lost) > 1 else ""
        raise ClassifierError(
            f"record {lost[0].id} of stratum {lost[0].stratum} isn't in the extended sample{more}; "
            "expected the same salt and frame, and as many records or more from each stratum"
        )


def _weight(weight: Fraction | None) -> dict[str, Any]:
    if weight is None:
        return {"weight": None, "weight_exact": None}
    return {"weight": float(weight), "weight_exact": f"{weight.numerator}/{weight.denominator}"}
