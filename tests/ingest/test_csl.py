"""CSL-JSON: shapes that programs write, and what is said of broken ones."""

import json
from typing import Any

import pytest

from ingest.readers import Parsed, read
from schema.work import Rejected


def records(data: Any) -> list[Parsed | Rejected]:
    text = data if isinstance(data, str) else json.dumps(data)
    return list(read(text.encode(), "x.json").records)


def one(**fields: Any) -> Parsed:
    (record,) = records([{"title": "T", **fields}])
    assert isinstance(record, Parsed), record
    return record


def test_a_whole_item() -> None:
    record = one(
        id="http://zotero.org/1",
        type="article-journal",
        title="On <i>E. coli</i>",
        author=[
            {"family": "Berg", "given": "Jan", "non-dropping-particle": "van der", "suffix": "Jr"},
            {"literal": "World Health Organization"},
            {"family": "Carberry", "given": "Josiah", "ORCID": "http://orcid.org/0000-0002-1825-0097"},
        ],
        issued={"date-parts": [["2020", 3, 1]]},
        **{
            "container-title": "J. of X",
            "DOI": "10.1000/ABC",
            "URL": "https://doi.org/10.1000/abc",
            "PMID": 123,
        },
        language="en",
        abstract="<jats:title>Abstract</jats:title><jats:p>p &lt; 0.05</jats:p>",
    )
    work = record.work
    assert (record.key, record.line, record.notes) == ("http://zotero.org/1", 1, ())
    assert work.title == "On E. coli"
    assert [a.name for a in work.authors] == [
        "Jan van der Berg Jr",
        "World Health Organization",
        "Josiah Carberry",
    ]
    assert work.authors[2].orcid == "0000-0002-1825-0097"
    assert (work.year, work.venue, work.type, work.language) == (2020, "J. of X", "article-journal", "en")
    assert (work.abstract.text, work.abstract.source) == ("p < 0.05", "CSL-JSON record")
    assert [(i.scheme, i.value) for i in work.identifiers] == [("doi", "10.1000/abc"), ("pmid", "123")]


@pytest.mark.parametrize(
    "text",
    ['[{"title":"T"}]', '{"title":"T"}', '{"items": [{"title":"T"}], "next": 1}', ' [ {"title":"T"} ] \n'],
)
def test_list_item_or_wrapped(text: str) -> None:
    (record,) = records(text)
    assert isinstance(record, Parsed)
    assert record.raw == '{"title":"T"}'


def test_an_empty_list_has_no_records() -> None:
    assert records("[]") == []


@pytest.mark.parametrize(
    ("issued", "year", "note"),
    [
        ({"date-parts": [[2019, 12]]}, 2019, None),
        ({"date-parts": [["2019"], ["2020"]]}, 2019, None),  # a range begins in 2019
        ({"date-parts": [[2019.0]]}, 2019, None),
        ({"raw": "2019-12-01"}, 2019, None),
        ({"literal": "in press"}, None, "the year is given as 'in press'"),
        ({"date-parts": [[None]]}, None, None),
        ({"date-parts": [[99]]}, None, "the year is given as '99'"),
        ("Spring 2019", 2019, "the year is given as 'Spring 2019'"),
        ({}, None, None),
        (None, None, None),
        (True, None, None),
    ],
)
def test_years(issued: Any, year: int | None, note: str | None) -> None:
    work = one(issued=issued).work
    assert (year, note) == (work.year, work.note)


def test_bad_items_are_set_aside_by_number_and_line() -> None:
    text = '[\n {"title": "T", "id": 1},\n 3,\n {"title": " "},\n null,\n {"title": "U", "id": 1}\n]'
    first, number, untitled, null, last = records(text)
    assert isinstance(first, Parsed)
    assert isinstance(last, Parsed)
    assert [
        Rejected(line=3, raw="3", reason="item 2 is a number; expected an object with a title"),
        Rejected(line=4, raw='{"title": " "}', reason="item 3 has no title; expected a text under 'title'"),
        Rejected(line=5, raw="null", reason="item 4 is null; expected an object with a title"),
    ] == [number, untitled, null]
    assert (first.key, last.key, last.line) == ("1", "1#2", 6)
    assert "the key '1' was used before (first in line 2)" in last.notes[0]


