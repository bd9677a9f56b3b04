"""Who holds which GPUs, and whether a gang may be where the log puts it."""

from __future__ import annotations

from collections import Counter

from scheduling_core.queueing.check.findings import Finding, Kind
from scheduling_core.queueing.check.given import Given, Machines
from scheduling_core.queueing.check.log import Line


class Holdings:
    """GPUs that are held, in all and of each node."""

    def __init__(self, machines: Machines) -> None:
        self.machines = machines
        self.total = 0
        self._of_node: Counter[int] = Counter()
        self._places: dict[str, dict[int, int]] = {}

    def take(self, job: Given, line: Line) -> list[Finding]:
        """Give the job its GPUs; what is wrong with that."""
        place = line.place or {}
        found = self._place_faults(job, line)
        self.total += job.gpus
        if self.total > self.machines.gpus:
            had = f"{self.total - job.gpus} of {self.machines.gpus} are held"
            found.append(_fault(Kind.CAPACITY, line, f"it takes {job.gpus} GPUs, but {had}"))
        for node, gpus in place.items():
            self._of_node[node] += gpus
            if node < len(self.machines.nodes) and self._of_node[node] > self.machines.nodes[node][0]:
                had = f"{self._of_node[node] - gpus} of {self.machines.nodes[node][0]} are held"
                found.append(_fault(Kind.NODE, line, f"it takes {gpus} GPUs of node {node}, but {had}"))
        self._places[job.id] = place
        return found

    def give_back(self, job: Given) -> None:
        """Take its GPUs from the job."""
        self.total -= job.gpus
        self._of_node.subtract(self._places.pop(job.id))

    def _place_faults(self, job: Given, line: Line) -> list[Finding]:
        machines = self.machines
        if line.place is None:
            if not machines.alike:
                return [_fault(Kind.GANG, line, "no place is given, expected the nodes of its GPUs")]
            if job.gpu_type not in (None, machines.nodes[0][1]):
                sentence = f"it gets GPUs of type {machines.nodes[0][1]}, expected {job.gpu_type}"
                return [_fault(Kind.TYPE, line, sentence)]
            return []
        unknown = [node for node in line.place if node >= len(machines.nodes)]
        if unknown:
            there = f"expected one below {len(machines.nodes)}"
            return [_fault(Kind.NODE, line, f"there is no node {unknown[0]}, {there}")]
        found = []
        given = sum(line.place.values())
        if given != job.gpus:
            found.append(_fault(Kind.GANG, line, f"it gets {given} GPUs, expected all {job.gpus} or none"))
        kinds = sorted({machines.nodes[node][1] for node in line.place})
        if len(kinds) > 1 or job.gpu_type not in (None, kinds[0]):
            expected = job.gpu_type or "one type"
            found.append(
                _fault(Kind.TYPE, line, f"it gets GPUs of type {', '.join(kinds)}, expected {expected}")
            )
        elif machines.rule == "consolidated" and not _is_consolidated(line.place, machines, kinds[0]):
            expected = "one node where one can hold it, else whole nodes and at most one more"
            found.append(
                _fault(Kind.CONSOLIDATED, line, f"it is on {_told(line.place)}, expected {expected}")
            )
        return found


def _is_consolidated(place: dict[int, int], machines: Machines, kind: str) -> bool:
    """On one node where one of the type can hold the gang, else on largest nodes and the rest on one more."""
    gang, largest = sum(place.values()), machines.sizes(kind)[0]
    whole, rest = divmod(gang, largest)
    if gang <= largest:
        return len(place) == 1
    parts = sorted(place.values(), reverse=True)
    return parts == [largest] * whole + ([rest] if rest else [])


def _told(place: dict[int, int]) -> str:
    return ", ".join(f"{gpus} GPUs of node {node}" for node, gpus in place.items())


def _fault(kind: Kind, line: Line, what: str) -> Finding:
    return Finding(kind, line.job, line.time, f"At {line.time} job {line.job}: {what}.")
