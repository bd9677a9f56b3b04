"""The objects of a JSON text one by one, however long it is: a list, lists of lists, lines, pages of an API.

Only one record is held at a time, with some text around it. Where JSON is broken, what comes before is
kept, and reading goes on at the next place that certainly starts a record.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TextIO

LONGEST = 32 << 20
"""Characters of one record; a longer one is set aside."""
_SHOWN = 1_000_000  # characters kept of what can't be read
_CHUNK = 1 << 20
_DEEPEST = 4  # lists and pages around a record

_BLANKS = re.compile(r"[ \t\n\r\ufeff]*")
_MEMBER = re.compile(r'"((?:[^"\\\x00-\x1f]|\\.){0,200})"[ \t\n\r]*:[ \t\n\r]*')
_CLOSING = {"[": "]", "{": "}"}


@dataclass(frozen=True)
class Item:
    """One JSON value: what it says and its text, with the line and the character where it starts."""

    value: Any
    raw: str
    line: int
    offset: int


@dataclass(frozen=True)
class Flaw:
    """What couldn't be read as JSON, and why; `raw` is cut after a million characters.

    Without a `line` it is the end of the text, which came too early: no record stands there.
    """

    raw: str
    line: int | None
    offset: int
    reason: str


def items(
    stream: TextIO, results: str, wrappers: frozenset[str], start: re.Pattern[str]
) -> Iterator[Item | Flaw]:
    """The values of a stream in their order; what stands beside them is read and dropped.

    An object whose first name is one of `wrappers` is a page: its records are the list named `results`.
    `start` matches the text with which certainly a record starts. Nothing is raised.
    """
    window = _Window(stream)
    around: list[str] = []  # the brackets that are open around the place
    after = False  # a value has just ended
    broken_off = False  # what was read last is broken, and reaches to the end
    while mark := window.peek():
        broken_off = False
        inside = around[-1] if around else ""
        if inside and mark == _CLOSING[inside]:
            around.pop()
            window.advance(1)
            after = True
        elif after and mark == ",":
            window.advance(1)
            after = False
        elif inside and after and not window.at(start):  # a record is certain even without its comma
            yield _broken(window, around, start, f"expected ',' or '{_CLOSING[inside]}', found {mark!r}")
            after, broken_off = False, True
        elif inside == "{":
            problem, opened = _member(window, results)
            if problem is not None:
                yield _broken(window, around, start, problem)
                broken_off = True
            elif opened:
                around.append("[")
            after = problem is None and not opened
        elif mark == "[" and len(around) < _DEEPEST:
            around.append("[")
            window.advance(1)
            after = False
        elif mark == "{" and len(around) < _DEEPEST and window.first_name() in wrappers:
            around.append("{")
            window.advance(1)
            after = False
        else:
            line, offset = window.line, window.offset
            try:
                value, raw = window.value()
            except _NoValue as error:
                yield _broken(window, around, start, str(error))
                after, broken_off = False, True
            else:
                yield Item(value, raw, line, offset)
                after = True
    if around and not broken_off:
        closing = "".join(_CLOSING[bracket] for bracket in reversed(around))
        yield Flaw("", None, window.offset, f"the text ends before the {closing!r} that closes it")


class _NoValue(ValueError):
    """The text isn't a JSON value; the message says why."""


def _member(window: "_Window", results: str) -> tuple[str | None, bool]:
    """Pass a name and its value in a page: what is wrong, and whether the list of records was opened."""
    name = window.name()
    if name is None:
        return "expected a name in quotes and ':'", False
    if name == results and window.peek() == "[":
        window.advance(1)
        return None, True
    try:
        window.value()
    except _NoValue as error:
        return str(error), False
    return None, False


def _broken(window: "_Window", around: list[str], start: re.Pattern[str], reason: str) -> Flaw:
    """Pass what can't be read, up to the next certain start of a record."""
    line, offset = window.line, window.offset
    raw, length, found = window.skip_to(start)
    if found and around and around[-1] == "{":
        around.append("[")
    if length > _SHOWN:
        reason += f" (the first {_SHOWN:,} of {length:,} characters are kept)"
    return Flaw(raw, line, offset, f"JSON syntax error: {reason}")


