"""Frames, draws and chunks: published weights, nested and repeatable draws, partitions that aren't."""

import hashlib
import json
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifiers.errors import ClassifierError
from classifiers.sampling import (
    DrawnStratum,
    Sample,
    check_extension,
    chunk_manifests,
    cut,
    draw,
    frame_by_rules,
    frame_by_table,
    hash_order,
    presentation_order,
)
from schema.study import SamplingDesign, Stratum


def design(**strata: Any) -> SamplingDesign:
    """A design by its strata: each a number to draw (None: all) or (rule, number)."""
    overlap, frame = strata.pop("overlap", "refuse"), strata.pop("frame", None)
    made = []
    for name, asked in strata.items():
        where, n = asked if isinstance(asked, tuple) else (None, asked)
        made.append(Stratum(id=name, where=where, draw=n))
    return SamplingDesign(id="s1", salt="salt", strata=tuple(made), overlap=overlap, frame=frame)


def table(**sizes: int) -> list[tuple[str, str]]:
    return [(f"{name}{i}", name) for name, size in sizes.items() for i in range(size)]


@pytest.mark.parametrize(
    ("name", "frame_size", "drawn", "printed"),
    [
        # MétaCan's seven strata of the 5,600.
        ("aff_core", 2238095, 2000, "1119.0475"),
        ("about_only", 664248, 1000, "664.248"),
        ("venue_new", 402637, 750, "536.849"),
        ("french", 233170, 750, "310.893"),
        ("fund_new", 167890, 500, "335.78"),
        ("aff_about", 328912, 400, "822.28"),
        ("residual", 220458, 200, "1102.29"),
    ],
)
def test_published_weights(name: str, frame_size: int, drawn: int, printed: str) -> None:
    stratum = DrawnStratum(name, frame_size, drawn)
    weight = stratum.weight
    assert weight == Fraction(frame_size, drawn)
    digits = -Decimal(printed).as_tuple().exponent
    assert f"{float(weight):.{digits}f}" == printed
    assert stratum.inclusion * weight == 1
    assert weight * drawn == frame_size  # exact: all weights add up to the frame


def test_the_order_is_that_of_the_hashes() -> None:
    # By coreutils: printf W12026 | sha256sum begins 406aa3, W22026 ece1b5, W32026 0a4934.
    assert hash_order(["W1", "W2", "W3"], "2026") == ["W3", "W1", "W2"]


def test_a_draw_takes_the_first_of_each_stratum() -> None:
    rows = table(a=20, b=5)
    plan = design(a=4, b=2)
    sample = draw(frame_by_table(rows, ["a", "b"]), plan)
    for name, n in (("a", 4), ("b", 2)):
        ids = sorted(
            (i for i, s in rows if s == name), key=lambda i: hashlib.sha256(f"{i}salt".encode()).hexdigest()
        )
        drawn = [r for r in sample.records if r.stratum == name]
        assert [r.id for r in drawn] == ids[:n]
        assert [r.position for r in drawn] == list(range(1, n + 1))
    assert {r.stratum: r.weight for r in sample.records} == {"a": Fraction(20, 4), "b": Fraction(5, 2)}
    assert {r.stratum: r.inclusion for r in sample.records} == {"a": Fraction(1, 5), "b": Fraction(2, 5)}
    assert sum(r.weight for r in sample.records) == 25


SIZES = st.fixed_dictionaries({"a": st.integers(1, 30), "b": st.integers(1, 30)})


@given(SIZES, st.data())
def test_a_larger_draw_contains_the_smaller_one(sizes: dict[str, int], data: st.DataObject) -> None:
    frame = frame_by_table(table(**sizes), ["a", "b"])
    few = {name: data.draw(st.integers(0, sizes[name])) for name in "ab"}
    more = {name: data.draw(st.integers(few[name], sizes[name])) for name in "ab"}
    one, other = draw(frame, design(**few)), draw(frame, design(**more))
    for name in sizes:
        smaller = [r.id for r in one.records if r.stratum == name]
        larger = [r.id for r in other.records if r.stratum == name]
        assert larger[: len(smaller)] == smaller
        assert (len(smaller), len(larger)) == (few[name], more[name])
    check_extension(one, other)


@given(st.permutations(table(a=6, b=4)))
def test_the_order_of_the_rows_does_not_matter(rows: list[tuple[str, str]]) -> None:
    frame, expected = (frame_by_table(r, ["a", "b"]) for r in (rows, table(a=6, b=4)))
    assert frame.sha256 == expected.sha256
    assert draw(frame, design(a=3, b=3)) == draw(expected, design(a=3, b=3))


