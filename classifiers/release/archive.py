"""Arrays in one file, the same bytes each time: an .npz without compression, dates or pickles.

numpy reads it (`numpy.load`), and `read_arrays` reads it as if a stranger had written it.
"""

import io
import struct
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from classifiers.errors import ClassifierError

_DATE = (1980, 1, 1, 0, 0, 0)
_HEADER = 4096
"""More than the header of any array of ours takes."""


def write_arrays(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The bytes of an .npz with these arrays in the order of their names."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(arrays):
            entry = zipfile.ZipInfo(f"{name}.npy", _DATE)
            entry.create_system, entry.external_attr = 3, 0o644 << 16
            with archive.open(entry, "w", force_zip64=True) as file:
                npy.write_array(file, np.ascontiguousarray(arrays[name]), (1, 0), allow_pickle=False)
    return whole.getvalue()


def read_arrays(data: bytes, name: str, limit: int) -> dict[str, NDArray[Any]]:
    """The arrays of an .npz as `write_arrays` writes it; they can't be written to.

    Nothing is unpacked, unpickled or allocated by what a header promises: entries are stored as they
    are, and each array's header has to fit the bytes that are there. `name` is for messages.

    Raises ClassifierError for anything else, and for more than `limit` bytes of arrays.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            _check_entries(entries, name, limit)
            return {e.filename.removesuffix(".npy"): _array(archive.read(e), name, e) for e in entries}
    except ClassifierError:
        raise
    except (zipfile.BadZipFile, struct.error, EOFError, RuntimeError, ValueError, OSError) as error:
        raise ClassifierError(f"{name}: isn't a complete .npz file ({error})") from None


def _check_entries(entries: list[zipfile.ZipInfo], name: str, limit: int) -> None:
    seen: set[str] = set()
    total = 0
    for entry in entries:
        if entry.filename in seen:
            raise ClassifierError(f"{name}: holds {entry.filename!r} twice")
        seen.add(entry.filename)
        if entry.compress_type != zipfile.ZIP_STORED or entry.compress_size != entry.file_size:
            raise ClassifierError(
                f"{name}: {entry.filename!r} is compressed; expected arrays stored as they are"
            )
        total += entry.file_size
        if total > limit:
            raise ClassifierError(f"{name}: holds more than {limit:,} bytes of arrays, which is the limit")


def _array(data: bytes, name: str, entry: zipfile.ZipInfo) -> NDArray[Any]:
    file = io.BytesIO(data)
    try:
        if npy.read_magic(file) != (1, 0):
            raise ValueError("another version of the format")
        shape, fortran, dtype = npy.read_array_header_1_0(file, max_header_size=_HEADER)
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise ClassifierError(f"{name}: {entry.filename!r} isn't an .npy array ({_first(error)})") from None
    if dtype.hasobject or dtype.fields is not None or fortran:
        raise ClassifierError(f"{name}: {entry.filename!r} isn't a plain array of numbers in C order")
    size = dtype.itemsize
    for length in shape:
        if not isinstance(length, int) or length < 0:
            raise ClassifierError(f"{name}: {entry.filename!r} has the shape {shape}")
        size *= length
    rest = memoryview(data)[file.tell() :]
    if size != len(rest):
        raise ClassifierError(
            f"{name}: {entry.filename!r} promises {size:,} bytes of numbers, but holds {len(rest):,}"
        )
    return np.frombuffer(rest, dtype).reshape(shape) if size else np.empty(shape, dtype)


def _first(error: BaseException) -> str:
    return str(error).split("\n")[0].rstrip(".")
