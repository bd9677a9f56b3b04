"""mini-swe-agent's own trajectories, `trajectory_format: mini-swe-agent-1.1`.

An assistant's message is stamped when the reply arrived, an observation when its actions were done, so the
gaps between them are model and tool time in turn. Before the first reply nothing is stamped: that call
needs the start of the trial's agent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduling_core.admission.attempts import SegmentKind
from scheduling_core.admission.formats.documents import Document
from scheduling_core.admission.formats.fields import Fields, Span, rounded, stamp_of, stem
from scheduling_core.admission.formats.outcomes import unscored
from scheduling_core.admission.formats.records import Observed
from scheduling_core.errors import SchedulingError

NAME = "mini-swe-agent-1.1"
LIMITS = frozenset({"LimitsExceeded", "TimeExceeded"})
FAULTS = frozenset({"APIError", "APIConnectionError", "RateLimitError", "InternalServerError", "Timeout"})
OWN = frozenset({"Submitted", "RepeatedFormatError"})


def recognises(value: Mapping[str, Any]) -> bool:
    """Whether a document says that it is one, of whichever version."""
    return str(value.get("trajectory_format", "")).startswith("mini-swe-agent")


def spans(value: object, where: str, start: int | None) -> list[Span]:
    """Model and tool time from the trial's start of the agent (microseconds since 1970) to the last stamp.

    Without `start` the first call is left out. A gap with an unstamped reply or observation inside it
    holds both, and isn't split.

    Raises
    ------
    SchedulingError : for another version, or a stamp before the one ahead of it.
    """
    trajectory = Fields(value, where)
    version = trajectory.text("trajectory_format")
    if version != NAME:
        raise SchedulingError(f"{where}: trajectory_format is {version[:60]!r}, expected {NAME!r}.")
    found: list[Span] = []
    before = start
    blurred = replied = False
    for message in trajectory.children("messages", "message"):
        kind = _kind(message)
        replied = replied or kind is SegmentKind.MODEL
        if kind is None or not replied:
            continue
        extra = message.child("extra")
        if not extra.has("timestamp"):
            blurred = True
            continue
        stamp = stamp_of(extra.value["timestamp"], extra.what("timestamp"))
        if before is not None and stamp < before:
            raise SchedulingError(f"{extra.what('timestamp')} is earlier than what comes before it.")
        if before is not None:
            found.append(Span(SegmentKind.MIXED if blurred else kind, stamp - before))
        before, blurred = stamp, False
    return found


def observe(document: Document) -> Observed:
    """A trajectory that stands alone: how long its first model call took isn't known."""
    trajectory = Fields(document.value, document.where)
    found = spans(document.value, document.where, None)
    info = trajectory.child("info")
    task = trajectory.optional_text("instance_id") or stem(document.where)
    return Observed(
        document.where, document.where, task, task, rounded(found),
        unscored(info.optional_text("exit_status"), LIMITS, FAULTS, OWN),
        unknown_length="the first model call began at the trial's start, which isn't in a trajectory",
        missing=("trial",),
    )  # fmt: skip


def _kind(message: Fields) -> SegmentKind | None:
    """What has just ended when this message is stamped; None for what takes no time of its own."""
    value = message.value
    if value.get("role") == "assistant" or value.get("object") == "response":
        return SegmentKind.MODEL
    answer = value.get("role") == "user" and message.has("extra")
    if value.get("role") == "tool" or value.get("type") == "function_call_output" or answer:
        return SegmentKind.TOOL
    return None
