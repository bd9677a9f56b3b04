"""`manifest.json` and a screening file as records, and every way to be wrong as one sentence."""

import difflib
import typing
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from artifacts.compare import compare
from artifacts.errors import PackageError
from artifacts.strict_json import read_json
from schema.artifact import Manifest
from schema.screening_record import ScreeningRecord

R = TypeVar("R", bound=BaseModel)

MANIFEST_NAME = "manifest.json"
MAX_MANIFEST_BYTES = 64 << 20
_LONGEST_SENTENCE = 500

_WORDS = {
    "missing": "is missing",
    "string_type": "expected text",
    "int_type": "expected a whole number",
    "float_type": "expected a number",
    "bool_type": "expected true or false",
    "list_type": "expected a list",
    "tuple_type": "expected a list",
    "dict_type": "expected an object",
    "model_type": "expected an object",
    "model_attributes_type": "expected an object",
    "finite_number": "expected a finite number",
}


def parse_manifest(data: bytes, name: str = MANIFEST_NAME) -> Manifest:
    """Read a manifest. Raises PackageError with one sentence naming the file and the field."""
    if len(data) > MAX_MANIFEST_BYTES:
        raise PackageError(f"{name}: has {len(data)} bytes; expected at most {MAX_MANIFEST_BYTES}")
    manifest = _parse(Manifest, data, name, "the package's fields")
    _check_contradictions(manifest, name)
    return manifest


def parse_screening(data: bytes, name: str) -> ScreeningRecord:
    """Read a package's screening file. Raises PackageError like `parse_manifest`."""
    return _parse(ScreeningRecord, data, name, "rounds, raters, votes and what else was said of works")


def _parse(record: type[R], data: bytes, name: str, fields: str) -> R:
    value = read_json(data, name)
    if not isinstance(value, dict):
        raise PackageError(f"{name}: holds {_kind(value)}; expected an object with {fields}")
    try:
        return record.model_validate(value)
    except ValidationError as error:
        raise PackageError(f"{name}: {readable(_sentence(error, record))}") from error


def _check_contradictions(manifest: Manifest, name: str) -> None:
    """A finding contradicts a claim only where its value lies outside that claim's tolerance."""
    claims = {claim.id: claim for claim in manifest.claims}
    for finding in manifest.claims:
        if finding.relation is None or finding.relation.kind != "contradicts":
            continue
        claim = claims[finding.relation.claim]
        value = Decimal(finding.value) if finding.type == "number" else finding.value
        if finding.type == claim.type and compare(claim, value).outcome.confirms:
            raise PackageError(
                f"{name}: claim {finding.id}: its value {finding.value} lies within the tolerance of "
                f"{claim.id} ({claim.value}), so it doesn't contradict it; 'extends' would fit"
            )


def _sentence(error: ValidationError, record: type[BaseModel]) -> str:
    errors = error.errors(include_url=False)
    told = [e for e in errors if not _is_unsealed(e)]
    if not told:
        return f"{field_sentence(errors[0], record)}; `proofshelf seal FOLDER` fills in sizes and hashes"
    errors = told
    first = next((e for e in errors if e["type"] == "extra_forbidden"), errors[0])
    others = len(own_faults(errors)) - 1
    more = f" (and {others} more)" if others > 0 else ""
    return field_sentence(first, record) + more


def own_faults(errors: Sequence[Any]) -> list[Any]:
    """The faults without those that only follow: a list that is too short since what was in it is wrong."""
    places = [tuple(e["loc"]) for e in errors]
    return [
        e for e in errors
        if e["type"] != "too_short"
        or not any(len(p) > len(e["loc"]) and p[: len(e["loc"])] == tuple(e["loc"]) for p in places)
    ]  # fmt: skip


def readable(sentence: str) -> str:
    """Without the middle of a giant value: a person reads where it stands and what was expected."""
    if len(sentence) <= _LONGEST_SENTENCE:
        return sentence
    half = _LONGEST_SENTENCE // 2
    return f"{sentence[:half]} ... {sentence[-half:]}"


def _is_unsealed(error: ErrorDetails) -> bool:
    """A file's size or hash that isn't there yet: not what is wrong with a draft."""
    match error["loc"]:
        case ("files", int(), "bytes" | "sha256"):
            return error["type"] == "missing"
        case ("files",):  # what pydantic adds when no entry of the list is whole
            return error["type"] == "too_short" and bool(error["input"])
    return False


def field_sentence(error: ErrorDetails, record: type[BaseModel]) -> str:
    """One thing that is wrong with a value meant as `record`: the field, and what was expected there."""
    where = field_path(error["loc"])
    kind = error["type"]
    if kind == "extra_forbidden":
        return f"{where}: no such field{_did_you_mean(error['loc'], record)}"
    if kind == "missing":
        return f"{where}: is missing"
    if kind in ("value_error", "assertion_error"):
        message = error["msg"].removeprefix("Value error, ")
        return f"{where}: {message}" if where else message
    given = _kind(error["input"])
    if kind in _WORDS:
        return f"{where}: {_WORDS[kind]}, not {given}"
    if kind == "literal_error":
        expected = error.get("ctx", {}).get("expected", "")
        return f"{where}: {error['input']!r} isn't allowed; expected {expected}"
    if kind == "string_pattern_mismatch":
        return f"{where}: {error['input']!r} {_pattern_words(error['loc'])}"
    message = error["msg"]
    wanted = f"it should {message.partition(' should ')[2]}" if " should " in message else message
    return f"{where}: {given}; {wanted}"


def field_path(location: Sequence[str | int]) -> str:
    """`claims[3].value` for ("claims", 3, "value")."""
    path = ""
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    return path


def _pattern_words(location: Sequence[str | int]) -> str:
    last = next((part for part in reversed(location) if isinstance(part, str)), "")
    if last == "sha256":
        return "isn't a SHA-256; expected 64 lower-case hexadecimal digits"
    if last in ("git_blob_sha1", "commit"):
        return "isn't a git SHA-1; expected 40 lower-case hexadecimal digits"
    if last == "pointer":
        return "isn't a JSON Pointer; expected something like '/rows/0/0'"
    if last in ("created", "at"):
        return "isn't a time; expected UTC such as '2026-01-31T12:00:00Z'"
    if last == "orcid":
        return "isn't an ORCID; expected something like '0000-0002-1825-0097'"
    return "isn't an id; expected lower-case letters and digits, with '.', '_' or '-' between them"


def _did_you_mean(location: Sequence[str | int], record: type[BaseModel]) -> str:
    fields = _fields_at(location[:-1], record)
    close = difflib.get_close_matches(str(location[-1]), fields, n=1, cutoff=0.6)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; expected one of {', '.join(fields)}" if fields else ""


def _fields_at(location: Sequence[str | int], record: type[BaseModel]) -> list[str]:
    model: Any = record
    for part in location:
        if isinstance(part, int):
            continue
        if not (isinstance(model, type) and issubclass(model, BaseModel)) or part not in model.model_fields:
            return []
        model = _model_in(model.model_fields[part].annotation)
    return list(model.model_fields) if isinstance(model, type) and issubclass(model, BaseModel) else []


def _model_in(annotation: Any) -> Any:
    """The record class inside an annotation such as `tuple[Claim, ...]` or `Relation | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in typing.get_args(annotation):
        found = _model_in(argument)
        if found is not None:
            return found
    return None


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"the text {value[:60]!r}" if value else "an empty text"
    if isinstance(value, (int, float)):
        return f"the number {value}"
    return "a list" if isinstance(value, (list, tuple)) else "an object"
