"""The cluster: nodes with GPUs of a type, and the rule by which gangs are put onto them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.jobs import Job


class Placement(StrEnum):
    """Where the GPUs of a gang may be.

    count : any free GPUs. spread : any free GPUs of one type, from the emptiest nodes.
    consolidated : a gang that a node can hold is on one node (the fullest that has room); a larger one has
    whole nodes, and its rest on one more.
    """

    COUNT = "count"
    SPREAD = "spread"
    CONSOLIDATED = "consolidated"


@dataclass(frozen=True)
class Node:
    """GPUs that are in one machine, all of one type."""

    gpus: int
    gpu_type: str = "gpu"


@dataclass(frozen=True)
class Cluster:
    """Nodes in order, at least one GPU in each."""

    nodes: tuple[Node, ...]
    placement: Placement = Placement.COUNT

    def __post_init__(self) -> None:
        if not self.nodes or any(node.gpus < 1 for node in self.nodes):
            raise SchedulingError("A cluster needs nodes with at least one GPU each.")

    @property
    def gpus(self) -> int:
        """All GPUs."""
        return sum(node.gpus for node in self.nodes)

    @property
    def types(self) -> tuple[str, ...]:
        """Types of GPU, in the order of the nodes: a job that can use any asks them in this order."""
        return tuple(dict.fromkeys(node.gpu_type for node in self.nodes))

    def refusal(self, job: Job) -> str | None:
        """Why this job can never run here; None where it can."""
        if job.gpu_type is not None and job.gpu_type not in self.types:
            return f"job {job.id} needs GPUs of type {job.gpu_type}, expected one of {', '.join(self.types)}"
        kinds = self.types if job.gpu_type is None else (job.gpu_type,)
        most = max(self._largest_gang(kind) for kind in kinds)
        if job.gpus > most:
            what = "the cluster has" if len(self.types) == 1 else "of one type the cluster has"
            if self.placement is Placement.CONSOLIDATED:
                what = "consolidated it can have"
            return f"job {job.id} asks for {job.gpus} GPUs, {what} {most}"
        return None

    def _largest_gang(self, kind: str) -> int:
        """GPUs of a type that one gang can have: by the consolidated rule all largest nodes and one more."""
        sizes = sorted((node.gpus for node in self.nodes if node.gpu_type == kind), reverse=True)
        if self.placement is not Placement.CONSOLIDATED:
            return sum(sizes)
        return sum(sizes[: sizes.count(sizes[0]) + 1])


def homogeneous(gpus: int, per_node: int | None = None, placement: Placement = Placement.COUNT) -> Cluster:
    """Equal nodes, the last one smaller where `per_node` doesn't divide `gpus`; one node without it.

    Raises
    ------
    SchedulingError : for numbers below 1.
    """
    if gpus < 1 or (per_node is not None and per_node < 1):
        raise SchedulingError(f"{gpus} GPUs in nodes of {per_node or gpus}, expected at least 1 of each.")
    size = per_node or gpus
    sizes = [size] * (gpus // size) + ([gpus % size] if gpus % size else [])
    return Cluster(tuple(Node(each) for each in sizes), placement)


def parse_cluster(text: str, placement: Placement = Placement.COUNT) -> Cluster:
    """A cluster as written: "64", "8x8" (nodes x GPUs), "4x8:v100,2x4:k80" (with types).

    Raises
    ------
    SchedulingError : for another form.
    """
    nodes: list[Node] = []
    for part in text.split(","):
        match = re.fullmatch(r"(?:([0-9]{1,6})x)?([0-9]{1,7})(?::([\w.-]+))?", part.strip())
        if match is None:
            raise SchedulingError(f"{text!r} is no cluster, expected such as 64, 8x8 or 4x8:v100,2x4:k80.")
        count, gpus, kind = match.groups()
        nodes += [Node(int(gpus), kind or "gpu")] * int(count or 1)
    return Cluster(tuple(nodes), placement)
