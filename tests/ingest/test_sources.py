"""Packed files: what is read, what is refused within stated limits, and that nothing reaches the disk."""

import gzip
import hashlib
import io
import json
import os
import zipfile
from pathlib import Path

import pytest

from ingest import sources
from ingest.errors import IngestError
from ingest.readers import Parsed, read
from schema.work import Rejected

BIB = b"@misc{a, title = {T}}\n"


def work(number: int, title: str = "T") -> str:
    return json.dumps({"id": f"https://openalex.org/W{number}", "title": title})


def lines(count: int, first: int = 1000) -> bytes:
    return "".join(work(first + i) + "\n" for i in range(count)).encode()


def zipped(*files: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in files:
            archive.writestr(name, data)
    return buffer.getvalue()


def outcome(data: bytes) -> tuple[list[str], list[str]]:
    found = list(read(data, "x").records)
    reasons = [r.reason for r in found if isinstance(r, Rejected)]
    return [r.key for r in found if isinstance(r, Parsed)], reasons


def test_the_hash_is_that_of_the_file_as_it_is() -> None:
    for data in (lines(2), gzip.compress(lines(2)), zipped(("a.json", lines(2)))):
        assert hashlib.sha256(data).hexdigest() == read(data, "x").sha256
        assert outcome(data) == (["W1000", "W1001"], [])


@pytest.mark.parametrize("pack", [gzip.compress, lambda data: zipped(("a", data))])
def test_other_formats_may_be_packed_too(pack) -> None:  # type: ignore[no-untyped-def]
    for data, expected in (
        (BIB, "bibtex"),
        (b'[{"title":"T"}]', "csl-json"),
        (b"title,year\nT,2001\n", "table"),
    ):
        reading = read(pack(data), "x")
        assert expected == reading.format
        (record,) = reading.records
        assert isinstance(record, Parsed)
        assert record.work.title == "T"


def test_files_of_an_archive_in_another_format_are_named() -> None:
    data = zipped(
        ("README.md", b"Works of a study"), ("a.json", lines(1)), ("__MACOSX/._a.json", b"\x00"),
        (".DS_Store", b"x"), ("folder/b.json", lines(1, 2000)), ("metadata.json", b'{"key": "x"}'),
        ("sub/", b""),
    )  # fmt: skip
    reading = read(data, "x")
    assert reading.notes == (
        "files of the archive that aren't openalex are left out: README.md, metadata.json",
    )
    members = [(r.key, r.member, r.line) for r in reading.records if isinstance(r, Parsed)]
    assert members == [("W1000", "a.json", 1), ("W2000", "folder/b.json", 1)]


def test_rejected_records_of_an_archive_name_their_file() -> None:
    data = zipped(("a.json", lines(1)), ("b.json", lines(1, 2000) + b'{"id": 1}'))
    assert outcome(data) == (
        ["W1000", "W2000"],
        [
            f"b.json: record 2, at character {len(lines(1)) + 1}: the work has no title; "
            "expected a text under 'title' or 'display_name'"
        ],
    )


def test_nothing_of_an_archive_reaches_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    inner = tmp_path / "inner"
    inner.mkdir()
    file = inner / "works.zip"
    evil = str(tmp_path / "evil.json")
    file.write_bytes(
        zipped(("../evil.json", lines(1)), (evil, lines(1, 2000)), ("c:\\x\n.json", lines(1, 3000)))
    )
    found = [r.member for r in read(file).records if isinstance(r, Parsed)]
    assert found == ["../evil.json", evil, "c:\\x .json"]
    assert sorted(p for p in tmp_path.rglob("*")) == [inner, file]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"PK\x03\x04 and nothing else", "x: this ZIP archive can't be opened"),
        (zipped(), "x: this ZIP archive holds no files"),
        (zipped((".hidden", b"x")), "x: this ZIP archive holds no files"),
        (zipped(("[Content_Types].xml", b"<a/>"), ("word/x.xml", b"<a/>")), "x: this is an Office document"),
        (zipped(("a.zip", zipped(("a", lines(1))))), "x: no reader recognises this file"),
        (gzip.compress(zipped(("a", lines(1)))), "x: this is a ZIP archive inside another archive"),
        (gzip.compress(gzip.compress(lines(1))), "x: this is a gzip file inside another archive"),
        (gzip.compress(b""), "x: the file is empty"),
        (gzip.compress(lines(1))[:12], "x: the packed data end too soon; the file is cut off"),
        (b"\x1f\x8b\x08" + b"\x00" * 30, "x: the bytes can't be read any further"),
    ],
    ids=str.split("garbage nothing hidden office nested zip-in-gzip gzip-in-gzip empty cut-off zeros"),
)  # named, since packed bytes hold the time at which they were packed
def test_what_is_refused_whole(data: bytes, sentence: str) -> None:
    with pytest.raises(IngestError) as error:
        read(data, "x")
    assert str(error.value).startswith(sentence)


