"""Files that commands write."""

import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO

from catalog.commands.errors import Refused


def free(to: Path, force: bool) -> None:
    """Refuse to write where something is, unless told to."""
    if to.exists() and not force:
        raise Refused(f"{to} is there already; --force replaces it")


@contextmanager
def replacing(to: Path) -> Iterator[IO[str]]:
    """A text file (UTF-8, line ends as written) that appears whole at the end, or not at all."""
    with replacing_bytes(to) as binary:
        stream = io.TextIOWrapper(binary, encoding="utf-8", newline="")
        yield stream
        stream.flush()
        stream.detach()


@contextmanager
def replacing_bytes(to: Path) -> Iterator[BinaryIO]:
    """A file that appears whole at the end, or not at all."""
    if to.exists() and not to.is_file():
        raise Refused(f"{to} is no ordinary file, so it isn't replaced")
    if not to.parent.is_dir():
        raise Refused(f"the folder {to.parent} is not there; make it first")
    try:
        handle, name = tempfile.mkstemp(dir=to.parent, prefix=".export-", suffix=".part")
    except OSError as error:
        raise Refused(f"can't write in {to.parent}: {(error.strerror or str(error)).lower()}") from error
    try:
        with open(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, to)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
