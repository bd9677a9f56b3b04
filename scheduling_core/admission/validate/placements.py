"""Segments at explicit times: those that follow from starts, and whether given ones are the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from scheduling_core.admission.validate.findings import Kind, Violation
from scheduling_core.admission.validate.forms import placement_faults


class Placed(NamedTuple):
    """A segment at its time, half-open."""

    start: int
    end: int
    kind: str


def from_starts(attempts: Sequence[Mapping[str, Any]], starts: Sequence[int]) -> list[list[Placed]]:
    """For each attempt its segments, one behind the other from its start."""
    placed = []
    for row, start in zip(attempts, starts, strict=True):
        line = []
        for kind, ticks in row["segments"]:
            line.append(Placed(start, start + ticks, kind))
            start += ticks
        placed.append(line)
    return placed


def from_rows(
    attempts: Sequence[Mapping[str, Any]], starts: Sequence[int], rows: Sequence[Mapping[str, Any]]
) -> tuple[list[list[Placed]], list[Violation]]:
    """For each attempt the segments that rows give it, in order of time; and what is wrong with them.

    Rows are {attempt, kind, start, end} in any order. They must be the segments of the attempts, each from
    its start without gap and overlap. Attempts without a row have an empty list.
    """
    lines: dict[str, list[Placed]] = {row["id"]: [] for row in attempts}
    found: list[Violation] = []
    for position, row in enumerate(rows):
        faults = placement_faults(row, f"Placement {position}")
        found += [Violation(Kind.FORM, None, None, fault) for fault in faults]
        if faults:
            continue
        if row["attempt"] not in lines:
            sentence = f"Placement {position}: there is no attempt {row['attempt']}."
            found.append(Violation(Kind.ADDED, row["attempt"], row["start"], sentence))
            continue
        lines[row["attempt"]].append(Placed(row["start"], row["end"], row["kind"]))
    placed = [sorted(lines[row["id"]]) for row in attempts]
    for row, start, line in zip(attempts, starts, placed, strict=True):
        found += _line_faults(row, start, line)
    return placed, found


def _line_faults(row: Mapping[str, Any], start: int, line: Sequence[Placed]) -> list[Violation]:
    name = row["id"]
    if not line:
        return [Violation(Kind.LOST, name, None, f"Attempt {name} has no placed segment.")]
    found = []
    if line[0].start != start:
        sentence = f"Attempt {name} is placed from tick {line[0].start}, its start is {start}."
        found.append(Violation(Kind.STARTS, name, line[0].start, sentence))
    reached = line[0].start
    for segment in line:
        if segment.start < reached:
            sentence = (
                f"Attempt {name}: a segment begins at tick {segment.start}, one before it ends at {reached}."
            )
            found.append(Violation(Kind.OVERLAP, name, segment.start, sentence))
        elif segment.start > reached:
            sentence = f"Attempt {name}: nothing is placed from tick {reached} to {segment.start}."
            found.append(Violation(Kind.GAP, name, reached, sentence))
        reached = max(reached, segment.end)
    given = [[segment.kind, segment.end - segment.start] for segment in line]
    wanted = row["segments"]
    if len(given) != len(wanted):
        sentence = f"Attempt {name} has {len(given)} placed segments, expected {len(wanted)}."
        found.append(Violation(Kind.SEGMENTS, name, None, sentence))
    for position, (have, want) in enumerate(zip(given, wanted, strict=False)):
        if have != want:
            sentence = f"Attempt {name}, segment {position}: {have} is placed, expected {want}."
            found.append(Violation(Kind.SEGMENTS, name, line[position].start, sentence))
            break
    return found
