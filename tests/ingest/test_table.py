"""Tables of records: delimiters, quotes, encodings, what columns become, and what becomes of bad rows."""

import csv
import gzip
import io
import os
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest import delimited
from ingest.delimited import LONGEST_CELL, Header, Row, header_of, rows
from ingest.errors import IngestError
from ingest.readers import Parsed, read, table
from schema.work import Abstract, Rejected, Work

works = run_path(str(Path(__file__).with_name("strategies.py")))["works"]


def records(data: str | bytes) -> list[Parsed | Rejected]:
    reading = read(data.encode() if isinstance(data, str) else data, "x")
    assert reading.format == "table"
    return list(reading.records)


def one(**cells: str) -> Parsed:
    """The record of a table with one row."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["title", *cells] if "title" not in cells else cells)
    writer.writerow(["T", *cells.values()] if "title" not in cells else cells.values())
    (found,) = records(out.getvalue())
    assert isinstance(found, Parsed), found
    return found


def titles(found: list[Parsed | Rejected]) -> list[str]:
    return [r.work.title for r in found if isinstance(r, Parsed)]


def rejected(found: list[Parsed | Rejected]) -> list[tuple[int | None, str]]:
    return [(r.line, r.reason) for r in found if isinstance(r, Rejected)]


def test_a_whole_row() -> None:
    text = (
        "record_id,primary_title,notes_abstract,authors,year,journal,doi,pmid,openalex_id,arxiv,type,language,"
        "keywords,label_included\n"
        '00e1,On <i>E. coli</i>,"<p>It, "" ends.</p>","Doe, Jane; Roe, John",2006.0,J. of X,'
        "https://doi.org/10.1000/ABC,12345.0,https://openalex.org/W2741809807,2008.09213v2,article,en,"
        "a; b;a,1\n"
    )
    (found,) = records(text)
    assert isinstance(found, Parsed)
    assert (found.key, found.line, found.notes) == ("00e1", 2, ())  # never 0.0
    assert found.raw == text.rstrip("\n")  # a row can be read only with its header
    work = found.work
    assert (work.title, work.year, work.venue, work.type, work.language) == (
        "On E. coli", 2006, "J. of X", "article", "en",
    )  # fmt: skip
    assert work.abstract == Abstract(text='It, " ends.', source="table, column 'notes_abstract'")
    assert [a.name for a in work.authors] == ["Jane Doe", "John Roe"]
    assert work.topics == ("a", "b")
    assert [(i.scheme, i.value, i.version) for i in work.identifiers] == [
        ("openalex", "W2741809807", None), ("doi", "10.1000/abc", None), ("pmid", "12345", None),
        ("arxiv", "2008.09213", "v2"),
    ]  # fmt: skip


def test_the_columns_that_were_taken_are_said() -> None:
    reading = read(b"key;Primary Title;title;Publication Year;label_included\n1;a;b;2001;0\n", "x")
    assert reading.notes == (
        "a table with semicolons between cells; key from 'key', title from 'title', "
        "year from 'Publication Year'",
        "columns that aren't used: 'Primary Title', 'label_included'",
    )
    assert titles(list(reading.records)) == ["b"]


@pytest.mark.parametrize(
    "header",
    [
        "title,year", "\ufeffTitle,Year", "TI\tPY", "Title;Year", "title|year", '"title","year"',
        "sep=;\nTitle;Year", "\n\ntitle,year", "ISSN,title,publication_year", "Title ,  YEAR", "id,title",
    ],
)  # fmt: skip
def test_headers_that_are_recognised(header: str) -> None:
    assert table.recognises(header + "\n1\n")


@pytest.mark.parametrize(
    "text",
    [
        "title\nT\n", "year,doi\n2001,x\n", "openalex_id,doi,pmid,label_included\n", "Title, a subtitle\n",
        '{"title": "T", "year": 1}', '[{"title", "year"}]', "@misc{title, year}", "", "\n",
        "TI  - T\nPY  - 2001", "<title,year>", "Dear all,\nhello",
    ],
)  # fmt: skip
def test_others_are_not_claimed(text: str) -> None:
    assert not table.recognises(text)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_delimiters_and_line_ends(delimiter: str, end: str) -> None:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end)
    given = [
        ["title", "year", "abstract"],
        ["A", "2001", f'x{delimiter} "y"'],
        ["B", "2002", f"two{end}lines"],
    ]
    writer.writerows([*given, ["C", "2003", ""]])
    found = records(out.getvalue().encode())
    parsed = [r for r in found if isinstance(r, Parsed)]
    assert [(r.work.title, r.work.year, r.work.abstract.text, r.line) for r in parsed] == [
        ("A", 2001, " ".join(f'x{delimiter} "y"'.split()), 2),
        ("B", 2002, "two lines", 3),
        ("C", 2003, None, 5),
    ]


def test_quotes_that_are_plain_characters() -> None:
    # As MySQL and Web of Science write: no cell is quoted, and a quote is a quote.
    found = records('title\tyear\n"Hello" said the cat\t2001\n5" disks\t2002\n')
    assert titles(found) == ['"Hello" said the cat', '5" disks']
    assert titles(records('title\tyear\n"A\tB"\t2001\n"C ""D"""\t2002\n')) == ["A B", 'C "D"']


