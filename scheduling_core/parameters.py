"""Parameters of analyses: plain JSON values, or strings from a command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduling_core.errors import SchedulingError


def read_parameters(given: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Defaults overridden by what is given, of the default's type: int, str or list of str.

    Raises
    ------
    SchedulingError : for an unknown name or a value of another type.
    """
    unknown = [name for name in given if name not in defaults]
    if unknown:
        raise SchedulingError(f"There is no parameter {unknown[0]!r}, expected one of {', '.join(defaults)}.")
    values = dict(defaults)
    for name, value in given.items():
        default = defaults[name]
        if isinstance(default, int):
            values[name] = _integer(name, value)
        elif isinstance(default, str):
            values[name] = _text(name, value)
        else:
            values[name] = _texts(name, value)
    return values


def _integer(name: str, value: Any) -> int:
    if isinstance(value, str):
        try:
            return int(value.strip())
        except ValueError:
            pass
    elif isinstance(value, int) and not isinstance(value, bool):
        return value
    raise SchedulingError(f"{name} is {value!r}, expected a whole number.")


def _text(name: str, value: Any) -> str:
    if isinstance(value, str) and value:
        return value
    raise SchedulingError(f"{name} is {value!r}, expected a text such as '1:2:3'.")


def _texts(name: str, value: Any) -> list[str]:
    texts = value.split(",") if isinstance(value, str) else value
    if (
        isinstance(texts, list | tuple)
        and texts
        and all(isinstance(text, str) and text.strip() for text in texts)
    ):
        return list(dict.fromkeys(text.strip() for text in texts))
    raise SchedulingError(f"{name} is {value!r}, expected names separated by commas.")
