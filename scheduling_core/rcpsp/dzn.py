"""MiniZinc data, `.dzn`: the assignments that an RCPSP instance consists of, and no more of the language."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from scheduling_core.errors import SchedulingError
from scheduling_core.rcpsp.project import Project, ProjectError

TOKEN = re.compile(
    r"(?P<space>\s+|%[^\n]*)|(?P<name>[A-Za-z_]\w*)|(?P<number>-?[0-9]+)|(?P<sign>\[\||\|\]|\.\.|[\[\]{}|,;=])"
)

EXPECTED = {"n_tasks", "n_res", "rc", "d", "rr", "suc"}


@dataclass(frozen=True)
class _Token:
    text: str
    kind: str
    line: int


class _Parser:
    """Recursive descent over `name = value;`. A value is a number, a list, rows of numbers or a set."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.tokens: list[_Token] = []
        self.item_lines: dict[str, list[int]] = {}
        self._lines: list[int] = []
        at, line = 0, 1
        while at < len(text):
            found = TOKEN.match(text, at)
            if found is None:
                raise self.wrong(line, f"{text[at]!r} isn't expected in the data of an instance")
            if found.lastgroup != "space":
                self.tokens.append(_Token(found[0], str(found.lastgroup), line))
            line += found[0].count("\n")
            at = found.end()
        self.tokens.append(_Token("the end of the file", "end", line))
        self.at = 0

    def wrong(self, line: int, what: str) -> SchedulingError:
        return SchedulingError(f"{self.file}, line {line}: {what}.")

    @property
    def next(self) -> _Token:
        return self.tokens[self.at]

    def take(self, kind: str, expected: str) -> _Token:
        token = self.next
        if token.kind != kind or (kind == "sign" and token.text != expected):
            raise self.wrong(token.line, f"there is {token.text!r}, expected {expected}")
        self.at += 1
        return token

    def skip(self, sign: str) -> bool:
        """Takes a sign where it comes next."""
        if self.next.kind == "sign" and self.next.text == sign:
            self.at += 1
            return True
        return False

    def assignments(self) -> dict[str, tuple[Any, int]]:
        """Value and line of each name."""
        found: dict[str, tuple[Any, int]] = {}
        while self.next.kind != "end":
            name = self.take("name", "a name")
            if name.text not in EXPECTED:
                raise self.wrong(name.line, f"there is {name.text!r}, expected only {sorted(EXPECTED)}")
            if name.text in found:
                raise self.wrong(name.line, f"{name.text} is given a second time, expected once")
            self.take("sign", "=")
            self._lines = []
            found[name.text] = self.value(), name.line
            self.item_lines[name.text] = self._lines
            if self.next.kind != "end":
                self.take("sign", ";")
        return found

    def value(self) -> Any:
        if self.skip("[|"):
            return self.rows()
        if self.skip("["):
            return self.items("]")
        if self.skip("{"):
            return frozenset(self.items("}"))
        number = self.whole()
        if self.skip(".."):
            return frozenset(range(number, self.whole() + 1))
        return number

    def whole(self) -> int:
        token = self.take("number", "a whole number, a list or a set")
        if len(token.text) > 18:
            raise self.wrong(token.line, f"{token.text} is too large, expected at most 18 digits")
        return int(token.text)

    def items(self, close: str) -> list[Any]:
        found: list[Any] = []
        while not self.skip(close):
            if close == "]":
                self._lines.append(self.next.line)
            found.append(self.value() if close == "]" else self.whole())
            if not self.skip(","):
                self.take("sign", close)
                break
        return found

    def rows(self) -> list[list[int]]:
        found: list[list[int]] = [[]]
        while not self.skip("|]"):
            if self.skip("|"):
                found.append([])
                continue
            if not found[-1]:
                self._lines.append(self.next.line)
            found[-1].append(self.whole())
            if self.next.text not in ("|", "|]"):
                self.take("sign", ",")
        return [row for row in found if row]


def parse_dzn(text: str, name: str) -> Project:
    """The project in the text of a file; `name` is for sentences. Raises SchedulingError with the line."""
    parser = _Parser(text, name)
    found = parser.assignments()
    missing = sorted(EXPECTED - set(found))
    if missing:
        raise SchedulingError(f"{name} gives no {missing[0]}, expected all of {sorted(EXPECTED)}.")
    values = {key: value for key, (value, _) in found.items()}
    jobs, kinds = values["n_tasks"], values["n_res"]
    wanted = {
        "n_tasks": isinstance(jobs, int),
        "n_res": isinstance(kinds, int),
        "rc": _is_list(values["rc"], int, kinds),
        "d": _is_list(values["d"], int, jobs),
        "rr": _is_list(values["rr"], list, kinds) and all(_is_list(row, int, jobs) for row in values["rr"]),
        "suc": _is_list(values["suc"], frozenset, jobs),
    }
    shapes = {
        "n_tasks": "a whole number", "n_res": "a whole number", "rc": f"a list of {kinds} whole numbers",
        "d": f"a list of {jobs} whole numbers", "rr": f"{kinds} rows of {jobs} whole numbers",
        "suc": f"a list of {jobs} sets",
    }  # fmt: skip
    for key, good in wanted.items():
        if not good:
            raise parser.wrong(found[key][1], f"{key} isn't {shapes[key]}, as is expected")
    try:
        return Project(
            tuple(values["d"]),
            tuple(tuple(row[j] for row in values["rr"]) for j in range(jobs)),
            tuple(values["rc"]),
            tuple(tuple(sorted(s - 1 for s in after)) for after in values["suc"]),
        )
    except ProjectError as error:
        at = {
            "durations": ("d", None),
            "demands": ("rr", error.resource),
            "capacities": ("rc", error.resource),
            "successors": ("suc", error.job),
        }
        key, item = at[error.part]
        line = found[key][1] if item is None else parser.item_lines[key][item]
        raise SchedulingError(f"{name}, line {line}: {error}") from error


def _is_list(value: Any, kind: type, length: Any) -> bool:
    return isinstance(value, list) and len(value) == length and all(isinstance(v, kind) for v in value)