@pytest.mark.parametrize(
    ("tail", "raw", "reason"),
    [
        (
            ',\n {"title": oops}]',
            '{"title": oops}]',
            "item 2: JSON syntax error in line 2, column 12: Expecting value",
        ),
        (
            '\n {"title": "U"}]',
            '{"title": "U"}]',
            "item 2: JSON syntax error in line 2, column 2: expected ',' or ']' after item 1, found '{'",
        ),
        (
            "",
            "",
            "item 2: JSON syntax error in line 1, column 15: expected ',' or ']' after item 1, the file ends",
        ),
        ("] [1]", " [1]", "item 2: more text follows the end of the JSON"),
        (
            ',\n {"title": "U", "number": ' + "[" * 5000,
            '{"title": "U", "number": ' + "[" * 5000,
            "item 2: the JSON is nested too deeply to be a bibliographic item",
        ),
    ],
    ids=["value", "comma", "cut off", "behind", "deep"],
)
def test_a_syntax_error_keeps_what_came_before(tail: str, raw: str, reason: str) -> None:
    good, broken = records('[{"title":"T"}' + tail)
    assert isinstance(good, Parsed)
    assert isinstance(broken, Rejected)
    assert (raw, reason) == (broken.raw, broken.reason)


def test_a_wrapper_that_is_not_closed() -> None:
    good, broken = records('{"items": [{"title":"T"}], "x": ')
    assert isinstance(good, Parsed)
    assert isinstance(broken, Rejected)
    assert broken.reason == "the object around 'items' isn't closed properly; expected '}'"


def test_a_repeated_json_key_uses_the_last_and_says_so() -> None:
    (record,) = records('[{"title": "A", "title": "B"}]')
    assert isinstance(record, Parsed)
    assert record.work.title == "B"
    assert record.notes == ("the key 'title' comes twice; the last value is used",)
    assert record.raw == '{"title": "A", "title": "B"}'


def test_half_characters_do_not_break_the_record() -> None:
    record = one(title="A\ud800B")
    assert record.work.title == "A\ufffdB"
    record.work.model_dump_json()


@pytest.mark.parametrize(
    ("author", "names"),
    [
        (["Jane Doe"], ["Jane Doe"]),
        ({"family": "Doe"}, ["Doe"]),
        ([{"name": "Group"}, {}, None], ["Group"]),
        ([{"family": 3}], []),
        ("Jane Doe", ["Jane Doe"]),
        (7, []),
    ],
)
def test_odd_authors(author: Any, names: list[str]) -> None:
    assert names == [a.name for a in one(author=author).work.authors]


def test_isbn_of_a_chapter_and_bad_identifiers_are_noted() -> None:
    chapter = one(
        type="chapter", ISBN="978-0-306-40615-7", DOI="none", author=[{"family": "A", "ORCID": "x"}]
    )
    assert chapter.work.identifiers == ()
    assert chapter.notes == (
        "the ORCID 'x' isn't valid and is left out",
        "DOI 'none' isn't a valid doi and is left out",
        "the ISBN '978-0-306-40615-7' names a whole book, not this chapter; it is left out",
    )
    book = one(type="book", ISBN=["978-0-306-40615-7", "0306406152"])
    assert [i.value for i in book.work.identifiers] == ["9780306406157"]


def test_zotero_puts_arxiv_elsewhere() -> None:
    found = one(number="arXiv:2008.09213v2").work.identifiers
    assert [(i.scheme, i.value, i.version) for i in found] == [("arxiv", "2008.09213", "v2")]
