"""The experiment's files and its analyses, computed once for all tests."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from scheduling_core.allocation.analysis import allocation
from scheduling_core.crosscheck import run

INPUTS = Path(__file__).parents[2] / "artifacts/packages/gavel-allocation/inputs"


@pytest.fixture(scope="session")
def files() -> Mapping[str, Path]:
    return {name: INPUTS / f"{name}.csv" for name in ("throughputs", "jobs", "cluster", "weights")}


@pytest.fixture(scope="session")
def result(files: Mapping[str, Path]) -> dict[str, Any]:
    return allocation(files, {}, 0)


@pytest.fixture(scope="session")
def outputs(result: dict[str, Any]) -> dict[str, Any]:
    return result["outputs"]


@pytest.fixture(scope="session")
def second_opinion(files: Mapping[str, Path]) -> dict[str, Any]:
    return run(files, {}, 0)["outputs"]
