"""Which reader a file gets, what is said of files that nobody can read, and how bytes become text."""

import hashlib
import os
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.errors import IngestError
from ingest.readers import Parsed, Reading, read, readers, registry
from ingest.readers.bibtex import READER as BIBTEX
from schema.work import Rejected

BIB = b"@misc{a, title = {T}}\n"
CSL = b'[{"id": "a", "title": "T"}]'


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (BIB, "bibtex"),
        (b"\xef\xbb\xbf" + BIB, "bibtex"),
        (b"Saved by hand.\n\n  @Article(a,\n title={T})", "bibtex"),
        (b"@string{a = {b}}", "bibtex"),
        (b"% @misc{a, title={T}}", "bibtex"),
        (CSL, "csl-json"),
        (b'  {"title": "T"}', "csl-json"),
        (b'{"items": [{"id": 1}]}', "csl-json"),
        (b"[]", "csl-json"),
        (b'[{"title": "@misc{a, title={T}}"}]', "csl-json"),
    ],
)
def test_format_is_recognised_by_content(data: bytes, expected: str) -> None:
    reading = read(data, "wrong.pdf")
    assert expected == reading.format
    assert hashlib.sha256(data).hexdigest() == reading.sha256


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "x: the file is empty (0 bytes), so there is nothing to read."),
        (b" \n\t", "x: there is only white space in this file, so there is nothing to read."),
        (b"%PDF-1.7 ...", "x: this is a PDF, not a bibliography; export it as BibTeX or CSL-JSON."),
        (
            b"@misc{a,\x00}",
            "x: this is a binary file (zero byte at character 9); expected text such as BibTeX.",
        ),
        (b"\xff\xfe\x00", "x: starts like UTF-16 but isn't it; save the file as UTF-8."),
        (
            b"Dear  all,\nhello",
            "x: no reader recognises this file, which starts with 'Dear all, hello'; "
            "known formats, all tried: "
            "bibtex (a line that starts with '@type{key,'); "
            "csl-json (JSON objects with 'title', 'author', 'issued'); "
            "openalex (JSON with ids such as 'https://openalex.org/W2741809807', or 'authorships'); "
            "table (CSV or TSV whose first line names a column 'title' and another known one).",
        ),
    ],
)
def test_what_can_not_be_read_gets_one_sentence(data: bytes, sentence: str) -> None:
    with pytest.raises(IngestError) as error:
        read(data, "x")
    assert sentence == str(error.value)


@pytest.mark.parametrize(
    "data", [b"@media (max-width: 3px) {}", b'{"display_name": "W", "title": "T"}', b"<html>"]
)
def test_others_formats_are_not_claimed(data: bytes) -> None:
    with pytest.raises(IngestError, match="no reader recognises"):
        read(data, "x")


