"""Arrays in one file, the same bytes each time: an .npz without compression, dates or pickles.

numpy reads it (`numpy.load`), and `read_arrays` reads it as if a stranger had written it.
"""

import io
import math
import re
import struct
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from classifiers.errors import ClassifierError

_DATE = (1980, 1, 1, 0, 0, 0)
_PREFIX = 10
_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00(?P<length>..)"
    rb"\{'descr': '(?P<dtype>\|u1|<i8|<f8)', 'fortran_order': False, "
    rb"'shape': \((?P<shape>[0-9, ]{0,100})\), \} *\n",
    re.DOTALL,
)
"""The header as numpy writes it for the types that we store; numpy's own reader takes far more than that."""


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
    header = _HEADER.match(data)
    if header is None or header.end() != _PREFIX + int.from_bytes(header["length"], "little"):
        raise ClassifierError(f"{name}: {entry.filename!r} isn't a plain .npy array of numbers in C order")
    dtype = np.dtype(header["dtype"].decode("ascii"))
    shape = tuple(int(length) for length in header["shape"].replace(b",", b" ").split())
    size, rest = math.prod(shape) * dtype.itemsize, memoryview(data)[header.end() :]
    if size != len(rest):
        raise ClassifierError(
            f"{name}: {entry.filename!r} promises {size:,} bytes of numbers, but holds {len(rest):,}"
        )
    return np.frombuffer(rest, dtype).reshape(shape)
