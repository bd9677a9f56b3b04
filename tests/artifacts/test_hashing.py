import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from artifacts.errors import ChangedWhileRead, PackageError, StoreError
from artifacts.hashing import CHUNK, FileHasher, copy_and_hash, git_blob_sha1, hash_file, hash_files

LENGTHS_AT_THE_EDGES = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 17]


def by_the_book(data: bytes) -> tuple[int, str, str]:
    """What hashlib says in one go, with git's header written out."""
    header = f"blob {len(data)}\0".encode()
    return len(data), hashlib.sha256(data).hexdigest(), hashlib.sha1(header + data).hexdigest()


@pytest.mark.parametrize("length", LENGTHS_AT_THE_EDGES)
def test_lengths_around_the_read_buffer(tmp_path: Path, length: int) -> None:
    """A buffer that is used again must never leak bytes of the read before."""
    data = os.urandom(length)
    (tmp_path / "f").write_bytes(data)
    digest = hash_file(tmp_path / "f")
    assert by_the_book(data) == (digest.bytes, digest.sha256, digest.git_blob_sha1)


@given(st.lists(st.binary(max_size=5000), min_size=1, max_size=5))
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_many_files_with_one_buffer_equal_hashlib(tmp_path: Path, contents: list[bytes]) -> None:
    places = []
    for number, data in enumerate(contents):
        place = tmp_path / str(number)
        place.write_bytes(data)
        places.append(place)
    digests = [(d.bytes, d.sha256, d.git_blob_sha1) for d in hash_files(places)]
    assert [by_the_book(data) for data in contents] == digests


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
@given(st.binary(max_size=3000))
@settings(max_examples=15, deadline=None)
def test_git_agrees(data: bytes) -> None:
    """git itself is the oracle: its object name is our blob SHA-1."""
    git = subprocess.run(["git", "hash-object", "--stdin"], input=data, capture_output=True, check=True)
    assert git.stdout.decode().strip() == git_blob_sha1(data)


def test_known_values(tmp_path: Path) -> None:
    """The empty blob and 'hello\\n' as every git knows them."""
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "hello").write_bytes(b"hello\n")
    names = [d.git_blob_sha1 for d in hash_files([tmp_path / "empty", tmp_path / "hello"])]
    assert names == [
        "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
        "ce013625030ba8dba906f756967f9e9ca394464a",
    ]


@pytest.mark.parametrize("length", LENGTHS_AT_THE_EDGES)
def test_a_copy_is_exactly_what_was_hashed(tmp_path: Path, length: int) -> None:
    data = os.urandom(length)
    (tmp_path / "from").write_bytes(data)
    digest = copy_and_hash(tmp_path / "from", tmp_path / "deep" / "to")
    assert data == (tmp_path / "deep" / "to").read_bytes()
    assert digest == hash_file(tmp_path / "from")


def test_a_file_that_grows_while_read_is_named_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """git's header holds the length, so a hash over other bytes than announced would be of nothing."""
    place = tmp_path / "growing"
    place.write_bytes(b"a" * 10)
    real = os.readv

    def grow(descriptor: int, buffers: list[bytearray]) -> int:
        with place.open("ab") as stream:
            stream.write(b"b" if place.stat().st_size < 12 else b"")
        return real(descriptor, buffers)

    monkeypatch.setattr(os, "readv", grow)
    with pytest.raises(ChangedWhileRead, match="growing changed while it was being read"):
        FileHasher().hash_file(place)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/hostname")
    with pytest.raises(PackageError, match="link is a symbolic link; a package holds plain files only"):
        hash_file(tmp_path / "link")


def test_a_pipe_is_refused_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(PackageError, match="pipe is not a regular file"):
        hash_file(tmp_path / "pipe")


def test_a_missing_file_is_file_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        hash_file(tmp_path / "nothing" / "here")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full, the kernel's full disk")
def test_a_copy_to_a_full_disk_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "from").write_bytes(b"x" * 100)
    full = os.open("/dev/full", os.O_WRONLY)
    real = os.open
    target = os.fspath(tmp_path / "to")
    monkeypatch.setattr(os, "open", lambda p, *a, **k: full if os.fspath(p) == target else real(p, *a, **k))
    with pytest.raises(StoreError, match=r"can't copy .*from: the disk is full"):
        copy_and_hash(tmp_path / "from", tmp_path / "to")
