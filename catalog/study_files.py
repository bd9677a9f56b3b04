"""Study files: TOML or JSON that a person writes, read as a `Study`, with one sentence for each fault."""

import datetime
import hashlib
import io
import math
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from artifacts.errors import ArtifactError
from artifacts.manifest import field_path, field_sentence, own_faults, readable
from artifacts.strict_json import decode_utf8, read_json
from catalog.errors import CatalogError
from classifiers.errors import ClassifierError
from classifiers.sampling import parse_rule
from ingest.delimited import header_of, rows
from schema.study import Study
from schema.work import Rejected

LARGEST = 4 << 20
_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
_PART = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")
_LONG_TEXT = re.compile("\"\"\"|'''")

Location = tuple[str | int, ...]


@dataclass(frozen=True)
class StudyFile:
    """A study, and the SHA-256 of the bytes from which it was read."""

    study: Study
    sha256: str


def read_study(path: Path) -> StudyFile:
    """Read a study. Raises CatalogError with file, line where it is known, field, and what was expected.

    `rubric` may be the name of a file beside it, TOML or JSON too; the hash then covers both, in order.
    """
    value, lines, data = _load(path)
    digest = hashlib.sha256(data)
    if isinstance(value.get("rubric"), str):
        beside = path.parent / value["rubric"]
        rubric, _, more = _load(beside)
        digest.update(more)
        value = {**value, "rubric": rubric}
        lines = {at: line for at, line in lines.items() if at[:1] != ("rubric",)}
    return StudyFile(_study(value, lines, path.name), digest.hexdigest())


def parse_study(text: str, name: str = "study.toml") -> Study:
    """The study that a TOML text says. Raises CatalogError like `read_study`."""
    return _study(_toml(text, name), key_lines(text), name)


def _study(value: dict[str, Any], lines: dict[Location, int], name: str) -> Study:
    try:
        study = Study.model_validate(value)
    except ValidationError as error:
        faults = error.errors(include_url=False)
        first = next((e for e in faults if e["type"] == "extra_forbidden"), faults[0])
        others = len(own_faults(faults)) - 1
        more_faults = f" (and {others} more)" if others > 0 else ""
        where = _where(name, lines, first["loc"])
        sentence = field_sentence(first, Study) + more_faults
        raise CatalogError(f"{where}: {readable(sentence)}") from error
    for s, design in enumerate(study.samples):
        rules: list[tuple[Location, str, Any]] = [(("frame",), "frame", design.frame)]
        for n, stratum in enumerate(design.strata):
            rules.append((("strata", n, "where"), f"stratum {stratum.id!r}", stratum.where))
        for at, what, rule in rules:
            try:
                if rule is not None:
                    parse_rule(rule, f"sample {design.id!r}, {what}")
            except ClassifierError as error:
                raise CatalogError(f"{_where(name, lines, ('samples', s, *at))}: {error}") from error
    return study


def _load(path: Path) -> tuple[dict[str, Any], dict[Location, int], bytes]:
    """The file's value, the line of each of its keys (TOML only), and its bytes."""
    if path.suffix.lower() not in (".toml", ".json"):
        raise CatalogError(f"{path.name}: expected a file that ends in .toml or .json")
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise CatalogError(
            f"{path} is not there; `proofshelf screen design --example` shows what one looks like"
        ) from error
    if len(data) > LARGEST:
        raise CatalogError(f"{path.name}: has {len(data):,} bytes; expected at most {LARGEST:,}")
    try:
        if path.suffix.lower() == ".json":
            value = read_json(data, path.name)
            if not isinstance(value, dict):
                raise CatalogError(f"{path.name}: expected an object with the study's fields")
            return value, {}, data
        text = decode_utf8(data, path.name)
    except ArtifactError as error:
        raise CatalogError(str(error)) from error
    return _toml(text, path.name), key_lines(text), data


