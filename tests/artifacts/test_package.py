import contextlib
import gzip
import io
import os
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from artifacts.errors import PackageError
from artifacts.package import Limits, files_on_disk, open_package, unpack

SMALL = Limits(total_bytes=1 << 20, entries=50, ratio=100, ratio_from=1 << 16)


def zipped(place: Path, entries: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return place


def tarred(place: Path, members: list[tuple[tarfile.TarInfo, bytes]], mode: str = "w") -> Path:
    with tarfile.open(place, mode) as archive:  # type: ignore[call-overload]
        for member, data in members:
            member.size = len(data) if member.isreg() else 0
            archive.addfile(member, io.BytesIO(data))
    return place


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def refusal(archive: Path, folder: Path, limits: Limits = SMALL) -> str:
    """The one sentence; nothing may have been written outside the folder."""
    folder.mkdir(exist_ok=True)
    before = sorted(p.name for p in folder.parent.iterdir())
    with pytest.raises(PackageError) as caught:
        unpack(archive, folder, limits)
    assert before == sorted(p.name for p in folder.parent.iterdir())
    assert "\n" not in str(caught.value)
    return str(caught.value)


def archived(root: Path, place: Path, kind: str, prefix: str = "") -> Path:
    names = [*files_on_disk(root), "manifest.json"]
    if kind == "zip":
        return zipped(place, {prefix + n: (root / n).read_bytes() for n in names})
    members = [(member(prefix + n), (root / n).read_bytes()) for n in names]
    return tarred(place, members, f"w:{kind}")


# No zip tool writes "./" before a name; tar does.
@pytest.mark.parametrize(
    ("kind", "prefix"),
    [("zip", ""), ("zip", "some-folder/")]
    + [(kind, prefix) for kind in ("", "gz", "bz2", "xz") for prefix in ("", "./", "some-folder/")],
)
def test_every_kind_of_archive_opens_by_content(
    make_package: Callable[..., Path], tmp_path: Path, kind: str, prefix: str
) -> None:
    """The name says nothing: what matters is what is in the file, and a folder around it is entered."""
    root = make_package()
    archive = archived(root, tmp_path / "archive.bin", kind, prefix)
    with open_package(archive) as package, open_package(root) as folder:
        assert folder.manifest_sha256 == package.manifest_sha256
        assert files_on_disk(root) == files_on_disk(package.root)
        kept = package.root
    assert not kept.exists()


def test_an_archive_that_a_mac_made(make_package: Callable[..., Path], tmp_path: Path) -> None:
    """Finder adds __MACOSX beside the folder; that is no file of the package."""
    root = make_package()
    place = archived(root, tmp_path / "a.zip", "zip", "folder/")
    with zipfile.ZipFile(place, "a") as archive:
        archive.writestr("__MACOSX/folder/._manifest.json", b"x")
    with open_package(place) as package:
        assert files_on_disk(package.root) == ["inputs/jobs.csv", "outputs/trace.json"]


UNSAFE = {
    "../evil": "'../evil' leads outside the package; '..' is not allowed",
    "a/../../evil": "leads outside the package",
    "/etc/evil": "'/etc/evil' is an absolute path; expected one relative to the package",
    "C:/evil": "is an absolute path",
    "a\\..\\..\\evil": "holds a backslash or a control character",
    "a\rb": "holds a backslash or a control character",
    "a//b": "has an empty or '.' part",
}


@pytest.mark.parametrize(("name", "expected"), UNSAFE.items())
@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_zip_slip(tmp_path: Path, name: str, expected: str, kind: str) -> None:
    archive = tmp_path / "evil"
    if kind == "zip":
        zipped(archive, {name: b"x"})
    else:
        tarred(archive, [(member(name), b"x")])
    message = refusal(archive, tmp_path / "to")
    assert message.startswith("evil: unsafe entry name: ")
    assert expected in message


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (tarfile.SYMTYPE, "a symbolic link"),
        (tarfile.LNKTYPE, "a hard link"),
        (tarfile.FIFOTYPE, "a device or pipe"),
        (tarfile.CHRTYPE, "a device or pipe"),
    ],
)
def test_tar_entries_that_are_no_files(tmp_path: Path, kind: bytes, words: str) -> None:
    archive = tarred(tmp_path / "evil", [(member("a", kind, "/etc/passwd"), b"")])
    assert refusal(archive, tmp_path / "to") == f"evil: 'a' is {words}; a package holds plain files only"


