"""Shared by all tests: a skip is a failure in CI, and hypothesis runs the same examples everywhere."""

import os
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "proofshelf", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("proofshelf")

IN_CI = os.environ.get("CI") == "true"
SHARED = Path(__file__).resolve().parents[2] / "shared"


def _skip_is_failure(report: Any) -> None:
    if IN_CI and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, which is a failure in CI: {report.longrepr}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    report = yield
    _skip_is_failure(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Any, Any]:
    report = yield
    _skip_is_failure(report)
    return report


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A checkout that stands alone has no reference data: CI then leaves out what compares with them."""
    if not IN_CI or SHARED.is_dir():
        return
    left_out = [item for item in items if "shared" in getattr(item, "fixturenames", ())]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture
def calls() -> Callable[[Callable[[], object]], int]:
    """How many functions a piece of work calls: it repeats on any machine, as seconds don't."""

    def count(work: Callable[[], object]) -> int:
        seen = 0

        def profile(frame: object, event: str, argument: object) -> None:
            nonlocal seen
            seen += event in ("call", "c_call")

        before = sys.getprofile()
        sys.setprofile(profile)
        try:
            work()
        finally:
            sys.setprofile(before)
        return seen

    return count


@pytest.fixture
def shared() -> Path:
    """The folder of reference data beside a checkout; a user has only the repository, so skip without."""
    if not SHARED.is_dir():
        pytest.skip("the reference data beside the checkout (../shared) isn't here")
    return SHARED
