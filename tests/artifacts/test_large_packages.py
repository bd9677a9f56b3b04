"""Thousands of claims and files: the time grows with their number, not with its square."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from schema.states import RunOutcome
from schema.verification import Verification

Make = Callable[..., Path]
Verify = Callable[..., Verification]


def timed(verify: Verify, root: Path) -> tuple[Verification, float]:
    start = time.process_time()
    run = verify(root)
    return run, time.process_time() - start


def claims(number: int, value: str) -> list[dict[str, Any]]:
    evidence = [{"analysis": "from-jobs", "pointer": "/rows/0/1"}]
    return [{"id": f"c{i}", "text": "jobs", "value": value, "evidence": evidence} for i in range(number)]


@pytest.mark.parametrize("value", ["3", "4"], ids=["confirmed", "denied"])
def test_ten_thousand_claims_and_many_files(
    make_package: Make, verify: Verify, draft: dict[str, Any], value: str
) -> None:
    draft["claims"] = claims(10_000, value)
    root = make_package(draft, {f"more/f{i}.csv": "x\n" for i in range(2_000)})
    run, seconds = timed(verify, root)
    assert (run.counts.confirmed, run.counts.denied) == ((10_000, 0) if value == "3" else (0, 10_000))
    assert seconds < 8  # searching a list for each took 15 s and more


def test_a_folder_of_thousands_that_was_renamed(
    make_package: Make, verify: Verify, draft: dict[str, Any]
) -> None:
    root = make_package(draft, {f"more/f{i}.csv": "x\n" for i in range(4_000)})
    (root / "more").rename(root / "moved")
    run, seconds = timed(verify, root)
    assert run.outcome is RunOutcome.FAILED
    assert seconds < 8  # comparing each with each took 20 s and more


def test_a_verdict_cuts_long_values(make_package: Make, verify: Verify, draft: dict[str, Any]) -> None:
    draft["claims"][1]["value"] = "1" * 5_000
    assert "jobs (" + "1" * 77 + "... claimed, 3 computed)" in verify(make_package(draft)).verdict
