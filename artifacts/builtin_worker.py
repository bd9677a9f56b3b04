"""The child process of registered analyses: a line of JSON in, a line of JSON out, until its input ends.

Reads `{"function", "inputs", "parameters", "seed", "cpu_seconds", "memory_bytes"}`, answers
`{"result": {"outputs", "tables", "charts"}}` or `{"failure", "detail"}`. What an analysis prints
goes nowhere.
"""

import importlib
import json
import math
import os
import resource
import sys
from pathlib import Path
from typing import Any, BinaryIO

_PARTS = ("outputs", "tables", "charts")
_DEEPEST = 200


class NotAResult(Exception):
    """What an analysis gave isn't outputs, tables and charts of plain JSON."""


def main() -> None:
    """Answer requests until the input ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    requests: BinaryIO = sys.stdin.buffer
    for line in requests:
        request = json.loads(line)
        answer = answer_to(request) if request else {"result": None}
        answers.write(json.dumps(answer, allow_nan=False).encode("ascii") + b"\n")
        answers.flush()


def answer_to(request: dict[str, Any]) -> dict[str, Any]:
    """Run one analysis; every failure becomes an answer."""
    _limit(request["cpu_seconds"], request["memory_bytes"])
    try:
        module, _, attribute = request["function"].partition(":")
        function: Any = importlib.import_module(module)
        for part in attribute.split("."):
            function = getattr(function, part)
    except MemoryError:
        return _out_of_memory(request)
    except Exception as error:  # noqa: BLE001 - an installed analysis may fail to import in any way
        return _failed(f"{request['function']} can't be imported: {_sentence(error)}")
    inputs = {name: Path(path) for name, path in request["inputs"].items()}
    try:
        result = function(inputs, request["parameters"], request["seed"])
        return {"result": checked(result)}
    except MemoryError:
        return _out_of_memory(request)
    except NotAResult as error:
        return _failed(str(error))
    except ValueError as error:
        return _failed(_one_line(str(error)) or "ended with a ValueError")
    except SystemExit:
        return _failed("ended its own process")
    except Exception as error:  # noqa: BLE001 - the analysis is not ours
        return _failed(_sentence(error))


def checked(result: Any) -> dict[str, Any]:
    """The result with all three parts, proven to be plain JSON. Raises NotAResult naming the place."""
    if not isinstance(result, dict):
        raise NotAResult(f"gave {_kind(result)}; expected an object with outputs, tables and charts")
    unknown = sorted(str(key) for key in result if key not in _PARTS)
    if unknown:
        raise NotAResult(f"gave {unknown[0]!r}; expected outputs, tables and charts only")
    if "outputs" not in result:
        raise NotAResult("gave no 'outputs'")
    whole = {
        "outputs": result["outputs"],
        "tables": result.get("tables", {}),
        "charts": result.get("charts", {}),
    }
    for part in ("tables", "charts"):
        if not isinstance(whole[part], dict):
            raise NotAResult(f"gave {part} as {_kind(whole[part])}; expected an object by name")
    for name, chart in whole["charts"].items():
        if not isinstance(chart, dict):
            raise NotAResult(f"gave chart {name!r} as {_kind(chart)}; expected a specification object")
    for name, table in whole["tables"].items():
        _check_table(name, table)
    _check_plain(whole, "", 0)
    return whole


def _check_table(name: Any, table: Any) -> None:
    if not isinstance(table, dict) or set(table) != {"columns", "rows"}:
        raise NotAResult(f"gave table {name!r} without exactly 'columns' and 'rows'")
    columns, rows = table["columns"], table["rows"]
    if not isinstance(columns, (list, tuple)) or not all(isinstance(c, str) for c in columns):
        raise NotAResult(f"gave table {name!r} with columns that aren't a list of names")
    if not isinstance(rows, (list, tuple)):
        raise NotAResult(f"gave table {name!r} with rows that aren't a list")
    for number, row in enumerate(rows):
        if not isinstance(row, (list, tuple)) or len(row) != len(columns):
            raise NotAResult(f"gave table {name!r} with row {number} that hasn't {len(columns)} cells")


def _check_plain(value: Any, pointer: str, depth: int) -> None:
    if depth > _DEEPEST:
        raise NotAResult(f"gave a value at {pointer[:80]!r} that is nested too deeply")
    if value is None or isinstance(value, (str, bool, int)):
        if isinstance(value, str):
            try:
                value.encode("utf-8")
            except UnicodeEncodeError:
                raise NotAResult(f"gave a text at {pointer!r} that isn't Unicode") from None
        return
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NotAResult(f"gave {value} at {pointer!r}, which is no finite number")
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise NotAResult(f"gave a key at {pointer!r} that isn't text but {_kind(key)}")
            _check_plain(item, f"{pointer}/{key}", depth + 1)
    elif isinstance(value, (list, tuple)):
        for position, item in enumerate(value):
            _check_plain(item, f"{pointer}/{position}", depth + 1)
    else:
        raise NotAResult(f"gave {_kind(value)} at {pointer!r}, which isn't plain JSON")


def _limit(cpu_seconds: float, memory_bytes: int) -> None:
    """Bound this request: processor time beyond what is used so far, and the whole memory."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = math.ceil(used.ru_utime + used.ru_stime + cpu_seconds) + 5
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (soft if hard < 0 else min(soft, hard), hard))
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes if hard < 0 else min(memory_bytes, hard), hard))


def _out_of_memory(request: dict[str, Any]) -> dict[str, Any]:
    limit = request["memory_bytes"] >> 20
    return {"failure": "timed_out", "detail": f"needed more than its limit of {limit} MiB of memory"}


def _failed(detail: str) -> dict[str, Any]:
    return {"failure": "crashed", "detail": detail}


def _sentence(error: BaseException) -> str:
    message = _one_line(str(error))
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def _one_line(message: str) -> str:
    return " ".join(message.encode("utf-8", "backslashreplace").decode("utf-8").split())[:1000]


def _kind(value: Any) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


if __name__ == "__main__":
    main()
