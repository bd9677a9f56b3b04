"""Runs any analysis of a package: in a child process, within limits, and never a package's own code."""

import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from artifacts.analyses import (
    QUERY_IMPLEMENTATION,
    AnalysisResult,
    ProcessLimits,
    RegisteredAnalysis,
    find_registered,
    parse_reply,
    registered,
    time_limit,
)
from artifacts.errors import AnalysisError
from artifacts.package import temporary_folder
from artifacts.process import Child, Died, ReplyTooLong, TookTooLong
from artifacts.query import run_query
from schema.artifact import Analysis
from schema.states import CheckOutcome

_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_PASSED_ON = ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "VIRTUAL_ENV")
_START_S = 30.0
_EXTRACTION_S = 30.0


class Runner:
    """Runs the analyses of one package, one after another; a context, so that no child outlives it."""

    def __init__(self, limits: ProcessLimits | None = None) -> None:
        self.limits = limits or ProcessLimits()
        self._known: dict[str, RegisteredAnalysis] | None = None
        self._builtins: Child | None = None
        self._folder: Path | None = None

    def __enter__(self) -> Self:
        self._folder = temporary_folder("run")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._builtins is not None:
            self._builtins.end()
            self._builtins = None
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def implementation(self, analysis: Analysis) -> str | None:
        """Who would compute: a registered package, the query engine, or None for a package's own code."""
        if analysis.kind == "query":
            return QUERY_IMPLEMENTATION
        if analysis.kind == "builtin" and analysis.builtin is not None:
            found = self._registered().get(analysis.builtin)
            return found.implementation if found else None
        return None

    def run(
        self, analysis: Analysis, place: Callable[[str], Path], parameters: Mapping[str, Any] | None = None
    ) -> AnalysisResult:
        """Run one analysis on the files that `place` gives for its inputs' package paths.

        Whatever goes wrong inside becomes a result with `failure` and one sentence; nothing is raised.
        """
        given = analysis.parameters if parameters is None else parameters
        inputs = {name: os.fspath(place(path)) for name, path in analysis.inputs.items()}
        if analysis.kind == "query":
            return run_query(analysis, inputs, given, self.limits, self._cwd())
        if analysis.kind == "builtin" and analysis.builtin is not None:
            return self._run_builtin(analysis, analysis.builtin, inputs, given)
        what = "a command" if analysis.kind == "command" else "a notebook"
        detail = f"{analysis.id} is {what}, and this version never runs a package's own code"
        return AnalysisResult(None, failure=CheckOutcome.REFUSED, detail=detail)

    def _registered(self) -> dict[str, RegisteredAnalysis]:
        if self._known is None:
            self._known = registered()
        return self._known

    def _cwd(self) -> str:
        if self._folder is None:
            raise AnalysisError("a Runner is a context: open it with 'with'")
        return os.fspath(self._folder)

    def _run_builtin(
        self, analysis: Analysis, name: str, inputs: dict[str, str], parameters: Mapping[str, Any]
    ) -> AnalysisResult:
        try:
            found = find_registered(name, self._registered())
        except AnalysisError as error:
            return AnalysisResult(None, failure=CheckOutcome.REFUSED, detail=str(error))
        label = found.implementation
        request = {
            "function": found.entry_point,
            "inputs": inputs,
            "parameters": dict(parameters),
            "seed": analysis.seed,
        }
        return self._ask(f"analysis {analysis.id}", label, request, time_limit(analysis, self.limits))

    def extract(self, page: Path, selector: str, name: str) -> AnalysisResult:
        """What a selector names in a page (`artifacts.extract`), as text in `outputs`.

        In a child like any analysis, since a page may be made so that reading it takes hours.
        """
        request = {
            "function": "artifacts.extract:extract_in_child",
            "inputs": {"page": os.fspath(page)},
            "parameters": {"selector": selector, "name": name},
            "seed": 0,
        }
        seconds = min(_EXTRACTION_S, self.limits.longest_s or _EXTRACTION_S)
        result = self._ask(f"{name}: {selector!r}", None, request, seconds)
        if result.failure is not None:
            return result
        if "missing" in result.outputs:
            return AnalysisResult(None, failure=CheckOutcome.NOT_PRODUCED, detail=result.outputs["missing"])
        return AnalysisResult(None, result.outputs["text"])

    def _ask(self, what: str, label: str | None, request: dict[str, Any], seconds: float) -> AnalysisResult:
        """One request to the child of builtins; every failure becomes a result."""

        def failed(outcome: CheckOutcome, detail: str) -> AnalysisResult:
            return AnalysisResult(label, failure=outcome, detail=f"{what}: {detail}")

        limits = {"cpu_seconds": seconds, "memory_bytes": self.limits.builtin_memory_bytes}
        try:
            reply = self._ask_builtin(json.dumps(request | limits).encode("ascii"), seconds)
        except TookTooLong:
            return failed(CheckOutcome.TIMED_OUT, f"was stopped after its limit of {seconds:g} s")
        except ReplyTooLong:
            return failed(CheckOutcome.CRASHED, "its result is too large")
        except (Died, OSError) as error:
            return failed(CheckOutcome.CRASHED, f"its process failed: {error}")
        answer = parse_reply(reply)
        if answer is None:
            return failed(CheckOutcome.CRASHED, "its process gave no readable answer")
        if "failure" in answer:
            return failed(CheckOutcome(answer["failure"]), answer["detail"])
        result = answer["result"]
        return AnalysisResult(label, result["outputs"], result["tables"], result["charts"])

    def _ask_builtin(self, line: bytes, seconds: float) -> bytes:
        if self._builtins is None:
            argv = [sys.executable, "-P", "-m", "artifacts.builtin_worker"]
            child = Child(argv, _environment(), self._cwd())
            child.ask(b"{}", _START_S)
            self._builtins = child
        try:
            return self._builtins.ask(line, seconds + 0.5)
        except BaseException:
            self._builtins = None
            raise


def _environment() -> dict[str, str]:
    """What the child of builtins sees: our import path without the current folder, one thread."""
    home = os.fspath(Path(__file__).resolve().parent.parent)
    paths = [path for path in sys.path if path and path != home and os.path.isabs(path)]
    passed = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return {
        **passed,
        **dict.fromkeys(_ONE_THREAD, "1"),
        "PYTHONPATH": os.pathsep.join([home, *paths]),
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
    }
