"""Votes as they stand: what a row says is kept as text, and what it doesn't say stays unsaid."""

import csv
import gzip
import io
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.errors import IngestError
from ingest.votes import VoteRow, Votes, read_votes


def votes(text: str, categories: tuple[str, ...] = ()) -> Votes:
    return read_votes(text.encode(), categories, "x")


def reasons(found: Votes) -> list[tuple[int | None, str]]:
    return [(r.line, r.reason) for r in found.rejected]


FULL = VoteRow(
    line=2, work="W2597652891", rater="opus", decision="in_scope", categories=("sts", "open_science"),
    confidence="high", reason="It counts, for one.", fields=(("genre", "empirical"), ("Year", "0123")),
)  # fmt: skip


def test_a_table() -> None:
    found = votes(
        "work,rater,decision,categories,confidence,reason,genre,Year\n"
        'W2597652891,opus,in_scope,sts; open_science,high,"It counts, for one.",empirical,0123\n'
        "00e1,,,,,,,\n"
    )
    assert found.rows == (FULL, VoteRow(line=3, work="00e1"))
    assert found.rejected == ()


@pytest.mark.parametrize(
    "categories",
    [["sts", "open_science"], "sts;open_science", {"sts": True, "open_science": 1, "bibliometrics": 0}],
)
def test_json_lines(categories: object) -> None:
    vote = {"work": "W2597652891", "rater": "opus", "decision": "in_scope", "categories": categories}
    vote |= {"confidence": "high", "reason": "It counts, for one.", "genre": "empirical", "Year": "0123"}
    found = votes(
        "\n" + json.dumps(vote) + "\n" + json.dumps({"id": 7, "domain": ["a", "b"], "n": 1.50, "x": None})
    )
    assert found.rows == (FULL, VoteRow(line=3, work="7", fields=(("domain", "a; b"), ("n", "1.5"))))


def test_a_column_for_each_category() -> None:
    text = "id,sts,Open Science,bibliometrics,other\nw1,1,0,,1\nw2,no,TRUE,0,x\nw3,2,0,0,\n"
    found = votes(text, ("sts", "open_science", "bibliometrics"))
    assert found.rows == (
        VoteRow(
            line=2, work="w1", categories=("sts",), unanswered=("bibliometrics",), fields=(("other", "1"),)
        ),
        VoteRow(line=3, work="w2", categories=("open_science",), fields=(("other", "x"),)),
    )
    assert reasons(found) == [(4, "sts is '2'; expected 1 or 0, true or false, yes or no")]
    # Unasked, a column is a field like any other.
    assert votes(text).rows[0].fields == (("sts", "1"), ("Open Science", "0"), ("other", "1"))


def test_rows_that_contradict_themselves_or_name_nothing() -> None:
    found = votes("work,categories,sts\n,,1\nw1,sts,0\nw2,sts;sts,\nw3,sts\nw4,sts,1\n", ("sts",))
    assert found.rows == (VoteRow(line=6, work="w4", categories=("sts",)),)
    assert reasons(found) == [
        (2, "the vote names no work"),
        (3, "'sts' is among the categories, but its own column says no"),
        (4, "the category 'sts' comes twice"),
        (5, "the row has 2 cells; expected 3, as in the header"),
    ]


@pytest.mark.parametrize(
    ("text", "rows", "rejected"),
    [
        # Cut inside a record: that record is broken, and nothing else is there to be counted.
        ('[{"work": "a"},\n{"work": "b", "deci\n', 1, [(2, "the text ends inside the record")]),
        ('[{"work": "a", "decision', 0, [(1, "the text ends inside the record")]),
        # Cut between two records: no row is broken, but the list isn't closed, on no line of its own.
        ('[{"work": "a"},\n', 1, [(None, "may be missing here: the text ends before the ']'")]),
        (
            '{"votes": [{"work": "a"}\n',
            1,
            [(None, "may be missing here: the text ends before the ']}'")],
        ),
    ],
)
def test_json_that_is_cut_off_counts_what_is_there(
    text: str, rows: int, rejected: list[tuple[int | None, str]]
) -> None:
    found = read_votes(text.encode(), filename="x")
    assert len(found.rows) == rows
    assert [r.line for r in found.rejected] == [line for line, _ in rejected]
    assert all(said in r.reason for r, (_, said) in zip(found.rejected, rejected, strict=True))