def test_a_cut_off_gzip_keeps_what_came_before() -> None:
    # Random titles don't pack, so that the cut falls among records.
    text = "".join(work(1000 + i, os.urandom(1000).hex()) + "\n" for i in range(200)).encode()
    keys, reasons = outcome(gzip.compress(text)[: len(text) // 4])
    assert keys == [f"W{1000 + i}" for i in range(len(keys))]
    assert 40 < len(keys) < 200
    assert reasons[-1] == "records may be missing here: the packed data end too soon; the file is cut off"


def test_rubbish_behind_a_gzip_is_named() -> None:
    keys, reasons = outcome(gzip.compress(lines(2)) + b"rubbish")
    assert keys == ["W1000", "W1001"]
    assert reasons == [
        "records may be missing here: the bytes can't be read any further (Not a gzipped file (b'ru'))"
    ]


def test_a_damaged_member_of_an_archive_costs_only_itself() -> None:
    data = bytearray(
        zipped(("a", lines(1)), ("b", lines(1, 2000)), ("c", lines(1, 3000)), method=zipfile.ZIP_STORED)
    )
    data[data.index(b"W2000") + 1] ^= 1
    keys, reasons = outcome(bytes(data))
    assert keys == ["W1000", "W3000"]
    assert reasons == ["b: the bytes can't be read any further (Bad CRC-32 for file 'b')"]


def test_members_that_cant_be_opened_are_rejected_with_the_reason() -> None:
    data = bytearray(zipped(("secret", lines(1)), ("a", lines(1))))
    data[6] |= 1  # general purpose bit 0, in the local header and in the central directory: encrypted
    data[data.index(b"PK\x01\x02") + 8] |= 1
    assert outcome(bytes(data)) == (["W1000"], ["secret: it is encrypted"])
    data = bytearray(zipped(("odd", lines(1)), ("a", lines(1))))
    data[8] = data[data.index(b"PK\x01\x02") + 10] = 14  # LZMA, which may ask for 4 GiB
    assert outcome(bytes(data)) == (
        ["W1000"],
        ["odd: it is packed by method 14; expected stored or deflated"],
    )


def test_bombs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "UNPACKED", 1 << 20)
    bomb = lines(1) + b" " * (20 << 20)  # packs some 1000 times
    with pytest.raises(IngestError) as error:
        read(zipped(("a", bomb)), "x")
    assert "x: it unpacks to more than" in str(error.value)
    assert "at most 256 MiB, or 200 times its size, is allowed" in str(error.value)
    keys, reasons = outcome(gzip.compress(bomb))
    assert keys == ["W1000"]
    assert reasons[0].startswith("records may be missing here: it unpacks to more than")
    # In several members, none of which is too large by itself, and hidden in gzip inside a zip.
    with pytest.raises(IngestError, match="it unpacks to more than"):
        read(zipped(*[(str(i), lines(1) + b" " * (1 << 20)) for i in range(20)]), "x")
    keys, reasons = outcome(zipped(("a.gz", gzip.compress(bomb)), ("b", lines(1, 2000))))
    assert keys == ["W1000"]
    assert all("it unpacks to more than" in reason for reason in reasons)
    # A text that has to be held whole is refused whole.
    with pytest.raises(IngestError, match="it unpacks to more than"):
        read(gzip.compress(BIB + b" " * (20 << 20)), "x")


def test_looking_at_a_text_costs_none_of_what_it_may_unpack_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "UNPACKED", 1 << 20)
    data = gzip.compress(BIB + b" " * 1_000_000)
    assert len(data) * sources.RATIO < 1 << 20
    assert outcome(data) == (["a"], [])


def test_a_small_file_that_packs_well_is_no_bomb() -> None:
    assert len(outcome(gzip.compress(lines(1) + b"\n" * 1_000_000 + lines(1, 2000)))[0]) == 2


def test_a_text_that_is_too_large_for_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "WHOLE", 1000)
    with pytest.raises(IngestError, match="it unpacks to more than 1 GiB; unpack it and import its parts"):
        read(gzip.compress(BIB * 100), "x")
    assert len(outcome(gzip.compress(lines(100)))[0]) == 100  # a stream isn't held


def test_too_many_members(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MEMBERS", 3)
    with pytest.raises(IngestError, match="this archive holds 4 files; at most 3"):
        read(zipped(*[(str(i), lines(1)) for i in range(4)]), "x")


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "works.jsonl"
    file.write_bytes(lines(3))
    reading = read(file)
    file.write_bytes(lines(4))
    with pytest.raises(IngestError, match=r"works\.jsonl: the file was changed while it was read; try again"):
        list(reading.records)
    reading = read(file)
    next(reading.records)
    file.write_bytes(lines(5))
    with pytest.raises(IngestError, match="changed while it was read"):
        list(reading.records)
    assert len(list(read(file).records)) == 5


def test_no_file_stays_open(tmp_path: Path) -> None:
    for name, data in (("a", lines(2)), ("b", zipped(("a", lines(2)))), ("c", gzip.compress(lines(2)))):
        (tmp_path / name).write_bytes(data)
        before = len(os.listdir("/dev/fd"))
        reading = read(tmp_path / name)
        assert before == len(os.listdir("/dev/fd"))
        next(reading.records)
        reading.records.close()  # type: ignore[attr-defined]
        assert before == len(os.listdir("/dev/fd"))
