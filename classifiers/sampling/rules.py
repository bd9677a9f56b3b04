"""Rules over a record's plain fields, in JSON: which stratum a record belongs to.

A rule is an object. Comparisons name a field and one operator:

    {"field": "year", "at_least": 2010}         {"field": "language", "in": ["fr", "en"]}
    {"field": "year", "at_most": 2020}          {"field": "title", "contains": "meta-analysis"}
    {"field": "type", "equals": "article"}      {"field": "abstract", "missing": true}

`contains` finds a part of a text (letter case counts) or an element of a list. Rules are joined by
{"any": [...]}, {"all": [...]} and {"not": ...}; {"otherwise": true}, alone, is what no other stratum takes.

Logic is two-valued, so that nothing falls through: a comparison with a missing value is false, and its
`not` is true. A value is missing where the field is absent, null, NaN, or an empty text or list. Values
of another kind than the rule's (a text "2010" against a number) are refused, not compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, cast

from classifiers.errors import ClassifierError

Fields: TypeAlias = Mapping[str, Any]
Scalar: TypeAlias = str | int | float | bool
Operator = Literal["equals", "in", "at_least", "at_most", "contains"]

_OPERATORS = ("equals", "in", "at_least", "at_most", "contains", "missing")
_JOINTS = ("any", "all", "not", "otherwise")
_DEEPEST = 50


class Rule(Protocol):
    """What every rule can do. `fields` are the names that it asks for, in order."""

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields that it asks for."""

    def matches(self, record: Fields) -> bool:
        """Whether a record fits. Raises ClassifierError for a value of another kind than the rule's."""


@dataclass(frozen=True)
class Comparison:
    """One field against values: `values` has one entry, or several for `in`."""

    field: str
    operator: Operator
    values: tuple[Scalar, ...]

    @property
    def fields(self) -> tuple[str, ...]:
        """The field."""
        return (self.field,)

    def matches(self, record: Fields) -> bool:
        """Whether the field's value compares as the rule says; False where it is missing."""
        value: Any = record.get(self.field)
        if is_missing(value):
            return False
        if self.operator == "contains":
            return self._contains(value)
        kind = _kind(value)
        own = [v for v in self.values if _kind(v) == kind]
        if not own:
            raise self._another_kind(value)
        if self.operator == "at_least":
            return bool(value >= own[0])
        if self.operator == "at_most":
            return bool(value <= own[0])
        return value in own

    def _contains(self, value: Any) -> bool:
        wanted = self.values[0]
        if isinstance(value, list | tuple | set | frozenset):
            return any(_kind(v) == _kind(wanted) and v == wanted for v in value)
        if isinstance(value, str) and isinstance(wanted, str):
            return wanted in value
        raise self._another_kind(value)

    def _another_kind(self, value: Any) -> ClassifierError:
        shown = f"{self.values[0]!r}" if len(self.values) == 1 else f"{list(self.values)!r}"
        return ClassifierError(
            f"field {self.field!r} is {value!r}, {_article(_kind(value))}, "
            f"and can't be compared with {shown} ({self.operator})"
        )


@dataclass(frozen=True)
class Missing:
    """Whether a field's value is missing, or is not."""

    field: str
    missing: bool

    @property
    def fields(self) -> tuple[str, ...]:
        """The field."""
        return (self.field,)

    def matches(self, record: Fields) -> bool:
        """Whether the value is missing as the rule says."""
        return is_missing(record.get(self.field)) == self.missing


@dataclass(frozen=True)
class Joint:
    """Several rules of which any, or all, must match."""

    joint: Literal["any", "all"]
    rules: tuple[Rule, ...]

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields that its rules ask for."""
        return tuple(dict.fromkeys(name for rule in self.rules for name in rule.fields))

    def matches(self, record: Fields) -> bool:
        """Whether any, or all, match."""
        found = (rule.matches(record) for rule in self.rules)
        return any(found) if self.joint == "any" else all(found)


@dataclass(frozen=True)
class Negation:
    """A rule that must not match."""

    rule: Rule

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields that the rule asks for."""
        return self.rule.fields

    def matches(self, record: Fields) -> bool:
        """Whether the rule doesn't match."""
        return not self.rule.matches(record)


