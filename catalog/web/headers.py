"""Responses of ours: what a browser may do with them is said on each one."""

import hashlib
import json
from typing import Any
from urllib.parse import quote

from datasette.utils import add_cors_headers
from datasette.utils.asgi import Response

# Scripts and styles only from this server; nothing inline, nothing framed, nothing sent elsewhere.
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'none'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# Somebody's file: shown, if at all, without any right.
FILE_POLICY = "default-src 'none'; sandbox; frame-ancestors 'none'"

_ALWAYS = {"x-content-type-options": "nosniff", "referrer-policy": "no-referrer"}


def page(html: str, status: int = 200) -> Response:
    """An HTML page of ours."""
    return Response.html(html, status=status, headers={**_ALWAYS, "content-security-policy": PAGE_POLICY})


def json_page(facts: Any, datasette: Any, status: int = 200) -> Response:
    """The JSON twin of a page."""
    headers = {**_ALWAYS, "content-security-policy": FILE_POLICY}
    if datasette.cors:
        add_cors_headers(headers)
    body = json.dumps(facts, ensure_ascii=False, indent=1, allow_nan=False)
    return Response(body, status, headers, "application/json; charset=utf-8")


def file_headers(path: str) -> dict[str, str]:
    """Headers of a package's file: to be kept, not to be opened in place."""
    name = path.rsplit("/", 1)[-1]
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "._- ") else "_" for c in name)
    disposition = f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
    return {**_ALWAYS, "content-security-policy": FILE_POLICY, "content-disposition": disposition}


def picture(svg: str) -> Response:
    """A picture of ours, shown without any right."""
    return Response(
        svg, 200, {**_ALWAYS, "content-security-policy": FILE_POLICY}, "image/svg+xml; charset=utf-8"
    )


def asset(request: Any, body: bytes, content_type: str, etag: str | None = None) -> Response:
    """A script or stylesheet of ours, asked for again only to hear that it hasn't changed."""
    tag = f'"{etag or digest(body)}"'
    headers = {**_ALWAYS, "etag": tag, "cache-control": "no-cache"}
    asked = [part.strip().removeprefix("W/") for part in request.headers.get("if-none-match", "").split(",")]
    if tag in asked:
        return Response(b"", 304, headers, content_type)
    return Response(body, 200, headers, content_type)


def digest(body: bytes) -> str:
    """A short fingerprint, enough to tell two versions of an asset apart."""
    return hashlib.sha256(body).hexdigest()[:20]
