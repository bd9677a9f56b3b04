"""Shared by all tests: a skip is a failure in CI, and hypothesis runs the same examples everywhere."""

import fcntl
import os
import signal
import subprocess
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

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts so what runs in the background, and a program that a test interrupts would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

IN_CI = os.environ.get("CI") == "true"
SHARED = Path(__file__).resolve().parents[2] / "shared"
# Folders whose files take longest, from the longest on: what begins first leaves no process alone at the end.
LONGEST = ("docs", "end_to_end", "commands", "web")


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


def _turn(item: pytest.Item) -> int:
    folder = item.path.relative_to(Path(__file__).parent).parts[0]
    return LONGEST.index(folder) if folder in LONGEST else len(LONGEST)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The longest first. A checkout that stands alone has no reference data: CI then leaves out what
    compares with them.
    """
    items.sort(key=_turn)
    if not IN_CI or SHARED.is_dir():
        return
    left_out = [item for item in items if "shared" in getattr(item, "fixturenames", ())]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which `proofshelf demo --dir shelf` ran, beside a copy of what it printed, `printed`, and
    another catalog, `other.db`, that $PROOFSHELF_DB named: once for all test processes, for nobody to write.
    """
    root = tmp_path_factory.getbasetemp()
    root = root.parent if "PYTEST_XDIST_WORKER" in os.environ else root
    folder = root / "demo"
    with (root / "demo.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "printed").exists():
            folder.mkdir()
            _demonstrate(folder)
    return folder


def _demonstrate(folder: Path) -> None:
    environment = {**os.environ, "PROOFSHELF_WHO": "tester", "PROOFSHELF_DB": str(folder / "other.db")}

    def program(*arguments: str) -> str:
        command = [sys.executable, "-m", "catalog.commands", *arguments]
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout

    program("init")
    (folder / "other.as-it-was").write_bytes((folder / "other.db").read_bytes())
    (folder / "printed").write_text(program("demo", "--dir", "shelf"), encoding="utf-8")


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
