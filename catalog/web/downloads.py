"""Stored files on their way out: read once to see that they are what their name says, then sent."""

from pathlib import Path
from typing import Any

from datasette.utils.asgi import AsgiFileDownload

from artifacts.errors import ArtifactError
from catalog.web.headers import file_headers
from catalog.web.site import Site
from schema.states import FileState

# What a browser may be told a file is. Anything else, HTML above all, is bytes to be kept.
SAFE_TYPES = {
    ".csv": "text/csv; charset=utf-8",
    ".json": "application/json; charset=utf-8",
    ".md": "text/plain; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}


class Unsound(Exception):
    """A stored file that is gone or changed; the message says so and what to do."""


def sound_object(site: Site, sha256: str, package: str) -> Path:
    """The stored file with this hash, read and found to have it. Raises Unsound."""
    objects = site.objects()
    try:
        state = objects.verify(sha256)
    except ArtifactError:
        state = FileState.MISSING
    if state is FileState.MISSING:
        raise Unsound(
            f"The stored file {sha256[:12]}… can't be read from {objects.root.name}. The record of it is "
            f"safe; `proofshelf verify {package}` says what else is missing."
        )
    if state is not FileState.MATCH:
        raise Unsound(
            f"The stored file {sha256[:12]}… has changed since it was added, so it isn't sent. "
            f"`proofshelf verify {package}` records what it found."
        )
    return objects.path(sha256)


def download(path: Path, name: str) -> Any:
    """The file, to be kept and not opened in place."""
    ending = "." + name.rsplit(".", 1)[-1].lower() if "." in name else ""
    return AsgiFileDownload(
        str(path),
        content_type=SAFE_TYPES.get(ending, "application/octet-stream"),
        headers=file_headers(name),
    )
