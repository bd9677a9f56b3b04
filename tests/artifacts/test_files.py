import hashlib
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from artifacts.files import FileResult, hash_package
from artifacts.package import open_package
from schema.states import FileState

Make = Callable[..., Path]


def results(root: Path, manifest: object = None) -> dict[str, FileResult]:
    with open_package(root) as package:
        return {r.path: r for r in hash_package(package.root, package.manifest)}


def test_untouched_files_match(make_package: Make) -> None:
    states = {path: r.state for path, r in results(make_package()).items()}
    assert states == {"inputs/jobs.csv": FileState.MATCH, "outputs/trace.json": FileState.MATCH}


CHANGES: list[tuple[bytes, bytes, str]] = [
    (b"a\nb\n", b"a\r\nb\r\n", "differs from the recorded file only in line endings: recorded with LF"),
    (b"a\r\nb\r\n", b"a\nb\n", "differs from the recorded file only in line endings: recorded with CRLF"),
    (b"a\rb\r", b"a\nb\n", "differs from the recorded file only in line endings: recorded with CR"),
    (b"a\n", b"\xef\xbb\xbfa\n", "differs from the recorded file only by a byte order mark at its beginning"),
    (
        b"\xef\xbb\xbfa\n",
        b"a\n",
        "differs from the recorded file only by the byte order mark that it has lost",
    ),
    (b"a\n", b"a", "differs from the recorded file only by the line end that its last line has lost"),
    (b"abc", b"abcdef", "is the recorded file with 3 bytes appended"),
    (b"abcdef", b"abc", "is 3 bytes shorter than recorded (3 of 6); maybe cut off"),
    (b"abc", b"xyzdef", "is 3 bytes longer than recorded (6, not 3)"),
    (b"abc", b"abd", "has the recorded length but other bytes"),
    (b"abc", b"", "is empty; 3 bytes are recorded"),
]


@pytest.mark.parametrize(("recorded", "now", "detail"), CHANGES, ids=[str(i) for i in range(len(CHANGES))])
def test_a_mismatch_comes_with_what_is_known_of_it(
    make_package: Make, recorded: bytes, now: bytes, detail: str
) -> None:
    """A hash can't tell what the bytes were; only a change that gives the hash back is named as certain."""
    root = make_package(files={"inputs/f.txt": recorded})
    (root / "inputs/f.txt").write_bytes(now)
    result = results(root)["inputs/f.txt"]
    assert (FileState.MISMATCH, detail) == (result.state, result.detail)


def test_a_git_lfs_pointer_is_known_as_one(make_package: Make) -> None:
    content = b"a large table"
    root = make_package(files={"inputs/f.txt": content})
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 13\n"
    (root / "inputs/f.txt").write_text(pointer.format(hashlib.sha256(content).hexdigest()))
    expected = "is a Git LFS pointer to the recorded file; fetch the file with 'git lfs pull'"
    assert expected == results(root)["inputs/f.txt"].detail
    (root / "inputs/f.txt").write_text(pointer.format("0" * 64))
    assert results(root)["inputs/f.txt"].detail == "is a Git LFS pointer, not the file"


def test_missing_and_extra(make_package: Make) -> None:
    root = make_package()
    (root / "inputs/jobs.csv").unlink()
    (root / "extra.txt").write_text("x")
    found = results(root)
    assert found["inputs/jobs.csv"].state is FileState.MISSING
    assert found["extra.txt"].state is FileState.UNLISTED


@pytest.mark.parametrize(("listed", "here"), [("NFC", "NFD"), ("NFD", "NFC")])
def test_a_name_in_another_unicode_form(make_package: Make, listed: str, here: str) -> None:
    """Some file systems store é as e with an accent: two names to a byte comparison, one to a reader."""
    name = "inputs/r\u00e9sum\u00e9.csv"
    root = make_package(files={unicodedata.normalize(listed, name): "x\n1\n"})
    (root / unicodedata.normalize(listed, name)).rename(root / unicodedata.normalize(here, name))
    result = results(root)[unicodedata.normalize(listed, name)]
    assert result.state is FileState.MISSING
    assert result.detail == (
        f"stands here under the {here} form of the same name; rename it to the form that is listed"
    )


def test_a_name_in_another_case(make_package: Make) -> None:
    root = make_package(files={"inputs/Data.csv": "x\n1\n"})
    (root / "inputs/Data.csv").rename(root / "inputs/data.CSV")
    result = results(root)["inputs/Data.csv"]
    assert result.state is FileState.MISSING
    assert result.detail == "stands here as 'inputs/data.CSV', which differs in upper and lower case only"


def test_a_folder_where_a_file_should_be(make_package: Make) -> None:
    root = make_package()
    (root / "inputs/jobs.csv").unlink()
    (root / "inputs/jobs.csv").mkdir()
    result = results(root)["inputs/jobs.csv"]
    assert (result.state, result.detail) == (FileState.MISMATCH, "is not a regular file")


def test_a_name_that_is_no_text(make_package: Make) -> None:
    """A name that isn't UTF-8 can't be listed, but is still seen and can be printed."""
    root = make_package()
    (root / "inputs").joinpath("\udcff.csv").write_text("x")
    assert results(root)["inputs/\\xff.csv"].state is FileState.UNLISTED


def test_copies_are_made_in_the_same_pass(make_package: Make, tmp_path: Path) -> None:
    root = make_package()
    copy = tmp_path / "private" / "jobs.csv"
    with open_package(root) as package:
        hash_package(package.root, package.manifest, copies={"inputs/jobs.csv": copy})
    assert (root / "inputs/jobs.csv").read_bytes() == copy.read_bytes()
