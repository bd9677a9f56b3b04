"""What became of every file of a package: its state, and for a mismatch the reason where one is known."""

import hashlib
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from artifacts.errors import ChangedWhileRead, PackageError
from artifacts.hashing import Digest, FileHasher
from artifacts.package import files_on_disk, printable
from schema.artifact import File, Manifest
from schema.states import FileState

_DIAGNOSED_BYTES = 64 << 20
_BOM = b"\xef\xbb\xbf"
_LFS = re.compile(rb"version https://git-lfs\.github\.com/spec/v1\n(?:.*\n)*?oid sha256:([0-9a-f]{64})\n")

Resolve = Callable[[File], Path]
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class FileResult:
    """One file after hashing: `expected` is None for an unlisted one, `observed` where nothing was read."""

    path: str
    state: FileState
    expected: File | None = None
    observed: Digest | None = None
    detail: str | None = None


def hash_package(
    root: Path,
    manifest: Manifest,
    *,
    resolve: Resolve | None = None,
    copies: Mapping[str, Path] | None = None,
    progress: Progress | None = None,
) -> list[FileResult]:
    """Hash every listed file, in the order of the manifest, then name the unlisted ones.

    Files are read at `root`/path, or where `resolve` says (then nothing is unlisted). Those in
    `copies` are copied to the path given there in the same pass. Raises PackageError for a file that
    can't be read at all, and StoreError when a copy can't be written.
    """
    hasher = FileHasher()
    total = sum(f.bytes for f in manifest.files)
    done = 0
    results: list[FileResult] = []
    for file in manifest.files:
        place = resolve(file) if resolve is not None else root / file.path
        copy = copies.get(file.path) if copies else None
        results.append(_one_file(hasher, file, place, copy))
        done += file.bytes
        if progress is not None:
            progress(file.path, done, total)
    if resolve is not None:
        return results
    listed = {f.path for f in manifest.files}
    unlisted = [name for name in files_on_disk(root) if name not in listed]
    shown = [printable(name) for name in unlisted]
    forms = {_nfc(name).casefold(): name for name in reversed(shown)} | {_nfc(n): n for n in reversed(shown)}
    results = [_with_name_diagnosis(result, forms) for result in results]
    return results + [FileResult(name, FileState.UNLISTED) for name in shown]


def _one_file(hasher: FileHasher, file: File, place: Path, copy: Path | None) -> FileResult:
    try:
        if copy is not None:
            digest = hasher.copy_and_hash(place, copy)
        else:
            digest = hasher.hash_file(place)
    except FileNotFoundError:
        return FileResult(file.path, FileState.MISSING, file)
    except ChangedWhileRead:
        return FileResult(file.path, FileState.MISMATCH, file, None, "changed while it was being read")
    except PackageError as error:
        reason = str(error).removeprefix(os.fspath(place)).strip()
        return FileResult(file.path, FileState.MISMATCH, file, None, reason)
    if digest.bytes == file.bytes and digest.sha256 == file.sha256:
        if file.git_blob_sha1 in (None, digest.git_blob_sha1):
            return FileResult(file.path, FileState.MATCH, file, digest)
        detail = "has the recorded SHA-256, but the manifest records another git blob SHA-1"
        return FileResult(file.path, FileState.MISMATCH, file, digest, detail)
    return FileResult(file.path, FileState.MISMATCH, file, digest, diagnose(place, file, digest))


def diagnose(place: Path, file: File, observed: Digest) -> str:
    """Why the bytes differ, as far as it can be known from the recorded length and hash."""
    if observed.sha256 == file.sha256:
        return f"has the recorded SHA-256 but {observed.bytes} bytes, where the manifest records {file.bytes}"
    if observed.bytes == 0:
        return f"is empty; {file.bytes} bytes are recorded"
    known = _known_change(place, file) if observed.bytes <= _DIAGNOSED_BYTES else None
    if known is not None:
        return known
    if observed.bytes < file.bytes:
        missing = file.bytes - observed.bytes
        return f"is {_bytes(missing)} shorter than recorded ({observed.bytes} of {file.bytes}); maybe cut off"
    if observed.bytes > file.bytes:
        more = observed.bytes - file.bytes
        return f"is {_bytes(more)} longer than recorded ({observed.bytes}, not {file.bytes})"
    return "has the recorded length but other bytes"


def _known_change(place: Path, file: File) -> str | None:
    try:
        data = place.read_bytes()
    except OSError:
        return None
    pointer = _LFS.match(data)
    if pointer is not None:
        if pointer.group(1).decode() == file.sha256:
            return "is a Git LFS pointer to the recorded file; fetch the file with 'git lfs pull'"
        return "is a Git LFS pointer, not the file"
    for changed, words in _candidates(data, file.bytes):
        if len(changed) == file.bytes and hashlib.sha256(changed).hexdigest() == file.sha256:
            return words
    return None


def _candidates(data: bytes, recorded: int) -> Iterable[tuple[bytes, str]]:
    unix = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    only = "differs from the recorded file only in line endings"
    yield unix, f"{only}: recorded with LF"
    yield unix.replace(b"\n", b"\r\n"), f"{only}: recorded with CRLF"
    yield unix.replace(b"\n", b"\r"), f"{only}: recorded with CR"
    yield data.removeprefix(_BOM), "differs from the recorded file only by a byte order mark at its beginning"
    yield _BOM + data, "differs from the recorded file only by the byte order mark that it has lost"
    yield data + b"\n", "differs from the recorded file only by the line end that its last line has lost"
    if len(data) > recorded:
        yield data[:recorded], f"is the recorded file with {_bytes(len(data) - recorded)} appended"


def _with_name_diagnosis(result: FileResult, forms: Mapping[str, str]) -> FileResult:
    """A missing file that stands here under a like name; `forms` gives the unlisted ones by NFC and case."""
    if result.state is not FileState.MISSING:
        return result
    wanted = _nfc(result.path)
    name = forms.get(wanted)
    if name is not None and _nfc(name) == wanted:
        form = "NFD" if unicodedata.is_normalized("NFD", name) else "NFC"
        detail = f"stands here under the {form} form of the same name; rename it to the form that is listed"
    else:
        name = forms.get(wanted.casefold())
        if name is None:
            return result
        detail = f"stands here as {name!r}, which differs in upper and lower case only"
    return FileResult(result.path, result.state, result.expected, None, detail)


def _nfc(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _bytes(count: int) -> str:
    return "1 byte" if count == 1 else f"{count} bytes"