def test_paths(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(BIB)
    assert ("bibtex", str(file)) == (read(file).format, read(str(file)).filename)
    with pytest.raises(IngestError, match="this is a folder; give the files in it one by one"):
        read(tmp_path)
    with pytest.raises(IngestError, match="there is no such file"):
        read(tmp_path / "none.bib")
    with pytest.raises(IngestError, match="can't be read"):
        read("a\x00b")
    os.mkfifo(tmp_path / "pipe")  # opening it would wait for ever
    with pytest.raises(IngestError, match="no ordinary file"):
        read(tmp_path / "pipe")


def _only(reading: Reading) -> Parsed:
    (record,) = reading.records
    assert isinstance(record, Parsed)
    return record


@pytest.mark.parametrize(
    ("data", "note"),
    [
        ("@misc{a, title = {Café “x”}}".encode("cp1252"), "3 bytes aren't UTF-8 (first in line 1)"),
        ("@misc{a, title = {Café “x”}}".encode(), None),
        ("@misc{a, title = {Café “x”}}".encode("utf-8-sig"), None),
        ("@misc{a, title = {Café “x”}}".encode("utf-16"), "the file is UTF-16"),
    ],
)
def test_encodings(data: bytes, note: str | None) -> None:
    reading = read(data, "x")
    assert _only(reading).work.title == "Café “x”"
    assert (note is None) == (reading.notes == ())
    assert note is None or reading.notes[0].startswith(note)


def test_one_foreign_byte_does_not_spoil_the_utf8_around_it() -> None:
    reading = read("@misc{a, title = {Café}}\n".encode() + b"@misc{b, title = {Caf\xe9}}", "x")
    assert reading.notes[0].startswith("1 byte isn't UTF-8 (first in line 2)")
    assert [r.work.title for r in reading.records if isinstance(r, Parsed)] == ["Café", "Café"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_change_nothing(end: str) -> None:
    text = "@misc{a,\n title = {A\nB}}\n\n@misc{b, title={C}}\n"
    found = [(r.line, r.raw) for r in read(text.replace("\n", end).encode(), "x").records]
    assert found == [(1, "@misc{a,\n title = {A\nB}}"), (5, "@misc{b, title={C}}")]


def test_installed_readers_are_found_and_broken_ones_named(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [
        EntryPoint("bibtex", "ingest.readers.bibtex:READER", registry.GROUP),
        EntryPoint("gone", "no_such_module_of_ours:READER", registry.GROUP),
        EntryPoint("odd", "json:dumps", registry.GROUP),
        EntryPoint("mine", "ingest.readers.bibtex:READER", registry.GROUP),
    ]
    monkeypatch.setattr(registry, "entry_points", lambda group: points)
    monkeypatch.setattr(EntryPoint, "load", _load_mine(EntryPoint.load))
    found, problems = readers()
    assert list(found) == ["bibtex", "csl-json", "openalex", "table", "mine"]
    assert "'gone' (no_such_module_of_ours:READER) can't be loaded" in problems[0]
    assert "'odd' (json:dumps) isn't an ingest.readers.Reader" in problems[1]
    assert problems == read(BIB, "x").notes


def _load_mine(load):  # type: ignore[no-untyped-def]
    return lambda point: replace(BIBTEX, format="mine") if point.name == "mine" else load(point)


def _accounted(data: bytes) -> None:
    try:
        reading = read(data, "x")
    except IngestError:
        return
    for record in reading.records:
        assert isinstance(record, Parsed | Rejected)
        assert record.raw or "JSON" in record.reason  # nothing is left where a file is cut off
        if isinstance(record, Parsed):
            record.work.model_dump_json()


SCRAPS = st.sampled_from(
    [
        b'@misc{', b'@article(', b'a,', b'title', b'=', b'{', b'}', b'"', b'#', b'\n', b'\r\n', b'\\',
        b'%', b'@string{', b'@comment', b'author={A and ', b'year=', b'jul', b'[', b']', b'{"title":"T"',
        b'"issued":{"date-parts":[[', b',', b'"author":[{"family":', b'1e999', b'NaN', b'\\ud800',
        b'\xe9', b'\xc3\xa9', b'\xef\xbb\xbf', b'doi={10.1000/x}', b'"items":', b':', b'crossref={a}',
        b'null', b'(', b')', b' and others', b'$', b'~', b'--', b"\\'", b'&lt;',
    ]
)  # fmt: skip


@settings(max_examples=200)
@given(st.one_of(st.binary(max_size=300), st.lists(SCRAPS, max_size=40).map(b"".join)))
def test_arbitrary_bytes_raise_nothing_else(data: bytes) -> None:
    _accounted(data)


@settings(max_examples=200)
@given(
    st.sampled_from([b"@misc{a, title={T}}\n", b'[{"title":"T"},{"title":']), st.lists(SCRAPS, max_size=40)
)
def test_recognised_files_with_anything_behind_raise_nothing(start: bytes, scraps: list[bytes]) -> None:
    _accounted(start + b"".join(scraps))


@pytest.mark.parametrize(
    "data",
    [
        b"@a{b,\n" * 5_000,
        b"@misc{a, title={" + b"{" * 50_000,
        b"@misc{a,title={x},author={" + b" " * 200_000 + b"}}" + b"\n}" * 50_000,
        b'@string{a="xxxxxxxxxx"}'
        + b"".join(b"\n@string{a%d = a%d # a%d}" % (i, i - 1, i - 1) for i in range(1, 1000))
        + b"\n@misc{k, title = a1 # a999 # a999}",  # doubles a thousand times
        b"@misc{a,title={x},doi={10.1000/%" + b"25" * 50_000 + b"}}",
        b"[" * 100_000,
        b'[{"title":' + b"[" * 100_000,
        b'[{"title":"T","year":' + b"9" * 100_000 + b"}]",
        b'[{"title":"T"},' + b" " * 100_000,
    ],
)
def test_hostile_files_end_soon(data: bytes) -> None:
    _accounted(data)