def test_a_link_in_a_zip(tmp_path: Path) -> None:
    info = zipfile.ZipInfo("a")
    info.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "evil", "w") as archive:
        archive.writestr(info, "/etc/passwd")
    assert refusal(tmp_path / "evil", tmp_path / "to") == (
        "evil: 'a' is a symbolic link; a package holds plain files only"
    )


def test_a_bomb_is_stopped_by_its_ratio(tmp_path: Path) -> None:
    """900 kB of zeros deflate a thousandfold; nothing that people publish does."""
    archive = zipped(tmp_path / "bomb", {"zeros": bytes(900_000)})
    assert refusal(archive, tmp_path / "to") == (
        "bomb: unpacks to more than 100 times its size; it looks like an archive bomb"
    )


def test_a_bomb_whose_header_lies_is_stopped_by_what_comes_out(tmp_path: Path) -> None:
    """The sizes in the headers are claims of the archive; only bytes that come out are counted."""
    archive = zipped(tmp_path / "bomb", {"zeros": bytes(900_000)})
    data = bytearray(archive.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.index(signature) + offset
        data[at : at + 4] = struct.pack("<I", 10)
    archive.write_bytes(data)
    assert "bomb" in refusal(archive, tmp_path / "to")


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE, tarfile.XGLTYPE])
def test_a_tar_of_headers_that_each_speak_of_the_next(tmp_path: Path, kind: bytes) -> None:
    header = tarfile.TarInfo("x")
    header.type, header.size = kind, 12
    place = tmp_path / "package.tar"
    place.write_bytes((header.tobuf(tarfile.GNU_FORMAT) + b"12 path=abc\n".ljust(512, b"\0")) * 3000)
    assert refusal(place, tmp_path / "out").startswith(
        "package.tar: the archive is damaged or of an unknown kind: "
    )


@pytest.mark.parametrize("mode", ["w:gz", "w:bz2", "w:xz"])
def test_a_compressed_tar_bomb(tmp_path: Path, mode: str) -> None:
    archive = tarred(tmp_path / "bomb", [(member("zeros"), bytes(900_000))], mode)
    assert "looks like an archive bomb" in refusal(archive, tmp_path / "to")


def test_a_tar_whose_header_is_the_bomb(tmp_path: Path) -> None:
    """A pax header is read as a whole before any entry is seen, so its length is bounded as well."""
    head = member("x", tarfile.XHDTYPE)
    head.size = 8**11 - 1
    (tmp_path / "bomb").write_bytes(gzip.compress(head.tobuf(tarfile.USTAR_FORMAT) + bytes(1 << 20)))
    assert refusal(tmp_path / "bomb", tmp_path / "to") == "bomb: an entry's header is too long to be honest"


def test_too_many_bytes_and_too_many_entries(tmp_path: Path) -> None:
    large = zipped(tmp_path / "large", {"noise": os.urandom(2 << 20)})
    assert refusal(large, tmp_path / "to") == "large: unpacks to more than 1048576 bytes"
    many = zipped(tmp_path / "many", {str(i): b"" for i in range(51)})
    assert refusal(many, tmp_path / "to2") == "many: holds more than 50 entries"


def test_names_that_stand_twice(tmp_path: Path) -> None:
    archive = tarred(tmp_path / "t", [(member("a"), b"1"), (member("a"), b"2")])
    assert refusal(archive, tmp_path / "to") == "t: holds 'a' twice; each file may stand once"
    archive = tarred(tmp_path / "c", [(member("a"), b"1"), (member("A"), b"2")])
    assert refusal(archive, tmp_path / "to2") == (
        "c: holds 'A' beside 'a', one name to many file systems; each file may stand once"
    )


def test_a_name_that_is_a_file_and_a_folder(tmp_path: Path) -> None:
    archive = tarred(tmp_path / "t", [(member("a"), b"1"), (member("a/b"), b"2")])
    assert refusal(archive, tmp_path / "to") == "t: 'a/b' is both a file and a folder"


def test_an_encrypted_zip(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "e", {"a": b"x"})
    data = bytearray(archive.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + offset] |= 1
    archive.write_bytes(data)
    assert refusal(archive, tmp_path / "to") == "e: 'a' is encrypted; expected an archive without a password"


