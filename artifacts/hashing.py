"""SHA-256 and git blob SHA-1 of files, both in one pass. Standard library only, so that it starts fast."""

import errno
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from artifacts.errors import ChangedWhileRead, PackageError, StoreError

CHUNK = 1 << 20
_OPEN = (
    os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
)
_FULL = {errno.ENOSPC: "the disk is full", errno.EDQUOT: "the disk quota is used up"}


@dataclass(frozen=True, slots=True)
class Digest:
    """Length and hashes of one file's bytes."""

    bytes: int
    sha256: str
    git_blob_sha1: str


class FileHasher:
    """Hashes file after file with one 1 MiB buffer."""

    def __init__(self) -> None:
        self._buffer = bytearray(CHUNK)
        self._view = memoryview(self._buffer)

    def hash_file(self, path: str | os.PathLike[str], copy_to: int | None = None) -> Digest:
        """Hash one regular file, and write what was hashed to the open descriptor `copy_to`.

        Raises FileNotFoundError when it isn't there, PackageError when it isn't a regular file or
        can't be read, ChangedWhileRead when it changed meanwhile, OSError when the copy can't be written.
        """
        descriptor = _open(path)
        try:
            before = os.fstat(descriptor)
            if not stat.S_ISREG(before.st_mode):
                raise PackageError(f"{_shown(path)} is not a regular file")
            size = before.st_size
            sha256 = hashlib.sha256()
            sha1 = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
            buffers, view, total = [self._buffer], self._view, 0
            while count := _read(descriptor, buffers, path):
                piece = view if count == CHUNK else view[:count]
                sha256.update(piece)
                sha1.update(piece)
                total += count
                if copy_to is not None:
                    _write_all(copy_to, piece)
            after = os.fstat(descriptor)
        finally:
            os.close(descriptor)
        if total != size or after.st_size != size or after.st_mtime_ns != before.st_mtime_ns:
            raise ChangedWhileRead(f"{_shown(path)} changed while it was being read")
        return Digest(total, sha256.hexdigest(), sha1.hexdigest())

    def copy_and_hash(self, path: str | os.PathLike[str], destination: str | os.PathLike[str]) -> Digest:
        """Hash one file and copy it in the same pass, so that the copy is exactly what was hashed.

        Creates missing folders; refuses to overwrite. Raises like `hash_file`, and StoreError when
        the copy can't be written.
        """
        try:
            os.makedirs(os.path.dirname(os.fspath(destination)) or ".", exist_ok=True)
            target = os.open(
                destination, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o600
            )
            try:
                return self.hash_file(path, target)
            finally:
                os.close(target)
        except FileNotFoundError:
            Path(destination).unlink(missing_ok=True)
            raise
        except OSError as error:
            Path(destination).unlink(missing_ok=True)
            raise StoreError(f"can't copy {_shown(path)}: {why_not_written(error)}") from error


def hash_file(path: str | os.PathLike[str]) -> Digest:
    """Hash one file; see `FileHasher.hash_file`."""
    return FileHasher().hash_file(path)


def copy_and_hash(path: str | os.PathLike[str], destination: str | os.PathLike[str]) -> Digest:
    """Copy and hash one file; see `FileHasher.copy_and_hash`."""
    return FileHasher().copy_and_hash(path, destination)


def hash_files(paths: Iterable[str | os.PathLike[str]]) -> Iterator[Digest]:
    """Hash many files with one buffer, in the order given."""
    hash_one = FileHasher().hash_file
    for path in paths:
        yield hash_one(path)


def git_blob_sha1(data: bytes) -> str:
    """The name that git gives to a blob with these bytes."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def why_not_written(error: OSError) -> str:
    """A few plain words for a failed write: a full disk is named as such."""
    return _FULL.get(error.errno or 0, (error.strerror or str(error)).lower())


def _open(path: str | os.PathLike[str]) -> int:
    try:
        return os.open(path, _OPEN)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileNotFoundError(errno.ENOENT, "not there", os.fspath(path)) from error
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise PackageError(
                f"{_shown(path)} is a symbolic link; a package holds plain files only"
            ) from error
        reason = (error.strerror or str(error)).lower()
        raise PackageError(f"{_shown(path)} can't be read: {reason}") from error


def _read(descriptor: int, buffers: list[bytearray], path: str | os.PathLike[str]) -> int:
    try:
        return os.readv(descriptor, buffers)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise PackageError(f"{_shown(path)} can't be read: {reason}") from error


def _write_all(descriptor: int, piece: memoryview) -> None:
    while len(piece):
        piece = piece[os.write(descriptor, piece) :]


def _shown(path: str | os.PathLike[str]) -> str:
    return os.fsencode(os.fspath(path)).decode("utf-8", "backslashreplace")
