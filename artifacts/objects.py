"""Content-addressed files on disk: `root/ab/abcdef...`, each named by its SHA-256 and never changed."""

import contextlib
import os
import re
import stat
import tempfile
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from artifacts.errors import StoreError
from artifacts.hashing import FileHasher, why_not_written
from schema.states import FileState

_NAME = re.compile(r"[0-9a-f]{64}")
_TEMPORARY = "incoming-"


@dataclass(frozen=True)
class Swept:
    """What `sweep` removed."""

    temporary: int
    orphans: int


class ObjectStore:
    """A folder of objects. It is made on the first `put`; writers of one store hold the catalog's lock."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = Path(root)
        self._hasher = FileHasher()

    def path(self, sha256: str) -> Path:
        """Where the object of this name is or would be. Raises StoreError when it isn't a SHA-256."""
        if not _NAME.fullmatch(sha256):
            raise StoreError(f"{sha256!r} is not a SHA-256; expected 64 lower-case hexadecimal digits")
        return self.root / sha256[:2] / sha256

    def has(self, sha256: str) -> bool:
        """Whether an object of this name is there; its bytes are checked by `verify` only."""
        return self.path(sha256).is_file()

    def put(self, source: str | os.PathLike[str], expected_sha256: str) -> bool:
        """Take a file in under its hash; False when an object of this name was there already.

        Written to a temporary file, hashed while copied, flushed to disk, renamed, and the folder
        flushed, so that a name never stands for half a file. Raises StoreError when the disk is full
        or the file isn't the expected one, PackageError when it can't be read.
        """
        final = self.path(expected_sha256)
        if final.is_file():
            return False
        temporary: str | None = None
        try:
            new_folder = not final.parent.is_dir()
            final.parent.mkdir(parents=True, exist_ok=True)
            descriptor, temporary = tempfile.mkstemp(prefix=_TEMPORARY, dir=self.root)
            try:
                digest = self._hasher.hash_file(source, descriptor)
                if digest.sha256 != expected_sha256:
                    raise StoreError(
                        f"{os.fspath(source)} is not the file that was expected: "
                        f"its SHA-256 is {digest.sha256}, not {expected_sha256}"
                    )
                os.fchmod(descriptor, 0o444)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            os.replace(temporary, final)
            temporary = None
            _flush_folder(final.parent)
            if new_folder:
                _flush_folder(self.root)
        except FileNotFoundError as error:
            raise StoreError(f"{os.fspath(source)} is not there") from error
        except OSError as error:
            raise StoreError(
                f"{os.fspath(source)} can't be stored in {self.root}: {why_not_written(error)}"
            ) from error
        finally:
            if temporary is not None:
                Path(temporary).unlink(missing_ok=True)
        return True

    def verify(self, sha256: str) -> FileState:
        """Hash one object again: match, mismatch or missing. Raises PackageError when it can't be read.

        A link, folder or pipe in its place is a mismatch: `put` writes plain files.
        """
        try:
            if not stat.S_ISREG(os.lstat(self.path(sha256)).st_mode):
                return FileState.MISMATCH
            digest = self._hasher.hash_file(self.path(sha256))
        except (FileNotFoundError, NotADirectoryError):
            return FileState.MISSING
        return FileState.MATCH if digest.sha256 == sha256 else FileState.MISMATCH

    def discard(self, names: Iterable[str]) -> None:
        """Remove objects that no row came to know. The caller holds the catalog's write lock."""
        for name in names:
            with contextlib.suppress(OSError):
                self.path(name).unlink(missing_ok=True)
                self.path(name).parent.rmdir()  # goes only if it is empty

    def names(self) -> list[str]:
        """The names of all objects, sorted."""
        if not self.root.is_dir():
            return []
        return sorted(
            entry.name
            for folder in self.root.iterdir()
            if folder.is_dir() and len(folder.name) == 2
            for entry in folder.iterdir()
            if _NAME.fullmatch(entry.name)
        )

    def orphans(self, known: Collection[str]) -> list[str]:
        """Objects that no row knows, sorted."""
        wanted = set(known)
        return [name for name in self.names() if name not in wanted]

    def sweep(self, known: Collection[str]) -> Swept:
        """Remove orphans and what interrupted writes left. The caller holds the catalog's write lock.

        Raises StoreError when something can't be removed.
        """
        temporary = list(self.root.glob(f"{_TEMPORARY}*")) if self.root.is_dir() else []
        orphans = [self.path(name) for name in self.orphans(known)]
        try:
            for file in (*temporary, *orphans):
                file.unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"{self.root} can't be swept: {why_not_written(error)}") from error
        return Swept(len(temporary), len(orphans))


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
