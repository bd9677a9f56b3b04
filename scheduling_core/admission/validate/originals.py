"""Whether attempts are still those that were imported: none lost, doubled, changed, or scored by guess."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduling_core.admission.validate.findings import Kind, Violation
from scheduling_core.admission.validate.forms import attempt_faults

_OWN = ("id", "rank", "segments", "score")
"""Fields with a comparison of their own; ranks follow from the order."""


def well_formed(rows: Sequence[Any], name: str) -> tuple[list[Mapping[str, Any]], list[Violation]]:
    """The rows that are attempts, each id once; and what is wrong with the others.

    `name` begins their sentences, as in "Attempt 3".
    """
    good: list[Mapping[str, Any]] = []
    found: list[Violation] = []
    seen: set[str] = set()
    for position, row in enumerate(rows):
        faults = attempt_faults(row, f"{name} {position}")
        if faults:
            found += [Violation(Kind.FORM, None, None, fault) for fault in faults]
            continue
        if row["id"] in seen:
            found.append(
                Violation(
                    Kind.DUPLICATE, row["id"], None, f"{name} {row['id']} is there twice, expected once."
                )
            )
            continue
        seen.add(row["id"])
        good.append(row)
    return good, found


def validate_attempts(
    originals: Sequence[Mapping[str, Any]], attempts: Sequence[Mapping[str, Any]]
) -> tuple[Violation, ...]:
    """What differs between attempts and the rows that they were imported as; empty if nothing does.

    Compared are all fields but the rank, which is that among the attempts given. A score where the original
    has none is a violation, 0 not less than any other.
    """
    before, found = well_formed(originals, "Original")
    after, more = well_formed(attempts, "Attempt")
    found += more
    now = {row["id"]: row for row in after}
    place = {row["id"]: position for position, row in enumerate(before)}
    for row in before:
        if row["id"] not in now:
            found.append(_violation(Kind.LOST, row, "isn't among the attempts any more"))
        else:
            found += _differences(row, now[row["id"]])
    reached = -1
    for row in after:
        if row["id"] not in place:
            found.append(_violation(Kind.ADDED, row, "isn't among the originals"))
        elif place[row["id"]] < reached:
            found.append(_violation(Kind.ORDER, row, "comes after one that it preceded in the original"))
        reached = max(reached, place.get(row["id"], -1))
    return tuple(found)


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Violation]:
    found = [
        _violation(Kind.CHANGED, before, f"has {name} {after[name]!r}, the original {before[name]!r}")
        for name in before
        if name not in _OWN and after[name] != before[name]
    ]
    found += _segment_differences(before, after)
    old, new = before["score"], after["score"]
    if old is None and new is not None:
        found.append(
            _violation(
                Kind.SCORE, before, f"has score {new!r}, the original none: a missing score is no number"
            )
        )
    elif old != new:
        found.append(_violation(Kind.SCORE, before, f"has score {new!r}, the original {old!r}"))
    return found


def _segment_differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Violation]:
    old, new = before["segments"], after["segments"]
    if len(old) != len(new):
        sentence = f"has {len(new)} segments, the original {len(old)}"
        return [_violation(Kind.CHANGED, before, sentence)]
    return [
        _violation(Kind.CHANGED, before, f"has {b} as segment {position}, the original {a}")
        for position, (a, b) in enumerate(zip(old, new, strict=True))
        if a != b
    ]


def _violation(kind: Kind, row: Mapping[str, Any], what: str) -> Violation:
    return Violation(kind, row["id"], None, f"Attempt {row['id']} {what}.")
