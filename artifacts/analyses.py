"""The registered analyses, what a run of one may use, and what it gives."""

import contextlib
import difflib
import importlib.metadata
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from artifacts.errors import AnalysisError
from schema.artifact import Analysis
from schema.states import CheckOutcome

GROUP = "proofshelf.analyses"
QUERY_IMPLEMENTATION = "query (SQLite)"


@dataclass(frozen=True)
class RegisteredAnalysis:
    """An analysis that an installed distribution offers under a name.

    `implementation` is the package of its function, such as `scheduling_core.allocation`: two
    analyses of one package are one implementation.
    """

    name: str
    entry_point: str
    implementation: str
    distribution: str | None
    version: str | None


@dataclass(frozen=True)
class ProcessLimits:
    """What a child may use; the time limit is each analysis's own."""

    builtin_memory_bytes: int = 4 << 30
    query_memory_bytes: int = 2 << 30
    query_rows: int = 100_000
    query_result_bytes: int = 64 << 20
    longest_s: float | None = None


@dataclass(frozen=True)
class AnalysisResult:
    """What came of one analysis: its outputs, or the outcome that stands for them and why.

    `read` names the inputs that a query really read; None where it isn't known.
    """

    implementation: str | None
    outputs: Any = None
    tables: dict[str, Any] = field(default_factory=dict)
    charts: dict[str, Any] = field(default_factory=dict)
    failure: CheckOutcome | None = None
    detail: str | None = None
    read: frozenset[str] | None = None


def registered() -> dict[str, RegisteredAnalysis]:
    """Every registered analysis by name, sorted; found without importing any.

    Raises AnalysisError when two distributions offer one name for different functions.
    """
    found: dict[str, RegisteredAnalysis] = {}
    points = importlib.metadata.entry_points(group=GROUP)
    for point in sorted(points, key=lambda p: (p.name, p.value)):
        earlier = found.get(point.name)
        if earlier is not None and earlier.entry_point != point.value:
            raise AnalysisError(
                f"two analyses are registered as {point.name!r}: {earlier.entry_point} and {point.value}; "
                "uninstall one of them"
            )
        if earlier is None:
            found[point.name] = RegisteredAnalysis(
                point.name,
                point.value,
                implementation_of(point.module),
                point.dist.name if point.dist else None,
                point.dist.version if point.dist else None,
            )
    return found


def find_registered(name: str, known: Mapping[str, RegisteredAnalysis] | None = None) -> RegisteredAnalysis:
    """One registered analysis. Raises AnalysisError naming those installed when it isn't there."""
    known = registered() if known is None else known
    if name in known:
        return known[name]
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    installed = f"installed are {', '.join(sorted(known))}" if known else "none is installed"
    raise AnalysisError(f"no analysis is registered as {name!r}; {hint}{installed}")


def implementation_of(module: str) -> str:
    """The package that a module belongs to: itself when it is one, else its parent.

    Looked up without importing anything.
    """
    parts = module.split(".")
    places: Any = None
    for depth in range(len(parts)):
        spec = None
        for finder in sys.meta_path:
            with contextlib.suppress(Exception):
                spec = finder.find_spec(".".join(parts[: depth + 1]), places)
            if spec is not None:
                break
        if spec is None:
            break
        if spec.submodule_search_locations is None:
            return ".".join(parts[:depth]) or module
        places = list(spec.submodule_search_locations)
    return module


def time_limit(analysis: Analysis, limits: ProcessLimits) -> float:
    """The analysis's own limit in seconds, or the shorter one of the run."""
    longest = limits.longest_s
    return analysis.time_limit_s if longest is None else min(longest, analysis.time_limit_s)


def too_slow(analysis: Analysis, seconds: float) -> str:
    """The sentence for an analysis that was stopped by the clock."""
    return f"analysis {analysis.id}: was stopped after its limit of {seconds:g} s"


def parse_reply(line: bytes) -> dict[str, Any] | None:
    """The object that a child answered, or None when it isn't one."""
    with contextlib.suppress(ValueError, RecursionError):
        value = json.loads(line)
        if isinstance(value, dict) and ("result" in value or "failure" in value):
            return value
    return None
