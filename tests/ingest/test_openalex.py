"""OpenAlex JSON: every shape in which works come, what fields become, what is said of broken ones."""

import contextlib
import gzip
import io
import json
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest import json_stream
from ingest.errors import IngestError
from ingest.readers import Parsed, Reading, openalex, read
from schema.work import Abstract, Identifier, Rejected, Work

works = run_path(str(Path(__file__).with_name("strategies.py")))["works"]
ID = "https://openalex.org/W%d"


def record(number: int = 1000, **fields: Any) -> dict[str, Any]:
    return {"id": ID % number, "title": "T", **fields}


def records(data: Any) -> list[Parsed | Rejected]:
    text = data if isinstance(data, str) else json.dumps(data)
    reading = read(text.encode(), "x.bin")
    assert reading.format == "openalex"
    return list(reading.records)


def one(**fields: Any) -> Parsed:
    (found,) = records([record(**fields)])
    assert isinstance(found, Parsed), found
    return found


def rejected(found: list[Parsed | Rejected]) -> list[Rejected]:
    return [r for r in found if isinstance(r, Rejected)]


def keys(found: list[Parsed | Rejected]) -> list[str]:
    return [r.key for r in found if isinstance(r, Parsed)]


def test_a_whole_work() -> None:
    found = one(
        id="https://openalex.org/w2741809807",
        doi="https://doi.org/10.7717/PEERJ.4375",
        title="The state of <i>OA</i> &amp; its impact",
        display_name="Other",
        publication_year=2018,
        ids={"pmid": "https://pubmed.ncbi.nlm.nih.gov/29456894", "mag": 2741809807},
        primary_location={
            "source": {"display_name": "PeerJ"},
            "landing_page_url": "https://doi.org/10.7717/x",
        },
        locations=[{"landing_page_url": "http://arxiv.org/abs/1802.01234v2", "pdf_url": None}],
        type="article",
        language="en",
        authorships=[
            {"author": {"display_name": "Heather Piwowar", "orcid": "https://orcid.org/0000-0003-1613-5981"}},
            {"author": {"display_name": None}, "raw_author_name": "Jason Priem"},
        ],
        is_retracted=False,
        abstract_inverted_index={"open": [1], "Is": [0], "access": [2, 4], "better": [3]},
        primary_topic={"display_name": "Bibliometrics", "field": {"display_name": "Decision Sciences"}},
        topics=[{"display_name": "Second", "score": 0.4}, {"display_name": "First", "score": 0.9}],
        concepts=[{"display_name": "Computer science", "level": 0, "score": 0.9}],
    )
    assert (found.key, found.line, found.notes) == ("W2741809807", 1, ())
    work = found.work
    assert work.title == "The state of OA & its impact"
    assert [(a.name, a.orcid) for a in work.authors] == [
        ("Heather Piwowar", "0000-0003-1613-5981"),
        ("Jason Priem", None),
    ]
    assert (work.year, work.venue, work.type, work.language) == (2018, "PeerJ", "article", "en")
    assert work.abstract == Abstract(
        text="Is open access better access", source="OpenAlex abstract_inverted_index"
    )
    assert (work.topics, work.field) == (("First", "Second"), "Decision Sciences")
    assert [(i.scheme, i.value) for i in work.identifiers] == [
        ("openalex", "W2741809807"), ("doi", "10.7717/peerj.4375"), ("pmid", "29456894"),
        ("arxiv", "1802.01234"),
    ]  # fmt: skip
    assert (work.retraction, work.note) == (None, None)


def test_fields_of_older_dumps() -> None:
    concepts = [("Medicine", 0, "0.4"), ("Surgery", 1, "0.9"), ("Biology", 0, 0.7), ("Art", 0, "0")]
    work = one(
        title=None,
        display_name="T",
        host_venue={"display_name": "BMJ"},
        primary_location={"source": None},
        concepts=[{"display_name": name, "level": level, "score": score} for name, level, score in concepts],
        abstract_inverted_index=json.dumps(
            {"IndexLength": 3, "InvertedIndex": {"a": [0, 2], "InvertedIndex": [1]}}
        ),
        is_retracted=True,
        is_authors_truncated=True,
        authorships=[{"author": {"display_name": "A"}}],
    ).work
    assert (work.title, work.venue) == ("T", "BMJ")
    assert work.topics == ("Biology", "Medicine")  # of the top level, by score; what scores 0 is an ancestor
    assert work.abstract.text == "a InvertedIndex a"
    assert work.retraction == "OpenAlex marks this work as retracted"
    assert work.note == "OpenAlex names only the first 1 authors here"


