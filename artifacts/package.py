"""Opening a package: a folder, or a zip or tar archive that is unpacked safely into a temporary folder."""

import bz2
import gzip
import hashlib
import io
import lzma
import os
import shutil
import stat
import tarfile
import tempfile
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from pydantic import TypeAdapter, ValidationError

from artifacts.errors import PackageError, StoreError
from artifacts.hashing import why_not_written
from artifacts.manifest import MANIFEST_NAME, MAX_MANIFEST_BYTES, parse_manifest
from schema.artifact import Manifest
from schema.base import PackagePath

_PATH: TypeAdapter[str] = TypeAdapter(PackagePath)
_CHUNK = 1 << 20
_COMPRESSED: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
_BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    gzip.BadGzipFile,
    EOFError,
    MemoryError,
    NotImplementedError,
    OverflowError,
    RecursionError,
    UnicodeError,
    ValueError,
)
# What version control, file managers and Python leave beside the files; no package means them.
_IGNORED_AT_TOP = frozenset({".git"})
_IGNORED_NAMES = frozenset({".DS_Store", "Thumbs.db", "__pycache__"})
_ARCHIVER_FOLDER = "__MACOSX"
_PLAIN_ONLY = "a package holds plain files only"


@dataclass(frozen=True)
class Limits:
    """How much an archive may unpack to; `ratio` (unpacked to packed) counts above `ratio_from` bytes."""

    total_bytes: int = 16 << 30
    entries: int = 200_000
    ratio: int = 250
    ratio_from: int = 64 << 20


@dataclass(frozen=True)
class Package:
    """An opened package: where its files are, and its manifest with the bytes it was read from."""

    root: Path
    manifest: Manifest
    manifest_bytes: bytes
    manifest_sha256: str


@contextmanager
def open_package(path: str | os.PathLike[str], limits: Limits | None = None) -> Iterator[Package]:
    """Open a folder or archive; an archive's temporary folder goes when the context ends.

    Archives are recognised by content: .zip, .tar, and .tar in gzip, bzip2 or xz. A single folder at
    the top of an archive is entered. Raises PackageError when there is no package, the archive is
    unsafe or damaged, the manifest is wrong, or a listed file is a symbolic link.
    """
    path = Path(path)
    if path.is_dir():
        yield _read_package(path)
        return
    if path.name == MANIFEST_NAME and path.is_file():
        yield _read_package(path.parent)
        return
    if not path.is_file():
        state = "is not a regular file" if path.exists() else "is not there"
        raise PackageError(f"{path}: {state}; expected a package folder or a zip or tar archive")
    folder = temporary_folder("package")
    try:
        unpack(path, folder, limits)
        yield _read_package(_entered(folder), name=path.name)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def files_on_disk(root: Path) -> list[str]:
    """Every file below `root` but its manifest, as sorted package paths; links are listed, not followed.

    `.git` at the top, `.DS_Store` and `Thumbs.db` are left out. Raises PackageError for a folder that
    can't be read.
    """
    found: list[str] = []
    pending = [("", os.fspath(root))]
    while pending:
        prefix, folder = pending.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise PackageError(f"{printable(prefix) or root} can't be read: {reason}") from error
        for entry in entries:
            if entry.name in _IGNORED_NAMES or (not prefix and entry.name in _IGNORED_AT_TOP):
                continue
            if entry.is_dir(follow_symlinks=False):
                pending.append((f"{prefix}{entry.name}/", entry.path))
            else:
                found.append(prefix + entry.name)
    return sorted(name for name in found if name != MANIFEST_NAME)


