"""Data that a page embeds: taken out by a CSS selector and compared with the package's own file."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from artifacts.compare import observed_text
from artifacts.errors import PackageError
from artifacts.strict_json import decode_utf8, read_json
from schema.states import CheckOutcome


@dataclass(frozen=True)
class Extraction:
    """How an extraction compares with a file, and where it differs."""

    outcome: CheckOutcome
    detail: str | None = None


def extract(page: bytes, selector: str, name: str) -> str:
    """The text of the one element of an HTML page that a CSS selector names, exactly as it stands.

    Raises PackageError when the page isn't UTF-8, the selector is no CSS, or it names no element
    or several.
    """
    from bs4 import BeautifulSoup  # here, since a run loads them in its child only
    from bs4.exceptions import ParserRejectedMarkup
    from soupsieve import SelectorSyntaxError

    text = decode_utf8(page.removeprefix(b"\xef\xbb\xbf"), name)
    try:
        found = BeautifulSoup(text, "html.parser").select(selector)
    except (SelectorSyntaxError, NotImplementedError, ValueError) as error:
        raise PackageError(f"{selector!r} is not a CSS selector") from error
    except (ParserRejectedMarkup, RecursionError, AssertionError) as error:
        raise PackageError(f"{name}: can't be read as HTML") from error
    if len(found) != 1:
        many = f"{len(found)} elements" if found else "no element"
        raise PackageError(f"{name}: {selector!r} names {many}; expected exactly one")
    return found[0].get_text()


def extract_in_child(
    inputs: Mapping[str, Path], parameters: Mapping[str, Any], _seed: int
) -> dict[str, dict[str, str]]:
    """`extract` as a child process runs it: gives the text, or the sentence why there is none."""
    try:
        text = extract(inputs["page"].read_bytes(), parameters["selector"], parameters["name"])
    except PackageError as error:
        return {"outputs": {"missing": str(error)}}
    return {"outputs": {"text": text}}


def compare_extraction(text: str, data: bytes, name: str) -> Extraction:
    """Compare extracted text with a file: identical byte for byte, equal as JSON, or it differs."""
    if text.encode("utf-8", "surrogatepass") == data:
        return Extraction(CheckOutcome.IDENTICAL)
    try:
        ours = read_json(data, name, decimals=True)
    except PackageError:
        return Extraction(CheckOutcome.DIFFERS, f"differs from {name} {_where_text(text, data)}")
    try:
        theirs = read_json(text.encode("utf-8", "surrogatepass"), "the extracted text", decimals=True)
    except PackageError as error:
        return Extraction(CheckOutcome.DIFFERS, f"{name} is JSON, but {error}")
    place = json_difference(theirs, ours)
    if place is None:
        return Extraction(CheckOutcome.EQUAL)
    return Extraction(CheckOutcome.DIFFERS, f"differs from {name} at {place}")


def json_difference(left: Any, right: Any) -> str | None:
    """Where two JSON values first differ (pointer and both values), or None when they are equal.

    Numbers are compared by value (1 equals 1.0), true is not 1, and the order of keys means nothing.
    """
    pending: list[tuple[str, Any, Any]] = [("", left, right)]
    while pending:
        pointer, a, b = pending.pop()
        if isinstance(a, dict) and isinstance(b, dict):
            for key in sorted(a.keys() ^ b.keys()):
                side = "the page" if key in a else "the file"
                return f"{pointer}/{_escaped(key)}: only {side} has it"
            pending.extend((f"{pointer}/{_escaped(k)}", a[k], b[k]) for k in sorted(a, reverse=True))
        elif isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                return f"{pointer or '/'}: {len(a)} entries in the page, {len(b)} in the file"
            pending.extend((f"{pointer}/{i}", a[i], b[i]) for i in range(len(a) - 1, -1, -1))
        elif not _same_scalar(a, b):
            return f"{pointer or '/'}: {_short(a)} in the page, {_short(b)} in the file"
    return None


def _same_scalar(a: Any, b: Any) -> bool:
    numbers = (int, Decimal)
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, numbers) and isinstance(b, numbers):
        return a == b
    return type(a) is type(b) and bool(a == b)


def _where_text(text: str, data: bytes) -> str:
    theirs = text.encode("utf-8", "surrogatepass")
    if theirs.split() == data.split():
        return "in white space only"
    length = min(len(theirs), len(data))
    at = next((i for i in range(length) if theirs[i] != data[i]), length)
    return f"from byte {at} on (line {data.count(bytes([10]), 0, at) + 1} of the file)"


def _short(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    text = observed_text(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
