"""JSON read strictly: UTF-8, no key twice, no NaN or infinity, and errors that name the line."""

import contextlib
import json
import math
import re
from decimal import Decimal, InvalidOperation
from json import scanner
from typing import Any, NoReturn

from artifacts.errors import PackageError

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?Infinity|NaN|-?\d[\d.eE+-]*')
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class _DuplicateKey(ValueError):
    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


class _NotFinite(ValueError):
    pass


def decode_utf8(data: bytes, name: str) -> str:
    """The text of a UTF-8 file without BOM. Raises PackageError with the line of a bad byte."""
    if data.startswith(b"\xef\xbb\xbf"):
        raise PackageError(f"{name}: begins with a byte order mark (BOM); expected plain UTF-8 without one")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise PackageError(f"{name}: is UTF-16; expected UTF-8")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise PackageError(
            f"{name} line {line}: byte 0x{data[error.start]:02x} isn't UTF-8; expected a UTF-8 file"
        ) from error


def read_json(data: bytes, name: str, *, decimals: bool = False) -> Any:
    """Parse one JSON document; with `decimals` non-integers become Decimal and keep their digits.

    Raises PackageError with file, line and column of what is wrong.
    """
    text = decode_utf8(data, name)
    if not text.strip():
        raise PackageError(f"{name}: is empty; expected a JSON document")
    try:
        value = json.loads(
            text,
            object_pairs_hook=_once,
            parse_constant=_no_constant,
            parse_float=_decimal if decimals else _finite,
        )
    except _DuplicateKey as error:
        raise PackageError(
            f"{name} line {_line_of_duplicate(text)}: the object that begins here has the key "
            f"{error.key!r} twice; each key may stand once"
        ) from error
    except _NotFinite as error:
        raise PackageError(
            f"{name} line {_line_of_number(text, str(error))}: {error} is not a finite number; "
            "JSON has no NaN or infinity"
        ) from error
    except json.JSONDecodeError as error:
        raise PackageError(
            f"{name} line {error.lineno} column {error.colno}: not JSON: {_decapitalised(error.msg)}"
        ) from error
    except RecursionError as error:
        raise PackageError(f"{name}: is nested too deeply to be read") from error
    except ValueError as error:  # an integer of more than 4,300 digits
        raise PackageError(f"{name}: holds an integer with too many digits to be read") from error
    if _SURROGATE.search(text):
        _check_surrogates(value, name)
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _DuplicateKey(key)
            seen.add(key)
    return found


def _no_constant(name: str) -> NoReturn:
    raise _NotFinite(name)


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise _NotFinite(text)
    return value


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:  # an exponent of more than 18 digits
        raise _NotFinite(text) from None


def _line_of_number(text: str, number: str) -> int:
    for token in _TOKEN.finditer(text):
        if token.group() == number:
            return text.count("\n", 0, token.start()) + 1
    return 1


def _line_of_duplicate(text: str) -> int:
    """Where the innermost object with a key twice begins; parses again, slowly, to know positions."""
    decoder: Any = json.JSONDecoder(object_pairs_hook=_once)
    plain_object = decoder.parse_object
    start = 0

    def parse_object(state: tuple[str, int], *arguments: Any) -> Any:
        nonlocal start
        try:
            return plain_object(state, *arguments)
        except _DuplicateKey as error:
            if not hasattr(error, "placed"):
                start = state[1] - 1
                error.placed = True  # type: ignore[attr-defined]
            raise

    decoder.parse_object = parse_object
    decoder.scan_once = scanner.py_make_scanner(decoder)  # type: ignore[attr-defined]
    with contextlib.suppress(_DuplicateKey, RecursionError):
        decoder.decode(text)
    return text.count("\n", 0, start) + 1


def _check_surrogates(value: Any, name: str) -> None:
    try:
        json.dumps(value, ensure_ascii=False, default=str).encode("utf-8")
    except UnicodeEncodeError as error:
        raise PackageError(
            f"{name}: holds half a surrogate pair (\\ud800 to \\udfff), which is no character"
        ) from error


def _decapitalised(message: str) -> str:
    return message[:1].lower() + message[1:]