def printable(path: str) -> str:
    """A path with undecodable bytes written as \\xNN, safe for UTF-8 output."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def refuse_links(root: Path, listed: set[str]) -> None:
    """Raise PackageError when a listed file stands behind a symbolic link, or any link leads outside."""
    inside = os.path.realpath(root)
    links = [name for name in _entries(root) if (root / name).is_symlink()]
    for link in links:
        for path in listed:
            if path == link or path.startswith(link + "/"):
                raise PackageError(
                    f"{path}: stands behind the symbolic link {printable(link)!r}; {_PLAIN_ONLY}"
                )
        target = os.path.realpath(root / link)
        if target != inside and not target.startswith(inside + os.sep):
            raise PackageError(
                f"{printable(link)}: is a symbolic link that leads outside the package; "
                "put the file itself there"
            )


def unpack(archive: Path, folder: Path, limits: Limits | None = None) -> None:
    """Unpack an archive into an empty folder: plain files with safe names, within the limits.

    Raises PackageError naming the entry and what is wrong with it.
    """
    limits = limits or Limits()
    try:
        with archive.open("rb") as raw:
            head = raw.read(512)
            raw.seek(0)
            budget = _Budget(archive.name, max(1, os.fstat(raw.fileno()).st_size), limits)
            if head[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
                _unpack_zip(raw, folder, budget)
                return
            for magic, opener in _COMPRESSED.items():
                if head.startswith(magic):
                    with cast(BinaryIO, opener(raw, "rb")) as stream:
                        _unpack_tar(_Metered(stream, budget), folder, budget)
                    return
            if head[257:262] == b"ustar":
                _unpack_tar(_Metered(raw, budget), folder, budget)
                return
    except _BROKEN as error:
        detail = str(error).strip().rstrip(".")[:200] or type(error).__name__
        raise PackageError(
            f"{archive.name}: the archive is damaged or of an unknown kind: {detail}"
        ) from error
    except OSError as error:
        raise PackageError(f"{archive.name}: can't be unpacked: {why_not_written(error)}") from error
    raise PackageError(f"{archive.name}: is neither a folder nor a zip or tar archive")


def temporary_folder(purpose: str) -> Path:
    """A new private folder. Raises StoreError when none can be made."""
    try:
        return Path(tempfile.mkdtemp(prefix=f"proofshelf-{purpose}-"))
    except OSError as error:
        raise StoreError(f"no temporary folder can be made: {why_not_written(error)}") from error


def _read_package(root: Path, name: str | None = None) -> Package:
    shown = name or str(root)
    file = root / MANIFEST_NAME
    if file.is_symlink():
        raise PackageError(f"{shown}: manifest.json is a symbolic link; {_PLAIN_ONLY}")
    if file.exists() and not file.is_file():
        raise PackageError(f"{shown}: manifest.json is not a regular file; {_PLAIN_ONLY}")
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_MANIFEST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise PackageError(f"{shown}: has no manifest.json; expected it at the top of the package") from error
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise PackageError(f"{shown}: manifest.json can't be read: {reason}") from error
    manifest = parse_manifest(data)
    refuse_links(root, {f.path for f in manifest.files})
    return Package(root, manifest, data, hashlib.sha256(data).hexdigest())


def _entered(folder: Path) -> Path:
    entries = list(folder.iterdir())
    if len(entries) == 1 and entries[0].is_dir():
        return entries[0]
    return folder


def _entries(root: Path) -> list[str]:
    """Files and links below `root`, the ignored ones too."""
    found: list[str] = []
    for folder, folders, files in os.walk(root):
        prefix = os.path.relpath(folder, root)
        for name in (*folders, *files):
            found.append(name if prefix == "." else f"{prefix}/{name}")
        if prefix == ".":
            folders[:] = [name for name in folders if name not in _IGNORED_AT_TOP]
    return found


class _Budget:
    """What an archive may still unpack, and the names that it has used."""

    def __init__(self, archive: str, packed: int, limits: Limits) -> None:
        self.archive, self._packed, self._limits = archive, packed, limits
        self._unpacked = self._entries = 0
        self._names: dict[str, str] = {}

    def entry(self, name: str, is_folder: bool) -> str | None:
        """The safe path of one more entry, or None for one to skip."""
        self._entries += 1
        if self._entries > self._limits.entries:
            raise PackageError(f"{self.archive}: holds more than {self._limits.entries} entries")
        plain = name.removeprefix("./").rstrip("/") if is_folder else name.removeprefix("./")
        if is_folder and plain in ("", "."):
            return None
        try:
            safe = _PATH.validate_python(plain)
        except ValidationError as error:
            problem = error.errors()[0]["msg"].removeprefix("Value error, ")
            raise PackageError(f"{self.archive}: unsafe entry name: {problem}") from error
        if safe.split("/")[0] == _ARCHIVER_FOLDER:
            return None
        if not is_folder:
            folded = unicodedata.normalize("NFC", safe).casefold()
            earlier = self._names.get(folded)
            if earlier is not None:
                other = "twice" if earlier == safe else f"beside {earlier!r}, one name to many file systems"
                raise PackageError(f"{self.archive}: holds {safe!r} {other}; each file may stand once")
            self._names[folded] = safe
        return safe

    def spend(self, count: int) -> None:
        """Count unpacked bytes against the limits."""
        self._unpacked += count
        self.check(self._unpacked)

    def check(self, unpacked: int) -> None:
        """Raise PackageError when so many unpacked bytes are too many."""
        limits = self._limits
        if unpacked > limits.total_bytes:
            raise PackageError(f"{self.archive}: unpacks to more than {limits.total_bytes} bytes")
        if unpacked > limits.ratio_from and unpacked > limits.ratio * self._packed:
            raise PackageError(
                f"{self.archive}: unpacks to more than {limits.ratio} times its size; "
                "it looks like an archive bomb"
            )


class _Metered(io.RawIOBase):
    """A decompressed stream that never yields more than the budget, and never much at once."""

    def __init__(self, stream: BinaryIO, budget: _Budget) -> None:
        self._stream, self._budget = stream, budget

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if size < 0 or size > 4 * _CHUNK:
            raise PackageError(f"{self._budget.archive}: an entry's header is too long to be honest")
        data = self._stream.read(size)
        self._budget.check(self._stream.tell())
        return data

    def tell(self) -> int:
        return self._stream.tell()

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence == os.SEEK_SET:
            self._budget.check(offset)
        return self._stream.seek(offset, whence)


def _unpack_zip(raw: BinaryIO, folder: Path, budget: _Budget) -> None:
    with zipfile.ZipFile(raw) as archive:
        for info in archive.infolist():
            if "\0" in info.orig_filename:
                raise PackageError(f"{budget.archive}: the entry name {info.orig_filename!r} holds a NUL")
            name = info.orig_filename
            path = budget.entry(name, info.is_dir())
            if path is None:
                continue
            kind = stat.S_IFMT(info.external_attr >> 16)
            if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise PackageError(f"{budget.archive}: {path!r} is {_kind(kind)}; {_PLAIN_ONLY}")
            if info.flag_bits & 0x1:
                raise PackageError(
                    f"{budget.archive}: {path!r} is encrypted; expected an archive without a password"
                )
            if info.is_dir():
                _make_folder(folder / path, budget, path)
                continue
            with archive.open(info) as source:
                _write(source, folder / path, budget, path)


def _unpack_tar(stream: _Metered, folder: Path, budget: _Budget) -> None:
    with tarfile.open(fileobj=cast(IO[bytes], stream), mode="r:", errorlevel=2) as archive:
        for member in archive:
            path = budget.entry(member.name, member.isdir())
            if path is None:
                continue
            if member.isdir():
                _make_folder(folder / path, budget, path)
            elif member.isreg():
                source = archive.extractfile(member)
                assert source is not None
                written = _write(cast(BinaryIO, source), folder / path, budget, path)
                if written != member.size:
                    raise PackageError(f"{budget.archive}: {path!r} ends early; the archive is cut off")
            else:
                raise PackageError(f"{budget.archive}: {path!r} is {_member_kind(member)}; {_PLAIN_ONLY}")


def _make_folder(path: Path, budget: _Budget, name: str) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise PackageError(f"{budget.archive}: {name!r} is both a file and a folder") from error


def _write(source: Any, path: Path, budget: _Budget, name: str) -> int:
    _make_folder(path.parent, budget, name)
    written = 0
    try:
        with path.open("xb") as target:
            while data := source.read(_CHUNK):
                budget.spend(len(data))
                target.write(data)
                written += len(data)
    except (FileExistsError, IsADirectoryError) as error:
        raise PackageError(f"{budget.archive}: {name!r} is both a file and a folder") from error
    return written


def _kind(mode: int) -> str:
    return "a symbolic link" if mode == stat.S_IFLNK else "a device or pipe"


def _member_kind(member: tarfile.TarInfo) -> str:
    if member.issym():
        return "a symbolic link"
    return "a hard link" if member.islnk() else "a device or pipe"
