"""Stored files on their way out: read once to see that they are what their name says, then sent."""

import hashlib
from pathlib import Path
from typing import Any

from datasette.utils.asgi import AsgiFileDownload

from catalog.web.headers import file_headers
from catalog.web.site import Site

# What a browser may be told a file is. Anything else, HTML above all, is bytes to be kept.
SAFE_TYPES = {
    ".csv": "text/csv; charset=utf-8",
    ".json": "application/json; charset=utf-8",
    ".md": "text/plain; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
CHUNK = 1 << 20


class Unsound(Exception):
    """A stored file that is gone or changed; the message says so and what to do."""


def sound_object(site: Site, sha256: str, package: str) -> Path:
    """The stored file with this hash, read and found to have it. Raises Unsound."""
    path = site.object(sha256)
    seen = hashlib.sha256()
    try:
        with path.open("rb") as stream:
            while chunk := stream.read(CHUNK):
                seen.update(chunk)
    except OSError:
        raise Unsound(
            f"The stored file {sha256[:12]}… can't be read from {site.objects.name}. The record of it is "
            f"safe; `proofshelf verify {package}` says what else is missing."
        ) from None
    if seen.hexdigest() != sha256:
        raise Unsound(
            f"The stored file {sha256[:12]}… has changed since it was added, so it isn't sent. "
            f"`proofshelf verify {package}` records what it found."
        )
    return path


def download(path: Path, name: str) -> Any:
    """The file, to be kept and not opened in place."""
    ending = "." + name.rsplit(".", 1)[-1].lower() if "." in name else ""
    return AsgiFileDownload(
        str(path),
        content_type=SAFE_TYPES.get(ending, "application/octet-stream"),
        headers=file_headers(name),
    )
