"""What a log is checked against: plain rows of jobs, and the cluster as nodes and a rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduling_core.errors import SchedulingError

RULES = ("count", "spread", "consolidated")


@dataclass(frozen=True)
class Given:
    """One job: times in ticks of the log, restart the ticks that each resumption costs."""

    id: str
    submit: int
    gpus: int
    duration: int
    deadline: int | None
    gpu_type: str | None
    restart: int


@dataclass(frozen=True)
class Machines:
    """Nodes (GPUs, type) and the rule by which gangs are put onto them."""

    nodes: tuple[tuple[int, str], ...]
    rule: str

    @property
    def gpus(self) -> int:
        """All GPUs."""
        return sum(gpus for gpus, _ in self.nodes)

    @property
    def alike(self) -> bool:
        """Whether it doesn't matter which GPUs a gang has, so that a log needn't say."""
        return self.rule == "count" and len({kind for _, kind in self.nodes}) == 1

    def sizes(self, kind: str) -> list[int]:
        """GPUs of each node of a type, largest first."""
        return sorted((gpus for gpus, other in self.nodes if other == kind), reverse=True)

    def can_hold(self, job: Given) -> bool:
        """Whether the job could run if it were alone."""
        kinds = {kind for _, kind in self.nodes} if job.gpu_type is None else {job.gpu_type}
        return any(self._has_room(job.gpus, self.sizes(kind)) for kind in kinds)

    def _has_room(self, gang: int, sizes: Sequence[int]) -> bool:
        if self.rule != "consolidated" or not sizes or gang <= sizes[0]:
            return gang <= sum(sizes)
        whole, rest = divmod(gang, sizes[0])
        if sizes.count(sizes[0]) < whole:
            return False
        return rest == 0 or any(size >= rest for size in sizes[whole:])


def machines_of(nodes: Sequence[tuple[int, str]], rule: str) -> Machines:
    """The cluster.

    Raises
    ------
    SchedulingError : for a rule that isn't known, or nodes that aren't (GPUs, type).
    """
    if rule not in RULES:
        raise SchedulingError(f"There is no placement {rule!r}, expected one of {', '.join(RULES)}.")
    for number, node in enumerate(nodes):
        if (
            not isinstance(node, list | tuple)
            or len(node) != 2
            or not _whole(node[0], 1)
            or not isinstance(node[1], str)
        ):
            raise SchedulingError(f"Node {number} is {node!r}, expected (GPUs above 0, type).")
    if not nodes:
        raise SchedulingError("A cluster needs at least one node.")
    return Machines(tuple((gpus, kind) for gpus, kind in nodes), rule)


def jobs_of(rows: Sequence[Mapping[str, Any]], restarts: Mapping[str, int]) -> dict[str, Given]:
    """Jobs by id, in the order of the rows.

    Raises
    ------
    SchedulingError : for a row that isn't a job, an id that comes twice, a restart of no job.
    """
    found: dict[str, Given] = {}
    for number, row in enumerate(rows, 1):
        job = _job(number, row, restarts)
        if job.id in found:
            raise SchedulingError(f"Row {number}: there is a job {job.id!r} above, expected ids once.")
        found[job.id] = job
    for name in restarts:
        if name not in found:
            raise SchedulingError(f"There is a restart cost for {name!r}, which is no job.")
    return found


def _job(number: int, row: Mapping[str, Any], restarts: Mapping[str, int]) -> Given:
    name = row.get("id")
    if not isinstance(name, str):
        raise SchedulingError(f"Row {number}: id is {name!r}, expected a text.")
    for field, least in (("submit", 0), ("gpus", 1), ("duration", 1)):
        if not _whole(row.get(field), least):
            expected = f"a whole number from {least}"
            raise SchedulingError(
                f"Row {number}, job {name}: {field} is {row.get(field)!r}, expected {expected}."
            )
    deadline, kind, restart = row.get("deadline"), row.get("gpu_type"), restarts.get(name, 0)
    if deadline is not None and not _whole(deadline, 0):
        raise SchedulingError(f"Row {number}, job {name}: deadline is {deadline!r}, expected a whole number.")
    if kind is not None and not isinstance(kind, str):
        raise SchedulingError(f"Row {number}, job {name}: gpu_type is {kind!r}, expected a text.")
    if not _whole(restart, 0):
        raise SchedulingError(f"Job {name}: a restart costs {restart!r}, expected a whole number of ticks.")
    return Given(name, row["submit"], row["gpus"], row["duration"], deadline, kind, restart)


def _whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least
