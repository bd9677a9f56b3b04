"""Policies by name: ours, and those that others register under `proofshelf.policies`.

Another distribution adds one by an entry point, in its pyproject.toml::

    [project.entry-points."proofshelf.policies"]
    smallest-service = "their_package:SmallestServiceFirst"
"""

from __future__ import annotations

from importlib import import_module, metadata
from typing import Any

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.policies.base import Policy

GROUP = "proofshelf.policies"

OURS = {
    "fifo": "arrival:Fifo",
    "fjf": "arrival:FirstFit",
    "sjf": "size:SmallestGang",
    "srtf": "size:ShortestRemainingTime",
    "srsf": "size:ShortestRemainingService",
    "las2d": "las:LeastAttainedService",
    "gittins2d": "las:Gittins",
    "edf": "deadlines:EarliestDeadline",
    "edf_las": "deadlines:EarliestDeadlineThenLas",
    "llf": "allowance:LeastLaxity",
    "genie_like": "allowance:SmallestAllowance",
    "ftf": "fairness:FinishTimeFairness",
    "gandiva": "slicing:TimeSlicing",
    "chronus_like": "chronus:ChronusLike",
    "tias_eta": "tias:TiasEta",
    "tias_like": "tias:TiasLike",
}


def policy_names() -> list[str]:
    """All names, ours first."""
    return [*OURS, *sorted({point.name for point in metadata.entry_points(group=GROUP)} - set(OURS))]


def policy(name: str, **options: Any) -> Policy:
    """A policy by its name, with its options.

    Raises
    ------
    SchedulingError : for a name that nobody has, or options that the policy doesn't know.
    """
    found = policy_class(name)
    try:
        return found(**options)
    except TypeError as error:
        raise SchedulingError(f"Policy {name} doesn't take these options: {error}.") from error


def policy_class(name: str) -> type[Policy]:
    """The class of a policy: what it is from, whether it reads durations, and what options it takes.

    Raises
    ------
    SchedulingError : for a name that nobody has, or that something else than a policy is registered under.
    """
    if name in OURS:
        module, _, attribute = OURS[name].partition(":")
        found: type[Policy] = getattr(import_module(f"scheduling_core.queueing.policies.{module}"), attribute)
        return found
    for point in metadata.entry_points(group=GROUP, name=name):
        loaded = point.load()
        if isinstance(loaded, type) and issubclass(loaded, Policy):
            return loaded
        raise SchedulingError(f"{point.value} is registered as policy {name}, expected a class of Policy.")
    raise SchedulingError(f"There is no policy {name!r}, expected one of {', '.join(policy_names())}.")
