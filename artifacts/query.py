"""SQL over a package's own files: anyone's number without anyone's code.

Each input is a table under its name, in an in-memory SQLite of a child process without access to
files or network (see `query_worker` for the rules of typing and for the limits). The output is
`{"columns": [...], "rows": [[...]]}`: integers keep all their digits, a blob, NaN or infinity in a
result is refused with a sentence. Scalar `parameters` are bound as `:name`.
"""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from artifacts.analyses import (
    QUERY_IMPLEMENTATION,
    AnalysisResult,
    ProcessLimits,
    parse_reply,
    time_limit,
    too_slow,
)
from artifacts.process import Child, Died, ReplyTooLong, TookTooLong
from schema.artifact import Analysis
from schema.states import CheckOutcome

_WORKER = os.fspath(Path(__file__).with_name("query_worker.py"))
_START_S = 3.0


def run_query(
    analysis: Analysis,
    inputs: Mapping[str, str],
    parameters: Mapping[str, Any],
    limits: ProcessLimits,
    folder: str,
) -> AnalysisResult:
    """Run one query. Whatever goes wrong becomes a result with `failure` and one sentence."""
    seconds = time_limit(analysis, limits)
    request = {
        "sql": analysis.sql,
        "tables": {name: {"file": inputs[name], "path": path} for name, path in analysis.inputs.items()},
        "parameters": dict(parameters),
        "seconds": seconds,
        "memory_bytes": limits.query_memory_bytes,
        "rows": limits.query_rows,
        "result_bytes": limits.query_result_bytes,
    }
    try:
        child = Child([sys.executable, "-I", "-S", _WORKER], _environment(), folder)
    except OSError as error:
        return _failed(CheckOutcome.CRASHED, analysis, f"its process can't be started: {error.strerror}")
    try:
        reply = child.ask(json.dumps(request).encode("ascii"), seconds + _START_S)
        child.end()
    except TookTooLong:
        return AnalysisResult(
            QUERY_IMPLEMENTATION, failure=CheckOutcome.TIMED_OUT, detail=too_slow(analysis, seconds)
        )
    except ReplyTooLong:
        return _failed(CheckOutcome.CRASHED, analysis, "its result is too large")
    except Died as error:
        outcome = CheckOutcome.TIMED_OUT if "SIGXCPU" in str(error) else CheckOutcome.CRASHED
        if outcome is CheckOutcome.TIMED_OUT:
            return AnalysisResult(QUERY_IMPLEMENTATION, failure=outcome, detail=too_slow(analysis, seconds))
        return _failed(outcome, analysis, f"its process failed: {error}")
    answer = parse_reply(reply)
    if answer is None:
        return _failed(CheckOutcome.CRASHED, analysis, "its process gave no readable answer")
    if "failure" in answer:
        return _failed(CheckOutcome(answer["failure"]), analysis, answer["detail"])
    result = answer["result"]
    outputs = {"columns": result["columns"], "rows": result["rows"]}
    return AnalysisResult(
        QUERY_IMPLEMENTATION, outputs, {analysis.id: outputs}, read=frozenset(result["read"])
    )


def _failed(outcome: CheckOutcome, analysis: Analysis, detail: str) -> AnalysisResult:
    return AnalysisResult(QUERY_IMPLEMENTATION, failure=outcome, detail=f"analysis {analysis.id}: {detail}")


def _environment() -> dict[str, str]:
    passed = {
        name: os.environ[name] for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH") if name in os.environ
    }
    return {**passed, "LC_ALL": "C.UTF-8", "TZ": "UTC"}