def _toml(text: str, name: str) -> dict[str, Any]:
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        at = _AT.search(message)
        what = message[: at.start()] if at else message
        where = f" line {at[1]} column {at[2]}" if at and at[1] else ""
        ending = "" if where else " where the file ends"
        raise CatalogError(f"{name}{where}: not TOML: {what[:1].lower()}{what[1:]}{ending}") from error
    except RecursionError as error:
        raise CatalogError(f"{name}: is nested too deeply to be read") from error
    for location, leaf in _leaves(value):
        if isinstance(leaf, float) and not math.isfinite(leaf):
            raise CatalogError(
                f"{_where(name, key_lines(text), location)}: {field_path(location)}: {leaf} is no finite "
                "number"
            )
        if isinstance(leaf, datetime.date | datetime.time):
            raise CatalogError(
                f"{_where(name, key_lines(text), location)}: {field_path(location)}: is a date or a time; "
                "put it in quotes"
            )
    return value


def _leaves(value: object, location: Location = ()) -> Iterator[tuple[Location, object]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, (*location, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _leaves(inner, (*location, number))
    else:
        yield location, value


def _where(name: str, lines: dict[Location, int], location: Sequence[str | int]) -> str:
    """The file, and the line of the innermost part of the location that stands on a line of its own."""
    for length in range(len(location), 0, -1):
        line = lines.get(tuple(location[:length]))
        if line is not None:
            return f"{name} line {line}"
    return name


def key_lines(text: str) -> dict[Location, int]:
    """The line on which each key and table of a valid TOML text begins; what stands in inline tables
    and lists has none of its own."""
    lines: dict[Location, int] = {}
    counts: dict[Location, int] = {}
    table: Location = ()
    inside: str | None = None
    for number, line in enumerate(text.split("\n"), start=1):
        if inside is None:
            header, key = _HEADER.match(line), _KEY.match(line)
            if header:
                table = _table(_parts(header[2]), counts, new=header[1] == "[[")
                lines.setdefault(table, number)
            elif key:
                lines.setdefault((*table, *_parts(key[1])), number)
        for mark in _LONG_TEXT.findall(line):
            inside = mark if inside is None else None if inside == mark else inside
    return lines


def _table(parts: Sequence[str], counts: dict[Location, int], new: bool) -> Location:
    """Where a header leads: a name that heads a list of tables means the last one of them."""
    location: Location = ()
    for position, part in enumerate(parts):
        location = (*location, part)
        if new and position == len(parts) - 1:
            counts[location] = counts.get(location, -1) + 1
        if location in counts:
            location = (*location, counts[location])
    return location


def _parts(dotted: str) -> list[str]:
    return [part.strip("\"'") for part in _PART.findall(dotted)]


_STRATA = {"work": ("work", "slug", "id"), "stratum": ("stratum",)}


def read_strata(path: Path) -> dict[str, str]:
    """Work -> stratum, from a table with these two columns. Raises CatalogError with file and line."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CatalogError(f"{path.name}: isn't UTF-8; expected a UTF-8 file") from error
    known = {name for names in _STRATA.values() for name in names}
    header = header_of(text, known.__contains__)
    columns = header.columns(_STRATA) if header else {}
    if header is None or len(columns) < len(_STRATA):
        raise CatalogError(f"{path.name}: expected a CSV file with the columns `work` and `stratum`")
    strata: dict[str, str] = {}
    lines: dict[str, int] = {}
    for row in rows(io.StringIO(text), header):
        if isinstance(row, Rejected):
            raise CatalogError(f"{path.name} line {row.line}: {row.reason}")
        work, stratum = (row.cells[columns[name]].strip() for name in ("work", "stratum"))
        if not work or not stratum:
            raise CatalogError(
                f"{path.name} line {row.line}: {'`work`' if not work else '`stratum`'} is empty; expected "
                "both in every row"
            )
        if work in strata:
            raise CatalogError(
                f"{path.name} line {row.line}: {work!r} stands in line {lines[work]} already; each work is "
                "in one stratum"
            )
        strata[work], lines[work] = stratum, row.line
    return strata
