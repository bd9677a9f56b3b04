"""How an attempt ended, as three labels that don't imply each other: score, time, cause.

Whether a logged reward is valid follows the type of the exception: it is after an agent's timeout, a
non-zero exit of the agent and an overflow of its context, since the verifier then judged what the agent
left; it isn't after a fault of environment, sandbox, API, verifier or reward file, or a cancellation.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from scheduling_core.admission.attempts import Cause, TimeState


@dataclass(frozen=True)
class Outcome:
    """The three labels of an attempt, with the exception that its log names.

    score : None where no valid one is known, which isn't 0. withheld : a logged reward that isn't valid.
    """

    score: float | None
    time: TimeState
    cause: Cause
    exception: str | None = None
    withheld: float | None = None


@dataclass(frozen=True)
class _Kind:
    valid: bool
    time: TimeState
    cause: Cause


_LIMIT = _Kind(True, TimeState.RIGHT_CENSORED, Cause.AGENT_LIMIT)
_EXIT = _Kind(True, TimeState.COMPLETE, Cause.MODEL)
_CUT = _Kind(False, TimeState.RIGHT_CENSORED, Cause.INFRASTRUCTURE)
_UNREAD = _Kind(False, TimeState.COMPLETE, Cause.INFRASTRUCTURE)
_UNKNOWN = _Kind(False, TimeState.RIGHT_CENSORED, Cause.UNKNOWN)

_KINDS: tuple[tuple[str, _Kind], ...] = (
    (r"Agent(Execution)?Timeout(Error)?", _LIMIT),
    (r"Context(Window|Length)(Exceeded|Overflow)(Error)?", _LIMIT),
    (r"NonZeroAgentExitCode(Error)?", _EXIT),
    (r"(Reward|Verifier)\w*(NotFound|Empty|Parse|Parsing)\w*|VerifierOutput\w*", _UNREAD),
    (
        r"\w*(Environment|Sandbox|Daytona|Docker|Verifier|Reward|API|Api)\w*",
        _CUT,
    ),
    (r"AgentSetup\w*|(InternalServer|BadGateway|BadRequest|ServiceUnavailable|\w*RateLimit)Error", _CUT),
    (r"\w*AuthenticationError", _CUT),
    (r"Cancell?ed(Error)?|KeyboardInterrupt", _CUT),
)
"""What each type of exception says, first match first; a type that none matches leaves it unknown."""


def is_valid_after(exception: str | None) -> bool:
    """Whether a reward counts although the trial raised this type of exception."""
    return exception is None or _kind(exception).valid


def outcome(reward: float | None, exception: str | None, wanted: bool = True, ran: bool = False) -> Outcome:
    """The labels of a trial.

    wanted : whether a verifier was to score it; ran : whether one ran to its end. A trial without reward
    and exception ended of an unknown cause, and was cut where its verifier never ran: unscored, not wrong.
    """
    if exception is None:
        if reward is not None or not wanted:
            return Outcome(reward, TimeState.COMPLETE, Cause.MODEL)
        return Outcome(None, TimeState.COMPLETE if ran else TimeState.RIGHT_CENSORED, Cause.UNKNOWN)
    kind = _kind(exception)
    if kind.valid:
        return Outcome(reward, kind.time, kind.cause, exception)
    return Outcome(None, kind.time, kind.cause, exception, withheld=reward)


def unscored(
    ended: str | None, limits: frozenset[str], faults: frozenset[str], own: frozenset[str]
) -> Outcome:
    """The labels of a trajectory that says only why it stopped, in words of its own format.

    A word that none of the sets holds leaves the cause unknown.
    """
    if ended in own:
        return Outcome(None, TimeState.COMPLETE, Cause.MODEL)
    if ended in limits:
        return Outcome(None, TimeState.RIGHT_CENSORED, Cause.AGENT_LIMIT, ended)
    if ended in faults:
        return Outcome(None, TimeState.RIGHT_CENSORED, Cause.INFRASTRUCTURE, ended)
    return Outcome(None, TimeState.RIGHT_CENSORED, Cause.UNKNOWN, ended)


def _kind(exception: str) -> _Kind:
    name = exception.rsplit(".", 1)[-1]
    return next((kind for pattern, kind in _KINDS if re.fullmatch(pattern, name)), _UNKNOWN)
