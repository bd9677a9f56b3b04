"""ATIF v1.x trajectories: the order of steps with their times, but no durations.

Some converters stamp an agent's step with the time of its observation, so model and tool time can't be told
apart: the time up to each agent step is `mixed`, and never split by guess. The first call begins where the
trial's agent began.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduling_core.admission.attempts import Cause, SegmentKind, TimeState
from scheduling_core.admission.formats.documents import Document
from scheduling_core.admission.formats.fields import Fields, Span, rounded, stem
from scheduling_core.admission.formats.outcomes import Outcome
from scheduling_core.admission.formats.records import Observed
from scheduling_core.errors import SchedulingError

NAME = "ATIF v1.x"
SOURCES = ("user", "agent", "system")


def recognises(value: Mapping[str, Any]) -> bool:
    """Whether a document says that it is one, of whichever version."""
    return str(value.get("schema_version", "")).startswith("ATIF-")


def spans(value: object, where: str, start: int | None) -> list[Span]:
    """Time up to each step from `start` (microseconds since 1970), or from the first stamp without it.

    Steps copied from an earlier trajectory took no time in this one, nor did a task given before the start.
    Time up to a step of the user or the system is `unknown`.

    Raises
    ------
    SchedulingError : for another major version, or a stamp before the one ahead of it.
    """
    trajectory = Fields(value, where)
    version = trajectory.text("schema_version")
    if not version.startswith("ATIF-v1."):
        raise SchedulingError(f"{where}: schema_version is {version[:60]!r}, expected ATIF-v1.x.")
    found: list[Span] = []
    before = start
    agents = False
    for step in trajectory.children("steps", "step"):
        source = step.text("source")
        if source not in SOURCES:
            raise SchedulingError(f"{step.what('source')} is {source[:60]!r}, expected {', '.join(SOURCES)}.")
        stamp = step.moment("timestamp")
        if step.flag("is_copied_context"):
            continue
        agents = agents or source == "agent"
        if stamp is None or (before == start is not None and not agents and stamp < start):
            continue
        if before is not None and stamp < before:
            raise SchedulingError(f"{step.what('timestamp')} is earlier than what comes before it.")
        if before is not None:
            # An unstamped agent step inside the gap makes all of it the agent's.
            found.append(Span(SegmentKind.MIXED if agents else SegmentKind.UNKNOWN, stamp - before))
        before, agents = stamp, False
    return found


def observe(document: Document) -> Observed:
    """A trajectory that stands alone. It is known to have lasted from its first stamp to its last."""
    trajectory = Fields(document.value, document.where)
    found = spans(document.value, document.where, None)
    first = next((s for s in trajectory.children("steps", "step") if s.has("timestamp")), None)
    hidden = first is None or first.value.get("source") == "agent"
    return Observed(
        document.where, document.where, stem(document.where), stem(document.where), rounded(found),
        Outcome(None, TimeState.RIGHT_CENSORED, Cause.UNKNOWN),
        started=None if first is None else first.moment("timestamp"),
        unknown_length="the first model call isn't stamped, and a trajectory alone has no start" if hidden
        else None,
        missing=("trial",),
    )  # fmt: skip
