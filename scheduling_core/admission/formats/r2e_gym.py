"""R2E-Gym trajectories: `llm_exec_time`, `env_exec_time` and `total_step_time` of each step.

The verifier's time is `reward_calc_time`; the set-up isn't logged, and isn't in the attempt's length.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduling_core.admission.attempts import SegmentKind
from scheduling_core.admission.formats.documents import Document
from scheduling_core.admission.formats.fields import Fields, Span, rounded
from scheduling_core.admission.formats.outcomes import Outcome, unscored
from scheduling_core.admission.formats.records import Observed
from scheduling_core.errors import SchedulingError

NAME = "R2E-Gym"
TIMES = ("llm_exec_time", "env_exec_time", "total_step_time")
LIMITS = frozenset(
    {"max_step_limit", "agent_max_step_limit", "abs_step_limit", "token_limit", "traj_time_limit"}
)
FAULTS = frozenset({"llm_query_error"})
OWN = frozenset({"agent"})
SLACK = 1_000
"""Microseconds by which the parts of a step may pass its total: they are sums of floats."""


def recognises(value: Mapping[str, Any]) -> bool:
    """Whether a document has its list of steps."""
    return "trajectory_steps" in value


def observe(document: Document) -> Observed:
    """One attempt.

    Raises
    ------
    SchedulingError : for a step whose times are missing, or whose parts are longer than its total.
    """
    trajectory = Fields(document.value, document.where)
    found: list[Span] = []
    for step in trajectory.children("trajectory_steps", "step"):
        model, tool, total = (step.length(name) for name in TIMES)
        if model is None or tool is None:
            raise SchedulingError(
                f"{step.where}: llm_exec_time or env_exec_time is missing, expected seconds."
            )
        rest = 0 if total is None else total - model - tool
        if rest < -SLACK:
            raise SchedulingError(
                f"{step.where}: model and tool take longer than total_step_time, which holds them."
            )
        found += [Span(SegmentKind.MODEL, model), Span(SegmentKind.TOOL, tool)]
        found.append(Span(SegmentKind.UNKNOWN, max(0, rest)))
    verifier = trajectory.length("reward_calc_time")
    found.append(Span(SegmentKind.VERIFIER, verifier or 0))
    image = trajectory.text("docker_image")
    task = trajectory.child("env_args").child("ds").optional_text("instance_id") or image
    run = trajectory.optional_text("exp_name")
    return Observed(
        document.where, f"{task}, {run or 'run'}, {document.where}", task, image, rounded(found),
        _outcome(trajectory), missing=("setup", *(["verifier"] if verifier is None else [])),
    )  # fmt: skip


def _outcome(trajectory: Fields) -> Outcome:
    ended = unscored(trajectory.optional_text("exit_reason"), LIMITS, FAULTS, OWN)
    reward = trajectory.reward("reward")
    if ended.exception is None or ended.exception in LIMITS:
        return Outcome(reward, ended.time, ended.cause, ended.exception)
    return Outcome(None, ended.time, ended.cause, ended.exception, withheld=reward)
