"""The JSON in what a model said: where it begins and where it ends. Its content is never touched."""

import json
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from ingest.text import clean

_FENCE = re.compile(r"^[ \t]*```[ \t]*([\w+-]*)[ \t]*\n(.*?)(?:^[ \t]*```[ \t]*$|\Z)", re.M | re.S)
_JSON_NAMES = frozenset({"json", "jsonl", "jsonc", "json5", ""})
# Where JSON may begin in running text: "[1]" and "{x}" of prose don't look like it.
_BEGINS = re.compile(r'\{(?=\s*")|\[(?=\s*\{)')
_BLANK = "\ufeff \t\r\n"
_KINDS = {str: "a text", bool: "true or false", type(None): "null", int: "a number", float: "a number"}


@dataclass(frozen=True)
class Unreadable:
    """Why no answers could be read, in a sentence."""

    reason: str


def answers_in(said: str) -> tuple[dict[str, Any], ...] | Unreadable:
    """The answer objects in a model's raw answer, in their order.

    They may stand as a list, as one object, as an object whose only value is the list (`{"answers": […]}`),
    or as one object a line; alone, in a fence (```json), or with text around. Where there are several
    pieces of JSON, half of one, a name that comes twice in an object, or NaN, nothing is taken.
    """
    text = said.strip(_BLANK)
    if not text:
        return Unreadable("the answer is empty; expected JSON")
    fenced = [] if text[0] in "[{" else _fenced(said)
    if len(fenced) > 1:
        lines = ", ".join(str(_line(said, start)) for start, _ in fenced[:5])
        return Unreadable(f"the answer has {len(fenced)} pieces of JSON, in lines {lines}; expected one")
    start, end = fenced[0] if fenced else (0, len(said))
    try:
        return _objects(_values(said, start, end))
    except _NoAnswer as error:
        return Unreadable(str(error))


def strictly(text: str) -> Any:
    """A JSON value; raises ValueError, with a sentence, for NaN, infinities and names that come twice."""
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    _whole(value)
    return value


class _NoAnswer(ValueError):
    """What is wrong with an answer, in a sentence."""


def _fenced(said: str) -> list[tuple[int, int]]:
    """Where the contents of fences that hold JSON start and end."""
    return [
        match.span(2)
        for match in _FENCE.finditer(said)
        if match[1].lower() in _JSON_NAMES and match[2].strip(_BLANK)[:1] in ("[", "{")
    ]


def _values(said: str, start: int, end: int) -> list[Any]:
    """The one JSON value of a region, or its objects where they follow each other line by line."""
    region = said[:end]
    at = _skip(region, start)
    if region[at : at + 1] not in ("[", "{"):
        match = _BEGINS.search(region, at)
        if match is None:
            shown = clean(said[:200])[:60]
            raise _NoAnswer(f"there is no JSON with objects in the answer, which starts {shown!r}")
        at = match.start()
    values: list[Any] = []
    while True:
        value, at = _decode(region, at)
        values.append(value)
        following = _skip(region, at)
        if not isinstance(value, dict) or region[following : following + 1] != "{":
            break
        at = following
    other = _BEGINS.search(region, at)
    if other is not None:
        line = _line(said, other.start())
        raise _NoAnswer(f"a second piece of JSON begins in line {line}; expected one")
    return values


def _decode(region: str, at: int) -> tuple[Any, int]:
    begins = f"the JSON that begins in line {_line(region, at)}"
    try:
        value, end = _DECODER.raw_decode(region, at)
        _whole(value)
    except json.JSONDecodeError as error:
        rest = region[error.pos :].strip(_BLANK)
        # Nothing is left, or a piece such as `nul` or `\\u00`, with no bracket or comma behind it.
        if error.msg.startswith("Unterminated") or (len(rest) < 12 and not set(rest) & set(",]}")):
            raise _NoAnswer(f"{begins} isn't finished when the answer ends") from None
        where = f"line {error.lineno}, column {error.colno}"
        raise _NoAnswer(f"{begins} has an error in {where}: {error.msg}") from None
    except RecursionError:
        raise _NoAnswer(f"{begins} is nested too deeply") from None
    except ValueError as error:
        raise _NoAnswer(f"{begins} can't be taken: {error}") from None
    return value, end


def _objects(values: list[Any]) -> tuple[dict[str, Any], ...]:
    """The answers in one value, or the values themselves where they are objects line by line."""
    found: list[Any] = values
    if len(values) == 1:
        (value,) = values
        inner = next(iter(value.values())) if isinstance(value, dict) and len(value) == 1 else None
        if isinstance(value, list):
            found = value
        elif isinstance(inner, list) and (not inner or any(isinstance(item, dict) for item in inner)):
            found = inner
    for number, item in enumerate(found, start=1):
        if not isinstance(item, dict):
            what = _KINDS.get(type(item), "a list")
            raise _NoAnswer(f"item {number} of the JSON list is {what}; expected an object for each work")
    return tuple(found)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(f"the name {clean(twice)[:60]!r} comes twice in one object")
    return made


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number in JSON")


def _whole(value: Any) -> None:
    """Raise ValueError where a text holds half a character, which no file can hold."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("a text in it holds half a character (a lone surrogate)") from None


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)
