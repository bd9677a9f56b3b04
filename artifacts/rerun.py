"""An analysis of a package with other parameters: to look, not to record."""

import difflib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from artifacts.analyses import ProcessLimits
from artifacts.errors import AnalysisError, PackageError
from artifacts.files import Resolve
from artifacts.hashing import FileHasher
from artifacts.package import temporary_folder
from artifacts.runner import Runner
from schema.artifact import Analysis, Manifest


@dataclass(frozen=True)
class RerunResult:
    """What an analysis gave with these parameters; `changed` names those that aren't the manifest's."""

    analysis: str
    implementation: str | None
    parameters: dict[str, Any]
    changed: tuple[str, ...]
    outputs: Any
    tables: dict[str, Any] = field(default_factory=dict)
    charts: dict[str, Any] = field(default_factory=dict)


def rerun(
    root: Path,
    manifest: Manifest,
    overrides: Mapping[str, str],
    analysis: str | None = None,
    *,
    resolve: Resolve | None = None,
    limits: ProcessLimits | None = None,
) -> RerunResult:
    """Run the named analysis, or the package's first builtin, with some parameters overridden.

    An override is JSON (`[1,2,3]`, `0.5`) of its parameter's own type; text needs no quotes, and a
    list may be written `1,2,3`. Raises AnalysisError for an unknown analysis or parameter, a value of
    another type, or a run that fails; PackageError when an input isn't the package's file.
    """
    chosen = _chosen(manifest, analysis)
    parameters = dict(chosen.parameters) | overridden(chosen, overrides)
    changed = tuple(sorted(name for name in overrides if parameters[name] != chosen.parameters[name]))
    folder = temporary_folder("rerun")
    try:
        _copy_inputs(root, manifest, chosen, folder, resolve)
        with Runner(limits) as runner:
            result = runner.run(chosen, lambda path: folder / path, parameters)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if result.failure is not None:
        raise AnalysisError(result.detail or f"analysis {chosen.id}: {result.failure.value}")
    return RerunResult(
        chosen.id, result.implementation, parameters, changed, result.outputs, result.tables, result.charts
    )


def overridden(analysis: Analysis, overrides: Mapping[str, str]) -> dict[str, Any]:
    """The overrides as values of the types that the manifest's parameters have. Raises AnalysisError."""
    values: dict[str, Any] = {}
    for name, text in overrides.items():
        if name not in analysis.parameters:
            close = difflib.get_close_matches(name, analysis.parameters, n=1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            raise AnalysisError(
                f"analysis {analysis.id}: has no parameter {name!r}; {hint}{_known(analysis)}"
            )
        values[name] = _value(analysis, name, text, analysis.parameters[name])
    return values


def _chosen(manifest: Manifest, name: str | None) -> Analysis:
    known = {a.id: a for a in manifest.analyses}
    if name is not None:
        if name not in known:
            there = f"its analyses are {', '.join(known)}" if known else "it has none"
            raise AnalysisError(f"{manifest.id} has no analysis {name!r}; {there}")
        return known[name]
    builtins = [a for a in manifest.analyses if a.kind == "builtin"]
    if not builtins:
        there = f"name one of {', '.join(known)}" if known else "it has no analysis at all"
        raise AnalysisError(f"{manifest.id} has no builtin analysis to run again; {there}")
    return builtins[0]


def _value(analysis: Analysis, name: str, text: str, default: Any) -> Any:
    if isinstance(default, str):
        return text
    value = _json(text)
    if value is _NOT_JSON and isinstance(default, list):
        value = _json(f"[{text}]")
        if value is _NOT_JSON:
            value = text.split(",")
    elif isinstance(default, list) and value is not _NOT_JSON and not isinstance(value, list):
        value = [value]
    if value is _NOT_JSON or not _fits(value, default):
        raise AnalysisError(
            f"analysis {analysis.id}: {name}={text!r} isn't {_wanted(default)} such as "
            f"{json.dumps(default)}; {_known(analysis)}"
        )
    return value


_NOT_JSON = object()


def _json(text: str) -> Any:
    def refuse(_: str) -> Any:
        raise ValueError("not a finite number")

    try:
        value = json.loads(text, parse_constant=refuse)
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return _NOT_JSON
    return value


def _fits(value: Any, default: Any) -> bool:
    if default is None:
        return True
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(default, bool) and isinstance(value, bool)
    if isinstance(default, float):
        return isinstance(value, (int, float))
    if isinstance(default, list) and default:
        kinds = [item for item in default if item is not None]
        return isinstance(value, list) and all(
            any(_fits(v, kind) for kind in kinds) or not kinds for v in value
        )
    return isinstance(value, type(default))


def _wanted(default: Any) -> str:
    if isinstance(default, bool):
        return "true or false"
    kinds = {int: "a whole number", float: "a number", list: "a list of the same kind", dict: "a JSON object"}
    return kinds.get(type(default), "JSON")


def _known(analysis: Analysis) -> str:
    if not analysis.parameters:
        return "it has no parameters"
    shown = ", ".join(f"{name}={_short(value)}" for name, value in analysis.parameters.items())
    return f"its parameters are {shown}"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."


def _copy_inputs(
    root: Path, manifest: Manifest, analysis: Analysis, folder: Path, resolve: Resolve | None
) -> None:
    files = {f.path: f for f in manifest.files}
    hasher = FileHasher()
    for path in sorted(set(analysis.inputs.values())):
        place = resolve(files[path]) if resolve is not None else root / path
        try:
            digest = hasher.copy_and_hash(place, folder / path)
        except FileNotFoundError as error:
            raise PackageError(f"{path}: is missing, so {analysis.id} can't be run") from error
        if digest.sha256 != files[path].sha256:
            raise PackageError(
                f"{path}: isn't the package's file (its SHA-256 is {digest.sha256}), "
                f"so {analysis.id} wasn't run"
            )