@pytest.mark.parametrize(
    ("index", "text", "notes"),
    [
        ({"b": [1], "a": [0]}, "a b", ()),
        ({"b": [7], "a": [2]}, "a b", ("6 positions of the abstract hold no word",)),
        ({"b": [0], "a": [0, 1]}, "b a a", ("1 words of the abstract share the position of another",)),
        (
            {"a": [0, -1, "1", True, 1.0], "b": 3},
            "a",
            ("5 positions of the abstract aren't whole numbers from 0 and are left out",),
        ),
        ({"a": [0, 10**15]}, "a a", ("999999999999999 positions of the abstract hold no word",)),
        ({"<p>a": [0], "b</p>": [1]}, "a b", ()),
        ({}, None, ()),
        (None, None, ()),
        ("", None, ()),
        ("no JSON", None, ("abstract_inverted_index is a text that isn't JSON; it is left out",)),
        ([1], None, ("abstract_inverted_index isn't an object of words and positions; it is left out",)),
    ],
)
def test_abstracts(index: Any, text: str | None, notes: tuple[str, ...]) -> None:
    found = one(abstract_inverted_index=index)
    assert (text, notes) == (found.work.abstract.text, found.notes)
    # Without an abstract it is said why; without an index no source is named.
    assert (text is None) == (found.work.abstract.note == "the OpenAlex record has no abstract")
    assert (text is None) == (found.work.abstract.source is None)


@pytest.mark.parametrize(
    ("fields", "year", "note"),
    [
        ({"publication_year": 2019}, 2019, None),
        ({"publication_year": "2019"}, 2019, None),
        ({"publication_year": 2019.0}, 2019, None),
        ({"publication_year": None, "publication_date": "2019-12-01"}, 2019, None),
        ({"publication_year": 99}, None, "the year is given as '99'"),
        ({"publication_year": True}, None, "the year is given as 'True'"),
        ({"publication_year": float("inf")}, None, "the year is given as 'inf'"),
        ({}, None, None),
    ],
)
def test_years(fields: dict[str, Any], year: int | None, note: str | None) -> None:
    work = one(**fields).work
    assert (year, note) == (work.year, work.note)


def test_two_arxiv_numbers_of_one_work_are_a_sign_of_two_works() -> None:
    found = one(
        locations=[
            {"landing_page_url": f"https://arxiv.org/abs/{number}"} for number in ("2001.00001", "2002.00002")
        ]
    )
    assert [i.scheme for i in found.work.identifiers] == ["openalex"]
    assert found.notes == ("its locations name 2 arXiv papers (2001.00001, 2002.00002); none is taken",)


def test_bad_identifiers_and_odd_values_are_noted() -> None:
    found = one(doi="none", ids={"pmid": "x"}, is_retracted="perhaps", topics=3, authorships={"author": 1},
                primary_location=[], locations="x", language=7)  # fmt: skip
    assert found.notes == (
        "doi 'none' isn't a valid doi and is left out",
        "pmid 'x' isn't a valid pmid and is left out",
        "is_retracted is 'perhaps'; expected true or false",
    )
    authors = [{"author": {"display_name": "A", "orcid": "https://orcid.org/0000-0002-6847-462"}}, {}]
    assert one(authorships=authors).notes == (
        "the ORCID 'https://orcid.org/0000-0002-6847-462' isn't valid and is left out",
        "an author without a readable name is left out",
    )


