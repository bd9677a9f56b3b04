"""What every record shares: strictness, string types with a meaning, unique names, canonical JSON."""

import json
import re
import unicodedata
from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field


class Record(BaseModel):
    """A frozen record: unknown fields, NaN and infinities are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


SLUG_PATTERN = r"^[a-z0-9](?:[a-z0-9._-]{0,98}[a-z0-9])?$"
_DECIMAL = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,4})?", re.ASCII)
_DRIVE = re.compile(r"^[A-Za-z]:")


def _decimal_string(value: str) -> str:
    if not _DECIMAL.fullmatch(value):
        raise ValueError(f"{value!r} is not a finite decimal number written out, such as '7.750821276'")
    return value


def _package_path(value: str) -> str:
    """A relative POSIX path that can't leave its package, on any file system."""
    parts = value.split("/")
    if value.startswith("/") or _DRIVE.match(value):
        raise ValueError(f"{value!r} is an absolute path; expected one relative to the package")
    if ".." in parts:
        raise ValueError(f"{value!r} leads outside the package; '..' is not allowed")
    if "\\" in value or any(unicodedata.category(c) in ("Cc", "Cs") for c in value):
        raise ValueError(f"{value!r} holds a backslash or a control character; use '/' between folders")
    if any(part in ("", ".") for part in parts):
        raise ValueError(
            f"{value!r} has an empty or '.' part; write the path plainly, such as 'inputs/a.csv'"
        )
    return value


Slug = Annotated[str, Field(pattern=SLUG_PATTERN, description="lower-case letters, digits, '.', '_' and '-'")]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="SHA-256, lower-case hexadecimal")]
GitSha1 = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$", description="git SHA-1, lower-case hexadecimal")]
Timestamp = Annotated[
    str,
    Field(
        pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?Z$",
        description="UTC, ISO 8601 with 'Z'",
    ),
]
DecimalString = Annotated[
    str,
    AfterValidator(_decimal_string),
    Field(
        description="a finite decimal number as text",
        json_schema_extra={"pattern": r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?$"},
    ),
]
PackagePath = Annotated[
    str,
    AfterValidator(_package_path),
    Field(
        max_length=500,
        description="relative, with '/' between folders, and never out of the package",
        json_schema_extra={"pattern": r"^(?!/)(?![A-Za-z]:)(?!.*(^|/)\.{0,2}(/|$))[^\\\x00-\x1f\x7f]+$"},
    ),
]
NonEmpty = Annotated[str, Field(min_length=1)]


def each_once(what: str, names: Iterable[str]) -> set[str]:
    """The names as a set. Raises ValueError with the first that stands there twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"{what} {name!r} is there twice; each may stand once")
        seen.add(name)
    return seen


def canonical_json(value: Any) -> bytes:
    """The one byte form of a JSON value: sorted keys, no spaces, UTF-8, no NaN.

    Raises ValueError when the value holds NaN or an infinity, TypeError when it isn't JSON.
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode("utf-8")
