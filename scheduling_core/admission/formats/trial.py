"""One Harbor trial: its `result.json` with a log of its steps becomes an attempt.

Segments: set-up (environment and agent), model and tool of each step, the rest of the trial that no log
explains as `unknown`, the verifier. The whole is the trial's own start to finish. A step log that
contradicts the trial is set aside, and its time stays unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scheduling_core.admission.attempts import SegmentKind
from scheduling_core.admission.formats import atif, mini_swe, timing
from scheduling_core.admission.formats.documents import Document
from scheduling_core.admission.formats.fields import Fields, Span, rounded
from scheduling_core.admission.formats.outcomes import Outcome, is_valid_after, outcome
from scheduling_core.admission.formats.records import Collector, Observed, Quotas
from scheduling_core.admission.formats.tasks import Task, Tasks, cores, mebibytes
from scheduling_core.errors import SchedulingError

PHASES = ("environment_setup", "agent_setup", "agent_execution", "verifier")


@dataclass(frozen=True)
class _Phase:
    """A phase with both times, in microseconds since 1970."""

    start: int
    end: int

    @property
    def length(self) -> int:
        return self.end - self.start


def recognises(value: object) -> bool:
    """Whether a document is a trial's result."""
    return isinstance(value, dict) and "trial_name" in value and "task_name" in value


def observe(result: Document, log: Document | None, tasks: Tasks, collected: Collector) -> Observed:
    """The attempt of a trial. What is wrong with its log of steps goes to `collected`.

    Raises
    ------
    SchedulingError : for a result that can't be understood.
    """
    trial = Fields(result.value, result.where)
    name, task_name = trial.text("trial_name"), trial.text("task_name")
    start, end = trial.moment("started_at"), trial.moment("finished_at")
    missing = [field for field in ("started_at", "finished_at") if not trial.has(field)]
    if start is not None and end is not None and end < start:
        raise SchedulingError(f"{trial.what('finished_at')} is earlier than started_at.")
    phases = {phase: _phase(trial, phase, start, end) for phase in PHASES}
    steps = _steps(trial, start, end)
    if not steps:
        missing += [phase for phase, times in phases.items() if times is None]
    outer = _spans_around(phases, steps)
    whole = None if start is None or end is None else end - start
    if whole is not None and whole < sum(length for _, length in outer):
        raise SchedulingError(f"{trial.where}: the phases last longer than the trial, which holds them.")
    logged, usable = _logged(log, phases["agent_execution"], whole, outer, bool(steps), collected)
    if not usable:
        missing.append("step log")
    task = tasks.find(task_name)
    return Observed(
        result.where, name, task_name, (task.image if task else None) or task_name,
        rounded(_joined(outer, logged, whole)), _outcome(trial, phases["verifier"], collected),
        _quotas(trial, task), start, _unknown_length(start, end), tuple(missing),
    )  # fmt: skip


def _unknown_length(start: int | None, end: int | None) -> str | None:
    if start is None:
        return "started_at is missing, so how long it took isn't known"
    return "finished_at is missing, so how long it took isn't known" if end is None else None


def _phase(fields: Fields, name: str, start: int | None, end: int | None) -> _Phase | None:
    if not fields.has(name):
        return None
    times = fields.child(name)
    began, ended = times.moment("started_at"), times.moment("finished_at")
    if began is None or ended is None:
        return None
    if ended < began:
        raise SchedulingError(f"{times.what('finished_at')} is earlier than started_at.")
    if (start is not None and began < start) or (end is not None and ended > end):
        raise SchedulingError(f"{times.where} is outside the trial, which began later or ended earlier.")
    return _Phase(began, ended)


def _steps(trial: Fields, start: int | None, end: int | None) -> list[Span]:
    """Agent and verifier of each step of a trial of many steps, where they are logged there."""
    if not trial.has("step_results"):
        return []
    found = []
    for step in trial.children("step_results", "step"):
        agent, verifier = (_phase(step, name, start, end) for name in PHASES[2:])
        found += [Span(SegmentKind.UNKNOWN, agent.length)] if agent else []
        found += [Span(SegmentKind.VERIFIER, verifier.length)] if verifier else []
    return found


