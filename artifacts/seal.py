"""Sealing a draft: fills in what a machine knows about a package's files, and nothing else."""

import hashlib
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from artifacts.errors import PackageError, StoreError
from artifacts.hashing import FileHasher, why_not_written
from artifacts.manifest import MANIFEST_NAME, parse_manifest
from artifacts.package import files_on_disk, printable, refuse_links
from artifacts.strict_json import read_json

_FILLED = ("bytes", "sha256", "git_blob_sha1")
_BY_FOLDER = {"inputs": "input", "input": "input", "data": "input", "outputs": "output", "output": "output"}
_BY_ENDING = {
    ".svg": "figure",
    ".png": "figure",
    ".pdf": "figure",
    ".ipynb": "notebook",
    ".py": "code",
    ".r": "code",
    ".jl": "code",
    ".sql": "code",
    ".sh": "code",
    ".html": "source",
    ".htm": "source",
}


@dataclass(frozen=True)
class Sealed:
    """What sealing changed: files added (with the guessed role), filled in for the first time, corrected."""

    added: tuple[tuple[str, str], ...]
    filled: tuple[str, ...]
    corrected: tuple[str, ...]
    manifest_sha256: str

    @property
    def changed(self) -> bool:
        """Whether the manifest's bytes changed in what they say of files."""
        return bool(self.added or self.filled or self.corrected)


def seal(folder: str | os.PathLike[str]) -> Sealed:
    """Fill `bytes`, `sha256` and `git_blob_sha1` of every file in a folder's draft `manifest.json`.

    Files that the draft doesn't list are added with a role guessed from folder and ending. All other
    fields, and the order of keys, stay. The result must be a valid manifest, and is written by
    rename, so that there is never half of one. Raises PackageError, or StoreError when it can't be
    written; then nothing has changed.
    """
    root = Path(folder)
    place = root / MANIFEST_NAME
    draft = _read_draft(root, place)
    entries = draft.setdefault("files", [])
    if not isinstance(entries, list):
        raise PackageError(f"{MANIFEST_NAME}: files: expected a list")
    listed = [_path_of(entry, position) for position, entry in enumerate(entries)]
    unlisted = [name for name in files_on_disk(root) if name not in set(listed)]
    refuse_links(root, {*listed, *unlisted})
    added = [(printable(name), guessed_role(name)) for name in unlisted]
    entries += [{"path": name, "role": role} for name, role in added]
    filled, corrected = _fill(root, entries, {name for name, _ in added})
    data = (json.dumps(draft, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8")
    parse_manifest(data)
    _write(place, data)
    return Sealed(tuple(added), tuple(filled), tuple(corrected), hashlib.sha256(data).hexdigest())


def guessed_role(path: str) -> str:
    """The likely role of a file: by ending for figures, notebooks, code and pages, else by folder.

    Only a folder of inputs makes an `input`: the role decides how deep a claim goes, so a file that
    says nothing of itself gets the weaker `output`.
    """
    ending = os.path.splitext(path)[1].lower()
    if ending in _BY_ENDING:
        return _BY_ENDING[ending]
    return _BY_FOLDER.get(path.split("/")[0].lower(), "output") if "/" in path else "output"


def _read_draft(root: Path, place: Path) -> dict[str, Any]:
    if not root.is_dir():
        raise PackageError(f"{root}: is not a folder; only a folder can be sealed")
    if place.is_symlink():
        raise PackageError(f"{root}: manifest.json is a symbolic link; a package holds plain files only")
    if place.exists() and not place.is_file():
        raise PackageError(f"{root}: manifest.json is not a regular file; a package holds plain files only")
    try:
        data = place.read_bytes()
    except FileNotFoundError as error:
        raise PackageError(
            f"{root}: has no manifest.json; write a draft with id, title, work and licence first"
        ) from error
    except OSError as error:
        raise PackageError(f"{place}: can't be read: {(error.strerror or str(error)).lower()}") from error
    draft = read_json(data, MANIFEST_NAME)
    if not isinstance(draft, dict):
        raise PackageError(f"{MANIFEST_NAME}: expected an object with the package's fields")
    return draft


def _path_of(entry: Any, position: int) -> str:
    if not isinstance(entry, dict) or not isinstance(entry.get("path"), str):
        raise PackageError(f"{MANIFEST_NAME}: files[{position}]: expected an object with a `path`")
    return str(entry["path"])


def _fill(root: Path, entries: list[dict[str, Any]], added: set[str]) -> tuple[list[str], list[str]]:
    hasher = FileHasher()
    filled, corrected = [], []
    for position, entry in enumerate(entries):
        path = entry["path"]
        if path.startswith("/") or ".." in path.split("/"):
            raise PackageError(f"{MANIFEST_NAME}: files[{position}]: {path!r} leads outside the package")
        try:
            digest = hasher.hash_file(root / path)
        except FileNotFoundError as error:
            raise PackageError(
                f"{path}: is listed, but not there; add the file or remove it from `files`"
            ) from error
        facts = {"bytes": digest.bytes, "sha256": digest.sha256, "git_blob_sha1": digest.git_blob_sha1}
        before = {name: entry[name] for name in _FILLED if entry.get(name) is not None}
        if any(facts[name] != value for name, value in before.items()):
            corrected.append(path)
        elif len(before) < len(_FILLED) and path not in added:
            filled.append(path)
        entry.update(facts)
    return filled, corrected


def _write(place: Path, data: bytes) -> None:
    temporary: str | None = None
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=".manifest-", dir=place.parent)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fchmod(stream.fileno(), place.stat().st_mode & 0o777)
            os.fsync(stream.fileno())
        os.replace(temporary, place)
        temporary = None
        folder = os.open(place.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise StoreError(f"{place} can't be written: {why_not_written(error)}") from error
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
