"""A sampling frame: every record that can be drawn, each in exactly one stratum, and its hash."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from classifiers.errors import ClassifierError
from classifiers.sampling.rules import Otherwise, Rule, parse_rule
from schema.base import canonical_json
from schema.study import SamplingDesign

_AT_ONCE = 10_000


@dataclass(frozen=True, eq=False)
class Frame:
    """Ids in order, and for each the position of its stratum in `strata`.

    `outside` records were looked at, but a design's rule for the frame left them out.
    """

    strata: tuple[str, ...]
    ids: tuple[str, ...]
    stratum: tuple[int, ...]
    outside: int = 0

    @property
    def sizes(self) -> dict[str, int]:
        """Number of records of each stratum."""
        counts = [0] * len(self.strata)
        for position in self.stratum:
            counts[position] += 1
        return dict(zip(self.strata, counts, strict=True))

    def members(self, stratum: str) -> list[str]:
        """Ids of one stratum, in order."""
        position = self.strata.index(stratum)
        return [name for name, own in zip(self.ids, self.stratum, strict=True) if own == position]

    @property
    def sha256(self) -> str:
        """SHA-256 of the canonical JSON of [[id, stratum], ...], sorted by id."""
        digest = hashlib.sha256(b"[")
        for start in range(0, len(self.ids), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            pairs = [
                [name, self.strata[own]] for name, own in zip(self.ids[part], self.stratum[part], strict=True)
            ]
            digest.update((b"," if start else b"") + canonical_json(pairs)[1:-1])
        digest.update(b"]")
        return digest.hexdigest()


def frame_by_rules(records: Iterable[tuple[str, Mapping[str, Any]]], design: SamplingDesign) -> Frame:
    """The frame of (id, fields) by the rules of a design.

    With `overlap` of 'first', a record that fits several strata goes to the first of them. Records carry
    their missing fields as None: a field that no record has is taken for a misspelt name.

    Raises
    ------
    ClassifierError : for a stratum without a rule or with a wrong one, a field that no record has, a value
        that a rule can't compare, an id that is there twice, a record that fits no stratum or (unless
        overlap is 'first') several, a stratum without a record.
    """
    rules = _rules(design)
    frame_rule = None if design.frame is None else parse_rule(design.frame, "the frame")
    if isinstance(frame_rule, Otherwise):
        raise ClassifierError(
            "the frame: `otherwise` is for a stratum; leave the frame's rule out to take all"
        )
    unseen = {name for rule in [*rules, *([frame_rule] if frame_rule else [])] for name in rule.fields}
    asked = [(n, rule) for n, rule in enumerate(rules) if not isinstance(rule, Otherwise)]
    rest = [n for n, rule in enumerate(rules) if isinstance(rule, Otherwise)]
    found: list[tuple[str, int]] = []
    unplaced: list[str] = []
    overlapping: list[tuple[str, int, int]] = []
    outside = 0
    for name, fields in records:
        if unseen:
            unseen.difference_update(fields)
        try:
            if frame_rule is not None and not frame_rule.matches(fields):
                outside += 1
                continue
            fits = _fits(asked, rest, fields, design.overlap == "first")
        except ClassifierError as error:
            raise ClassifierError(f"record {name}: {error}") from None
        if not fits:
            unplaced.append(name)
        elif len(fits) > 1:
            overlapping.append((name, fits[0], fits[1]))
        else:
            found.append((name, fits[0]))
    strata = tuple(s.id for s in design.strata)
    if unseen and (found or unplaced or overlapping or outside):
        raise ClassifierError(f"no record has a field {min(unseen)!r}, which a rule of {design.id} asks for")
    if overlapping:
        name, first, second = min(overlapping)
        raise ClassifierError(
            f"record {name} fits the strata {strata[first]} and {strata[second]}{_more(overlapping)}; "
            "expected exactly one, or overlap = 'first'"
        )
    if unplaced:
        raise ClassifierError(
            f"record {min(unplaced)} fits no stratum{_more(unplaced)}; expected exactly one, "
            'such as one with the rule {"otherwise": true}'
        )
    return _frame(strata, found, outside)


def frame_by_table(rows: Iterable[tuple[str, str]], strata: Sequence[str]) -> Frame:
    """The frame of (id, stratum) as given, with its strata in the order of `strata`.

    Raises
    ------
    ClassifierError : for a stratum that isn't among them, an id that is there twice, a stratum without a
        record.
    """
    place = {name: position for position, name in enumerate(strata)}
    if len(place) != len(strata):
        raise ClassifierError(f"the strata are {list(strata)}, expected each once")
    found: list[tuple[str, int]] = []
    foreign: list[tuple[str, str]] = []
    for name, stratum in rows:
        if stratum in place:
            found.append((name, place[stratum]))
        else:
            foreign.append((name, stratum))
    if foreign:
        name, stratum = min(foreign)
        raise ClassifierError(
            f"record {name} is of stratum {stratum!r}{_more(foreign)}; expected one of {', '.join(strata)}"
        )
    return _frame(tuple(strata), found, 0)


def _rules(design: SamplingDesign) -> list[Rule]:
    without = [s.id for s in design.strata if s.where is None]
    if without:
        raise ClassifierError(
            f"stratum {without[0]} of {design.id} has no rule; expected one, or a table of ids and strata"
        )
    rules = [parse_rule(s.where, f"stratum {s.id}") for s in design.strata]
    rest = [position for position, rule in enumerate(rules) if isinstance(rule, Otherwise)]
    if len(rest) > 1:
        raise ClassifierError(
            f"strata {design.strata[rest[0]].id} and {design.strata[rest[1]].id} both take the rest; "
            "expected one `otherwise`"
        )
    return rules


def _fits(
    rules: Sequence[tuple[int, Rule]], rest: Sequence[int], fields: Mapping[str, Any], first: bool
) -> Sequence[int]:
    """Positions of the strata that a record fits, only the `first` of them where that decides.

    The rest takes a record that fits no other stratum.
    """
    if first:
        return next(((n,) for n, rule in rules if rule.matches(fields)), rest)
    return [n for n, rule in rules if rule.matches(fields)] or rest


def _frame(strata: tuple[str, ...], found: list[tuple[str, int]], outside: int) -> Frame:
    wrong = [name for name, _ in found if not _valid_id(name)]
    if wrong:
        raise ClassifierError(f"record {wrong[0]!r}: its id isn't valid, expected text of valid Unicode")
    found.sort()
    twice = [one for (one, _), (other, _) in pairwise(found) if one == other]
    if twice:
        raise ClassifierError(f"record {twice[0]} is there twice{_more(twice)}; expected each id once")
    frame = Frame(strata, tuple(name for name, _ in found), tuple(own for _, own in found), outside)
    empty = [name for name, size in frame.sizes.items() if size == 0]
    if empty:
        raise ClassifierError(
            f"stratum {empty[0]} has no record{_more(empty, 'strata')}; expected at least one"
        )
    return frame


def _more(offending: Sequence[object], what: str = "records") -> str:
    return f", the first of {len(offending)} such {what}" if len(offending) > 1 else ""


def _valid_id(name: object) -> bool:
    """Whether an id can be hashed: a text that isn't empty and holds no half of a surrogate pair."""
    if not isinstance(name, str) or not name:
        return False
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