def _spans_around(phases: Mapping[str, _Phase | None], steps: list[Span]) -> list[Span]:
    """Set-up, the steps of a trial of many, and the verifier; never the agent's time of a single step."""
    setup = sum(phase.length for name in PHASES[:2] if (phase := phases[name]) is not None)
    verifier = phases["verifier"]
    found = [Span(SegmentKind.SETUP, setup), *steps]
    if verifier is not None and not any(kind is SegmentKind.VERIFIER for kind, _ in steps):
        found.append(Span(SegmentKind.VERIFIER, verifier.length))
    return found


def _logged(
    log: Document | None,
    agent: _Phase | None,
    whole: int | None,
    outer: list[Span],
    many: bool,
    collected: Collector,
) -> tuple[list[Span], bool]:
    """The spans of a step log, and whether there is one that can be placed in the trial."""
    if log is None:
        return [], False
    if many:
        collected.notes.append(f"{log.where}: which of the trial's steps it tells of isn't known; not used.")
        return [], False
    try:
        found = _read_log(log, agent)
        room = None if whole is None else whole - sum(length for _, length in outer)
        taken = sum(length for _, length in found)
        slack = len(found) * timing.ROUNDING
        if room is not None and taken > room + slack:
            raise SchedulingError(
                f"{log.where}: its steps last {taken / 1e6:.1f} s, more than the {room / 1e6:.1f} s that "
                f"the trial leaves for them."
            )
    except SchedulingError as error:
        collected.reject(log.where, str(error), log.raw)
        return [], False
    return found, True


def _read_log(log: Document, agent: _Phase | None) -> list[Span]:
    start = None if agent is None else agent.start
    if isinstance(log.value, dict) and mini_swe.recognises(log.value):
        return mini_swe.spans(log.value, log.where, start)
    if isinstance(log.value, dict) and atif.recognises(log.value):
        return atif.spans(log.value, log.where, start)
    return timing.spans(log.value, log.where)


def _joined(outer: list[Span], logged: list[Span], whole: int | None) -> list[Span]:
    """Set-up, what was logged, the rest, the verifier; the rest only where the whole is known."""
    taken = sum(length for _, length in (*outer, *logged))
    rest = [] if whole is None else [Span(SegmentKind.UNKNOWN, max(0, whole - taken))]
    last = len(outer) - (outer[-1].kind is SegmentKind.VERIFIER)
    return [*outer[:last], *logged, *rest, *outer[last:]]


def _outcome(trial: Fields, verifier: _Phase | None, collected: Collector) -> Outcome:
    rewards = trial.child("verifier_result").child("rewards")
    names = [name for name in rewards.value if rewards.has(name)]
    main = "reward" if "reward" in names else names[0] if len(names) == 1 else None
    if main is None and names:
        collected.notes.append(f"{rewards.where}: none of {len(names)} rewards is the reward; not scored.")
    reward = None if main is None else rewards.reward(main)
    wanted = not trial.child("config").child("verifier").flag("disable")
    return outcome(reward, _exception(trial), wanted, verifier is not None)


def _exception(trial: Fields) -> str | None:
    """The type of what was raised, at the top or in a step; one that makes the reward invalid goes first."""
    raised = [trial]
    if trial.has("step_results"):
        raised += trial.children("step_results", "step")
    types = [f.child("exception_info").text("exception_type") for f in raised if f.has("exception_info")]
    return next((name for name in types if not is_valid_after(name)), types[0] if types else None)


def _quotas(trial: Fields, task: Task | None) -> Quotas:
    """An override of the run goes before the task's file."""
    environment = trial.child("config").child("environment")
    own = Quotas(
        cores(environment, "override_cpus"),
        mebibytes(environment, "override_memory_mb"),
        mebibytes(environment, "override_storage_mb"),
    )
    return own if task is None else own.or_else(task.quotas)


def packed(value: Any) -> bool:
    """Whether a document is a trial packed with its step log: {"result": ..., "timing": ...}."""
    return isinstance(value, dict) and recognises(value.get("result"))