def test_json_that_isnt_a_vote() -> None:
    found = votes(
        '{"work": "a"}\n{"work": "b", "work": "c"}\n{"work": NaN}\n[]\n{"work": "d"\n'
        '{"work": "e"}\n{"r": 1}\n3'
    )
    assert [row.work for row in found.rows] == ["a", "e"]
    assert reasons(found) == [
        (2, "the JSON can't be taken: the name 'work' comes twice in one object"),
        (3, "the JSON can't be taken: NaN is no number in JSON"),
        (5, "JSON syntax error: Expecting ',' delimiter (character 14 of the record)"),
        (7, "the vote names no work"),
        (8, "this isn't a JSON object; expected a vote"),
    ]


def test_a_list_and_a_wrapped_list() -> None:
    for text in ('[{"work": "a"}, {"work": "b"}]', '{"votes": [{"work": "a"}, {"work": "b"}]}'):
        assert [row.work for row in votes(text).rows] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("rater,decision\na,b\n", "x: this is no table of votes; expected JSON lines, or a first line"),
        ("work,sts,STS\n", "x: the column 'sts' comes twice; expected each name once"),
        (" \n", "x: there is nothing in this file to read"),
        ("PK\x03\x04", "x: this ZIP archive can't be opened"),
    ],
)
def test_what_cant_be_read_gets_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(IngestError) as error:
        votes(text)
    assert str(error.value).startswith(sentence)


TEXTS = st.text("abcdef,;\"' é中0123", min_size=1, max_size=8).map(str.strip).filter(bool)
PLAIN = st.text("abcdé中0123", min_size=1, max_size=6)
ROWS = st.builds(
    VoteRow,
    line=st.just(0), work=TEXTS, rater=st.none() | TEXTS, decision=st.none() | TEXTS,
    categories=st.lists(PLAIN, unique=True, max_size=3).map(tuple), confidence=st.none() | TEXTS,
    reason=st.none() | TEXTS, fields=st.just(()) | TEXTS.map(lambda text: (("genre", text),)),
)  # fmt: skip
NAMES = ("work", "rater", "decision", "confidence", "reason")


@given(st.lists(ROWS, min_size=1, max_size=6), st.booleans())
def test_what_is_written_comes_back(written: list[VoteRow], as_json: bool) -> None:
    if as_json:
        lines = [{n: getattr(row, n) for n in (*NAMES, "categories")} | dict(row.fields) for row in written]
        data = "".join(json.dumps(line) + "\n" for line in lines)
    else:
        out = io.StringIO()
        writer = csv.writer(out)
        writer.writerow([*NAMES, "categories", "genre"])
        for row in written:
            categories, genre = ";".join(row.categories), dict(row.fields).get("genre")
            writer.writerow([*(getattr(row, name) for name in NAMES), categories, genre])
        data = out.getvalue()
    found = read_votes(gzip.compress(data.encode()))
    first = 1 if as_json else 2
    assert [VoteRow(**{**vars(row), "line": i}) for i, row in enumerate(written, first)] == list(found.rows)


@settings(max_examples=200)
@given(
    st.sampled_from([b"", b"work,decision,categories\n", b'{"work": "a"}\n', b"id\tsts\n"]),
    st.one_of(st.binary(max_size=80), st.text('{}[]:,"\\ wok1;\n', max_size=60).map(str.encode)),
)
def test_arbitrary_bytes_raise_nothing_else(start: bytes, rest: bytes) -> None:
    try:
        found = read_votes(start + rest, ("sts",), "x")
    except IngestError:
        return
    assert all(row.work for row in found.rows)


def test_metacan_dossier(shared: Path) -> None:
    found = read_votes(shared / "data/metacan/dossier_n1000.csv")
    assert (len(found.rows), found.rejected) == (51, ())
    assert found.rows[0].fields[0:2] == (("stratum", "about_only"), ("weight", "3321.24"))