@dataclass(frozen=True)
class Otherwise:
    """What no other stratum takes: decided by the whole design, not by a record alone."""

    @property
    def fields(self) -> tuple[str, ...]:
        """No field."""
        return ()

    def matches(self, record: Fields) -> bool:
        """True of everything that is still asked."""
        return True


def is_missing(value: object) -> bool:
    """Whether a value is missing: null, NaN, or an empty text or list."""
    if value is None or value != value:  # NaN alone differs from itself
        return True
    return not value and isinstance(value, str | list | tuple | set | frozenset | dict)


def parse_rule(value: object, where: str = "the rule") -> Rule:
    """A rule from plain JSON. `where` begins the sentence of an error, such as "stratum 'french'".

    Raises
    ------
    ClassifierError : for anything that is no rule, with the path to the part that isn't.
    """
    if isinstance(value, Mapping) and "otherwise" in value:
        if dict(value) != {"otherwise": True} or value["otherwise"] is not True:
            raise ClassifierError(f'{where}: `otherwise` stands alone, as {{"otherwise": true}}')
        return Otherwise()
    return _parse(value, where, 0)


def _parse(value: object, where: str, depth: int) -> Rule:
    if depth > _DEEPEST:
        raise ClassifierError(f"{where}: rules stand more than {_DEEPEST} deep in each other")
    if not isinstance(value, Mapping):
        raise ClassifierError(f"{where}: {value!r} is no rule, expected an object")
    if "field" in value:
        return _comparison(value, where)
    if len(value) != 1:
        raise ClassifierError(
            f"{where}: the keys are {', '.join(map(repr, value)) or 'none'}; "
            f"expected `field` with an operator, or one of {', '.join(_JOINTS)}"
        )
    ((joint, inner),) = value.items()
    at = f"{where}, {joint}"
    if joint == "not":
        return Negation(_parse(inner, at, depth + 1))
    if joint == "otherwise":
        raise ClassifierError(f"{where}: `otherwise` can only be the whole rule of a stratum")
    if joint not in ("any", "all"):
        raise ClassifierError(f"{where}: {joint!r} is unknown; expected `field`, {', '.join(_JOINTS)}")
    if not _is_list(inner) or not inner:
        raise ClassifierError(f"{at}: expected a list of one rule or more")
    rules = cast(Sequence[object], inner)
    return Joint(joint, tuple(_parse(rule, f"{at}[{n}]", depth + 1) for n, rule in enumerate(rules)))


def _comparison(value: Mapping[Any, Any], where: str) -> Rule:
    field = value["field"]
    operators = [key for key in value if key != "field"]
    if not isinstance(field, str) or not field:
        raise ClassifierError(f"{where}: field is {field!r}, expected a name")
    if len(operators) != 1 or operators[0] not in _OPERATORS:
        given = ", ".join(map(repr, operators)) or "nothing"
        raise ClassifierError(
            f"{where}: beside `field` there is {given}; expected one of {', '.join(_OPERATORS)}"
        )
    operator, operand = operators[0], value[operators[0]]
    at = f"{where}: {operator}"
    if operator == "missing":
        if not isinstance(operand, bool):
            raise ClassifierError(f"{at} is {operand!r}, expected true or false")
        return Missing(field, operand)
    if operator == "in":
        if not _is_list(operand) or not operand:
            raise ClassifierError(f"{at} is {operand!r}, expected a list of one value or more")
        return Comparison(field, "in", tuple(_scalar(v, at) for v in operand))
    wanted = _scalar(operand, at)
    if operator in ("at_least", "at_most") and isinstance(wanted, bool):
        raise ClassifierError(f"{at} is {operand!r}, expected a number or a text")
    return Comparison(field, operator, (wanted,))


def _scalar(value: object, at: str) -> Scalar:
    if not isinstance(value, str | int | float) or is_missing(value):
        raise ClassifierError(
            f"{at} is {value!r}, expected a text, a number, true or false "
            "(`missing` asks for what isn't there)"
        )
    return value


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple)


_KINDS = {bool: "truth value", int: "number", float: "number", str: "text", list: "list", tuple: "list"}


def _kind(value: object) -> str:
    return _KINDS.get(type(value)) or type(value).__name__


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
