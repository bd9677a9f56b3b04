"""TMax's `agent/timing.json`: model and tool time of each step, rounded to 0.1 s.

A step whose reply couldn't be understood has `format_error` and no tool time. The call in flight when an
agent is stopped isn't in it: that time is left to the rest of the trial.
"""

from __future__ import annotations

from scheduling_core.admission.attempts import SegmentKind
from scheduling_core.admission.formats.fields import Fields, Span, shown
from scheduling_core.errors import SchedulingError

NAME = "TMax timing.json"
ROUNDING = 50_000
"""Half of the last digit of a logged time, in microseconds."""


def recognises(value: object) -> bool:
    """Whether a list of steps looks like this log."""
    return isinstance(value, list) and all(isinstance(step, dict) and "llm_s" in step for step in value)


def spans(value: object, where: str) -> list[Span]:
    """The steps in their order.

    Raises
    ------
    SchedulingError : for a step without its times, or out of order.
    """
    if not isinstance(value, list):
        raise SchedulingError(f"{where}: this is {shown(value)}, expected a list of steps.")
    found = []
    before = 0
    for place, item in enumerate(value, 1):
        step = Fields(item, f"{where}, step {place}", "a step with llm_s and bash_s")
        number = step.value.get("step", before + 1)
        if isinstance(number, bool) or not isinstance(number, int) or number <= before:
            raise SchedulingError(f"{step.what('step')} is {shown(number)}, expected more than {before}.")
        before = number
        model, tool = step.length("llm_s"), step.length("bash_s")
        if model is None:
            raise SchedulingError(f"{step.where}: the field 'llm_s' is missing, expected seconds.")
        if tool is None and not step.flag("format_error"):
            raise SchedulingError(
                f"{step.where}: the field 'bash_s' is missing, and there is no format_error."
            )
        found.append(Span(SegmentKind.MODEL, model))
        if tool is not None:
            found.append(Span(SegmentKind.TOOL, tool))
    return found