@pytest.mark.parametrize(
    ("encoding", "file_notes", "record_notes"),
    [
        ("utf-8", 0, ()),
        ("utf-8-sig", 0, ()),
        ("utf-16", 1, ()),
        ("cp1252", 0, ("3 bytes aren't UTF-8; read as Windows-1252 (Latin-1), so check the accents there",)),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_encodings(encoding: str, file_notes: int, record_notes: tuple[str, ...], pack: Any) -> None:
    reading = read(pack("title,year\nCafé “x”,2001\nplain,2002\n".encode(encoding)), "x")
    assert [n.startswith("the file is UTF-16") for n in reading.notes].count(True) == file_notes
    first, second = reading.records
    assert isinstance(first, Parsed)
    assert isinstance(second, Parsed)
    assert first.work.title == "Café “x”"
    assert (first.notes, second.notes) == (record_notes, ())


@pytest.mark.parametrize(
    ("rows_", "kept", "reasons"),
    [
        ("A,1\nB\nC,3", ["A", "C"], [(3, "the row has 1 cells; expected 2, as in the header")]),
        ("A,1,x\nC,3", ["C"], [(2, "the row has 3 cells; expected 2, as in the header")]),
        ("A,1,,\nC,3", ["A", "C"], []),  # nothing is lost with empty cells behind
        ("A,1\n\n\nC,3", ["A", "C"], []),
        ("A,1\n,\n ,3", ["A"], [(3, "the row has no title: every cell of the row is empty"),
                                (4, "the row has no title: 'title' is empty")]),
        ("A\x00,1\nC,3", ["C"], [(2, "the row holds a zero byte")]),
        ('A,1\n"B,2\nC,3\n"D",4', ["A", "C", "D"],
         [(3, "a quote inside a quoted cell isn't doubled, or a quoted cell isn't closed")]),
        ('A,1\nB,"2\nC,3\nD,4', ["A", "C", "D"], [(3, "a quote opens a cell and is never closed")]),
        ('A,1\n"B "x" y\nmore\nlines",2\nC,3', ["A", "C"],
         [(3, "a quote inside a quoted cell isn't doubled, or a quoted cell isn't closed")]),
        # Lines of a cell are no rows, though they look like some.
        ('A,1\n"B "x y\nlines",2\nC,3', ["A", "C"],
         [(3, "a quote inside a quoted cell isn't doubled, or a quoted cell isn't closed")]),
        ('A,1\n"B "x" y\nmore,2\nlines",2\nC,3', ["A", "C"],
         [(3, "a quote inside a quoted cell isn't doubled, or a quoted cell isn't closed")]),
        ('A,1\n"B\nmore,2\nx "y" z,3\nlines",2\nC,3', ["A", "C"],
         [(3, "a quote inside a quoted cell isn't doubled, or a quoted cell isn't closed")]),
    ],
)  # fmt: skip
def test_bad_rows_cost_only_themselves(
    rows_: str, kept: list[str], reasons: list[tuple[int | None, str]]
) -> None:
    for end in ("", "\n"):
        found = records("title,year\n" + rows_ + end)
        assert (kept, reasons) == (titles(found), rejected(found))


def test_fields_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    long = "x" * (LONGEST_CELL + 1)
    found = records(f"title,year\nA,1\n{long},2\nC,3\n")
    assert titles(found) == ["A", "C"]
    assert rejected(found) == [(3, "a cell is longer than 131,072 characters")]
    body = "".join(f"row {i},{i}\n" for i in range(20_000))
    found = records(f'title,year\nA,1\nB,"2\n{body}')
    assert len(titles(found)) == 20_001  # only the row with the open quote is lost
    assert rejected(found) == [(3, "a quote opens a cell and isn't closed within what a cell may hold")]
    monkeypatch.setattr(delimited, "LONGEST_ROW", 1_000)
    found = records(f"title,year\nA,1\n{'y' * 100_000},2\nC,3\n")
    assert titles(found) == ["A", "C"]
    assert rejected(found) == [(3, "the line has 100,003 characters; at most 1,000 are read")]


def test_broken_rows_are_kept_as_they_came() -> None:
    (good, bad) = records('title,year\nA,1\n"B "x" y\nmore"\n')
    assert isinstance(good, Parsed)
    assert isinstance(bad, Rejected)
    assert bad.raw == '"B "x" y\nmore"'


def test_hostile_tables_end_soon() -> None:
    header = "title,year\n"
    for body in ('"\n' * 5_000, '"a\n' * 5_000, '","\n' * 5_000, '"a\n","' * 5_000, ",\n" * 5_000,
                 '""' * 50_000, '"a\n"",' * 5_000):  # fmt: skip
        found = records(header + body)
        assert all(isinstance(r, Rejected) for r in found) or len(found) > 1_000


def test_lines_are_read_again_only_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "LONGEST_ROW", 2_000)

    def pulled(count: int) -> int:
        # Each row opens a quote that closes and opens on every line, and so never ends.
        lines = delimited._Lines(io.StringIO('a,"x\n' + 'b","x\n' * count))
        steps = 0
        original = delimited._Lines.__next__

        def counted(self: delimited._Lines) -> str:
            nonlocal steps
            steps += 1
            return original(self)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(delimited._Lines, "__next__", counted)
            list(rows(lines._stream, Header(("title", "year"), ",", 0, "")))
        return steps

    # 2,000 characters are some 300 lines, each of which would be read as often.
    assert pulled(4_000) < 15 * 4_000


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        ("Jane Doe; John Roe", ["Jane Doe", "John Roe"]),
        ("Doe, Jane;Roe, J.", ["Jane Doe", "J. Roe"]),
        ("Jane Doe|John Roe", ["Jane Doe", "John Roe"]),
        ("Jane Doe and John Roe", ["Jane Doe", "John Roe"]),
        ("Jane Doe, John Roe", ["Jane Doe", "John Roe"]),
        ("Doe J., Roe J.", ["Doe J.", "Roe J."]),
        ("Doe, Jane", ["Jane Doe"]),
        ("Doe", ["Doe"]),
        ("Doe, J., Roe, J.", ["Doe, J., Roe, J."]),  # two people or more; it isn't certain who
        ("Jane Doe et al.", ["Jane Doe"]),
        ("", []),
        (" ; ", []),
    ],
)
def test_authors(cell: str, names: list[str]) -> None:
    found = one(authors=cell)
    assert names == [a.name for a in found.work.authors]
    assert (found.notes != ()) == ("J., Roe, J." in cell)
    assert (found.work.note is not None) == ("et al" in cell)


