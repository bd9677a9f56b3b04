"""SWE-agent's `.traj`: each step's `execution_time`, which is tool time. Model time isn't logged.

How long an attempt lasted isn't known from it: its tool time is counted, and it can't be replayed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduling_core.admission.attempts import SegmentKind
from scheduling_core.admission.formats.documents import Document
from scheduling_core.admission.formats.fields import Fields, Span, rounded, stem
from scheduling_core.admission.formats.outcomes import unscored
from scheduling_core.admission.formats.records import Observed

NAME = "SWE-agent .traj"
LIMITS = frozenset({"exit_cost", "exit_context", "exit_total_execution_time", "exit_command_timeout"})
FAULTS = frozenset({"exit_api", "exit_environment_error"})
OWN = frozenset({"submitted", "exit_format", "exit_forfeit"})


def recognises(value: Mapping[str, Any]) -> bool:
    """Whether a document has its list of steps beside its history or summary."""
    return isinstance(value.get("trajectory"), list) and ("info" in value or "history" in value)


def observe(document: Document) -> Observed:
    """One attempt: its tool time, and a length that isn't known.

    Raises
    ------
    SchedulingError : for a step whose execution_time is no length.
    """
    trajectory = Fields(document.value, document.where)
    steps = [step.length("execution_time") for step in trajectory.children("trajectory", "step")]
    info = trajectory.child("info")
    task = trajectory.optional_text("instance_id") or stem(document.where)
    return Observed(
        document.where, document.where, task, task,
        rounded([Span(SegmentKind.TOOL, step) for step in steps if step is not None]),
        unscored(_ended(info), LIMITS, FAULTS, OWN),
        unknown_length="only tool time is logged, so how long it took isn't known",
        missing=("model time", "trial", *(["execution_time"] if None in steps else [])),
    )  # fmt: skip


def _ended(info: Fields) -> str | None:
    """Why it stopped: "submitted (exit_cost)" was submitted for it because of its cost."""
    said = info.optional_text("exit_status")
    return said if said is None else said.removeprefix("submitted (").removesuffix(")")
