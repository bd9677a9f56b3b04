"""Labels: which column, which record, and that unknown is never excluded."""

import csv
import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.errors import IngestError
from ingest.labels import VALUES, Labels, read_labels


def labels(text: str, column: str | None = None) -> Labels:
    return read_labels(text.encode(), column, "x")


def values(found: Labels) -> list[str]:
    return [row.value for row in found.rows]


def rejected(found: Labels) -> list[tuple[int | None, str]]:
    return [(r.line, r.reason) for r in found.rejected]


def test_rows_with_every_name() -> None:
    found = labels(
        "openalex_id,doi,pmid,record_id,label_included,label_abstract_screening,reason\n"
        "https://openalex.org/w2994178258,https://doi.org/10.1177/A,31793330,00e1,1,0,a trial\n"
    )
    (row,) = found.rows
    assert [(i.scheme, i.value) for i in row.identifiers] == [
        ("openalex", "W2994178258"), ("doi", "10.1177/a"), ("pmid", "31793330"),
    ]  # fmt: skip
    assert (row.line, row.key, row.value, row.given, row.reason) == (2, "00e1", "included", "1", "a trial")
    assert row.others == (("label_abstract_screening", "excluded"),)
    assert (found.column, found.other_columns) == ("label_included", ("label_abstract_screening",))
    assert found.notes == (
        "labels from 'label_included'; further labels from 'label_abstract_screening'; records named by "
        "openalex from 'openalex_id', doi from 'doi', pmid from 'pmid', key from 'record_id'",
    )


@pytest.mark.parametrize(
    ("cells", "value"),
    [
        (["1", "1.0", "TRUE", "yes", "Include", "included", " Relevant "], "included"),
        (["0", "0.0", "False", "NO", "exclude", "excluded", "irrelevant", "not relevant"], "excluded"),
        (["", " ", "maybe", "Unsure", "unknown"], "unknown"),
    ],
)
def test_the_vocabulary(cells: list[str], value: str) -> None:
    found = labels("id,included\n" + "".join(f"k{i},{cell}\n" for i, cell in enumerate(cells)))
    assert [value] * len(cells) == values(found)
    assert [row.given for row in found.rows] == cells


def test_anything_else_is_rejected_with_its_line() -> None:
    found = labels("id,included\na,1\nb,2\nc,-1\nd,n/a\ne,0\n")
    assert values(found) == ["included", "excluded"]
    assert [(line, reason.partition(";")[0]) for line, reason in rejected(found)] == [
        (3, "included is '2'"), (4, "included is '-1'"), (5, "included is 'n/a'"),
    ]  # fmt: skip
    assert "expected one of '1', '1.0', 'true'" in rejected(found)[0][1]


def test_further_columns_are_checked_too() -> None:
    assert rejected(labels("id,label_included,label_title\na,1,perhaps\n"))[0][1].startswith(
        "label_title is 'perhaps'"
    )


@pytest.mark.parametrize(
    ("header", "column", "used"),
    [
        ("id,included", None, "included"),
        ("id,decision", None, "decision"),
        ("id,asreview_label", None, "asreview_label"),
        ("id,label_title,Label Included,included", None, "Label Included"),
        ("id,label_title,included", "included", "included"),
        ("id,label_title,included", "label title", "label_title"),
        ("id,verdict", "verdict", "verdict"),
    ],
)
def test_which_column(header: str, column: str | None, used: str) -> None:
    found = labels(f"{header}\nk{',1' * header.count(',')}\n", column)
    assert (used, 1) == (found.column, found.count("included"))


@pytest.mark.parametrize(
    ("text", "column", "sentence"),
    [
        (
            "id,label_title,included\n",
            None,
            "x: label_title, included may each be the label; say which column it is",
        ),
        (
            "id,label_included,label_included\n",
            None,
            "x: label_included, label_included may each be the label",
        ),
        ("id,verdict\n", None, "x: no column is named like a label; expected one such as label_included"),
        ("id,verdict\n", "other", "x: there is no column 'other'; its columns are id, verdict"),
        ("name,included\n", None, "x: no column names the records; expected one of openalex_id"),
        ("Dear all,\n", None, "x: this is no table of labels; expected a first line that names a record"),
        ("", None, "x: there is nothing in this file to read"),
    ],
)
def test_what_cant_be_read_gets_one_sentence(text: str, column: str | None, sentence: str) -> None:
    with pytest.raises(IngestError) as error:
        labels(text, column)
    assert str(error.value).startswith(sentence)
    assert "\n" not in str(error.value)


def test_a_record_that_comes_twice() -> None:
    found = labels("id,included\na,1\nb,0\na,yes\nc,1\nb,1\nd,\nb,0\nd,0\n")
    assert [(row.line, row.key) for row in found.rows] == [(2, "a"), (5, "c")]
    assert [(row.line, row.notes) for row in found.repeated] == [(4, ("a has the same label in line 2",))]
    # Which of two labels holds isn't for us to say; an empty one isn't a yes or a no.
    said = "b has 3 labels that differ: '0' in line 3, '1' in line 6, '0' in line 8"
    unsaid = "d has 2 labels that differ: '' in line 7, '0' in line 9"
    assert rejected(found) == [(3, said), (6, said), (7, unsaid), (8, said), (9, unsaid)]
    assert found.rejected[0].raw == "b,0"


