"""Releases on disk: a folder of three files, written once and believed only after every hash."""

import hashlib
import json
import os
import platform
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version as library_version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from classifiers.errors import ClassifierError
from classifiers.release.archive import read_arrays, write_arrays
from classifiers.release.content import FORMAT, Content, Maturity, StoredFile, stored_head
from classifiers.student import Model, OutOfFold, TrainedStudent
from classifiers.student.packing import (
    Form,
    array_sha256,
    assemble,
    check_arrays,
    describe,
    pack,
    pack_texts,
    unpack_texts,
)
from schema.base import canonical_json
from schema.states import Status, score_status

RECORD, MODEL, OUT_OF_FOLD = "release.json", "model.npz", "out_of_fold.npz"
LIMIT = 4 << 30
"""Bytes that a release may hold in all; one of 500,000 terms and 18 heads takes 100 million."""
LIBRARIES = ("numpy", "scipy")

OUT_OF_FOLD_ARRAYS: dict[str, Form] = {
    "ids": ("|u1", ("bytes",)),
    "id_ends": ("<i8", ("records",)),
    "fold": ("<i8", ("records",)),
    "weights": ("<f8", ("records",)),
    "labels": ("<f8", ("records", "heads")),
    "log_odds": ("<f8", ("records", "heads")),
    "probability": ("<f8", ("records", "heads")),
    "nested": ("<f8", ("folds", "records", "heads")),
}
"""See `classifiers.student.OutOfFold`. NaN is unknown, not scored or not calibrated."""


@dataclass(frozen=True)
class Release:
    """A model at one version with the evidence for it."""

    version: str
    content: Content
    model: Model
    out_of_fold: OutOfFold

    @property
    def status(self) -> Status:
        """Ships verbatim with every score."""
        return self.content.status

    @property
    def same_code(self) -> bool:
        """Whether the code that runs is the code that made it: if not, its scores may differ."""
        return self.content.code_sha256 == code_sha256()


def code_sha256() -> str:
    """The hash over the classifiers' own source files."""
    return source_sha256(Path(__file__).resolve().parents[1])


def source_sha256(root: Path) -> str:
    """The hash over all Python files below a folder: their paths and bytes, in the order of the paths."""
    files = {path.relative_to(root).as_posix(): path for path in root.rglob("*.py")}
    hashes = [[name, hashlib.sha256(files[name].read_bytes()).hexdigest()] for name in sorted(files)]
    return hashlib.sha256(canonical_json(hashes)).hexdigest()


def save(student: TrainedStudent, folder: Path, maturity: Maturity = "unknown") -> Release:
    """Write a release: release.json, model.npz and out_of_fold.npz, whole or not at all.

    The same student gives the same bytes. `maturity` is the gate's verdict and decides the status.
    Raises ClassifierError where the folder is there already.
    """
    packed = pack(student.model)
    arrays = {MODEL: packed.arrays, OUT_OF_FOLD: _out_of_fold_arrays(student.out_of_fold)}
    data = {name: write_arrays(of_file) for name, of_file in arrays.items()}
    content = Content.model_validate(
        {
            "format": FORMAT,
            "inputs_sha256": student.inputs_sha256,
            "code_sha256": code_sha256(),
            "libraries": {name: library_version(name) for name in LIBRARIES}
            | {"python": platform.python_version()},
            "parameters": student.parameters.to_json(),
            "seed": student.seed,
            "maturity": maturity,
            "status": score_status(maturity),
            "out_of_fold_status": student.out_of_fold.status,
            "model": describe(student.model),
            "heads": [stored_head(head) for head in student.heads],
            "arrays": {name: _hashes(of_file) for name, of_file in arrays.items()},
            "files": {name: _stored(part) for name, part in data.items()},
        }
    )
    told = content.model_dump(mode="json")
    version = hashlib.sha256(canonical_json(told)).hexdigest()
    data[RECORD] = canonical_json({"version": version, "content": told}) + b"\n"
    _write(folder, data)
    return Release(version, content, student.model, student.out_of_fold)


def load(folder: Path, version: str | None = None, limit: int = LIMIT) -> Release:
    """Read a release, and believe nothing before its hash was compared.

    `version` : the one expected, where it is known. `limit` : bytes of all its files.

    Raises ClassifierError with one sentence for a missing or truncated file, a changed byte, another
    format, arrays that don't fit, a calibrator that can't be restored, or more than `limit` bytes.
    """
    if not folder.is_dir():
        raise ClassifierError(f"{folder} isn't a folder with a release")
    content, found = _read_record(_read(folder / RECORD, limit))
    if version is not None and version != found:
        raise ClassifierError(f"{folder} holds version {found}; expected {version}")
    if sum(file.bytes for file in content.files.values()) > limit:
        raise ClassifierError(f"{folder} holds more than {limit:,} bytes, which is the limit")
    arrays = {}
    for name in (MODEL, OUT_OF_FOLD):
        if name not in content.files or name not in content.arrays:
            raise ClassifierError(f"{RECORD}: doesn't list {name}")
        data = _read(folder / name, limit)
        _compare(name, _stored(data), content.files[name])
        arrays[name] = read_arrays(data, name, limit)
        if _hashes(arrays[name]) != content.arrays[name]:
            raise ClassifierError(f"{name}: its arrays aren't those that {RECORD} lists")
    try:
        model = assemble(arrays[MODEL], content.model.model_dump(mode="json"))
    except ClassifierError as error:
        raise ClassifierError(f"{MODEL}: {error}") from None
    try:
        out_of_fold = _out_of_fold(arrays[OUT_OF_FOLD], content)
    except ClassifierError as error:
        raise ClassifierError(f"{OUT_OF_FOLD}: {error}") from None
    return Release(found, content, model, out_of_fold)