A, B = json.dumps(record(1111)), json.dumps(record(2222))
PAGE = '{"meta": {"count": 2}, "group_by": [], "results": [%s]}'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (A, ["W1111"]),
        (json.dumps(record(1111), indent=2), ["W1111"]),
        (f"[{A}, {B}]", ["W1111", "W2222"]),
        (f" [\n{A},\n{B}\n]\n", ["W1111", "W2222"]),
        (f"{A}\n{B}\n", ["W1111", "W2222"]),
        (f"{A}\r\n\r\n{B}", ["W1111", "W2222"]),
        (f"{A},\n{B},\n", ["W1111", "W2222"]),
        (f"{json.dumps(record(1111), indent=1)}\n{json.dumps(record(2222), indent=1)}", ["W1111", "W2222"]),
        (PAGE % f"{A}, {B}", ["W1111", "W2222"]),
        (f'{{"results": [{A}], "meta": {{"results": [1]}}}}', ["W1111"]),
        (f"{PAGE % A}\n{PAGE % B}\n", ["W1111", "W2222"]),  # a page a line
        (f"[{PAGE % A}, {PAGE % B}]", ["W1111", "W2222"]),
        (f"[[{A}], [{B}]]", ["W1111", "W2222"]),  # as clients collect pages
        (f"[{A} {B}]", ["W1111", "W2222"]),
        (PAGE % "", []),
        ("\ufeff" + A, ["W1111"]),
    ],
)
@pytest.mark.parametrize("chunk", [1, 13, 1 << 20])
def test_shapes(monkeypatch: pytest.MonkeyPatch, text: str, expected: list[str], chunk: int) -> None:
    monkeypatch.setattr(json_stream, "_CHUNK", chunk)
    found = records(text)
    assert expected == keys(found)
    assert rejected(found) == []
    for parsed in found:  # the text of each is what the file has there
        assert isinstance(parsed, Parsed)
        plain = text.removeprefix("\ufeff").replace("\r\n", "\n")
        offset = parsed.offset or 0
        assert plain[offset : offset + len(parsed.raw)] == parsed.raw
        assert plain.count("\n", 0, offset) + 1 == parsed.line
        assert json.loads(parsed.raw)["id"].endswith(parsed.key)


def test_what_is_no_work_is_set_aside_with_its_place() -> None:
    text = f'[{A},\n3,\n null, {{"id": "{ID % 3333}", "title": null, "display_name": " "}},\n' \
           f'{{"id": "https://openalex.org/A5023888391", "display_name": "P"}}, {B}]'  # fmt: skip
    found = records(text)
    assert keys(found) == ["W1111", "W2222"]
    raws = [(r.line, r.raw[:12], r.reason.partition(": ")[2]) for r in rejected(found)]
    assert raws == [
        (2, "3", "this is a number; expected a work with a title"),
        (3, "null", "this is null; expected a work with a title"),
        (3, '{"id": "http', "the work has no title; expected a text under 'title' or 'display_name'"),
        (4, '{"id": "http', "'https://openalex.org/A5023888391' is the id of an author; expected a work"),
    ]
    assert rejected(found)[0].reason.startswith(f"record 2, at character {text.index('3,') + 1}: ")


@pytest.mark.parametrize("chunk", [1, 50, 1 << 20])
@pytest.mark.parametrize(
    ("text", "expected", "reasons"),
    [
        (f'{A}\n{{"id": oops}}\n{B}', ["W1111", "W2222"], ["Expecting value (character 8 of the record)"]),
        (f'[{A}, {{"id": oops}}, {B}]', ["W1111", "W2222"], ["Expecting value (character 8 of the record)"]),
        (f"[{A}, {B[:-3]}", ["W1111"], ["the text ends inside the record"]),
        (f"{A}\n{B[:-1]}", ["W1111"], ["the text ends inside the record"]),
        (f"[{A}, {B}", ["W1111", "W2222"], ["the text ends before the ']' that closes it"]),
        (f"[{A}", ["W1111"], ["the text ends before the ']' that closes it"]),
        ((PAGE % f"{A}, {B}")[:-2], ["W1111", "W2222"], ["the text ends before the ']}' that closes it"]),
        (f'[{A}; {B}]', ["W1111", "W2222"], ["expected ',' or ']', found ';'"]),
        (f"{A}] {B}", ["W1111", "W2222"], ["Expecting value"]),
        (f'{{"meta": oops, "results": [{A}, {B}]}}', ["W1111", "W2222"], ["Expecting value"]),
        (f'{{"meta": 1, "x" 2, "results": [{A}, {B}]}}', ["W1111", "W2222"], ["a name in quotes and ':'"]),
        (f'[{A}, {{"id": "x", "n": {"9" * 5000}}}, {B}]', ["W1111", "W2222"], ["a number can't be read"]),
    ],
    ids=str,
)  # fmt: skip
def test_broken_json_costs_no_more_than_itself(
    monkeypatch: pytest.MonkeyPatch, text: str, expected: list[str], reasons: list[str], chunk: int
) -> None:
    monkeypatch.setattr(json_stream, "_CHUNK", chunk)
    found = records(text)
    assert expected == keys(found)
    said = [r.reason for r in rejected(found)]
    assert len(said) == len(reasons), said
    for reason, part in zip(said, reasons, strict=True):
        assert part in reason