def test_a_census_and_none() -> None:
    sample = draw(frame_by_table(table(a=3, b=2), ["a", "b"]), design(a=None, b=0))
    assert {r.id for r in sample.records} == {"a0", "a1", "a2"}
    assert [(s.drawn, s.weight) for s in sample.strata] == [(3, 1), (0, None)]
    assert sample.strata[1].inclusion == 0


def test_another_salt_is_another_sample() -> None:
    frame = frame_by_table(table(a=50), ["a"])
    one, other = (draw(frame, design(a=10).model_copy(update={"salt": s})) for s in ("x", "y"))
    assert {r.id for r in one.records} != {r.id for r in other.records}


def test_the_frame_hash_is_that_of_the_sorted_pairs() -> None:
    frame = frame_by_table([("W2", "b"), ("é", "a"), ("W10", "a")], ["b", "a"])
    expected = b'[["W10","a"],["W2","b"],["\xc3\xa9","a"]]'
    assert frame.sha256 == hashlib.sha256(expected).hexdigest()
    # Beyond what is hashed at once.
    rows = [(f"W{i:06}", "a") for i in range(25_000)]
    plain = json.dumps([list(row) for row in rows], separators=(",", ":")).encode()
    assert frame_by_table(rows, ["a"]).sha256 == hashlib.sha256(plain).hexdigest()


YOUNG, OLD = {"field": "year", "at_least": 2010}, {"field": "year", "at_most": 2009}
UNDATED, REST = {"field": "year", "missing": True}, {"otherwise": True}
WORKS = [("W1", {"year": 2015}), ("W2", {"year": 2001}), ("W3", {"year": None}), ("W4", {"year": 2012})]


def test_strata_by_rules() -> None:
    frame = frame_by_rules(WORKS, design(young=(YOUNG, 1), old=(OLD, 1), rest=(REST, 1)))
    assert frame.sizes == {"young": 2, "old": 1, "rest": 1}
    assert frame.members("young") == ["W1", "W4"]
    assert frame.members("rest") == ["W3"]  # what is missing falls through nothing


def test_a_rule_for_the_frame_leaves_records_out() -> None:
    frame = frame_by_rules(WORKS, design(all=(REST, 1), frame={"not": UNDATED}))
    assert (frame.ids, frame.outside) == (("W1", "W2", "W4"), 1)


def test_the_first_match_wins_where_a_design_says_so() -> None:
    recent = {"field": "year", "at_least": 2014}
    frame = frame_by_rules(
        WORKS, design(recent=(recent, 1), young=(YOUNG, 1), rest=(REST, 1), overlap="first")
    )
    assert [frame.members(s) for s in ("recent", "young", "rest")] == [["W1"], ["W4"], ["W2", "W3"]]


RECORD = st.fixed_dictionaries(
    {"a": st.one_of(st.none(), st.integers(0, 3)), "b": st.one_of(st.none(), st.text(max_size=2))}
)


