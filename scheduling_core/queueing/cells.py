"""One cell of a sweep: what is asked for, by which name it is known, and what came of it."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.cluster import Cluster
from scheduling_core.queueing.costs import RestartCost
from scheduling_core.queueing.jobs import Trace
from scheduling_core.queueing.metrics import Metrics, metrics
from scheduling_core.queueing.outcome import Outcome
from scheduling_core.queueing.policies import policy
from scheduling_core.queueing.policies.base import Policy
from scheduling_core.queueing.simulator import simulate

HERE = Path(__file__).resolve().parent
CODE = ("*.py", "policies/**/*.py", "kernels/**/*.py")
"""Files here by which results can change; charts, readers and the checker can't."""
RECORDS = ("first_start", "end", "executed", "paid", "preemptions", "restarts")


@dataclass(frozen=True)
class Cell:
    """One simulation: plain data that another process can be sent.

    policy, options : as `policies.policy` takes them. seed : that of the trace or its deadlines, where it has
    one; it goes into no simulation, but tells cells apart and pairs them.
    """

    trace: Trace
    cluster: Cluster
    policy: str
    options: Mapping[str, Any] = field(default_factory=dict)
    restart: RestartCost = field(default_factory=RestartCost)
    seed: int | None = None


@dataclass(frozen=True)
class Result:
    """What came of a cell, the same bytes wherever it ran.

    request : what was asked for, as plain values; key is its hash. sha256 : of every job's times and counts.
    error : why there are no metrics, in a sentence.
    """

    key: str
    request: Mapping[str, Any]
    metrics: Metrics | None = None
    sha256: str | None = None
    error: str | None = None


def request_of(cell: Cell) -> dict[str, Any]:
    """Everything that decides what comes of a cell, the code among it, as plain values.

    Raises
    ------
    SchedulingError : for a policy or options that there aren't, or a value that isn't plain.
    """
    made = policy(cell.policy, **cell.options)
    return {
        "code": code_sha256(),
        "trace": {"name": cell.trace.name, "sha256": cell.trace.sha256},
        "cluster": {
            "placement": cell.cluster.placement.value,
            "nodes": [[len(list(g)), n.gpus, n.gpu_type] for n, g in groupby(cell.cluster.nodes)],
        },
        "policy": cell.policy,
        "policy_code": _code_of(made),
        "options": _plain(dict(cell.options)),
        "restart": _plain(cell.restart),
        "seed": cell.seed,
    }


def key_of(request: Mapping[str, Any]) -> str:
    """SHA-256 of a request."""
    return hashlib.sha256(json.dumps(request, sort_keys=True, allow_nan=False).encode()).hexdigest()


def run_cell(cell: Cell, request: Mapping[str, Any]) -> Result:
    """Simulate a cell; what the simulator refuses is a result with its reason.

    Raises
    ------
    SchedulingError : where this process has other code than the one that asks.
    """
    expect_code(request["code"])
    key = key_of(request)
    try:
        outcome = simulate(cell.trace, cell.cluster, policy(cell.policy, **cell.options), cell.restart)
    except SchedulingError as error:
        return Result(key, request, error=str(error))
    return Result(key, request, metrics(outcome), outcome_sha256(outcome))


def outcome_sha256(outcome: Outcome) -> str:
    """Of every job's times and counts, in the order of the trace."""
    digest = hashlib.sha256(f"unit {outcome.unit}\n".encode())
    for name in RECORDS:
        digest.update(np.ascontiguousarray(getattr(outcome, name), dtype="<i8").tobytes())
    return digest.hexdigest()


@cache
def code_sha256() -> str:
    """Of the simulator's and the policies' files: what other code gave is never taken for this one's."""
    digest = hashlib.sha256()
    for path in sorted({path for pattern in CODE for path in HERE.glob(pattern)}):
        digest.update(f"{path.relative_to(HERE)}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def expect_code(sha256: str) -> None:
    """Raises SchedulingError where the process that asks has other code than this one."""
    if code_sha256() != sha256:
        raise SchedulingError(
            "A worker has another version of scheduling_core than this process, expected the same."
        )


def _code_of(made: Policy) -> str | None:
    """SHA-256 of the file of a policy that isn't ours."""
    try:
        path = Path(inspect.getfile(type(made))).resolve()
    except (TypeError, OSError):
        return None
    if path.is_relative_to(HERE):
        return None
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _plain(value: Any) -> Any:
    """The same as JSON has it, two different values never alike.

    Raises
    ------
    SchedulingError : for what isn't made of numbers, text, fractions, data classes, mappings and sequences.
    """
    if isinstance(value, Enum):
        return _plain(value.value)
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        raise SchedulingError(f"A cell has the option {value}, expected finite numbers.")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Fraction):
        return {"fraction": str(value)}
    if isinstance(value, Mapping):
        pairs = [[_plain(name), _plain(each)] for name, each in value.items()]
        return {"mapping": sorted(pairs, key=lambda pair: json.dumps(pair[0], sort_keys=True))}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(each) for each in value]
    if is_dataclass(value) and not isinstance(value, type):
        kind = type(value)
        parts = {part.name: _plain(getattr(value, part.name)) for part in fields(value)}
        return {"class": f"{kind.__module__}.{kind.__qualname__}", "fields": parts}
    raise SchedulingError(f"A cell has {value!r}, expected plain values that another process can be sent.")
