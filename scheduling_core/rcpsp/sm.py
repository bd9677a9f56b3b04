"""PSPLIB's `.sm`: sections with titles, fixed columns of whole numbers, jobs numbered from 1."""

from __future__ import annotations

import re
from collections.abc import Iterator

from scheduling_core.errors import SchedulingError
from scheduling_core.rcpsp.project import Jobs, Project, ProjectError

WHOLE = re.compile(r"[+-]?[0-9]{1,18}")


class _Lines:
    """Lines of a file by number, and sentences that name them. `at` is the last line that was looked at."""

    def __init__(self, text: str, name: str) -> None:
        self.lines = text.splitlines()
        self.name = name
        self.at = 1

    def wrong(self, line: int, what: str) -> SchedulingError:
        return SchedulingError(f"{self.name}, line {line}: {what}.")

    def whole(self, line: int, words: list[str]) -> list[int]:
        for word in words:
            if not WHOLE.fullmatch(word):
                raise self.wrong(line, f"{word!r} isn't a whole number of at most 18 digits")
        return [int(word) for word in words]

    def header(self, title: str) -> int:
        """The number after the colon of the line that begins with a title."""
        for number, line in enumerate(self.lines, 1):
            self.at = number
            found, colon, rest = line.strip().lstrip("- ").partition(":")
            if colon and found.strip().lower().startswith(title):
                value = self.whole(number, rest.split()[:1] or [""])[0]
                if value < 0:
                    raise self.wrong(number, f"{title} is {value}, expected at least 0")
                return value
        raise SchedulingError(f"{self.name} has no line '{title} : ...', expected one.")

    def section(self, title: str) -> Iterator[tuple[int, list[str]]]:
        """Number and words of each line of a section, after that of the column heads, up to the next rule."""
        first = next((k for k, line in enumerate(self.lines) if line.strip().upper().startswith(title)), None)
        if first is None:
            raise SchedulingError(f"{self.name} has no section {title}, expected one.")
        for number, line in enumerate(self.lines[first + 2 :], first + 3):
            self.at = number
            if line.startswith("***"):
                return
            if line.strip() and not line.startswith("---"):
                yield number, line.split()


def parse_sm(text: str, name: str) -> Project:
    """The project in the text of a file; `name` is for sentences. Raises SchedulingError with the line."""
    lines = _Lines(text, name)
    if lines.header("projects") != 1:
        raise lines.wrong(lines.at, f"there are {lines.header('projects')} projects, expected 1")
    jobs, kinds = lines.header("jobs"), lines.header("renewable")
    for title in ("nonrenewable", "doubly constrained"):
        if lines.header(title):
            raise lines.wrong(lines.at, f"there are {title} resources, expected only renewable ones")
    successors, arcs_at = _successors(lines, jobs)
    durations, demands, requests_at = _requests(lines, jobs, kinds)
    capacities, capacities_at = _capacities(lines, kinds)
    try:
        whole = Project(tuple(durations), tuple(demands), capacities, tuple(successors))
    except ProjectError as error:
        at = capacities_at
        if error.job is not None:
            at = (arcs_at if error.part == "successors" else requests_at)[error.job]
        raise SchedulingError(f"{name}, line {at}: {error}") from error
    return _without_ends(whole)


def _successors(lines: _Lines, jobs: int) -> tuple[list[Jobs], list[int]]:
    """Successors, and the line, of each job."""
    found: list[Jobs] = []
    at: list[int] = []
    for number, words in lines.section("PRECEDENCE RELATIONS"):
        row = lines.whole(number, words)
        if len(row) < 3 or row[0] != len(found) + 1:
            what = f"expected job {len(found) + 1}, its number of modes, of successors, and the successors"
            raise lines.wrong(number, what)
        job, modes, count, *after = row
        if modes != 1:
            raise lines.wrong(number, f"job {job} has {modes} modes, expected 1")
        if len(after) != count:
            raise lines.wrong(
                number, f"job {job} names {len(after)} successors, expected the {count} it says"
            )
        found.append(tuple(sorted(s - 1 for s in after)))
        at.append(number)
    if len(found) != jobs:
        raise lines.wrong(lines.at, f"the precedence ends after {len(found)} jobs, expected {jobs}")
    return found, at


def _requests(lines: _Lines, jobs: int, kinds: int) -> tuple[list[int], list[tuple[int, ...]], list[int]]:
    """Duration, demands and line of each job."""
    durations: list[int] = []
    demands: list[tuple[int, ...]] = []
    at: list[int] = []
    for number, words in lines.section("REQUESTS/DURATIONS"):
        row = lines.whole(number, words)
        if len(row) != 3 + kinds or row[:2] != [len(at) + 1, 1]:
            raise lines.wrong(number, f"expected job {len(at) + 1}, mode 1, its duration and {kinds} demands")
        durations.append(row[2])
        demands.append(tuple(row[3:]))
        at.append(number)
    if len(at) != jobs:
        raise lines.wrong(lines.at, f"the durations end after {len(at)} jobs, expected {jobs}")
    return durations, demands, at


def _capacities(lines: _Lines, kinds: int) -> tuple[tuple[int, ...], int]:
    """Capacities, and their line."""
    for number, words in lines.section("RESOURCEAVAILABILITIES"):
        row = lines.whole(number, words)
        if len(row) != kinds:
            raise lines.wrong(number, f"there are {len(row)} capacities, expected {kinds}")
        return tuple(row), number
    raise lines.wrong(lines.at, f"there are no capacities, expected {kinds}")


def _without_ends(whole: Project) -> Project:
    """Without the first and the last job, where they do nothing and are at the two ends of the precedence."""
    last = len(whole) - 1
    drop = {
        j
        for j, beyond in ((0, whole.predecessors[0]), (last, whole.successors[last]))
        if last > 1 and not beyond and whole.durations[j] == 0 and not any(whole.demands[j])
    }
    kept = [j for j in range(last + 1) if j not in drop]
    number = {j: k for k, j in enumerate(kept)}
    return Project(
        tuple(whole.durations[j] for j in kept),
        tuple(whole.demands[j] for j in kept),
        whole.capacities,
        tuple(tuple(number[s] for s in whole.successors[j] if s in number) for j in kept),
    )
