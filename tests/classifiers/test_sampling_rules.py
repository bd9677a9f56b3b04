"""The rule language: truth tables by hand, two-valued with missing values, and clear refusals."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifiers.errors import ClassifierError
from classifiers.sampling import is_missing, parse_rule

RECORD = {
    "year": 2010, "language": "fr", "title": "A Meta-analysis", "topics": ["sts", "bibliometrics"],
    "abstract": None, "venue": "", "authors": [], "score": float("nan"), "retracted": False, "cited": 2.5,
}  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({"field": "year", "equals": 2010}, True),
        ({"field": "year", "equals": 2010.0}, True),
        ({"field": "year", "equals": 2011}, False),
        ({"field": "year", "at_least": 2010}, True),
        ({"field": "year", "at_least": 2011}, False),
        ({"field": "year", "at_most": 2010}, True),
        ({"field": "year", "at_most": 2009}, False),
        ({"field": "cited", "at_least": 2}, True),
        ({"field": "language", "at_least": "en"}, True),
        ({"field": "language", "in": ["en", "fr"]}, True),
        ({"field": "language", "in": ["en", 7]}, False),
        ({"field": "title", "contains": "Meta"}, True),
        ({"field": "title", "contains": "meta"}, False),
        ({"field": "topics", "contains": "sts"}, True),
        ({"field": "topics", "contains": "st"}, False),
        ({"field": "topics", "contains": "ststs"}, False),
        ({"field": "retracted", "equals": False}, True),
        ({"field": "abstract", "missing": True}, True),
        ({"field": "abstract", "missing": False}, False),
        ({"field": "venue", "missing": True}, True),
        ({"field": "authors", "missing": True}, True),
        ({"field": "score", "missing": True}, True),
        ({"field": "absent", "missing": True}, True),
        ({"field": "retracted", "missing": True}, False),
        ({"all": [{"field": "year", "equals": 2010}, {"field": "language", "equals": "fr"}]}, True),
        ({"all": [{"field": "year", "equals": 2010}, {"field": "language", "equals": "en"}]}, False),
        ({"any": [{"field": "year", "equals": 1}, {"field": "language", "equals": "fr"}]}, True),
        ({"any": [{"field": "year", "equals": 1}, {"field": "language", "equals": "en"}]}, False),
        ({"not": {"field": "year", "equals": 2010}}, False),
        ({"not": {"not": {"field": "year", "equals": 2010}}}, True),
    ],
)
def test_rules(rule: dict[str, Any], expected: bool) -> None:
    assert parse_rule(json.loads(json.dumps(rule))).matches(RECORD) is expected


COMPARISONS = [
    {"equals": 3}, {"equals": "x"}, {"in": [3, "x"]}, {"at_least": 3}, {"at_most": 3}, {"contains": "x"}
]  # fmt: skip


@pytest.mark.parametrize("comparison", COMPARISONS)
@pytest.mark.parametrize("missing", [None, float("nan"), "", [], "no such field"])
def test_a_comparison_with_a_missing_value_is_false_and_its_not_true(comparison: Any, missing: Any) -> None:
    record = {} if missing == "no such field" else {"f": missing}
    rule = {"field": "f", **comparison}
    assert parse_rule(rule).matches(record) is False
    assert parse_rule({"not": rule}).matches(record) is True


LEAVES = st.sampled_from(
    [{"field": f, **c} for f in "abc" for c in ({"equals": 1}, {"missing": True}, {"at_least": 2})]
)
RULES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.fixed_dictionaries({"not": inner}),
        st.fixed_dictionaries({"any": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"all": st.lists(inner, min_size=1, max_size=3)}),
    ),
    max_leaves=8,
)
RECORDS = st.fixed_dictionaries({}, optional={f: st.one_of(st.none(), st.integers(0, 3)) for f in "abc"})


@given(RULES, RECORDS)
def test_logic_is_two_valued(rule: dict[str, Any], record: dict[str, Any]) -> None:
    plain, negated = parse_rule(rule), parse_rule({"not": rule})
    assert plain.matches(record) is not negated.matches(record)
    assert set(plain.fields) == set(negated.fields) <= set("abc")


@given(st.lists(RULES, min_size=1, max_size=3), RECORDS)
def test_de_morgan(rules: list[dict[str, Any]], record: dict[str, Any]) -> None:
    left = parse_rule({"not": {"any": rules}})
    right = parse_rule({"all": [{"not": rule} for rule in rules]})
    assert left.matches(record) is right.matches(record)


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        (3, "^stratum x: 3 is no rule, expected an object"),
        ({}, "the keys are none; expected `field` with an operator"),
        ({"any": [], "all": []}, "the keys are 'any', 'all'"),
        ({"or": []}, "'or' is unknown; expected `field`, any, all, not, otherwise"),
        ({"any": []}, "stratum x, any: expected a list of one rule or more"),
        (
            {"any": [{"all": [{"field": "y", "equals": 1}, 5]}]},
            r"stratum x, any\[0\], all\[1\]: 5 is no rule",
        ),
        ({"field": "y"}, "beside `field` there is nothing"),
        ({"field": "y", "equal": 2}, "there is 'equal'; expected one of equals, in, at_least"),
        ({"field": "y", "at_least": 2, "at_most": 3}, "there is 'at_least', 'at_most'"),
        ({"field": "", "equals": 2}, "field is '', expected a name"),
        ({"field": 2, "equals": 2}, "field is 2, expected a name"),
        ({"field": "y", "equals": None}, "equals is None, expected a text, a number, true or false"),
        ({"field": "y", "equals": float("nan")}, "equals is nan"),
        ({"field": "y", "equals": [1]}, r"equals is \[1\], expected a text"),
        ({"field": "y", "in": "abc"}, "in is 'abc', expected a list of one value or more"),
        ({"field": "y", "in": []}, r"in is \[\], expected a list"),
        ({"field": "y", "at_least": True}, "at_least is True, expected a number or a text"),
        ({"field": "y", "missing": "yes"}, "missing is 'yes', expected true or false"),
        ({"not": {"otherwise": True}}, "stratum x, not: `otherwise` can only be the whole rule of a stratum"),
        ({"otherwise": False}, "`otherwise` stands alone"),
        ({"otherwise": 1}, "`otherwise` stands alone"),
        ({"otherwise": True, "field": "y"}, "`otherwise` stands alone"),
    ],
)
def test_refusals(rule: Any, sentence: str) -> None:
    with pytest.raises(ClassifierError, match=sentence) as refused:
        parse_rule(rule, "stratum x")
    assert not str(refused.value).endswith(".")


def test_a_rule_too_deep_is_refused_before_python_gives_up() -> None:
    rule: dict[str, Any] = {"field": "y", "equals": 1}
    for _ in range(5000):
        rule = {"not": rule}
    with pytest.raises(ClassifierError, match="rules stand more than 50 deep in each other"):
        parse_rule(rule)


@pytest.mark.parametrize(
    ("rule", "value", "sentence"),
    [
        (
            {"field": "y", "at_least": 2000},
            "2010",
            r"field 'y' is '2010', a text, and can't be compared with 2000",
        ),
        (
            {"field": "y", "equals": "2010"},
            2010,
            "field 'y' is 2010, a number, and can't be compared with '2010'",
        ),
        ({"field": "y", "equals": 1}, True, "field 'y' is True, a truth value"),
        ({"field": "y", "in": [1, 2]}, "1", r"can't be compared with \[1, 2\] \(in\)"),
        ({"field": "y", "equals": "a"}, ["a"], r"is \['a'\], a list"),
        ({"field": "y", "contains": "a"}, 3, r"is 3, a number, and can't be compared with 'a' \(contains\)"),
    ],
)
def test_values_of_another_kind_are_refused(rule: Any, value: Any, sentence: str) -> None:
    with pytest.raises(ClassifierError, match=sentence):
        parse_rule(rule).matches({"y": value})


def test_what_is_missing() -> None:
    assert [is_missing(v) for v in (None, float("nan"), "", [], (), {})] == [True] * 6
    assert [is_missing(v) for v in (0, 0.0, False, " ", [None])] == [False] * 5