class _Window:
    """The part of a stream that is looked at, and where it is; `line` counts from 1, `offset` from 0."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._text = ""
        self._at = 0
        self._ended = False
        self._decoder = json.JSONDecoder()
        self.line = 1
        self.offset = 0

    def _more(self) -> bool:
        """Read on, each time as much again as there is, so that the cost of a long value is linear."""
        if self._ended:
            return False
        self._text = self._text[self._at :]
        self._at = 0
        chunk = self._stream.read(max(_CHUNK, len(self._text)))
        self._ended = not chunk
        self._text += chunk
        return not self._ended

    def advance(self, count: int) -> str:
        """Pass so many characters of the window."""
        passed = self._text[self._at : self._at + count]
        self._at += count
        self.offset += count
        self.line += passed.count("\n")
        return passed

    def peek(self) -> str:
        """The next character that isn't blank, or nothing at the end."""
        while True:
            blanks = _BLANKS.match(self._text, self._at)
            assert blanks is not None
            if blanks.end() > self._at:
                self.advance(blanks.end() - self._at)
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _ahead(self, count: int) -> None:
        while len(self._text) - self._at < count and self._more():
            pass

    def at(self, pattern: re.Pattern[str]) -> bool:
        """Whether this matches here."""
        self._ahead(200)
        return pattern.match(self._text, self._at) is not None

    def first_name(self) -> str | None:
        """The first name of the object that starts here."""
        self._ahead(1_000)
        inside = _BLANKS.match(self._text, self._at + 1)
        assert inside is not None
        match = _MEMBER.match(self._text, inside.end())
        return match[1] if match else None

    def name(self) -> str | None:
        """Pass a name and its colon."""
        self._ahead(1_000)
        match = _MEMBER.match(self._text, self._at)
        if match is None:
            return None
        self.advance(match.end() - self._at)
        return match[1]

    def value(self) -> tuple[Any, str]:
        """Pass a value; returns it and its text. Raises _NoValue, and then passes nothing."""
        self.peek()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                # Cut off, maybe only by the window: inside a text, or within the last few characters.
                cut = error.msg.startswith("Unterminated string") or error.pos > len(self._text) - 16
                if not cut or not self._grow():
                    where = error.pos - self._at + 1
                    at_end = error.pos >= len(self._text.rstrip()) or error.msg.startswith("Unterminated")
                    what = "the text ends inside the record" if at_end else error.msg
                    raise _NoValue(f"{what} (character {where:,} of the record)") from None
            except RecursionError:
                raise _NoValue("it is nested too deeply to be a record") from None
            except ValueError as error:
                raise _NoValue(f"a number can't be read ({error})") from None
            else:
                length = end - self._at
                if end < len(self._text) or not self._text[end - 1].isdigit() or not self._more():
                    return value, self.advance(length)
                # A number that ends with the window may go on: read it again.

    def _grow(self) -> bool:
        if len(self._text) - self._at > LONGEST:
            raise _NoValue(f"the record is longer than {LONGEST:,} characters")
        return self._more()

    def skip_to(self, start: re.Pattern[str]) -> tuple[str, int, bool]:
        """Pass one character and all before the next match: the text, its length, and if one was found."""
        kept: list[str] = []
        length, room, first = 0, _SHOWN, 1
        while True:
            match = start.search(self._text, self._at + first)
            # A match may be cut by the window's end, so its last characters wait for more.
            end = match.start() if match else max(self._at + first, len(self._text) - 200)
            if self._ended and match is None:
                end = len(self._text)
            passed = self.advance(min(end, len(self._text)) - self._at)
            first = 0
            length += len(passed)
            kept.append(passed[:room])
            room -= len(kept[-1])
            if match is not None:
                return "".join(kept).rstrip(), length, True
            if not self._more():
                if self._at < len(self._text):
                    continue
                return "".join(kept).rstrip(), length, False