@pytest.mark.parametrize("chunk", [64, 500])
def test_the_next_record_is_found_wherever_a_read_ends(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    monkeypatch.setattr(json_stream, "_CHUNK", chunk)
    for length in range(2500, 3000, 7):  # beyond what is read ahead for a name
        rubbish = '{"id": oops ' + "x" * length
        assert keys(records(f"[{A}, {rubbish}, {B}]")) == ["W1111", "W2222"]
        assert keys(records(f'{A}\n{rubbish}\n{{"title": "U"}}\n{B}')) == ["W1111", "", "W2222"]


def test_a_record_nested_without_end_is_set_aside() -> None:
    found = records(f"[{A}, {'[' * 100_000}, {B}]")
    assert keys(found) == ["W1111", "W2222"]
    assert "it is nested too deeply to be a record" in rejected(found)[0].reason


def test_a_record_that_is_too_long_is_set_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "LONGEST", 5_000)
    monkeypatch.setattr(json_stream, "_SHOWN", 100)
    monkeypatch.setattr(json_stream, "_CHUNK", 1_000)
    long = json.dumps(record(3333, title="x" * 50_000))
    found = records(f"{A}\n{long}\n{B}\n")
    assert keys(found) == ["W1111", "W2222"]
    (broken,) = rejected(found)
    assert "the record is longer than 5,000 characters" in broken.reason
    assert f"(the first 100 of {len(long) + 1:,} characters are kept)" in broken.reason
    assert broken.raw == long[:100]


def test_memory_does_not_grow_with_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "_CHUNK", 1 << 16)
    line = json.dumps(record(1111, abstract_inverted_index={"word": list(range(100))})) + "\n"

    class Endless(io.TextIOBase):
        left = 0

        def read(self, size: int | None = -1, /) -> str:
            self.left -= 1
            return line * 100 if self.left >= 0 else ""

    def peak(chunks: int) -> int:
        stream = Endless()
        stream.left = chunks
        tracemalloc.start()
        try:
            assert sum(1 for _ in openalex.stream(stream)) == 100 * chunks  # type: ignore[arg-type]
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(1)  # caches fill
    few, many = peak(2), peak(20)
    assert many < 1.5 * few


# Written by other means and read back --------------------------------------------------------------


def as_openalex(number: int, work: Work) -> dict[str, Any]:
    """A work as OpenAlex writes it; the abstract is inverted word by word."""
    index: dict[str, list[int]] = {}
    for position, word in enumerate((work.abstract.text or "").split(" ")):
        index.setdefault(word, []).append(position)
    item: dict[str, Any] = {"id": ID % (number + 1000), "doi": None, "title": work.title}
    item["abstract_inverted_index"] = dict(sorted(index.items())) if work.abstract.text else None
    item["publication_year"] = work.year
    item["primary_location"] = {"source": work.venue and {"display_name": work.venue}}
    item["authorships"] = [{"author": {"display_name": a.name, "orcid": None}} for a in work.authors]
    for i in work.identifiers:
        if i.scheme == "doi":
            item["doi"] = f"https://doi.org/{i.value}".replace("#", "%23").replace("?", "%3F")
        elif i.scheme == "arxiv":
            item["locations"] = [{"landing_page_url": f"http://arxiv.org/abs/{i.value}{i.version or ''}"}]
    return item


