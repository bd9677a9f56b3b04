"""Thousands of claims and files: the time grows with their number, not with its square."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from schema.states import RunOutcome
from schema.verification import Verification

Make = Callable[..., Path]
Verify = Callable[..., Verification]


def claims(number: int, value: str) -> list[dict[str, Any]]:
    evidence = [{"analysis": "from-jobs", "pointer": "/rows/0/1"}]
    return [{"id": f"c{i}", "text": "jobs", "value": value, "evidence": evidence} for i in range(number)]


@pytest.mark.parametrize("value", ["3", "4"], ids=["confirmed", "denied"])
def test_ten_thousand_claims_and_many_files(
    make_package: Make, verify: Verify, draft: dict[str, Any], value: str
) -> None:
    draft["claims"] = claims(10_000, value)
    run = verify(make_package(draft, {f"more/f{i}.csv": "x\n" for i in range(2_000)}))
    assert (run.counts.confirmed, run.counts.denied) == ((10_000, 0) if value == "3" else (0, 10_000))


def test_twice_the_claims_and_files_take_twice_the_work(
    make_package: Make, verify: Verify, draft: dict[str, Any], calls: Callable[[Callable[[], object]], int]
) -> None:
    """Searching a list for each claim or file would make it four times."""
    work = []
    for number in (400, 800):
        draft["claims"] = claims(number, "4")
        root = make_package(copy.deepcopy(draft), {f"more/f{i}.csv": "x\n" for i in range(number)})
        work.append(calls(lambda root=root: verify(root)))
    assert work[1] < 2.5 * work[0]


def test_a_folder_of_thousands_that_was_renamed(
    make_package: Make, verify: Verify, draft: dict[str, Any]
) -> None:
    root = make_package(draft, {f"more/f{i}.csv": "x\n" for i in range(4_000)})
    (root / "more").rename(root / "moved")
    assert verify(root).outcome is RunOutcome.FAILED


def test_a_verdict_cuts_long_values(make_package: Make, verify: Verify, draft: dict[str, Any]) -> None:
    draft["claims"][1]["value"] = "1" * 5_000
    assert "jobs (" + "1" * 77 + "... claimed, 3 computed)" in verify(make_package(draft)).verdict
