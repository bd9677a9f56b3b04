"""Whether plain rows have the form of attempts, schedules and placements."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

KINDS = ("image_load", "setup", "model", "tool", "verifier", "unknown", "mixed")
POLICIES = ("W", "A")
CEILING = 1 << 53
"""Whole numbers from here on aren't safe in every reader of JSON."""

Check = tuple[Callable[[Any], bool], str]
"""A test of a value, and what was expected where it fails."""


def is_whole(value: Any) -> bool:
    """A whole number from 0; true and false are none."""
    return type(value) is int and 0 <= value < CEILING


def is_text(value: Any) -> bool:
    """A text with at least one letter, and with bytes."""
    if not isinstance(value, str) or not value:
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_score(value: Any) -> bool:
    return value is None or (type(value) in (int, float) and -CEILING < value < CEILING)


def _is_segments(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(_is_segment(item) for item in value)


def _is_segment(item: Any) -> bool:
    return (
        isinstance(item, list)
        and len(item) == 2
        and isinstance(item[0], str)
        and item[0] in KINDS
        and is_whole(item[1])
        and item[1] > 0
    )


def _one_of(*words: str) -> Check:
    return lambda value: isinstance(value, str) and value in words, f"one of {', '.join(words)}"


_WHOLE: Check = (is_whole, "a whole number from 0")
_WHOLE_OR_NULL: Check = (lambda value: value is None or is_whole(value), "a whole number from 0, or null")
_TEXT: Check = (is_text, "a text")
_TEXT_OR_NULL: Check = (lambda value: value is None or is_text(value), "a text or null")

_ATTEMPT: dict[str, Check] = {
    "id": _TEXT,
    "task": _TEXT,
    "image": _TEXT,
    "rank": _WHOLE,
    "release": _WHOLE,
    "segments": (_is_segments, "a list of [kind, ticks], ticks above 0"),
    "cpu_milli": _WHOLE,
    "ram_kib": _WHOLE,
    "disk_kib": _WHOLE,
    "image_kib": _WHOLE,
    "score": (_is_score, "a number or null"),
    "time": _one_of("complete", "right_censored"),
    "cause": _one_of("model", "agent_limit", "infrastructure", "unknown"),
    "exception": _TEXT_OR_NULL,
    "started": _WHOLE_OR_NULL,
    "tenant": _TEXT_OR_NULL,
    "assumed": (lambda v: isinstance(v, list) and all(is_text(i) for i in v), "a list of names"),
    "synthetic": (lambda value: isinstance(value, bool), "true or false"),
}
_LIMITS: dict[str, Check] = {
    "slots": (lambda value: is_whole(value) and value > 0, "a whole number from 1"),
    **dict.fromkeys(
        ("deadline", "cpu_milli", "ram_kib", "disk_kib", "parked_kib", "image_kib", "requests"),
        _WHOLE_OR_NULL,
    ),
}
_STORE: dict[str, Check] = {"retention_ticks": _WHOLE_OR_NULL, "cache_kib": _WHOLE_OR_NULL}
_SCHEDULE: dict[str, Check] = {
    "workload_sha256": _TEXT,
    "policy": _one_of(*POLICIES),
    "limits": (lambda value: isinstance(value, Mapping), "an object"),
    "images": (lambda value: isinstance(value, Mapping), "an object"),
    "starts": (
        lambda value: isinstance(value, list) and all(type(i) is int and abs(i) < CEILING for i in value),
        "a list of whole numbers",
    ),
    "made_by": (lambda value: isinstance(value, Mapping), "an object"),
    "sha256": _TEXT,
}
_PLACEMENT: dict[str, Check] = {
    "attempt": _TEXT,
    "kind": _one_of(*KINDS),
    "start": _WHOLE,
    "end": _WHOLE,
}


def attempt_faults(row: Any, name: str) -> list[str]:
    """Sentences on what keeps a row from being an attempt; none if it is one."""
    return _faults(row, name, _ATTEMPT)


def schedule_faults(row: Any) -> list[str]:
    """Sentences on what keeps a row from being a schedule."""
    faults = _faults(row, "The schedule", _SCHEDULE, optional=("made_by",))
    if not faults:
        faults = _faults(row["limits"], "The limits", _LIMITS)
        faults += _faults(row["images"], "The image store", _STORE)
    return faults


def placement_faults(row: Any, name: str) -> list[str]:
    """Sentences on what keeps a row from placing a segment."""
    faults = _faults(row, name, _PLACEMENT)
    if not faults and row["start"] >= row["end"]:
        faults = [f"{name}: it ends at {row['end']}, expected an end after its start at {row['start']}."]
    return faults


def digest(lines: list[Any]) -> str:
    """SHA-256 of values as JSON, a line each: sorted keys, no spaces, UTF-8."""
    whole = hashlib.sha256()
    for position, line in enumerate(lines):
        text = json.dumps(line, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        whole.update(("\n" if position else "").encode() + text.encode())
    return whole.hexdigest()


def _faults(row: Any, name: str, fields: Mapping[str, Check], optional: tuple[str, ...] = ()) -> list[str]:
    if not isinstance(row, Mapping):
        return [f"{name}: {_short(row)}, expected an object."]
    faults = [f"{name}: there is no field {key!r}." for key in row if key not in fields]
    for key, (holds, expected) in fields.items():
        if key not in row and key in optional:
            continue
        if key not in row:
            faults.append(f"{name}: the field {key!r} is missing.")
        elif not holds(row[key]):
            faults.append(f"{name}: {key} is {_short(row[key])}, expected {expected}.")
    return faults


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
