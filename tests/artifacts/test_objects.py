import errno
import hashlib
import os
import tempfile
from pathlib import Path

import pytest

from artifacts.errors import StoreError
from artifacts.objects import ObjectStore, Swept
from schema.states import FileState


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    return ObjectStore(tmp_path / "catalog.db.objects")


def source(tmp_path: Path, data: bytes = b"hello\n") -> tuple[Path, str]:
    place = tmp_path / "source"
    place.write_bytes(data)
    return place, hashlib.sha256(data).hexdigest()


def test_an_object_stands_under_its_hash_and_cannot_be_written(store: ObjectStore, tmp_path: Path) -> None:
    place, name = source(tmp_path)
    assert store.put(place, name)
    assert store.root / name[:2] / name == store.path(name)
    assert store.path(name).read_bytes() == b"hello\n"
    assert store.path(name).stat().st_mode & 0o777 == 0o444
    assert store.has(name)
    assert store.verify(name) is FileState.MATCH
    assert [name] == store.names()


def test_the_same_file_is_kept_once(store: ObjectStore, tmp_path: Path) -> None:
    place, name = source(tmp_path)
    assert [store.put(place, name), store.put(place, name)] == [True, False]
    assert [name] == store.names()


def test_a_changed_object_is_a_mismatch_and_a_lost_one_missing(store: ObjectStore, tmp_path: Path) -> None:
    place, name = source(tmp_path)
    store.put(place, name)
    store.path(name).chmod(0o644)
    store.path(name).write_bytes(b"hellO\n")
    assert store.verify(name) is FileState.MISMATCH
    store.path(name).unlink()
    assert store.verify(name) is FileState.MISSING


def test_another_file_than_expected_is_refused_and_leaves_nothing(store: ObjectStore, tmp_path: Path) -> None:
    place, _ = source(tmp_path)
    with pytest.raises(StoreError, match="source is not the file that was expected: its SHA-256 is 5891b5"):
        store.put(place, "0" * 64)
    assert [p for p in store.root.rglob("*") if p.is_file()] == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full, the kernel's full disk")
def test_a_full_disk_is_one_sentence_and_leaves_nothing(
    store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, name = source(tmp_path)

    def on_full_disk(prefix: str, dir: Path) -> tuple[int, str]:
        temporary = dir / f"{prefix}x"
        temporary.touch()
        return os.open("/dev/full", os.O_WRONLY), str(temporary)

    monkeypatch.setattr(tempfile, "mkstemp", on_full_disk)
    with pytest.raises(StoreError) as caught:
        store.put(place, name)
    assert str(caught.value) == f"{place} can't be stored in {store.root}: the disk is full"
    assert [p for p in store.root.rglob("*") if p.is_file()] == []
    assert not store.has(name)


def test_a_used_up_quota_at_the_flush_is_named_so(
    store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some file systems tell of it only when the file is flushed."""
    place, name = source(tmp_path)

    def used_up(_: int) -> None:
        raise OSError(errno.EDQUOT, "Disk quota exceeded")

    monkeypatch.setattr(os, "fsync", used_up)
    with pytest.raises(StoreError, match="the disk quota is used up"):
        store.put(place, name)
    assert [p for p in store.root.rglob("*") if p.is_file()] == []


def test_the_file_is_flushed_before_it_gets_its_name(
    store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a power cut could leave a name over an empty file."""
    place, name = source(tmp_path)
    order: list[str] = []
    flush, rename = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda d: (order.append("flush"), flush(d)))
    monkeypatch.setattr(os, "replace", lambda a, b: (order.append("rename"), rename(a, b)))
    store.put(place, name)
    assert order == ["flush", "rename", "flush", "flush"]


def test_what_is_no_plain_file_is_a_mismatch(store: ObjectStore, tmp_path: Path) -> None:
    place_of_source, name = source(tmp_path)
    store.put(place_of_source, name)
    place = store.path(name)
    place.unlink()
    place.symlink_to(place_of_source)
    assert store.verify(name) is FileState.MISMATCH
    place.unlink()
    place.mkdir()
    assert store.verify(name) is FileState.MISMATCH


def test_discarded_objects_leave_no_folder(store: ObjectStore, tmp_path: Path) -> None:
    place_of_source, name = source(tmp_path)
    store.put(place_of_source, name)
    store.discard([name, name])
    assert store.names() == []
    assert list(store.root.iterdir()) == []


def test_sweep_removes_orphans_and_half_written_files_only(store: ObjectStore, tmp_path: Path) -> None:
    kept, kept_name = source(tmp_path)
    store.put(kept, kept_name)
    lost, lost_name = source(tmp_path, b"nobody knows me")
    store.put(lost, lost_name)
    (store.root / "incoming-abc").write_bytes(b"half")
    assert [lost_name] == store.orphans([kept_name])
    assert Swept(temporary=1, orphans=1) == store.sweep([kept_name])
    assert [kept_name] == store.names()
    assert Swept(0, 0) == store.sweep([kept_name])


def test_a_store_that_is_not_there_yet_is_empty(store: ObjectStore) -> None:
    assert store.names() == []
    assert Swept(0, 0) == store.sweep([])


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "A" * 64, "a" * 63])
def test_a_name_that_is_no_hash(store: ObjectStore, name: str) -> None:
    with pytest.raises(StoreError, match="is not a SHA-256; expected 64 lower-case hexadecimal digits"):
        store.path(name)


def test_a_missing_source(store: ObjectStore, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="nothing is not there"):
        store.put(tmp_path / "nothing", "0" * 64)