def _zipped(parts: list[str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, part in enumerate(parts):
            archive.writestr(f"works_{number}.json", part)
    return buffer.getvalue()


WRITERS: dict[str, Callable[[list[dict[str, Any]]], bytes]] = {
    "list": lambda items: json.dumps(items).encode(),
    "indented": lambda items: json.dumps(items, indent=1, ensure_ascii=False).encode("utf-8-sig"),
    "page": lambda items: json.dumps({"meta": {"count": len(items)}, "results": items}).encode(),
    "lines": lambda items: "\n".join(json.dumps(i, ensure_ascii=False) for i in items).encode(),
    "utf-16": lambda items: json.dumps(items, ensure_ascii=False).encode("utf-16"),
    "gzip": lambda items: gzip.compress(json.dumps(items).encode()),
    "zip": lambda items: _zipped([json.dumps([i]) for i in items]),
    "zip of gzip": lambda items: _zip_of_gzip(items),
}


def _zip_of_gzip(items: list[dict[str, Any]]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("part_000.gz", gzip.compress("\n".join(map(json.dumps, items)).encode()))
    return buffer.getvalue()


@settings(max_examples=60)
@given(st.lists(works, min_size=1, max_size=5), st.sampled_from(sorted(WRITERS)))
def test_what_is_written_comes_back(written: list[Work], how: str) -> None:
    data = WRITERS[how]([as_openalex(i, work) for i, work in enumerate(written)])
    reading = read(data, "x")
    found = list(reading.records)
    assert reading.format == "openalex"
    expected = []
    for number, work in enumerate(written):
        own = [Identifier(scheme="openalex", value=f"W{number + 1000}")]
        own += [i for i in work.identifiers if i.scheme in ("doi", "arxiv")]
        none = Abstract(note="the OpenAlex record has no abstract")
        text = work.abstract.text
        abstract = Abstract(text=text, source="OpenAlex abstract_inverted_index") if text else none
        expected.append(work.model_copy(update={"abstract": abstract, "identifiers": tuple(own)}))
    assert expected == [r.work for r in found if isinstance(r, Parsed)]
    assert all(r.notes == () for r in found if isinstance(r, Parsed))
    assert len(written) == len(found)


BAD = st.sampled_from(["null", "3", '"text"', '{"title": " "}', '{"id": 5}', "1e999", '{"display_name": []}'])
GOOD = st.integers(1000, 9999).map(lambda n: json.dumps(record(n)))


@given(st.lists(GOOD | BAD, max_size=8), st.booleans(), st.integers(1, 40))
def test_every_record_is_accounted_for(parts: list[str], lines: bool, chunk: int) -> None:
    parts = [A, *parts]
    text = "\n".join(parts) if lines else f"[{', '.join(parts)}]"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "_CHUNK", chunk)
        found = records(text)
    assert len(parts) == len(found)
    assert [p for p in parts if "openalex" in p] == [r.raw for r in found if isinstance(r, Parsed)]
    assert [p for p in parts if "openalex" not in p] == [r.raw for r in rejected(found)]


SCRAPS = st.sampled_from(
    [
        A.encode(), b'{"id":"https://openalex.org/W1234"', b'"title":"T"', b"{", b"}", b"[", b"]", b",", b":",
        b'"', b"\n", b"\r\n", b"\\", b"\x00", b"\xff", b"\xe9", b'"meta":', b'"results":', b"1",
        b"1e999", b"NaN",
        b'"abstract_inverted_index":', b'{"a":[0]}', b'"authorships":', b'"\\ud800"', b"\xef\xbb\xbf", b"tru",
        b'"topics":[{"score":1e999}]', b'"ids":{"pmid":', b'"publication_year":',
    ]
)  # fmt: skip


@settings(max_examples=300)
@given(
    st.sampled_from(
        [b"", A.encode() + b"\n", b"[" + A.encode() + b",", b'{"meta":{},"results":[' + A.encode()]
    ),
    st.one_of(st.lists(SCRAPS, max_size=30).map(b"".join), st.binary(max_size=100)),
    st.integers(1, 64),
)
def test_arbitrary_bytes_raise_nothing(start: bytes, rest: bytes, chunk: int) -> None:
    def outcome(size: int) -> list[Parsed | Rejected]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(json_stream, "_CHUNK", size)
            return list(openalex.read((start + rest).decode("utf-8", "surrogateescape")))

    found = outcome(1 << 20)
    assert found == outcome(chunk)  # how much is read at a time changes nothing
    with contextlib.suppress(IngestError):
        found += read(start + rest, "x").records
    for each in found:
        (each.work if isinstance(each, Parsed) else each).model_dump_json()


@pytest.mark.parametrize(
    "data",
    [
        b'{"display_name": "W", "title": "T"}',
        b'[{"id": "https://openalex.org/W1", "title": "T", "issued": {}, "container-title": "J"}]',
        b'{"meta": {}, "results": [{"title": "T"}]}',
        b'{"paperId": "https://openalex.org", "title": "T"}',
        b"https://openalex.org/W1234567",
        b'"id": "https://openalex.org/W1234567"',
    ],
)
def test_what_only_looks_like_it_is_left_to_others(data: bytes) -> None:
    assert not openalex.recognises(data.decode())


def test_bytes_that_are_no_utf8_are_read_as_windows_1252_record_by_record() -> None:
    data = A.encode() + b"\n" + json.dumps(record(2222)).encode().replace(b'"T"', b'"Caf\xe9"')
    first, second = read(data, "x").records
    assert isinstance(first, Parsed)
    assert isinstance(second, Parsed)
    assert (first.notes, second.work.title) == ((), "Café")
    assert second.notes == ("1 byte isn't UTF-8; read as Windows-1252 (Latin-1), so check the accents there",)


# Real files ----------------------------------------------------------------------------------------


def _plain(index: dict[str, list[int]]) -> list[str]:
    """An abstract put back in order by filling slots, independently of the reader."""
    slots: dict[int, str] = {}
    for word, positions in index.items():
        for position in positions:
            slots[position] = word
    return " ".join(
        slots[position] for position in range(max(slots, default=-1) + 1) if position in slots
    ).split()


@pytest.mark.parametrize(("name", "untitled"), [("Menon_2022", 0), ("Jeyaraman_2020", 2), ("Nelson_2002", 1)])
def test_synergy(shared: Path, name: str, untitled: int) -> None:
    folder = shared / "data/screening/synergy" / name
    reading: Reading = read(folder / "works_1.zip")
    found = list(reading.records)
    ids = {
        line.split(",")[0].rpartition("/")[2] for line in (folder / "labels.csv").read_text().splitlines()[1:]
    }
    assert len(ids) == len(found)  # each labelled work is read or rejected with its reason
    parsed = [r for r in found if isinstance(r, Parsed)]
    assert all("the work has no title" in r.reason for r in rejected(found))
    assert untitled == len(rejected(found))
    lost = {json.loads(r.raw)["id"].rpartition("/")[2] for r in rejected(found)}
    assert ids == lost | {r.key for r in parsed}
    with zipfile.ZipFile(folder / "works_1.zip") as archive:
        members = {name: json.loads(archive.read(name)) for name in archive.namelist()}
    truth = {item["id"].rpartition("/")[2]: item for items in members.values() for item in items}
    for each in parsed:
        item = truth[each.key]
        assert json.loads(each.raw) == item
        assert item in members[each.member or ""]
        index = item["abstract_inverted_index"]
        words = _plain(index or {})
        text = each.work.abstract.text
        assert (text is None) == (not words)
        joined = " ".join(words)
        if text is not None and not set("<&") & set(joined) and joined.isprintable():
            assert words == text.split()
        assert item["publication_year"] == each.work.year
        assert len(item["authorships"]) == len(each.work.authors)
        assert item["is_retracted"] == (each.work.retraction is not None)