def test_further_labels_that_differ_are_a_contradiction_too() -> None:
    found = labels("id,label_included,label_title\na,1,1\na,1,0\nb,1,1\nb,1,1\n")
    assert [row.key for row in found.rows] == ["b"]
    assert [line for line, _ in rejected(found)] == [2, 3]


def test_when_two_rows_are_of_one_record() -> None:
    header = "openalex_id,doi,record_id,included\n"
    # One DOI, but OpenAlex says that these are two works; then two spellings of one DOI.
    two = labels(header + "W2994178258,10.1000/x,1,1\nW2994178259,10.1000/x,2,0\n")
    assert len(two.rows) == 2
    one = labels(header + ",10.1000/X,1,1\n,https://doi.org/10.1000/x,2,0\n")
    assert [line for line, _ in rejected(one)] == [2, 3]
    # A row without its OpenAlex id is the same by its DOI.
    assert len(labels(header + "W2994178258,10.1000/x,,1\n,10.1000/x,,1\n").repeated) == 1


def test_rows_that_name_nothing() -> None:
    found = labels("doi,included\n,1\nnot a doi,0\n10.1000/x,1\n")
    assert values(found) == ["included"]
    assert rejected(found) == [
        (2, "the row names no record"),
        (3, "the row names no record; doi 'not a doi' isn't a valid doi and is left out"),
    ]


def test_names_stay_text() -> None:
    found = labels("id\tlabel\n01234\t1\n1234\t0\n00e1\t1\nhttps://openalex.org/W2741809807\t1\n")
    assert [row.key for row in found.rows][:3] == ["01234", "1234", "00e1"]
    assert found.rows[3].identifiers[0].value == "W2741809807"


def test_packed_and_cut_off() -> None:
    data = "id,included\n" + "".join(f"{i * 7919 % 100_003},1\n" for i in range(20_000))
    assert len(read_labels(gzip.compress(data.encode())).rows) == 20_000
    cut = read_labels(gzip.compress(data.encode())[:20_000])
    assert 0 < len(cut.rows) < 20_000
    assert "labels may be missing here: the packed data end too soon" in cut.rejected[-1].reason


WORDS = st.sampled_from([*VALUES, "2", "?", "01"])
IDS = st.sampled_from(["a", "b", "c", "00", "0", ""])


@given(st.lists(st.tuples(IDS, WORDS, WORDS), max_size=12))
def test_every_row_is_accounted_for(given_: list[tuple[str, str, str]]) -> None:
    lines = [f"{key},{value},{other}" for key, value, other in given_]
    found = labels("id,label_included,label_title\n" + "".join(f"{line}\n" for line in lines))
    places = [r.line for r in (*found.rows, *found.repeated, *found.rejected)]
    assert sorted(p for p in places if p) == list(range(2, 2 + len(lines)))
    # No record has two rows, and unknown is only what says so.
    assert len({row.key for row in found.rows}) == len(found.rows)
    for row in found.rows:
        assert VALUES[row.given.lower()] == row.value
        assert (row.value == "unknown") == (row.given.lower() in ("", "maybe", "unsure", "unknown"))


@settings(max_examples=200)
@given(st.sampled_from([b"", b"id,included\n", b"doi\tlabel_included\n"]), st.binary(max_size=80))
def test_arbitrary_bytes_raise_nothing_else(start: bytes, rest: bytes) -> None:
    try:
        found = read_labels(start + rest, filename="x")
    except IngestError:
        return
    assert all(row.line for row in (*found.rows, *found.repeated, *found.rejected))


@pytest.mark.parametrize(
    ("path", "included", "excluded"),
    [
        # Counts as published with the sets (metadata.json, and the README of the data).
        ("synergy/Menon_2022/labels.csv", 74, 901),
        ("synergy/Jeyaraman_2020/labels.csv", 96, 1079),
        ("synergy/Nelson_2002/labels.csv", 80, 286),
        ("Kitchenham_2010.csv.gz", 45, 1659),
        ("Nagtegaal_2019.csv.gz", 101, 1918),
    ],
)
def test_public_sets(shared: Path, path: str, included: int, excluded: int) -> None:
    found = read_labels(shared / "data/screening" / path)
    assert found.column == "label_included"
    assert (included, excluded, 0) == tuple(
        found.count(value) for value in ("included", "excluded", "unknown")
    )
    assert (found.rejected, found.repeated) == ((), ())


def test_abstract_screening_of_nagtegaal(shared: Path) -> None:
    file = shared / "data/screening/Nagtegaal_2019.csv.gz"
    with gzip.open(file, "rt", encoding="utf-8", newline="") as text:
        truth = {row["record_id"]: row["label_abstract_screening"] for row in csv.DictReader(text)}
    found = read_labels(file, "label_abstract_screening")
    assert found.other_columns == ("label_included",)
    assert {row.key: "1" if row.value == "included" else "0" for row in found.rows} == truth