@pytest.mark.parametrize(
    ("cell", "year", "note"),
    [
        ("2001", 2001, None), ("2001.0", 2001, None), ("2001-05-31", 2001, None), ("2001/05//", 2001, None),
        ("May 2001", 2001, "the year is given as 'May 2001'"), ("n.d.", None, "the year is given as 'n.d.'"),
        ("", None, None), ("12001", None, "the year is given as '12001'"),
    ],
)  # fmt: skip
def test_years(cell: str, year: int | None, note: str | None) -> None:
    work = one(year=cell).work
    assert (year, note) == (work.year, work.note)


def test_names_of_rows() -> None:
    found = records(
        "id,title\n01234,A\n1234,B\n01234,C\n,D\nhttps://openalex.org/W2741809807,E\nW2741809807,F\n"
    )
    parsed = [r for r in found if isinstance(r, Parsed)]
    assert [r.key for r in parsed][:4] == ["01234", "1234", "01234#2", ""]
    assert "the key '01234' was used before (first in line 2)" in parsed[2].notes[0]
    # An address names a work; a bare key is the file's own.
    assert [len(r.work.identifiers) for r in parsed[4:]] == [1, 0]


def test_identifiers_that_are_none_are_noted() -> None:
    assert one(doi="see text", PMID="n/a").notes == (
        "doi 'see text' isn't a valid doi and is left out",
        "PMID 'n/a' isn't a valid pmid and is left out",
    )


def test_a_row_of_nothing_but_markup_has_no_title() -> None:
    (found,) = records("title,year\n<p></p>,2001\n")
    assert isinstance(found, Rejected)


@settings(max_examples=60)
@given(
    st.lists(works, min_size=1, max_size=6),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_what_is_written_comes_back(written: list[Work], delimiter: str, quoting: Any, encoding: str) -> None:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, quoting=quoting)
    writer.writerow(["key", "title", "abstract", "authors", "year", "journal", "doi", "arxiv", "url"])
    for number, work in enumerate(written):
        named = {i.scheme: i.value + (i.version or "") for i in work.identifiers}
        authors = "; ".join(a.name for a in work.authors)
        row = [f"k{number}", work.title, work.abstract.text, authors, work.year, work.venue]
        writer.writerow([*row, *(named.get(scheme) for scheme in ("doi", "arxiv", "url"))])
    found = records(out.getvalue().encode(encoding))
    expected = []
    for work in written:
        text = work.abstract.text
        abstract = Abstract(text=text, source="table, column 'abstract'") if text else Abstract()
        expected.append(work.model_copy(update={"abstract": abstract}))
    assert expected == [r.work for r in found if isinstance(r, Parsed)]
    assert len(written) == len(found)
    assert all(r.notes == () for r in found if isinstance(r, Parsed))