def _read_record(data: bytes) -> tuple[Content, str]:
    try:
        value = json.loads(data)
        canonical = canonical_json(value) + b"\n"
    except (ValueError, RecursionError) as error:
        raise ClassifierError(f"{RECORD}: isn't JSON ({str(error).splitlines()[0]})") from None
    if (
        not isinstance(value, dict)
        or set(value) != {"version", "content"}
        or not isinstance(value["content"], dict)
    ):
        raise ClassifierError(f"{RECORD}: isn't a release; expected an object with version and content")
    if value["content"].get("format") != FORMAT:
        raise ClassifierError(
            f"{RECORD}: has the format {value['content'].get('format')!r}; this version reads {FORMAT}"
        )
    computed = hashlib.sha256(canonical_json(value["content"])).hexdigest()
    if value["version"] != computed or data != canonical:
        raise ClassifierError(
            f"{RECORD}: was changed since it was saved; its content hashes to {computed},"
            f" and it says {str(value['version'])[:64]}"
        )
    try:
        return Content.model_validate_json(canonical_json(value["content"])), computed
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise ClassifierError(f"{RECORD}: {where}: {first['msg'][:1].lower()}{first['msg'][1:]}") from None


def _read(path: Path, limit: int) -> bytes:
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > limit:
                raise ClassifierError(f"{path.name}: has {size:,} bytes, more than the limit of {limit:,}")
            return file.read()
    except FileNotFoundError:
        raise ClassifierError(f"{path.name} is missing from {path.parent}") from None
    except OSError as error:
        raise ClassifierError(
            f"{path.name} can't be read: {(error.strerror or str(error)).lower()}"
        ) from None


def _compare(name: str, found: StoredFile, expected: StoredFile) -> None:
    if found.bytes < expected.bytes:
        raise ClassifierError(f"{name}: is truncated to {found.bytes:,} of {expected.bytes:,} bytes")
    if found != expected:
        raise ClassifierError(
            f"{name}: was changed since it was saved; its SHA-256 is {found.sha256},"
            f" expected {expected.sha256}"
        )


def _stored(data: bytes) -> StoredFile:
    return StoredFile(bytes=len(data), sha256=hashlib.sha256(data).hexdigest())


def _hashes(arrays: Mapping[str, NDArray[Any]]) -> dict[str, str]:
    return {name: array_sha256(arrays[name]) for name in sorted(arrays)}


def _write(folder: Path, data: Mapping[str, bytes]) -> None:
    """All files, or none: written beside, then renamed."""
    if folder.exists():
        raise ClassifierError(f"{folder} is there already; a release is never overwritten")
    temporary = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    try:
        temporary.mkdir(parents=True)
        for name, part in data.items():
            with (temporary / name).open("wb") as file:
                file.write(part)
                file.flush()
                os.fsync(file.fileno())
        temporary.rename(folder)
    except OSError as error:
        raise ClassifierError(
            f"{folder} can't be written: {(error.strerror or str(error)).lower()}"
        ) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _out_of_fold_arrays(table: OutOfFold) -> dict[str, NDArray[Any]]:
    ids, ends = pack_texts(table.ids)
    parts: dict[str, NDArray[Any]] = {"ids": ids, "id_ends": ends}
    for name in ("fold", "weights", "labels", "log_odds", "probability", "nested"):
        array = np.array(getattr(table, name), OUT_OF_FOLD_ARRAYS[name][0])
        if array.dtype.kind == "f":
            array[np.isnan(array)] = np.nan  # one NaN of the many that there are
        parts[name] = array
    return parts


def _out_of_fold(arrays: Mapping[str, NDArray[Any]], content: Content) -> OutOfFold:
    check_arrays(arrays, OUT_OF_FOLD_ARRAYS, {"heads": len(content.heads), "folds": content.parameters.folds})
    ids = unpack_texts("ids", arrays["ids"], arrays["id_ends"])
    return OutOfFold(
        ids=ids,
        fold=arrays["fold"],
        weights=arrays["weights"],
        labels=arrays["labels"],
        log_odds=arrays["log_odds"],
        probability=arrays["probability"],
        nested=arrays["nested"],
        status=content.out_of_fold_status,
    )