@given(st.lists(RECORD, min_size=1, max_size=30))
def test_every_record_is_in_exactly_one_stratum(records: list[dict[str, Any]]) -> None:
    """Whatever is missing: with `otherwise` and priority, only an empty stratum can stop a partition."""
    rules = design(
        one=({"field": "a", "equals": 1}, None), two=({"not": {"field": "b", "contains": "x"}}, None),
        rest=(REST, None), overlap="first",
    )  # fmt: skip
    rows = [(f"W{i}", r) for i, r in enumerate(records)]
    rows += [("f1", {"a": 1, "b": "x"}), ("f2", {"a": 2, "b": ""}), ("f3", {"a": 0, "b": "x"})]
    frame = frame_by_rules(rows, rules)
    assert sorted(frame.ids) == sorted(name for name, _ in rows)
    assert sum(frame.sizes.values()) == len(rows)
    for name, record in rows:
        expected = "one" if record["a"] == 1 else "rest" if "x" in (record["b"] or "") else "two"
        assert name in frame.members(expected)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            lambda: frame_by_rules(WORKS, design(young=(YOUNG, 1))),
            "record W2 fits no stratum, the first of 2 such records; expected exactly one",
        ),
        (
            lambda: frame_by_rules(
                WORKS, design(young=(YOUNG, 1), x=({"field": "year", "equals": 2012}, 1), r=(REST, 1))
            ),
            "record W4 fits the strata young and x; expected exactly one, or overlap = 'first'",
        ),
        (
            lambda: frame_by_rules(WORKS[:1], design(young=(YOUNG, 1), old=(OLD, 1), rest=(REST, 1))),
            "stratum old has no record, the first of 2 such strata; expected at least one",
        ),
        (
            lambda: frame_by_rules(WORKS * 2, design(rest=(REST, 1), u=(UNDATED, 1))),
            "record W1 is there twice, the first of 4",
        ),
        (lambda: frame_by_rules([("", {})], design(rest=(REST, 1))), "record '': its id isn't valid"),
        (lambda: frame_by_rules([("\ud800", {})], design(rest=(REST, 1))), "its id isn't valid"),
        (
            lambda: frame_by_rules(WORKS, design(a=(REST, 1), b=(REST, 1))),
            "strata a and b both take the rest",
        ),
        (lambda: frame_by_rules(WORKS, design(a=(REST, 1), b=1)), "stratum b of s1 has no rule"),
        (lambda: frame_by_rules(WORKS, design(a=({"x": 1}, 1))), "stratum a: 'x' is unknown"),
        (
            lambda: frame_by_rules(WORKS, design(a=(REST, 1), frame=REST)),
            "the frame: `otherwise` is for a stratum",
        ),
        (
            lambda: frame_by_rules(WORKS, design(a=({"field": "yaer", "equals": 1}, 1), b=(REST, 1))),
            "no record has a field 'yaer', which a rule of s1 asks for",
        ),
        (
            lambda: frame_by_rules([("W9", {"year": "x"})], design(a=(YOUNG, 1), b=(REST, 1))),
            "record W9: field 'year' is 'x', a text, and can't be compared with 2010",
        ),
        (
            lambda: frame_by_table(table(a=2, c=3), ["a", "b"]),
            "record c0 is of stratum 'c', the first of 3 such records",
        ),
        (lambda: frame_by_table(table(a=2), ["a", "b"]), "stratum b has no record"),
        (lambda: frame_by_table([("W1", "a"), ("W1", "b")], ["a", "b"]), "record W1 is there twice"),
        (lambda: frame_by_table([], ["a", "a"]), "expected each once"),
        (
            lambda: draw(frame_by_table(table(a=2), ["a"]), design(a=3)),
            "stratum a has 2 records, fewer than the 3 to draw; ask for fewer, or leave `draw` out",
        ),
        (
            lambda: draw(frame_by_table(table(a=2), ["a"]), design(b=1)),
            "the frame has the strata a, expected those of s1: b",
        ),
        (lambda: hash_order(["\ud800"], "x"), "its id isn't valid Unicode text"),
        (lambda: cut(["W1"], 0), "the chunk size is 0, expected 1 or more"),
        (lambda: chunk_manifests("r1", ["W1", "W1"], 2, 0), "record W1 is there twice"),
    ],
)
def test_refusals(make: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(ClassifierError, match=sentence) as refused:
        make()
    assert not str(refused.value).endswith(".")


def test_an_extension_that_loses_records_is_refused() -> None:
    def sample(salt: str, n: int) -> Sample:
        frame = frame_by_table(table(a=50), ["a"])
        return draw(frame, design(a=n).model_copy(update={"salt": salt}))

    check_extension(sample("x", 5), sample("x", 5))
    first = sample("x", 5).records[0].id
    with pytest.raises(ClassifierError, match=f"record {first} of stratum a isn't in the extended sample"):
        check_extension(sample("x", 5), sample("elsewhere", 6))
    with pytest.raises(ClassifierError, match="isn't in the extended sample; expected the same salt"):
        check_extension(sample("x", 5), sample("x", 4))


def test_a_sample_is_plain_json() -> None:
    sample = draw(frame_by_table(table(a=3, b=2), ["a", "b"]), design(a=2, b=0))
    plain = json.loads(json.dumps(sample.to_dict(), allow_nan=False))
    assert plain["strata"] == [
        {"name": "a", "frame_size": 3, "drawn": 2, "weight": 1.5, "weight_exact": "3/2"},
        {"name": "b", "frame_size": 2, "drawn": 0, "weight": None, "weight_exact": None},
    ]
    assert len(plain["records"]) == 2
    assert plain["records"][0]["inclusion"] == 2 / 3


def test_chunks_hold_every_id_once_in_the_seeds_order() -> None:
    ids = [f"W{i}" for i in range(23)]
    chunks = chunk_manifests("r1", ids, 10, seed=7)
    expected = sorted(ids, key=lambda i: hashlib.sha256(f"7{i}".encode()).hexdigest())
    assert [name for chunk in chunks for name in chunk.works] == expected == presentation_order(ids, 7)
    assert [(chunk.position, len(chunk.works)) for chunk in chunks] == [(1, 10), (2, 10), (3, 3)]
    assert chunk_manifests("r1", ids[::-1], 10, seed=7) == chunks
    assert chunk_manifests("r1", ids, 10, seed=8) != chunks
    plain = json.dumps({"position": 3, "round": "r1", "works": expected[20:]}, separators=(",", ":"))
    assert chunks[2].sha256 == hashlib.sha256(plain.encode()).hexdigest()


def test_no_ids_make_no_chunks() -> None:
    assert cut([], 5) == []
    assert chunk_manifests("r1", [], 5, seed=0) == ()