CELLS = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\r\x00"), max_size=12)


@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), max_size=8), st.sampled_from([",", ";", "\t"]))
def test_cells_are_those_that_the_csv_module_wrote(given_: list[list[str]], delimiter: str) -> None:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(
        [["title", "year", "x"], *given_]
    )
    header = header_of(out.getvalue(), {"title", "year"}.__contains__)
    assert header is not None
    assert header == Header(
        ("title", "year", "x"), delimiter, 1, delimiter.join(['"title"', '"year"', '"x"'])
    )
    found = list(rows(io.StringIO(out.getvalue()), header))
    assert [tuple(row) for row in given_] == [row.cells for row in found if isinstance(row, Row)]
    assert len(given_) == len(found)


GOOD = st.integers(0, 999).map(lambda n: f"title {n},{n}")
BAD = st.sampled_from(["a,b,c", "only one", "a\x00,b", ",", '"a"b,c', 'x,"y"z'])


@given(st.lists(GOOD | BAD, max_size=10))
def test_every_row_is_accounted_for(lines: list[str]) -> None:
    found = records("title,year\n" + "\n".join(["start,1", *lines, "end,2"]) + "\n")
    good = [line for line in ["start,1", *lines, "end,2"] if line.startswith(("title ", "start", "end"))]
    assert good == [r.raw.partition("\n")[2] for r in found if isinstance(r, Parsed)]
    # A run of rows around a broken quote is one rejected record, which holds them all.
    raws = "\n".join(r.raw for r in found if isinstance(r, Rejected))
    assert [line for line in lines if not line.startswith("title ")] == raws.splitlines()


SCRAPS = st.sampled_from(
    [
        b"title,year\n", b"title\tyear\n", b"a", b",", b";", b"\t", b'"', b'""', b"\n", b"\r\n", b"\r",
        b"\x00", b"\xe9", b"\xc3\xa9", b"\xff\xfe", b"1" * 300, b" ", b"sep=;\n", b"doi", b"\xef\xbb\xbf",
        b"<p>",
        b"\\", b"\x1f\x8b", b"PK",
    ]
)  # fmt: skip


@settings(max_examples=200)
@given(
    st.sampled_from([b"", b"title,year\nA,1\n", b"id;title;authors;keywords\n", b"title\tdoi\n"]),
    st.one_of(st.lists(SCRAPS, max_size=30).map(b"".join), st.binary(max_size=100)),
)
def test_arbitrary_bytes_raise_nothing(start: bytes, rest: bytes) -> None:
    try:
        reading = read(start + rest, "x")
    except IngestError:
        return
    for record in reading.records:
        assert isinstance(record, Parsed | Rejected)
        (record.work if isinstance(record, Parsed) else record).model_dump_json()


@pytest.mark.parametrize(
    ("name", "count", "without"), [("Kitchenham_2010", 1704, 4), ("Nagtegaal_2019", 2019, 169)]
)
def test_public_sets(shared: Path, name: str, count: int, without: int) -> None:
    file = shared / "data/screening" / f"{name}.csv.gz"
    found = list(read(file).records)
    assert len(found) == count
    assert rejected(found) == []
    with gzip.open(file, "rt", encoding="utf-8", newline="") as text:
        truth = list(csv.DictReader(text))
    for record, row in zip(found, truth, strict=True):
        assert isinstance(record, Parsed)
        assert record.key == row["record_id"]
        printable = "".join(c for c in row["title"] if c.isprintable() or c.isspace())
        assert record.work.title.split() == printable.split() or set("<&") & set(printable)
        assert record.work.year == (int(row["year"]) if "year" in row else None)
    assert sum(r.work.abstract.text is None for r in found if isinstance(r, Parsed)) == without


def test_the_header_may_be_longer_than_a_read(tmp_path: Path) -> None:
    file = tmp_path / "wide.csv"
    file.write_text(
        "title,year," + ",".join(f"c{i}" for i in range(20_000)) + "\nT,2001" + "," * 20_000 + "\n"
    )
    assert os.path.getsize(file) > 1 << 16
    with pytest.raises(IngestError, match="no reader recognises"):
        list(read(file).records)