@pytest.mark.parametrize("kind", ["zip", "", "gz", "bz2", "xz"])
def test_damaged_archives(make_package: Callable[..., Path], tmp_path: Path, kind: str) -> None:
    """Cut or flipped anywhere, an archive gives a sentence or a package whose hashes will tell."""
    data = archived(make_package(files={"inputs/noise": os.urandom(3000)}), tmp_path / "a", kind).read_bytes()
    for at in range(0, len(data), max(1, len(data) // 40)):
        for number, broken in enumerate((data[:at], data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :])):
            (tmp_path / "broken").write_bytes(broken)
            folder = tmp_path / f"to-{at}-{number}"
            folder.mkdir()
            with contextlib.suppress(PackageError):
                unpack(tmp_path / "broken", folder)


@given(st.binary(max_size=600), st.sampled_from([b"", b"PK\x03\x04", b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00"]))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_bytes_at_all_get_anything_but_a_sentence(tmp_path: Path, data: bytes, magic: bytes) -> None:
    (tmp_path / "noise").write_bytes(magic + data)
    with pytest.raises(PackageError, match=r"^noise: "):
        unpack(tmp_path / "noise", tmp_path / "to")


def test_no_package_at_all(tmp_path: Path) -> None:
    def message(path: Path) -> str:
        with pytest.raises(PackageError) as caught, open_package(path):
            pass
        return str(caught.value)

    assert message(tmp_path / "x").endswith(
        "x: is not there; expected a package folder or a zip or tar archive"
    )
    assert message(tmp_path).endswith("has no manifest.json; expected it at the top of the package")
    (tmp_path / "text").write_text("hello")
    assert message(tmp_path / "text") == "text: is neither a folder nor a zip or tar archive"
    zipped(tmp_path / "z", {"a": b""})
    assert message(tmp_path / "z") == "z: has no manifest.json; expected it at the top of the package"
    (tmp_path / "manifest.json").mkdir()
    assert "manifest.json is not a regular file; a package holds plain files only" in message(tmp_path)
    (tmp_path / "manifest.json").rmdir()
    os.mkfifo(tmp_path / "manifest.json")
    assert "manifest.json is not a regular file" in message(tmp_path)


def test_a_link_that_leads_outside(make_package: Callable[..., Path]) -> None:
    root = make_package()
    (root / "shortcut").symlink_to("/etc")
    with (
        pytest.raises(PackageError, match="shortcut: is a symbolic link that leads outside the package"),
        open_package(root),
    ):
        pass


def test_a_listed_file_that_is_a_link(make_package: Callable[..., Path]) -> None:
    """Even a link to the right bytes: what it leads to can change without the package changing."""
    root = make_package(files={"inputs/copy.csv": (b"x")})
    (root / "inputs/copy.csv").unlink()
    (root / "inputs/copy.csv").symlink_to("jobs.csv")
    with (
        pytest.raises(PackageError, match=r"inputs/copy.csv: stands behind the symbolic link"),
        open_package(root),
    ):
        pass


def test_a_folder_that_is_a_link(make_package: Callable[..., Path], tmp_path: Path) -> None:
    root = make_package()
    (root / "inputs").rename(tmp_path / "elsewhere")
    (root / "inputs").symlink_to(tmp_path / "elsewhere")
    with (
        pytest.raises(PackageError, match=r"inputs/jobs.csv: stands behind the symbolic link 'inputs'"),
        open_package(root),
    ):
        pass


def test_a_link_in_a_circle_ends(make_package: Callable[..., Path]) -> None:
    root = make_package()
    (root / "loop").symlink_to(".")
    with open_package(root) as package:
        assert files_on_disk(package.root) == ["inputs/jobs.csv", "loop", "outputs/trace.json"]


def test_what_version_control_leaves_is_no_file_of_the_package(make_package: Callable[..., Path]) -> None:
    root = make_package()
    (root / ".git").mkdir()
    (root / ".git/config").write_text("x")
    (root / "inputs/.DS_Store").write_text("x")
    # An installer compiles the scripts of a bundled package; a reader who runs one does, too.
    (root / "__pycache__").mkdir()
    (root / "__pycache__/analysis.cpython-311.pyc").write_text("x")
    assert files_on_disk(root) == ["inputs/jobs.csv", "outputs/trace.json"]
